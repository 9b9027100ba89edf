// Strategies in the order of their closed forms: what `auto` takes the first of, and `coppice explain` shows.
#pragma once

#include "common/strategy/strategy.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coppice {

// A strategy and its time for one case; or why it has none. `choice` has nothing left open.
struct Ranked {
    StrategyChoice choice;
    CollectiveCase collective;  // with the parameters of the choice
    std::optional<double> seconds;
    std::optional<std::string> refusal;
};

// Those that `auto` chooses from: each strategy with a schedule, its parameters at their default or at a value that
// their ParameterSpec says is worth trying. None that needs machines besides the workers'.
const std::vector<StrategyChoice>& auto_candidates();

// The fastest first, of equals (to 1e-9: formulas round differently) in the order of `candidates`; those that are
// refused at the end. Two candidates that become the same choice are one.
std::vector<Ranked> rank_strategies(const std::vector<StrategyChoice>& candidates, const CollectiveCase& collective,
                                    std::uint64_t elements, std::uint32_t element_bytes, const CostModel& cost);

}  // namespace coppice
