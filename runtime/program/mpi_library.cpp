#include "runtime/program/mpi_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace coppice::program {

std::string mpi_library() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string first(text, static_cast<std::size_t>(length));
    first.erase(std::min(first.find_first_of("\n,"), first.size()));
    std::replace(first.begin(), first.end(), '\t', ' ');
    return first;
}

void warn_of_crowd(const Crowd& crowd, int ranks) {
    fmt::print(stderr, "coppice-run: {} ranks on {} {}; {}\n", ranks, crowd.hosts, crowd.hosts == 1 ? "host" : "hosts",
               mpi_library());
    if (!crowd.crowded) return;
    fmt::print(stderr,
               "coppice-run: warning: more ranks than cores ({} on {}): waiting ranks nap, and short times say more "
               "about the scheduler than about the network\n",
               crowd.ranks_here, crowd.cores_here);
}

}  // namespace coppice::program
