#include "runtime/mpi_call.hpp"

#include "common/diag/error.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

namespace coppice {

namespace {

// Short next to any message over a network, and as many cores as there are can serve many sleepers, while a rank that
// only yields keeps its turn in the scheduler's eyes and gets the processor back late: with 8 ranks on 2 cores a step
// of a ring then lasted 20 ms more (docs/validation.md).
constexpr std::chrono::microseconds kNap{20};

}  // namespace

bool Idle::wait() {
    if (options_.interrupt != nullptr && *options_.interrupt != 0) throw Interrupted(*options_.interrupt);
    const auto now = std::chrono::steady_clock::now();
    if (!waiting_) {
        waiting_ = true;
        since_ = now;
    }
    if (options_.doze)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    else if (options_.yield)
        std::this_thread::sleep_for(kNap);
    return std::chrono::duration<double>(now - since_).count() < options_.timeout_s;
}

Communicator::Communicator(MPI_Comm parent) {
    // Until there is a communicator of our own MPI's default holds for its making: it aborts.
    MPI_Comm_dup(parent, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Communicator::~Communicator() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) MPI_Comm_free(&comm_);
}

int Communicator::largest_tag() const {
    int* bound = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&bound), &found),
          "MPI_Comm_get_attr(MPI_TAG_UB)");
    return found != 0 ? *bound : 32767;  // what the standard grants
}

void Communicator::check(int code, std::string_view call) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw EnvironmentError(fmt::format("complete {} on rank {}", call, rank_),
                           std::string_view(text, static_cast<std::size_t>(length)));
}

void Communicator::finish(MPI_Request request, std::string_view what, const WaitOptions& options) const {
    const auto give_up = [&](const std::string& why) {
        throw EnvironmentError(fmt::format("complete {} on rank {} of {}", what, rank_, size_), why);
    };
    Idle idle(options);
    for (;;) {
        int done = 0;
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
        if (done != 0) return;
        bool patient = true;
        try {
            patient = idle.wait();
        } catch (const Interrupted& interrupt) {
            give_up(fmt::format("interrupted by signal {}", interrupt.signal()));
        }
        if (!patient)
            give_up(
                fmt::format("not done after {} s: another rank hangs, or needs longer (--timeout)", options.timeout_s));
    }
}

void Communicator::barrier(std::string_view what, const WaitOptions& options) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(comm_, &request), what);
    finish(request, what, options);
}

void Communicator::all_gather(const void* mine, void* all, std::size_t bytes, std::string_view what,
                              const WaitOptions& options) const {
    const auto count = static_cast<int>(bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_, &request), what);
    finish(request, what, options);
}

std::string Communicator::broadcast(const std::string& text, int root, const WaitOptions& options) const {
    constexpr std::string_view kWhat = "MPI_Ibcast of a text";
    std::uint64_t length = text.size();
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(&length, 1, MPI_UINT64_T, root, comm_, &request), kWhat);
    finish(request, kWhat, options);
    COPPICE_CHECK(length < 1'000'000'000, "a text of {} bytes", length);
    std::string received = rank_ == root ? text : std::string(length, '\0');
    check(MPI_Ibcast(received.data(), static_cast<int>(length), MPI_CHAR, root, comm_, &request), kWhat);
    finish(request, kWhat, options);
    return received;
}

MPI_Datatype mpi_datatype(ElementType type) {
    switch (type) {
        case ElementType::Float32:
            return MPI_FLOAT;
        case ElementType::Float64:
            return MPI_DOUBLE;
        case ElementType::Int32:
            return MPI_INT32_T;
        case ElementType::Int64:
            return MPI_INT64_T;
    }
    COPPICE_CHECK(false, "element type {}", static_cast<int>(type));
}

namespace {

// Tells machines apart where host names do not: containers and emulated hosts of one machine have names of their own
// and share its cores.
struct Seat {
    char kernel[64] = "";  // this boot of the kernel below; the host's name where the kernel does not say
    cpu_set_t cores;
};

Seat seat_of_this_rank() {
    Seat seat;
    std::string kernel;
    if (std::ifstream file("/proc/sys/kernel/random/boot_id"); !std::getline(file, kernel) || kernel.empty()) {
        char host[MPI_MAX_PROCESSOR_NAME] = "";
        int length = 0;
        MPI_Get_processor_name(host, &length);
        kernel = host;
    }
    kernel.copy(seat.kernel, sizeof seat.kernel - 1);
    // mpirun may have bound each rank to a core of its own, so one mask alone does not tell.
    CPU_ZERO(&seat.cores);
    if (::sched_getaffinity(0, sizeof seat.cores, &seat.cores) != 0) CPU_SET(0, &seat.cores);
    return seat;
}

int count_hosts(const Communicator& comm, const WaitOptions& options) {
    MPI_Comm host = MPI_COMM_NULL;
    comm.check(MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &host),
               "MPI_Comm_split_type");
    int rank_here = 0;
    MPI_Comm_rank(host, &rank_here);
    MPI_Comm_free(&host);
    int firsts = rank_here == 0 ? 1 : 0;
    comm.all_reduce(&firsts, 1, MPI_INT, MPI_SUM, "MPI_Iallreduce of hosts", options);
    return firsts;
}

}  // namespace

Crowd survey_crowd(const Communicator& comm, const WaitOptions& options) {
    Crowd crowd;
    crowd.hosts = count_hosts(comm, options);
    const Seat mine = seat_of_this_rank();
    std::vector<Seat> seats(static_cast<std::size_t>(comm.size()));
    comm.all_gather(&mine, seats.data(), sizeof mine, "MPI_Iallgather of cores", options);
    struct Machine {
        int ranks = 0;
        cpu_set_t cores;
    };
    std::map<std::string, Machine> machines;
    for (const Seat& seat : seats) {
        const auto [found, fresh] = machines.try_emplace(seat.kernel);
        if (fresh) CPU_ZERO(&found->second.cores);
        ++found->second.ranks;
        CPU_OR(&found->second.cores, &found->second.cores, &seat.cores);
    }
    crowd.machines = static_cast<int>(machines.size());
    const Machine& here = machines.at(mine.kernel);
    crowd.ranks_here = here.ranks;
    crowd.cores_here = CPU_COUNT(&here.cores);
    for (const auto& [kernel, machine] : machines)
        crowd.crowded = crowd.crowded || machine.ranks > CPU_COUNT(&machine.cores);
    return crowd;
}

}  // namespace coppice
