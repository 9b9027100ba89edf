// What can be proved of one rank alone, in one pass over its operations in order of emission, before anything is
// replayed: shapes (slices in their buffers, peers that exist), order of its lanes, and declared uniformity. A schedule
// that passes cannot trip the interpreter.
#pragma once

#include "common/schedule/proof/lane_order.hpp"
#include "common/schedule/proof/routes.hpp"

#include <optional>
#include <string>
#include <vector>

namespace coppice::proof {

// Waits, which the interpreter keeps to itself and the replay needs for the longest chain of messages.
struct WaitFact {
    std::uint32_t index = 0;  // in its lane
    std::uint32_t lane = 0;   // waited for; kAllLanes
    std::uint32_t count = 0;  // operations of that lane; kAllLanes: where in RankFacts::all_lanes the counts stand
};
struct LaneFacts {
    std::uint32_t ops = 0;
    std::vector<WaitFact> waits;
};
struct RankFacts {
    std::vector<LaneFacts> lanes;
    std::vector<std::uint32_t> all_lanes;  // for each wait for all: number of lanes, then their counts
};

// Tensors, buffers, ranks: what belongs to no operation.
std::optional<Flaw> check_frame(const Schedule& schedule);

class LocalProof {
public:
    LocalProof(const Schedule& schedule, RouteTable& routes) : schedule_(schedule), routes_(routes), order_(schedule) {}

    // Fills `facts` and enters the rank's messages into the routes.
    std::optional<Flaw> check(Rank rank, RankFacts& facts);

private:
    struct LaneState {
        bool heard_any = false;        // a receive from any rank came before
        std::uint32_t last_route = 0;  // of its latest message: spares the look-up
        bool has_route = false;
    };

    std::optional<std::string> add(const RoundOps::Item& item, OpAt at, RankFacts& facts);
    std::optional<std::string> check_shape(const Op& op) const;
    std::optional<std::string> check_in_buffer(const Slice& slice) const;
    std::optional<std::string> check_peer(const Op& op, const LaneState& lane) const;
    std::optional<std::string> check_blocks(const Op& op) const;
    std::optional<std::string> check_wait(const Op& op, const RankFacts& facts) const;
    void note_wait(const Op& op, OpAt at, RankFacts& facts) const;
    std::optional<std::string> note_message(const Op& op, OpAt at);
    std::uint32_t route_of(const Op& op, LaneState& lane);
    std::optional<std::string> check_order(const Op& op, OpAt at);

    const Schedule& schedule_;
    RouteTable& routes_;
    LaneOrder order_;
    Rank rank_ = 0;
    std::uint64_t emitted_ = 0;  // by this rank, all lanes
    std::vector<LaneState> lanes_;
};

}  // namespace coppice::proof
