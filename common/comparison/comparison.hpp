// Predicted against measured: joins records by key, and says how far the prediction is off and whether it puts the
// strategies in the right order.
//
//     error = predicted / measured - 1
//
// Predictions of different clusters or engines are different predictions (as bought, calibrated): they are groups,
// never mixed in one figure.
#pragma once

#include "common/result/record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace coppice {

struct NamedRecords {
    std::string name;  // of the group; empty: the records' cluster and engine say it
    std::string file;  // for messages
    std::vector<Record> records;
};

struct ComparedPoint {
    std::string group;
    std::string key;
    std::string strategy;
    std::string mode;
    std::int64_t gpus = 0;
    std::int64_t gradient_bytes = 0;
    std::int64_t global_batch = 0;
    double predicted_s = 0;  // allreduce_s, or step_s where there is a step
    double measured_s = 0;
    bool counted = true;  // false: measured in less than the least time that is asked for
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

double nearest_rank(std::vector<double> values, double share);  // of at least one value

std::string to_csv(const std::vector<ComparedPoint>& points);
std::string to_json_lines(const std::vector<ComparedPoint>& points);  // schema "coppice.comparison/1"

}  // namespace coppice
