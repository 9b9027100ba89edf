// coppice compare: how far predictions are from what was measured.
#include "common/comparison/comparison.hpp"
#include "common/diag/error.hpp"
#include "common/result/atomic_file.hpp"
#include "common/result/text_table.hpp"
#include "common/units/quantity.hpp"
#include "sim/program/command.hpp"
#include "sim/program/figures.hpp"
#include "sim/program/held_signals.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

namespace coppice::program {

namespace fs = std::filesystem;
namespace po = boost::program_options;
using Align = TextTable::Align;

namespace {

const HelpText kHelp{
    "coppice compare PREDICTED MEASURED [options]",
    "Joins predictions with measurements by their key (model, gradients, mode, strategy, GPUs, servers, batch) and\n"
    "says how far they are apart: error = predicted / measured - 1, its median, 95th percentile (nearest rank) and\n"
    "worst, and whether the strategies are in the right order where their measured times differ by more than "
    "--differ.\n"
    "PREDICTED and MEASURED are records (.csv, .jsonl) or folders with records.csv. Predictions of different clusters\n"
    "or engines are compared apart.\n"
    "-o DIR writes comparison.csv, comparison.jsonl and a figure, predicted against measured, with a panel for each "
    "of\n"
    "these.",
    "  coppice compare predicted/ measured/\n"
    "  coppice compare calibrated/ measured/records.csv --predicted nominal=nominal/ --min-time 5ms\n"
    "  coppice compare predicted/ measured/ -o result --figures pdf\n"
    "  coppice compare predicted/ measured/ --limit-median 5 --limit-p95 12      exit code 4 if it is worse\n"};

constexpr double kMostPercent = 1e6;

std::vector<Record> read_records(const std::string& name) {
    fs::path file = name;
    if (fs::is_directory(file)) file /= "records.csv";
    const std::string text = read_whole(file);
    return file.extension() == ".jsonl" ? parse_json_lines(text, file.string()) : parse_csv(text, file.string());
}

NamedRecords named(const std::string& assignment) {
    const std::size_t sign = assignment.find('=');
    if (sign == std::string::npos || sign == 0)
        throw UserError({{"--predicted", 0, 0}, "", "'" + assignment + "'", "NAME=FILE", ""});
    const std::string file = assignment.substr(sign + 1);
    return {assignment.substr(0, sign), file, read_records(file)};
}

double seconds(const std::string& text, const char* option) {
    const auto value = parse_quantity(text, Dimension::Seconds);
    if (const auto* problem = std::get_if<QuantityProblem>(&value))
        throw UserError({{option, 0, 0}, "", "'" + text + "'", problem->expected, problem->hint});
    return std::get<double>(value);
}

std::string points_table(const Comparison& comparison, const std::string& group) {
    TextTable table({{"mode", Align::Left},
                     {"strategy", Align::Left},
                     {"GPUs"},
                     {"gradients"},
                     {"batch"},
                     {"predicted"},
                     {"measured"},
                     {"error"},
                     {"", Align::Left}});
    for (const ComparedPoint& point : comparison.points) {
        if (point.group != group) continue;
        table.row({point.mode, point.strategy, std::to_string(point.gpus), std::to_string(point.gradient_bytes),
                   point.global_batch > 0 ? std::to_string(point.global_batch) : "",
                   format_rounded(point.predicted_s, Dimension::Seconds),
                   format_rounded(point.measured_s, Dimension::Seconds), fmt::format("{:+.1f} %", point.error() * 100),
                   point.counted ? "" : "not counted"});
    }
    return table.text();
}

std::string summary_table(const Comparison& comparison, const std::string& group) {
    TextTable table({{"error of", Align::Left},
                     {"points"},
                     {"not counted"},
                     {"bias"},
                     {"median"},
                     {"p95"},
                     {"worst"},
                     {"where", Align::Left}});
    const auto text = [](double error) { return fmt::format("{:.1f} %", error * 100); };
    for (const ErrorSummary& summary : comparison.summaries) {
        if (summary.group != group) continue;
        const bool any = summary.points > 0;
        table.row({summary.strategy.empty() ? "all" : summary.strategy, std::to_string(summary.points),
                   summary.not_counted > 0 ? std::to_string(summary.not_counted) : "",
                   any ? fmt::format("{:+.1f} %", summary.bias * 100) : "", any ? text(summary.median) : "",
                   any ? text(summary.p95) : "", any ? text(summary.worst) : "", summary.worst_key});
    }
    return table.text();
}

std::string order_lines(const Comparison& comparison, const std::string& group, double differ) {
    std::size_t all = 0;
    std::size_t kept = 0;
    std::string broken;
    for (const OrderPair& pair : comparison.pairs) {
        if (pair.group != group) continue;
        ++all;
        if (pair.kept()) {
            ++kept;
            continue;
        }
        broken +=
            fmt::format("    not kept: {} is {:.1f} % faster than {}, predicted {:.1f} % slower\n", pair.faster_key,
                        (pair.measured_ratio - 1) * 100, pair.slower_key, (1 / pair.predicted_ratio - 1) * 100);
    }
    return fmt::format("  order of strategies: {} of {} pairs kept (those that differ by more than {:g} %)\n", kept,
                       all, differ * 100) +
           broken;
}

void name_lonely(const std::vector<std::string>& keys, const char* what) {
    if (keys.empty()) return;
    constexpr std::size_t kMost = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(kMost, keys.size()); ++i) text += "\n  " + keys[i];
    if (keys.size() > kMost) text += "\n  ...";
    fmt::print(stderr, "coppice: {} point{} only {}:{}\n", keys.size(), keys.size() == 1 ? "" : "s", what, text);
}

// Of the first group, that of PREDICTED: the others are there to be seen beside it.
bool within_limits(const Arguments& read, const Comparison& comparison) {
    bool within = true;
    const ErrorSummary& summary = comparison.summaries.front();
    const auto check = [&](const char* option, const char* what, double error) {
        if (!read.has(option) || error <= percent(read, option, kMostPercent)) return;
        fmt::print(stderr, "coppice: {}: the {} error is {:.2f} %, more than --{} {:g}\n", summary.group, what,
                   error * 100, option, read.values[option].as<double>());
        within = false;
    };
    if (summary.points == 0 && (read.has("limit-median") || read.has("limit-p95"))) {
        fmt::print(stderr, "coppice: {}: no point counts\n", summary.group);
        return false;
    }
    check("limit-median", "median", summary.median);
    check("limit-p95", "95th percentile", summary.p95);
    return within;
}

std::string text_of(const Comparison& comparison, const std::string& format, double differ) {
    if (format == "csv") return to_csv(comparison.points);
    if (format == "jsonl") return to_json_lines(comparison.points);
    std::string text;
    for (const ErrorSummary& summary : comparison.summaries) {
        if (!summary.strategy.empty()) continue;
        text += fmt::format("{}{}\n\n{}\n{}{}", text.empty() ? "" : "\n", summary.group,
                            points_table(comparison, summary.group), summary_table(comparison, summary.group),
                            order_lines(comparison, summary.group, differ));
    }
    return text;
}

void write_points(const fs::path& folder, const std::vector<ComparedPoint>& points) {
    prepare_folder(folder);
    const HeldSignals signals;
    write_whole(folder / "comparison.csv", to_csv(points));
    write_whole(folder / "comparison.jsonl", to_json_lines(points));
    signals.check();
}

// After the tables are printed and the limits looked at: neither needs gnuplot.
void draw_points(const fs::path& folder, const std::vector<ComparedPoint>& points,
                 const std::vector<std::string>& formats) {
    std::string written = "comparison.csv, comparison.jsonl";
    for (const fs::path& figure : draw_comparison(folder / "comparison.csv", points, formats, folder))
        written += ", " + figure.filename().string();
    fmt::print(stderr, "coppice: wrote {} to {}\n", written, folder.string());
}

}  // namespace

