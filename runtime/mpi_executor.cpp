#include "runtime/mpi_executor.hpp"

#include "common/diag/error.hpp"

#include <algorithm>

namespace coppice {

MpiExecutor::MpiExecutor(const Communicator& comm, const Schedule& schedule, const Binding& binding, ElementType type,
                         const MpiOptions& options)
    : comm_(comm),
      schedule_(schedule),
      buffers_(schedule, binding, comm.rank(), type),
      port_(comm, schedule, binding, buffers_, options),
      wait_(options.wait) {
    COPPICE_CHECK(comm.size() == schedule.ranks, "{} ranks for a schedule of {}", comm.size(), schedule.ranks);
    int largest = 0;
    for_each_op(schedule, comm.rank(),
                [&](std::uint32_t, const Op& op) { largest = std::max<int>(largest, op.channel); });
    for (Rank rank = 0; rank < schedule.ranks; ++rank) {
        for_each_op_repeated(schedule, rank, [&](std::uint32_t, const Op& op, std::uint64_t) {
            const bool receives = op.kind == OpKind::Recv || op.kind == OpKind::RecvReduce;
            from_any_rank_ = from_any_rank_ || (receives && op.peer == kAnyRank);
        });
    }
    if (largest > comm.largest_tag())
        throw EnvironmentError(fmt::format("use channel {} of {} on rank {}", largest, schedule.strategy, comm.rank()),
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
            fmt::format("complete {} on rank {} of {}", schedule_.strategy, comm_.rank(), comm_.size()),
            fmt::format("interrupted by signal {}; under way:{}", interrupt.signal(), port_.pending_in_words()));
    }
    if (from_any_rank_) comm_.barrier("MPI_Ibarrier after receives from any rank", wait_);
    program_.reset();
}

}  // namespace coppice
