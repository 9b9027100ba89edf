// Double tree: two trees over all ranks, half of the data through each, pipelined. A rank that has two children in one
// is a leaf in the other, so that every link carries the whole tensor about once each way, at the depth of a tree.
//
//     6 workers   first tree   0 ─ 4 ─┬─ 2 ─┬─ 1     second: the same, with ranks counted from the other end
//                                     │     └─ 3             (p odd: shifted by one), so that those who were
//                                     └─ 5                   even, inner, are odd, leaves
//
// Numbers as they stand in a sorted binary tree: below 0 is the largest power of two under p; a number with lowest set
// bit b > 1 has children n - b/2 and n + b/2, the latter, where there is no such number, the next of n + b/4, n + b/8,
// ... that exists. So odd numbers are leaves, and no number is deeper than ceil(log2 p).
//
// In turns: each edge, of either tree, has one of two colours, so that no two edges out of a rank have the same one,
// nor two into a rank (edges that have the child, or the parent, in common make paths and rings of even length). Time
// goes in steps 2 r + c, in which the edges of colour c move one segment each: in a step a rank sends at most once and
// receives at most once, and no link is ever shared. An edge's steps come after those of the edges below it, h
// rounds later: segment s moves in round s + h. The broadcast is the same backwards. One lane receives, one sends, each
// in the order of the steps; that is why there is no deadlock.
//
// Each level costs two steps, one a child, each further segment two more; S segments in each half, D = ceil(log2 p):
//
//     T <= (2 (D + S) - 1) (2 (o + alpha + W/(2 S B)) + W/(2 S gamma))      ▶  2 W/B + W/gamma for long messages
//
// Computed step by step, as the lanes do it. Ranks send and receive at once: alpha and B are those of a link used both
// ways, where the cluster knows them apart.
// Sources: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan" (Parallel
// Computing 35, 2009); NCCL since 2.4.
#include "common/strategy/builtin.hpp"
#include "common/strategy/rooted_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

namespace coppice::builtin {

namespace {

constexpr std::string_view kName = "double-tree";
constexpr std::uint32_t kReceive = 0;  // lanes
constexpr std::uint32_t kSend = 1;

const std::vector<ParameterSpec>& specs() {
    static const std::vector<ParameterSpec> table = {segments_parameter()};
    return table;
}

std::uint32_t segments_of(const CollectiveCase& collective) {
    return static_cast<std::uint32_t>(number_of(specs(), collective.parameters, "segments"));
}

std::vector<std::optional<Rank>> sorted_binary_tree(std::int32_t ranks) {
    std::vector<std::optional<Rank>> parent(static_cast<std::size_t>(ranks));
    if (ranks > 1) parent[std::bit_floor(static_cast<std::uint32_t>(ranks - 1))] = 0;
    for (Rank number = 2; number < ranks; number += 2) {
        const Rank lowest_bit = number & -number;
        parent[static_cast<std::size_t>(number - lowest_bit / 2)] = number;
        for (Rank half = lowest_bit / 2; half > 0; half /= 2) {
            if (number + half >= ranks) continue;
            parent[static_cast<std::size_t>(number + half)] = number;
            break;
        }
    }
    return parent;
}

// Between a rank and its parent in a tree.
struct Edge {
    std::uint32_t tree = 0;
    Rank child = 0;
    Rank parent = 0;
    std::uint32_t colour = 0;
    std::uint32_t rounds_below = 0;
};

struct TurnTaking {
    std::vector<Edge> edges;
    // By rank and colour: into `edges`; a rank has at most one of a colour to its parents, and one to its children.
    std::vector<std::array<std::optional<std::size_t>, 2>> above;
    std::vector<std::array<std::optional<std::size_t>, 2>> below;
    std::array<std::vector<bool>, 2> inner;  // by tree and rank: has children
    std::array<Rank, 2> root = {0, 0};
    std::uint32_t most_rounds_below = 0;

