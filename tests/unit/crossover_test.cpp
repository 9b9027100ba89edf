// Where strategies meet, what their times are made of, and the rules made of that.
#include "common/choice/crossover.hpp"
#include "common/choice/cost_shares.hpp"
#include "common/choice/tuning_rules.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace coppice {
namespace {

constexpr Element kFloat = kElements[0];

StrategyChoice named(const char* text) {
    return parse_strategy(text, {"test", 0, 0}, "");
}

// 10 us, 1 GB/s, sums free: with w = W/B and a = 10 us, on 4 workers
//   ps 2 a + 6 w     tree 4 a + 4 w     ring 6 a + 1.5 w
Cluster simple_cluster() {
    Cluster cluster;
    cluster.name = "simple";
    cluster.link.segments = {{0, 10e-6, 1e9}};
    cluster.device.sum_bytes_per_s = std::numeric_limits<double>::infinity();
    cluster.host.sum_bytes_per_s = std::numeric_limits<double>::infinity();
    return cluster;
}

Contest contest(std::vector<StrategyChoice> candidates, std::int32_t workers = 4) {
    return {std::move(candidates), {workers, {}, 1}, kFloat, CostModel(simple_cluster())};
}

void expect_meeting(const char* first, const char* second, double bytes) {
    const auto found = meetings(contest({named(first), named(second)}), {4, 1'000'000});
    ASSERT_EQ(found.size(), 1u) << first << " " << second;
    EXPECT_NEAR(static_cast<double>(found[0].bytes), bytes, 0.005 * bytes + 4);
    EXPECT_EQ(found[0].faster.canonical(), second);
    EXPECT_EQ(found[0].bytes % 4, 0u);
}

// ps = tree: w = a. tree = ring: 2.5 w = 2 a. ps = ring: 4.5 w = 4 a.
TEST(Meetings, are_where_the_formulas_are_equal) {
    expect_meeting("ps", "tree", 10'000);
    expect_meeting("tree", "ring", 8'000);
    expect_meeting("ps", "ring", 8'889);
}

TEST(Meetings, are_none_where_the_order_does_not_change_or_one_is_refused) {
    EXPECT_TRUE(meetings(contest({named("ps"), named("ring")}), {40'000, 1'000'000}).empty());
    EXPECT_TRUE(meetings(contest({named("hierarchical"), named("ring")}), {4, 1'000'000}).empty());
}

TEST(Reigns, follow_each_other_without_gaps) {
    const auto all = reigns(contest({named("ring"), named("tree"), named("ps")}), {4, 1'000'000});
    ASSERT_EQ(all.size(), 2u);  // a tree is never the fastest of four: it would have to be between 10 and 8 kB
    EXPECT_EQ(all[0].choice.canonical(), "ps");
    EXPECT_EQ(all[1].choice.canonical(), "ring");
    EXPECT_EQ(all[0].sizes.from, 4u);
    EXPECT_EQ(all[0].sizes.to + 4, all[1].sizes.from);
    EXPECT_EQ(all[1].sizes.to, 1'000'000u);
    EXPECT_TRUE(reigns(contest({named("hierarchical")}), {4, 100}).empty());
}

TEST(Reigns, have_names_without_the_number_of_segments) {
    EXPECT_EQ(without_number_of_segments(named("tree(segments=64,shape=chain)")).canonical(),
              "tree(segments=auto,shape=chain)");
    EXPECT_EQ(without_number_of_segments(named("double-tree")).canonical(), "double-tree");
    EXPECT_EQ(without_number_of_segments(named("ring")).canonical(), "ring");
}

// A ring of 4 with o = 2 us and sums at 2 GB/s, of 4 MB: 6 messages of 1 MB, 3 sums of 0.5 ms.
TEST(CostShares, add_up_and_are_the_terms_of_the_formula) {
    Cluster cluster = simple_cluster();
    cluster.link.overhead_s = 2e-6;
    cluster.device.sum_bytes_per_s = 2e9;
    const CostModel cost(cluster);
    const Ranked ring = rank_strategies({named("ring")}, {4, {}, 1}, 1'000'000, 4, cost).front();
    const CostShares shares = cost_shares(ring, 1'000'000, 4, cost);
    EXPECT_NEAR(shares.wire_s, 6e-3, 1e-12);
    EXPECT_NEAR(shares.latency_s, 60e-6, 1e-12);
    EXPECT_NEAR(shares.overhead_s, 12e-6, 1e-12);
    EXPECT_NEAR(shares.sums_s, 1.5e-3, 1e-12);
    EXPECT_NEAR(shares.wire_s + shares.latency_s + shares.overhead_s + shares.sums_s, *ring.seconds, 1e-15);
}

// Of 8 workers: recursive doubling 3 (a + w), Rabenseifner 6 a + 1.75 w, ring 14 a + 1.75 w, which is never less. Equal
// at 1.25 w = 3 a: 24 kB.
TEST(TuningRules, of_open_mpi) {
    const std::vector<StrategyChoice> everything = {named("ps"), named("ring"), named("halving-doubling"),
                                                    named("recursive-doubling")};
    const TuningRules rules =
        tuning_rules(open_mpi_counterparts(), everything, {1, 8}, {4, 1'000'000}, kFloat, CostModel(simple_cluster()));
    ASSERT_EQ(rules.rules.size(), 2u);
    EXPECT_EQ(rules.rules[0].algorithm, "3");
    EXPECT_EQ(rules.rules[1].algorithm, "6");
    const std::uint64_t boundary = rules.rules[1].sizes.from;
    EXPECT_NEAR(static_cast<double>(boundary), 24'000, 130);
    // A server takes 2 a + 14 w, less than 3 a + 3 w up to w = a/11: 909 bytes.
    ASSERT_EQ(rules.forgone.size(), 1u);
    EXPECT_EQ(rules.forgone[0].strategy, "ps");
    EXPECT_EQ(rules.forgone[0].rule, "recursive-doubling");
    EXPECT_NEAR(static_cast<double>(rules.forgone[0].sizes.to), 909, 10);
    // At 456 bytes: (30 + 3 x 0.456) / (20 + 14 x 0.456) = 1.189
    EXPECT_NEAR(rules.forgone[0].slower, 1.189, 0.01);
    const std::string text = open_mpi_rules(rules, "a test");
    std::string values;  // what is no comment
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        const std::string value = line.substr(0, line.find('#'));
        if (!value.empty()) values += value.substr(0, value.find_last_not_of(' ') + 1) + "|";
        at = end + 1;
    }
    EXPECT_EQ(values, "1|2|1|8|2|0 3 0 0|" + std::to_string(boundary) + " 6 0 0|");
    EXPECT_NE(text.find("# no counterpart: 8 ranks, 4 to "), std::string::npos);
}

TEST(TuningRules, of_nccl_cover_all_sizes_of_each_number_of_ranks) {
    const TuningRules rules = tuning_rules(nccl_counterparts(), auto_candidates(), {4, 64}, {4, 1 << 30}, kFloat,
                                           CostModel(simple_cluster()));
    const std::string text = nccl_rules(rules, "a test");
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        if (text[at] != '#') lines.push_back(text.substr(at, text.find('\n', at) - at));
    // On 4 a ring is as good for short ones; on 64 it has 126 latencies, the tree some 24.
    ASSERT_GE(lines.size(), 3u);
    EXPECT_EQ(lines[lines.size() - 2].substr(0, 12), "allreduce,0,");
    EXPECT_NE(lines[lines.size() - 2].find(",tree,simple,-1,64,64,-1,-1"), std::string::npos);
    EXPECT_NE(lines.back().find(",4294967295,ring,simple,-1,64,64,-1,-1"), std::string::npos);
}

TEST(TuningRules, refuse_what_closed_forms_do_not_know) {
    Cluster nodes = simple_cluster();
    nodes.gpus_per_node = 4;
    nodes.node_link = nodes.link;
    const TuningRules rules =
        tuning_rules(open_mpi_counterparts(), auto_candidates(), {8}, {4, 1000}, kFloat, CostModel(nodes));
    EXPECT_TRUE(rules.rules.empty());
    EXPECT_EQ(rules.refused, (std::vector<std::string>{"8 ranks: the closed forms know one GPU a node"}));
}

}  // namespace
}  // namespace coppice
