// What the commands of coppice-run say of the MPI and the machines they run on.
#pragma once

#include "runtime/mpi_call.hpp"

#include <string>

namespace coppice::program {

std::string mpi_library();  // "Open MPI v4.1.4": the first words of MPI_Get_library_version

// On stderr: ranks, hosts and MPI; and a warning where ranks have to share cores. Rank 0 calls it.
void warn_of_crowd(const Crowd& crowd, int ranks);

}  // namespace coppice::program
