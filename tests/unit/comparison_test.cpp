#include "common/comparison/comparison.hpp"

#include "common/comparison/nearest_keys.hpp"
#include "common/diag/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <regex>

namespace coppice {
namespace {

// An all-reduce of 1 MB alone.
Record record(const std::string& kind, const std::string& strategy, std::int64_t gpus, double seconds) {
    Record one;
    one.kind = kind;
    one.engine = kind == "measurement" ? "mpi" : kind == "simulation" ? "sim" : "closed-form";
    one.cluster = kind == "measurement" ? "" : "lab";
    one.mode = "all-reduce";
    one.strategy_requested = one.strategy = strategy;
    one.gpus = gpus;
    one.gradient_type = "fp32";
    one.gradient_bytes = 1'000'000;
    one.status = "ok";
    one.allreduce_s = seconds;
    one.key = make_key(one);
    return one;
}

Record predicted(const std::string& strategy, std::int64_t gpus, double seconds) {
    return record("prediction", strategy, gpus, seconds);
}
Record measured(const std::string& strategy, std::int64_t gpus, double seconds) {
    return record("measurement", strategy, gpus, seconds);
}

// Records as if each stood on a line of its own.
std::vector<FoundRecord> found(const std::vector<Record>& records, const std::string& file) {
    std::vector<FoundRecord> all;
    for (const Record& one : records) all.push_back({one, file, static_cast<int>(all.size()) + 2});
    return all;
}

PredictedSource source(const std::vector<Record>& records, const std::string& name = "",
                       const std::string& origin = "p.csv") {
    return {name, origin, found(records, origin)};
}

Comparison compare_one(const std::vector<Record>& predictions, const std::vector<Record>& measurements,
                       const CompareOptions& options = {}) {
    return compare({source(predictions)}, found(measurements, "m.csv"), options);
}

UserErrorParts error_of(const std::vector<PredictedSource>& predictions, const std::vector<Record>& measurements) {
    try {
        compare(predictions, found(measurements, "m.csv"), {});
    } catch (const UserError& error) {
        return error.parts();
    }
    throw std::runtime_error("no UserError");
}

// --- Statistics ---

TEST(Median, is_the_middle_or_the_mean_of_the_middle_two) {
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
    EXPECT_EQ(median({7}), 7);
}

// Nearest rank: rank ceil(95 n / 100) of n values, from 1. Of 19 that is ceil(18.05) = 19, of 20 it is 19, of 21
// ceil(19.95) = 20, of 40 it is 38.
TEST(Percentile, is_that_of_the_nearest_rank) {
    const auto p95_of_first = [](std::size_t n) {
        std::vector<double> values;
        for (std::size_t i = n; i >= 1; --i) values.push_back(static_cast<double>(i));
        return percentile(values, 95);
    };
    EXPECT_EQ(p95_of_first(1), 1);
    EXPECT_EQ(p95_of_first(19), 19);
    EXPECT_EQ(p95_of_first(20), 19);
    EXPECT_EQ(p95_of_first(21), 20);
    EXPECT_EQ(p95_of_first(40), 38);
    EXPECT_EQ(percentile({5, 1, 3, 2, 4}, 50), 3) << "rank ceil(2.5) = 3";
    EXPECT_EQ(percentile({5, 1}, 100), 5);
}

// Sizes 0.1, 0.2, 0.3, 0.4: median 0.25, 95th percentile rank ceil(3.8) = 4. With signs -0.4, -0.3, 0.1, 0.2: -0.1.
TEST(ErrorStatistics, judge_sizes_and_keep_the_sign_of_bias_and_worst) {
    const ErrorStatistics statistics = error_statistics({0.1, -0.4, 0.2, -0.3});
    EXPECT_EQ(statistics.points, 4u);
    EXPECT_DOUBLE_EQ(*statistics.median_size, 0.25);
    EXPECT_DOUBLE_EQ(*statistics.p95_size, 0.4);
    EXPECT_DOUBLE_EQ(*statistics.bias, -0.1);
    EXPECT_DOUBLE_EQ(*statistics.worst, -0.4);
    EXPECT_EQ(*statistics.worst_at, 1u);
}

TEST(ErrorStatistics, of_nothing_are_absent) {
    EXPECT_EQ(error_statistics({}).points, 0u);
    EXPECT_FALSE(error_statistics({}).median_size);
}

// --- Joining ---

TEST(Compare, joins_by_key_and_counts_what_is_on_one_side_only) {
    const Comparison comparison =
        compare_one({predicted("ring", 2, 1.1), predicted("ring", 4, 2), predicted("tree", 2, 3)},
                    {measured("ring", 2, 1), measured("MPI_Allreduce", 2, 1), measured("tree", 2, 4)});
    const ComparisonGroup& group = comparison.groups.at(0);
    EXPECT_EQ(group.name, "lab (closed-form)");
    ASSERT_EQ(group.points.size(), 2u);
    EXPECT_NEAR(group.points[0].error, 0.1, 1e-12);
    EXPECT_NEAR(group.points[1].error, -0.25, 1e-12);
    EXPECT_EQ(group.only_measured_of, (StrategyCounts{{"MPI_Allreduce", 1}}));
    EXPECT_EQ(group.only_predicted, (std::vector<std::string>{predicted("ring", 4, 2).key}));
    ASSERT_EQ(group.by_strategy.size(), 2u);
    EXPECT_EQ(group.by_strategy[1].first, "tree");
    EXPECT_EQ(*group.by_strategy[1].second.worst_at, 1u) << "an index into the group's points";
}

TEST(Compare, takes_of_each_side_only_its_kind) {
    const std::vector<Record> both{predicted("ring", 2, 1.5), measured("ring", 2, 1)};
    const Comparison comparison = compare_one(both, both);
    ASSERT_EQ(comparison.groups.size(), 1u);
    EXPECT_EQ(comparison.groups[0].points.size(), 1u);
    EXPECT_EQ(comparison.groups[0].points[0].error, 0.5);
}

// A cluster as bought and as fitted, closed forms and simulation: four statistics, not one.
TEST(Compare, keeps_engines_clusters_and_sources_apart) {
    Record fitted = predicted("ring", 2, 1.01);
    fitted.cluster = "lab-fitted";
    Record simulated = record("simulation", "ring", 2, 1.02);
    const Comparison comparison =
        compare({source({predicted("ring", 2, 2), fitted, simulated}), source({predicted("ring", 2, 3)}, "own"),
                 source({predicted("ring", 2, 4)}, "", "q, 2.csv")},
                found({measured("ring", 2, 1)}, "m.csv"), {});
    std::vector<std::string> names;
    for (const ComparisonGroup& group : comparison.groups) {
        names.push_back(group.name);
        EXPECT_EQ(group.all.points, 1u);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"lab (closed-form) of p.csv", "lab-fitted (closed-form)", "lab (sim)",
                                               "own", "lab (closed-form) of q  2.csv"}))
        << "told apart, and without commas";
}

