// Options that the commands of coppice-run share: how messages travel, how long to wait, how often to measure, where
// results go.
#pragma once

#include "common/cluster/cluster.hpp"
#include "common/program/arguments.hpp"
#include "common/scenario/scenario.hpp"
#include "runtime/mpi_port.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace coppice::program {

// --segment, --in-flight, --timeout
void add_message_options(boost::program_options::options_description& options);

// What was asked for; where nothing was, as the cluster says, if it does; else the defaults of mpi_port.hpp. UserError.
MpiOptions read_message_options(const Arguments& read, const std::optional<Cluster>& cluster);

// What commands that repeat and record have in common.
struct MeasureSetup {
    ElementType type = ElementType::Float32;
    std::int32_t warmup = 0;
    std::int32_t repetitions = 0;
    MpiOptions mpi;
    std::string format;  // "table", "csv", "jsonl"
    std::optional<std::string> output;
};

// --warmup, --repetitions, --format, --output, and those of add_message_options.
void add_measure_options(boost::program_options::options_description& options, std::int32_t warmup,
                         std::int32_t repetitions);

// All but the type. UserError.
void read_measure_options(const Arguments& read, const std::optional<Cluster>& cluster, MeasureSetup& setup);

// The scenario's type of gradients; UserError, with `hint`, if coppice-run has no sum for it.
ElementType gradient_type_of(const Scenario& scenario, const std::string& hint);

// A whole number within bounds. UserError.
std::int32_t whole_number(const Arguments& read, const char* name, std::int32_t lowest, std::int32_t highest);
// A number above 0. UserError.
double positive_number(const Arguments& read, const char* name, const char* what);

}  // namespace coppice::program
