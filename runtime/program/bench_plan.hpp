// What coppice-run bench is going to do: from the command line and the scenario to the contenders, each a schedule (or
// the installed MPI's own all-reduce) on some of the ranks.
#pragma once

#include "common/program/arguments.hpp"
#include "common/scenario/scenario.hpp"
#include "common/strategy/strategy.hpp"
#include "runtime/agreement.hpp"
#include "runtime/program/run_options.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coppice::program {

inline constexpr const char* kMpiRow = "MPI_Allreduce";

struct Contender {
    std::string requested;                 // canonical strategy as asked for, or kMpiRow
    std::string name;                      // what runs: another where that leaves something open
    std::optional<std::uint64_t> bytes;    // then it is for this size only
    std::optional<StrategyChoice> choice;  // that runs; none: the MPI's own
    CollectiveCase collective;             // with the number of workers
    std::optional<std::string> refusal;    // then it does not run
    std::shared_ptr<const Schedule> schedule;
    std::string schedule_hash;
    std::int32_t workers = 0;
    std::int32_t ranks = 0;  // workers and servers; the job's other ranks stand by
};

struct BenchSetup : MeasureSetup {
    std::vector<std::uint64_t> sizes;  // bytes
    std::optional<Scenario> scenario;
    std::optional<Cluster> cluster;  // for predictions
    std::vector<Contender> contenders;
};

// --help has been asked for: prints it (rank 0 calls this).
void print_bench_help();

// Does not communicate. UserError, EnvironmentError.
BenchSetup read_bench_setup(const std::vector<std::string>& arguments, std::int32_t ranks);

// Must be the same on all ranks.
std::vector<Fact> facts_of(const BenchSetup& setup);

}  // namespace coppice::program
