// Whole collectives: against published numbers, against their closed forms where nothing contends, and against what
// contention must make of them where something does.
#include "common/step/all_reduce.hpp"
#include "common/strategy/strategy.hpp"
#include "sim/engine.hpp"
#include "tests/support/fake_port.hpp"
#include "tests/support/schedules.hpp"
#include "tests/support/sim_support.hpp"
#include "tests/support/strategy_cases.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace coppice {
namespace {

using testing::bind;
using testing::kAlpha_s;
using testing::kB;
using testing::reference_cluster;
using testing::simulate_once;

struct ReferenceRow {
    std::uint64_t bytes;
    std::int32_t ranks;
    double ring_ms, halving_doubling_ms, binomial_ms, ps_ms;
};

std::vector<ReferenceRow> reference_rows() {
    std::ifstream file(COPPICE_SOURCE_DIR "/tests/published/reference_collectives.csv");
    std::vector<ReferenceRow> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || std::isdigit(static_cast<unsigned char>(line[0])) == 0) continue;
        std::replace(line.begin(), line.end(), ',', ' ');
        ReferenceRow row{};
        std::istringstream(line) >> row.bytes >> row.ranks >> row.ring_ms >> row.halving_doubling_ms >>
            row.binomial_ms >> row.ps_ms;
        rows.push_back(row);
    }
    return rows;
}

Schedule shipped(const std::string& choice, std::int32_t workers) {
    const StrategyChoice parsed = parse_strategy(choice, {"test", 0, 0}, "");
    return parsed.strategy->schedule({workers, parsed.parameters});
}

// A ring on one switch shares no link, so the simulator must give the formula; by the records, not only by the
// executor.
TEST(AllReduce, alone_takes_in_the_simulator_what_the_closed_form_says) {
    const AllReduceSweep sweep{CostModel(reference_cluster()),
                               {parse_strategy("ring", {"test", 0, 0}, "")},
                               {2, 5},
                               {0, 1'000'000},
                               *find_element("float32"),
                               "",
                               "",
                               0};
    const std::vector<AllReducePlan> plans = plan_all_reduces(sweep);
    const std::vector<Record> simulated = predict_all_reduces(sweep, plans, simulation_engine(1));
    const std::vector<Record> priced = predict_all_reduces(sweep, plans, closed_form_engine());
    ASSERT_EQ(simulated.size(), 4u);
    for (std::size_t i = 0; i < simulated.size(); ++i) {
        EXPECT_NEAR(*simulated[i].allreduce_s, *priced[i].allreduce_s, 1e-9 * *priced[i].allreduce_s);
        EXPECT_EQ(simulated[i].kind, "simulation");
        EXPECT_EQ(simulated[i].key, priced[i].key);
        EXPECT_EQ(simulated[i].schedule_hash, priced[i].schedule_hash);
    }
}

// The table's parameter server counts its own machine: N - 1 workers.
void compare_with_reference(std::int32_t ranks) {
    int rows = 0;
    for (const ReferenceRow& row : reference_rows()) {
        if (row.ranks != ranks) continue;
        ++rows;
        const Schedule ring = shipped("ring", ranks);
        const Schedule halving_doubling = shipped("halving-doubling", ranks);
        const Schedule tree = shipped("tree", ranks);
        const Schedule ps = shipped("ps(placement=dedicated)", ranks - 1);
        const Binding binding = bind(row.bytes / 4, 4);
        std::vector<SimJob> jobs;
        for (const Schedule* schedule : {&ring, &tree, &ps, &halving_doubling}) {
            jobs.push_back(testing::sim_job(*schedule, binding, reference_cluster()));
        }
        const std::vector<SimResult> results = simulate_isolated(jobs);
        EXPECT_NEAR(results[0].total_s * 1e3, row.ring_ms, 1e-3 * row.ring_ms) << row.bytes;
        EXPECT_NEAR(results[1].total_s * 1e3, row.binomial_ms, 1e-3 * row.binomial_ms) << row.bytes;
        EXPECT_NEAR(results[2].total_s * 1e3, row.ps_ms, 1e-3 * row.ps_ms) << row.bytes;
        EXPECT_NEAR(results[3].total_s * 1e3, row.halving_doubling_ms, 1e-3 * row.halving_doubling_ms) << row.bytes;
    }
    EXPECT_EQ(rows, 2);
}

TEST(ReferenceCollectives, agree_within_a_thousandth_on_64_ranks) {
    compare_with_reference(64);
}

TEST(ReferenceCollectives, agree_within_a_thousandth_on_256_ranks) {
    compare_with_reference(256);
}

TEST(ReferenceCollectives, agree_within_a_thousandth_on_1024_ranks) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "2,095,104 messages between 1024 threads take minutes under ASan; the other builds run this";
#endif
    compare_with_reference(1024);
}

