// A rank's port on MPI: posts what the interpreter starts, and progresses all lanes of the rank together.
//
//   message   travels in segments, several of them posted at a time:
//                 sender    │ 0 │ 1 │ 2 │ 3 │ ...      so that the wire is not idle between two of them, and the sum of
//                 receiver  │ 0 │ 1 │ 2 │ 3 │ ...      one (recv_reduce) runs while the next ones arrive
//             Both ends cut at the same places, since they know the same length and have the same options.
//   order     The k-th send of a route (sender, receiver, channel) meets its k-th receive by MPI's non-overtaking rule:
//             tag = channel, all messages of a route are on one lane at either end, and a lane posts all segments of a
//             message before the first of the next.
//   any rank  The first segment is received from MPI_ANY_SOURCE, the others from whoever that was; the next such
//             receive of the channel is posted only when all are in, so it cannot catch a segment out of the middle.
//   sums      Segments of a recv_reduce are received aside (scratch, only while under way) and added as they come. That
//             is before the interpreter says start_sum, and allowed: from its start on the operation owns its slice.
//   work      compute and update stand for a device that is not there: they last as long as the binding says, one after
//             another.
//
// A rendezvous in the schedule may be less here: MPI may buffer a small message and complete its send before the
// receive. What was proved without buffering (no deadlock, which data goes where) holds with it.
#pragma once

#include "common/schedule/interpreter.hpp"
#include "runtime/mpi_call.hpp"
#include "runtime/rank_buffers.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace coppice {

// 256 KiB: a segment and what it is added to stay in a core's cache between arrival and sum, and its 2 ms on a 1 Gbit/s
// wire are long against the cost of a message. docs/running.md has what other sizes measure.
inline constexpr std::uint64_t kDefaultSegmentBytes = 256 * 1024;
// Counts of MPI 3 are ints, and transports have had faults near 2^31 bytes: no message of more than 2^30.
inline constexpr std::uint64_t kLargestMessageBytes = std::uint64_t{1} << 30;

struct MpiOptions {
    std::uint64_t segment_bytes = kDefaultSegmentBytes;          // 0: messages whole
    std::uint32_t segments_in_flight = 8;                        // posted at a time, of one message
    std::uint64_t largest_message_bytes = kLargestMessageBytes;  // lower only in tests, to see messages split
    WaitOptions wait;
};

struct PairTraffic {
    std::uint64_t messages = 0;  // of the schedule: segments do not count
    std::uint64_t bytes = 0;
    friend bool operator==(const PairTraffic&, const PairTraffic&) = default;
};

class MpiPort : public BlockingPort {
public:
    // Ranks of the communicator are those of the schedule. What is given must outlive the port.
    MpiPort(const Communicator& comm, const Schedule& schedule, const Binding& binding, const RankBuffers& buffers,
            const MpiOptions& options);
    ~MpiPort() override;  // in the middle (a standstill): withdraws its receives
    MpiPort(const MpiPort&) = delete;
    MpiPort& operator=(const MpiPort&) = delete;

    // The program that will be played: a report of a standstill names its operations.
    void attend(const RankProgram& program) { program_ = &program; }

    void start_send(OpAt at, Rank peer, const Op& op) override;
    void start_recv(OpAt at, Rank peer, const Op& op) override;
    void start_sum(OpAt at, const Op& op) override;
    void start_copy(OpAt at, const Op& op) override;
    void start_work(OpAt at, const Op& op) override;
    // EnvironmentError if MPI reports one, or if nothing moves for wait.timeout_s: with all pending operations.
    Completion wait_next() override;

    const std::map<Rank, PairTraffic>& sent() const { return sent_; }
    std::uint64_t segments_sent() const { return segments_sent_; }
    std::string pending_in_words() const;

private:
    using Clock = std::chrono::steady_clock;

    // The message under way on a lane (a lane has one operation at a time).
    struct Message {
        OpAt at;
        Op op;
        Rank peer = 0;  // kAnyRank until the first segment has come
        std::byte* place = nullptr;
        std::uint64_t elements = 0;
        std::uint64_t segments = 0;
        std::uint64_t posted = 0;
        std::uint64_t through = 0;   // MPI has completed them
        std::uint64_t finished = 0;  // ... and they are summed
    };
    struct Segment {
        std::uint32_t lane;
        std::uint64_t number;
        Memory aside;  // recv_reduce: where it is received
    };
    // A sum or a copy of this rank's own, done piece by piece so that messages are not kept waiting.
    struct LocalWork {
        OpAt at;
        Op op;
        std::uint64_t done = 0;  // elements
    };
    struct Timer {
        Clock::time_point end;
        OpAt at;
    };

    void start_message(OpAt at, Rank peer, const Op& op);
    void post_segments(Message& message);
    void post(Message& message, std::uint64_t number);
    bool poll();
    void segment_through(Segment segment, const MPI_Status& status);
    void segment_finished(Message& message);
    bool sum_one_arrival();
    bool do_one_piece();
    bool end_timers();
    [[noreturn]] void report_standstill() const;

    std::uint64_t segment_elements(const Message& message, std::uint64_t number) const;

    const Communicator& comm_;
    const Schedule& schedule_;
    const Binding& binding_;
    const RankBuffers& buffers_;
    MpiOptions options_;
    MPI_Datatype datatype_;
    std::uint64_t longest_segment_;  // elements
    std::uint64_t aside_bytes_ = 0;  // of the longest segment that is ever to be summed
    const RankProgram* program_ = nullptr;
    Idle idle_;

    std::vector<Message> messages_;      // by lane
    std::vector<MPI_Request> requests_;  // under way, each with its segment
    std::vector<Segment> segments_;
    std::vector<int> indices_;  // what MPI_Testsome fills
    std::vector<MPI_Status> statuses_;
    std::deque<Segment> arrivals_;  // received aside, to be summed
    std::deque<LocalWork> local_;
    std::deque<Timer> timers_;
    std::deque<Completion> ready_;
    std::vector<Memory> spare_;  // scratch of one segment each, to be used again
    std::map<Rank, PairTraffic> sent_;
    std::uint64_t segments_sent_ = 0;
};

}  // namespace coppice
