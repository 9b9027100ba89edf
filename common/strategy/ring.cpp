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
//     channels   C rings side by side, each with a C-th of the tensor and lanes 2 c and 2 c + 1: while one sums another
//     one
//                sends. They share the link, so with w = ceil(W/(p C)) a step takes no longer than C messages at once:
//
//     T <= 2(p-1) (C o + alpha + C w/B) + (p-1) C w/gamma
//
//     direction  same: all from r to r+1; alternate: every other channel goes round backwards
//
// Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations" (2009); channels
// as in NCCL.
#include "common/strategy/builtin.hpp"

#include <string>

namespace coppice::builtin {

namespace {

constexpr std::string_view kName = "ring";

const std::vector<ParameterSpec>& specs() {
    static const std::vector<ParameterSpec> table = {
        {.name = "channels",
         .help = "rings side by side, each with its share",
         .otherwise = "1",
         .lowest = 1,
         .highest = 16},
        {.name = "direction",
         .help = "all rings the same way round, or every other one backwards",
         .otherwise = "same",
         .choices = {"same", "alternate"}}};
    return table;
}

std::uint32_t channels_of(const CollectiveCase& collective) {
    return static_cast<std::uint32_t>(number_of(specs(), collective.parameters, "channels"));
}

// One channel's ring. Places are counted in its own direction: the next one of a place is place + 1.
struct Circle {
    std::int32_t workers;
    std::uint32_t channel;
    bool backwards;

    std::int32_t wrap(std::int32_t n) const { return (n % workers + workers) % workers; }
    std::int32_t place(Rank rank) const { return backwards ? workers - 1 - rank : rank; }
    Rank at(std::int32_t n) const { return backwards ? workers - 1 - wrap(n) : wrap(n); }
    Slice chunk(std::int32_t n) const {
        return {.buffer = 0,
                .first = channel * static_cast<std::uint32_t>(workers) + static_cast<std::uint32_t>(wrap(n)),
                .count = 1};
    }
    std::uint16_t tag() const { return static_cast<std::uint16_t>(channel); }
    std::uint32_t send_lane() const { return 2 * channel; }
    std::uint32_t receive_lane() const { return 2 * channel + 1; }
};

std::optional<std::string> refuses(const CollectiveCase& collective) {
    if (const auto refusal = refuses_no_workers(collective)) return refusal;
    if (channels_of(collective) == 1 && value_of(specs(), collective.parameters, "direction") == "alternate")
        return "direction=alternate needs two channels or more";
    return std::nullopt;
}

Schedule schedule(const CollectiveCase& collective) {
    const std::uint32_t channels = channels_of(collective);
    const std::int32_t workers = collective.workers;
    const bool alternate = value_of(specs(), collective.parameters, "direction") == "alternate";
    Schedule result = in_place_schedule(canonical_name(kName, specs(), collective.parameters), workers,
                                        static_cast<std::uint32_t>(workers) * channels);
    if (workers == 1) return result;
    const auto for_each_circle = [=](auto&& play) {
        for (std::uint32_t c = 0; c < channels; ++c) play(Circle{workers, c, alternate && c % 2 == 1});
    };
    const auto rounds = static_cast<std::uint32_t>(workers - 1);
    result.phases.push_back({.name = "reduce-scatter",
                             .rounds = rounds,
                             .uniform = true,
                             .rule = [for_each_circle](Rank rank, std::uint32_t round, RoundOps& ops) {
                                 const auto s = static_cast<std::int32_t>(round);
                                 for_each_circle([&](const Circle& ring) {
                                     const std::int32_t r = ring.place(rank);
                                     ops.send(ring.send_lane(), ring.at(r + 1), ring.chunk(r - s), ring.tag());
                                     ops.recv_reduce(ring.receive_lane(), ring.at(r - 1), ring.chunk(r - s - 1),
                                                     ring.tag());
                                     ops.wait(ring.send_lane(), ring.receive_lane());
                                 });
                             }});
    result.phases.push_back(
        {.name = "turn", .rounds = 1, .rule = [for_each_circle](Rank, std::uint32_t, RoundOps& ops) {
             for_each_circle([&](const Circle& ring) { ops.wait(ring.receive_lane(), ring.send_lane()); });
         }});
    result.phases.push_back({.name = "all-gather",
                             .rounds = rounds,
                             .uniform = true,
                             .rule = [for_each_circle](Rank rank, std::uint32_t round, RoundOps& ops) {
                                 const auto s = static_cast<std::int32_t>(round);
                                 for_each_circle([&](const Circle& ring) {
                                     const std::int32_t r = ring.place(rank);
                                     ops.send(ring.send_lane(), ring.at(r + 1), ring.chunk(r + 1 - s), ring.tag());
                                     ops.recv(ring.receive_lane(), ring.at(r - 1), ring.chunk(r - s), ring.tag());
                                     ops.wait(ring.send_lane(), ring.receive_lane());
                                 });
                             }});
    return result;
}

Contract contract(const CollectiveCase& collective) {
    const auto p = static_cast<std::uint64_t>(collective.workers);
    const std::uint64_t channels = channels_of(collective);
    const std::uint64_t rounds = 2 * (p - 1);
    return {.chunks = static_cast<std::uint32_t>(p * channels),
            .steps = static_cast<std::uint32_t>(rounds),
            .chunks_sent = p * rounds * channels,
            .max_sent_by_rank = rounds * channels,
            .max_received_by_rank = rounds * channels,
            .exact = channels == 1};
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const std::uint32_t channels = channels_of(collective);
    const std::uint64_t bytes =
        largest_chunk_bytes(elements, element_bytes, static_cast<std::uint32_t>(collective.workers) * channels);
    const double sums_s = channels * cost.sum_s(bytes, SumPlace::Device);
    const double step_s =
        channels == 1 ? cost.exchange_s(bytes)
                      : channels * (cost.overhead_s() + cost.both_ways_extra_s(bytes)) + cost.incast_s(channels, bytes);
    return (collective.workers - 1) * (2 * step_s + sums_s);
}

}  // namespace

Strategy ring() {
    return {.name = kName,
            .help = "ring of all workers, or several: reduce-scatter, then all-gather, in p chunks",
            .closed_form =
                "2 (p-1) (o + alpha + ceil(W/p)/B) + (p-1) ceil(W/p)/gamma; C channels, w = ceil(W/(p C)): at most "
                "2 (p-1) (C o + alpha + C w/B) + (p-1) C w/gamma",
            .source = "Patarasuk and Yuan 2009 (bandwidth optimal all-reduce); channels: NCCL",
            .parameters = specs(),
            .refuses = refuses,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = closed_form_s};
}

}  // namespace coppice::builtin
