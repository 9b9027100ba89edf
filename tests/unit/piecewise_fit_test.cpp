#include "common/calibration/piecewise_fit.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

namespace coppice {
namespace {

std::vector<TimedSize> times_of(const std::vector<LinkSegment>& segments, const std::vector<double>& sizes) {
    std::vector<TimedSize> points;
    for (const double size : sizes) points.push_back({size, seconds_of(segments, size)});
    return points;
}

std::vector<double> doubling(double first, double last) {
    std::vector<double> sizes;
    for (double size = first; size <= last; size *= 2) sizes.push_back(size);
    return sizes;
}

TEST(PiecewiseFit, OneLineIsFoundExactly) {
    const std::vector<LinkSegment> line{{0, 5e-6, 10e9}};
    const PiecewiseFit fit = fit_piecewise(times_of(line, doubling(8, 1 << 30)), {});
    ASSERT_EQ(fit.segments.size(), 1U);
    EXPECT_NEAR(fit.segments[0].latency_s, 5e-6, 1e-12);
    EXPECT_NEAR(fit.segments[0].bytes_per_s, 10e9, 1);
    EXPECT_EQ(fit.quality.left_out, 0);
    EXPECT_LT(fit.quality.worst_error, 1e-9);
}

// An eager and a rendezvous protocol that change at 64 KiB.
TEST(PiecewiseFit, TwoLinesAndTheirBreakAreFound) {
    const std::vector<LinkSegment> lines{{0, 20e-6, 1e9}, {65536, 60e-6, 10e9}};
    const PiecewiseFit fit = fit_piecewise(times_of(lines, doubling(64, 64 << 20)), {});
    ASSERT_EQ(fit.segments.size(), 2U);
    EXPECT_NEAR(fit.segments[0].latency_s, 20e-6, 1e-10);
    EXPECT_NEAR(fit.segments[0].bytes_per_s, 1e9, 1e3);
    // The data have nothing between 32 KiB and 64 KiB; the lines meet at 44,445 bytes: (60 - 20) us / 0.9 ns.
    EXPECT_NEAR(fit.segments[1].from_bytes, 44445, 1);
    EXPECT_NEAR(fit.segments[1].bytes_per_s, 10e9, 1e4);
}

// nccl-tests' all-reduce on 16 H100 over 2 nodes: out-of-place microseconds from 8 B to 8 GiB, doubling.
const std::vector<double> kH100_us{135.8,  123.2,  123.3,  123.4,  123.0,  123.6,  126.6, 147.1, 125.8, 126.9, 131.6,
                                   138.6,  155.2,  159.4,  159.3,  167.1,  174.2,  203.2, 254.0, 364.6, 571.9, 977.6,
                                   1059.9, 1261.6, 1652.2, 2360.9, 3817.5, 6759.0, 12646, 24361, 47535};

std::vector<TimedSize> h100() {
    std::vector<TimedSize> points;
    double bytes = 8;
    for (const double us : kH100_us) {
        points.push_back({bytes, us * 1e-6});
        bytes *= 2;
    }
    return points;
}

TEST(PiecewiseFit, OneLineIsNotEnoughForAnAllReduceThatChangesItsAlgorithm) {
    const PiecewiseFit fit = fit_piecewise(h100(), {.segments = 1, .tolerance = 1, .outlier = 1e9});
    EXPECT_GT(fit.quality.mean_error, 0.10);
}

TEST(PiecewiseFit, TheCriterionChoosesThreeLinesForIt) {
    const PiecewiseFit fit = fit_piecewise(h100(), {});
    EXPECT_EQ(fit.segments.size(), 3U);
    EXPECT_LT(fit.quality.mean_error, 0.02);
}

TEST(PiecewiseFit, AnOutlierIsNamedAndHasNoInfluence) {
    const std::vector<LinkSegment> line{{0, 5e-6, 10e9}};
    std::vector<TimedSize> points = times_of(line, doubling(1024, 1 << 30));
    points.back().seconds *= 1.5;  // the largest: nothing above it contradicts
    const PiecewiseFit fit = fit_piecewise(points, {});
    ASSERT_EQ(fit.segments.size(), 1U);
    EXPECT_NEAR(fit.segments[0].bytes_per_s, 10e9, 1);
    EXPECT_EQ(fit.residuals.back().left_out, "outlier");
    EXPECT_EQ(fit.quality.left_out, 1);
}

TEST(PiecewiseFit, OfSizesThatContradictEachOtherTheFewestAreLeftOut) {
    const std::vector<LinkSegment> line{{0, 5e-6, 1e9}};
    std::vector<TimedSize> points = times_of(line, doubling(1024, 1 << 20));
    points[3].seconds *= 40;  // contradicts five larger sizes, which agree with each other
    const PiecewiseFit fit = fit_piecewise(points, {});
    for (std::size_t i = 0; i < fit.residuals.size(); ++i)
        EXPECT_EQ(fit.residuals[i].left_out, i == 3 ? "not monotone" : "") << i;
}

TEST(PiecewiseFit, RepeatedSizesCountAsTheirMedian) {
    std::vector<TimedSize> points{{1000, 1}, {1000, 9}, {1000, 2}, {2000, 4}, {4000, 8}};
    const PiecewiseFit fit = fit_piecewise(points, {});
    ASSERT_EQ(fit.residuals.size(), 3U);
    EXPECT_EQ(fit.residuals[0].seconds, 2);
    EXPECT_NEAR(fit.segments[0].bytes_per_s, 500, 1e-6);
}

TEST(PiecewiseFit, WhereTimesDoNotGrowTheRateIsFinite) {
    // A fixed cost up to 10 kB, then the wire.
    std::vector<TimedSize> points;
    for (const double size : doubling(64, 1 << 24)) points.push_back({size, std::max(1e-4, size / 1e8)});
    const PiecewiseFit fit = fit_piecewise(points, {});
    ASSERT_EQ(fit.segments.size(), 2U);
    EXPECT_NEAR(fit.segments[0].latency_s, 1e-4, 1e-6);
    EXPECT_NEAR(fit.segments[1].bytes_per_s, 1e8, 1e3);
    // A thousand times the rate of the largest size, 1e8 B/s.
    EXPECT_LT(fit.segments[0].bytes_per_s, 1.001e11);
    EXPECT_EQ(fit.quality.left_out, 0);
}

// Whatever is measured: rates and latencies that a cluster file accepts, and each point is there once.
RC_GTEST_PROP(PiecewiseFit, IsAlwaysUsable, ()) {
    const auto n = *rc::gen::inRange(2, 30);
    std::vector<TimedSize> points;
    for (int i = 0; i < n; ++i) points.push_back({std::exp2(i), 1e-6 * *rc::gen::inRange(1, 1'000'000)});
    const PiecewiseFit fit = fit_piecewise(points, {});
    RC_ASSERT(fit.residuals.size() == points.size());
    RC_ASSERT(fit.segments.front().from_bytes == 0.0);
    RC_ASSERT(fit.quality.points + fit.quality.left_out == n);
    for (std::size_t i = 0; i < fit.segments.size(); ++i) {
        RC_ASSERT(fit.segments[i].latency_s >= 0.0);
        RC_ASSERT(fit.segments[i].bytes_per_s > 0.0);
        // Not "i == 0 || ...": what RC_ASSERT makes of it evaluates both.
        if (i > 0) RC_ASSERT(fit.segments[i].from_bytes > fit.segments[i - 1].from_bytes);
    }
}

}  // namespace
}  // namespace coppice
