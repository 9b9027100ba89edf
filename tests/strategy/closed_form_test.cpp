// Closed forms: against numbers derived by hand, against published ones, and (where theory shares no link) against the
// schedule itself, played on a clock without contention.
#include "tests/support/fake_port.hpp"
#include "tests/support/strategy_cases.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

namespace coppice {
namespace {

constexpr double kUs = 1e-6;
constexpr double kMs = 1e-3;

Cluster cluster_of(std::vector<LinkSegment> segments, double overhead_s, double device_sum, double host_sum) {
    Cluster cluster;
    cluster.name = "test";
    cluster.link.segments = std::move(segments);
    cluster.link.overhead_s = overhead_s;
    cluster.device.sum_bytes_per_s = device_sum;
    cluster.host.sum_bytes_per_s = host_sum;
    return cluster;
}

// W/B = 4 ms for 4 MB, alpha = 10 us, o = 2 us; W/gamma = 1 ms on a device, 2 ms on a server's processor.
CostModel simple_cost() {
    return CostModel(cluster_of({{0, 10 * kUs, 1e9}}, 2 * kUs, 4e9, 2e9));
}

double seconds(const char* strategy, std::int32_t p, std::uint64_t elements, const CostModel& cost) {
    const StrategyChoice choice = testing::strategy_named(strategy);
    return choice.strategy->closed_form_s(testing::case_of(choice, p), elements, 4, cost);
}

// 2 levels, 2 ways, each o + alpha + W/B = 4.012 ms; a sum of 1 ms a level. Of three, rank 2 has no child to wait for:
// its overhead of 2 us is over before rank 0 is ready.
TEST(ClosedForm, of_a_tree_of_four) {
    EXPECT_NEAR(seconds("tree", 4, 1'000'000, simple_cost()), 4 * 4.012 * kMs + 2 * kMs, 1e-12);
    EXPECT_NEAR(seconds("tree", 3, 1'000'000, simple_cost()), 4 * 4.012 * kMs + 2 * kMs - 2 * kUs, 1e-12);
    EXPECT_NEAR(seconds("tree", 5, 1'000'000, simple_cost()), 6 * 4.012 * kMs + 3 * kMs - 2 * kUs, 1e-12);
}

// Four segments of 1 MB, m = 1.01 ms each way and a sum of s = 0.25 ms. Up the chain the first one needs o + m + s a
// hop; each further one m + s more, since its overhead is over while its receiver adds the one before. Down: o + m a
// hop, then o + m a segment, as nothing hides the overhead of who sends all the time.
TEST(ClosedForm, of_a_chain_in_segments) {
    const double m = 1.01 * kMs;
    const double s = 0.25 * kMs;
    const double o = 2 * kUs;
    EXPECT_NEAR(seconds("tree(shape=chain,segments=4)", 4, 1'000'000, simple_cost()),
                3 * (o + m + s) + 3 * (m + s) + (3 + 3) * (o + m), 1e-12);
    EXPECT_NEAR(seconds("tree(shape=chain,segments=4)", 8, 1'000'000, simple_cost()),
                7 * (o + m + s) + 3 * (m + s) + (7 + 3) * (o + m), 1e-12);
}

// Two levels of two children. Up: the second child's overhead passes while the first one is received, so a level is
// o + 2 (m + s), and each further segment 2 (m + s). Down: two sends a level, and two for each further segment.
TEST(ClosedForm, of_a_binary_tree_of_seven) {
    const double o = 2 * kUs;
    const auto expected_s = [&](double segments) {
        const double m = 10 * kUs + 4 * kMs / segments;
        const double s = 1 * kMs / segments;
        return 2 * o + (2 + segments - 1) * 2 * (m + s) + (2 + segments - 1) * 2 * (o + m);
    };
    EXPECT_NEAR(seconds("tree(shape=binary)", 7, 1'000'000, simple_cost()), expected_s(1), 1e-12);
    EXPECT_NEAR(seconds("tree(shape=binary,segments=8)", 7, 1'000'000, simple_cost()), expected_s(8), 1e-12);
    // Three children on one level: a star of four, like a server's but one after another.
    const double star_s = o + 3 * (4.01 + 1) * kMs + 3 * 4.012 * kMs;
    EXPECT_NEAR(seconds("tree(shape=k-ary)", 4, 1'000'000, simple_cost()), star_s, 1e-12);
}

// 0 has the only child 2, which has 1 and 3, and the same from the other end; halves of 2 MB: m = 2.01 ms, s = 0.5 ms.
TEST(ClosedForm, of_a_double_tree_of_four) {
    const double m = 2.01 * kMs;
    const double s = 0.5 * kMs;
    const double o = 2 * kUs;
    EXPECT_NEAR(seconds("double-tree", 4, 1'000'000, simple_cost()), 2 * o + 3 * (m + s) + 3 * (o + m), 1e-12);
}

// Two steps a level and two a segment, each way: as the formula's text has it.
TEST(ClosedForm, of_a_double_tree_is_bounded_by_its_text) {
    for (std::int32_t p = 2; p <= 300; ++p) {
        for (const std::uint32_t segments : {1u, 2u, 5u}) {
            const StrategyChoice choice = testing::strategy_named(fmt::format("double-tree(segments={})", segments));
            const auto depth = static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint32_t>(p - 1)));
            EXPECT_LE(choice.strategy->contract(testing::case_of(choice, p)).steps, 2 * (2 * (depth + segments) - 1))
                << p << " " << segments;
        }
    }
}

