// What a strategy's time is made of by its closed form.
#pragma once

#include "common/strategy/ranking.hpp"

namespace coppice {

// Seconds that are saved by taking away, one after another: sums, latencies, overheads; what then is left is bytes on
// wires. They add up to the closed form. Where the longest of several paths counts (a pipelined tree), taking one thing
// away may make another path the longest: then that share is what it really costs there, not what it is charged.
struct CostShares {
    double wire_s = 0;
    double latency_s = 0;
    double overhead_s = 0;
    double sums_s = 0;
};

// Of a choice that is not refused.
CostShares cost_shares(const Ranked& ranked, std::uint64_t elements, std::uint32_t element_bytes,
                       const CostModel& cost);

}  // namespace coppice
