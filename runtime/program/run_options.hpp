// Options that the commands of coppice-run share: how messages travel, how long to wait.
#pragma once

#include "common/cluster/cluster.hpp"
#include "common/program/arguments.hpp"
#include "runtime/mpi_port.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace coppice::program {

// --segment, --in-flight, --timeout
void add_message_options(boost::program_options::options_description& options);

// What was asked for; where nothing was, as the cluster says, if it does; else the defaults of mpi_port.hpp. UserError.
MpiOptions read_message_options(const Arguments& read, const std::optional<Cluster>& cluster);

// A whole number within bounds. UserError.
std::int32_t whole_number(const Arguments& read, const char* name, std::int32_t lowest, std::int32_t highest);
// A number above 0. UserError.
double positive_number(const Arguments& read, const char* name, const char* what);

}  // namespace coppice::program
