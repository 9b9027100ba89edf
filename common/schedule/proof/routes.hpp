// Who speaks with whom: one route for each (sender, receiver, channel) of a schedule. The k-th send of a route meets
// its k-th receive, so all its sends stand on one lane and all its receives on one.
//
// Receives from any rank have a route from kAnyRank (the receiver's inbox of that channel), sends to a matched rank
// one to kMatchedRank.
#pragma once

#include "common/schedule/verifier.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace coppice::proof {

struct Route {
    struct Side {
        std::uint32_t count = 0;  // messages, over the whole schedule
        std::uint32_t lane = 0;
        std::uint32_t first_index = 0;  // in that lane
    };
    Rank from;
    Rank to;
    std::uint16_t channel;
    Side send;
    Side recv;
};

class RouteTable {
public:
    // Ranks are packed into 24 bits, less two values for kAnyRank and kMatchedRank.
    static constexpr std::int32_t kRanksMax = 0xfffff0;

    // Finds or adds.
    std::uint32_t id(Rank from, Rank to, std::uint16_t channel);
    const Route* find(Rank from, Rank to, std::uint16_t channel) const;
    std::optional<std::uint32_t> find_id(Rank from, Rank to, std::uint16_t channel) const;

    Route& operator[](std::uint32_t id) { return routes_[id]; }
    const std::vector<Route>& all() const { return routes_; }
    bool has_any_rank() const { return has_any_rank_; }

private:
    std::vector<Route> routes_;
    std::unordered_map<std::uint64_t, std::uint32_t> ids_;
    bool has_any_rank_ = false;
};

// After all operations are entered: one lane a side also where ranks are matched at run time, and as many sends as
// receives where they are not.
std::optional<Flaw> check_routes(const Schedule& schedule, const RouteTable& routes);

}  // namespace coppice::proof
