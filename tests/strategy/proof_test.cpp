// Every strategy, with every combination of its parameters, is proved for every number of workers up to 257 and for
// 1000, 1023 and 1024 (but is_slow); its traffic is what its contract says. bench/verify-all does every number up to
// 1024.
#include "tests/support/strategy_cases.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <regex>
#include <string>

namespace coppice {
namespace {

#if defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
constexpr bool kSlowBuild = true;  // sanitized or not optimised: the great numbers are left to the release build
#else
constexpr bool kSlowBuild = false;
#endif

struct Range {
    StrategyChoice choice;
    std::int32_t from;
    std::int32_t to;
};

// Where every pair of ranks has lanes of its own a proof takes minutes: a sample; bench/verify-all leaves nothing out.
bool is_slow(const StrategyChoice& choice) {
    const auto servers = choice.parameters.find("servers");
    return servers != choice.parameters.end() && servers->second == "all";
}

// Several tests, so that ctest can run them side by side.
std::vector<Range> ranges() {
    using Numbers = std::vector<std::pair<std::int32_t, std::int32_t>>;
    std::vector<Range> result;
    for (const StrategyChoice& choice : testing::strategy_variants()) {
        Numbers numbers = is_slow(choice) ? Numbers{{1, 33}, {63, 65}} : Numbers{{1, 33}, {34, 128}};
        const Numbers great = is_slow(choice)
                                  ? Numbers{{127, 129}, {257, 257}}
                                  : Numbers{{129, 200}, {201, 257}, {1000, 1000}, {1023, 1023}, {1024, 1024}};
        if (!kSlowBuild) numbers.insert(numbers.end(), great.begin(), great.end());
        for (const auto& [from, to] : numbers) result.push_back({choice, from, to});
    }
    return result;
}

class Proof : public ::testing::TestWithParam<Range> {};

TEST_P(Proof, holds_and_traffic_is_what_the_contract_says) {
    for (std::int32_t p = GetParam().from; p <= GetParam().to; ++p) testing::expect_proved(GetParam().choice, p);
}

std::string name_of(const ::testing::TestParamInfo<Range>& info) {
    const std::string strategy = std::regex_replace(info.param.choice.canonical(), std::regex("[^a-z]+"), "_");
    return fmt::format("{}_p_{}_to_{}", strategy, info.param.from, info.param.to);
}

INSTANTIATE_TEST_SUITE_P(Strategies, Proof, ::testing::ValuesIn(ranges()), name_of);

TEST(ProofOfAll, every_number_of_workers_up_to_COPPICE_PROVE_UP_TO) {
    const char* up_to = std::getenv("COPPICE_PROVE_UP_TO");
    if (up_to == nullptr) GTEST_SKIP() << "the full proof takes hours: run bench/verify-all";
    for (std::int32_t p = 1; p <= std::stoi(up_to); ++p) {
        for (const StrategyChoice& choice : testing::strategy_variants()) testing::expect_proved(choice, p);
        if (p % 64 == 0) fmt::print(stderr, "proved: 1..{}\n", p);
    }
}

TEST(Strategies, refuse_no_workers) {
    for (const StrategyChoice& choice : testing::strategy_variants())
        EXPECT_EQ(choice.strategy->refuses(testing::case_of(choice, 0)), "needs at least one worker");
}

TEST(Strategies, have_hashes_that_repeat_and_differ) {
    std::vector<std::string> hashes;
    for (const StrategyChoice& choice : testing::strategy_variants()) {
        if (testing::refused(choice, 8)) continue;
        hashes.push_back(schedule_hash(testing::schedule_of(choice, 8)));
        EXPECT_EQ(hashes.back(), schedule_hash(testing::schedule_of(choice, 8)));
    }
    std::sort(hashes.begin(), hashes.end());
    EXPECT_EQ(std::adjacent_find(hashes.begin(), hashes.end()), hashes.end());
}

}  // namespace
}  // namespace coppice
