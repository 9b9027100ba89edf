// Halving-doubling: reduce-scatter by recursive halving, all-gather by recursive doubling.
//
//     4 workers, chunks 0..3. Who exchanges with whom, and the chunks for which a worker has the sum of how many:
//
//     reduce-scatter   0 ◀─▶ 2  1 ◀─▶ 3     0 and 1 give away 2 3, keep the sums of 0 1; 2 and 3 the other way round
//                      0 ◀─▶ 1  2 ◀─▶ 3     worker r has the whole sum of chunk r
//     all-gather       0 ◀─▶ 1  2 ◀─▶ 3     each has two chunks
//                      0 ◀─▶ 2  1 ◀─▶ 3     each has all
//
//     lane 0 (send), lane 1 (receive): what is sent in a round is what came in before, so lane 0 waits for lane 1 at
//     each round's end. All-gather overwrites what reduce-scatter has sent: at the "turn" lane 1 waits for lane 0,
//     once.
//
// With c the largest power of two up to p, and p - c workers folded into others (folding.hpp), n_d the bytes of the
// first d of c chunks (no d neighbours are longer):
//
//     T = sum over d = c/2, c/4, ..., 1 of 2 (o + alpha + n_d/B) + n_d/gamma  [+ 2 (o + alpha + W/B) + W/gamma if c <
//     p]
//       = 2 log2(p) (o + alpha) + 2 (p-1)/p W/B + (p-1)/p W/gamma  where p is a power of two that divides the tensor
//
// with alpha and B of a link that is used both ways, where the cluster knows them apart, except for the folding. With
// c < p and a c that does not divide the tensor this is too much by c - 1 elements each way at most: those who wait for
// an overhead in each round are then not those with the longest blocks.
//
// Sources: Rabenseifner, "Optimization of collective reduction operations" (ICCS 2004); Thakur, Rabenseifner, Gropp,
// "Optimization of collective communication operations in MPICH" (2005).
#include "common/schedule/binding.hpp"
#include "common/strategy/builtin.hpp"
#include "common/strategy/folding.hpp"

namespace coppice::builtin {

namespace {

constexpr std::uint32_t kSend = 0;
constexpr std::uint32_t kReceive = 1;

std::string name_of(const CollectiveCase& collective) {
    return canonical_name("halving-doubling", {}, collective.parameters);
}

// The d chunks to which chunk `number` belongs, where blocks of d follow one another.
Slice block(std::int32_t number, std::int32_t d) {
    return {.buffer = 0, .first = static_cast<std::uint32_t>(number / d * d), .count = static_cast<std::uint32_t>(d)};
}

Schedule schedule(const CollectiveCase& collective) {
    const Folding folding(collective.workers);
    const Slice all{.buffer = 0, .first = 0, .count = static_cast<std::uint32_t>(folding.core)};
    Schedule result = in_place_schedule(name_of(collective), collective.workers, all.count);
    if (folding.folded > 0) result.phases.push_back(fold_phase(folding, all, kSend, kReceive));
    if (folding.rounds > 0) {
        result.phases.push_back({.name = "reduce-scatter",
                                 .rounds = folding.rounds,
                                 .rule = [folding](Rank rank, std::uint32_t round, RoundOps& ops) {
                                     const auto number = folding.number_of(rank);
                                     if (!number) return;
                                     const std::int32_t d = folding.core >> (round + 1);
                                     const Rank peer = folding.rank_of(*number ^ d);
                                     ops.send(kSend, peer, block(*number ^ d, d));
                                     ops.recv_reduce(kReceive, peer, block(*number, d));
                                     ops.wait(kSend, kReceive);
                                 }});
        result.phases.push_back(
            {.name = "turn", .rounds = 1, .rule = [folding](Rank rank, std::uint32_t, RoundOps& ops) {
                 if (folding.number_of(rank)) ops.wait(kReceive, kSend);
             }});
        result.phases.push_back({.name = "all-gather",
                                 .rounds = folding.rounds,
                                 .rule = [folding](Rank rank, std::uint32_t round, RoundOps& ops) {
                                     const auto number = folding.number_of(rank);
                                     if (!number) return;
                                     const std::int32_t d = 1 << round;
                                     const Rank peer = folding.rank_of(*number ^ d);
                                     ops.send(kSend, peer, block(*number, d));
                                     ops.recv(kReceive, peer, block(*number ^ d, d));
                                     ops.wait(kSend, kReceive);
                                 }});
    }
    if (folding.folded > 0) result.phases.push_back(unfold_phase(folding, all, kSend, kReceive));
    return result;
}

// Of the core each sends c - 1 chunks each way; one that speaks for another takes all c besides, and hands out all.
Contract contract(const CollectiveCase& collective) {
    const Folding folding(collective.workers);
    const auto core = static_cast<std::uint64_t>(folding.core);
    const auto folded = static_cast<std::uint64_t>(folding.folded);
    const std::uint64_t most = 2 * (core - 1) + (folded > 0 ? core : 0);
    return {.chunks = static_cast<std::uint32_t>(core),
            .steps = 2 * folding.rounds + (folded > 0 ? 2u : 0u),
            .chunks_sent = 2 * core * (core - 1) + 2 * folded * core,
            .max_sent_by_rank = most,
            .max_received_by_rank = most};
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const Folding folding(collective.workers);
    const std::uint64_t bytes = elements * element_bytes;
    double seconds = folding.folded > 0 ? 2 * cost.send_s(bytes) + cost.sum_s(bytes, SumPlace::Device) : 0;
    for (std::int32_t d = folding.core / 2; d >= 1; d /= 2) {
        // Where the next chunk begins, these end.
        const auto core = static_cast<std::uint32_t>(folding.core);
        const std::uint64_t n = chunk_range(elements, core, static_cast<std::uint32_t>(d)).first * element_bytes;
        seconds += 2 * cost.exchange_s(n) + cost.sum_s(n, SumPlace::Device);
    }
    return seconds;
}

}  // namespace

Strategy halving_doubling() {
    return {.name = "halving-doubling",
            .help = "reduce-scatter by recursive halving, all-gather by recursive doubling (Rabenseifner)",
            .closed_form =
                "2 log2(p) (o + alpha) + 2 (p-1)/p W/B + (p-1)/p W/gamma; p no power of 2: that of the next "
                "below, + 2 (o + alpha + W/B) + W/gamma",
            .source = "Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005",
            .parameters = {},
            .refuses = refuses_no_workers,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = closed_form_s};
}

}  // namespace coppice::builtin
