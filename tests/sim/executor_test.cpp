#include "sim/simgrid_executor.hpp"

#include "sim/byte_stream.hpp"
#include "tests/support/schedules.hpp"
#include "tests/support/sim_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace coppice {
namespace {

using testing::bind;
using testing::kAlpha_s;
using testing::kB;
using testing::one_phase;
using testing::reference_cluster;
using testing::simulate_once;

const Slice kAll{0, 0, 1};

TEST(Executor, sums_of_a_rank_share_its_device_with_each_other_and_with_compute) {
    // One rank, lanes: compute of 1 s, and reduces of one 4 MB block each at 2 MB/s (2 s). All three start together, a
    // third of the device each: the compute ends at 3 s with both reduces 1 s from their end, on half the device: 5 s.
    Schedule schedule = one_phase(1, 1, 1, [](Rank, std::uint32_t, RoundOps& ops) {
        ops.compute(0, 0);
        ops.reduce(1, {1, 0, 1}, kAll, 1);
        ops.reduce(2, {1, 1, 1}, kAll, 1);
    });
    schedule.buffers.push_back({"aside", 0, 2, BufferInit::Zero});
    Cluster cluster = reference_cluster();
    cluster.device.sum_bytes_per_s = 2e6;
    EXPECT_NEAR(simulate_once(schedule, bind(1'000'000, 4, {1.0}), cluster).total_s, 5.0, 1e-9);
}

TEST(Executor, a_reduce_of_several_blocks_sums_each) {
    Schedule schedule = one_phase(1, 1, 1, [](Rank, std::uint32_t, RoundOps& ops) {
        ops.reduce(0, kAll, {1, 0, 3}, 3);
    });
    schedule.buffers.push_back({"aside", 0, 3, BufferInit::Zero});
    Cluster cluster = reference_cluster();
    cluster.device.sum_bytes_per_s = 2e6;
    EXPECT_NEAR(simulate_once(schedule, bind(1'000'000, 4), cluster).total_s, 3 * 2.0, 1e-9);
}

TEST(Executor, a_dedicated_server_sums_at_the_hosts_rate_and_workers_at_their_devices) {
    // All p messages share the server's link and end together at alpha + p W / B, then p sums share the server's
    // processor, p W / gamma; the answers take alpha + p W / B.
    const std::int32_t p = 6;
    const Schedule ps = testing::ps_by_hand(p);
    Cluster cluster = reference_cluster();
    cluster.host.sum_bytes_per_s = 1e9;
    cluster.device.sum_bytes_per_s = 1;
    const double bytes = 4e6;
    EXPECT_NEAR(simulate_once(ps, bind(1'000'000, 4), cluster).total_s,
                2 * (kAlpha_s + p * bytes / kB) + p * bytes / 1e9, 1e-9);
    // A binomial tree of workers: ceil(log2 6) = 3 sums one after another.
    cluster.host.sum_bytes_per_s = 1;
    cluster.device.sum_bytes_per_s = 1e9;
    EXPECT_NEAR(simulate_once(testing::binomial_by_hand(p), bind(1'000'000, 4), cluster).total_s,
                6 * (kAlpha_s + bytes / kB) + 3 * bytes / 1e9, 1e-9);
}

TEST(Executor, copies_and_updates_take_their_time) {
    Schedule schedule = one_phase(1, 1, 1, [](Rank, std::uint32_t, RoundOps& ops) {
        ops.copy(0, {1, 0, 1}, kAll);
        ops.update(0, 0);
    });
    schedule.buffers.push_back({"aside", 0, 1, BufferInit::Undefined});
    Cluster cluster = reference_cluster();
    cluster.device.memory_bytes_per_s = 1e9;  // 4 MB read and written: 8 ms
    EXPECT_NEAR(simulate_once(schedule, bind(1'000'000, 4, {0.5}), cluster).total_s, 0.508, 1e-9);
}

TEST(Executor, overhead_is_serial_per_rank_and_blocks_no_transfer) {
    // Rank 0 sends W = 100 us on the wire to ranks 1, 2, 3, one lane each, with o = 10 us: the sends start at 10, 20
    // and 30 us. Alone the first has B until the second starts to flow 10 us later; rates are then B/2, and from 31 us
    // on B/3. Sent at 31 us: 15, 5, 0 us worth. The first ends after 3 * 85 us at 286, when the second has 90 worth; 10
    // more at B/2: 306; then the third has 95 worth, and alone 5 more: 311 (= alpha + o + 3 W: the link never idles).
    const Schedule schedule = one_phase(4, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank > 0) ops.recv(0, 0, kAll);
        for (std::uint32_t lane = 0; rank == 0 && lane < 3; ++lane) ops.send(lane, static_cast<Rank>(lane) + 1, kAll);
    });
    Cluster cluster = reference_cluster();
    cluster.link.overhead_s = 10e-6;
    const SimResult result = simulate_once(schedule, bind(312'500, 4), cluster);
    EXPECT_NEAR(result.rank_end_s[1], 286e-6, 1e-11);
    EXPECT_NEAR(result.rank_end_s[2], 306e-6, 1e-11);
    EXPECT_NEAR(result.rank_end_s[3], 311e-6, 1e-11);
}

TEST(Executor, overhead_takes_nothing_from_the_device) {
    const Schedule schedule = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank == 1) ops.recv(0, 0, kAll);
        if (rank == 0) ops.send(0, 1, kAll);
        if (rank == 0) ops.compute(1, 0);
    });
    Cluster cluster = reference_cluster();
    cluster.link.overhead_s = 1;
    const SimResult result = simulate_once(schedule, bind(0, 4, {1.5}), cluster);
    EXPECT_NEAR(result.rank_end_s[0], 1.5, 1e-9);
    EXPECT_NEAR(result.rank_end_s[1], 1 + kAlpha_s, 1e-9);
}

