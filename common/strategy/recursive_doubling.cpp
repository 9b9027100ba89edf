// Recursive doubling: in each round all exchange all they have, with a partner twice as far away as before.
//
//     8 workers    0 ◀─▶ 1  2 ◀─▶ 3  4 ◀─▶ 5  6 ◀─▶ 7      each has the sum of 2
//                  0 ◀─▶ 2  1 ◀─▶ 3  4 ◀─▶ 6  5 ◀─▶ 7                        of 4
//                  0 ◀─▶ 4  1 ◀─▶ 5  2 ◀─▶ 6  3 ◀─▶ 7                        of 8
//
//     lane 0   ─ send ── (wait) ── reduce ─── send ── ...    what arrives is received aside, since the same numbers are
//     lane 1   ─ recv ─────┘          └(wait)─ recv ── ...   on their way out; a sum begins when both are through
//
// The fewest steps of all, each with the whole tensor: for short ones. Both partners add the same two numbers, so all
// ranks end with the same bits. With c the largest power of two up to p, and p - c workers folded into others
// (folding.hpp):
//
//     T = log2(c) (o + alpha + W/B + W/gamma)  [+ 2 (o + alpha + W/B) + W/gamma if c < p]
//
// with alpha and B of a link that is used both ways, where the cluster knows them apart, except for the folding.
//
// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH" (2005).
#include "common/strategy/builtin.hpp"
#include "common/strategy/folding.hpp"

namespace coppice::builtin {

namespace {

constexpr std::uint32_t kSend = 0;
constexpr std::uint32_t kReceive = 1;
constexpr Slice kAll{.buffer = 0, .first = 0, .count = 1};
constexpr Slice kAside{.buffer = 1, .first = 0, .count = 1};

std::string name_of(const CollectiveCase& collective) {
    return canonical_name("recursive-doubling", {}, collective.parameters);
}

Schedule schedule(const CollectiveCase& collective) {
    const Folding folding(collective.workers);
    Schedule result = in_place_schedule(name_of(collective), collective.workers, 1);
    if (folding.folded > 0) result.phases.push_back(fold_phase(folding, kAll, kSend, kReceive));
    if (folding.rounds > 0) {
        result.buffers.push_back({.name = "aside", .tensor = 0, .copies = 1});
        result.phases.push_back({.name = "exchange",
                                 .rounds = folding.rounds,
                                 .rule = [folding](Rank rank, std::uint32_t round, RoundOps& ops) {
                                     const auto number = folding.number_of(rank);
                                     if (!number) return;
                                     const Rank peer = folding.rank_of(*number ^ (1 << round));
                                     ops.send(kSend, peer, kAll);
                                     ops.recv(kReceive, peer, kAside);
                                     ops.wait(kSend, kReceive);
                                     ops.reduce(kSend, kAll, kAside, 1);
                                     ops.wait(kReceive, kSend);
                                 }});
    }
    if (folding.folded > 0) result.phases.push_back(unfold_phase(folding, kAll, kSend, kReceive));
    return result;
}

// Everybody of the core adds once a round, where a tree would have one that adds for all.
Contract contract(const CollectiveCase& collective) {
    const Folding folding(collective.workers);
    const auto core = static_cast<std::uint64_t>(folding.core);
    const auto folded = static_cast<std::uint64_t>(folding.folded);
    const std::uint64_t most = folding.rounds + (folded > 0 ? 1u : 0u);
    return {.chunks = 1,
            .steps = folding.rounds + (folded > 0 ? 2u : 0u),
            .chunks_sent = core * folding.rounds + 2 * folded,
            .max_sent_by_rank = most,
            .max_received_by_rank = most,
            .chunks_summed = core * folding.rounds + folded};
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const Folding folding(collective.workers);
    const std::uint64_t bytes = elements * element_bytes;
    const double sum_s = cost.sum_s(bytes, SumPlace::Device);
    return (folding.folded > 0 ? 2 * cost.send_s(bytes) + sum_s : 0) +
           folding.rounds * (cost.exchange_s(bytes) + sum_s);
}

}  // namespace

Strategy recursive_doubling() {
    return {.name = "recursive-doubling",
            .help = "all exchange all they have, with partners ever farther away: few steps, for short tensors",
            .closed_form =
                "log2(p) (o + alpha + W/B + W/gamma); p no power of 2: that of the next below, + 2 (o + alpha "
                "+ W/B) + W/gamma",
            .source = "Thakur, Rabenseifner, Gropp 2005",
            .parameters = {},
            .refuses = refuses_no_workers,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = closed_form_s};
}

}  // namespace coppice::builtin
