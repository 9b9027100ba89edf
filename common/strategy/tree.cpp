// Reduction tree to rank 0, then the same tree backwards as a broadcast.
//
//     shape    binomial, 8 workers     binary            chain            k-ary: as binary, with `arity` children
//              0                       0                 0 ─ 1 ─ 2 ─ 3
//              ├─1                     ├─1 ─┬─ 3
//              ├─2─3                   │    └─ 4
//              └─4─5                   └─2 ─┬─ 5
//                └─6─7                      └─ 6
//     segments The tensor in so many pieces that follow one another through the tree: while a rank adds piece s + 1 its
//              parent adds piece s. `auto`: as many as the closed form finds best.
//
//     lane 0  (receive)  a.0 b.0 a.1 b.1 ...   children a and b, pieces 0, 1, ...; each received, then added
//     lane 1  (send)             0       1     to the parent, when the piece's sums are complete; one piece: lane 0
//
// A broadcast begins when the root has all sums, so neither way ever shares a link with the other one.
//
// In one piece, a rank of a binomial tree whose lowest set bit is k sends everything to rank - 2^k in round k. Rank 0
// has K = ceil(log2 p) children and no rank is ready later than it: child 2^k has at most k children of its own. So for
// any p the tree takes K receives and sums one after another, then K sends:
//
//     T = 2 K (o + alpha + W/B) + K W/gamma   less one o where p is not a power of two: then the last child, 2^(K-1),
//                                             has a smaller subtree than rank 0 has had, and is through with the
//                                             overhead of its send before rank 0 is ready to receive
//
// In S pieces, if each rank above the lowest has k children and the lowest are D messages from the root, every stage
// is k messages and sums of a piece, D stages until the first is at the root and S - 1 more until the last one is:
//
//     T = (D + S - 1) k (2 (alpha + W/(S B)) + W/(S gamma))     and overheads; D = p - 1, k = 1 for a chain
//
// For any tree it is computed message by message (all_reduce_s). Where there are pieces, ranks send and receive at
// once: alpha and B are those of a link used both ways, where the cluster knows them apart.
//
// The tree is binomial in one piece by default: that is FireCaffe's, and Caffe's own (0:1, 2:3, then 0:2).
// Sources: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH" (2005);
// Iandola et al., "FireCaffe", arXiv 1511.00175, the section on reduction trees: its |W| log2(p) / BW counts one
// log2(p) for both ways together, this one counts each; Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth
// broadcast, reduction and scan" (2009), on pipelined chains and binary trees.
#include "common/strategy/builtin.hpp"
#include "common/strategy/rooted_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

