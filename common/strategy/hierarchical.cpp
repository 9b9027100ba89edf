// Hierarchical: sums inside each node first, then across the nodes, then hands out inside.
//
//     inside = tree, ps   leaders      node 0: 0 1 2 3    1, 2, 3 ─▶ 0        0 ◀─ across ─▶ 4        0 ─▶ 1, 2, 3
//                                      node 1: 4 5 6 7    5, 6, 7 ─▶ 4                                4 ─▶ 5, 6, 7
//                         One GPU of a node speaks for all: its link carries the whole tensor, the others' idle.
//     inside = ring       shards       reduce-scatter in each node, then 0 ◀─▶ 4, 1 ◀─▶ 5, ... each with its g-th part
//                                      of the tensor, then all-gather in each node: every GPU's link carries 1/g.
//
//     across   any all-reduce, among the leaders, or among the GPUs that hold the same shard
//     group    how many workers in a row are a node: those of the cluster's nodes, or a number. On a flat network a
//              ring inside and a ring across are the two-level ring, or rows and columns of a torus: 2(g-1) + 2(n-1)
//              steps instead of 2(gn-1).
//
// A rank begins a part when all that it did in the part before is complete. The last node may have fewer workers than
// the others; shards need nodes of one size.
//
// With nodes of one size all leaders (all shards) are ready together, and the times add up, T_x = T_across(n, .):
//     tree inside   K (2 (o + alpha + W/B) + W/gamma) + T_x(W), K = ceil(log2 g), less o where g is no power of 2
//     ps inside     o + alpha + (g-1) (W/B + W/gamma) + T_x(W) + alpha + max(o + (g-1) W/B, (g-1) o + W/B)
//     ring inside   (g-1) (2 (o + alpha + w/B) + w/gamma) + T_x(w), w = ceil(W/g)
//
// Sources: Mikami et al., "Massively distributed SGD: ImageNet/ResNet-50 training in a flash" (2018), 2D-torus
// all-reduce; Jia et al., "Highly scalable deep learning training system with mixed-precision" (2018), hierarchical
// all-reduce.
#include "common/strategy/builtin.hpp"
#include "common/strategy/embed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>

namespace coppice::builtin {

namespace {

constexpr std::string_view kName = "hierarchical";

const std::vector<ParameterSpec>& specs() {
    static const std::vector<ParameterSpec> table = {
        {.name = "inside",
         .help = "in a node: tree or ps to a leader, or ring, after which each GPU has a share",
         .otherwise = "ring",
         .choices = {"ring", "tree", "ps"}},
        {.name = "across",
         .help = "among the nodes' leaders, or among the GPUs with the same share",
         .otherwise = "ring",
         .choices = {"ring", "tree", "ps"}},
        {.name = "group",
         .help = "workers in a row that are a node",
         .otherwise = "node",
         .choices = {"node"},
         .lowest = 2,
         .highest = 1024,
         .tried = {"2", "4", "8", "16", "32"}}};
    return table;
}

struct Plan {
    explicit Plan(const CollectiveCase& collective)
        : workers(collective.workers),
          inside(*find_strategy(value_of(specs(), collective.parameters, "inside"))),
          across(*find_strategy(value_of(specs(), collective.parameters, "across"))),
          shards(inside.name == "ring") {
        const std::string_view group = value_of(specs(), collective.parameters, "group");
        size = std::min(
            workers, group == "node" ? collective.gpus_per_node : number_of(specs(), collective.parameters, "group"));
        nodes = (workers + size - 1) / size;
    }
    std::int32_t size_of(std::int32_t node) const { return std::min(size, workers - node * size); }
    CollectiveCase among(std::int32_t ranks) const { return {ranks, {}}; }
    std::uint32_t chunks_across() const { return across.contract(among(nodes)).chunks; }
    std::uint32_t chunks() const { return chunks_across() * (shards ? static_cast<std::uint32_t>(size) : 1); }