TEST(ClosedForms, are_what_is_simulated_where_nothing_contends) {
    for (const std::int32_t p : {2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 31, 33, 48, 64}) {
        const Schedule ring = testing::ring_by_hand(p);
        const Schedule tree = testing::binomial_by_hand(p);
        std::vector<SimJob> jobs;
        const std::vector<double> sizes{1e3, 1e4, 1e6, 1e8};
        for (const double bytes : sizes) {
            const Binding binding = bind(static_cast<std::uint64_t>(bytes) / 4, 4);
            jobs.push_back(testing::sim_job(ring, binding, reference_cluster()));
            jobs.push_back(testing::sim_job(tree, binding, reference_cluster()));
        }
        const std::vector<SimResult> results = simulate_isolated(jobs);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const double ring_s = 2 * (p - 1) * (kAlpha_s + sizes[i] / (p * kB));
            const double tree_s = 2 * testing::ceil_log2(p) * (kAlpha_s + sizes[i] / kB);
            EXPECT_NEAR(results[2 * i].total_s, ring_s, 0.01 * ring_s) << "ring " << p << " " << sizes[i];
            EXPECT_NEAR(results[2 * i + 1].total_s, tree_s, 0.01 * tree_s) << "tree " << p << " " << sizes[i];
        }
    }
}

// Every strategy's own formula, overhead and sums included. It must hold within 1 % wherever the formula's assumptions
// do: one GPU a node, no backplane.
TEST(ClosedForms, of_all_strategies_are_what_is_simulated) {
    Cluster cluster = reference_cluster();
    cluster.link.overhead_s = 2e-6;
    cluster.device.sum_bytes_per_s = 50e9;
    cluster.host.sum_bytes_per_s = 5e9;
    const CostModel cost(cluster);
#ifdef __SANITIZE_ADDRESS__
    const std::vector<std::int32_t> workers{2, 3, 8};  // more take minutes; the other builds do them
#else
    const std::vector<std::int32_t> workers{2, 3, 5, 8, 13, 16, 33, 64};
#endif
    for (const StrategyChoice& choice : testing::strategy_variants()) {
        for (const std::int32_t p : workers) {
            const CollectiveCase collective = testing::case_of(choice, p);
            if (choice.strategy->refuses(collective)) continue;
            const auto servers = choice.parameters.find("servers");
            if (servers != choice.parameters.end() && servers->second == "all" && p > 16) continue;  // a minute
            const Schedule schedule = choice.strategy->schedule(collective);
            const std::vector<std::uint64_t> sizes{250, 2'500, 250'000, 25'000'000};
            std::vector<SimJob> jobs;
            for (const std::uint64_t elements : sizes) {
                jobs.push_back(testing::sim_job(schedule, bind(elements, 4), cluster));
            }
            const std::vector<SimResult> results = simulate_isolated(jobs);
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                const double expected_s = choice.strategy->closed_form_s(collective, sizes[i], 4, cost);
                EXPECT_LE(results[i].total_s, 1.01 * expected_s)
                    << choice.canonical() << " p=" << p << " elements=" << sizes[i];
                if (!choice.strategy->contract(collective).exact) continue;
                EXPECT_GE(results[i].total_s, 0.99 * expected_s)
                    << choice.canonical() << " p=" << p << " elements=" << sizes[i];
            }
        }
    }
}

// Servers on all workers, long messages, sums free: every link carries (p-1)/p W each way twice, as a ring's.
// Partitions cost latencies, 2 us a piece here, and gain nothing where a worker's link is what is full.
TEST(ParameterServers, on_all_workers_are_as_good_as_a_ring) {
    for (const std::int32_t p : {2, 3, 8, 16}) {
        const double wire_s = 2.0 * (p - 1) / p * 1e8 / kB;
        for (const char* const name :
             {"ps(servers=all)", "ps(partitions=4,servers=all)", "ps(pull=each,servers=all)"}) {
            const double simulated_s =
                simulate_once(shipped(name, p), bind(25'000'000, 4), reference_cluster()).total_s;
            EXPECT_GE(simulated_s, wire_s) << name << " " << p;
            EXPECT_LE(simulated_s, 1.02 * wire_s) << name << " " << p;
        }
    }
}

// Each dedicated server has p W/S in and as much out. With pull=each and many partitions both go on at the same time.
TEST(ParameterServers, that_are_dedicated_share_the_load_and_overlap_both_ways) {
    const std::int32_t p = 8;
    const auto simulated_s = [&](const char* name) {
        return simulate_once(shipped(name, p), bind(25'000'000, 4), reference_cluster()).total_s;
    };
    const double one_way_s = p * 1e8 / kB;
    EXPECT_NEAR(simulated_s("ps(placement=dedicated)"), 2 * one_way_s, 0.01 * one_way_s);
    EXPECT_NEAR(simulated_s("ps(placement=dedicated,servers=4)"), 2 * one_way_s / 4, 0.01 * one_way_s);
    EXPECT_NEAR(simulated_s("ps(placement=dedicated,pull=each,partitions=64)"), one_way_s * (1 + 1.0 / 64),
                0.02 * one_way_s);
}

