// Schedules written by hand for the tests of the executors, so that those do not depend on the strategies.
#pragma once

#include "common/schedule/binding.hpp"
#include "common/schedule/schedule.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace coppice::testing {

// One tensor in `chunks` chunks in buffer 0, `rounds` rounds of the given rule.
template <typename Rule>
Schedule one_phase(std::int32_t ranks, std::uint32_t chunks, std::uint32_t rounds, Rule rule) {
    Schedule schedule;
    schedule.strategy = "test";
    schedule.workers = schedule.ranks = ranks;
    schedule.tensors = {{"data", chunks}};
    schedule.buffers = {{"data", 0, 1, BufferInit::Contribution}};
    schedule.phases = {{"test", rounds, false, rule}};
    return schedule;
}

inline Binding bind(std::uint64_t elements, std::uint32_t element_bytes, std::vector<double> work_s = {}) {
    return {{{elements, element_bytes}}, std::move(work_s)};
}

// The textbook ring: reduce-scatter, then all-gather; lane 0 sends, lane 1 receives. In round k rank r sends chunk
// r - k (mod p), which it has summed in round k - 1.
inline Schedule ring_by_hand(std::int32_t p) {
    const auto rule = [p](bool reducing) {
        return [p, reducing](Rank rank, std::uint32_t round, RoundOps& ops) {
            const auto chunk = [&](std::int32_t offset) {
                const std::int32_t first = reducing ? rank : rank + 1;
                return Slice{
                    0, static_cast<std::uint32_t>((first - static_cast<std::int32_t>(round) + offset + 2 * p) % p), 1};
            };
            ops.wait(0, 1);  // what is sent now came last round
            ops.send(0, (rank + 1) % p, chunk(0));
            if (reducing) {
                ops.recv_reduce(1, (rank + p - 1) % p, chunk(-1));
            } else {
                ops.recv(1, (rank + p - 1) % p, chunk(-1));
            }
        };
    };
    const auto rounds = static_cast<std::uint32_t>(p - 1);
    Schedule schedule = one_phase(p, static_cast<std::uint32_t>(p), 0, rule(true));
    schedule.strategy = "ring by hand";
    schedule.phases = {{"reduce-scatter", rounds, true, rule(true)}, {"all-gather", rounds, true, rule(false)}};
    return schedule;
}

inline std::uint32_t ceil_log2(std::int32_t p) {
    std::uint32_t log = 0;
    while ((std::int32_t{1} << log) < p) ++log;
    return log;
}

// Binomial tree to rank 0 and back, everything on one lane. Reduce round k: ranks with bit k lowest set send to
// rank - 2^k.
inline Schedule binomial_by_hand(std::int32_t p) {
    const auto rule = [p](bool reducing) {
        return [p, reducing](Rank rank, std::uint32_t round, RoundOps& ops) {
            const std::int32_t bit = 1 << (reducing ? round : ceil_log2(p) - 1 - round);
            const Slice all{0, 0, 1};
            const bool child = rank % (2 * bit) == bit;
            const bool parent = rank % (2 * bit) == 0 && rank + bit < p;
            if (child && reducing) ops.send(0, rank - bit, all);
            if (child && !reducing) ops.recv(0, rank - bit, all);
            if (parent && reducing) ops.recv_reduce(0, rank + bit, all);
            if (parent && !reducing) ops.send(0, rank + bit, all);
        };
    };
    Schedule schedule = one_phase(p, 1, 0, rule(true));
    schedule.strategy = "binomial by hand";
    schedule.phases = {{"reduce", ceil_log2(p), false, rule(true)}, {"broadcast", ceil_log2(p), false, rule(false)}};
    return schedule;
}

// One server on a machine of its own (rank p) with a lane per worker; all sums into one slice, then all are answered.
inline Schedule ps_by_hand(std::int32_t p) {
    const auto rule = [p](Rank rank, std::uint32_t, RoundOps& ops) {
        const Slice all{0, 0, 1};
        if (rank < p) {
            ops.send(0, p, all);
            ops.recv(0, p, all);
            return;
        }
        const auto lanes = static_cast<std::uint32_t>(p);
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            ops.recv_reduce_commutative(lane, static_cast<Rank>(lane), all);
        }
        ops.wait_all(lanes);  // a lane that only gathers, so that the waits below stay cheap
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            ops.wait(lane, lanes);
            ops.send(lane, static_cast<Rank>(lane), all);
        }
    };
    Schedule schedule = one_phase(p, 1, 1, rule);
    schedule.strategy = "ps by hand";
    schedule.ranks = p + 1;
    return schedule;
}

}  // namespace coppice::testing