TEST(Compare, leaves_out_what_was_refused_or_wrong) {
    Record refused = predicted("tree", 2, 0);
    refused.status = "n/a";
    refused.allreduce_s.reset();
    Record wrong = measured("ps", 2, 1);
    wrong.status = "wrong";
    const Comparison comparison = compare_one({predicted("ring", 2, 1), refused, predicted("ps", 2, 1)},
                                              {measured("ring", 2, 1), measured("tree", 2, 1), wrong});
    const ComparisonGroup& group = comparison.groups[0];
    EXPECT_EQ(group.points.size(), 1u);
    EXPECT_EQ(group.refused, 1u);
    EXPECT_EQ(comparison.measured, 2u);
    EXPECT_EQ(comparison.measured_wrong, 1u);
    EXPECT_TRUE(group.only_predicted.empty()) << "the wrong one was measured";
}

TEST(Compare, steps_by_the_step_and_speedups_by_the_speedup) {
    const auto step = [](const std::string& kind, double step_s, double speedup) {
        Record one = record(kind, "ring", 2, 0);
        one.allreduce_s.reset();
        one.mode = "fused";
        one.model = "nin";
        one.global_batch = 256;
        one.step_s = step_s;
        one.speedup = speedup;
        one.key = make_key(one);
        return one;
    };
    const std::vector<Record> predictions{step("simulation", 1.2, 1.5)};
    const std::vector<Record> measurements{step("measurement", 1, 2)};
    EXPECT_NEAR(compare_one(predictions, measurements).groups[0].points.at(0).error, 0.2, 1e-12);
    CompareOptions speedups;
    speedups.quantity = Quantity::Speedup;
    EXPECT_NEAR(compare_one(predictions, measurements, speedups).groups[0].points.at(0).error, -0.25, 1e-12);
}

