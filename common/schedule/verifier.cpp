#include "common/schedule/verifier.hpp"

#include "common/schedule/proof/local_proof.hpp"
#include "common/schedule/proof/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace coppice {

namespace {

using proof::Arrivals;

// Orders of arrival in which receives from any rank are replayed.
std::vector<Arrivals> orders_of_arrival(bool any_rank) {
    std::vector<Arrivals> orders = {{.order = Arrivals::Order::Ascending}};
    if (!any_rank) return orders;
    constexpr std::uint32_t kShuffles = 8;
    orders.push_back({.order = Arrivals::Order::Descending});
    for (std::uint32_t seed = 1; seed <= kShuffles; ++seed)
        orders.push_back({.order = Arrivals::Order::Shuffled, .seed = seed});
    return orders;
}

}  // namespace

Verdict verify(const Schedule& schedule) {
    Verdict verdict;
    verdict.flaw = proof::check_frame(schedule);
    if (!verdict.ok()) return verdict;

    proof::RouteTable routes;
    proof::LocalProof local(schedule, routes);
    std::vector<proof::RankFacts> facts(schedule.ranks);
    for (Rank rank = 0; rank < schedule.ranks; ++rank) {
        verdict.flaw = local.check(rank, facts[rank]);
        if (!verdict.ok()) return verdict;
    }
    verdict.flaw = proof::check_routes(schedule, routes);
    if (!verdict.ok()) return verdict;

    for (const Arrivals& arrivals : orders_of_arrival(routes.has_any_rank())) {
        Verdict replayed = proof::Replay(schedule, facts, routes, arrivals).run();
        if (!replayed.ok() && routes.has_any_rank())
            replayed.flaw->message += fmt::format(" ({})", arrivals.in_words());
        replayed.critical_messages = std::max(replayed.critical_messages, verdict.critical_messages);
        verdict = std::move(replayed);
        if (!verdict.ok()) break;
    }
    return verdict;
}

}  // namespace coppice
