// Executes a schedule for real: one rank a process, over MPI, any number of times.
//
//   MpiExecutor executor(comm, schedule, binding, ElementType::Float32, options);
//   for (...) {
//       executor.prepare();                     // fresh program, buffers as before the first operation
//       write(executor.buffers().data(schedule.result_buffer));
//       comm.barrier(...);  start clock;  executor.run();  stop clock
//   }
//
// It takes any schedule that the verifier has proved, knows no strategy, and does not look for a better way. All ranks
// must have the same schedule, binding and options: see agreement.hpp.
#pragma once

#include "runtime/mpi_port.hpp"

#include <optional>

namespace coppice {

class MpiExecutor {
public:
    // The communicator has just the schedule's ranks. EnvironmentError if this MPI has too few tags for its channels.
    MpiExecutor(const Communicator& comm, const Schedule& schedule, const Binding& binding, ElementType type,
                const MpiOptions& options);

    void prepare(OpObserver* observer = nullptr);
    // Once after each prepare(). Where the schedule receives from any rank this ends with a barrier: a rank that went
    // on to another execution could otherwise have its first message taken for one of this execution.
    void run();

    const RankBuffers& buffers() const { return buffers_; }
    const MpiPort& port() const { return port_; }

private:
    const Communicator& comm_;
    const Schedule& schedule_;
    RankBuffers buffers_;
    MpiPort port_;
    WaitOptions wait_;
    bool from_any_rank_ = false;
    std::optional<RankProgram> program_;
};

}  // namespace coppice
