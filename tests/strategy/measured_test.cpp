// The strategy "measured": times of a log, for its number of ranks and its sizes, and nothing else.
#include "common/strategy/strategy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace coppice {
namespace {

// 16 ranks, 1 kB to 1 MB: 100 us + n / 1 GB/s.
Cluster cluster() {
    Cluster result;
    result.name = "mine";
    result.link.segments = {{0, 1e-6, 1e9}};
    MeasuredCollective measured;
    measured.name = "all-reduce";
    measured.ranks = 16;
    measured.smallest_bytes = 1e3;
    measured.largest_bytes = 1e6;
    measured.segments = {{0, 100e-6, 1e9}};
    result.collectives.push_back(measured);
    return result;
}

const Strategy& measured() {
    return *find_strategy("measured");
}

std::optional<std::string> refused(std::int32_t workers, std::uint64_t bytes, const Cluster& on = cluster()) {
    return measured().refuses_on({workers, {}}, bytes, on);
}

TEST(Measured, is_found_by_name_but_is_not_among_those_with_a_schedule) {
    ASSERT_NE(find_strategy("measured"), nullptr);
    EXPECT_EQ(parse_strategy("measured", {}, "").canonical(), "measured");
    EXPECT_TRUE(std::none_of(strategies().begin(), strategies().end(), [](const Strategy& s) { return !s.schedule; }));
    EXPECT_TRUE(std::all_of(measured_strategies().begin(), measured_strategies().end(),
                            [](const Strategy& s) { return !s.schedule && !s.contract && s.refuses_on; }));
    EXPECT_EQ(strategy_names().size() + measured_strategies().size() + choosing_strategies().size() +
                  imported_strategies().size(),
              all_strategy_names().size());
}

// 250,000 elements of 4 bytes are 1 MB: 100 us + 1000 us.
TEST(Measured, takes_the_segments_time_of_the_whole_message) {
    EXPECT_DOUBLE_EQ(measured().closed_form_s({16, {}}, 250'000, 4, CostModel(cluster())), 1100e-6);
    EXPECT_EQ(measured().closed_form_s({1, {}}, 250'000, 4, CostModel(cluster())), 0) << "alone there is no message";
}

TEST(Measured, other_numbers_of_ranks_are_refused) {
    EXPECT_EQ(refused(16, 1000), std::nullopt);
    EXPECT_EQ(refused(8, 1000), "the measured all-reduce tells of 16 ranks only");
    EXPECT_EQ(refused(1, 1), std::nullopt);
    Cluster none = cluster();
    none.collectives.clear();
    EXPECT_EQ(refused(16, 1000, none), "cluster 'mine' has no measured all-reduce ([[collectives]])");
}

TEST(Measured, sizes_beyond_twice_the_measured_ones_are_an_extrapolation) {
    EXPECT_EQ(refused(16, 2'000'000), std::nullopt);
    EXPECT_EQ(refused(16, 2'000'001), "2 MB would be an extrapolation: the largest measured size is 1 MB");
    EXPECT_EQ(refused(16, 500), std::nullopt);
    EXPECT_EQ(refused(16, 499), "499 B would be an extrapolation: the smallest measured size is 1 kB");
}

}  // namespace
}  // namespace coppice