    std::uint32_t rounds(std::uint32_t segments) const { return segments + most_rounds_below; }
};

// Two colours along the paths and rings of edges that have an end in common.
void colour(std::vector<Edge>& edges, std::int32_t ranks) {
    std::vector<std::vector<std::size_t>> from(static_cast<std::size_t>(ranks));  // edges by child
    std::vector<std::vector<std::size_t>> into(static_cast<std::size_t>(ranks));  // edges by parent
    for (std::size_t i = 0; i < edges.size(); ++i) {
        from[static_cast<std::size_t>(edges[i].child)].push_back(i);
        into[static_cast<std::size_t>(edges[i].parent)].push_back(i);
    }
    std::vector<bool> done(edges.size());
    for (std::size_t start = 0; start < edges.size(); ++start) {
        if (done[start]) continue;
        done[start] = true;
        std::vector<std::size_t> open = {start};
        while (!open.empty()) {
            const Edge edge = edges[open.back()];
            open.pop_back();
            for (const auto* joined :
                 {&from[static_cast<std::size_t>(edge.child)], &into[static_cast<std::size_t>(edge.parent)]}) {
                for (const std::size_t next : *joined) {
                    if (done[next]) continue;
                    done[next] = true;
                    edges[next].colour = 1 - edge.colour;
                    open.push_back(next);
                }
            }
        }
    }
}

TurnTaking turn_taking(std::int32_t ranks) {
    const auto count = static_cast<std::size_t>(ranks);
    TurnTaking turns;
    turns.above.resize(count);
    turns.below.resize(count);
    const RootedTree numbers = tree_of_parents(sorted_binary_tree(ranks));
    for (const std::uint32_t tree : {0u, 1u}) {
        const auto rank_of = [&](Rank number) {
            if (tree == 0) return number;
            return ranks % 2 == 0 ? ranks - 1 - number : (number + 1) % ranks;
        };
        turns.inner[tree].resize(count);
        turns.root[tree] = rank_of(numbers.root);
        for (const Rank number : numbers.from_leaves)
            if (const auto& parent = numbers.parent_of(number))
                turns.edges.push_back({.tree = tree, .child = rank_of(number), .parent = rank_of(*parent)});
    }
    colour(turns.edges, ranks);
    std::array<std::vector<std::uint32_t>, 2> free;  // by tree and rank: the first step after those of all below
    for (auto& of_tree : free) of_tree.resize(count);
    for (std::size_t i = 0; i < turns.edges.size(); ++i) {  // from the leaves, so what is below is known
        Edge& edge = turns.edges[i];
        const auto child = static_cast<std::size_t>(edge.child);
        const auto parent = static_cast<std::size_t>(edge.parent);
        edge.rounds_below = (free[edge.tree][child] + 1 - edge.colour) / 2;
        free[edge.tree][parent] = std::max(free[edge.tree][parent], 2 * edge.rounds_below + edge.colour + 1);
        turns.most_rounds_below = std::max(turns.most_rounds_below, edge.rounds_below);
        turns.inner[edge.tree][parent] = true;
        turns.above[child][edge.colour] = i;
        turns.below[parent][edge.colour] = i;
    }
    return turns;
}

// --- what moves in a step ---

enum class Way { Up, Down };

std::uint32_t colour_of_step(Way way, std::uint32_t half) {
    return way == Way::Up ? half : 1 - half;
}

// The chunk that the edge moves in that round, if any.
std::optional<std::uint32_t> chunk_moved(const TurnTaking& turns, const Edge& edge, Way way, std::uint32_t segments,
                                         std::uint32_t round) {
    const std::uint32_t first = way == Way::Up ? edge.rounds_below : turns.most_rounds_below - edge.rounds_below;
    if (round < first || round - first >= segments) return std::nullopt;
    return edge.tree * segments + (round - first);
}

// What a rank sends it has received first: from children, or from its parent.
bool sends_what_it_received(const TurnTaking& turns, const Edge& edge, Way way) {
    if (way == Way::Up) return turns.inner[edge.tree][static_cast<std::size_t>(edge.child)];
    return edge.parent != turns.root[edge.tree];
}

// Within a step the send stands first: it waits for what has come in the steps before, not for what comes in this one.
void play_round(const TurnTaking& turns, Way way, std::uint32_t segments, Rank rank, std::uint32_t round,
                RoundOps& ops) {
    const auto& above = turns.above[static_cast<std::size_t>(rank)];
    const auto& below = turns.below[static_cast<std::size_t>(rank)];
    for (const std::uint32_t half : {0u, 1u}) {
        const std::uint32_t colour = colour_of_step(way, half);
        if (const auto& index = (way == Way::Up ? above : below)[colour]) {
            const Edge& edge = turns.edges[*index];
            if (const auto chunk = chunk_moved(turns, edge, way, segments, round)) {
                if (sends_what_it_received(turns, edge, way)) ops.wait(kSend, kReceive);
                ops.send(kSend, way == Way::Up ? edge.parent : edge.child, Slice{0, *chunk, 1},
                         static_cast<std::uint16_t>(edge.tree));
            }
        }
        if (const auto& index = (way == Way::Up ? below : above)[colour]) {
            const Edge& edge = turns.edges[*index];
            if (const auto chunk = chunk_moved(turns, edge, way, segments, round)) {
                const auto channel = static_cast<std::uint16_t>(edge.tree);
                if (way == Way::Up)
                    ops.recv_reduce(kReceive, edge.child, Slice{0, *chunk, 1}, channel);
                else
                    ops.recv(kReceive, edge.parent, Slice{0, *chunk, 1}, channel);
            }
        }
    }
}

Schedule schedule(const CollectiveCase& collective) {
    const std::uint32_t segments = segments_of(collective);
    Schedule result =
        in_place_schedule(canonical_name(kName, specs(), collective.parameters), collective.workers, 2 * segments);
    if (collective.workers == 1) return result;
    const auto turns = std::make_shared<const TurnTaking>(turn_taking(collective.workers));
    result.phases.push_back({.name = "reduce",
                             .rounds = turns->rounds(segments),
                             .rule = [turns, segments](Rank rank, std::uint32_t round, RoundOps& ops) {
                                 play_round(*turns, Way::Up, segments, rank, round, ops);
                             }});
    // Sums that are complete go out, and what has been sent is overwritten: either lane behind the other.
    result.phases.push_back({.name = "turn", .rounds = 1, .rule = [](Rank, std::uint32_t, RoundOps& ops) {
                                 ops.wait(kSend, kReceive);
                                 ops.wait(kReceive, kSend);
                             }});
    result.phases.push_back({.name = "broadcast",
                             .rounds = turns->rounds(segments),
                             .rule = [turns, segments](Rank rank, std::uint32_t round, RoundOps& ops) {
                                 play_round(*turns, Way::Down, segments, rank, round, ops);
                             }});
    return result;
}

// --- how long it takes; edges x rounds of work ---

double all_reduce_s(const TurnTaking& turns, std::uint32_t segments, const ChunkTimes& times) {
    std::vector<double> sent(turns.above.size());      // by rank: when its sending lane is free
    std::vector<double> received(turns.above.size());  // and its receiving lane
    struct Posted {
        std::size_t from;
        std::size_t to;
        std::uint32_t chunk;
        double at_s;
    };
    for (const Way way : {Way::Up, Way::Down}) {
        for (std::uint32_t round = 0; round < turns.rounds(segments); ++round) {
            for (const std::uint32_t half : {0u, 1u}) {
                std::vector<Posted> step;
                for (const Edge& edge : turns.edges) {
                    if (edge.colour != colour_of_step(way, half)) continue;
                    const auto chunk = chunk_moved(turns, edge, way, segments, round);
                    if (!chunk) continue;
                    const auto from = static_cast<std::size_t>(way == Way::Up ? edge.child : edge.parent);
                    const auto to = static_cast<std::size_t>(way == Way::Up ? edge.parent : edge.child);
                    if (sends_what_it_received(turns, edge, way)) sent[from] = std::max(sent[from], received[from]);
                    step.push_back({from, to, *chunk, sent[from] + times.overhead_s});
                }
                for (const Posted& posted : step) {
                    sent[posted.from] = std::max(posted.at_s, received[posted.to]) + times.message_s[posted.chunk];
                    received[posted.to] = sent[posted.from] + (way == Way::Up ? times.sum_s[posted.chunk] : 0.0);
                }
            }
        }
        for (std::size_t rank = 0; rank < sent.size(); ++rank)
            sent[rank] = received[rank] = std::max(sent[rank], received[rank]);
    }
    return *std::max_element(received.begin(), received.end());
}

Contract contract(const CollectiveCase& collective) {
    const TurnTaking turns = turn_taking(collective.workers);
    const std::uint32_t segments = segments_of(collective);
    std::uint64_t most = 0;
    for (std::size_t rank = 0; rank < turns.above.size(); ++rank) {
        std::uint64_t edges = 0;
        for (const auto* const of_rank : {&turns.above[rank], &turns.below[rank]})
            for (const auto& edge : *of_rank) edges += edge ? 1 : 0;
        most = std::max(most, edges);
    }
    return {.chunks = 2 * segments,
            .steps = static_cast<std::uint32_t>(std::lround(all_reduce_s(turns, segments, unit_times(2 * segments)))),
            .chunks_sent = 4 * static_cast<std::uint64_t>(collective.workers - 1) * segments,
            .max_sent_by_rank = most * segments,
            .max_received_by_rank = most * segments};
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const std::uint32_t segments = segments_of(collective);
    return all_reduce_s(turn_taking(collective.workers), segments,
                        chunk_times(elements, element_bytes, 2 * segments, true, cost));
}

StrategyChoice resolved(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                        const CostModel& cost) {
    return with_best_segments(kName, collective, elements, element_bytes, cost);
}

}  // namespace

Strategy double_tree() {
    return {.name = kName,
            .help = "two pipelined binary trees, half of the data each; inner ranks of one are leaves of the other",
            .closed_form =
                "at most (2 (D + S) - 1) (2 (o + alpha + W/(2 S B)) + W/(2 S gamma)), D = ceil(log2 p), S segments",
            .source = "Sanders, Speck, Träff 2009 (two-tree algorithms); NCCL since 2.4",
            .parameters = specs(),
            .refuses = refuses_no_workers,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = closed_form_s,
            .resolved = resolved};
}

}  // namespace coppice::builtin