int run_compare(const std::vector<std::string>& arguments) {
    po::options_description options;
    options.add_options()("predictions", po::value<std::string>())("measurements", po::value<std::string>())(
        "predicted", po::value<std::vector<std::string>>()->value_name("NAME=FILE"),
        "another prediction of the same, compared apart; may be repeated")(
        "min-time", po::value<std::string>()->default_value("0 s")->value_name("TIME"),
        "points measured in less are shown and not counted")(
        "differ", po::value<double>()->default_value(10)->value_name("PERCENT"),
        "strategies must be in order where their times differ by more")(
        "limit-median", po::value<double>()->value_name("PERCENT"), "exit code 4 if the median error is greater")(
        "limit-p95", po::value<double>()->value_name("PERCENT"), "exit code 4 if the 95th percentile is greater")(
        "format,f", po::value<std::string>()->default_value("table")->value_name("NAME"),
        "table; csv or jsonl: the joined points")("output,o", po::value<std::string>()->value_name("DIR"),
                                                  "also writes the joined points and their figure there")(
        "figures", po::value<std::string>()->default_value("pdf,svg,png")->value_name("LIST"),
        "formats of the figure in DIR, or none");
    const Arguments read = read_arguments(arguments, options, {"predictions", "measurements"}, kHelp);
    if (read.help) return 0;
    require(read, "predictions", "records of predictions", kHelp);
    require(read, "measurements", "records of measurements", kHelp);
    const std::string format = choice(read, "format", {"table", "csv", "jsonl"});
    const std::vector<std::string> figures = figure_formats_or_none("--figures", read.text("figures"));
    const ComparisonOptions how{seconds(read.text("min-time"), "--min-time"), percent(read, "differ", kMostPercent)};
    std::vector<NamedRecords> predicted{{"", read.text("predictions"), read_records(read.text("predictions"))}};
    if (read.has("predicted"))
        for (const std::string& one : read.values["predicted"].as<std::vector<std::string>>())
            predicted.push_back(named(one));
    const NamedRecords measured{"", read.text("measurements"), read_records(read.text("measurements"))};
    const Comparison comparison = compare(predicted, measured, how);
    if (read.has("output")) write_points(read.text("output"), comparison.points);
    name_lonely(comparison.only_predicted, "predicted");
    name_lonely(comparison.only_measured, "measured");
    if (comparison.not_applicable > 0)
        fmt::print(stderr, "coppice: {} records without a time (n/a) are left out\n", comparison.not_applicable);
    print(text_of(comparison, format, how.differ));
    const bool within = within_limits(read, comparison);
    if (read.has("output")) draw_points(read.text("output"), comparison.points, figures);
    return static_cast<int>(within ? ExitCode::Ok : ExitCode::Difference);
}

}  // namespace coppice::program
