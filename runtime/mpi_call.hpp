// MPI as coppice uses it: every return code is looked at, nobody waits for ever, and who gives up says what for.
//
// A communicator of coppice's own (a duplicate) keeps its messages apart from everybody else's and has
// MPI_ERRORS_RETURN. Its members must all make and destroy it together, as MPI demands.
#pragma once

// The C interface only: Open MPI's and MPICH's old C++ bindings would come in with it otherwise.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "runtime/element_type.hpp"

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>

namespace coppice {

// How long to wait, and how.
struct WaitOptions {
    double timeout_s = 30;                                  // without any progress
    bool yield = true;                                      // more ranks than cores: nap instead of spinning
    bool doze = false;                                      // sleep for milliseconds: who has no part in what is timed
    const volatile std::sig_atomic_t* interrupt = nullptr;  // becomes a signal's number when one has come
};

// Called while there is nothing to do but to wait.
class Idle {
public:
    explicit Idle(const WaitOptions& options) : options_(options) {}
    void progressed() { waiting_ = false; }
    // Gives the processor away if others want it. False: nothing has happened for timeout_s. Interrupted (error.hpp) if
    // a signal has come.
    bool wait();

private:
    WaitOptions options_;
    bool waiting_ = false;
    std::chrono::steady_clock::time_point since_;
};

class Communicator {
public:
    explicit Communicator(MPI_Comm parent);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    MPI_Comm get() const { return comm_; }
    int largest_tag() const;

    // EnvironmentError "cannot complete MPI_Isend on rank 3: (MPI's text)" unless `code` is MPI_SUCCESS.
    void check(int code, std::string_view call) const;
    // Waits for a non-blocking collective. EnvironmentError if it takes longer than the timeout or a signal comes.
    void finish(MPI_Request request, std::string_view what, const WaitOptions& options) const;

    void barrier(std::string_view what, const WaitOptions& options) const;
    // A text of `root`'s for all.
    std::string broadcast(const std::string& text, int root, const WaitOptions& options) const;
    // `bytes` of each rank, one after another, on all.
    void all_gather(const void* mine, void* all, std::size_t bytes, std::string_view what,
                    const WaitOptions& options) const;
    template <class T>
    void all_reduce(T* values, int count, MPI_Datatype type, MPI_Op op, std::string_view what,
                    const WaitOptions& options) const {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, comm_, &request), what);
        finish(request, what, options);
    }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 0;
};

MPI_Datatype mpi_datatype(ElementType type);

// How the ranks share their machines. A host is what MPI takes for one; a machine, what has cores: several hosts may be
// containers, or emulated, on one. Collective.
struct Crowd {
    int ranks_here = 0;  // on this machine
    int cores_here = 0;  // that any of them may use (the union of their affinity masks)
    int hosts = 0;
    int machines = 0;
    bool crowded = false;  // some machine has more ranks than cores; the same on all ranks
};
Crowd survey_crowd(const Communicator& comm, const WaitOptions& options);

}  // namespace coppice
