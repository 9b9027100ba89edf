#include "common/comparison/comparison.hpp"

#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/result/csv.hpp"
#include "common/result/csv_reader.hpp"
#include "common/result/json_lines.hpp"
#include "common/units/median.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <type_traits>

namespace coppice {

namespace {

std::optional<double> time_of(const Record& record) {
    const std::optional<double>& seconds = record.mode == "all-reduce" ? record.allreduce_s : record.step_s;
    return seconds && *seconds > 0 ? seconds : std::nullopt;
}

struct Side {
    std::map<std::string, const Record*> by_key;
    std::vector<std::string> keys;  // in the order of the file
};

void add(Side& side, const Record& record, const std::string& file) {
    if (!side.by_key.emplace(record.key, &record).second)
        throw UserError({{file},
                         "key",
                         fmt::format("'{}' twice", record.key),
                         "each point once: which of the two is to be compared?",
                         ""});
    side.keys.push_back(record.key);
}

Side side_of_measured(const NamedRecords& measured, std::size_t& not_applicable) {
    Side side;
    for (const Record& record : measured.records) {
        if (record.kind != "measurement") continue;
        if (time_of(record) && record.status == "ok")
            add(side, record, measured.file);
        else
            ++not_applicable;
    }
    return side;
}

std::vector<std::pair<std::string, Side>> groups_of_predicted(const std::vector<NamedRecords>& predicted,
                                                              std::size_t& not_applicable) {
    std::vector<std::pair<std::string, Side>> groups;
    for (const NamedRecords& file : predicted) {
        for (const Record& record : file.records) {
            if (record.kind == "measurement") continue;
            if (!time_of(record)) {
                ++not_applicable;
                continue;
            }
            const std::string source = record.cluster + ", " + record.engine;
            const std::string name = file.name.empty() ? source : fmt::format("{} ({})", file.name, source);
            auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& one) { return one.first == name; });
            if (found == groups.end()) found = groups.insert(groups.end(), {name, {}});
            add(found->second, record, file.file);
        }
    }
    return groups;
}

ComparedPoint join(const std::string& group, const Record& predicted, const Record& measured, double least_s) {
    ComparedPoint point;
    point.group = group;
    point.key = measured.key;
    point.strategy = measured.strategy_requested;
    point.mode = measured.mode;
    point.gpus = measured.gpus;
    point.gradient_bytes = measured.gradient_bytes;
    point.global_batch = measured.global_batch;
    point.predicted_s = *time_of(predicted);
    point.measured_s = *time_of(measured);
    point.counted = point.measured_s >= least_s;
    return point;
}

std::vector<std::string> names_of(const std::vector<ComparedPoint>& points, std::string ComparedPoint::*name) {
    std::vector<std::string> names;
    for (const ComparedPoint& point : points)
        if (std::find(names.begin(), names.end(), point.*name) == names.end()) names.push_back(point.*name);
    return names;
}

std::int64_t number_of(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) - names.begin() + 1;
}

void number_names(std::vector<ComparedPoint>& points) {
    const auto groups = names_of(points, &ComparedPoint::group);
    const auto strategies = names_of(points, &ComparedPoint::strategy);
    for (ComparedPoint& point : points) {
        point.group_index = number_of(groups, point.group);
        point.strategy_index = number_of(strategies, point.strategy);
    }
}

ErrorSummary summarise(const std::vector<ComparedPoint>& points, const std::string& group,
                       const std::string& strategy) {
    ErrorSummary summary;
    summary.group = group;
    summary.strategy = strategy;
    std::vector<double> signed_errors;
    std::vector<double> errors;
    for (const ComparedPoint& point : points) {
        if (point.group != group || (!strategy.empty() && point.strategy != strategy)) continue;
        if (!point.counted) {
            ++summary.not_counted;
            continue;
        }
        signed_errors.push_back(point.error());
        errors.push_back(std::abs(point.error()));
        if (errors.back() >= summary.worst) {
            summary.worst = errors.back();
            summary.worst_key = point.key;
        }
    }
    summary.points = errors.size();
    if (errors.empty()) return summary;
    summary.bias = median(signed_errors);
    summary.median = median(errors);
    summary.p95 = nearest_rank(errors, 0.95);
    return summary;
}

std::vector<OrderPair> pairs_of(const std::vector<ComparedPoint>& points, double differ) {
    std::vector<OrderPair> pairs;
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = i + 1; j < points.size(); ++j) {
            const ComparedPoint& a = points[i];
            const ComparedPoint& b = points[j];
            const bool alike = a.group == b.group && a.mode == b.mode && a.gpus == b.gpus &&
                               a.gradient_bytes == b.gradient_bytes && a.global_batch == b.global_batch;
            if (!alike || !a.counted || !b.counted || a.strategy == b.strategy) continue;
            const ComparedPoint& faster = a.measured_s <= b.measured_s ? a : b;
            const ComparedPoint& slower = a.measured_s <= b.measured_s ? b : a;
            if (slower.measured_s <= (1 + differ) * faster.measured_s) continue;
            pairs.push_back({faster.group, faster.key, slower.key, slower.measured_s / faster.measured_s,
                             slower.predicted_s / faster.predicted_s});
        }
    }
    return pairs;
}

