// Binomial reduction tree to rank 0, then the same tree backwards as a broadcast.
//
//     0         8 workers, reduce. Round 0: 1→0 3→2 5→4 7→6     broadcast. Round 0: 0→4
//     ├─1                          Round 1: 2→0 6→4                        Round 1: 0→2 4→6
//     ├─2─3                        Round 2: 4→0                            Round 2: 0→1 2→3 4→5 6→7
//     └─4─5
//       └─6─7       In round k a rank whose lowest set bit is k sends everything to rank - 2^k, its parent.
//
// One lane a rank: the order of the lane is the order of the rounds, so nothing needs a wait. Rank 0 has
// K = ceil(log2 p) children and no rank is ready later than it: child 2^k has at most k children of its own. So for
// any p the tree takes K receives and sums one after another, then K sends:
//
//     T = 2 K (o + alpha + W/B) + K W/gamma   less one o where p is not a power of two: then the last child, 2^(K-1),
//                                             has a smaller subtree than rank 0 has had, and is through with the
//                                             overhead of its send before rank 0 is ready to receive
//
// The whole tensor travels as one message (a segmented, pipelined tree is another strategy).
// Sources: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH" (2005),
// sections 3.2 and 4 (binomial trees); Iandola et al., "FireCaffe", arXiv 1511.00175, the section on reduction trees:
// its |W| log2(p) / BW counts one log2(p) for both ways together, this one counts each.
#include "common/strategy/builtin.hpp"

namespace coppice::builtin {

namespace {

constexpr std::uint32_t kLane = 0;
constexpr Slice kAll{.buffer = 0, .first = 0, .count = 1};

// What a rank is in the round of bit k: nothing, a child (of rank - bit) or a parent (of rank + bit).
enum class Role { None, Child, Parent };

Role role_of(Rank rank, Rank bit, std::int32_t workers) {
    if (rank % bit != 0) return Role::None;
    if ((rank & bit) != 0) return Role::Child;
    return rank + bit < workers ? Role::Parent : Role::None;
}

std::string name_of(const CollectiveCase& collective) {
    return canonical_name("tree", {}, collective.parameters);
}

Schedule schedule(const CollectiveCase& collective) {
    const std::int32_t p = collective.workers;
    const std::uint32_t depth = ceil_log2(p);
    Schedule result = in_place_schedule(name_of(collective), p, 1);
    if (p == 1) return result;
    result.phases.push_back({.name = "reduce", .rounds = depth, .rule = [p](Rank rank, std::uint32_t k, RoundOps& ops) {
                                 const Rank bit = 1 << k;
                                 const Role role = role_of(rank, bit, p);
                                 if (role == Role::Child) ops.send(kLane, rank - bit, kAll);
                                 if (role == Role::Parent) ops.recv_reduce(kLane, rank + bit, kAll);
                             }});
    result.phases.push_back(
        {.name = "broadcast", .rounds = depth, .rule = [p, depth](Rank rank, std::uint32_t round, RoundOps& ops) {
             const Rank bit = 1 << (depth - 1 - round);
             const Role role = role_of(rank, bit, p);
             if (role == Role::Child) ops.recv(kLane, rank - bit, kAll);
             if (role == Role::Parent) ops.send(kLane, rank + bit, kAll);
         }});
    return result;
}

// Rank 0 talks to all its K children, and no rank has more neighbours: child 2^k has its parent and at most k children.
Contract contract(const CollectiveCase& collective) {
    const std::uint32_t depth = ceil_log2(collective.workers);
    return {.chunks = 1,
            .steps = 2 * depth,
            .chunks_sent = 2 * static_cast<std::uint64_t>(collective.workers - 1),
            .max_sent_by_rank = depth,
            .max_received_by_rank = depth};
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const std::uint64_t bytes = elements * element_bytes;
    const bool whole = std::has_single_bit(static_cast<std::uint32_t>(collective.workers));
    return ceil_log2(collective.workers) * (2 * cost.send_s(bytes) + cost.sum_s(bytes, SumPlace::Device)) -
           (whole ? 0 : cost.overhead_s());
}

}  // namespace

Strategy tree() {
    return {.name = "tree",
            .help = "binomial reduction tree to rank 0, then broadcast down the same tree",
            .closed_form = "2 K (o + alpha + W/B) + K W/gamma, K = ceil(log2 p); - o if p is not a power of 2",
            .source = "FireCaffe, arXiv 1511.00175 (reduction trees); Thakur, Rabenseifner, Gropp 2005 (binomial)",
            .parameters = {},
            .refuses = refuses_no_workers,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = closed_form_s};
}

}  // namespace coppice::builtin
