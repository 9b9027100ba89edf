// The hierarchy: who is refused, what it costs by hand, and that it keeps to its node's links.
#include "tests/support/strategy_cases.hpp"

#include <fmt/format.h>

namespace coppice {
namespace {

std::optional<std::string> refusal(const std::string& name, std::int32_t workers, std::int32_t gpus_per_node) {
    const StrategyChoice choice = testing::strategy_named(name);
    return choice.strategy->refuses({workers, choice.parameters, gpus_per_node});
}

TEST(Hierarchical, needs_nodes_and_for_shares_nodes_of_one_size) {
    EXPECT_EQ(refusal("hierarchical", 8, 1), "needs nodes of several GPUs with ranks in a row, or group=N");
    EXPECT_EQ(refusal("hierarchical", 8, 4), std::nullopt);
    EXPECT_EQ(refusal("hierarchical(group=4)", 8, 1), std::nullopt);
    EXPECT_EQ(refusal("hierarchical(group=4)", 9, 1),
              "inside=ring needs nodes of one size: 9 workers are not a multiple of 4");
    EXPECT_EQ(refusal("hierarchical(group=4,inside=tree)", 9, 1), std::nullopt) << "leaders: the last node has one GPU";
    EXPECT_EQ(refusal("hierarchical(group=64)", 8, 1), std::nullopt) << "all of them are one node";
}

TEST(Hierarchical, takes_an_integer_or_a_word_for_the_group) {
    EXPECT_EQ(testing::strategy_named("hierarchical(group=node)").canonical(), "hierarchical");
    EXPECT_EQ(testing::strategy_named("hierarchical(group=8)").canonical(), "hierarchical(group=8)");
    for (const char* wrong : {"hierarchical(group=1)", "hierarchical(group=nodes)", "hierarchical(group=1025)"})
        EXPECT_THROW(testing::strategy_named(wrong), UserError) << wrong;
}

// 4 MB on 2 nodes of 4, o = 2 us, alpha = 10 us, B = 1 GB/s, sums of 4 GB/s. A message of 4 MB takes 4.012 ms, of 1 MB
// 1.012 ms, of 0.5 MB 0.512 ms; sums 1 ms, 0.25 ms, 0.125 ms.
TEST(Hierarchical, costs_by_hand) {
    Cluster cluster;
    cluster.link.segments = {{0, 10e-6, 1e9}};
    cluster.link.overhead_s = 2e-6;
    cluster.device.sum_bytes_per_s = 4e9;
    const CostModel cost(cluster);
    const auto seconds = [&](const std::string& name) {
        const StrategyChoice choice = testing::strategy_named(name);
        return choice.strategy->closed_form_s({8, choice.parameters, 4}, 1'000'000, 4, cost);
    };
    // Rings of 4 in each node on 1 MB chunks, 3 steps there and 3 back; rings of 2 across on halves of a chunk.
    EXPECT_NEAR(seconds("hierarchical"), (6 * 1.012 + 3 * 0.25 + 2 * 0.512 + 0.125) * 1e-3, 1e-12);
    // Trees of 4: two levels each way with 4 MB; a tree of 2 between the leaders.
    EXPECT_NEAR(seconds("hierarchical(inside=tree,across=tree)"), (4 * 4.012 + 2 + 2 * 4.012 + 1) * 1e-3, 1e-12);
}

// Of 4 nodes of 4 GPUs: with shares each GPU sends 2 x 3/4 of a quarter across, with leaders each leader 2 x 3/4 of
// all.
TEST(Hierarchical, sends_across_what_a_share_or_a_leader_must) {
    const auto across = [](const std::string& name) {
        const StrategyChoice choice = testing::strategy_named(name);
        const Schedule schedule = choice.strategy->schedule({16, choice.parameters, 4});
        std::vector<double> sent(16);
        for (Rank rank = 0; rank < 16; ++rank)
            for_each_op(schedule, rank, [&](std::uint32_t, const Op& op) {
                if (op.kind == OpKind::Send && op.peer / 4 != rank / 4)
                    sent[static_cast<std::size_t>(rank)] += op.slice.count / double(schedule.tensors[0].chunks);
            });
        return sent;
    };
    for (const double share : across("hierarchical")) EXPECT_NEAR(share, 2 * 0.75 / 4, 1e-12);
    const std::vector<double> leaders = across("hierarchical(inside=tree)");
    for (Rank rank = 0; rank < 16; ++rank)
        EXPECT_NEAR(leaders[static_cast<std::size_t>(rank)], rank % 4 == 0 ? 1.5 : 0, 1e-12) << rank;
}

// Nodes of 8, 8 and 3: proved, within the bounds of its contract.
TEST(Hierarchical, leaders_serve_a_last_node_with_fewer_gpus) {
    for (const char* inside : {"tree", "ps"})
        for (const char* across : {"tree", "ring", "ps"})
            testing::expect_proved(
                testing::strategy_named(fmt::format("hierarchical(group=8,inside={},across={})", inside, across)), 19);
}

}  // namespace
}  // namespace coppice