    std::int32_t workers;
    const Strategy& inside;
    const Strategy& across;
    bool shards;
    std::int32_t size = 1;  // workers of a node; the last may have fewer
    std::int32_t nodes = 1;
};

std::optional<std::string> refuses(const CollectiveCase& collective) {
    if (const auto refusal = refuses_no_workers(collective)) return refusal;
    if (value_of(specs(), collective.parameters, "group") == "node" && collective.gpus_per_node == 1 &&
        collective.workers > 1)
        return "needs nodes of several GPUs with ranks in a row, or group=N";
    const Plan plan(collective);
    if (plan.shards && plan.workers % plan.size != 0)
        return fmt::format("inside=ring needs nodes of one size: {} workers are not a multiple of {}", plan.workers,
                           plan.size);
    if (plan.shards && plan.size > 1 && plan.across.schedule(plan.among(plan.nodes)).buffers.size() > 1)
        return fmt::format("across={} needs room for a whole tensor beside the data, which a share has not",
                           plan.across.name);
    return std::nullopt;
}

// All nodes as groups.
std::vector<Group> inside_groups(const Plan& plan) {
    std::vector<Group> groups;
    std::map<std::int32_t, std::shared_ptr<const Schedule>> of_size;  // one for all nodes of a size
    for (std::int32_t node = 0; node < plan.nodes; ++node) {
        const std::int32_t size = plan.size_of(node);
        std::shared_ptr<const Schedule>& schedule = of_size[size];
        if (!schedule) schedule = std::make_shared<const Schedule>(plan.inside.schedule(plan.among(size)));
        Group group{.schedule = schedule, .ranks = {}, .first_slot = 0, .slots_per_chunk = plan.chunks_across()};
        for (Rank local = 0; local < size; ++local) group.ranks.push_back(node * plan.size + local);
        groups.push_back(std::move(group));
    }
    return groups;
}

// The leaders as one group; or one for each share, whose holder in a ring of g is the g-th's predecessor: after
// reduce-scatter rank r has chunk r + 1.
std::vector<Group> across_groups(const Plan& plan) {
    const auto schedule = std::make_shared<const Schedule>(plan.across.schedule(plan.among(plan.nodes)));
    std::vector<Group> groups;
    for (std::int32_t share = 0; share < (plan.shards ? plan.size : 1); ++share) {
        const Rank holder = plan.shards ? (share - 1 + plan.size) % plan.size : 0;
        Group group{.schedule = schedule,
                    .ranks = {},
                    .first_slot = static_cast<std::uint32_t>(share) * plan.chunks_across(),
                    .slots_per_chunk = 1};
        for (std::int32_t node = 0; node < plan.nodes; ++node) group.ranks.push_back(node * plan.size + holder);
        groups.push_back(std::move(group));
    }
    return groups;
}

Schedule schedule(const CollectiveCase& collective) {
    const Plan plan(collective);
    Schedule result =
        in_place_schedule(canonical_name(kName, specs(), collective.parameters), plan.workers, plan.chunks());
    const std::vector<Group> nodes = inside_groups(plan);
    constexpr std::size_t kAllPhases = std::numeric_limits<std::size_t>::max();
    // The first phase of each strategy for the inside is what brings the sums together.
    if (plan.size > 1) append_part(result, 0, "in the node", nodes, 0, 1);
    if (plan.nodes > 1) append_part(result, 1, "across", across_groups(plan), 0, kAllPhases);
    if (plan.size > 1) append_part(result, 2, "in the node", nodes, 1, kAllPhases);
    return result;
}

// Parts follow one another on each rank that is in all of them; with nodes of one size so do the longest chains, and
// every leader (every rank, with shares) carries the most that any does inside.
Contract contract(const CollectiveCase& collective) {
    const Plan plan(collective);
    const Contract across = plan.across.contract(plan.among(plan.nodes));
    const Contract inside = plan.inside.contract(plan.among(plan.size));
    Contract sum{.chunks = plan.chunks(),
                 .steps = inside.steps + across.steps,
                 .chunks_sent = across.chunks_sent * (plan.shards ? static_cast<std::uint64_t>(plan.size) : 1),
                 .max_sent_by_rank = inside.max_sent_by_rank * across.chunks + across.max_sent_by_rank,
                 .max_received_by_rank = inside.max_received_by_rank * across.chunks + across.max_received_by_rank};
    for (std::int32_t node = 0; node < plan.nodes; ++node)
        sum.chunks_sent += plan.inside.contract(plan.among(plan.size_of(node))).chunks_sent * across.chunks;
    sum.exact = plan.workers % plan.size == 0;
    return sum;
}

// The first share is the longest: the remainder is with the first chunks.
std::uint64_t largest_share(const Plan& plan, std::uint64_t elements) {
    const std::uint64_t each = elements / plan.chunks();
    return plan.chunks_across() * each + std::min<std::uint64_t>(elements % plan.chunks(), plan.chunks_across());
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const Plan plan(collective);
    const std::uint64_t share = plan.shards ? largest_share(plan, elements) : elements;
    const std::uint64_t in_node = plan.shards ? share * static_cast<std::uint64_t>(plan.size) : elements;
    return plan.inside.closed_form_s(plan.among(plan.size), in_node, element_bytes, cost) +
           plan.across.closed_form_s(plan.among(plan.nodes), share, element_bytes, cost);
}

}  // namespace

Strategy hierarchical() {
    return {
        .name = kName,
        .help = "sums inside each node, then across nodes, then hands out inside: by leaders, or each GPU its share",
        .closed_form = "T_inside(g, W) + T_across(n, W or W/g), in o, alpha, B, gamma; p = g n, nodes of one size",
        .source = "Mikami et al. 2018 (2D torus); Jia et al. 2018 (hierarchical all-reduce)",
        .parameters = specs(),
        .refuses = refuses,
        .schedule = schedule,
        .contract = contract,
        .closed_form_s = closed_form_s};
}

}  // namespace coppice::builtin
