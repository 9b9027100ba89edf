#include "runtime/program/probe_measure.hpp"

#include "common/diag/error.hpp"
#include "runtime/agreement.hpp"
#include "runtime/median_interval.hpp"
#include "runtime/mpi_executor.hpp"
#include "runtime/probe_schedules.hpp"
#include "runtime/sgd_update.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace coppice::program {

namespace {

// Repeats `once` (which gives its seconds) until the patience ends. `agree` makes one verdict of all ranks' (the first
// rank's), so that all go on together; alone it is the identity.
ProbeRecord repeat(const char* what, const Patience& patience, const std::function<double()>& once,
                   const std::function<int(int)>& agree) {
    ProbeRecord record;
    record.what = what;
    once();  // warm: connections are made, pages touched, caches filled
    std::vector<double> samples;
    const double begin_s = MPI_Wtime();
    enum Verdict { kGoOn, kInterval, kLimit };
    int verdict = kGoOn;
    while (verdict == kGoOn) {
        samples.push_back(once());
        const auto n = static_cast<std::int32_t>(samples.size());
        const bool late = MPI_Wtime() - begin_s > patience.most_s;
        if (n >= patience.least) {
            const bool narrow = median_interval(samples).relative_half_width() <= patience.precision;
            verdict = narrow ? kInterval : late || n >= patience.most ? kLimit : kGoOn;
        } else if (late && n >= 3) {
            verdict = kLimit;
        }
        verdict = agree(verdict);
    }
    const MedianInterval interval = median_interval(samples);
    record.seconds = interval.median;
    record.low_s = interval.low;
    record.high_s = interval.high;
    record.min_s = interval.min;
    record.max_s = interval.max;
    record.repetitions = static_cast<std::int64_t>(samples.size());
    record.stop = verdict == kInterval ? "interval" : "limit";
    return record;
}

// Time runs differently on different ranks: the first one's verdict holds.
std::function<int(int)> first_rank_decides(const Communicator& comm, const ProbeOptions& options) {
    return [&comm, &options](int verdict) {
        int first = comm.rank() == 0 ? verdict : 0;
        comm.all_reduce(&first, 1, MPI_INT, MPI_MAX, "MPI_Iallreduce of a verdict", options.mpi.wait);
        return first;
    };
}

// Executes `schedule`, whose message is of `bytes`; a sample is the slowest rank's time divided by `parts`.
ProbeRecord repeat_schedule(const char* what, const Communicator& comm, const Schedule& schedule, std::uint64_t bytes,
                            double parts, const ProbeOptions& options) {
    const bool whole = bytes % sizeof(float) == 0;
    COPPICE_CHECK(whole, "a message of {} bytes has a part of an element", bytes);
    const Binding binding{{{bytes / sizeof(float), sizeof(float)}}, {}};
    std::optional<MpiExecutor> executor;
    together(comm, options.mpi.wait,
             [&] { executor.emplace(comm, schedule, binding, ElementType::Float32, options.mpi); });
    const auto once = [&] {
        executor->prepare();
        comm.barrier("MPI_Ibarrier before a repetition", options.mpi.wait);
        const double begin_s = MPI_Wtime();
        executor->run();
        double seconds = MPI_Wtime() - begin_s;
        comm.all_reduce(&seconds, 1, MPI_DOUBLE, MPI_MAX, "MPI_Iallreduce of times", options.mpi.wait);
        return seconds / parts;
    };
    ProbeRecord record = repeat(what, options.patience, once, first_rank_decides(comm, options));
    record.bytes = static_cast<std::int64_t>(bytes);
    record.segment_bytes = static_cast<std::int64_t>(options.mpi.segment_bytes == 0
                                                         ? kLargestMessageBytes
                                                         : std::min(options.mpi.segment_bytes, kLargestMessageBytes));
    record.segments_in_flight = options.mpi.segments_in_flight;
    return record;
}

// Of short messages many a repetition, so that the barrier's end, which ranks see at different times, does not count.
std::uint32_t rounds_for(std::uint64_t bytes) {
    constexpr std::uint64_t kEnough = 256 * 1024;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kEnough / std::max<std::uint64_t>(bytes, 1), 4, 32));
}

int alone(int verdict) {
    return verdict;
}

