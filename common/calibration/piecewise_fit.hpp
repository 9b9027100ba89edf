// Measured times by size as a few straight pieces: T(n) = o + alpha + n / B in each, o known, the cost model's
// segments.
//
// Weighted least squares on relative residuals (sizes go over nine decades, and a user asks "by how many per cent");
// breaks by dynamic programming over the sizes, so they are the best there are for their number; their number by the
// Bayesian information criterion, in which a piece counts three parameters (alpha, B, where it begins):
//
//     BIC(k) = m ln(RSS/m + floor^2) + (3k - 1) ln m          m points, floor = kNoiseFloor
//
// The floor keeps a fit that is nearly perfect from paying for pieces that explain noise below what a timer can tell.
// Sources: Schwarz 1978 (BIC); Bai and Perron 2003 (breaks by dynamic programming).
#pragma once

#include "common/cluster/cluster.hpp"
#include "common/cluster/fit_quality.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coppice {

// Relative. The two columns of one nccl-tests log, the same collective out of place and in place, differ by 0.8 %
// (median of 31 sizes).
inline constexpr double kNoiseFloor = 0.01;

struct TimedSize {
    double bytes = 0;
    double seconds = 0;  // above 0
};

struct FitOptions {
    int segments = 0;  // 0: as many as the criterion chooses, up to kMostSegments
    double tolerance =
        0.05;  // a larger size may take so much less time than a smaller one before one of them is left out
    double overhead_s = 0;  // part of every time, of no segment: alpha + n/B is the rest; at most the shortest time
    double outlier = 0.10;  // a point is left out only if it misses by more than this, and by 4 deviations (MAD)
};
inline constexpr int kMostSegments = 6;
inline constexpr int kLeastPointsOfSegment = 3;

struct PiecewiseFit {
    std::vector<LinkSegment> segments;  // the first from 0
    FitQuality quality;
    std::vector<FitResidual> residuals;  // all points, by size
    std::vector<double> criteria;        // BIC with 1, 2, ... segments, as far as the points allow
};

// Points in any order; several of one size count as their median. UserError-free: fewer than two sizes is a
// COPPICE_CHECK, so callers say first what is missing. alpha >= 0 and B > 0 always.
PiecewiseFit fit_piecewise(std::vector<TimedSize> points, const FitOptions& options);

// Where the fitted time falls by more than `tolerance` as the size grows: at the beginning of a segment.
struct FittedDrop {
    double bytes = 0;
    double before_s = 0;
    double after_s = 0;
};
std::vector<FittedDrop> fitted_drops(const std::vector<LinkSegment>& segments, double tolerance);

// Why a fit should not be relied upon, or nothing: more than a quarter of the sizes left out (such times are no
// function of the size), or a mean error of more than 10 %.
std::optional<std::string> unreliable(const FitQuality& quality);

}  // namespace coppice
