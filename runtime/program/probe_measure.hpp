// What coppice-run probe measures, one quantity at a time, repeated until its median is known well enough.
#pragma once

#include "common/calibration/probe_record.hpp"
#include "runtime/mpi_port.hpp"

#include <cstdint>

namespace coppice::program {

// When a point has been repeated enough.
struct Patience {
    double precision = 0.02;    // half width of the median's 95 % interval, relative: then it is "interval"
    double most_s = 3;          // time spent on a point, after which it is "limit"
    std::int32_t least = 6;     // repetitions in any case ...
    std::int32_t most = 10000;  // ... and never more than this
};

struct ProbeOptions {
    Patience patience;
    MpiOptions mpi;
};

// All are collective over the communicator and give the same record on all its ranks, but for the names of hosts, MPI
// and version, which are the caller's. EnvironmentError as the executor has it.
ProbeRecord probe_one_way(const Communicator& pair, std::uint64_t bytes, const ProbeOptions& options);
ProbeRecord probe_both_ways(const Communicator& ring, std::uint64_t bytes, const ProbeOptions& options);
ProbeRecord probe_incast(const Communicator& all, std::uint64_t bytes, const ProbeOptions& options);
ProbeRecord probe_overhead(const Communicator& pair, std::uint64_t bytes, const ProbeOptions& options);

// On the calling rank alone.
ProbeRecord probe_sum(std::uint64_t bytes, const ProbeOptions& options);
ProbeRecord probe_update(std::uint64_t bytes, const ProbeOptions& options);

}  // namespace coppice::program
