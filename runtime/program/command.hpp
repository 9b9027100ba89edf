// The subcommands of the program coppice-run. Each is called on every rank with the same arguments.
#pragma once

#include "common/program/arguments.hpp"
#include "runtime/mpi_call.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace coppice::program {

struct RunCommand {
    std::string_view name;
    std::string_view help;  // one line
    int (*run)(const Communicator& world, const std::vector<std::string>& arguments);
};

const std::vector<RunCommand>& run_commands();

int run_bench(const Communicator& world, const std::vector<std::string>& arguments);
int run_step(const Communicator& world, const std::vector<std::string>& arguments);
int run_probe(const Communicator& world, const std::vector<std::string>& arguments);

// Becomes the number of a signal that asks the program to end.
const volatile std::sig_atomic_t* interrupt_flag();

bool asks_for_help(const std::vector<std::string>& arguments);

}  // namespace coppice::program