namespace coppice::builtin {

namespace {

constexpr std::string_view kName = "tree";

const std::vector<ParameterSpec>& specs() {
    static const std::vector<ParameterSpec> table = {
        {.name = "shape",
         .help = "binomial; binary or k-ary, whose inner ranks have 2 or `arity` children; chain",
         .otherwise = "binomial",
         .choices = {"binomial", "binary", "k-ary", "chain"},
         .tried = {"binary", "chain"}},
        {.name = "arity", .help = "children of a rank, shape=k-ary only", .otherwise = "3", .lowest = 3, .highest = 64},
        segments_parameter()};
    return table;
}

std::string_view value(const CollectiveCase& collective, std::string_view name) {
    return value_of(specs(), collective.parameters, name);
}

RootedTree tree_of(const CollectiveCase& collective) {
    const std::string_view shape = value(collective, "shape");
    if (shape == "binomial") return binomial_tree(collective.workers);
    if (shape == "binary") return k_ary_tree(collective.workers, 2);
    if (shape == "chain") return k_ary_tree(collective.workers, 1);
    return k_ary_tree(collective.workers, number_of(specs(), collective.parameters, "arity"));
}

std::uint32_t segments_of(const CollectiveCase& collective) {
    return static_cast<std::uint32_t>(number_of(specs(), collective.parameters, "segments"));
}

std::optional<std::string> refuses(const CollectiveCase& collective) {
    if (const auto refusal = refuses_no_workers(collective)) return refusal;
    const bool has_arity = value(collective, "arity") != specs()[1].otherwise;
    if (has_arity && value(collective, "shape") != "k-ary")
        return fmt::format("arity is for shape=k-ary, not for shape={}", value(collective, "shape"));
    return std::nullopt;
}

// --- what a rank does with one segment; children are handed out to in the reverse order of their sums ---

std::uint32_t send_lane(std::uint32_t segments) {
    return segments == 1 ? 0 : 1;
}

void reduce_round(const RootedTree& tree, std::uint32_t segments, Rank rank, std::uint32_t segment, RoundOps& ops) {
    for (const Rank child : tree.children_of(rank)) ops.recv_reduce(0, child, Slice{0, segment, 1});
    if (!tree.parent_of(rank)) return;
    if (segments > 1 && !tree.children_of(rank).empty()) ops.wait(send_lane(segments), 0);
    ops.send(send_lane(segments), *tree.parent_of(rank), Slice{0, segment, 1});
}

// The root hands out what it has summed; the others are told what they have sent away.
void turn_round(const RootedTree& tree, std::uint32_t segments, Rank rank, RoundOps& ops) {
    if (!tree.parent_of(rank)) return ops.wait(send_lane(segments), 0);
    ops.wait(0, send_lane(segments));
}

void broadcast_round(const RootedTree& tree, std::uint32_t segments, Rank rank, std::uint32_t segment, RoundOps& ops) {
    const std::vector<Rank>& children = tree.children_of(rank);
    if (tree.parent_of(rank)) {
        ops.recv(0, *tree.parent_of(rank), Slice{0, segment, 1});
        if (segments > 1 && !children.empty()) ops.wait(send_lane(segments), 0);
    }
    for (auto child = children.rbegin(); child != children.rend(); ++child)
        ops.send(send_lane(segments), *child, Slice{0, segment, 1});
}

Schedule schedule(const CollectiveCase& collective) {
    const std::uint32_t segments = segments_of(collective);
    Schedule result =
        in_place_schedule(canonical_name(kName, specs(), collective.parameters), collective.workers, segments);
    if (collective.workers == 1) return result;
    const auto tree = std::make_shared<const RootedTree>(tree_of(collective));
    result.phases.push_back({.name = "reduce",
                             .rounds = segments,
                             .uniform = true,
                             .rule = [tree, segments](Rank rank, std::uint32_t segment, RoundOps& ops) {
                                 reduce_round(*tree, segments, rank, segment, ops);
                             }});
    if (segments > 1)
        result.phases.push_back(
            {.name = "turn", .rounds = 1, .rule = [tree, segments](Rank rank, std::uint32_t, RoundOps& ops) {
                 turn_round(*tree, segments, rank, ops);
             }});
    result.phases.push_back({.name = "broadcast",
                             .rounds = segments,
                             .uniform = true,
                             .rule = [tree, segments](Rank rank, std::uint32_t segment, RoundOps& ops) {
                                 broadcast_round(*tree, segments, rank, segment, ops);
                             }});
    return result;
}

// --- how long that takes: exact where no two messages share a link, which they never do; ranks x segments of work ---

// When the root has added segment after segment, and is done with the last.
double reduce_s(const RootedTree& tree, const ChunkTimes& times) {
    std::vector<double> summed(tree.parent.size());  // by rank: this segment's sum is complete; receive lane free
    std::vector<double> sent(tree.parent.size());    // by rank: its send of the segment before is over
    for (std::size_t segment = 0; segment < times.message_s.size(); ++segment) {
        for (const Rank rank : tree.from_leaves) {
            double& free_s = summed[static_cast<std::size_t>(rank)];
            for (const Rank child : tree.children_of(rank)) {
                const auto from = static_cast<std::size_t>(child);
                const double posted_s = std::max(summed[from], sent[from]) + times.overhead_s;
                sent[from] = std::max(free_s, posted_s) + times.message_s[segment];
                free_s = sent[from] + times.sum_s[segment];
            }
        }
    }
    return summed[static_cast<std::size_t>(tree.root)];
}

// When the last rank has the last segment, if the root has them all at 0.
double broadcast_s(const RootedTree& tree, const ChunkTimes& times) {
    std::vector<double> received(tree.parent.size());
    std::vector<double> free(tree.parent.size());  // by rank: its send lane
    for (std::size_t segment = 0; segment < times.message_s.size(); ++segment) {
        for (auto rank = tree.from_leaves.rbegin(); rank != tree.from_leaves.rend(); ++rank) {
            double& free_s = free[static_cast<std::size_t>(*rank)];
            free_s = std::max(free_s, received[static_cast<std::size_t>(*rank)]);
            const std::vector<Rank>& children = tree.children_of(*rank);
            for (auto child = children.rbegin(); child != children.rend(); ++child) {
                free_s += times.overhead_s + times.message_s[segment];
                received[static_cast<std::size_t>(*child)] = free_s;
            }
        }
    }
    return *std::max_element(received.begin(), received.end());
}

double all_reduce_s(const RootedTree& tree, const ChunkTimes& times) {
    return tree.ranks() == 1 ? 0 : reduce_s(tree, times) + broadcast_s(tree, times);
}

// Whoever talks to most ranks
// carries most: it has each segment from or for each of them once each way.
Contract contract(const CollectiveCase& collective) {
    const RootedTree tree = tree_of(collective);
    const std::uint32_t segments = segments_of(collective);
    std::size_t neighbours = 0;
    for (Rank rank = 0; rank < tree.ranks(); ++rank)
        neighbours = std::max(neighbours, tree.children_of(rank).size() + (tree.parent_of(rank) ? 1 : 0));
    return {.chunks = segments,
            .steps = static_cast<std::uint32_t>(std::lround(all_reduce_s(tree, unit_times(segments)))),
            .chunks_sent = 2 * static_cast<std::uint64_t>(collective.workers - 1) * segments,
            .max_sent_by_rank = neighbours * segments,
            .max_received_by_rank = neighbours * segments};
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const std::uint32_t segments = segments_of(collective);
    return all_reduce_s(tree_of(collective), chunk_times(elements, element_bytes, segments, segments > 1, cost));
}

StrategyChoice resolved(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                        const CostModel& cost) {
    return with_best_segments(kName, collective, elements, element_bytes, cost);
}

}  // namespace

Strategy tree() {
    return {.name = kName,
            .help = "reduction tree to rank 0, then broadcast down the same tree; in one piece or pipelined",
            .closed_form =
                "2 K (o + alpha + W/B) + K W/gamma, K = ceil(log2 p); - o if p is not a power of 2; "
                "S segments: (D + S - 1) k (2 (o + alpha + W/(S B)) + W/(S gamma)), depth D, k children",
            .source = "FireCaffe, arXiv 1511.00175 (reduction trees); Thakur, Rabenseifner, Gropp 2005 (binomial)",
            .parameters = specs(),
            .refuses = refuses,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = closed_form_s,
            .resolved = resolved};
}

}  // namespace coppice::builtin
