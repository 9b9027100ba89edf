// A prediction as a person reads it.
#pragma once

#include "common/scenario/scenario.hpp"
#include "common/step/all_reduce.hpp"
#include "common/step/prediction.hpp"

#include <string>

namespace coppice::program {

// What was understood: network, cluster, training, what a speedup of 1 is, GPU counts, engine.
std::string report_header(const Scenario& scenario, const std::string& engine);

// One table per strategy and batch, then what the result is sensitive to.
std::string report_tables(const Scenario& scenario, const Prediction& prediction);

// The same for all-reduces alone: one table, with the columns of nccl-tests.
std::string all_reduce_header(const AllReduceSweep& sweep, const std::string& engine);
std::string all_reduce_table(const AllReduceSweep& sweep, const std::vector<Record>& records);

}  // namespace coppice::program
