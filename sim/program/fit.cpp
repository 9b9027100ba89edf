// coppice fit: from measured times to a cluster file. What each kind of measurement can tell, and how it is fitted:
// docs/calibration.md.
#include "common/calibration/collective_log.hpp"
#include "common/calibration/fit_point.hpp"
#include "common/calibration/fitted_parts.hpp"
#include "common/calibration/probe_fit.hpp"
#include "common/cluster/cluster_file.hpp"
#include "common/diag/error.hpp"
#include "common/result/atomic_file.hpp"
#include "common/scenario/scenario.hpp"
#include "common/version.hpp"
#include "sim/program/command.hpp"
#include "sim/program/fit_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

namespace coppice::program {

namespace fs = std::filesystem;
namespace po = boost::program_options;

namespace {

const HelpText kHelp{
    "coppice fit MEASUREMENTS... [options]",
    "Fits latency and bandwidth by message size to measured times: piecewise straight lines, as many as the data ask\n"
    "for (BIC). Sizes that contradict others, and outliers, are named and left out. MEASUREMENTS are of one kind,\n"
    "told by their content:\n"
    "  records of coppice-run probe    -> the link of a cluster, and the summing rate of its hosts\n"
    "  logs of osu_latency             -> the link of a cluster\n"
    "  logs of nccl-tests' all_reduce_perf or of osu_allreduce\n"
    "                                  -> that all-reduce on that number of ranks: the strategy 'measured'\n"
    "With -o the result is written as a cluster file, in which all else is from --base.",
    "  coppice fit probe.jsonl --base ethernet-10g --name mine -o mine.toml\n"
    "  coppice fit all_reduce_16.log\n"
    "  coppice fit osu_allreduce.log --ranks 64 --base mine.toml -o mine-64.toml\n"};

po::options_description fit_options() {
    const auto text = [] { return po::value<std::string>(); };
    po::options_description options;
    options.add_options()("measurements", po::value<std::vector<std::string>>()->composing())(
        "base,b", text()->value_name("FILE|NAME"),
        "the cluster from which everything comes that was not measured; needed with -o")(
        "output,o", text()->value_name("FILE"), "writes the cluster file there")(
        "name", text()->value_name("NAME"), "of the cluster; default: that of FILE")(
        "segments", text()->default_value("auto")->value_name("N"), "so many segments; auto: as many as BIC chooses")(
        "tolerance", po::value<double>()->default_value(5)->value_name("PERCENT"),
        "a larger size may take so much less time than a smaller one")(
        "outlier", po::value<double>()->default_value(10)->value_name("PERCENT"),
        "a size that misses by less is no outlier")("ranks,n", po::value<std::int32_t>()->value_name("N"),
                                                    "of the all-reduce, where its log does not tell")(
        "in-place", "the in-place times of a log of nccl-tests; default: out-of-place")(
        "device-is-host", "with a probe: the workers are CPUs, so the device's rates are those of the probe's memory")(
        "format,f", text()->default_value("table")->value_name("NAME"),
        "table, or jsonl: each point with its fitted time, on standard output");
    return options;
}

// What was fitted: one link, or all-reduces.
struct Fitted {
    std::string title;
    PiecewiseFit fit;
    std::string subject;  // of its points
    std::int32_t ranks = 0;
};
struct Result {
    std::vector<Fitted> fits;
    std::vector<ProbeCheck> checks;
    std::vector<std::string> notes;
    Cluster cluster;     // the base with what was fitted
    std::string source;  // of what was fitted
};

struct Request {
    std::vector<std::string> files;
    std::vector<std::string> texts;  // of the files
    FitOptions fit;
    std::optional<std::int32_t> ranks;
    bool in_place = false;
    bool device_is_host = false;
    std::optional<Cluster> base;
    std::string names() const {
        std::vector<std::string> all;
        for (const std::string& file : files) all.push_back(fs::path(file).filename().string());
        return fmt::format("{}", fmt::join(all, ", "));
    }
};

int segments_option(const Arguments& read) {
    const std::string text = read.text("segments");
    if (text == "auto") return 0;
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMostSegments)
        throw UserError({{"--segments", 0, 0},
                         "",
                         "'" + text + "'",
                         fmt::format("'auto' or a number from 1 to {}", kMostSegments),
                         ""});
    return value;
}

Request read_request(const Arguments& read) {
    Request request;
    request.files = read.values["measurements"].as<std::vector<std::string>>();
    request.fit.segments = segments_option(read);
    request.fit.outlier = percent(read, "outlier", 1000);
    request.fit.tolerance = percent(read, "tolerance", 100);
    if (read.has("ranks")) {
        request.ranks = read.values["ranks"].as<std::int32_t>();
        if (*request.ranks < 2 || *request.ranks > 1'000'000)
            throw UserError({{"--ranks", 0, 0}, "", std::to_string(*request.ranks), "at least 2 ranks", ""});
    }
    request.in_place = read.has("in-place");
    request.device_is_host = read.has("device-is-host");
    if (read.has("base")) request.base = load_cluster(read.text("base"), "--base").cluster;
    std::set<std::string> seen;
    for (const std::string& file : request.files) {
        // Twice the same times would only look like more knowledge.
        if (!seen.insert(file).second)
            throw UserError({{file}, "", "the same file twice", "each measurement once", ""});
        request.texts.push_back(read_whole(file));
    }
    return request;
}

enum class Kind { Probe, Log };

Kind kind_of(const std::string& text, const std::string& file) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos)
        throw UserError({{file}, "", "an empty file", "records of coppice-run probe, or a log", ""});
    if (text[first] == '{') {
        const std::string line = text.substr(first, text.find('\n', first) - first);
        if (line.find("\"coppice.record/") != std::string::npos)
            throw UserError({{file},
                             "",
                             "records of predictions or of coppice-run bench",
                             "records of coppice-run probe, or a log",
                             "an all-reduce by coppice is predicted from its link: mpirun ... coppice-run probe"});
        return Kind::Probe;
    }
    if (looks_like_log(text)) return Kind::Log;
    throw UserError({{file},
                     "",
                     "no measurement that coppice knows",
                     "records of coppice-run probe, or a log of nccl-tests (all_reduce_perf) or of the OSU benchmarks "
                     "(osu_allreduce, osu_latency)",
                     "the whole output of the tool, with its header"});
}