TEST(Compare, short_times_are_listed_but_do_not_count) {
    CompareOptions options;
    options.min_time_s = 0.005;
    const Comparison comparison =
        compare_one({predicted("ring", 2, 0.009), predicted("ring", 4, 0.0055), predicted("ring", 1, 0)},
                    {measured("ring", 2, 0.0049), measured("ring", 4, 0.005), measured("ring", 1, 0.01)}, options);
    const ComparisonGroup& group = comparison.groups[0];
    ASSERT_EQ(group.points.size(), 3u);
    EXPECT_EQ(group.points[0].counted, "too-short");
    EXPECT_EQ(group.points[1].counted, "yes") << "5 ms is enough";
    EXPECT_EQ(group.points[2].counted, "no-messages") << "one GPU sends nothing";
    EXPECT_EQ(group.not_counted, 2u);
    EXPECT_EQ(group.all.points, 1u);
    EXPECT_NEAR(*group.all.worst, 0.1, 1e-12);
}

TEST(Compare, notices_that_another_schedule_was_measured) {
    Record prediction = predicted("ring", 2, 1);
    Record measurement = measured("ring", 2, 1);
    prediction.schedule_hash = "aa";
    measurement.schedule_hash = "aa";
    EXPECT_TRUE(compare_one({prediction}, {measurement}).groups[0].of_other_schedules.empty());
    measurement.schedule_hash = "bb";
    EXPECT_EQ(compare_one({prediction}, {measurement}).groups[0].of_other_schedules.size(), 1u);
}

TEST(Compare, a_key_that_is_twice_on_one_side_is_refused_with_both_places) {
    const Record prediction = predicted("ring", 2, 1);
    UserErrorParts parts = error_of({source({prediction, prediction})}, {measured("ring", 2, 1)});
    EXPECT_EQ(to_string(parts.where), "p.csv:3");
    EXPECT_NE(parts.found.find("first in p.csv:2"), std::string::npos) << parts.found;
    parts = error_of({source({prediction})}, {measured("ring", 2, 1), measured("ring", 2, 2)});
    EXPECT_EQ(to_string(parts.where), "m.csv:3");
}

TEST(Compare, a_side_without_its_kind_of_records_is_refused) {
    EXPECT_EQ(error_of({source({measured("ring", 2, 1)})}, {measured("ring", 2, 1)}).found, "no prediction");
    EXPECT_EQ(error_of({source({predicted("ring", 2, 1)})}, {predicted("ring", 2, 1)}).found, "no measurement");
}

TEST(Compare, what_does_not_join_at_all_is_refused_with_the_nearest_keys) {
    const UserErrorParts parts =
        error_of({source({predicted("ring", 8, 1), predicted("tree", 8, 1)})}, {measured("tree", 4, 1)});
    EXPECT_NE(parts.hint.find("gpus (predicted 8, measured 4)"), std::string::npos) << parts.hint;
    EXPECT_EQ(parts.hint.find("strategy ("), std::string::npos) << "tree is nearer to tree";
    Record step = predicted("tree", 4, 1);
    step.mode = "fused";
    step.key = make_key(step);
    EXPECT_NE(error_of({source({step})}, {measured("tree", 4, 1)}).hint.find("coppice predict --bytes"),
              std::string::npos);
}

// --- Order ---

