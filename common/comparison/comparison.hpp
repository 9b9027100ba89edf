// Predicted against measured: joins records by key, and says how far the prediction is off and whether it puts the
// strategies in the right order.
//
//     error = predicted / measured - 1
//
// Predictions of different clusters or engines are different predictions (as bought, calibrated): they are groups,
// never mixed in one figure.
#pragma once

#include "common/result/record.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

inline constexpr std::string_view kComparisonSchema = "coppice.comparison/2";

struct NamedRecords {
    std::string name;  // of the group; empty: the records' cluster and engine say it
    std::string file;  // for messages
    std::vector<Record> records;
};

struct ComparedPoint {
    std::int64_t group_index = 0;     // from 1, in the order of the points: numbers that stand for the names where
    std::int64_t strategy_index = 0;  // those are not read easily (plots/comparison.gp)
    std::int64_t gpus = 0;
    std::int64_t gradient_bytes = 0;
    std::int64_t global_batch = 0;
    double predicted_s = 0;  // allreduce_s, or step_s where there is a step
    double measured_s = 0;
    bool counted = true;  // false: measured in less than the least time that is asked for
    std::string mode;
    std::string group;
    std::string strategy;
    std::string key;
    double error() const { return predicted_s / measured_s - 1; }
};

// Over the counted points. Errors are of |error| unless they say otherwise.
struct ErrorSummary {
    std::string group;
    std::string strategy;  // empty: all of the group
    std::size_t points = 0;
    std::size_t not_counted = 0;
    double bias = 0;    // median of error, with its sign
    double median = 0;  // the middle one, or the mean of the two middle ones
    double p95 = 0;     // nearest rank: the smallest that is not exceeded by 95 % of the points
    double worst = 0;
    std::string worst_key;
};

// Two strategies at the same GPUs, size and batch whose measured times differ by more than is asked for.
struct OrderPair {
    std::string group;
    std::string faster_key;  // as measured
    std::string slower_key;
    double measured_ratio = 0;   // slower / faster, above 1
    double predicted_ratio = 0;  // of the same two: above 1 where the order is kept
    bool kept() const { return predicted_ratio > 1; }
};

struct Comparison {
    std::vector<ComparedPoint> points;
    std::vector<ErrorSummary> summaries;  // per group: all, then each strategy
    std::vector<OrderPair> pairs;
    std::vector<std::string> only_predicted;  // keys, once each
    std::vector<std::string> only_measured;
    std::size_t not_applicable = 0;  // records of either side without a time
};

struct ComparisonOptions {
    double least_s = 0;    // points measured in less are not counted
    double differ = 0.10;  // order matters where measured times differ by more
};

// Of each side only the records of its kind are taken: measurements, or predictions and simulations. UserError for a
// key that is twice in a group or among the measurements, and if nothing at all joins (with the nearest keys).
Comparison compare(const std::vector<NamedRecords>& predicted, const NamedRecords& measured,
                   const ComparisonOptions& options);

// In the order of the points: of each group all, then each strategy.
std::vector<ErrorSummary> summaries_of(const std::vector<ComparedPoint>& points);

double nearest_rank(std::vector<double> values, double share);  // of at least one value

std::string to_csv(const std::vector<ComparedPoint>& points);
std::string to_json_lines(const std::vector<ComparedPoint>& points);
// UserError, with file and line, for another schema, a missing column or a value that cannot be.
std::vector<ComparedPoint> parse_comparison_csv(std::string_view text, const std::string& file);

}  // namespace coppice
