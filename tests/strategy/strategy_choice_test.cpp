#include "common/diag/error.hpp"
#include "common/strategy/strategy.hpp"

#include <gtest/gtest.h>

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
    EXPECT_EQ(strategy_names(), (std::vector<std::string>{"ps", "tree", "ring"}));
    ASSERT_NE(find_strategy("ring"), nullptr);
    EXPECT_EQ(find_strategy("ring")->name, "ring");
    EXPECT_EQ(find_strategy("Ring"), nullptr);
}

TEST(StrategyChoice, fills_in_defaults) {
    const StrategyChoice choice = parsed("ps");
    EXPECT_EQ(choice.strategy, find_strategy("ps"));
    EXPECT_EQ(choice.parameters, (Parameters{{"placement", "colocated"}, {"sum", "arrival"}}));
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
    EXPECT_EQ(parts.expected, "a parameter of ps: placement, sum");
    EXPECT_EQ(parts.hint, "did you mean 'placement'?");
    EXPECT_EQ(error_of("ring(chunks=4)").expected, "no parameter: ring takes none");
}

TEST(StrategyChoice, suggests_a_value) {
    const UserErrorParts parts = error_of("ps(placement=dedicatd)");
    EXPECT_EQ(parts.found, "'dedicatd'");
    EXPECT_EQ(parts.expected, "colocated or dedicated for ps's placement");
    EXPECT_EQ(parts.hint, "did you mean 'dedicated'?");
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

}  // namespace
}  // namespace coppice
