// The order of strategies by their closed forms, and `auto`, which takes the first.
#include "common/strategy/ranking.hpp"
#include "tests/support/strategy_cases.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <set>

namespace coppice {
namespace {

Cluster flat_cluster(double latency_s, double bytes_per_s, double overhead_s) {
    Cluster cluster;
    cluster.name = "flat";
    cluster.link.segments = {{0, latency_s, bytes_per_s}};
    cluster.link.overhead_s = overhead_s;
    cluster.device.sum_bytes_per_s = std::numeric_limits<double>::infinity();
    cluster.host.sum_bytes_per_s = std::numeric_limits<double>::infinity();
    return cluster;
}

std::string chosen(std::int32_t p, std::uint64_t elements, const CostModel& cost) {
    const Settled settled = settle(testing::strategy_named("auto"), {p, {}, 1}, elements, 4, &cost);
    EXPECT_FALSE(settled.refusal) << *settled.refusal;
    return settled.choice.canonical();
}

TEST(AutoCandidates, are_every_strategy_and_need_no_other_machine) {
    std::set<std::string_view> names;
    std::set<std::string> spellings;
    for (const StrategyChoice& candidate : auto_candidates()) {
        names.insert(candidate.strategy->name);
        EXPECT_TRUE(spellings.insert(candidate.canonical()).second) << candidate.canonical();
        if (is_open(candidate) || testing::refused(candidate, 8)) continue;
        EXPECT_EQ(testing::schedule_of(candidate, 8).servers(), 0) << candidate.canonical();
    }
    for (const Strategy& strategy : strategies()) EXPECT_EQ(names.count(strategy.name), 1u) << strategy.name;
    EXPECT_EQ(spellings.count("tree(segments=auto,shape=chain)"), 1u);
}

// 16 ranks, 1 us, 1 GB/s. 4 bytes: recursive doubling has the fewest latencies, 4; a server would have 2, but its
// overheads of 1 us each, 15 one after another. 100 MB: halving-doubling and the ring both send 2 x 15/16 W, but it has
// 8 latencies, the ring 30; servers on all would have 2, but 31 overheads. Of 3 workers, 100 MB: no folding, and
// servers on all have 2 latencies and 5 overheads, a ring 4 and 4; with overheads of 3 us the ring is ahead.
TEST(Auto, takes_what_theory_says) {
    const CostModel cost(flat_cluster(1e-6, 1e9, 1e-6));
    EXPECT_EQ(chosen(16, 1, cost), "recursive-doubling");
    EXPECT_EQ(chosen(16, 25'000'000, cost), "halving-doubling");
    EXPECT_EQ(chosen(3, 25'000'000, cost), "ps(servers=all)");
    EXPECT_EQ(chosen(3, 25'000'000, CostModel(flat_cluster(1e-6, 1e9, 3e-6))), "ring");
    EXPECT_EQ(chosen(1, 1000, cost), "ps");  // nothing to do: the first of equals
}

TEST(Auto, refuses_what_closed_forms_do_not_know) {
    Cluster nodes = flat_cluster(1e-6, 1e9, 0);
    nodes.gpus_per_node = 4;
    nodes.node_link = nodes.link;
    const CostModel cost(nodes);
    EXPECT_EQ(settle(testing::strategy_named("auto"), {8, {}, 4}, 10, 4, &cost).refusal,
              "auto compares closed forms, and the closed forms know one GPU a node; name a strategy");
    EXPECT_EQ(settle(testing::strategy_named("auto"), {8, {}, 1}, 10, 4, nullptr).refusal,
              "auto is chosen by cost, which needs a cluster");
    EXPECT_EQ(settle(testing::strategy_named("auto"), {0, {}, 1}, 10, 4, &cost).refusal, "needs at least one worker");
    const auto ranked = rank_strategies({testing::strategy_named("ring")}, {8, {}, 4}, 10, 4, cost);
    EXPECT_EQ(ranked.front().refusal, "the closed forms know one GPU a node");
    EXPECT_FALSE(ranked.front().seconds);
}

RC_GTEST_PROP(Auto, is_never_slower_than_any_candidate, ()) {
    const CostModel cost(flat_cluster(*rc::gen::inRange(0, 100) * 1e-6, *rc::gen::inRange(1, 100) * 1e8,
                                      *rc::gen::inRange(0, 10) * 1e-6));
    const std::int32_t workers = *rc::gen::inRange(1, 100).as("workers");
    const auto elements = *rc::gen::inRange<std::uint64_t>(0, 10'000'000).as("elements");
    const CollectiveCase collective{workers, {}, 1};
    const Settled best = settle(testing::strategy_named("auto"), collective, elements, 4, &cost);
    RC_ASSERT(!best.refusal);
    const double best_s = best.choice.strategy->closed_form_s(best.collective, elements, 4, cost);
    for (const StrategyChoice& candidate : auto_candidates()) {
        const Settled other = settle(candidate, collective, elements, 4, &cost);
        if (other.refusal) continue;
        RC_ASSERT(best_s <= (1 + 1e-9) * other.choice.strategy->closed_form_s(other.collective, elements, 4, cost));
    }
}

TEST(Ranking, is_sorted_with_refusals_last_and_each_choice_once) {
    const CostModel cost(flat_cluster(1e-6, 1e9, 0));
    std::vector<StrategyChoice> candidates = auto_candidates();
    candidates.push_back(testing::strategy_named("ring"));
    const std::vector<Ranked> ranked = rank_strategies(candidates, {12, {}, 1}, 1000, 4, cost);
    std::set<std::string> choices;
    double before_s = 0;
    bool refused = false;
    for (const Ranked& one : ranked) {
        EXPECT_TRUE(choices.insert(one.choice.canonical()).second) << one.choice.canonical();
        EXPECT_NE(one.seconds.has_value(), one.refusal.has_value());
        if (one.refusal) refused = true;
        if (!one.seconds) continue;
        EXPECT_FALSE(refused) << "a time behind a refusal";
        EXPECT_GE(*one.seconds, before_s * (1 - 1e-9));
        before_s = *one.seconds;
    }
    EXPECT_TRUE(refused);  // groups of 8 among 12
}

}  // namespace
}  // namespace coppice