[[noreturn]] void nothing_joins(const std::vector<std::pair<std::string, Side>>& groups, const Side& measured,
                                const std::string& measured_file) {
    if (measured.keys.empty())
        throw UserError({{measured_file}, "kind", "no measurement with a time", "records of coppice-run", ""});
    if (groups.empty())
        throw UserError({{measured_file},
                         "",
                         "measurements, and no prediction to hold against them",
                         "records of coppice predict",
                         ""});
    const std::string& key = measured.keys.front();
    const std::string near = did_you_mean(key, groups.front().second.keys);
    throw UserError({{measured_file},
                     "key",
                     fmt::format("'{}', as no prediction has it", key),
                     "the same model, gradients, mode, strategy, GPUs, servers and batch on both sides",
                     near.empty() ? fmt::format("a prediction's: '{}'", groups.front().second.keys.front()) : near});
}

}  // namespace

double nearest_rank(std::vector<double> values, double share) {
    COPPICE_CHECK(!values.empty(), "a percentile of nothing");
    std::sort(values.begin(), values.end());
    // 95 % of 20 is 19, not a rounding error above it.
    const double rank = std::ceil(share * static_cast<double>(values.size()) - 1e-9);
    return values[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

std::vector<ErrorSummary> summaries_of(const std::vector<ComparedPoint>& points) {
    std::vector<ErrorSummary> summaries;
    for (const std::string& group : names_of(points, &ComparedPoint::group)) {
        summaries.push_back(summarise(points, group, ""));
        std::vector<ComparedPoint> own;
        std::copy_if(points.begin(), points.end(), std::back_inserter(own),
                     [&](const ComparedPoint& point) { return point.group == group; });
        for (const std::string& strategy : names_of(own, &ComparedPoint::strategy))
            summaries.push_back(summarise(own, group, strategy));
    }
    return summaries;
}

Comparison compare(const std::vector<NamedRecords>& predicted, const NamedRecords& measured,
                   const ComparisonOptions& options) {
    Comparison comparison;
    const Side measurements = side_of_measured(measured, comparison.not_applicable);
    const auto groups = groups_of_predicted(predicted, comparison.not_applicable);
    std::set<std::string> joined;
    std::set<std::string> lonely;
    for (const auto& [group, side] : groups) {
        for (const std::string& key : side.keys) {
            const auto found = measurements.by_key.find(key);
            if (found == measurements.by_key.end()) {
                if (lonely.insert(key).second) comparison.only_predicted.push_back(key);
                continue;
            }
            joined.insert(key);
            comparison.points.push_back(join(group, *side.by_key.at(key), *found->second, options.least_s));
        }
    }
    if (joined.empty()) nothing_joins(groups, measurements, measured.file);
    for (const std::string& key : measurements.keys)
        if (joined.count(key) == 0) comparison.only_measured.push_back(key);
    number_names(comparison.points);
    comparison.summaries = summaries_of(comparison.points);
    comparison.pairs = pairs_of(comparison.points, options.differ);
    return comparison;
}

namespace {

// In the order of the files. Names, which may hold commas and quotes, stand behind the numbers: gnuplot loses count of
// the columns behind a quote in a name.
constexpr auto kVisit = [](auto& point, auto&& visit) {
    visit("group_index", point.group_index);
    visit("strategy_index", point.strategy_index);
    visit("gpus", point.gpus);
    visit("gradient_bytes", point.gradient_bytes);
    visit("global_batch", point.global_batch);
    visit("predicted_s", point.predicted_s);
    visit("measured_s", point.measured_s);
    if constexpr (std::is_const_v<std::remove_reference_t<decltype(point)>>)
        visit("error", point.error());  // for those who read the file; here it is worked out again
    visit("counted", point.counted);
    visit("mode", point.mode);
    visit("group", point.group);
    visit("strategy", point.strategy);
    visit("key", point.key);
};

constexpr auto kVisitWithSchema = [](const ComparedPoint& point, auto&& visit) {
    visit("schema", std::string(kComparisonSchema));
    kVisit(point, visit);
};

}  // namespace

std::string to_csv(const std::vector<ComparedPoint>& points) {
    std::string text = csv_header_of<ComparedPoint>(kVisitWithSchema);
    for (const ComparedPoint& point : points) text += csv_line_of(point, kVisitWithSchema);
    return text;
}

std::string to_json_lines(const std::vector<ComparedPoint>& points) {
    std::string text;
    for (const ComparedPoint& point : points) text += json_lines::line_of(point, kVisitWithSchema);
    return text;
}

std::vector<ComparedPoint> parse_comparison_csv(std::string_view text, const std::string& file) {
    std::vector<ComparedPoint> points =
        read_csv_records<ComparedPoint>(text, file, kComparisonSchema, "docs/calibration.md", kVisit);
    for (const ComparedPoint& point : points)
        if (!(point.predicted_s > 0 && point.measured_s > 0))
            throw UserError({{file},
                             "predicted_s, measured_s",
                             fmt::format("{} and {} of '{}'", point.predicted_s, point.measured_s, point.key),
                             "times above 0",
                             ""});
    return points;
}

}  // namespace coppice
