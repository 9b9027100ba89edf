#include "sim/program/figures.hpp"

#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/program/arguments.hpp"
#include "sim/program/gnuplot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace coppice::program {

namespace fs = std::filesystem;

const std::vector<FigureKind>& record_figures() {
    static const std::vector<FigureKind> kinds{
        {"speedup", "speedup against GPUs, with the ideal line and the published points"},
        {"step-time", "the step split into compute, exposed communication and update"},
        {"communication", "time to communicate the gradients against GPUs (FireCaffe's comparison of server and tree)"},
    };
    return kinds;
}

const FigureKind& comparison_figure() {
    static const FigureKind kind{"comparison", "predicted against measured times, from the comparison.csv of compare"};
    return kind;
}

std::vector<std::string> record_figures_of(const std::string& kind) {
    std::vector<std::string> names;
    for (const FigureKind& one : record_figures()) names.push_back(one.name);
    if (kind == "all") return names;
    if (std::find(names.begin(), names.end(), kind) != names.end()) return {kind};
    names.insert(names.end(), {"all", comparison_figure().name});
    throw UserError({{"command line", 0, 0}, "", "'" + kind + "'", "a kind of figure", did_you_mean(kind, names)});
}

std::vector<std::string> figure_formats(const std::string& option, const std::string& list) {
    static const std::vector<std::string> known{"pdf", "svg", "png"};
    std::vector<std::string> formats = split_commas(list);
    for (const std::string& format : formats)
        if (std::find(known.begin(), known.end(), format) == known.end())
            throw UserError(
                {{option, 0, 0}, "", "'" + format + "'", "a file format for figures", did_you_mean(format, known)});
    return formats;
}

std::vector<std::string> figure_formats_or_none(const std::string& option, const std::string& list) {
    return list == "none" ? std::vector<std::string>{} : figure_formats(option, list);
}

namespace {

// One figure compares strategies, everything else being equal.
void check_comparable(const fs::path& csv, const Record& first, const Record& other) {
    const auto same = [&](const char* field, const std::string& a, const std::string& b) {
        if (a != b)
            throw UserError({{csv.string()},
                             field,
                             fmt::format("both '{}' and '{}'", a, b),
                             "records that differ in strategy, GPUs and batch only",
                             "draw each from a file of its own"});
    };
    same("model", first.model, other.model);
    same("cluster", first.cluster, other.cluster);
    same("engine", first.engine, other.engine);
    same("scaling", first.scaling, other.scaling);
    same("gradient_type", first.gradient_type, other.gradient_type);
    same("scenario_hash", first.scenario_hash, other.scenario_hash);
}

}  // namespace

std::vector<fs::path> draw_records(const fs::path& csv, const std::vector<Record>& records,
                                   const std::vector<std::string>& kinds, const std::vector<std::string>& formats,
                                   const fs::path& folder) {
    const Record* first = nullptr;
    std::vector<std::string> strategies;
    std::set<std::int64_t> batches;  // global ones (strong scaling), or those per GPU (weak)
    bool weak = false;
    std::string title;
    for (const Record& record : records) {
        if (record.status != "ok") continue;
        if (!first) first = &record;
        check_comparable(csv, *first, record);
        if (std::find(strategies.begin(), strategies.end(), record.strategy_requested) == strategies.end())
            strategies.push_back(record.strategy_requested);
        weak = record.scaling == "weak";
        batches.insert(weak ? record.batch_per_gpu : record.global_batch);
        title = fmt::format("{} on {}", record.model, record.cluster);
    }
    if (strategies.empty()) throw UserError({{csv.string()}, "", "no record with status ok", "something to draw", ""});
    std::vector<fs::path> drawn;
    const HeldSignals signals;
    for (const std::string& kind : kinds) {
        for (const std::int64_t batch : batches) {
            const std::string name = batches.size() > 1 ? fmt::format("{}-batch{}", kind, batch) : kind;
            const std::vector<fs::path> files = draw({kind,
                                                      csv,
                                                      folder / name,
                                                      {fmt::format("{}", fmt::join(strategies, "\n")),
                                                       std::to_string(batch), weak ? "weak" : "strong", title}},
                                                     formats, signals);
            drawn.insert(drawn.end(), files.begin(), files.end());
        }
    }
    return drawn;
}

namespace {

using Names = std::map<std::int64_t, std::string>;

// Files that were joined by hand may have a number twice.
void add_name(Names& names, std::int64_t number, const std::string& name, const char* field, const fs::path& csv) {
    const auto [at, is_new] = names.emplace(number, name);
    if (!is_new && at->second != name)
        throw UserError({{csv.string()},
                         field,
                         fmt::format("{} for both '{}' and '{}'", number, at->second, name),
                         "a number of its own for each",
                         "coppice compare takes several predictions: --predicted NAME=FILE"});
}

std::string lines_of(const Names& names) {
    std::vector<std::string> lines;
    for (const auto& [number, name] : names) {
        lines.push_back(name);
        std::replace(lines.back().begin(), lines.back().end(), '\n', ' ');  // what follows would be another name
    }
    return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string numbers_of(const Names& names) {
    std::vector<std::int64_t> numbers;
    for (const auto& [number, name] : names) numbers.push_back(number);
    return fmt::format("{}", fmt::join(numbers, " "));
}

std::string error_lines(const std::vector<ErrorSummary>& summaries, const Names& groups) {
    std::vector<std::string> lines;
    for (const auto& [number, group] : groups) {
        const auto all = std::find_if(summaries.begin(), summaries.end(), [&name = group](const ErrorSummary& summary) {
            return summary.group == name && summary.strategy.empty();
        });
        lines.push_back(all->points == 0
                            ? "no point counts"
                            : fmt::format("error: median {:.1f} %, p95 {:.1f} %", all->median * 100, all->p95 * 100));
    }
    return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

std::vector<fs::path> draw_comparison(const fs::path& csv, const std::vector<ComparedPoint>& points,
                                      const std::vector<std::string>& formats, const fs::path& folder) {
    if (points.empty()) throw UserError({{csv.string()}, "", "no point", "something to draw", ""});
    Names groups;
    Names strategies;
    for (const ComparedPoint& point : points) {
        add_name(groups, point.group_index, point.group, "group_index", csv);
        add_name(strategies, point.strategy_index, point.strategy, "strategy_index", csv);
    }
    const HeldSignals signals;
    return draw({comparison_figure().name,
                 csv,
                 folder / comparison_figure().name,
                 {lines_of(strategies), numbers_of(strategies), lines_of(groups), numbers_of(groups),
                  error_lines(summaries_of(points), groups)}},
                formats, signals);
}

}  // namespace coppice::program
