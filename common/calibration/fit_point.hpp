// A measured point with what was fitted to it, for machines: one JSON object a line, schema "coppice.fit/1"
// (docs/calibration.md). Written by `coppice fit --format jsonl`.
#pragma once

#include "common/calibration/piecewise_fit.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

inline constexpr std::string_view kFitSchema = "coppice.fit/1";

struct FitPoint {
    std::string schema{kFitSchema};
    std::string subject;       // "link", "both-ways", "all-reduce"
    std::int64_t ranks = 0;    // of the all-reduce; 0: a link
    std::int64_t segment = 0;  // which of the fit, from 0
    std::int64_t bytes = 0;
    double seconds = 0;  // measured; of several times of one size the median
    double fitted_s = 0;
    double error = 0;      // fitted_s / seconds - 1
    std::string left_out;  // why the point did not take part; empty: it did
};

template <class R, class Visit>
void visit_fit_fields(R& r, Visit&& visit) {
    visit("schema", r.schema);
    visit("subject", r.subject);
    visit("ranks", r.ranks);
    visit("segment", r.segment);
    visit("bytes", r.bytes);
    visit("seconds", r.seconds);
    visit("fitted_s", r.fitted_s);
    visit("error", r.error);
    visit("left_out", r.left_out);
}

std::vector<FitPoint> points_of(const PiecewiseFit& fit, const std::string& subject, std::int64_t ranks);
std::string to_json_lines(const std::vector<FitPoint>& points);

}  // namespace coppice
