#include "common/calibration/fit_point.hpp"

#include "common/result/json_lines.hpp"

namespace coppice {

std::vector<FitPoint> points_of(const PiecewiseFit& fit, const std::string& subject, std::int64_t ranks) {
    std::vector<FitPoint> points;
    for (const FitResidual& residual : fit.residuals) {
        FitPoint point;
        point.subject = subject;
        point.ranks = ranks;
        point.segment = &segment_of(fit.segments, residual.bytes) - fit.segments.data();
        point.bytes = static_cast<std::int64_t>(residual.bytes);
        point.seconds = residual.seconds;
        point.fitted_s = residual.fitted_s;
        point.error = residual.error();
        point.left_out = residual.left_out;
        points.push_back(std::move(point));
    }
    return points;
}

std::string to_json_lines(const std::vector<FitPoint>& points) {
    std::string text;
    for (const FitPoint& point : points)
        text += json_lines::line_of(point, [](auto& p, auto&& visit) { visit_fit_fields(p, visit); });
    return text;
}

}  // namespace coppice
