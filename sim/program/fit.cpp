// coppice fit: from measurements to a cluster file.
#include "common/calibration/calibration.hpp"
#include "common/config/table_reader.hpp"
#include "common/diag/error.hpp"
#include "common/result/atomic_file.hpp"
#include "common/result/text_table.hpp"
#include "common/scenario/data_files.hpp"
#include "common/units/quantity.hpp"
#include "sim/program/command.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace coppice::program {

namespace po = boost::program_options;
using Align = TextTable::Align;

namespace {

const HelpText kHelp{
    "coppice fit MEASUREMENTS [options]",
    "Makes a cluster file from what coppice-run probe has measured: message times become a few straight pieces\n"
    "(latency + size / bandwidth), as many as the Bayesian information criterion chooses. Sizes that contradict "
    "larger\n"
    "ones, and outliers, are named and left out. What a probe cannot know (the GPU, its memory, the batch at which it\n"
    "is efficient) comes from the cluster --base.",
    "  mpirun -np 8 coppice-run probe -o probe.jsonl\n"
    "  coppice fit probe.jsonl\n"
    "  coppice fit probe.jsonl --base ethernet-10g --name mine -o mine.toml\n"};

std::string segments_table(const char* title, const PiecewiseFit& fit) {
    TextTable table({{title, Align::Left}, {"from"}, {"latency"}, {"bandwidth"}});
    for (std::size_t i = 0; i < fit.segments.size(); ++i) {
        const LinkSegment& segment = fit.segments[i];
        table.row({std::to_string(i + 1), format_rounded(segment.from_bytes, Dimension::Bytes),
                   format_rounded(segment.latency_s, Dimension::Seconds), format_bandwidth_both(segment.bytes_per_s)});
    }
    const FitQuality& quality = fit.quality;
    return table.text() +
           fmt::format("  {} points{}: off by {:.2f} % (mean), {:.2f} % (median), {:.2f} % (worst, at {})\n",
                       quality.points,
                       quality.left_out > 0 ? fmt::format(", {} left out", quality.left_out) : std::string(),
                       quality.mean_error * 100, quality.median_error * 100, quality.worst_error * 100,
                       format_rounded(quality.worst_bytes, Dimension::Bytes));
}

void name_left_out(const char* what, const PiecewiseFit& fit) {
    for (const FitResidual& residual : fit.residuals) {
        if (residual.left_out.empty()) continue;
        fmt::print(stderr, "coppice: {}, {}: {} measured, {} by the others: left out ({})\n", what,
                   format_rounded(residual.bytes, Dimension::Bytes),
                   format_rounded(residual.seconds, Dimension::Seconds),
                   format_rounded(residual.fitted_s, Dimension::Seconds), residual.left_out);
    }
}

std::string residual_lines(const char* what, const PiecewiseFit& fit) {
    std::string text = fmt::format(
        "# {}: {} points, {} left out; mean {:.3f} %, median {:.3f} %, worst {:.3f} %; "
        "criterion (BIC) {:.2f}\n#   {:>12} {:>14} {:>14} {:>9}\n",
        what, fit.quality.points, fit.quality.left_out, fit.quality.mean_error * 100, fit.quality.median_error * 100,
        fit.quality.worst_error * 100, fit.quality.criterion, "bytes", "measured (s)", "fitted (s)", "error (%)");
    for (const FitResidual& residual : fit.residuals)
        text += fmt::format("#   {:>12.0f} {:>14.9f} {:>14.9f} {:>+9.3f}{}\n", residual.bytes, residual.seconds,
                            residual.fitted_s, residual.error() * 100,
                            residual.left_out.empty() ? "" : "  left out: " + residual.left_out);
    return text;
}

FitOptions read_fit_options(const Arguments& read) {
    FitOptions options;
    options.segments = read.values["segments"].as<int>();
    if (options.segments < 0 || options.segments > kMostSegments)
        throw UserError({{"--segments", 0, 0},
                         "",
                         std::to_string(options.segments),
                         fmt::format("1 to {}, or 0 for as many as the criterion chooses", kMostSegments),
                         ""});
    const auto percent = [&](const char* name, double& value) {
        value = read.values[name].as<double>() / 100;
        if (!(value >= 0 && value <= 10))
            throw UserError({{fmt::format("--{}", name), 0, 0},
                             "",
                             fmt::format("{:g}", value * 100),
                             "a percentage from 0 to 1000",
                             ""});
    };
    percent("tolerance", options.tolerance);
    percent("outlier", options.outlier);
    return options;
}

std::string rate_line(const char* what, const std::optional<double>& bytes_per_s) {
    return bytes_per_s ? fmt::format("  {:<12}{}\n", what, format_rounded(*bytes_per_s, Dimension::BytesPerSecond))
                       : "";
}

void write_cluster(const Arguments& read, const Calibration& calibration) {
    const std::string file = read.text("output");
    if (!read.has("base"))
        throw UserError({{"command line", 0, 0},
                         "",
                         "-o without --base",
                         "--base with a cluster whose device is the one to be predicted: a probe does not measure it",
                         "coppice list clusters"});
    const std::string name = read.has("name") ? read.text("name") : std::filesystem::path(file).stem().string();
    const std::filesystem::path base =
        find_data("clusters", read.text("base"), std::filesystem::current_path(), {"--base", 0, 0}, "");
    const config::Value tree =
        calibrated_cluster(config::load_toml(base), calibration, name, read.has("device-is-host"));
    std::string content = residual_lines("one way", calibration.link);
    if (calibration.both_ways) content += residual_lines("both ways", *calibration.both_ways);
    content += config::to_toml(tree);
    // It must be what it says before it is there.
    const config::Value again = config::parse_toml(content, file);
    read_cluster(config::TableReader(again, ""));
    write_whole(file, content);
    fmt::print(stderr, "coppice: wrote {}\n", file);
}

}  // namespace

