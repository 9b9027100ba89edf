#include "common/diag/error.hpp"
#include "common/strategy/strategy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace coppice {
namespace {

const SourceLocation kWhere{"titan.toml", 3, 12};

StrategyChoice parsed(std::string_view text) {
    return parse_strategy(text, kWhere, "strategy");
}

UserErrorParts error_of(std::string_view text) {
    try {
        parsed(text);
    } catch (const UserError& error) {
        EXPECT_EQ(error.parts().where.file, "titan.toml");
        EXPECT_EQ(error.parts().where.line, 3);
        EXPECT_EQ(error.parts().key, "strategy");
        return error.parts();
    }
    ADD_FAILURE() << "'" << text << "' is taken";
    return {};
}

TEST(Registry, finds_strategies_by_name) {
    const std::vector<std::string> names = strategy_names();
    for (const char* const name :
         {"ps", "tree", "double-tree", "ring", "halving-doubling", "recursive-doubling", "hierarchical"})
        EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
    ASSERT_NE(find_strategy("ring"), nullptr);
    EXPECT_EQ(find_strategy("ring")->name, "ring");
    EXPECT_EQ(find_strategy("Ring"), nullptr);
}

TEST(StrategyChoice, fills_in_defaults) {
    const StrategyChoice choice = parsed("ps");
    EXPECT_EQ(choice.strategy, find_strategy("ps"));
    EXPECT_EQ(choice.parameters, (Parameters{{"partitions", "1"},
                                             {"placement", "colocated"},
                                             {"pull", "after-all"},
                                             {"servers", "1"},
                                             {"sum", "arrival"}}));
    EXPECT_EQ(choice.canonical(), "ps");
}

TEST(StrategyChoice, has_one_canonical_form) {
    EXPECT_EQ(parsed(" ps ( sum = ordered , placement=dedicated ) ").canonical(),
              "ps(placement=dedicated,sum=ordered)");
    EXPECT_EQ(parsed("ps(placement=colocated)").canonical(), "ps");
    EXPECT_EQ(parsed("ring()").canonical(), "ring");
    EXPECT_EQ(parsed(parsed("ps(sum=ordered)").canonical()).canonical(), "ps(sum=ordered)");
}

TEST(StrategyChoice, suggests_a_strategy) {
    const UserErrorParts parts = error_of("rnig");
    EXPECT_EQ(parts.found, "'rnig'");
    EXPECT_EQ(parts.expected, "the name of a strategy");
    EXPECT_EQ(parts.hint, "did you mean 'ring'?");
    EXPECT_EQ(error_of("").found, "''");
    EXPECT_EQ(error_of("(placement=dedicated)").expected, "the name of a strategy");
}

TEST(StrategyChoice, suggests_a_parameter) {
    const UserErrorParts parts = error_of("ps(placment=dedicated)");
    EXPECT_EQ(parts.found, "'placment'");
    EXPECT_EQ(parts.expected, "a parameter of ps: placement, sum, servers, partitions, pull");
    EXPECT_EQ(parts.hint, "did you mean 'placement'?");
    EXPECT_EQ(error_of("recursive-doubling(chunks=4)").expected, "no parameter: recursive-doubling takes none");
}

TEST(StrategyChoice, suggests_a_value) {
    const UserErrorParts parts = error_of("ps(placement=dedicatd)");
    EXPECT_EQ(parts.found, "'dedicatd'");
    EXPECT_EQ(parts.expected, "colocated or dedicated for ps's placement");
    EXPECT_EQ(parts.hint, "did you mean 'dedicated'?");
}

TEST(StrategyChoice, says_which_integers_there_are) {
    const UserErrorParts channels = error_of("ring(channels=17)");
    EXPECT_EQ(channels.found, "'17'");
    EXPECT_EQ(channels.expected, "an integer from 1 to 16 for ring's channels");
    EXPECT_EQ(channels.hint, "");  // there is no name to suggest
    EXPECT_EQ(error_of("tree(segments=atuo)").expected, "an integer from 1 to 1024, or auto, for tree's segments");
    EXPECT_EQ(error_of("tree(segments=atuo)").hint, "did you mean 'auto'?");
}

TEST(StrategyChoice, says_what_is_malformed) {
    EXPECT_EQ(error_of("ps(placement=dedicated").expected, "a ')' at the end");
    EXPECT_EQ(error_of("ps)").expected, "a '(' before the ')'");
    EXPECT_EQ(error_of("ps(sum=ordered)x").expected, "nothing after the ')'");
    EXPECT_EQ(error_of("ps((sum=ordered))").expected, "nothing after the ')'");
    EXPECT_EQ(error_of("ps((sum=ordered)").expected, "one pair of parentheses");
    EXPECT_EQ(error_of("ps(dedicated)").expected, "parameter=value");
    EXPECT_EQ(error_of("ps(sum=ordered,)").expected, "parameter=value");
    EXPECT_EQ(error_of("ps(sum=ordered,sum=arrival)").expected, "sum once only");
}

TEST(StrategyList, keeps_commas_inside_parentheses) {
    EXPECT_EQ(split_strategy_list("ps, tree ,ps(placement=dedicated,sum=ordered)"),
              (std::vector<std::string>{"ps", "tree", "ps(placement=dedicated,sum=ordered)"}));
    EXPECT_EQ(split_strategy_list("ring"), (std::vector<std::string>{"ring"}));
    // Empty parts are kept, so that parse_strategy complains of them.
    EXPECT_EQ(split_strategy_list("ps,,ring"), (std::vector<std::string>{"ps", "", "ring"}));
    EXPECT_EQ(split_strategy_list("ps),ring"), (std::vector<std::string>{"ps)", "ring"}));
}

// A strategy that leaves the choice open: short tensors by tree, long ones by ring, none on a cluster named "odd".
Strategy by_length() {
    Strategy open;
    open.name = "by-length";
    open.refuses = [](const CollectiveCase& collective) -> std::optional<std::string> {
        if (collective.workers == 13) return "is superstitious";
        return std::nullopt;
    };
    open.refuses_on = [](const CollectiveCase&, std::uint64_t, const Cluster& cluster) -> std::optional<std::string> {
        if (cluster.name == "odd") return "knows no odd clusters";
        return std::nullopt;
    };
    open.resolved = [](const CollectiveCase&, std::uint64_t elements, std::uint32_t, const CostModel&) {
        return parsed(elements < 1000 ? "tree" : "ring");
    };
    return open;
}

CostModel cost_on(const char* name) {
    Cluster cluster;
    cluster.name = name;
    cluster.link.segments = {{0, 1e-6, 1e9}};
    cluster.device.sum_bytes_per_s = std::numeric_limits<double>::infinity();
    return CostModel(cluster);
}

TEST(Settle, leaves_a_choice_alone_that_is_complete) {
    const Settled settled = settle(parsed("ps(sum=ordered)"), {4, {}, 2}, 10, 4, nullptr);
    EXPECT_EQ(settled.choice.canonical(), "ps(sum=ordered)");
    EXPECT_EQ(settled.collective.parameters, parsed("ps(sum=ordered)").parameters);
    EXPECT_EQ(settled.collective.gpus_per_node, 2);
    EXPECT_FALSE(settled.refusal);
    EXPECT_EQ(settle(parsed("ring"), {0, {}, 1}, 10, 4, nullptr).refusal, "needs at least one worker");
}

TEST(Settle, decides_what_is_open_by_cost) {
    const Strategy open = by_length();
    const CostModel cost = cost_on("even");
    EXPECT_TRUE(is_open({&open, {}}));
    EXPECT_EQ(settle({&open, {}}, {4, {}, 1}, 999, 4, &cost).choice.canonical(), "tree");
    const Settled settled = settle({&open, {}}, {4, {}, 1}, 1000, 4, &cost);
    EXPECT_EQ(settled.choice.canonical(), "ring");
    EXPECT_FALSE(is_open(settled.choice));
    EXPECT_FALSE(settled.refusal);
}

TEST(Settle, says_why_nothing_can_be_decided) {
    const Strategy open = by_length();
    const CostModel odd = cost_on("odd");
    EXPECT_EQ(settle({&open, {}}, {4, {}, 1}, 10, 4, nullptr).refusal,
              "by-length is chosen by cost, which needs a cluster");
    EXPECT_EQ(settle({&open, {}}, {4, {}, 1}, 10, 4, &odd).refusal, "knows no odd clusters");
    EXPECT_EQ(settle({&open, {}}, {13, {}, 1}, 10, 4, nullptr).refusal, "is superstitious");
}

// Of a chain of p in S segments the time is near (p - 2 + S) (2 alpha + 2 W/(S B)), least at S = sqrt((p-2) W/B/alpha):
// 8 workers, 4 MB at 1e9 bytes/s and 1 us: 155. Of the powers of two 128 takes (6 + 128) x 64.5 us, 256 takes 262
// x 33.25.
TEST(Settle, chooses_segments_by_cost) {
    const CostModel cost = cost_on("even");
    const auto settled = [&](const char* text, std::uint64_t elements) {
        const Settled result = settle(parsed(text), {8, {}, 1}, elements, 4, &cost);
        EXPECT_FALSE(result.refusal);
        EXPECT_FALSE(is_open(result.choice));
        return result.choice.canonical();
    };
    EXPECT_TRUE(is_open(parsed("tree(segments=auto)")));
    EXPECT_EQ(settled("tree(segments=auto,shape=chain)", 1'000'000), "tree(segments=128,shape=chain)");
    // Nothing to gain: more messages only cost more latencies, and none is shorter than an element.
    EXPECT_EQ(settled("tree(segments=auto,shape=chain)", 0), "tree(shape=chain)");
    EXPECT_EQ(settled("tree(segments=auto,shape=chain)", 1), "tree(shape=chain)");
    // The root of a binomial tree of 8 has three children and is busy with them from the first to the last byte.
    EXPECT_EQ(settled("tree(segments=auto)", 1'000'000), "tree");
    EXPECT_EQ(settle(parsed("double-tree(segments=auto)"), {8, {}, 1}, 10, 4, nullptr).refusal,
              "double-tree(segments=auto) is chosen by cost, which needs a cluster");
    EXPECT_EQ(settle(parsed("tree(segments=auto,arity=4)"), {8, {}, 1}, 10, 4, &cost).refusal,
              "arity is for shape=k-ary, not for shape=binomial");
    for (const char* const text :
         {"tree(segments=auto,shape=chain)", "tree(segments=auto,shape=binary)", "double-tree(segments=auto)"}) {
        const StrategyChoice chosen = settle(parsed(text), {8, {}, 1}, 1'000'000, 4, &cost).choice;
        const auto seconds = [&](std::string_view segments) {
            CollectiveCase collective{8, chosen.parameters, 1};
            collective.parameters["segments"] = segments;
            return chosen.strategy->closed_form_s(collective, 1'000'000, 4, cost);
        };
        const double best_s = seconds(chosen.parameters.at("segments"));
        EXPECT_LT(best_s, seconds("1")) << text;
        for (int segments = 1; segments <= 1024; segments *= 2)
            EXPECT_LE(best_s, seconds(std::to_string(segments))) << text << " " << segments;
    }
}

}  // namespace
}  // namespace coppice