// A ring of 8 on two nodes of 4: with ranks in a row one message of a step leaves each node, with ranks in turns all
// four do and share its link. Inside a node messages are ten times as fast, so the crossing sets the pace.
TEST(Contention, a_ring_whose_neighbours_are_on_other_nodes_shares_their_links) {
    const std::int32_t p = 8;
    const double bytes = 1e8;
    Cluster cluster = reference_cluster();
    cluster.gpus_per_node = 4;
    cluster.node_link = Link{{{0, kAlpha_s / 10, 10 * kB}}, 0};
    const auto simulated_s = [&] {
        return simulate_once(testing::ring_by_hand(p), bind(25'000'000, 4), cluster).total_s;
    };
    const double block_s = 2 * (p - 1) * (kAlpha_s + bytes / (p * kB));
    EXPECT_NEAR(simulated_s(), block_s, 0.02 * block_s);
    cluster.mapping = Mapping::RoundRobin;
    const double in_turns_s = 2 * (p - 1) * (kAlpha_s + 4 * bytes / (p * kB));
    EXPECT_NEAR(simulated_s(), in_turns_s, 1e-6 * in_turns_s);
}

TEST(Contention, a_backplane_below_the_sum_of_the_links_slows_the_ring_by_their_ratio) {
    // In each step of a ring all p ranks send at once: p B of demand on a backplane of C = 2 B, so each flow gets C / p
    // and a step takes alpha + (W/p) / (C/p) = alpha + W / C instead of alpha + W / (p B). With p = 8: four times the
    // wire time of the closed form.
    const std::int32_t p = 8;
    const double bytes = 1e8;
    Cluster cluster = reference_cluster();
    cluster.fabric.backplane_bytes_per_s = 2 * kB;
    const double simulated_s = simulate_once(testing::ring_by_hand(p), bind(25'000'000, 4), cluster).total_s;
    EXPECT_NEAR(simulated_s, 2 * (p - 1) * (kAlpha_s + bytes / (2 * kB)), 1e-6 * simulated_s);
    const double closed_form_s = 2 * (p - 1) * (kAlpha_s + bytes / (p * kB));
    EXPECT_NEAR(simulated_s / closed_form_s, 4, 0.01);
}

TEST(Contention, incast_at_a_server_costs_what_uncontended_pricing_misses) {
    // Without contention all p gradients arrive after alpha + W / B; in truth they share the server's link: p times
    // the wire time, each way.
    const std::int32_t p = 32;
    const double bytes = 1e8;
    const Schedule ps = testing::ps_by_hand(p);
    const Binding binding = bind(25'000'000, 4);
    testing::FakePricing pricing;
    pricing.message_s = [](std::uint64_t n) { return kAlpha_s + static_cast<double>(n) / kB; };
    testing::FakeWorld uncontended(ps, binding, pricing, false);
    ASSERT_TRUE(uncontended.run());
    EXPECT_NEAR(uncontended.now_s(), 2 * (kAlpha_s + bytes / kB), 1e-9);
    EXPECT_NEAR(simulate_once(ps, binding, reference_cluster()).total_s, 2 * (kAlpha_s + p * bytes / kB), 1e-6);
}

// Messages and bytes per pair of ranks, which must not depend on the port.
std::vector<SimPairTraffic> fake_traffic(const Schedule& schedule, const Binding& binding) {
    testing::FakeWorld world(schedule, binding, {}, false);
    EXPECT_TRUE(world.run()) << schedule.strategy;
    std::vector<SimPairTraffic> traffic;
    for (const auto& [pair, sum] : world.traffic()) {
        traffic.push_back({pair.first, pair.second, sum.messages, sum.bytes});
    }
    return traffic;
}

TEST(Conformance, ports_exchange_the_same_messages_and_bytes_between_each_pair_of_ranks) {
    for (const StrategyChoice& choice : testing::strategy_variants()) {
        for (const std::int32_t p : {2, 3, 8, 13}) {
            if (choice.strategy->refuses(testing::case_of(choice, p))) continue;
            const Schedule schedule = testing::schedule_of(choice, p);
            const Binding binding = bind(1009, 4);  // a prime: chunks differ in length
            const SimResult simulated = simulate_once(schedule, binding, reference_cluster());
            EXPECT_EQ(simulated.traffic, fake_traffic(schedule, binding)) << schedule.strategy << " " << p;
            EXPECT_FALSE(simulated.traffic.empty()) << schedule.strategy << " " << p;
        }
    }
}

}  // namespace
}  // namespace coppice