void require_sizes(const std::vector<TimedSize>& points, const SourceLocation& where) {
    std::set<double> sizes;
    for (const TimedSize& point : points) sizes.insert(point.bytes);
    if (sizes.size() < static_cast<std::size_t>(kLeastPointsOfSegment))
        throw UserError({where, "",
                         fmt::format("usable times of {} size{}", sizes.size(), sizes.size() == 1 ? "" : "s"),
                         fmt::format("at least {} sizes", kLeastPointsOfSegment), ""});
}

Result fit_probes(const Request& request) {
    for (const auto& [given, option] :
         {std::pair{request.ranks.has_value(), "--ranks"}, {request.in_place, "--in-place"}})
        if (given) throw UserError({{option, 0, 0}, "", "records of coppice-run probe", "a log of a collective", ""});
    std::vector<ProbeRecord> records;
    for (std::size_t i = 0; i < request.files.size(); ++i)
        for (ProbeRecord& record : parse_probe_records(request.texts[i], request.files[i]))
            records.push_back(std::move(record));
    ProbeFit probe = fit_probe(request.base.value_or(Cluster{}), records, {request.files.front(), 0, 0}, request.fit,
                               request.device_is_host);
    Result result;
    result.source = fmt::format("{}: {}", describe_probe(records), request.names());
    result.fits.push_back(
        {fmt::format("link, overhead {}: {}", format_rounded(probe.overhead_s, Dimension::Seconds), result.source),
         probe.link, "link", 0});
    if (probe.both_ways) result.fits.push_back({"while the receiver sends as much:", *probe.both_ways, "both-ways", 0});
    result.checks = std::move(probe.checks);
    result.notes = std::move(probe.notes);
    result.cluster = std::move(probe.cluster);
    return result;
}

// How many ranks, and who says so.
std::pair<std::int32_t, std::string> ranks_of(const MeasuredLog& log, std::optional<std::int32_t> given) {
    if (log.ranks && given && *log.ranks != *given)
        throw UserError({{"--ranks", 0, 0},
                         "",
                         std::to_string(*given),
                         fmt::format("{}, which {} of {} tells", *log.ranks, log.ranks_told, log.file),
                         ""});
    if (!log.ranks && !given)
        throw UserError({{log.file},
                         "",
                         fmt::format("no number of ranks ({})", log.ranks_told),
                         "--ranks N, since an all-reduce is that of so many ranks",
                         ""});
    return given && !log.ranks ? std::pair{*given, std::string("--ranks")} : std::pair{*log.ranks, log.ranks_told};
}

