#include "common/cost/cost_model.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

Cluster cluster(const std::vector<LinkSegment>& segments, double overhead_s = 0) {
    Cluster result;
    result.name = "test";
    result.device.sum_bytes_per_s = 50e9;
    result.device.update_bytes_per_s = 20e9;
    result.device.memory_bytes_per_s = 100e9;
    result.host.sum_bytes_per_s = 5e9;
    result.link.segments = segments;
    result.link.overhead_s = overhead_s;
    return result;
}

TEST(CostModel, a_message_takes_latency_and_its_bytes_over_the_bandwidth) {
    const CostModel cost(cluster({{0, 1e-6, 12.5e9}}, 2e-6));
    EXPECT_DOUBLE_EQ(cost.message_s(0), 1e-6);
    EXPECT_DOUBLE_EQ(cost.message_s(12500), 2e-6);  // 12500 B / 12.5e9 B/s = 1 us
    EXPECT_DOUBLE_EQ(cost.send_s(12500), 4e-6);     // and 2 us of the sender's processor
    EXPECT_EQ(cost.message_rate_cap(12500), 0) << "one segment: the link itself is the limit";
}

// Segments: below 1000 B 1 us and 1e9 B/s, from there 3 us and 10e9 B/s.
TEST(CostModel, segments_begin_at_their_first_byte) {
    const CostModel cost(cluster({{0, 1e-6, 1e9}, {1000, 3e-6, 10e9}}));
    EXPECT_DOUBLE_EQ(cost.message_s(999), 1e-6 + 999e-9);
    EXPECT_DOUBLE_EQ(cost.message_s(1000), 3e-6 + 100e-9);
    EXPECT_DOUBLE_EQ(cost.latency_s(), 1e-6);
    EXPECT_DOUBLE_EQ(cost.link_bytes_per_s(), 10e9);
}

// The cap is what makes a simulated message take message_s on a link with the smallest latency and the greatest
// bandwidth.
TEST(CostModel, latency_and_the_rate_cap_give_the_segments_time) {
    const CostModel cost(cluster({{0, 1e-6, 1e9}, {1000, 3e-6, 10e9}}));
    for (const std::uint64_t bytes : {1u, 500u, 999u, 1000u, 5000u, 1000000u}) {
        const double cap = cost.message_rate_cap(bytes);
        ASSERT_GT(cap, 0);
        EXPECT_LE(cap, cost.link_bytes_per_s());
        EXPECT_NEAR(cost.latency_s() + static_cast<double>(bytes) / cap, cost.message_s(bytes), 1e-15);
    }
    EXPECT_EQ(cost.message_rate_cap(0), 0);
}

TEST(CostModel, an_incast_shares_the_receivers_link) {
    const CostModel cost(cluster({{0, 1e-6, 10e9}}));
    EXPECT_DOUBLE_EQ(cost.incast_s(4, 10000), 1e-6 + 4e-6);
    EXPECT_EQ(cost.incast_s(0, 10000), 0);
    // A segment slower than its share of the link: two messages of 1e9 B/s leave a 10e9 B/s link idle.
    const CostModel slow(cluster({{0, 1e-6, 1e9}, {1000000, 1e-6, 10e9}}));
    EXPECT_DOUBLE_EQ(slow.incast_s(2, 1000), slow.message_s(1000));
}

TEST(CostModel, sums_and_updates_have_rates_of_their_own) {
    const CostModel cost(cluster({{0, 1e-6, 1e9}}));
    EXPECT_DOUBLE_EQ(cost.sum_s(1000, SumPlace::Device), 1000 / 50e9);
    EXPECT_DOUBLE_EQ(cost.sum_s(1000, SumPlace::Host), 1000 / 5e9);
    EXPECT_DOUBLE_EQ(cost.update_s(1000), 1000 / 20e9);
    EXPECT_DOUBLE_EQ(cost.copy_s(1000), 2000 / 100e9);  // read and written
}

TEST(Cluster, ranks_fill_nodes_and_each_server_has_its_own) {
    Cluster four;
    four.gpus_per_node = 4;
    EXPECT_EQ(four.node_of(3, 6), 0);
    EXPECT_EQ(four.node_of(4, 6), 1);
    EXPECT_EQ(four.node_of(6, 6), 2) << "the first server, behind two worker nodes";
    EXPECT_EQ(four.node_of(7, 6), 3);
    EXPECT_EQ(four.nodes(8, 6), 4);
    EXPECT_EQ(four.gpus_in_a_row(), 4);
    four.mapping = Mapping::RoundRobin;  // 0 2 4 | 1 3 5 | server | server
    EXPECT_EQ(four.node_of(3, 6), 1);
    EXPECT_EQ(four.node_of(4, 6), 0);
    EXPECT_EQ(four.node_of(6, 6), 2);
    EXPECT_EQ(four.node_of(7, 6), 3);
    EXPECT_EQ(four.nodes(8, 6), 4);
    EXPECT_EQ(four.nodes(6, 6), 2);
    EXPECT_EQ(four.nodes(0, 0), 0);
    EXPECT_EQ(four.gpus_in_a_row(), 1);
    EXPECT_EQ(four.nodes(8, 6), 4);
}

}  // namespace
}  // namespace coppice
