// The message patterns that `coppice-run probe` times, as schedules, so that messages travel just as those of the
// strategies do. They are no collectives: nothing is summed, and the verifier has nothing to prove about their results.
//
//   round_trips   0 ──▶ 1, then 0 ◀── 1, so many times                     two such messages a round
//   ring_shifts   each rank to the next one, all at once, so many times    a round's sends wait for the last round's
//                                                                          receives, as those of a ring do
//   incast        0 says go (an empty message) to all others, each of which sends it one message
#pragma once

#include "common/schedule/schedule.hpp"

namespace coppice {

Schedule round_trips(std::uint32_t rounds);
Schedule ring_shifts(std::int32_t ranks, std::uint32_t rounds);  // at least 2 ranks
Schedule incast(std::int32_t ranks);                             // at least 2 ranks

}  // namespace coppice