void name_rows(const MeasuredLog& log, std::vector<std::string>& notes) {
    for (const LeftOutRow& row : log.left_out)
        notes.push_back(fmt::format("{}:{}: row of {:.0f} B left out: {}", log.file, row.line, row.bytes, row.reason));
    if (log.other_lines > 0)
        notes.push_back(fmt::format("{}: {} line{} no part of the table", log.file, log.other_lines,
                                    log.other_lines == 1 ? " is" : "s are"));
}

void fit_messages(const Request& request, const std::vector<MeasuredLog>& logs, Result& result) {
    if (request.ranks)
        throw UserError(
            {{"--ranks", 0, 0}, "", "logs of osu_latency, between two ranks", "the log of a collective", ""});
    std::vector<TimedSize> points;
    for (const MeasuredLog& log : logs) points.insert(points.end(), log.points.begin(), log.points.end());
    require_sizes(points, {logs.front().file});
    const PiecewiseFit fit = fit_piecewise(points, request.fit);
    result.source = fmt::format("osu_latency: {}", request.names());
    result.cluster.link = link_of(fit, 0);
    result.notes.emplace_back("the overhead is 0: the sender's part is in osu_latency's time, and so in the latency");
    result.fits.push_back({fmt::format("link: {}", result.source), fit, "link", 0});
}

void fit_collectives(const Request& request, const std::vector<MeasuredLog>& logs, Result& result) {
    struct Group {
        const MeasuredLog* first = nullptr;
        std::vector<TimedSize> points;
        std::vector<std::string> files;
        std::string told;
    };
    std::map<std::int32_t, Group> by_ranks;
    for (const MeasuredLog& log : logs) {
        const auto [ranks, told] = ranks_of(log, request.ranks);
        Group& group = by_ranks[ranks];
        if (!group.first) group.first = &log;
        if (group.first->tool != log.tool)
            throw UserError(
                {{log.file},
                 "",
                 fmt::format("{} on {} ranks", log.tool, ranks),
                 fmt::format("{}, as in {}: two tools measure two all-reduces", group.first->tool, group.first->file),
                 "fit one at a time"});
        group.points.insert(group.points.end(), log.points.begin(), log.points.end());
        group.files.push_back(fs::path(log.file).filename().string());
        group.told = told;
    }
    std::vector<std::string> sources;
    for (const auto& [ranks, group] : by_ranks) {
        require_sizes(group.points, {group.first->file});
        const PiecewiseFit fit = fit_piecewise(group.points, request.fit);
        const std::string source =
            fmt::format("{}, {} times: {}", group.first->tool, group.first->column, fmt::join(group.files, ", "));
        MeasuredCollective entry = collective_of(fit, ranks, source);
        auto& kept = result.cluster.collectives;
        std::erase_if(
            kept, [&](const MeasuredCollective& one) { return one.name == entry.name && one.ranks == entry.ranks; });
        kept.push_back(std::move(entry));
        result.fits.push_back(
            {fmt::format("all-reduce on {} ranks ({}): {}", ranks, group.told, source), fit, "all-reduce", ranks});
        sources.push_back(fmt::format("all-reduce on {} ranks: {}", ranks, source));
    }
    result.source = fmt::format("{}", fmt::join(sources, "; "));
}

Result fit_logs(const Request& request) {
    if (request.device_is_host)
        throw UserError({{"--device-is-host", 0, 0},
                         "",
                         "logs, in which are no rates of sums and updates",
                         "records of coppice-run probe",
                         ""});
    std::vector<MeasuredLog> logs;
    Result result;
    result.cluster = request.base.value_or(Cluster{});
    for (std::size_t i = 0; i < request.files.size(); ++i) {
        logs.push_back(parse_log(request.texts[i], request.files[i], request.in_place));
        if (logs.back().subject != logs.front().subject)
            throw UserError({{logs.back().file},
                             "",
                             fmt::format("a log of {}", logs.back().tool),
                             fmt::format("the same kind as {} ({})", logs.front().file, logs.front().tool),
                             "fit them one after the other: the first result is the --base of the second"});
        name_rows(logs.back(), result.notes);
    }
    if (logs.front().subject == LogSubject::Message)
        fit_messages(request, logs, result);
    else
        fit_collectives(request, logs, result);
    return result;
}