int run_fit(const std::vector<std::string>& arguments) {
    po::options_description options;
    options.add_options()("measurements", po::value<std::string>())("base,b",
                                                                    po::value<std::string>()->value_name("FILE|NAME"),
                                                                    "the cluster whose device and host are taken over")(
        "name,n", po::value<std::string>()->value_name("NAME"), "of the new cluster; default: the file's")(
        "device-is-host", "the device's rates of sums and updates are those measured: workers without GPUs")(
        "segments", po::value<int>()->default_value(0)->value_name("N"),
        "so many pieces; 0: as many as the criterion chooses")(
        "tolerance", po::value<double>()->default_value(5)->value_name("PERCENT"),
        "a larger message may take so much less time than a smaller one")(
        "outlier", po::value<double>()->default_value(10)->value_name("PERCENT"),
        "a point that misses by less is no outlier")("output,o", po::value<std::string>()->value_name("FILE"),
                                                     "writes the cluster file");
    const Arguments read = read_arguments(arguments, options, {"measurements"}, kHelp);
    if (read.help) return 0;
    require(read, "measurements", "a file that coppice-run probe has written", kHelp);
    const std::string file = read.text("measurements");
    const FitOptions fit_options = read_fit_options(read);
    const Calibration calibration = calibrate(parse_probe_records(read_whole(file), file), file, fit_options);
    std::string text = segments_table("one way", calibration.link);
    name_left_out("one way", calibration.link);
    if (calibration.both_ways) {
        text += segments_table("both ways", *calibration.both_ways);
        name_left_out("both ways", *calibration.both_ways);
    }
    text += fmt::format("  {:<12}{}\n", "overhead", format_rounded(calibration.overhead_s, Dimension::Seconds));
    text += fmt::format("  {:<12}{}, {} in flight\n", "segment",
                        format_rounded(static_cast<double>(calibration.segment_bytes), Dimension::Bytes),
                        calibration.segments_in_flight);
    text += rate_line("sums", calibration.sum_bytes_per_s) + rate_line("updates", calibration.update_bytes_per_s);
    for (const std::string& note : calibration.notes) fmt::print(stderr, "coppice: note: {}\n", note);
    if (read.has("output")) write_cluster(read, calibration);
    print(text);
    return 0;
}

}  // namespace coppice::program
