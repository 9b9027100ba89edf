// The only list of strategies, and what their files share.
#include "common/schedule/binding.hpp"
#include "common/strategy/builtin.hpp"

#include <algorithm>

namespace coppice {

const std::vector<Strategy>& strategies() {
    static const std::vector<Strategy> table = {builtin::ps(),
                                                builtin::tree(),
                                                builtin::ring(),
                                                builtin::halving_doubling(),
                                                builtin::recursive_doubling(),
                                                builtin::double_tree(),
                                                builtin::hierarchical()};
    return table;
}

const std::vector<Strategy>& measured_strategies() {
    static const std::vector<Strategy> table = {builtin::measured()};
    return table;
}

const std::vector<Strategy>& choosing_strategies() {
    static const std::vector<Strategy> table = {builtin::auto_choice()};
    return table;
}

const std::vector<Strategy>& imported_strategies() {
    static const std::vector<Strategy> table = {builtin::msccl()};
    return table;
}

const Strategy* find_strategy(std::string_view name) {
    for (const auto* table : {&strategies(), &measured_strategies(), &choosing_strategies(), &imported_strategies()}) {
        const auto found =
            std::find_if(table->begin(), table->end(), [&](const Strategy& s) { return s.name == name; });
        if (found != table->end()) return &*found;
    }
    return nullptr;
}

std::vector<std::string> strategy_names() {
    std::vector<std::string> names;
    for (const Strategy& strategy : strategies()) names.emplace_back(strategy.name);
    return names;
}

std::vector<std::string> all_strategy_names() {
    std::vector<std::string> names = strategy_names();
    for (const auto* table : {&measured_strategies(), &choosing_strategies(), &imported_strategies()})
        for (const Strategy& strategy : *table) names.emplace_back(strategy.name);
    return names;
}

std::optional<std::string> closed_forms_refuse(std::int64_t workers, const Cluster& cluster) {
    if (workers == 1) return std::nullopt;
    if (cluster.gpus_per_node > 1) return "the closed forms know one GPU a node";
    if (cluster.fabric.backplane_bytes_per_s) return "the closed forms know no backplane";
    return std::nullopt;
}

namespace builtin {

std::optional<std::string> refuses_no_workers(const CollectiveCase& collective) {
    if (collective.workers >= 1) return std::nullopt;
    return "needs at least one worker";
}

Schedule in_place_schedule(std::string strategy, std::int32_t workers, std::uint32_t chunks) {
    Schedule schedule;
    schedule.strategy = std::move(strategy);
    schedule.workers = workers;
    schedule.ranks = workers;
    schedule.tensors = {{.name = "data", .chunks = chunks}};
    schedule.buffers = {{.name = "data", .tensor = 0, .copies = 1, .init = BufferInit::Contribution}};
    return schedule;
}

std::uint64_t largest_chunk_bytes(std::uint64_t elements, std::uint32_t element_bytes, std::uint32_t chunks) {
    return chunk_range(elements, chunks, 0).count * element_bytes;
}

ChunkTimes chunk_times(std::uint64_t elements, std::uint32_t element_bytes, std::uint32_t chunks, bool both_ways,
                       const CostModel& cost) {
    ChunkTimes times;
    times.overhead_s = cost.overhead_s();
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const std::uint64_t bytes = chunk_range(elements, chunks, chunk).count * element_bytes;
        times.message_s.push_back(cost.message_s(bytes) + (both_ways ? cost.both_ways_extra_s(bytes) : 0.0));
        times.sum_s.push_back(cost.sum_s(bytes, SumPlace::Device));
    }
    return times;
}

ChunkTimes unit_times(std::uint32_t chunks) {
    return {0, std::vector<double>(chunks, 1.0), std::vector<double>(chunks, 0.0)};
}

}  // namespace builtin

}  // namespace coppice
