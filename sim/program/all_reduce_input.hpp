// All-reduces alone, as the command line asks for them: of a scenario, or of a cluster with --gpus and --bytes.
#pragma once

#include "common/program/arguments.hpp"
#include "common/step/all_reduce.hpp"

#include <optional>
#include <string>

namespace coppice::program {

// What is asked for, and the tree to echo it with: the cluster, or the scenario that it comes from.
struct AllReduceInput {
    AllReduceSweep sweep;
    config::Value tree;
};

// What a command takes where nothing was said.
struct AllReduceDefaults {
    std::string sizes;                            // without --bytes
    bool size_of_scenario = false;                // then that of a scenario's gradients, if there is one
    bool greatest_of_scenario = false;            // without --gpus: only the greatest of a scenario's counts
    bool strategies_of_scenario = true;           // without --strategy; else `strategies`
    std::vector<StrategyChoice> strategies = {};  // empty: all with a schedule
};

// Options "scenario", "bytes", "type" and those of add_sweep_options. UserError with the usage if neither a scenario
// nor a cluster with GPUs is given.
AllReduceInput read_all_reduce_input(const Arguments& read, const HelpText& help, const AllReduceDefaults& defaults);

// The options that it reads besides those of add_sweep_options.
void add_all_reduce_options(boost::program_options::options_description& options, const std::string& sizes_help);

}  // namespace coppice::program
