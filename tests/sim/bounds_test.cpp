// No simulated all-reduce is faster than its links allow, and the best of the family comes close to that where the
// literature says so.
#include "common/strategy/strategy.hpp"
#include "tests/support/schedules.hpp"
#include "tests/support/sim_support.hpp"
#include "tests/support/strategy_cases.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>

namespace coppice {
namespace {

using testing::bind;
using testing::kAlpha_s;
using testing::kB;
using testing::reference_cluster;

// One GPU a node, no helpers. Each element's sum takes p - 1 messages and its way back p - 1 more, over all ranks
// 2 (p-1) W, so some link carries 2 (p-1)/p W one way (Patarasuk and Yuan 2009, theorem 1). Who takes one message at a
// time can bring 2^k contributions together in k of them; a server that takes p at once needs no more than two messages
// in a row, so where the longest chain is shorter that is the bound.
double bound_s(std::int32_t p, double bytes, std::uint32_t steps) {
    return std::max(2.0 * (p - 1) / p * bytes / kB, std::min(testing::ceil_log2(p), steps) * kAlpha_s);
}

// A worker sends W and is sent W; S dedicated servers have p W to receive and p W to send among them. Both ways at once
// at best, and a sum takes two messages in a row.
double bound_with_servers_s(std::int32_t p, double bytes, std::int32_t servers) {
    return std::max(std::max(1.0, static_cast<double>(p) / servers) * bytes / kB, 2 * kAlpha_s);
}

const std::vector<std::uint64_t> kElements{1, 250, 25'000, 2'500'000};

std::vector<double> simulated_s(const StrategyChoice& choice, std::int32_t p, const Cluster& cluster) {
    const Schedule schedule = testing::schedule_of(choice, p);
    std::vector<SimJob> jobs;
    for (const std::uint64_t elements : kElements)
        jobs.push_back(testing::sim_job(schedule, bind(elements, 4), cluster));
    std::vector<double> seconds;
    for (const SimResult& result : simulate_isolated(jobs)) seconds.push_back(result.total_s);
    return seconds;
}

TEST(Bounds, hold_for_every_strategy) {
    for (const StrategyChoice& choice : testing::strategy_variants()) {
        for (const std::int32_t p : {2, 3, 4, 7, 8, 13, 32}) {
            if (testing::refused(choice, p)) continue;
            const std::uint32_t steps = choice.strategy->contract(testing::case_of(choice, p)).steps;
            const std::int32_t servers = testing::schedule_of(choice, p).servers();
            const std::vector<double> seconds = simulated_s(choice, p, reference_cluster());
            for (std::size_t i = 0; i < seconds.size(); ++i) {
                const double bytes = 4.0 * static_cast<double>(kElements[i]);
                const double least_s = servers > 0 ? bound_with_servers_s(p, bytes, servers) : bound_s(p, bytes, steps);
                EXPECT_GE(seconds[i], least_s * (1 - 1e-9))
                    << choice.canonical() << " p=" << p << " elements=" << kElements[i];
            }
        }
    }
}

// Several GPUs a node share its link: 2 (n-1)/n W over n nodes, since what a node's GPUs have added up is one
// contribution.
TEST(Bounds, hold_where_gpus_share_a_node) {
    Cluster cluster = reference_cluster();
    cluster.gpus_per_node = 4;
    cluster.node_link = cluster.link;
    cluster.node_link->segments = {{0, kAlpha_s / 10, 10 * kB}};
    for (const StrategyChoice& choice : testing::strategy_variants()) {
        const std::int32_t p = 16;
        CollectiveCase collective{p, choice.parameters, 4};
        if (choice.strategy->refuses(collective)) continue;
        const Schedule schedule = choice.strategy->schedule(collective);
        if (schedule.servers() > 0) continue;
        std::vector<SimJob> jobs;
        for (const std::uint64_t elements : kElements)
            jobs.push_back(testing::sim_job(schedule, bind(elements, 4), cluster));
        const std::vector<SimResult> results = simulate_isolated(jobs);
        for (std::size_t i = 0; i < results.size(); ++i)
            EXPECT_GE(results[i].total_s, bound_s(4, 4.0 * static_cast<double>(kElements[i]), 2) * (1 - 1e-9))
                << choice.canonical() << " elements=" << kElements[i];
    }
}

// Long messages: rings, and halving-doubling on powers of two. Short ones: recursive doubling on powers of two.
TEST(Bounds, are_reached_within_a_tenth_by_the_best) {
    for (const std::int32_t p : {2, 3, 4, 7, 8, 13, 16, 32}) {
        std::map<std::size_t, double> best_s;
        for (const StrategyChoice& choice : testing::strategy_variants()) {
            if (testing::refused(choice, p) || testing::schedule_of(choice, p).servers() > 0) continue;
            const std::vector<double> seconds = simulated_s(choice, p, reference_cluster());
            for (std::size_t i = 0; i < seconds.size(); ++i) {
                const auto known = best_s.find(i);
                if (known == best_s.end() || seconds[i] < known->second) best_s[i] = seconds[i];
            }
        }
        const double longest = 4.0 * static_cast<double>(kElements.back());
        EXPECT_LE(best_s.at(kElements.size() - 1), 1.1 * bound_s(p, longest, testing::ceil_log2(p))) << p;
        if (!std::has_single_bit(static_cast<std::uint32_t>(p))) continue;
        EXPECT_LE(best_s.at(0), 1.1 * bound_s(p, 4, testing::ceil_log2(p))) << p;
    }
}

}  // namespace
}  // namespace coppice
