// Times an all-reduce over and over, on inputs whose sum is known, and looks at every element of every result.
#pragma once

#include "runtime/check_pattern.hpp"
#include "runtime/mpi_executor.hpp"

#include <memory>
#include <string>
#include <vector>

namespace coppice::program {

// An all-reduce that can be repeated: of a schedule, or of the installed MPI.
class AllReduce {
public:
    virtual ~AllReduce() = default;
    virtual void prepare() = 0;  // nothing of the last run is left
    virtual void run() = 0;
    virtual std::byte* data() = 0;         // a worker's input, then its result; nullptr on a server
    virtual PairTraffic sent() const = 0;  // by this rank since it was made
};

// Neither communicates; EnvironmentError if there is not enough memory.
std::unique_ptr<AllReduce> schedule_all_reduce(const Communicator& comm, const Schedule& schedule,
                                               const Binding& binding, ElementType type, const MpiOptions& options);
std::unique_ptr<AllReduce> mpi_all_reduce(const Communicator& comm, std::uint64_t elements, ElementType type,
                                          const MpiOptions& options);

struct Measured {
    std::vector<double> repetition_s;  // ascending; each as its slowest rank saw it
    std::uint64_t wrong_elements = 0;  // over all ranks and repetitions, warm-up included
    std::string first_wrong;           // which, on which rank
    PairTraffic sent;                  // over all ranks, of one repetition
    double median_s() const;
};

struct MeasureOptions {
    ElementType type = ElementType::Float32;
    std::int32_t workers = 0;
    std::uint64_t elements = 0;
    std::int32_t warmup = 0;
    std::int32_t repetitions = 0;
    WaitOptions wait;
};

// Collective over the communicator; the same on all its ranks.
Measured measure(const Communicator& comm, AllReduce& all_reduce, const MeasureOptions& options);

// What was sent is what the schedule says, or the figure would be of something else.
void check_traffic(const std::string& name, const Schedule& schedule, const Binding& binding, const Measured& measured);

}  // namespace coppice::program
