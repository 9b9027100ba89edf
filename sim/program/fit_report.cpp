#include "sim/program/fit_report.hpp"

#include "common/program/numbers.hpp"
#include "common/result/text_table.hpp"
#include "common/units/quantity.hpp"

#include <fmt/format.h>

namespace coppice::program {

using Align = TextTable::Align;

namespace {

std::string bytes_text(double bytes) {
    return grouped(static_cast<std::uint64_t>(bytes)) + " B";
}
std::string seconds_text(double seconds) {
    return format_rounded(seconds, Dimension::Seconds);
}
std::string percent(double ratio) {
    return fmt::format("{:.2f} %", ratio * 100);
}

}  // namespace

std::string fit_table(const std::string& title, const PiecewiseFit& fit) {
    TextTable table({{"from"}, {"latency"}, {"bandwidth"}});
    for (const LinkSegment& segment : fit.segments)
        table.row({bytes_text(segment.from_bytes), seconds_text(segment.latency_s),
                   format_bandwidth_both(segment.bytes_per_s)});
    const FitQuality& quality = fit.quality;
    std::string text = fmt::format("{}\n{}", title, table.text());
    text += fmt::format("  {} of {} sizes; errors: mean {}, median {}, worst {} (at {})\n", quality.points,
                        quality.points + quality.left_out, percent(quality.mean_error), percent(quality.median_error),
                        percent(quality.worst_error), bytes_text(quality.worst_bytes));
    text += "  BIC by number of segments:";
    for (std::size_t i = 0; i < fit.criteria.size(); ++i)
        text += fmt::format(" {}{}: {:.1f}{}", i + 1 == fit.segments.size() ? "[" : "", i + 1, fit.criteria[i],
                            i + 1 == fit.segments.size() ? "]" : "");
    return text + "\n";
}

std::string check_table(const std::vector<ProbeCheck>& checks) {
    if (checks.empty()) return "";
    TextTable table({{"", Align::Left}, {"size"}, {"senders"}, {"measured"}, {"predicted"}, {"ratio"}});
    for (const ProbeCheck& check : checks)
        table.row({check.what, bytes_text(static_cast<double>(check.bytes)), std::to_string(check.senders),
                   seconds_text(check.measured_s), seconds_text(check.predicted_s),
                   fmt::format("{:.2f}", check.ratio())});
    return "Several messages at once, against the link one way (its two ways apart, and shared fairly):\n" +
           table.text();
}

std::vector<std::string> fit_warnings(const PiecewiseFit& fit, const FitOptions& options) {
    std::vector<std::string> warnings;
    for (const FitResidual& point : fit.residuals)
        if (!point.left_out.empty())
            warnings.push_back(fmt::format(
                "left out: {} in {} ({}; fitted {}, {})", bytes_text(point.bytes), seconds_text(point.seconds),
                point.left_out == "not monotone" ? fmt::format("not monotone within {:g} %", options.tolerance * 100)
                                                 : point.left_out,
                seconds_text(point.fitted_s), signed_percent(point.error())));
    for (const FittedDrop& drop : fitted_drops(fit.segments, options.tolerance))
        warnings.push_back(fmt::format("the fitted time falls at {}, from {} to {}", bytes_text(drop.bytes),
                                       seconds_text(drop.before_s), seconds_text(drop.after_s)));
    if (const auto reason = unreliable(fit.quality))
        warnings.push_back(
            fmt::format("do not rely on this fit: {}; the errors that it states are those of "
                        "the sizes that were kept",
                        *reason));
    if (options.segments > 0 && fit.segments.size() < static_cast<std::size_t>(options.segments))
        warnings.push_back(fmt::format("{} segments instead of {}: each needs {} sizes", fit.segments.size(),
                                       options.segments, kLeastPointsOfSegment));
    return warnings;
}

}  // namespace coppice::program