// Measured: ring 1, tree 1.05, ps 2. ring-tree lie 5 % apart: not judged. ring-ps and tree-ps are. Predicted, ring 3 is
// more than ps 2.5, and tree 2.5 as much: both broken.
TEST(StrategyOrder, is_judged_where_the_measured_times_lie_apart) {
    const auto order_for = [](double ring, double tree, double ps) {
        return compare_one({predicted("ring", 2, ring), predicted("tree", 2, tree), predicted("ps", 2, ps)},
                           {measured("ring", 2, 1), measured("tree", 2, 1.05), measured("ps", 2, 2)})
            .groups[0]
            .order;
    };
    const StrategyOrder broken = order_for(3, 2.5, 2.5);
    EXPECT_EQ(broken.pairs, 2u);
    EXPECT_EQ(broken.close, 1u);
    EXPECT_EQ(broken.kept(), 0u);
    EXPECT_EQ(broken.violations[0].lower, 0u);
    EXPECT_EQ(broken.violations[0].higher, 2u);
    EXPECT_NEAR(broken.violations[0].measured_apart, 1, 1e-12);
    EXPECT_EQ(order_for(1.2, 1.1, 1.3).kept(), 2u) << "ring and tree may change places";
}

TEST(StrategyOrder, is_not_judged_between_cases_or_of_what_does_not_count) {
    CompareOptions options;
    options.min_time_s = 1;
    const StrategyOrder order = compare_one({predicted("ring", 2, 5), predicted("tree", 4, 1), predicted("ps", 2, 1)},
                                            {measured("ring", 2, 1), measured("tree", 4, 9), measured("ps", 2, 0.5)},
                                            options)
                                    .groups[0]
                                    .order;
    EXPECT_EQ(order.pairs + order.close, 0u);
}

// --- Files ---

TEST(ComparisonPoint, csv_and_json_lines_have_a_line_a_point) {
    const std::vector<ComparisonPoint> points = all_points(compare_one(
        {predicted("ps(a=1,b=2)", 2, 1.5)}, {measured("ps(a=1,b=2)", 2, 1)}));
    const std::string csv = to_csv(points);
    EXPECT_TRUE(csv.starts_with("schema,group,engine,cluster,key,"));
    EXPECT_NE(csv.find("\ncoppice.comparison/1,lab (closed-form),closed-form,lab,\"model="), std::string::npos) << csv;
    EXPECT_NE(csv.find(",time,1.5,1,,,,,0.5,yes\n"), std::string::npos) << csv;
    const nlohmann::json json = nlohmann::json::parse(to_json_lines(points));
    EXPECT_EQ(json["error"], 0.5);
    EXPECT_TRUE(json["measured_speedup"].is_null());
}

TEST(ComparisonSummary, has_the_numbers_of_each_group) {
    const Comparison comparison = compare_one({predicted("ring", 2, 1.5)}, {measured("ring", 2, 1)});
    const nlohmann::json json = nlohmann::json::parse(summary_json(comparison, {}));
    EXPECT_EQ(json["schema"], "coppice.comparison-summary/1");
    EXPECT_EQ(json["groups"][0]["all"]["median_error_size"], 0.5);
    EXPECT_EQ(json["groups"][0]["by_strategy"]["ring"]["worst_key"], measured("ring", 2, 1).key);
    EXPECT_EQ(json["groups"][0]["order"]["pairs"], 0);
}

TEST(ComparisonPoint, the_documentation_lists_exactly_these_fields_in_this_order) {
    std::ifstream file(std::string(COPPICE_SOURCE_DIR) + "/docs/records.md");
    ASSERT_TRUE(file);
    std::vector<std::string> documented;
    const std::regex row("^\\| `([a-z0-9_]+)` \\|.*");
    bool here = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) here = line == "## Comparisons";
        std::smatch match;
        if (here && std::regex_match(line, match, row)) documented.push_back(match[1]);
    }
    std::vector<std::string> fields;
    const ComparisonPoint point;
    visit_comparison_fields(point, [&](const char* name, const auto&) { fields.emplace_back(name); });
    EXPECT_EQ(documented, fields);
}

}  // namespace
}  // namespace coppice
