// Options by which a command changes what a scenario sweeps: the same for predicting it and for running it, so that the
// same words mean the same scenario.
#pragma once

#include "common/program/arguments.hpp"

#include <vector>

namespace coppice::program {

// --cluster, --gpus, --strategy, --set
void add_sweep_options(boost::program_options::options_description& options);

// As settings of the scenario's keys; what --set says comes after the cluster that --cluster puts in, and before the
// rest.
std::vector<config::Setting> sweep_settings(const Arguments& read);

}  // namespace coppice::program