Result fit_all(const Request& request) {
    const Kind kind = kind_of(request.texts.front(), request.files.front());
    for (std::size_t i = 1; i < request.files.size(); ++i)
        if (kind_of(request.texts[i], request.files[i]) != kind)
            throw UserError({{request.files[i]},
                             "",
                             kind == Kind::Probe ? "a log" : "records of coppice-run probe",
                             fmt::format("the same kind as {}", request.files.front()),
                             "fit them one after the other: the first result is the --base of the second"});
    return kind == Kind::Probe ? fit_probes(request) : fit_logs(request);
}

// Where the file goes and what its cluster is called, checked before anything is computed.
struct Output {
    fs::path file;
    std::string name;
};

std::optional<Output> output_of(const Arguments& read) {
    if (!read.has("output")) {
        if (read.has("name"))
            throw UserError({{"--name", 0, 0}, "", "no -o FILE", "a file whose cluster gets this name", ""});
        return std::nullopt;
    }
    Output output{read.text("output"), ""};
    if (!read.has("base"))
        throw UserError({{"--output", 0, 0},
                         "",
                         "no --base",
                         "a cluster to begin with: devices, memory and what else was not measured are from it",
                         "--base ethernet-10g, or a file; without -o nothing else is needed"});
    output.name = read.has("name") ? read.text("name") : output.file.stem().string();
    const bool good = !output.name.empty() && std::all_of(output.name.begin(), output.name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) ||
               std::string_view("-_.+").find(c) != std::string_view::npos;
    });
    if (!good)
        throw UserError({{read.has("name") ? "--name" : "--output", 0, 0},
                         "",
                         "'" + output.name + "'",
                         "a name of letters, digits, '-', '_', '.' and '+'",
                         "--name NAME"});
    return output;
}

void write_cluster(const Output& output, const Request& request, Result& result) {
    const Cluster& base = *request.base;
    Cluster& cluster = result.cluster;
    cluster.name = output.name;
    cluster.title = fmt::format("{}, with measured times", base.title);
    cluster.source = fmt::format("{}; all else: cluster {}{}", result.source, base.name,
                                 base.source.empty() ? "" : fmt::format(" ({})", base.source));
    const std::string text =
        cluster_toml(cluster, fmt::format("Written by coppice fit {}. How it is made: docs/calibration.md.", kVersion));
    // What is written can be read: a rate or a duration that no machine has is found here.
    const config::Value tree = config::parse_toml(text, output.file.string());
    read_cluster(config::TableReader(tree, ""));
    write_whole(output.file, text);
    fmt::print(stderr, "coppice: wrote {}\n", output.file.string());
}

}  // namespace

int run_fit(const std::vector<std::string>& arguments) {
    const Arguments read = read_arguments(arguments, fit_options(), {"measurements"}, kHelp);
    if (read.help) return 0;
    require(read, "measurements", "measurements", kHelp);
    const std::string format = choice(read, "format", {"table", "jsonl"});
    const std::optional<Output> output = output_of(read);
    const Request request = read_request(read);
    Result result = fit_all(request);

    std::string text;
    for (const Fitted& fitted : result.fits) {
        if (format == "jsonl")
            text += to_json_lines(points_of(fitted.fit, fitted.subject, fitted.ranks));
        else
            text += (text.empty() ? "" : "\n") + fit_table(fitted.title, fitted.fit);
    }
    if (format == "table" && !result.checks.empty()) text += "\n" + check_table(result.checks);
    for (const std::string& note : result.notes) fmt::print(stderr, "coppice: {}\n", note);
    for (const Fitted& fitted : result.fits)
        for (const std::string& warning : fit_warnings(fitted.fit, request.fit))
            fmt::print(stderr, "coppice: warning: {}{}\n",
                       result.fits.size() == 1 ? ""
                       : fitted.ranks > 0      ? fmt::format("{} ranks: ", fitted.ranks)
                                               : fitted.subject + ": ",
                       warning);
    if (output) write_cluster(*output, request, result);
    print(text);
    return 0;
}

}  // namespace coppice::program
