#include "common/calibration/fitted_parts.hpp"

#include "common/units/quantity.hpp"

namespace coppice {

namespace {

std::vector<LinkSegment> rounded(std::vector<LinkSegment> segments) {
    for (LinkSegment& segment : segments) {
        // What is left of a zero after rounding is below what a cluster file takes for a duration.
        segment.latency_s = segment.latency_s < 1e-12 ? 0 : seven_digits(segment.latency_s);
        segment.bytes_per_s = seven_digits(segment.bytes_per_s);
    }
    return segments;
}

}  // namespace

Link link_of(const PiecewiseFit& fit, double overhead_s) {
    Link link;
    link.segments = rounded(fit.segments);
    link.overhead_s = overhead_s;
    link.fit = Fit{fit.quality, fit.residuals};
    return link;
}

MeasuredCollective collective_of(const PiecewiseFit& fit, std::int32_t ranks, const std::string& source) {
    MeasuredCollective collective;
    collective.name = "all-reduce";
    collective.ranks = ranks;
    collective.source = source;
    collective.segments = rounded(fit.segments);
    collective.fit = Fit{fit.quality, fit.residuals};
    bool first = true;
    for (const FitResidual& point : fit.residuals) {
        if (!point.left_out.empty()) continue;
        if (first) collective.smallest_bytes = point.bytes;
        collective.largest_bytes = point.bytes;
        first = false;
    }
    return collective;
}

}  // namespace coppice
