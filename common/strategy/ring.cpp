// Ring: the tensor in p chunks goes round twice, once to be summed, once to be handed out.
//
//     0 ──▶ 1      round s of reduce-scatter: rank r sends chunk r-s   to r+1, adds chunk r-s-1 from r-1
//     ▲     │      round s of all-gather:     rank r sends chunk r+1-s to r+1, takes chunk r-s  from r-1
//     │     ▼      (ranks and chunks modulo p)
//     3 ◀── 2      After reduce-scatter rank r holds the whole sum of chunk r+1.
//
//     lane 0 (send)     ─ send ──wait─ send ──wait─ ...     what is sent in a round came in during the round before:
//     lane 1 (receive)  ─ recv ─┘───── recv ─┘───── ...     lane 0 waits for lane 1 at each round's end, not the
//                                                           other way round
//
// The phase "turn" between the two: all-gather overwrites chunks that reduce-scatter has sent, so lane 1 waits
// once for lane 0. It costs nothing: the last send ends with the last receive, and the sum after it is waited for by
// everybody. It is a phase of its own so that the other two remain uniform.
//
// Each rank sends and receives 2(p-1) chunks; the longest, ceil(W/p), goes round without ever being held up:
//
//     T = 2(p-1) (o + alpha + ceil(W/p)/B) + (p-1) ceil(W/p)/gamma
//
// with alpha and B of a link that is used both ways, where the cluster knows them apart (all ranks send and receive).
//
// Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations" (2009).
#include "common/strategy/builtin.hpp"

namespace coppice::builtin {

namespace {

constexpr std::uint32_t kSend = 0;
constexpr std::uint32_t kReceive = 1;

struct Circle {
    std::int32_t workers;
    std::int32_t wrap(std::int32_t n) const { return (n % workers + workers) % workers; }
    Slice chunk(std::int32_t n) const {
        return {.buffer = 0, .first = static_cast<std::uint32_t>(wrap(n)), .count = 1};
    }
};

std::string name_of(const CollectiveCase& collective) {
    return canonical_name("ring", {}, collective.parameters);
}

Schedule schedule(const CollectiveCase& collective) {
    const Circle ring{collective.workers};
    Schedule result = in_place_schedule(name_of(collective), ring.workers, static_cast<std::uint32_t>(ring.workers));
    if (ring.workers == 1) return result;
    const auto rounds = static_cast<std::uint32_t>(ring.workers - 1);
    result.phases.push_back({.name = "reduce-scatter",
                             .rounds = rounds,
                             .uniform = true,
                             .rule = [ring](Rank rank, std::uint32_t round, RoundOps& ops) {
                                 const auto s = static_cast<std::int32_t>(round);
                                 ops.send(kSend, ring.wrap(rank + 1), ring.chunk(rank - s));
                                 ops.recv_reduce(kReceive, ring.wrap(rank - 1), ring.chunk(rank - s - 1));
                                 ops.wait(kSend, kReceive);
                             }});
    result.phases.push_back(
        {.name = "turn", .rounds = 1, .rule = [](Rank, std::uint32_t, RoundOps& ops) { ops.wait(kReceive, kSend); }});
    result.phases.push_back({.name = "all-gather",
                             .rounds = rounds,
                             .uniform = true,
                             .rule = [ring](Rank rank, std::uint32_t round, RoundOps& ops) {
                                 const auto s = static_cast<std::int32_t>(round);
                                 ops.send(kSend, ring.wrap(rank + 1), ring.chunk(rank + 1 - s));
                                 ops.recv(kReceive, ring.wrap(rank - 1), ring.chunk(rank - s));
                                 ops.wait(kSend, kReceive);
                             }});
    return result;
}

Contract contract(const CollectiveCase& collective) {
    const auto p = static_cast<std::uint64_t>(collective.workers);
    const std::uint64_t rounds = 2 * (p - 1);
    return {.chunks = static_cast<std::uint32_t>(p),
            .steps = static_cast<std::uint32_t>(rounds),
            .chunks_sent = p * rounds,
            .max_sent_by_rank = rounds,
            .max_received_by_rank = rounds};
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const auto chunks = static_cast<std::uint32_t>(collective.workers);
    const std::uint64_t bytes = largest_chunk_bytes(elements, element_bytes, chunks);
    return (collective.workers - 1) * (2 * cost.exchange_s(bytes) + cost.sum_s(bytes, SumPlace::Device));
}

}  // namespace

Strategy ring() {
    return {.name = "ring",
            .help = "ring of all workers: reduce-scatter, then all-gather, in p chunks",
            .closed_form = "2 (p-1) (o + alpha + ceil(W/p)/B) + (p-1) ceil(W/p)/gamma",
            .source = "Patarasuk and Yuan 2009 (bandwidth optimal all-reduce)",
            .parameters = {},
            .refuses = refuses_no_workers,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = closed_form_s};
}

}  // namespace coppice::builtin
