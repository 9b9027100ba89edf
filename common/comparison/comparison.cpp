#include "common/comparison/comparison.hpp"

#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/result/csv.hpp"
#include "common/result/json_lines.hpp"
#include "common/units/median.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

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
    for (const auto& [group, side] : groups) {
        std::vector<std::string> names{""};
        for (const ComparedPoint& point : comparison.points)
            if (point.group == group && std::find(names.begin(), names.end(), point.strategy) == names.end())
                names.push_back(point.strategy);
        if (names.size() == 1) continue;  // nothing of it was measured
        for (const std::string& name : names) comparison.summaries.push_back(summarise(comparison.points, group, name));
    }
    comparison.pairs = pairs_of(comparison.points, options.differ);
    return comparison;
}

namespace {

constexpr auto kVisit = [](const ComparedPoint& point, auto&& visit) {
    visit("schema", std::string("coppice.comparison/1"));
    visit("group", point.group);
    visit("key", point.key);
    visit("mode", point.mode);
    visit("strategy", point.strategy);
    visit("gpus", point.gpus);
    visit("gradient_bytes", point.gradient_bytes);
    visit("global_batch", point.global_batch);
    visit("predicted_s", point.predicted_s);
    visit("measured_s", point.measured_s);
    visit("error", point.error());
    visit("counted", point.counted);
};

}  // namespace

std::string to_csv(const std::vector<ComparedPoint>& points) {
    std::string text;
    kVisit({}, [&](const char* name, const auto&) { text += fmt::format("{}{}", text.empty() ? "" : ",", name); });
    text += "\n";
    for (const ComparedPoint& point : points) text += csv_line_of(point, kVisit);
    return text;
}

std::string to_json_lines(const std::vector<ComparedPoint>& points) {
    std::string text;
    for (const ComparedPoint& point : points) text += json_lines::line_of(point, kVisit);
    return text;
}

}  // namespace coppice
