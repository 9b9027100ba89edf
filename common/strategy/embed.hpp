// Schedules made of schedules: all-reduces (or some of their phases) among groups of ranks, played as a part of a
// larger schedule over all of them, each on its own stretch of the data.
//
//     part 1   groups {0 1 2 3} {4 5 6 7}     all groups of a part run side by side;
//     part 2   groups {0 4} {1 5} {2 6} {3 7} the next part of a rank begins when all that it has done so far is
//     complete
#pragma once

#include "common/schedule/schedule.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace coppice::builtin {

struct Group {
    std::shared_ptr<const Schedule> schedule;  // of ranks.size() ranks
    std::vector<Rank> ranks;                   // of the larger schedule, by rank of the smaller one
    std::uint32_t first_slot = 0;              // of the larger tensor, where the smaller one's begins
    std::uint32_t slots_per_chunk = 1;         // a chunk of the smaller one is so many of the larger
};

// Appends, as part `number` (0, 1, ...), the phases first..last-1 of the groups' schedules, those of the same number
// together, whatever their rounds. A rank is in one group at most. Buffers that the smaller schedules have beside their
// data become buffers of the larger one; that needs the groups' data to be all of the tensor (COPPICE_CHECK).
void append_part(Schedule& schedule, std::uint16_t number, const std::string& name, const std::vector<Group>& groups,
                 std::size_t first, std::size_t last);

}  // namespace coppice::builtin
