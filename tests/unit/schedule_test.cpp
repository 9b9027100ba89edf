#include "common/schedule/schedule.hpp"

#include "tests/support/schedules.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace coppice {
namespace {

using testing::one_phase;
using testing::ring_by_hand;

const Slice kAll{0, 0, 1};

TEST(RoundOps, a_wait_refers_to_what_was_emitted_before_it_in_all_rounds) {
    const Schedule schedule = one_phase(2, 1, 2, [](Rank, std::uint32_t, RoundOps& ops) {
        ops.send(3, 1, kAll);
        ops.recv(1, 1, kAll);
        ops.wait(1, 3);
        ops.wait_all(3);
        ops.wait(1, 2);  // nothing is ever emitted to lane 2
    });
    std::vector<std::uint64_t> counts;
    for_each_op(schedule, 0, [&](std::uint32_t, const Op& op) {
        if (op.kind == OpKind::Wait) counts.push_back(op.wait_count);
    });
    // Round 0: the wait for lane 3 follows one operation of that lane, wait_all follows three of all. Round 0 emits
    // five, two of them to lane 3 (the send and wait_all): in round 1 the same waits follow 2 + 1 and 5 + 3.
    EXPECT_EQ(counts, (std::vector<std::uint64_t>{1, 3, 0, 3, 8, 0}));
}

TEST(ForEachOp, gives_lanes_and_operations_in_order_of_emission) {
    std::vector<std::string> seen;
    for_each_op(ring_by_hand(3), 1, [&](std::uint32_t lane, const Op& op) {
        seen.push_back(std::to_string(lane) + std::string(op_kind_name(op.kind)) + std::to_string(op.slice.first));
    });
    // Rank 1 of 3: sends chunks 1, 0 of the sums, then 2, 1 of the results; receives one behind.
    EXPECT_EQ(seen, (std::vector<std::string>{"0wait0", "0send1", "1recv_reduce0", "0wait0", "0send0", "1recv_reduce2",
                                              "0wait0", "0send2", "1recv1", "0wait0", "0send1", "1recv0"}));
}

TEST(OpKindName, has_a_name_for_each) {
    EXPECT_EQ(op_kind_name(OpKind::RecvReduce), "recv_reduce");
    EXPECT_EQ(op_kind_name(OpKind::Wait), "wait");
}

TEST(ScheduleHash, is_sixteen_hex_digits_and_does_not_depend_on_names) {
    Schedule ring = ring_by_hand(4);
    const std::string hash = schedule_hash(ring);
    EXPECT_EQ(hash.size(), 16u);
    EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos);
    ring.strategy = "another";
    ring.phases[0].name = "another";
    ring.tensors[0].name = "another";
    EXPECT_EQ(schedule_hash(ring), hash);
}

TEST(ScheduleHash, changes_with_whatever_changes_what_is_done) {
    const auto hash_of = [](auto rule) { return schedule_hash(one_phase(2, 4, 1, rule)); };
    std::vector<std::string> hashes{
        schedule_hash(ring_by_hand(4)),
        schedule_hash(ring_by_hand(5)),
        hash_of([](Rank, std::uint32_t, RoundOps&) {}),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.send(0, 1, kAll); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.send(1, 1, kAll); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.send(0, 1, kAll, 1); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.send(0, 0, kAll); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) {
            ops.send(0, 1, {0, 1, 1});
        }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) {
            ops.send(0, 1, {0, 0, 2});
        }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.recv(0, 1, kAll); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.recv_reduce(0, 1, kAll); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.recv_reduce_commutative(0, 1, kAll); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) {
            ops.copy(0, kAll, {0, 1, 1});
        }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) {
            ops.reduce(0, kAll, {0, 1, 1}, 1);
        }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) {
            ops.reduce(0, kAll, {0, 1, 2}, 2);
        }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.compute(0, 0); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.compute(0, 1); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.update(0, 1); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.wait(0, 1); }),
        hash_of([](Rank, std::uint32_t, RoundOps& ops) { ops.wait_all(0); }),
        // The same operation, of one rank or the other.
        hash_of([](Rank rank, std::uint32_t, RoundOps& ops) {
            if (rank == 0) ops.send(0, 1, kAll);
        }),
        hash_of([](Rank rank, std::uint32_t, RoundOps& ops) {
            if (rank == 1) ops.send(0, 1, kAll);
        }),
    };
    Schedule other_init = ring_by_hand(4);
    other_init.buffers[0].init = BufferInit::Zero;
    hashes.push_back(schedule_hash(other_init));
    std::sort(hashes.begin(), hashes.end());
    EXPECT_EQ(std::adjacent_find(hashes.begin(), hashes.end()), hashes.end());
}

TEST(ScheduleHash, does_not_depend_on_how_operations_are_divided_into_rounds) {
    const auto op = [](std::uint32_t i, RoundOps& ops) { ops.compute(0, i); };
    const Schedule two_rounds = one_phase(1, 1, 2, [op](Rank, std::uint32_t round, RoundOps& ops) { op(round, ops); });
    const Schedule one_round = one_phase(1, 1, 1, [op](Rank, std::uint32_t, RoundOps& ops) {
        op(0, ops);
        op(1, ops);
    });
    EXPECT_EQ(schedule_hash(two_rounds), schedule_hash(one_round));
}

}  // namespace
}  // namespace coppice
