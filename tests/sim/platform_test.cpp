#include "sim/platform.hpp"

#include "sim/byte_stream.hpp"
#include "tests/support/schedules.hpp"
#include "tests/support/sim_support.hpp"

#include <gtest/gtest.h>
#include <simgrid/s4u.hpp>

namespace coppice {
namespace {

using testing::bind;
using testing::kAlpha_s;
using testing::kB;
using testing::reference_cluster;
using testing::simulate_once;

struct Flow {
    Rank from;
    Rank to;
};

const Slice kAll{0, 0, 1};

// Each flow on a lane of its own, all at once.
Schedule flows(std::int32_t ranks, const std::vector<Flow>& all) {
    return testing::one_phase(ranks, 1, 1, [all](Rank rank, std::uint32_t, RoundOps& ops) {
        for (std::uint32_t i = 0; i < all.size(); ++i) {
            if (rank == all[i].from) ops.send(i, all[i].to, kAll, static_cast<std::uint16_t>(i));
            if (rank == all[i].to) ops.recv(i, all[i].from, kAll, static_cast<std::uint16_t>(i));
        }
    });
}

// 1.25 MB: 100 us on a link of the reference cluster.
const Binding kMessage = bind(312'500, 4);
constexpr double kWire_s = 1'250'000 / kB;

double seconds(std::int32_t ranks, const std::vector<Flow>& all, const Cluster& cluster = reference_cluster()) {
    return simulate_once(flows(ranks, all), kMessage, cluster).total_s;
}

TEST(Platform, a_lone_message_takes_latency_and_wire) {
    EXPECT_NEAR(seconds(2, {{0, 1}}), kAlpha_s + kWire_s, 1e-12);
}

TEST(Platform, flows_out_of_a_node_share_its_up_link) {
    EXPECT_NEAR(seconds(3, {{0, 1}, {0, 2}}), kAlpha_s + 2 * kWire_s, 1e-11);
}

TEST(Platform, incast_shares_the_down_link) {
    for (const std::int32_t k : {2, 3, 10, 63}) {
        std::vector<Flow> all;
        for (Rank from = 1; from <= k; ++from) all.push_back({from, 0});
        EXPECT_NEAR(seconds(k + 1, all), kAlpha_s + k * kWire_s, 1e-9 * k * kWire_s) << k;
    }
}

TEST(Platform, directions_do_not_disturb_each_other) {
    EXPECT_NEAR(seconds(2, {{0, 1}, {1, 0}}), kAlpha_s + kWire_s, 1e-12);
}

TEST(Platform, bandwidth_is_shared_max_min) {
    // 0 -> 1, 0 -> 2 and 3 -> 2: the link up from 0 and the link down to 2 carry two flows each, so each flow gets B/2
    // (0 -> 1 cannot get more since 0 -> 2 takes its half): all end at 2 W / B.
    EXPECT_NEAR(seconds(4, {{0, 1}, {0, 2}, {3, 2}}), kAlpha_s + 2 * kWire_s, 1e-11);
    // Three into 2 and one of those senders also to 1: into 2 each gets B/3, so 0 -> 1 has 2/3 B and ends at 3/2 W/B.
    const Schedule schedule = flows(5, {{0, 1}, {0, 2}, {3, 2}, {4, 2}});
    const SimResult result = simulate_once(schedule, kMessage, reference_cluster());
    EXPECT_NEAR(result.rank_end_s[1], kAlpha_s + 1.5 * kWire_s, 1e-10);
    EXPECT_NEAR(result.rank_end_s[2], kAlpha_s + 3 * kWire_s, 1e-10);
}

TEST(Platform, zero_bytes_take_the_latency) {
    const Binding nothing = bind(0, 4);
    EXPECT_NEAR(simulate_once(flows(2, {{0, 1}}), nothing, reference_cluster()).total_s, kAlpha_s, 1e-15);
}

TEST(Platform, a_backplane_is_shared_by_all_traffic_in_both_directions) {
    // Two pairs both ways: 4 flows. A backplane of 2 B gives each B/2.
    Cluster cluster = reference_cluster();
    cluster.fabric.backplane_bytes_per_s = 2 * kB;
    EXPECT_NEAR(seconds(4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}}, cluster), kAlpha_s + 2 * kWire_s, 1e-11);
    // One that suffices changes nothing.
    cluster.fabric.backplane_bytes_per_s = 4 * kB;
    EXPECT_NEAR(seconds(4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}}, cluster), kAlpha_s + kWire_s, 1e-11);
}

// Four GPUs a node, joined by links of 4 B and 0.25 us.
Cluster four_a_node() {
    Cluster cluster = reference_cluster();
    cluster.gpus_per_node = 4;
    cluster.node_link = Link{{{0, kAlpha_s / 4, 4 * kB}}, 0};
    return cluster;
}

TEST(Platform, gpus_of_a_node_use_its_own_link) {
    EXPECT_NEAR(seconds(4, {{0, 1}}, four_a_node()), kAlpha_s / 4 + kWire_s / 4, 1e-12);
    // Full duplex each: a ring inside the node runs at full speed.
    EXPECT_NEAR(seconds(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, four_a_node()), kAlpha_s / 4 + kWire_s / 4, 1e-12);
}

TEST(Platform, gpus_of_a_node_share_its_link_to_the_fabric) {
    // 0 and 1 are in one node, 4 in the second, 8 in the third: they share the first node's up link.
    EXPECT_NEAR(seconds(12, {{0, 4}, {1, 8}}, four_a_node()), kAlpha_s + 2 * kWire_s, 1e-11);
    // ... and the down link of the second.
    EXPECT_NEAR(seconds(12, {{0, 4}, {8, 5}}, four_a_node()), kAlpha_s + 2 * kWire_s, 1e-11);
    // Traffic inside the node is another link's.
    EXPECT_NEAR(seconds(12, {{0, 4}, {0, 1}, {1, 0}}, four_a_node()), kAlpha_s + kWire_s, 1e-11);
}

