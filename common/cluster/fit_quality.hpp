// What is kept of a fit beside the segments that it gave: how good they are, and each measured point with its residual,
// so that a prediction can carry an error band. Relative errors are fitted / measured - 1. How a fit is made:
// docs/calibration.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace coppice {

struct FitResidual {
    double bytes = 0;
    double seconds = 0;  // measured
    double fitted_s = 0;
    std::string left_out;  // why this point did not take part: "outlier", "not monotone"; else empty
    double error() const { return fitted_s / seconds - 1; }
};

// How good it is. Relative errors are of the points that took part.
struct FitQuality {
    std::int64_t points = 0;  // that took part
    std::int64_t left_out = 0;
    double mean_error = 0;  // of |fitted / measured - 1|
    double median_error = 0;
    double worst_error = 0;
    double worst_bytes = 0;  // where
    double criterion = 0;    // BIC
};

// Both, as a cluster file has them.
struct Fit {
    FitQuality quality;
    std::vector<FitResidual> residuals;  // ascending sizes
};

}  // namespace coppice
