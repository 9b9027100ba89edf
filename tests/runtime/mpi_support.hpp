// For tests that run as several MPI processes: every rank runs every test, and all must reach the same communication.
#pragma once

#include "runtime/mpi_call.hpp"
#include "runtime/mpi_port.hpp"

namespace coppice::testing {

// All ranks that mpirun has started; made and ended by mpi_main.cpp.
const Communicator& world();

// More ranks than cores is the rule here; a test that hangs must end before ctest's patience does.
inline MpiOptions patient_options() {
    MpiOptions options;
    options.wait.timeout_s = 20;
    options.wait.yield = true;
    return options;
}

}  // namespace coppice::testing