// 1024 workers, 100 MB, sums free: a pipelined tree comes down to 2 x 2 W/B, since inner ranks have all of it from two
// children, a double tree to 2 W/B, and the chain, too long here, to nothing like it.
TEST(ClosedForm, of_pipelined_trees_comes_close_to_what_their_links_allow) {
    const CostModel cost(cluster_of({{0, 10 * kUs, 1e9}}, 0, std::numeric_limits<double>::infinity(), 1e9));
    const double wire_s = 0.1;
    EXPECT_GT(seconds("tree(shape=binary,segments=256)", 1024, 25'000'000, cost), 4 * wire_s);
    EXPECT_LT(seconds("tree(shape=binary,segments=256)", 1024, 25'000'000, cost), 4.3 * wire_s);
    EXPECT_GT(seconds("double-tree(segments=128)", 1024, 25'000'000, cost), 2 * wire_s);
    EXPECT_LT(seconds("double-tree(segments=128)", 1024, 25'000'000, cost), 2.3 * wire_s);
    EXPECT_NEAR(seconds("tree", 1024, 25'000'000, cost), 20 * (wire_s + 10 * kUs), 1e-9);
}

// Chunks of 1 MB: 6 steps of 1.012 ms, 3 sums of 0.25 ms.
TEST(ClosedForm, of_a_ring_of_four) {
    EXPECT_NEAR(seconds("ring", 4, 1'000'000, simple_cost()), 6 * 1.012 * kMs + 3 * 0.25 * kMs, 1e-12);
}

// Halves of 2 MB, then of 1 MB: 2.012 and 1.012 ms each way, sums of 0.5 and 0.25 ms. Of 5 or 6, one or two are folded:
// 4.012 ms each way and a sum of 1 ms around it.
TEST(ClosedForm, of_halving_doubling_of_four) {
    const double four_s = 2 * (2.012 + 1.012) * kMs + 0.75 * kMs;
    EXPECT_NEAR(seconds("halving-doubling", 4, 1'000'000, simple_cost()), four_s, 1e-12);
    for (const std::int32_t p : {5, 6})
        EXPECT_NEAR(seconds("halving-doubling", p, 1'000'000, simple_cost()), four_s + 2 * 4.012 * kMs + kMs, 1e-12);
    // 10 elements in 4 chunks are 3 3 2 2: 6 of them, 24 bytes, then 3.
    EXPECT_NEAR(seconds("halving-doubling", 4, 10, simple_cost()), 4 * 12 * kUs + 2 * (24e-9 + 12e-9) + 6e-9 + 3e-9,
                1e-15);
}

// Two rounds of 4.012 ms and a sum of 1 ms.
TEST(ClosedForm, of_recursive_doubling_of_four) {
    EXPECT_NEAR(seconds("recursive-doubling", 4, 1'000'000, simple_cost()), 2 * 5.012 * kMs, 1e-12);
    EXPECT_NEAR(seconds("recursive-doubling", 7, 1'000'000, simple_cost()), 2 * 5.012 * kMs + 9.024 * kMs, 1e-12);
}