TEST(Executor, a_send_without_overhead_still_waits_its_turn_behind_one_with) {
    // Rank 0 sends first to another node (o = 10 us), then inside its own (o = 0): one after another on its processor.
    const Schedule schedule = one_phase(4, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank == 0) ops.send(0, 2, kAll);
        if (rank == 0) ops.send(1, 1, kAll);
        if (rank == 1 || rank == 2) ops.recv(0, 0, kAll);
    });
    Cluster cluster = reference_cluster();
    cluster.link.overhead_s = 10e-6;
    cluster.gpus_per_node = 2;
    cluster.node_link = Link{{{0, kAlpha_s / 2, kB}}, 0};
    const SimResult result = simulate_once(schedule, bind(0, 4), cluster);
    EXPECT_NEAR(result.rank_end_s[2], 10e-6 + kAlpha_s, 1e-12);
    EXPECT_NEAR(result.rank_end_s[1], 10e-6 + kAlpha_s / 2, 1e-12);
}

TEST(Executor, a_message_takes_the_time_of_its_segment) {
    // Up to 10 kB: 5 us and 1 GB/s; from there: 1 us and 10 GB/s; from 1 MB: 20 us and 12.5 GB/s. Also where the
    // segment's latency is not the link's (the smallest, 1 us).
    Cluster cluster = reference_cluster();
    cluster.link.segments = {{0, 5e-6, 1e9}, {10'000, 1e-6, 10e9}, {1'000'000, 20e-6, 12.5e9}};
    const auto alone = [&](std::uint64_t bytes) {
        const Schedule schedule = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
            if (rank == 0) ops.send(0, 1, kAll);
            if (rank == 1) ops.recv(0, 0, kAll);
        });
        return simulate_once(schedule, bind(bytes, 1), cluster).total_s;
    };
    EXPECT_NEAR(alone(1'000), 5e-6 + 1e-6, 1e-12);
    EXPECT_NEAR(alone(9'999), 5e-6 + 9.999e-6, 1e-12);
    EXPECT_NEAR(alone(10'000), 1e-6 + 1e-6, 1e-12);
    EXPECT_NEAR(alone(1'000'000), 20e-6 + 80e-6, 1e-11);
}

TEST(Executor, short_messages_are_exact_to_a_picosecond_each) {
    // 1 kB to and fro 1000 times: 1 us + 80 ns each.
    const Schedule schedule = one_phase(2, 1, 1000, [](Rank rank, std::uint32_t round, RoundOps& ops) {
        if (rank == static_cast<Rank>(round % 2)) {
            ops.send(0, 1 - rank, kAll);
        } else {
            ops.recv(0, 1 - rank, kAll);
        }
    });
    EXPECT_NEAR(simulate_once(schedule, bind(250, 4), reference_cluster()).total_s, 1000 * (kAlpha_s + 1000 / kB),
                1e-9);
}

TEST(Executor, one_rank_needs_no_time_for_a_collective) {
    for (const Schedule& schedule : {testing::ring_by_hand(1), testing::binomial_by_hand(1)}) {
        EXPECT_EQ(simulate_once(schedule, bind(1000, 4), reference_cluster()).total_s, 0);
    }
}

TEST(Executor, serves_receives_from_any_rank_in_order_of_arrival) {
    // Workers compute 3, 2, 1 s and send W = 1 s; the server answers each (1 s) before it takes the next. Worker 2:
    // 1 + 1 + 1 = 3. Worker 1 is ready at 2, served 3..5; worker 0 is ready at 3, served 5..7.
    Schedule schedule = one_phase(4, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank < 3) {
            ops.compute(0, static_cast<std::uint32_t>(rank));
            ops.send(0, 3, kAll);
            ops.recv(0, 3, kAll);
        }
        for (int i = 0; rank == 3 && i < 3; ++i) {
            ops.recv_reduce(0, kAnyRank, kAll);
            ops.send(0, kMatchedRank, kAll);
        }
    });
    schedule.workers = 3;
    Cluster cluster = reference_cluster();
    cluster.link.segments = {{0, 0, 1e6}};
    const SimResult result = simulate_once(schedule, bind(1'000'000, 1, {3, 2, 1}), cluster);
    EXPECT_NEAR(result.rank_end_s[2], 3, 1e-9);
    EXPECT_NEAR(result.rank_end_s[1], 5, 1e-9);
    EXPECT_NEAR(result.rank_end_s[0], 7, 1e-9);
    EXPECT_NEAR(result.workers_end_s(3), 7, 1e-9);
}

// Busy seconds per kind, of rank 0.
struct Stopwatch : OpObserver {
    void begin(Rank rank, OpAt at, const Op&) override {
        if (rank == 0) begun[at.lane] = simulated_now_s();
    }
    void end(Rank rank, OpAt at, const Op& op) override {
        if (rank == 0) busy_s[static_cast<std::size_t>(op.kind)] += simulated_now_s() - begun[at.lane];
    }
    std::array<double, 4> begun{};
    std::array<double, 8> busy_s{};
};

TEST(Executor, an_observer_sees_the_simulated_clock) {
    // Compute 2 s, then a send of 1 s, then wait in a receive until the peer, which computes 5 s, has sent: 5..6 s. The
    // receive began at 3 s.
    const Schedule schedule = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        ops.compute(rank == 0 ? 0 : 1, static_cast<std::uint32_t>(rank));
        if (rank == 0) {
            ops.send(0, 1, kAll);
            ops.recv(0, 1, kAll);
        } else {
            ops.recv(0, 0, kAll);
            ops.send(1, 0, kAll);
        }
    });
    Cluster cluster = reference_cluster();
    cluster.link.segments = {{0, 0, 1e6}};
    const std::string bytes =
        run_isolated({{"observe",
                       [&] {
                           Stopwatch watch;
                           SimOptions options;
                           options.observer = &watch;
                           simulate(schedule, bind(1'000'000, 1, {2, 5}), CostModel(cluster), options);
                           ByteWriter writer;
                           writer.put(watch.busy_s);
                           return writer.take();
                       }}})
            .front();
    const auto busy_s = ByteReader(bytes).get<std::array<double, 8>>();
    EXPECT_NEAR(busy_s[static_cast<std::size_t>(OpKind::Compute)], 2, 1e-9);
    EXPECT_NEAR(busy_s[static_cast<std::size_t>(OpKind::Send)], 1, 1e-9);
    EXPECT_NEAR(busy_s[static_cast<std::size_t>(OpKind::Recv)], 3, 1e-9);
}

TEST(Executor, gives_the_same_bits_each_time) {
    // Everything that could depend on addresses or timing: incast, sums, overhead, several GPUs a node.
    Cluster cluster = reference_cluster();
    cluster.gpus_per_node = 4;
    cluster.node_link = Link{{{0, 0.3e-6, 30e9}}, 0.1e-6};
    cluster.link.overhead_s = 0.7e-6;
    cluster.device.sum_bytes_per_s = 100e9;
    cluster.host.sum_bytes_per_s = 7e9;
    for (const Schedule& schedule :
         {testing::ring_by_hand(23), testing::binomial_by_hand(23), testing::ps_by_hand(23)}) {
        const SimJob job = testing::sim_job(schedule, bind(123'457, 4), cluster);
        const std::vector<SimResult> results = simulate_isolated({job, job});
        ASSERT_EQ(results[0].rank_end_s.size(), results[1].rank_end_s.size());
        EXPECT_EQ(std::memcmp(results[0].rank_end_s.data(), results[1].rank_end_s.data(),
                              results[0].rank_end_s.size() * sizeof(double)),
                  0);
        EXPECT_EQ(results[0].traffic, results[1].traffic);
    }
}

TEST(Executor, prints_nothing) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    simulate_once(testing::ring_by_hand(4), bind(1000, 4), reference_cluster());
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(ExecutorDeathTest, refuses_a_second_simulation_in_a_process) {
    const Schedule schedule = testing::binomial_by_hand(2);
    const CostModel cost(reference_cluster());
    EXPECT_DEATH(
        {
            simulate(schedule, bind(10, 4), cost);
            simulate(schedule, bind(10, 4), cost);
        },
        "one simulation a process");
}

TEST(ExecutorDeathTest, names_what_waits_in_a_deadlock) {
    const Schedule schedule = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        ops.recv(0, 1 - rank, kAll);
        ops.send(0, 1 - rank, kAll);
    });
    EXPECT_DEATH(simulate(schedule, bind(10, 4), CostModel(reference_cluster())),
                 "deadlock in the simulation of test:\n  rank 0 lane 0 op 0 \\(recv from 1 into data\\[0..1\\)\\)");
}

}  // namespace
}  // namespace coppice
