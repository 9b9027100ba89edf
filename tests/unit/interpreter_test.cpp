#include "common/schedule/interpreter.hpp"

#include "tests/support/fake_port.hpp"
#include "tests/support/schedules.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace coppice {
namespace {

using testing::bind;
using testing::FakePricing;
using testing::FakeWorld;
using testing::one_phase;

const Slice kAll{0, 0, 1};

void expect_all_reduced(const FakeWorld& world, const Schedule& schedule, std::uint64_t elements) {
    for (Rank rank = 0; rank < schedule.workers; ++rank) {
        for (std::uint64_t e = 0; e < elements; ++e) {
            ASSERT_EQ(world.data(rank, 0)[e], testing::expected_sum(schedule.workers, e))
                << schedule.strategy << " p=" << schedule.workers << " rank " << rank << " element " << e;
        }
    }
}

TEST(Interpreter, all_reduces_real_numbers_on_any_number_of_ranks) {
    for (std::int32_t p = 1; p <= 17; ++p) {
        for (const Schedule& schedule :
             {testing::ring_by_hand(p), testing::binomial_by_hand(p), testing::ps_by_hand(p)}) {
            const Binding binding = bind(103, 8);
            FakeWorld world(schedule, binding);
            ASSERT_TRUE(world.run()) << schedule.strategy << " p=" << p;
            expect_all_reduced(world, schedule, 103);
        }
    }
}

TEST(Interpreter, prices_a_ring_and_a_tree_as_their_closed_forms) {
    // alpha = 2^-10 s, B = 2^20 bytes/s, no sums: powers of two, so that the sums below are exact.
    FakePricing pricing;
    pricing.message_s = [](std::uint64_t bytes) { return 0x1p-10 + static_cast<double>(bytes) * 0x1p-20; };
    const Binding binding = bind(1 << 16, 8);  // 2^19 bytes: 2^-1 s on the wire
    const Schedule ring = testing::ring_by_hand(8);
    FakeWorld ring_world(ring, binding, pricing, false);
    ASSERT_TRUE(ring_world.run());
    EXPECT_EQ(ring_world.now_s(), 14 * (0x1p-10 + 0x1p-4));  // 2 (p - 1) (alpha + W / (p B))
    const Schedule tree = testing::binomial_by_hand(8);
    FakeWorld tree_world(tree, binding, pricing, false);
    ASSERT_TRUE(tree_world.run());
    EXPECT_EQ(tree_world.now_s(), 6 * (0x1p-10 + 0x1p-1));  // 2 log2(p) (alpha + W / B)
}

TEST(Interpreter, counts_messages_and_bytes_per_pair) {
    // p - 1 = 3 messages each way round, 2 phases; 10 elements in 4 chunks: 3 3 2 2. Over both phases a rank sends
    // every chunk twice but for two: the one that it starts to receive in each phase (r + 1 and r + 2).
    const Schedule ring = testing::ring_by_hand(4);
    const Binding binding = bind(10, 4);
    FakeWorld world(ring, binding);
    ASSERT_TRUE(world.run());
    ASSERT_EQ(world.traffic().size(), 4u);
    const FakeWorld::PairTraffic from_0 = world.traffic().at({0, 1});
    EXPECT_EQ(from_0.messages, 6u);
    EXPECT_EQ(from_0.bytes, 4u * (20 - 3 - 2));
}

TEST(Interpreter, a_lane_that_first_appears_late_runs_beside_the_early_rounds) {
    // Rank 0 receives in round 0 and sends in round 1 on a lane of its own; rank 1 wants to receive first. Played
    // lane by lane in full this is no deadlock, so it must be none when rounds are expanded lazily.
    const Schedule schedule = one_phase(2, 1, 2, [](Rank rank, std::uint32_t round, RoundOps& ops) {
        if (rank == 0 && round == 0) ops.recv(0, 1, kAll);
        if (rank == 0 && round == 1) ops.send(1, 1, kAll);
        if (rank == 1 && round == 0) ops.recv(0, 0, kAll);
        if (rank == 1 && round == 1) ops.send(0, 0, kAll);
    });
    const Binding binding = bind(1, 8);
    FakeWorld world(schedule, binding);
    EXPECT_TRUE(world.run());
}

TEST(Interpreter, expands_only_as_far_as_lanes_need) {
    // Both lanes of a ring are always busy with the round at hand; a third lane that is done after one operation must
    // not cause all rounds to be expanded.
    std::uint32_t furthest = 0;
    const Schedule ring = testing::ring_by_hand(2);
    Schedule schedule = one_phase(2, 2, 1, [](Rank, std::uint32_t, RoundOps& ops) { ops.compute(2, 0); });
    schedule.phases.push_back({"many", 1000, true, [&](Rank rank, std::uint32_t round, RoundOps& ops) {
                                   furthest = std::max(furthest, round);
                                   ring.phases[0].rule(rank, round % 2, ops);
                               }});
    RankProgram program(schedule, 0);
    struct : Port {
        void start_send(OpAt, Rank, const Op&) override {}
        void start_recv(OpAt, Rank, const Op&) override {}
        void start_sum(OpAt, const Op&) override {}
        void start_copy(OpAt, const Op&) override {}
        void start_work(OpAt at, const Op&) override { work = at; }
        OpAt work;
    } port;
    program.start_ready(port);
    program.complete({port.work}, port);
    program.start_ready(port);
    EXPECT_LE(furthest, 1u);
    EXPECT_EQ(program.in_flight(), 2u);
    EXPECT_FALSE(program.done());
}

TEST(Interpreter, waits_order_lanes) {
    // Works of 1, 2, 4, 8 s: lane 0 has 1 then 2; lane 1 waits for the first of lane 0 (emitted before) and has 4; lane
    // 2 waits for all three and has 8. Lane 1 ends at 1 + 4 = 5, lane 0 at 3, lane 2 at 5 + 8 = 13.
    const Schedule schedule = one_phase(1, 1, 1, [](Rank, std::uint32_t, RoundOps& ops) {
        ops.compute(0, 0);
        ops.wait(1, 0);
        ops.compute(0, 1);
        ops.compute(1, 2);
        ops.wait_all(2);
        ops.update(2, 3);
    });
    const Binding binding = bind(1, 8, {1, 2, 4, 8});
    FakeWorld world(schedule, binding);
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.now_s(), 13);
}