// 10 elements in 4 chunks are 3 3 2 2: the longest is 12 bytes. No elements: messages all the same.
TEST(ClosedForm, of_a_ring_counts_the_longest_chunk) {
    EXPECT_NEAR(seconds("ring", 4, 10, simple_cost()), 6 * (12 * kUs + 12e-9) + 3 * 3e-9, 1e-15);
    EXPECT_NEAR(seconds("ring", 4, 0, simple_cost()), 6 * 12 * kUs, 1e-15);
}

// Three pushes share the server's link: 2 us + 10 us + 3 x 4 ms; three sums of 1 ms; three pulls likewise.
TEST(ClosedForm, of_a_colocated_server_of_four) {
    EXPECT_NEAR(seconds("ps", 4, 1'000'000, simple_cost()), 2 * 12.012 * kMs + 3 * kMs, 1e-12);
    EXPECT_NEAR(seconds("ps(sum=ordered)", 4, 1'000'000, simple_cost()), 2 * 12.012 * kMs + 3 * kMs, 1e-12);
}

// Four each way, summed by the server's processor in 2 ms each.
TEST(ClosedForm, of_a_dedicated_server_of_four) {
    EXPECT_NEAR(seconds("ps(placement=dedicated)", 4, 1'000'000, simple_cost()), 2 * 16.012 * kMs + 4 * 2 * kMs, 1e-12);
}

// Messages so short that the server is busy with posting them: push 2 + 10 us; pull 10 us behind the third of 2 us.
TEST(ClosedForm, of_a_server_whose_overhead_counts) {
    EXPECT_NEAR(seconds("ps", 4, 0, simple_cost()), 12 * kUs + 16 * kUs, 1e-15);
}

// Up to 1000 bytes 10 us and 0.1 GB/s, from there 20 us and 1 GB/s. 500 bytes alone: 10 + 5 us. Three of them share
// a link of 1 GB/s, which takes 1.5 us: less than one of them needs at its own rate.
// Sums: 500 bytes at 4e9 bytes/s, 0.125 us.
TEST(ClosedForm, uses_the_segment_of_the_message) {
    const CostModel cost(cluster_of({{0, 10 * kUs, 1e8}, {1000, 20 * kUs, 1e9}}, 0, 4e9, 4e9));
    EXPECT_NEAR(seconds("tree", 2, 125, cost), 2 * 15 * kUs + 0.125 * kUs, 1e-12);
    EXPECT_NEAR(seconds("ps", 4, 125, cost), 2 * 15 * kUs + 3 * 0.125 * kUs, 1e-12);
    EXPECT_NEAR(seconds("tree", 2, 1000, cost), 2 * 24 * kUs + 1 * kUs, 1e-12);
}

TEST(ClosedForm, of_one_worker_is_nothing) {
    for (const StrategyChoice& choice : testing::strategy_variants())
        EXPECT_EQ(choice.strategy->closed_form_s(testing::case_of(choice, 1), 1000, 4, simple_cost()), 0.0)
            << choice.canonical();
}

// The columns of an independent simulator (LogGOPS) for 12.5e9 bytes/s, 1 us, sums free, as printed in ms.
TEST(ClosedForm, gives_the_reference_collectives) {
    struct Row {
        std::uint64_t bytes;
        std::int32_t p;
        double ring_ms, halving_doubling_ms, binomial_ms, ps_ms;
    };
    const double free = std::numeric_limits<double>::infinity();
    const CostModel cost(cluster_of({{0, 1 * kUs, 12.5e9}}, 0, free, free));
    for (const Row& row :
         {Row{100000000, 64, 15.876, 15.762, 96.01, 1008.0}, Row{100000000, 256, 16.447, 15.953, 128.02, 4080.0},
          Row{100000000, 1024, 18.030, 16.004, 160.02, 16368.0}, Row{30000000, 64, 4.851, 4.737, 28.81, 302.4},
          Row{30000000, 256, 5.291, 4.797, 38.42, 1224.0}, Row{30000000, 1024, 6.841, 4.815, 48.02, 4910.4}}) {
        const std::uint64_t elements = row.bytes / 4;
        EXPECT_NEAR(seconds("ring", row.p, elements, cost), row.ring_ms * kMs, 1e-6);
        EXPECT_NEAR(seconds("halving-doubling", row.p, elements, cost), row.halving_doubling_ms * kMs, 1e-6);
        EXPECT_NEAR(seconds("tree", row.p, elements, cost), row.binomial_ms * kMs, 6e-6);
        EXPECT_NEAR(seconds("ps", row.p, elements, cost), row.ps_ms * kMs, 6e-5);
    }
}