TEST(Platform, a_backplane_does_not_see_traffic_inside_a_node) {
    Cluster cluster = four_a_node();
    cluster.fabric.backplane_bytes_per_s = kB / 2;
    EXPECT_NEAR(seconds(8, {{0, 1}}, cluster), kAlpha_s / 4 + kWire_s / 4, 1e-12);
    EXPECT_NEAR(seconds(8, {{0, 4}}, cluster), kAlpha_s + 2 * kWire_s, 1e-11);
}

TEST(Platform, the_last_node_may_be_partly_filled_and_servers_have_nodes_of_their_own) {
    // Five workers, 4 a node: 4 is alone in its node; servers 5 and 6 are dedicated. All routes are between nodes, and
    // the two flows from 0 and 1 share.
    Schedule schedule = flows(7, {{0, 5}, {1, 6}, {4, 3}});
    schedule.workers = 5;
    const SimResult result = simulate_once(schedule, kMessage, four_a_node());
    EXPECT_NEAR(result.rank_end_s[5], kAlpha_s + 2 * kWire_s, 1e-11);
    EXPECT_NEAR(result.rank_end_s[6], kAlpha_s + 2 * kWire_s, 1e-11);
    EXPECT_NEAR(result.rank_end_s[3], kAlpha_s + kWire_s, 1e-11);
}

TEST(Platform, every_pair_has_its_route) {
    // Three nodes of two GPUs, the third half filled, and two dedicated servers: 7 ranks, 42 lone messages; with and
    // without overhead (which adds hosts to the platform). One GPU a node: likewise.
    Cluster two_a_node = four_a_node();
    two_a_node.gpus_per_node = 2;
    Cluster in_turns = two_a_node;
    in_turns.mapping = Mapping::RoundRobin;
    for (Cluster cluster : {two_a_node, in_turns, reference_cluster()}) {
        for (const double overhead_s : {0.0, 2e-6}) {
            cluster.link.overhead_s = overhead_s;
            std::vector<Schedule> schedules;
            std::vector<double> expected_s;
            for (Rank from = 0; from < 7; ++from) {
                for (Rank to = 0; to < 7; ++to) {
                    if (from == to) continue;
                    schedules.push_back(flows(7, {{from, to}}));
                    schedules.back().workers = 5;
                    const bool inside = cluster.node_of(from, 5) == cluster.node_of(to, 5);
                    expected_s.push_back(inside ? kAlpha_s / 4 + kWire_s / 4 : overhead_s + kAlpha_s + kWire_s);
                }
            }
            std::vector<SimJob> jobs;
            for (const Schedule& schedule : schedules) jobs.push_back(testing::sim_job(schedule, kMessage, cluster));
            const std::vector<SimResult> results = simulate_isolated(jobs);
            for (std::size_t i = 0; i < jobs.size(); ++i) {
                EXPECT_NEAR(results[i].total_s, expected_s[i], 1e-11) << i << " " << cluster.gpus_per_node;
            }
        }
    }
}

// Not through a Cluster, in which all routes that meet on a link have the same latency: two flows over one link, one of
// them with 99 us more before it. CM02 by itself would share in the ratio 100 : 1.
TEST(Platform, flows_of_different_latency_get_equal_shares_of_a_link) {
    namespace sg = simgrid::s4u;
    const std::vector<std::string> ends = run_isolated(
        {{"two latencies", [] {
              const auto engine = start_simgrid(kB, 1);
              sg::NetZone* zone = sg::create_full_zone("zone");
              const auto host = [&](const char* name) { return zone->create_host(name, 1.0)->seal(); };
              sg::Host* near = host("near");
              sg::Host* far = host("far");
              sg::Host* to = host("to");
              const auto* shared = zone->create_link("shared", kB)->set_latency(1e-6)->seal();
              const auto* detour = zone->create_link("detour", 1e9 * kB)->set_latency(99e-6)->seal();
              const sg::LinkInRoute over_shared(shared);
              zone->add_route(near->get_netpoint(), to->get_netpoint(), nullptr, nullptr, {over_shared}, false);
              zone->add_route(far->get_netpoint(), to->get_netpoint(), nullptr, nullptr,
                              {sg::LinkInRoute(detour), over_shared}, false);
              zone->seal();
              ByteWriter writer;
              for (sg::Host* from : {near, far}) {
                  sg::Actor::create(std::string("from ") + from->get_cname(), from, [from] {
                      int nothing = 0;
                      sg::Mailbox::by_name(from->get_name())->put(&nothing, 1'250'000'000);
                  });
                  sg::Actor::create(std::string("to ") + from->get_cname(), to, [from, &writer] {
                      sg::Mailbox::by_name(from->get_name())->get<int>();
                      writer.put(sg::Engine::get_clock());
                  });
              }
              engine->run();
              return writer.take();
          }}});
    // W = 0.1 s on the wire. The near one starts at 1 us and has the link alone for 99 us; then both have halves until
    // it ends: 0.0001 s + 2 (0.1 - 0.000099) s = 0.199902 s. The far one then has sent 0.099901 s worth and needs
    // 0.000099 s more, alone: 0.200001 s.
    ByteReader reader(ends.front());
    EXPECT_NEAR(reader.get<double>(), 0.199902, 0.199902e-5);
    EXPECT_NEAR(reader.get<double>(), 0.200001, 0.200001e-6);
}

}  // namespace
}  // namespace coppice
