// The one interpreter: decides what a rank may start next. All executors (SimGrid, MPI, the verifier, the tests'
// port) are ports below it, so the schedule that was proved is the schedule that was simulated and the one that was
// run.
//
//        RankProgram (lanes, waits, lazy expansion)
//             │ start_send / start_recv / start_sum / start_copy / start_work      ▲ complete(at, matched)
//             ▼                                                                    │
//           Port: SimGrid actor │ MPI requests │ symbolic replay │ test
//
// recv_reduce is taken apart here: start_recv (received aside), then start_sum; its end is the end of the sum.
#pragma once

#include "common/schedule/schedule.hpp"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace coppice {

// Names an operation of one rank: its lane and its position in that lane (waits count).
struct OpAt {
    std::uint32_t lane = 0;
    std::uint32_t index = 0;
    friend bool operator==(const OpAt&, const OpAt&) = default;
};

// What an executor offers one rank. Each start_* returns at once; the completion is reported later through
// RankProgram::complete, exactly once, never from inside start_*. `peer` is resolved (a kMatchedRank send has its
// rank), except that a receive may have kAnyRank.
class Port {
public:
    virtual ~Port() = default;
    virtual void start_send(OpAt at, Rank peer, const Op& op) = 0;
    virtual void start_recv(OpAt at, Rank peer, const Op& op) = 0;  // op.kind RecvReduce: into a place aside
    virtual void start_sum(
        OpAt at, const Op& op) = 0;  // RecvReduce: slice += what was received; Reduce: slice += blocks of source
    virtual void start_copy(OpAt at, const Op& op) = 0;
    virtual void start_work(OpAt at, const Op& op) = 0;  // Compute, Update
};

struct Completion {
    OpAt at;
    Rank matched = kAnyRank;  // a receive from any rank: whose message it was
};

// A port that one thread of control can wait on (an MPI process, a SimGrid actor).
class BlockingPort : public Port {
public:
    virtual Completion wait_next() = 0;
};

// Sees begin and end of each operation (waits excepted); the clock is the observer's own.
class OpObserver {
public:
    virtual ~OpObserver() = default;
    virtual void begin(Rank rank, OpAt at, const Op& op) = 0;
    virtual void end(Rank rank, OpAt at, const Op& op) = 0;
};

class RankProgram {
public:
    RankProgram(const Schedule& schedule, Rank rank, OpObserver* observer = nullptr);

    // Starts everything that may start now; returns when nothing more can.
    void start_ready(Port& port);
    // An operation (or the receive half of a recv_reduce) has completed. May call port.start_sum; otherwise
    // start_ready must be called to go on.
    void complete(const Completion& completion, Port& port);
    bool done() const;

    Rank rank() const { return rank_; }
    std::size_t in_flight() const { return in_flight_; }

    // For reports of deadlock: the operation at the head of each lane that is not finished (an operation under way, or
    // a wait).
    struct Pending {
        OpAt at;
        Op op;
        bool started;
    };
    std::vector<Pending> pending() const;

private:
    struct Queued {
        Op op;
        std::uint64_t emission;  // number in order of emission over all lanes
    };
    struct Lane {
        std::deque<Queued> queue;    // front: the next, or the one under way
        std::uint32_t index = 0;     // position of the front; so many operations of the lane are complete
        std::uint64_t expected = 0;  // operations over the whole schedule, so that a lane at its end needs no expansion
        bool busy = false;           // the front has been started
        bool receiving = false;      // ... and is in the receive half of a recv_reduce
        Rank matched = kAnyRank;     // by the latest receive from any rank
        std::vector<std::pair<std::uint64_t, std::uint32_t>> waiters;  // min-heap of (index awaited, lane that waits)
    };

    void survey_lanes();
    bool rounds_remain();
    void expand_next_round();
    bool wait_satisfied(const Op& op) const;
    void start_front(std::uint32_t lane, Port& port);
    void finish_front(std::uint32_t lane);
    void mark_complete(std::uint64_t emission);

    const Schedule& schedule_;
    Rank rank_;
    OpObserver* observer_;
    std::size_t phase_ = 0;
    std::uint32_t round_ = 0;
    RoundOps round_ops_;
    std::vector<Lane> lanes_;
    // Lanes whose front may be startable. A lane with operations is in exactly one place: here, busy, or among the
    // waiters of what it waits for; so a step costs no more than the lanes it changes.
    std::vector<std::uint32_t> candidates_;
    std::size_t starving_ = 0;  // lanes with nothing queued that get more operations in later rounds
    std::uint64_t emitted_ = 0;
    // All operations with an emission number below this are complete; completed ones above it are kept apart.
    std::uint64_t complete_below_ = 0;
    std::vector<std::uint64_t> complete_above_;                            // a min-heap
    std::vector<std::pair<std::uint64_t, std::uint32_t>> waiters_on_all_;  // as Lane::waiters
    std::size_t in_flight_ = 0;
    std::size_t queued_ = 0;
};

// Drives one rank to its end on a port it can block on.
void run_rank(RankProgram& program, BlockingPort& port);

}  // namespace coppice