struct Recorder : OpObserver {
    explicit Recorder(std::vector<std::string>& into) : log(into) {}
    void begin(Rank rank, OpAt at, const Op& op) override { note("begin", rank, at, op); }
    void end(Rank rank, OpAt at, const Op& op) override { note("end", rank, at, op); }
    void note(const char* what, Rank rank, OpAt at, const Op& op) {
        log.push_back(fmt::format("{} {} {}:{} {}", what, rank, at.lane, at.index, op_kind_name(op.kind)));
    }
    std::vector<std::string>& log;
};

TEST(Interpreter, tells_the_observer_of_each_operation_once_and_of_no_wait) {
    const Schedule schedule = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank == 0) {
            ops.wait(0, 1);
            ops.recv_reduce(0, 1, kAll);
        } else {
            ops.send(0, 0, kAll);
        }
    });
    std::vector<std::string> log;
    Recorder recorder(log);
    const Binding binding = bind(1, 8);
    FakeWorld world(schedule, binding, {}, true, &recorder);
    ASSERT_TRUE(world.run());
    EXPECT_EQ(log, (std::vector<std::string>{"begin 0 0:1 recv_reduce", "begin 1 0:0 send", "end 1 0:0 send",
                                             "end 0 0:1 recv_reduce"}));
}

