// All ranks or none: before anything is timed the ranks find out that they are about to do the same thing, and a rank
// that cannot go on takes the others with it, in order, with one message instead of as many as there are ranks.
#pragma once

#include "runtime/mpi_call.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace coppice {

// What all ranks throw when one of them failed: the same everywhere, so that one of them may print it.
class AgreedFailure : public std::runtime_error {
public:
    AgreedFailure(int exit_code, const std::string& message) : std::runtime_error(message), exit_code_(exit_code) {}
    int exit_code() const { return exit_code_; }

private:
    int exit_code_;
};

// Runs `step` on every rank; if it threw UserError or EnvironmentError anywhere, all ranks throw AgreedFailure with the
// lowest such rank's message. `step` must not communicate.
void together(const Communicator& comm, const WaitOptions& options, const std::function<void()>& step);

// Something that must be the same on all ranks: {"scenario", hash}, {"schedule of ring", hash}, {"version", "0.1.0"}.
struct Fact {
    std::string name;
    std::string value;
};

// Compares with rank 0's; AgreedFailure (exit 2) on all ranks if they differ: "rank 3 has version 0.2, rank 0 0.1".
void require_same(const Communicator& comm, const WaitOptions& options, const std::vector<Fact>& facts);

}  // namespace coppice
