// A fit as a person reads it.
#pragma once

#include "common/calibration/piecewise_fit.hpp"
#include "common/calibration/probe_fit.hpp"

#include <string>
#include <vector>

namespace coppice::program {

// Segments, how good they are, and what other numbers of segments would have been.
std::string fit_table(const std::string& title, const PiecewiseFit& fit);

// What the fitted link predicts of several messages at once.
std::string check_table(const std::vector<ProbeCheck>& checks);

// For stderr, a line each: the points that were left out, where the fitted time falls, and whether it is unreliable.
std::vector<std::string> fit_warnings(const PiecewiseFit& fit, const FitOptions& options);

}  // namespace coppice::program
