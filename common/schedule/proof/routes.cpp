#include "common/schedule/proof/routes.hpp"

#include "common/schedule/proof/describe.hpp"

#include <fmt/format.h>

namespace coppice::proof {

namespace {

std::uint64_t packed(Rank from, Rank to, std::uint16_t channel) {
    const auto bits = [](Rank rank) { return std::uint64_t{static_cast<std::uint32_t>(rank) & 0xffffffu}; };
    return bits(from) << 40 | bits(to) << 16 | channel;
}

// One of the route's operations, for a finding.
Flaw flaw_of(const Schedule& schedule, End end, const Route& route, std::uint32_t n, const std::string& what) {
    const Placed placed = nth_message(schedule, end, route.from, route.to, route.channel, n);
    return flaw_at(schedule, end == End::Send ? route.from : route.to, placed.at, placed.op, what);
}

std::optional<Flaw> check_lanes(const Schedule& schedule, const Route& route, const Route* inbox, const Route* outbox) {
    if (inbox != nullptr && route.recv.count > 0 && inbox->recv.lane != route.recv.lane)
        return flaw_of(schedule, End::Recv, route, 0,
                       fmt::format("the same channel is received from any rank on lane {}, so that it is not certain "
                                   "who gets a message of rank {}",
                                   inbox->recv.lane, route.from));
    if (outbox != nullptr && route.send.count > 0 && outbox->send.lane != route.send.lane)
        return flaw_of(schedule, End::Send, route, 0,
                       fmt::format("lane {} sends to matched ranks on the same channel, so that the order of messages "
                                   "to rank {} is not certain",
                                   outbox->send.lane, route.to));
    return std::nullopt;
}

}  // namespace

std::uint32_t RouteTable::id(Rank from, Rank to, std::uint16_t channel) {
    const auto [found, added] = ids_.try_emplace(packed(from, to, channel), static_cast<std::uint32_t>(routes_.size()));
    if (added) {
        routes_.push_back({.from = from, .to = to, .channel = channel, .send = {}, .recv = {}});
        has_any_rank_ = has_any_rank_ || from == kAnyRank;
    }
    return found->second;
}

std::optional<std::uint32_t> RouteTable::find_id(Rank from, Rank to, std::uint16_t channel) const {
    const auto found = ids_.find(packed(from, to, channel));
    if (found == ids_.end()) return std::nullopt;
    return found->second;
}

const Route* RouteTable::find(Rank from, Rank to, std::uint16_t channel) const {
    const auto found = find_id(from, to, channel);
    return found ? &routes_[*found] : nullptr;
}

std::optional<Flaw> check_routes(const Schedule& schedule, const RouteTable& routes) {
    // A send that nobody receives says more than a receive that nobody serves, so those come first.
    for (const End end : {End::Send, End::Recv}) {
        for (const Route& route : routes.all()) {
            if (route.from == kAnyRank || route.to == kMatchedRank) continue;
            const Route* inbox = routes.find(kAnyRank, route.to, route.channel);
            const Route* outbox = routes.find(route.from, kMatchedRank, route.channel);
            if (auto flaw = check_lanes(schedule, route, inbox, outbox)) return flaw;
            if (inbox != nullptr || outbox != nullptr) continue;  // counted in the replay
            if (end == End::Send && route.send.count > route.recv.count)
                return flaw_of(schedule, end, route, route.recv.count,
                               fmt::format("is never received: {} sends, but rank {} receives {} of them",
                                           route.send.count, route.to, route.recv.count));
            if (end == End::Recv && route.recv.count > route.send.count)
                return flaw_of(schedule, end, route, route.send.count,
                               fmt::format("is never sent: {} receives, but rank {} sends {} of them", route.recv.count,
                                           route.from, route.send.count));
        }
    }
    return std::nullopt;
}

}  // namespace coppice::proof
