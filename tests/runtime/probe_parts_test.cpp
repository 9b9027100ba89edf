// What coppice-run probe is made of, as far as it can be told without a clock. Run on one rank or more (mpi_main.cpp).
#include "runtime/median_interval.hpp"
#include "runtime/probe_schedules.hpp"
#include "runtime/sgd_update.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace coppice {
namespace {

TEST(MedianInterval, OfSixSamplesIsTheirRange) {
    const MedianInterval interval = median_interval({5, 1, 4, 2, 6, 3});
    EXPECT_EQ(interval.median, 3.5);
    // P(the median lies outside of the range) = 2 / 2^6 = 3 %; of any narrower one more than 5 %.
    EXPECT_EQ(interval.low, 1);
    EXPECT_EQ(interval.high, 6);
}

TEST(MedianInterval, NarrowsAsTheRootOfTheSamples) {
    std::vector<double> samples(10'000);
    std::iota(samples.begin(), samples.end(), 1);
    const MedianInterval interval = median_interval(samples);
    EXPECT_EQ(interval.median, 5000.5);
    // 1.96 deviations of sqrt(10000) / 2 = 50 ranks to either side, rounded outwards.
    EXPECT_NEAR(interval.low, 5000.5 - 98, 2);
    EXPECT_NEAR(interval.high, 5000.5 + 98, 2);
    EXPECT_NEAR(interval.relative_half_width(), 98 / 5000.5, 5e-4);
}

TEST(MedianInterval, OneSampleIsAllThatIsKnown) {
    const MedianInterval interval = median_interval({2});
    EXPECT_EQ(interval.low, 2);
    EXPECT_EQ(interval.high, 2);
}

std::uint64_t operations(const Schedule& schedule, Rank rank, OpKind kind) {
    std::uint64_t count = 0;
    for_each_op(schedule, rank, [&](std::uint32_t, const Op& op) { count += op.kind == kind ? 1 : 0; });
    return count;
}

TEST(ProbeSchedules, EveryMessageHasItsReceive) {
    const Schedule trips = round_trips(5);
    EXPECT_EQ(operations(trips, 0, OpKind::Send), 5U);
    EXPECT_EQ(operations(trips, 1, OpKind::Send), 5U);
    for (const std::int32_t ranks : {2, 3, 8}) {
        const Schedule shifts = ring_shifts(ranks, 4);
        const Schedule all = incast(ranks);
        for (Rank rank = 0; rank < ranks; ++rank) {
            EXPECT_EQ(operations(shifts, rank, OpKind::Send), 4U);
            EXPECT_EQ(operations(shifts, rank, OpKind::Recv), 4U);
        }
        EXPECT_EQ(operations(all, 0, OpKind::Recv), static_cast<std::uint64_t>(ranks - 1));
        EXPECT_EQ(operations(all, ranks - 1, OpKind::Send), 1U);
    }
}

TEST(SgdUpdate, IsMomentumThenStep) {
    std::vector<float> weights{1, 2};
    std::vector<float> momenta{4, 8};
    const std::vector<float> gradients{1, -1};
    sgd_update({.rate = 0.5F, .momentum = 0.5F}, weights.data(), momenta.data(), gradients.data(), 2);
    // m = 0.5 m + g: 3, 3;   w = w - 0.5 m: -0.5, 0.5
    EXPECT_EQ(momenta, (std::vector<float>{3, 3}));
    EXPECT_EQ(weights, (std::vector<float>{-0.5F, 0.5F}));
}

}  // namespace
}  // namespace coppice
