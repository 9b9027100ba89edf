// Asynchronous servers: receives from any rank, answers to the matched one. A small schedule by hand is accepted in
// every order of arrival that is tried, broken ones are refused.
#include "common/schedule/verifier.hpp"

#include "tests/support/schedules.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace coppice {
namespace {

const Slice kAll{0, 0, 1};

// Workers 0..p-1, the server behind them. Each of p rounds: the server adds whatever gradient comes and answers its
// sender with the sum so far.
//
//     w2 ──▶ server ──▶ w2,  w0 ──▶ server ──▶ w0,  ...
using Serve = std::function<void(std::int32_t p, std::uint32_t round, RoundOps&)>;

void serve_whoever_comes(std::int32_t, std::uint32_t, RoundOps& ops) {
    ops.recv_reduce(0, kAnyRank, kAll);
    ops.send(0, kMatchedRank, kAll);
}

Schedule async_server(std::int32_t p, const Serve& serve) {
    Schedule schedule = testing::one_phase(p, 1, static_cast<std::uint32_t>(p),
                                           [p, serve](Rank rank, std::uint32_t round, RoundOps& ops) {
                                               if (rank == p) return serve(p, round, ops);
                                               if (round > 0) return;
                                               ops.send(0, p, kAll);
                                               ops.recv(0, p, kAll);
                                           });
    schedule.ranks = p + 1;
    schedule.postcondition = Postcondition::AsyncServer;
    return schedule;
}

std::string finding(const Schedule& schedule) {
    const Verdict verdict = verify(schedule);
    return verdict.ok() ? "proved" : verdict.flaw->message;
}

void expect_finding(const Schedule& schedule, const std::string& part) {
    const std::string message = finding(schedule);
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nshould say: " << part;
}

TEST(AsyncServer, may_serve_whoever_comes) {
    for (const std::int32_t p : {1, 2, 3, 8, 70}) {
        const Verdict verdict = verify(async_server(p, serve_whoever_comes));
        ASSERT_TRUE(verdict.ok()) << verdict.flaw->message;
        EXPECT_EQ(verdict.traffic.messages, static_cast<std::uint64_t>(2 * p));
        EXPECT_EQ(verdict.traffic.chunks_summed, static_cast<std::uint64_t>(p));
        // The server answers one before it hears the next.
        EXPECT_EQ(verdict.critical_messages, static_cast<std::uint32_t>(2 * p));
    }
}

TEST(AsyncServer, does_not_give_an_all_reduce) {
    Schedule schedule = async_server(3, serve_whoever_comes);
    schedule.postcondition = Postcondition::AllReduce;
    // Who is answered first lacks the others.
    expect_finding(schedule,
                   "rank 0 lane 0 op 1 (recv from 3 into data[0..1)): is the last to write data[0..1), which "
                   "ends with 1 of 3 contributions, without workers 1, 2");
}

// Right if the workers arrive in the order of their ranks, and only then.
TEST(AsyncServer, must_answer_who_has_asked) {
    const Schedule schedule = async_server(3, [](std::int32_t, std::uint32_t round, RoundOps& ops) {
        ops.recv_reduce(0, kAnyRank, kAll);
        ops.send(0, static_cast<Rank>(round), kAll);
    });
    expect_finding(schedule, "deadlock: it waits for rank");
    expect_finding(schedule, "(arrivals in descending order of ranks)");
}

TEST(AsyncServer, must_hear_everybody) {
    expect_finding(async_server(3,
                                [](std::int32_t p, std::uint32_t round, RoundOps& ops) {
                                    if (static_cast<std::int32_t>(round) < p - 1) serve_whoever_comes(p, round, ops);
                                }),
                   "(send data[0..1) to 3): is never received: rank 3 has no receive left for it");
}

TEST(AsyncServer, must_not_wait_for_more_than_come) {
    expect_finding(
        async_server(3,
                     [](std::int32_t p, std::uint32_t round, RoundOps& ops) {
                         serve_whoever_comes(p, round, ops);
                         if (round == 2) serve_whoever_comes(p, round, ops);
                     }),
        "rank 3 lane 0 op 6 (recv_reduce from any rank into data[0..1)): is never sent: nobody has a message");
}

TEST(AsyncServer, must_not_answer_twice) {
    expect_finding(async_server(3,
                                [](std::int32_t p, std::uint32_t round, RoundOps& ops) {
                                    serve_whoever_comes(p, round, ops);
                                    if (round == 1) ops.send(0, kMatchedRank, kAll);
                                }),
                   "(send data[0..1) to the matched rank): is never received: rank 1 has no receive left for it");
}

TEST(AsyncServer, must_keep_what_it_has) {
    expect_finding(async_server(3,
                                [](std::int32_t, std::uint32_t, RoundOps& ops) {
                                    ops.recv(0, kAnyRank, kAll);
                                    ops.send(0, kMatchedRank, kAll);
                                }),
                   "rank 3 lane 0 op 2 (recv from any rank into data[0..1)): overwrites what worker 0 contributed, and "
                   "rank 3's data[0..1) ends with 1 of 3 contributions");
}

// Rank 0 pushes once more, what it was answered: its own contribution is in it.
TEST(AsyncServer, must_not_add_a_gradient_twice) {
    Schedule schedule = async_server(3, [](std::int32_t p, std::uint32_t round, RoundOps& ops) {
        serve_whoever_comes(p, round, ops);
        if (round == 0) serve_whoever_comes(p, round, ops);
    });
    const auto rule = schedule.phases[0].rule;
    schedule.phases[0].rule = [rule](Rank rank, std::uint32_t round, RoundOps& ops) {
        rule(rank, round, ops);
        if (rank == 0 && round == 0) rule(rank, round, ops);
    };
    expect_finding(schedule, "adds worker 0's contribution to data[0..1) twice");
}

TEST(AsyncServer, hears_a_channel_on_one_lane_only) {
    expect_finding(async_server(4,
                                [](std::int32_t, std::uint32_t round, RoundOps& ops) {
                                    ops.recv_reduce_commutative(round % 2, kAnyRank, kAll);
                                    ops.wait_all(0);
                                    ops.wait(1, 0);
                                    ops.send(round % 2, kMatchedRank, kAll);
                                }),
                   "the same route is on lane 0 too");
}

TEST(AsyncServer, answers_on_the_lane_that_heard) {
    expect_finding(
        async_server(2,
                     [](std::int32_t, std::uint32_t, RoundOps& ops) {
                         ops.recv_reduce(0, kAnyRank, kAll);
                         ops.wait(1, 0);
                         ops.send(1, kMatchedRank, kAll);
                         ops.wait(0, 1);
                     }),
        "rank 2 lane 1 op 1 (send data[0..1) to the matched rank): no receive from any rank comes before it");
}

TEST(AsyncServer, mixes_receives_by_name_and_from_any_rank_on_one_lane) {
    // Hears worker 1 first, by name, then the other two as they come.
    EXPECT_EQ(finding(async_server(3,
                                   [](std::int32_t p, std::uint32_t round, RoundOps& ops) {
                                       if (round > 0) return serve_whoever_comes(p, round, ops);
                                       ops.recv_reduce(0, 1, kAll);
                                       ops.send(0, 1, kAll);
                                   })),
              "proved");
    expect_finding(async_server(3,
                                [](std::int32_t p, std::uint32_t round, RoundOps& ops) {
                                    if (round > 0) return serve_whoever_comes(p, round, ops);
                                    ops.recv_reduce(1, 1, kAll);
                                    ops.send(1, 1, kAll);
                                    ops.wait(0, 1);
                                }),
                   "the same channel is received from any rank on lane 0, so that it is not certain who gets a message "
                   "of rank 1");
}

}  // namespace
}  // namespace coppice
