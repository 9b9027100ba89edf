// The verifier on small schedules written by hand: what the mutations of the strategies do not reach.
#include "common/schedule/verifier.hpp"

#include "tests/support/schedules.hpp"
#include "tests/support/strategy_cases.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

using testing::one_phase;

const Slice kAll{0, 0, 1};

std::string finding(const Schedule& schedule) {
    const Verdict verdict = verify(schedule);
    return verdict.ok() ? "proved" : verdict.flaw->message;
}

void expect_finding(const Schedule& schedule, const std::string& part) {
    const std::string message = finding(schedule);
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nshould say: " << part;
}

// Two ranks that exchange: a schedule that is right, of the fewest operations.
void exchange(Rank rank, RoundOps& ops) {
    if (rank == 0) {
        ops.recv_reduce(0, 1, kAll);
        ops.send(0, 1, kAll);
    } else {
        ops.send(0, 0, kAll);
        ops.recv(0, 0, kAll);
    }
}

Schedule exchange_of_two() {
    return one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) { exchange(rank, ops); });
}

TEST(Verifier, proves_schedules_written_by_hand) {
    EXPECT_EQ(finding(exchange_of_two()), "proved");
    for (std::int32_t p = 1; p <= 9; ++p) {
        EXPECT_EQ(finding(testing::binomial_by_hand(p)), "proved") << p;
        EXPECT_EQ(finding(testing::ps_by_hand(p)), "proved") << p;
    }
}

// Its phases are right one by one, but all-gather overwrites chunk r of rank r, which reduce-scatter sent in its first
// round on a lane that the receiving lane never waits for.
TEST(Verifier, finds_the_write_after_read_of_a_textbook_ring) {
    EXPECT_EQ(finding(testing::ring_by_hand(3)),
              "rank 0 lane 1 op 2 (recv from 2 into data[0..1)): race on data[0..1): rank 0 lane 0 op 1 (send "
              "data[0..1) to 1) reads it too, and no wait orders the two");
}

TEST(Verifier, says_what_is_wrong_with_a_schedule_as_a_whole) {
    const Schedule good = exchange_of_two();
    Schedule bad = good;
    bad.workers = 0;
    expect_finding(bad, "schedule: 0 workers");
    bad = good;
    bad.ranks = 1;
    expect_finding(bad, "schedule: 1 ranks, of which 2 are workers");
    bad = good;
    bad.tensors[0].chunks = 0;
    expect_finding(bad, "schedule: tensor data has no chunks");
    bad = good;
    bad.buffers[0].tensor = 4;
    expect_finding(bad, "schedule: buffer data holds tensor 4 of 1");
    bad = good;
    bad.buffers[0].copies = 0xffffffff;
    expect_finding(bad, "schedule: buffer data has 4294967295 slots");
    bad = good;
    bad.result_buffer = 3;
    expect_finding(bad, "schedule: the result is buffer 3 of 1");
    bad = good;
    bad.phases[0].rule = nullptr;
    expect_finding(bad, "schedule: phase test has no rule");
    bad = good;
    bad.postcondition = Postcondition::AsyncServer;
    expect_finding(bad, "an asynchronous server is promised, but all ranks are workers");
}

TEST(Verifier, names_the_missing_contribution_where_nothing_is_sent) {
    const Schedule silent = one_phase(3, 1, 1, [](Rank, std::uint32_t, RoundOps&) {});
    EXPECT_EQ(finding(silent),
              "rank 0: nothing writes data[0..1), which ends with 1 of 3 contributions, without "
              "workers 1, 2");
}

TEST(Verifier, prints_the_cycle_of_a_deadlock) {
    const Schedule stuck = one_phase(3, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        ops.recv_reduce(0, (rank + 2) % 3, kAll);
        ops.send(0, (rank + 1) % 3, kAll);
    });
    EXPECT_EQ(finding(stuck),
              "rank 0 lane 0 op 0 (recv_reduce from 2 into data[0..1)): deadlock: it waits for "
              "rank 2 lane 0 op 0 (recv_reduce from 1 into data[0..1)), which waits for "
              "rank 1 lane 0 op 0 (recv_reduce from 0 into data[0..1)), which waits for the first");
}

TEST(Verifier, sees_waits_in_a_cycle) {
    // Rank 0's send waits for its receive, whose message rank 1 sends only after it has that send.
    const Schedule stuck = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank == 1) {
            ops.recv_reduce(0, 0, kAll);
            ops.send(0, 0, kAll);
            return;
        }
        ops.recv_reduce(1, 1, kAll);
        ops.wait_all(0);
        ops.send(0, 1, kAll);
    });
    EXPECT_EQ(finding(stuck),
              "rank 0 lane 0 op 0 (wait for 1 operations of all lanes): deadlock: it waits for "
              "rank 0 lane 1 op 0 (recv_reduce from 1 into data[0..1)), which waits for "
              "rank 1 lane 0 op 0 (recv_reduce from 0 into data[0..1)), which waits for the first");
}

