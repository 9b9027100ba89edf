// What a fit makes of times as they are: noisy, contradictory, with a part that belongs to no segment. The exact cases
// are in piecewise_fit_test.cpp.
#include "common/calibration/fit_point.hpp"
#include "common/calibration/fitted_parts.hpp"
#include "common/calibration/piecewise_fit.hpp"
#include "tests/support/logs.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

namespace coppice {
namespace {

std::vector<TimedSize> doubling(double first, const std::vector<double>& us) {
    std::vector<TimedSize> points;
    double bytes = first;
    for (const double t : us) {
        points.push_back({bytes, t * 1e-6});
        bytes *= 2;
    }
    return points;
}

// Times of these segments, each with a relative error of a normal distribution.
std::vector<TimedSize> noisy(const std::vector<LinkSegment>& segments, double sigma, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> error(0, sigma);
    std::vector<TimedSize> points;
    for (double bytes = 8; bytes <= std::exp2(33); bytes *= 2)
        points.push_back({bytes, seconds_of(segments, bytes) * (1 + error(random))});
    return points;
}

// One to three protocols; their lines meet just below the breaks: (76-20) us / (1-0.1) ns = 62.2 kB, and
// (1600-76) us / (0.1-0.005) ns = 16.04 MB.
const std::vector<std::vector<LinkSegment>> kShapes{
    {{0, 20e-6, 10e9}},
    {{0, 20e-6, 1e9}, {65536, 76e-6, 10e9}},
    {{0, 20e-6, 1e9}, {65536, 76e-6, 10e9}, {16777216, 1.6e-3, 200e9}},
};

TEST(FittedTimes, one_two_and_three_segments_are_found_under_noise) {
    for (const std::vector<LinkSegment>& shape : kShapes) {
        for (unsigned seed = 1; seed <= 20; ++seed) {
            const PiecewiseFit fit = fit_piecewise(noisy(shape, 0.01, seed), {});
            ASSERT_EQ(fit.segments.size(), shape.size()) << "seed " << seed;
            // The mean of |error| of a normal distribution is 0.8 sigma; fitting makes it less, never twice as much.
            EXPECT_LT(fit.quality.mean_error, 0.016);
            // At either end only the latency, or only the bandwidth, matters, and many sizes tell it.
            EXPECT_NEAR(fit.segments.front().latency_s / shape.front().latency_s, 1, 0.02) << seed;
            EXPECT_NEAR(fit.segments.back().bytes_per_s / shape.back().bytes_per_s, 1, 0.05) << seed;
        }
    }
}

TEST(FittedTimes, a_number_of_segments_can_be_told) {
    for (int n = 1; n <= 4; ++n)
        EXPECT_EQ(fit_piecewise(noisy(kShapes[2], 0.01, 1), {.segments = n}).segments.size(),
                  static_cast<std::size_t>(n));
    EXPECT_EQ(fit_piecewise(doubling(8, {1, 2, 3, 4}), {.segments = 3}).segments.size(), 1u)
        << "each needs three sizes";
}

// The figures of a real log: what one segment misses, and what the criterion reaches.
TEST(FittedTimes, an_all_reduce_of_16_gpus_takes_three_segments) {
    const FitOptions all_points{.segments = 1, .tolerance = 1, .outlier = 1e9};
    EXPECT_NEAR(fit_piecewise(doubling(8, testing::kH100_us), all_points).quality.mean_error, 0.22, 0.01);
    const PiecewiseFit fit = fit_piecewise(doubling(8, testing::kH100_us), {});
    EXPECT_EQ(fit.segments.size(), 3u);
    EXPECT_LT(fit.quality.mean_error, 0.02);
    EXPECT_TRUE(fitted_drops(fit.segments, 0.05).empty());
    EXPECT_FALSE(unreliable(fit.quality));
    // 8 B took 135.8 us, and 1 KiB 147.1 us, more than larger sizes by more than 5 %: those two are left out.
    std::vector<double> left_out;
    for (const FitResidual& point : fit.residuals)
        if (!point.left_out.empty()) left_out.push_back(point.bytes);
    EXPECT_EQ(left_out, (std::vector<double>{8, 1024}));
    // With all sizes three segments still do.
    EXPECT_LT(fit_piecewise(doubling(8, testing::kH100_us), {.segments = 3, .tolerance = 1, .outlier = 1e9})
                  .quality.mean_error,
              0.02);
}

TEST(FittedTimes, times_that_fall_and_rise_are_called_unreliable) {
    const PiecewiseFit fit = fit_piecewise(doubling(4, testing::kOsu_us), {});
    EXPECT_GT(fit.quality.left_out, 19 / 4);
    EXPECT_TRUE(unreliable(fit.quality));
}

TEST(FittedTimes, the_tolerance_says_what_is_a_contradiction) {
    std::vector<TimedSize> points = noisy(kShapes[0], 0, 1);
    // 256 B in 20.03 us become 21.63 us; 512 B to 8 KiB take less than 0.98 of that (21.2 us), none less than 0.8.
    points[5].seconds *= 1.08;
    EXPECT_EQ(fit_piecewise(points, {.tolerance = 0.02}).residuals[5].left_out, "not monotone");
    EXPECT_EQ(fit_piecewise(points, {.tolerance = 0.20}).residuals[5].left_out, "");
}

// Both times of a contradiction cannot be right; the one that more sizes speak against goes.
TEST(FittedTimes, of_two_contradictory_sizes_the_one_against_the_others_goes) {
    std::vector<TimedSize> slow = noisy(kShapes[0], 0, 1);
    slow[5].seconds *= 3;  // slower than 15 larger ones
    EXPECT_EQ(fit_piecewise(slow, {}).residuals[5].left_out, "not monotone");
    std::vector<TimedSize> fast = noisy(kShapes[0], 0, 1);
    fast[25].seconds /= 30;  // faster than a few smaller ones
    const PiecewiseFit fit = fit_piecewise(fast, {});
    EXPECT_EQ(fit.residuals[25].left_out, "not monotone");
    EXPECT_EQ(fit.quality.left_out, 1);
}

TEST(FittedTimes, an_overhead_is_part_of_every_time_and_of_no_segment) {
    std::vector<TimedSize> points;
    for (double bytes = 8; bytes <= 1 << 24; bytes *= 2) points.push_back({bytes, 5e-6 + 20e-6 + bytes / 1e9});
    const PiecewiseFit fit = fit_piecewise(points, {.overhead_s = 5e-6});
    ASSERT_EQ(fit.segments.size(), 1u);
    EXPECT_NEAR(fit.segments[0].latency_s, 20e-6, 1e-11);
    EXPECT_LT(fit.quality.worst_error, 1e-6);
    // More than the times have beside their bytes: the latency is 0, not less.
    const double least_s = fit_piecewise(points, {.overhead_s = 25e-6}).segments[0].latency_s;
    EXPECT_GE(least_s, 0);
    EXPECT_LT(least_s, 1e-12);
}

TEST(FittedTimes, where_lines_do_not_meet_the_fitted_time_does_not_fall) {
    // 1 ns a byte up to 32 KiB, then a faster line that is below the first one's from 29.6 kB on.
    std::vector<TimedSize> points;
    for (double bytes = 1024; bytes <= 32768; bytes *= 2) points.push_back({bytes, 100e-6 + bytes * 1e-9});
    for (double bytes = 65536; bytes <= 1 << 24; bytes *= 2) points.push_back({bytes, 128.1e-6 + bytes * 0.05e-9});
    const PiecewiseFit fit = fit_piecewise(points, {.tolerance = 0.1});
    ASSERT_EQ(fit.segments.size(), 2u);
    EXPECT_EQ(fit.segments[1].from_bytes, 32769) << "right behind the first line's last point";
    EXPECT_TRUE(fitted_drops(fit.segments, 0.05).empty());
}

// From 2000 B the second piece takes 1 us + 0.2 us where the first would take 1 us + 2 us.
TEST(FittedTimes, drops_are_reported) {
    const std::vector<LinkSegment> segments{{0, 1e-6, 1e9}, {2000, 1e-6, 10e9}};
    const std::vector<FittedDrop> drops = fitted_drops(segments, 0.05);
    ASSERT_EQ(drops.size(), 1u);
    EXPECT_DOUBLE_EQ(drops[0].before_s, 3e-6);
    EXPECT_DOUBLE_EQ(drops[0].after_s, 1.2e-6);
    EXPECT_TRUE(fitted_drops(segments, 0.7).empty());
}

TEST(FittedTimes, parts_of_a_cluster_have_seven_digits_and_the_measured_range) {
    std::vector<TimedSize> points = noisy(kShapes[0], 0.001, 1);
    points.front().seconds *= 2;
    const PiecewiseFit fit = fit_piecewise(points, {});
    const MeasuredCollective collective = collective_of(fit, 16, "here");
    EXPECT_EQ(collective.smallest_bytes, 16) << "the first size was left out";
    EXPECT_EQ(collective.largest_bytes, std::exp2(33));
    EXPECT_EQ(collective.segments[0].latency_s, seven_digits(fit.segments[0].latency_s));
    EXPECT_EQ(seven_digits(1.23456789e-5), 1.234568e-5);
    EXPECT_EQ(link_of(fit, 1e-6).overhead_s, 1e-6);
}

TEST(FittedTimes, points_as_json_lines) {
    const PiecewiseFit fit = fit_piecewise({{1000, 1e-3}, {2000, 2e-3}, {4000, 4e-3}}, {});
    const std::vector<FitPoint> points = points_of(fit, "all-reduce", 4);
    ASSERT_EQ(points.size(), 3u);
    EXPECT_EQ(points[1].bytes, 2000);
    EXPECT_EQ(points[1].segment, 0);
    EXPECT_EQ(to_json_lines(points).substr(0, 73),
              R"({"schema":"coppice.fit/1","subject":"all-reduce","ranks":4,"segment":0,"b)");
}

// A scale of all times scales the fit, and nothing else.
RC_GTEST_PROP(FittedTimes, do_not_depend_on_the_unit_of_time, ()) {
    const auto seed = *rc::gen::inRange<unsigned>(1, 1000);
    const double scale = std::exp2(*rc::gen::inRange(-6, 7));
    std::vector<TimedSize> points = noisy(*rc::gen::elementOf(kShapes), 0.02, seed);
    const PiecewiseFit fit = fit_piecewise(points, {});
    for (TimedSize& point : points) point.seconds *= scale;
    const PiecewiseFit scaled = fit_piecewise(points, {});
    RC_ASSERT(scaled.segments.size() == fit.segments.size());
    RC_ASSERT(std::abs(scaled.quality.mean_error - fit.quality.mean_error) < 1e-9);
    RC_ASSERT(scaled.quality.left_out == fit.quality.left_out);
}

// Points that were kept are monotone within the tolerance, whatever was measured.
RC_GTEST_PROP(FittedTimes, kept_points_do_not_contradict_each_other, ()) {
    const auto times = *rc::gen::container<std::vector<int>>(20, rc::gen::inRange(1, 100000));
    std::vector<double> us(times.begin(), times.end());
    const PiecewiseFit fit = fit_piecewise(doubling(8, us), {.tolerance = 0.05});
    RC_PRE(fit.quality.points > 2);
    double slowest = 0;
    for (const FitResidual& point : fit.residuals) {
        if (!point.left_out.empty()) continue;
        RC_ASSERT(point.seconds >= 0.95 * slowest * (1 - 1e-12));
        slowest = std::max(slowest, point.seconds);
    }
}

}  // namespace
}  // namespace coppice
