// Where one strategy's time crosses another's: which is fastest in which range of sizes, and at which size two meet.
#pragma once

#include "common/strategy/ranking.hpp"
#include "common/units/element.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace coppice {

// What is compared, apart from the size.
struct Contest {
    std::vector<StrategyChoice> candidates;
    CollectiveCase collective;  // without parameters
    Element element;
    CostModel cost;
};

// Sizes are bytes, whole elements, ascending.
struct SizeRange {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
};

// A range in which one strategy is the fastest. The number of segments, which changes all the time, is not told apart:
// tree(segments=auto,shape=chain).
struct Reign {
    SizeRange sizes;  // both ends belong to it
    StrategyChoice choice;
};

// The reigns one after another, without gaps; empty if every candidate is refused. Found by looking at every doubling
// and halving the range where the fastest changes, down to half a per cent: what reigns in less than a doubling may be
// missed.
std::vector<Reign> reigns(const Contest& contest, const SizeRange& range);

// What a choice reigns as.
StrategyChoice without_number_of_segments(StrategyChoice choice);

// From here on `faster` is the faster of the two, to half a per cent.
struct Meeting {
    std::uint64_t bytes = 0;
    StrategyChoice faster;
};
// Of two candidates: where their order changes. Empty if it never does, or one of them is refused.
std::vector<Meeting> meetings(const Contest& of_two, const SizeRange& range);

}  // namespace coppice