TEST(Verifier, refuses_waits_for_what_is_not_yet_emitted) {
    const Schedule bad = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        exchange(rank, ops);
        ops.wait(1, 0);
        ++ops.items().back().op.wait_count;
    });
    expect_finding(bad, "rank 0 lane 1 op 0 (wait for 3 operations of lane 0): a wait is for what was emitted before");
}

TEST(Verifier, takes_chunks_only_where_they_belong) {
    // Right for the number of slots, but chunks 0 and 1 differ in length where 2 does not divide the elements.
    const Schedule bad = one_phase(2, 2, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank == 0) ops.send(0, 1, {0, 0, 1});
        if (rank == 1) ops.recv_reduce(0, 0, {0, 1, 1});
    });
    expect_finding(bad, "takes chunk 1, but rank 0 lane 0 op 0 (send data[0..1) to 1) brings chunk 0");
}

TEST(Verifier, takes_empty_messages) {
    const Schedule empty = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        exchange(rank, ops);
        if (rank == 0) ops.send(0, 1, {0, 1, 0}, 5);
        if (rank == 1) ops.recv_reduce(0, 0, {0, 0, 0}, 5);
    });
    EXPECT_EQ(finding(empty), "proved");
}

TEST(Verifier, copies_and_sums_between_buffers) {
    // As exchange, but rank 0 receives into a stage, copies the sum away and back.
    Schedule schedule = one_phase(2, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank == 1) return exchange(rank, ops);
        ops.recv(0, 1, {1, 0, 1});
        ops.reduce(0, {1, 0, 1}, kAll, 1);
        ops.compute(0, 3);
        ops.copy(0, kAll, {1, 0, 1});
        ops.update(0, 3);
        ops.send(0, 1, kAll);
    });
    schedule.buffers.push_back({"stage", 0, 1, BufferInit::Undefined});
    EXPECT_EQ(finding(schedule), "proved");
    EXPECT_EQ(verify(schedule).traffic.chunks_summed, 1u);
    schedule.buffers[1].init = BufferInit::Zero;
    EXPECT_EQ(finding(schedule), "proved");
    schedule.buffers[1].init = BufferInit::Contribution;
    EXPECT_EQ(finding(schedule),
              "proved");  // overwritten by the receive
}

TEST(Verifier, refuses_a_false_declaration_of_uniformity) {
    for (const char* const name : {"tree", "ps"}) {
        Schedule schedule = testing::schedule_of(testing::strategy_named(name), 8);
        ASSERT_EQ(schedule.phases[0].rounds, 1u);
        // A second round with nothing in it differs from the first.
        const auto rule = schedule.phases[0].rule;
        schedule.phases[0].rounds = 2;
        schedule.phases[0].rule = [rule](Rank rank, std::uint32_t round, RoundOps& ops) {
            if (round == 0) rule(rank, round, ops);
        };
        schedule.phases[0].uniform = false;
        EXPECT_EQ(finding(schedule), "proved") << name;
        schedule.phases[0].uniform = true;
        expect_finding(schedule, "is declared uniform, but round 1 ");
    }
}

TEST(Verifier, compares_every_round_of_a_uniform_phase) {
    const Schedule ring = testing::schedule_of(testing::strategy_named("ring"), 6);
    const auto rule = ring.phases[0].rule;
    Schedule more = ring;
    more.phases[0].rule = [rule](Rank rank, std::uint32_t round, RoundOps& ops) {
        rule(rank, round, ops);
        if (rank == 2 && round == 3) ops.compute(0, 0);
    };
    expect_finding(more,
                   "rank 2 lane 0 op 8 (compute 0): phase reduce-scatter is declared uniform, but round 3 "
                   "differs here from round 0");
    Schedule fewer = ring;
    fewer.phases[0].rule = [rule](Rank rank, std::uint32_t round, RoundOps& ops) {
        rule(rank, round, ops);
        if (rank == 2 && round == 3) ops.items().pop_back();
    };
    expect_finding(fewer, "phase reduce-scatter is declared uniform, but round 3 lacks this operation of round 0");
}

TEST(Verifier, counts_the_longest_chain_of_messages_through_waits) {
    // 0 sends to 1 and then, on another lane that waits for the first, to 2: a chain of 2. The third message is on a
    // lane of its own that waits for nothing.
    Schedule chain = one_phase(3, 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        const Slice nothing{0, 0, 0};
        if (rank == 0) {
            ops.send(0, 1, nothing);
            ops.wait(1, 0);
            ops.send(1, 2, nothing);
            ops.send(2, 1, nothing, 1);
        }
        if (rank == 1) {
            ops.recv(0, 0, nothing);
            ops.recv(1, 0, nothing, 1);
        }
        if (rank == 2) ops.recv(0, 0, nothing);
    });
    chain.workers = 1;  // ranks 1 and 2 are servers: nothing is promised of them
    const Verdict verdict = verify(chain);
    ASSERT_TRUE(verdict.ok()) << verdict.flaw->message;
    EXPECT_EQ(verdict.traffic.messages, 3u);
    EXPECT_EQ(verdict.critical_messages, 2u);
}

}  // namespace
}  // namespace coppice