TEST(Interpreter, answers_whom_it_heard_from) {
    // An asynchronous server: one lane, any rank's message, the answer back to it. Workers differ in when they send
    // (work r takes 3 - r s), so the order is 2, 1, 0; each gets the sum of those before it and its own.
    const Schedule schedule = [] {
        Schedule s = one_phase(4, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
            if (rank < 3) {
                ops.compute(0, static_cast<std::uint32_t>(rank));
                ops.send(0, 3, kAll);
                ops.recv(0, 3, kAll);
                return;
            }
            for (int i = 0; i < 3; ++i) {
                ops.recv_reduce(0, kAnyRank, kAll);
                ops.send(0, kMatchedRank, kAll);
            }
        });
        s.workers = 3;
        return s;
    }();
    const Binding binding = bind(1, 8, {3, 2, 1});
    FakeWorld world(schedule, binding);
    ASSERT_TRUE(world.run());
    using testing::contribution;
    EXPECT_EQ(world.data(2, 0)[0], contribution(2, 0));
    EXPECT_EQ(world.data(1, 0)[0], contribution(2, 0) + contribution(1, 0));
    EXPECT_EQ(world.data(0, 0)[0], testing::expected_sum(3, 0));
}

TEST(Interpreter, reduces_blocks_in_order_and_copies) {
    Schedule schedule = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank == 1) {
            ops.send(0, 0, kAll);
            return;
        }
        ops.copy(0, {1, 0, 1}, kAll);
        ops.recv(0, 1, {1, 1, 1});
        ops.reduce(0, {2, 0, 1}, {1, 0, 2}, 2);
    });
    schedule.buffers.push_back({"aside", 0, 2, BufferInit::Undefined});
    schedule.buffers.push_back({"sum", 0, 1, BufferInit::Zero});
    const Binding binding = bind(5, 8);
    FakeWorld world(schedule, binding);
    ASSERT_TRUE(world.run());
    for (std::uint64_t e = 0; e < 5; ++e) EXPECT_EQ(world.data(0, 2)[e], testing::expected_sum(2, e));
}

TEST(Interpreter, names_what_is_pending_in_a_deadlock) {
    const Schedule schedule = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        ops.recv(0, 1 - rank, kAll);
        ops.send(0, 1 - rank, kAll);
        ops.wait(1, 0);
    });
    const Binding binding = bind(1, 8);
    FakeWorld world(schedule, binding);
    EXPECT_FALSE(world.run());
    EXPECT_EQ(world.blocked(), (std::vector<Rank>{0, 1}));
    const auto pending = world.program(1).pending();
    ASSERT_EQ(pending.size(), 2u);
    EXPECT_EQ(pending[0].op.kind, OpKind::Recv);
    EXPECT_TRUE(pending[0].started);
    EXPECT_EQ(pending[1].op.kind, OpKind::Wait);
    EXPECT_FALSE(pending[1].started);
}

TEST(Interpreter, a_rank_with_nothing_to_do_is_done) {
    const Schedule schedule = one_phase(1, 1, 3, [](Rank, std::uint32_t, RoundOps&) {});
    const Binding binding = bind(1, 8);
    FakeWorld world(schedule, binding);
    EXPECT_TRUE(world.run());
}

TEST(Interpreter, serves_thousands_of_lanes_without_quadratic_cost) {
    // 20 000 workers: if each of the server's 40 000 completions looked at each of its lanes, this would be 8e8 looks
    // (seconds, minutes under a sanitizer); it takes well under a second.
    const Schedule schedule = testing::ps_by_hand(20'000);
    const auto begin = std::chrono::steady_clock::now();
    RankProgram program(schedule, 20'000);
    struct : BlockingPort {
        void start_send(OpAt at, Rank, const Op&) override { under_way.push_back(at); }
        void start_recv(OpAt at, Rank, const Op&) override { under_way.push_back(at); }
        void start_sum(OpAt at, const Op&) override { under_way.push_back(at); }
        void start_copy(OpAt, const Op&) override {}
        void start_work(OpAt, const Op&) override {}
        Completion wait_next() override {
            const OpAt at = under_way.front();
            under_way.pop_front();
            ++completions;
            return {at};
        }
        std::deque<OpAt> under_way;
        int completions = 0;
    } port;
    run_rank(program, port);
    EXPECT_EQ(port.completions, 60'000);  // receive, sum and send for each
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

}  // namespace
}  // namespace coppice
