#include "runtime/program/bench_measure.hpp"

#include "common/diag/error.hpp"
#include "common/units/median.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace coppice::program {

namespace {

class ScheduleAllReduce : public AllReduce {
public:
    ScheduleAllReduce(const Communicator& comm, const Schedule& schedule, const Binding& binding, ElementType type,
                      const MpiOptions& options)
        : binding_(binding),
          result_buffer_(schedule.result_buffer),
          worker_(comm.rank() < schedule.workers),
          executor_(comm, schedule, binding_, type, options) {}
    void prepare() override { executor_.prepare(); }
    void run() override { executor_.run(); }
    std::byte* data() override { return worker_ ? executor_.buffers().data(result_buffer_) : nullptr; }
    PairTraffic sent() const override {
        PairTraffic all;
        for (const auto& [peer, pair] : executor_.port().sent()) {
            all.messages += pair.messages;
            all.bytes += pair.bytes;
        }
        return all;
    }

private:
    Binding binding_;
    std::uint16_t result_buffer_;
    bool worker_;
    MpiExecutor executor_;
};

// MPI's blocking calls cannot be given up from outside, so a timer ends the process: mpirun ends the others then.
char blocked_in[200];

extern "C" void give_up(int) {
    // Only what a signal handler may call.
    const ssize_t written = ::write(STDERR_FILENO, blocked_in, std::strlen(blocked_in));
    ::_exit(written >= 0 ? static_cast<int>(ExitCode::Environment) : static_cast<int>(ExitCode::Internal));
}

class BlockingCall {
public:
    BlockingCall(const Communicator& comm, const char* call, double timeout_s) {
        std::snprintf(blocked_in, sizeof blocked_in,
                      "coppice-run: rank %d of %d: %s: not complete after %g s (--timeout); giving up\n", comm.rank(),
                      comm.size(), call, timeout_s);
        std::signal(SIGALRM, give_up);
        set(timeout_s);
    }
    ~BlockingCall() { set(0); }
    BlockingCall(const BlockingCall&) = delete;
    BlockingCall& operator=(const BlockingCall&) = delete;

private:
    static void set(double after_s) {
        itimerval timer{};
        timer.it_value.tv_sec = static_cast<time_t>(after_s);
        timer.it_value.tv_usec = static_cast<suseconds_t>((after_s - std::floor(after_s)) * 1e6);
        ::setitimer(ITIMER_REAL, &timer, nullptr);
    }
};

class MpiAllReduce : public AllReduce {
public:
    MpiAllReduce(const Communicator& comm, std::uint64_t elements, ElementType type, const MpiOptions& options)
        : comm_(comm),
          elements_(elements),
          type_(type),
          timeout_s_(options.wait.timeout_s),
          data_(allocate(elements * element_bytes(type), "MPI_Allreduce")) {}
    void prepare() override {}
    void run() override {
        constexpr std::uint64_t kMost = std::uint64_t{1} << 30;  // a count is an int
        const BlockingCall guard(comm_, "MPI_Allreduce", timeout_s_);
        std::uint64_t done = 0;
        do {
            const std::uint64_t part = std::min(kMost, elements_ - done);
            comm_.check(MPI_Allreduce(MPI_IN_PLACE, data_.get() + done * element_bytes(type_), static_cast<int>(part),
                                      mpi_datatype(type_), MPI_SUM, comm_.get()),
                        "MPI_Allreduce");
            done += part;
        } while (done < elements_);
    }
    std::byte* data() override { return data_.get(); }
    PairTraffic sent() const override { return {}; }

private:
    const Communicator& comm_;
    std::uint64_t elements_;
    ElementType type_;
    double timeout_s_;
    Memory data_;
};

// What the ranks found, brought together.
void gather(const Communicator& comm, const MeasureOptions& options, const WrongElements& first, Measured& measured) {
    comm.all_reduce(measured.repetition_s.data(), static_cast<int>(measured.repetition_s.size()), MPI_DOUBLE, MPI_MAX,
                    "MPI_Iallreduce of times", options.wait);
    std::sort(measured.repetition_s.begin(), measured.repetition_s.end());
    std::uint64_t sums[3] = {measured.wrong_elements, measured.sent.messages, measured.sent.bytes};
    comm.all_reduce(sums, 3, MPI_UINT64_T, MPI_SUM, "MPI_Iallreduce of counts", options.wait);
    const auto runs = static_cast<std::uint64_t>(options.warmup + options.repetitions);
    int witness = measured.wrong_elements > 0 ? comm.rank() : comm.size();
    measured.wrong_elements = sums[0];
    measured.sent = {sums[1] / runs, sums[2] / runs};
    if (measured.wrong_elements == 0) return;
    comm.all_reduce(&witness, 1, MPI_INT, MPI_MIN, "MPI_Iallreduce: who saw it", options.wait);
    measured.first_wrong = comm.broadcast(
        fmt::format("rank {}: element {} is {}, the sum is {}", comm.rank(), first.first, first.found, first.expected),
        witness, options.wait);
}

}  // namespace

std::unique_ptr<AllReduce> schedule_all_reduce(const Communicator& comm, const Schedule& schedule,
                                               const Binding& binding, ElementType type, const MpiOptions& options) {
    return std::make_unique<ScheduleAllReduce>(comm, schedule, binding, type, options);
}

std::unique_ptr<AllReduce> mpi_all_reduce(const Communicator& comm, std::uint64_t elements, ElementType type,
                                          const MpiOptions& options) {
    return std::make_unique<MpiAllReduce>(comm, elements, type, options);
}

double Measured::median_s() const {
    return median(repetition_s);
}

Measured measure(const Communicator& comm, AllReduce& all_reduce, const MeasureOptions& options) {
    Measured measured;
    WrongElements first;
    for (std::int32_t i = -options.warmup; i < options.repetitions; ++i) {
        all_reduce.prepare();
        std::byte* data = all_reduce.data();
        if (data != nullptr) write_contribution(options.type, comm.rank(), data, options.elements);
        comm.barrier("MPI_Ibarrier before a repetition", options.wait);
        const double begin_s = MPI_Wtime();
        all_reduce.run();
        const double end_s = MPI_Wtime();
        if (i >= 0) measured.repetition_s.push_back(end_s - begin_s);
        if (data == nullptr) continue;
        const WrongElements wrong = compare_with_sum(options.type, options.workers, data, options.elements);
        if (wrong.count > 0 && measured.wrong_elements == 0) first = wrong;
        measured.wrong_elements += wrong.count;
    }
    measured.sent = all_reduce.sent();
    gather(comm, options, first, measured);
    return measured;
}

void check_traffic(const std::string& name, const Schedule& schedule, const Binding& binding,
                   const Measured& measured) {
    const std::uint64_t bytes = bytes_sent(schedule, binding);
    COPPICE_CHECK(measured.sent.bytes == bytes, "{} sent {} bytes, its schedule {}", name, measured.sent.bytes, bytes);
}

}  // namespace coppice::program