template <class Work>
double timed(const Work& work) {
    const double begin_s = MPI_Wtime();
    work();
    return MPI_Wtime() - begin_s;
}

}  // namespace

ProbeRecord probe_one_way(const Communicator& pair, std::uint64_t bytes, const ProbeOptions& options) {
    const std::uint32_t rounds = bytes > 1024 * 1024 ? 1 : rounds_for(bytes);
    ProbeRecord record = repeat_schedule("one-way", pair, round_trips(rounds), bytes, 2.0 * rounds, options);
    record.senders = 1;
    return record;
}

ProbeRecord probe_both_ways(const Communicator& ring, std::uint64_t bytes, const ProbeOptions& options) {
    const std::uint32_t rounds = rounds_for(bytes);
    ProbeRecord record = repeat_schedule("both-ways", ring, ring_shifts(ring.size(), rounds), bytes, rounds, options);
    record.senders = ring.size();
    return record;
}

ProbeRecord probe_incast(const Communicator& all, std::uint64_t bytes, const ProbeOptions& options) {
    ProbeRecord record = repeat_schedule("incast", all, incast(all.size()), bytes, 1, options);
    record.senders = all.size() - 1;
    return record;
}

ProbeRecord probe_overhead(const Communicator& pair, std::uint64_t bytes, const ProbeOptions& options) {
    // Few enough to be buffered, many enough to be timed.
    constexpr int kMessages = 64;
    std::vector<std::byte> data(kMessages * std::max<std::uint64_t>(bytes, 1));
    const auto once = [&] {
        std::vector<MPI_Request> requests(kMessages, MPI_REQUEST_NULL);
        const auto message = [&](int i) { return data.data() + static_cast<std::uint64_t>(i) * bytes; };
        const auto count = static_cast<int>(bytes);
        if (pair.rank() == 1)
            for (int i = 0; i < kMessages; ++i)
                pair.check(
                    MPI_Irecv(message(i), count, MPI_BYTE, 0, 0, pair.get(), &requests[static_cast<std::size_t>(i)]),
                    "MPI_Irecv");
        pair.barrier("MPI_Ibarrier before a repetition", options.mpi.wait);
        double seconds = timed([&] {
            if (pair.rank() != 0) return;
            for (int i = 0; i < kMessages; ++i)
                pair.check(
                    MPI_Isend(message(i), count, MPI_BYTE, 1, 0, pair.get(), &requests[static_cast<std::size_t>(i)]),
                    "MPI_Isend");
        });
        for (MPI_Request& request : requests)
            if (request != MPI_REQUEST_NULL) pair.finish(request, "a small message", options.mpi.wait);
        if (pair.rank() != 0) seconds = 0;
        pair.all_reduce(&seconds, 1, MPI_DOUBLE, MPI_MAX, "MPI_Iallreduce of times", options.mpi.wait);
        return seconds / kMessages;
    };
    ProbeRecord record = repeat("overhead", options.patience, once, first_rank_decides(pair, options));
    record.bytes = static_cast<std::int64_t>(bytes);
    record.senders = 1;
    record.segment_bytes = record.bytes;
    record.segments_in_flight = kMessages;
    return record;
}

ProbeRecord probe_sum(std::uint64_t bytes, const ProbeOptions& options) {
    const Memory target = allocate(bytes, "a sum");
    const Memory source = allocate(bytes, "a summand");
    std::fill_n(target.get(), bytes, std::byte{0});
    std::fill_n(source.get(), bytes, std::byte{0});
    const auto once = [&] {
        return timed([&] { add_elements(ElementType::Float32, target.get(), source.get(), bytes / sizeof(float)); });
    };
    ProbeRecord record = repeat("sum", options.patience, once, alone);
    record.bytes = static_cast<std::int64_t>(bytes);
    return record;
}

ProbeRecord probe_update(std::uint64_t bytes, const ProbeOptions& options) {
    const std::uint64_t count = bytes / sizeof(float);
    std::vector<float> weights(count);
    std::vector<float> momenta(count);
    std::vector<float> gradients(count);
    const auto once = [&] {
        return timed([&] { sgd_update({}, weights.data(), momenta.data(), gradients.data(), count); });
    };
    ProbeRecord record = repeat("update", options.patience, once, alone);
    record.bytes = static_cast<std::int64_t>(bytes);
    return record;
}

}  // namespace coppice::program
