#include "runtime/mpi_executor.hpp"

#include "common/diag/error.hpp"

#include <algorithm>

namespace coppice {

MpiExecutor::MpiExecutor(const Communicator& comm, const Schedule& schedule, const Binding& binding, ElementType type,
                         const MpiOptions& options)
    : comm_(comm),
      schedule_(schedule),
      buffers_(schedule, binding, comm.rank(), type),
      port_(comm, schedule, binding, buffers_, options) {
    COPPICE_CHECK(comm.size() == schedule.ranks, "{} ranks for a schedule of {}", comm.size(), schedule.ranks);
    int largest = 0;
    for_each_op(schedule, comm.rank(),
                [&](std::uint32_t, const Op& op) { largest = std::max<int>(largest, op.channel); });
    if (largest > comm.largest_tag())
        throw EnvironmentError(fmt::format("rank {}: channel {} of {}", comm.rank(), largest, schedule.strategy),
                               fmt::format("this MPI has tags up to {} only", comm.largest_tag()));
}

void MpiExecutor::prepare(OpObserver* observer) {
    buffers_.reset();
    program_.emplace(schedule_, comm_.rank(), observer);
    port_.attend(*program_);
}

void MpiExecutor::run() {
    COPPICE_CHECK(program_, "prepare() comes before run()");
    try {
        run_rank(*program_, port_);
    } catch (const Interrupted& interrupt) {
        throw EnvironmentError(
            fmt::format("rank {} of {} executing {}", comm_.rank(), comm_.size(), schedule_.strategy),
            fmt::format("interrupted by signal {}; under way:{}", interrupt.signal(), port_.pending_in_words()));
    }
    program_.reset();
}

}  // namespace coppice
