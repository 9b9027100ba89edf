// Links that are slower while both directions are used: the ring pays for it, who only sends or only receives does not.
#include "common/strategy/strategy.hpp"
#include "tests/support/schedules.hpp"
#include "tests/support/sim_support.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

using testing::bind;
using testing::kAlpha_s;
using testing::kB;
using testing::reference_cluster;
using testing::simulate_once;

// 3 us more, and 10 % less bandwidth.
Cluster duplex_cluster() {
    Cluster cluster = reference_cluster();
    cluster.link.both_ways = {{0, kAlpha_s + 3e-6, kB * 0.9}};
    return cluster;
}

double simulated_s(const std::string& name, std::int32_t workers, const Cluster& cluster) {
    const StrategyChoice choice = parse_strategy(name, {"test", 0, 0}, "");
    const Schedule schedule = choice.strategy->schedule({workers, choice.parameters});
    return simulate_once(schedule, bind(250'000, 4), cluster).total_s;
}

double closed_form_s(const std::string& name, std::int32_t workers, const Cluster& cluster) {
    const StrategyChoice choice = parse_strategy(name, {"test", 0, 0}, "");
    return choice.strategy->closed_form_s({workers, choice.parameters}, 250'000, 4, CostModel(cluster));
}

TEST(BothWays, ARingTakesWhatItsClosedFormSays) {
    for (const std::int32_t workers : {2, 3, 4, 8, 13}) {
        // 2 (p - 1) steps of ceil(W/p) bytes, each of which sends and receives all the time.
        const auto chunk = static_cast<double>((250'000 + workers - 1) / workers * 4);
        const double expected_s = 2 * (workers - 1) * (kAlpha_s + 3e-6 + chunk / (kB * 0.9));
        EXPECT_NEAR(closed_form_s("ring", workers, duplex_cluster()), expected_s, 1e-12) << workers;
        // Chunks differ by one element where p does not divide: 4 B / 12.5 GB/s.
        EXPECT_NEAR(simulated_s("ring", workers, duplex_cluster()), expected_s, 2 * workers * 4e-9) << workers;
    }
}

TEST(BothWays, ATreeAndAServerUseOneDirectionAtATime) {
    for (const char* name : {"tree", "ps"})
        EXPECT_NEAR(simulated_s(name, 8, duplex_cluster()), simulated_s(name, 8, reference_cluster()), 1e-12) << name;
}

TEST(BothWays, ALinkThatIsNotSlowerBothWaysIsAsBefore) {
    Cluster cluster = reference_cluster();
    cluster.link.both_ways = cluster.link.segments;
    EXPECT_NEAR(simulated_s("ring", 8, cluster), simulated_s("ring", 8, reference_cluster()), 1e-12);
}

// Short messages that were measured to be faster than long ones' rate would allow (a bucket that lets 16 kB through at
// once) are no faster in the simulator, where a link has one rate; both ways they take what was measured all the same.
TEST(BothWays, IsWhatWasMeasuredWhereShortMessagesAreFasterOneWay) {
    Cluster cluster = reference_cluster();
    cluster.link.segments = {{0, kAlpha_s, 4 * kB}, {1'000'000, 0, kB}};
    cluster.link.both_ways = {{0, 2 * kAlpha_s, 0.9 * kB}};
    for (const std::int32_t workers : {2, 4, 8}) {
        // 250,000 elements in 2, 4, 8 chunks: none longer than 500,000 B.
        const auto chunk = static_cast<double>(250'000 / workers * 4);
        const double expected_s = 2 * (workers - 1) * (2 * kAlpha_s + chunk / (0.9 * kB));
        EXPECT_NEAR(closed_form_s("ring", workers, cluster), expected_s, 1e-12) << workers;
        EXPECT_NEAR(simulated_s("ring", workers, cluster), expected_s, 1e-9) << workers;
    }
}

// A message that meets the other direction for half of its time pays half.
TEST(BothWays, WhoMeetsTheOtherDirectionForAPartPaysForThatPart) {
    // 0 sends 2 chunks to 1; 1 sends 1 chunk to 0 at the same time, so they meet during half of the longer message.
    Schedule schedule;
    schedule.strategy = "test";
    schedule.workers = schedule.ranks = 2;
    schedule.tensors = {{"data", 3}};
    schedule.buffers = {{"out", 0, 1, BufferInit::Contribution}, {"in", 0, 1, BufferInit::Zero}};
    schedule.phases.push_back({.name = "exchange", .rounds = 1, .rule = [](Rank rank, std::uint32_t, RoundOps& ops) {
                                   const auto part = [](std::uint16_t buffer, std::uint32_t count) {
                                       return Slice{.buffer = buffer, .first = 0, .count = count};
                                   };
                                   ops.send(0, 1 - rank, part(0, rank == 0 ? 2 : 1));
                                   ops.recv(1, 1 - rank, part(1, rank == 0 ? 1 : 2));
                               }});
    Cluster cluster = reference_cluster();
    cluster.link.segments = {{0, 0, 1e6}};
    cluster.link.both_ways = {{0, 0, 0.5e6}};  // twice the time
    const SimResult result = simulate_once(schedule, bind(3 * 250'000, 4), cluster);
    // 1 MB a chunk: 0 receives for 1 s, all of it while sending: 2 s. 1 receives for 2 s, half of it while sending:
    // 2 s + half of 2 s.
    EXPECT_NEAR(result.rank_end_s[0], 2, 1e-6);
    EXPECT_NEAR(result.rank_end_s[1], 3, 1e-6);
}

}  // namespace
}  // namespace coppice
