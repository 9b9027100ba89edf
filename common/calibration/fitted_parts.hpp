// From a fit to the parts of a cluster that keep it. Rates and latencies are rounded to seven digits, so that a person
// can read the file: far below what any measurement knows.
#pragma once

#include "common/calibration/piecewise_fit.hpp"

#include <string>

namespace coppice {

// `overhead_s` is what the fit took out of every time (FitOptions).
Link link_of(const PiecewiseFit& fit, double overhead_s);

// The range of sizes is that of the points that took part.
MeasuredCollective collective_of(const PiecewiseFit& fit, std::int32_t ranks, const std::string& source);

}  // namespace coppice
