// What the strategy files share among themselves. Not for anybody else: use strategy.hpp.
#pragma once

#include "common/strategy/strategy.hpp"

#include <bit>

namespace coppice::builtin {

// One each from the file of that name.
Strategy tree();
Strategy ring();
Strategy ps();
Strategy hierarchical();
Strategy halving_doubling();
Strategy recursive_doubling();
Strategy double_tree();

// auto.cpp: chooses among the others.
Strategy auto_choice();

// measured.cpp: times without a schedule.
Strategy measured();

// msccl.cpp: a schedule from a file.
Strategy msccl();

// The name and the parameters that differ from their defaults, sorted: "ps(placement=dedicated)".
std::string canonical_name(std::string_view name, const std::vector<ParameterSpec>& specs,
                           const Parameters& parameters);

// The parameter's value, its default where the case does not name it.
std::string_view value_of(const std::vector<ParameterSpec>& specs, const Parameters& parameters, std::string_view name);

// The same of a parameter that is an integer.
std::int32_t number_of(const std::vector<ParameterSpec>& specs, const Parameters& parameters, std::string_view name);

// The reason that all strategies have in common.
std::optional<std::string> refuses_no_workers(const CollectiveCase& collective);

// A schedule with one tensor "data" of so many chunks, in one buffer of that name which holds the contributions.
Schedule in_place_schedule(std::string strategy, std::int32_t workers, std::uint32_t chunks);

// The longest chunk (the first: chunk_range gives the remainder to the first ones).
std::uint64_t largest_chunk_bytes(std::uint64_t elements, std::uint32_t element_bytes, std::uint32_t chunks);

// What prices a strategy message by message needs: seconds, by chunk.
struct ChunkTimes {
    double overhead_s = 0;  // before each send
    std::vector<double> message_s;
    std::vector<double> sum_s;
};
// `both_ways`: ranks send and receive at once.
ChunkTimes chunk_times(std::uint64_t elements, std::uint32_t element_bytes, std::uint32_t chunks, bool both_ways,
                       const CostModel& cost);
// A message takes 1, nothing else takes any time: with these a time is the longest chain of messages.
ChunkTimes unit_times(std::uint32_t chunks);

// The parameter `segments` (1, 2, ... or auto), and the choice with the number of them that takes least by the closed
// form.
ParameterSpec segments_parameter();
StrategyChoice with_best_segments(std::string_view strategy, CollectiveCase collective, std::uint64_t elements,
                                  std::uint32_t element_bytes, const CostModel& cost);

inline std::uint32_t ceil_log2(std::int32_t p) {
    return p <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint32_t>(p - 1)));
}

}  // namespace coppice::builtin