double played_s(const StrategyChoice& choice, std::int32_t p, std::uint64_t elements, const CostModel& cost) {
    const Schedule schedule = testing::schedule_of(choice, p);
    const Binding binding{{{elements, 4}}, {}};
    testing::FakePricing pricing;
    pricing.message_s = [&](std::uint64_t bytes) { return cost.message_s(bytes); };
    pricing.sum_s = [&](Rank rank, std::uint64_t bytes) {
        return cost.sum_s(bytes, rank < p ? SumPlace::Device : SumPlace::Host);
    };
    pricing.overhead_s = cost.overhead_s();
    testing::FakeWorld world(schedule, binding, pricing, false);
    EXPECT_TRUE(world.run());
    return world.now_s();
}

// No link is shared in a tree or a ring, nor by a server's only client: the schedule takes exactly what theory says.
TEST(ClosedForm, is_the_played_schedule_where_no_link_is_shared) {
    const CostModel cost = simple_cost();
    for (std::int32_t p = 1; p <= 70; ++p) {
        for (const std::uint64_t elements : {0, 1, 63, 64, 65, 1000, 100'000}) {
            for (const char* const name :
                 {"tree", "tree(segments=3)", "tree(shape=binary,segments=2)", "tree(shape=k-ary,segments=5)",
                  "tree(arity=7,shape=k-ary)", "tree(shape=chain,segments=4)", "double-tree", "double-tree(segments=3)",
                  "ring", "halving-doubling", "recursive-doubling"}) {
                const StrategyChoice choice = testing::strategy_named(name);
                const bool folds = !std::has_single_bit(static_cast<std::uint32_t>(p));
                if (folds && choice.strategy->name == "halving-doubling") continue;  // below
                EXPECT_NEAR(played_s(choice, p, elements, cost), seconds(name, p, elements, cost), 1e-12)
                    << name << " p=" << p << " elements=" << elements;
            }
        }
    }
    // With folded workers those who wait for an overhead in each round are not those with the longest blocks. Blocks of
    // d chunks differ by d elements at most, over all rounds by c - 1: 4 ns each on the wire, twice, and 1 ns in a sum.
    const StrategyChoice choice = testing::strategy_named("halving-doubling");
    for (std::int32_t p = 3; p <= 70; ++p) {
        if (std::has_single_bit(static_cast<std::uint32_t>(p))) continue;
        for (const std::uint64_t elements : {0, 1, 63, 64, 65, 1000, 100'000}) {
            const double formula_s = seconds("halving-doubling", p, elements, cost);
            const double most = std::bit_floor(static_cast<std::uint32_t>(p)) - 1;
            EXPECT_LE(played_s(choice, p, elements, cost), formula_s + 1e-12) << p << " " << elements;
            EXPECT_GE(played_s(choice, p, elements, cost), formula_s - most * 9e-9 - 1e-12) << p << " " << elements;
        }
    }
    for (const char* const name : {"ps", "ps(sum=ordered)"})
        EXPECT_NEAR(played_s(testing::strategy_named(name), 2, 1000, cost), seconds(name, 2, 1000, cost), 1e-12);
}

TEST(ClosedForm, text_is_short_and_complete) {
    for (const Strategy& strategy : strategies()) {
        EXPECT_FALSE(strategy.help.empty());
        EXPECT_FALSE(strategy.source.empty());
        for (const char* const symbol : {"o", "alpha", "B", "gamma", "W", "p"})
            EXPECT_NE(strategy.closed_form.find(symbol), std::string_view::npos) << strategy.name << " " << symbol;
    }
    EXPECT_EQ(find_strategy("tree")->closed_form,
              "2 K (o + alpha + W/B) + K W/gamma, K = ceil(log2 p); - o if p is not a power of 2; "
              "S segments: (D + S - 1) k (2 (o + alpha + W/(S B)) + W/(S gamma)), depth D, k children");
    EXPECT_EQ(find_strategy("ring")->closed_form,
              "2 (p-1) (o + alpha + ceil(W/p)/B) + (p-1) ceil(W/p)/gamma; C channels, w = ceil(W/(p C)): at most "
              "2 (p-1) (C o + alpha + C w/B) + (p-1) C w/gamma");
}

}  // namespace
}  // namespace coppice
