// The symbolic replay: all ranks together, through the interpreter, with sets of contributions in place of numbers.
//
//     data[2] of rank 1  =  {0, 1}  a bit a worker: whose contribution is in the sum
//
// A receive adds the sender's set to its own (sums must not have a worker in common) or replaces it. Messages are
// rendezvous: they happen when both ends are posted. A receive from any rank takes its message when nothing else can
// move, so that all candidates are there; which one is the order of arrival's choice.
#pragma once

#include "common/schedule/interpreter.hpp"
#include "common/schedule/proof/local_proof.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace coppice::proof {

struct Arrivals {
    enum class Order { Ascending, Descending, Shuffled };
    Order order = Order::Ascending;  // of the senders' ranks
    std::uint32_t seed = 0;
    std::string in_words() const;
};

class Replay {
public:
    // All local proofs and check_routes have passed.
    Replay(const Schedule& schedule, const std::vector<RankFacts>& facts, const RouteTable& routes,
           const Arrivals& arrivals);
    Verdict run();

private:
    // What a rank holds of one buffer; made when first touched.
    struct Image {
        std::vector<std::uint64_t> sets;  // words_ a slot
        std::vector<std::uint8_t> defined;
        std::vector<OpAt> writer;  // the latest; lane kAllLanes: none
    };
    struct LaneState {
        OpAt at;  // the operation under way
        Op op;
        Rank peer = kAnyRank;     // resolved
        std::uint32_t depth = 0;  // messages in the longest chain up to where the lane is
        std::uint32_t waits_passed = 0;
        std::uint32_t last_route = 0;  // of its latest message: spares the look-up
        bool has_route = false;
        std::vector<std::uint32_t> depth_after;  // by operation that is complete
        std::vector<std::uint64_t> aside;        // a recv_reduce's message
    };
    struct Posted {
        Rank rank = 0;
        std::uint32_t lane = 0;
    };
    // A route's posted ends that have not met, or (routes from kAnyRank) the inbox of a receiver.
    struct Meeting {
        std::optional<std::uint32_t> inbox;  // the route of the receiver's inbox, if it has one on this channel
        std::optional<Posted> send;
        std::optional<Posted> recv;
        std::vector<Posted> inbox_sends;
    };
    // One rank's view of the replay.
    class RankPort : public Port {
    public:
        RankPort(Replay& replay, Rank rank) : replay_(replay), rank_(rank) {}
        void start_send(OpAt at, Rank peer, const Op& op) override { replay_.post(rank_, at, peer, op); }
        void start_recv(OpAt at, Rank peer, const Op& op) override { replay_.post(rank_, at, peer, op); }
        void start_sum(OpAt at, const Op& op) override { replay_.sum(rank_, at, op); }
        void start_copy(OpAt at, const Op& op) override { replay_.copy(rank_, at, op); }
        void start_work(OpAt at, const Op& op) override;

    private:
        Replay& replay_;
        Rank rank_;
    };
    struct Event {
        Rank rank;
        Completion completion;
    };
    // The first time that a contribution was overwritten in the result buffer: why it is missing at the end.
    struct Loss {
        Rank rank;
        OpAt at;
        Op op;
        std::uint32_t slot;
        std::vector<std::uint64_t> lost;
    };

    // --- replay.cpp: operations ---
    LaneState& lane(Rank rank, std::uint32_t number) { return lanes_[lane_base_[rank] + number]; }
    LaneState& begin(Rank rank, OpAt at, const Op& op);
    void finish(Rank rank, LaneState& state, Rank matched = kAnyRank);
    void sum(Rank rank, OpAt at, const Op& op);
    void copy(Rank rank, OpAt at, const Op& op);
    Image& image(Rank rank, std::uint16_t buffer);
    bool readable(Rank rank, const LaneState& state, const Slice& slice);
    bool add(Rank rank, const LaneState& state, std::uint32_t slot, const std::uint64_t* set);
    void overwrite(Rank rank, const LaneState& state, std::uint32_t slot, const std::uint64_t* set);
    std::uint32_t depth_after(Rank rank, std::uint32_t lane_number, std::uint32_t count);
    void fail(Rank rank, const LaneState& state, const std::string& what);

    // --- rendezvous.cpp: messages ---
    void post(Rank rank, OpAt at, Rank peer, const Op& op);
    void post_to_inbox(Meeting& inbox, const Posted& posted, const LaneState& state);
    bool serve_an_inbox();
    std::uint32_t route_of(Rank rank, LaneState& state);
    void prepare_meetings();
    bool fits(const LaneState& sender, Rank from, const LaneState& receiver, Rank to);
    void transfer(const Posted& send, const Posted& recv);

    // --- outcome.cpp: the end, good or bad ---
    struct Blocked {
        Rank rank;
        RankProgram::Pending pending;
    };
    void check_stuck();
    std::optional<Blocked> blocked_on(const Blocked& blocked, std::string& dead_end);
    std::optional<Blocked> pending_on(Rank rank, std::uint32_t lane_number) const;
    std::string cycle_in_words(const std::vector<Blocked>& cycle) const;
    void check_postcondition();
    void check_result(Rank rank, const std::vector<std::uint64_t>& wanted);

    const Schedule& schedule_;
    const std::vector<RankFacts>& facts_;
    RouteTable routes_;
    Arrivals arrivals_;
    std::mt19937 random_;
    std::size_t words_;
    std::vector<Image> images_;  // rank * buffers + buffer
    std::vector<LaneState> lanes_;
    std::vector<std::size_t> lane_base_;
    std::vector<Meeting> meetings_;  // by route
    std::vector<std::uint32_t> inboxes_;
    std::deque<RankProgram> programs_;
    std::deque<RankPort> ports_;
    std::vector<Event> events_;
    std::optional<Loss> loss_;
    Verdict verdict_;
};

}  // namespace coppice::proof
