#include "common/cluster/cluster_file.hpp"

#include "common/calibration/fitted_parts.hpp"
#include "common/diag/error.hpp"
#include "common/scenario/data_files.hpp"
#include "tests/support/logs.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <regex>

namespace coppice {
namespace {

Cluster read(const std::string& text) {
    const config::Value tree = config::parse_toml(text, "c.toml");
    return read_cluster(config::TableReader(tree, ""));
}

UserErrorParts error_of(const std::string& text) {
    try {
        read(text);
    } catch (const UserError& error) {
        return error.parts();
    }
    throw std::runtime_error("no UserError for:\n" + text);
}

PiecewiseFit h100_fit() {
    std::vector<TimedSize> points;
    double bytes = 8;
    for (const double us : testing::kH100_us) {
        points.push_back({bytes, us * 1e-6});
        bytes *= 2;
    }
    return fit_piecewise(points, {});
}

// With everything that a file can have.
Cluster full() {
    Cluster cluster;
    cluster.name = "full";
    cluster.title = "a \"quoted\" \\ title";
    cluster.source = "a tab\there";
    cluster.device = {"GPU", 1e13, 17179869184, 9e11, 1.0 / 3 * 1e11, 2e11, 5e-6, 0.4, 3.5};
    cluster.host.sum_bytes_per_s = 1.234567e10;
    cluster.gpus_per_node = 8;
    cluster.mapping = Mapping::RoundRobin;
    cluster.node_link = Link{};
    cluster.node_link->segments = {{0, 1e-6, 3e11}};
    cluster.link = link_of(h100_fit(), 0);
    cluster.link.both_ways = {{0, 2e-6, 1e9}, {1000, 3e-6, 1.0 / 3 * 1e10}};
    cluster.link.segment_bytes = 61440;
    cluster.link.segments_in_flight = 8;
    cluster.fabric.backplane_bytes_per_s = 1e12;
    cluster.collectives = {collective_of(h100_fit(), 16, "one log"), collective_of(h100_fit(), 8, "another log")};
    return cluster;
}

TEST(ClusterFile, reads_back_as_it_was_written) {
    const std::string text = cluster_toml(full(), "two\nlines");
    EXPECT_TRUE(text.starts_with("# two\n# lines\nschema = 1\n"));
    const Cluster back = read(text);
    EXPECT_EQ(cluster_toml(back, "two\nlines"), text);
    EXPECT_EQ(back.title, full().title);
    EXPECT_EQ(back.source, full().source);
    EXPECT_EQ(back.device.memory_bytes, 17179869184);
    EXPECT_EQ(back.device.sum_bytes_per_s, full().device.sum_bytes_per_s) << "every bit";
    EXPECT_EQ(back.link.segments.size(), 3u);
    EXPECT_EQ(back.link.segments[1].latency_s, full().link.segments[1].latency_s);
    ASSERT_EQ(back.link.both_ways.size(), 2u);
    EXPECT_EQ(back.link.both_ways[1].bytes_per_s, 1.0 / 3 * 1e10);
    ASSERT_TRUE(back.link.fit);
    EXPECT_EQ(back.link.fit->quality.left_out, 2);
    EXPECT_EQ(back.link.fit->residuals.size(), 31u);
    EXPECT_EQ(back.link.fit->residuals[0].left_out, "not monotone");
    EXPECT_NEAR(back.link.fit->quality.mean_error, full().link.fit->quality.mean_error, 1e-8);
    ASSERT_NE(back.measured("all-reduce", 8), nullptr);
    EXPECT_EQ(back.measured("all-reduce", 8)->source, "another log");
    EXPECT_EQ(back.measured("all-reduce", 4), nullptr);
    EXPECT_EQ(seconds_of(back.measured("all-reduce", 16)->segments, 8), seconds_of(full().collectives[0].segments, 8));
}

TEST(ClusterFile, own_clusters_survive) {
    for (const std::string& name : data_names("clusters")) {
        const config::Value tree = config::load_toml(data_folder() / "scenarios/clusters" / (name + ".toml"));
        const Cluster cluster = read_cluster(config::TableReader(tree, ""));
        const std::string text = cluster_toml(cluster, "");
        EXPECT_EQ(cluster_toml(read(text), ""), text) << name;
        EXPECT_EQ(read(text).device.sum_bytes_per_s, cluster.device.sum_bytes_per_s) << name;
        EXPECT_EQ(text.find("sum_rate"), text.find("sum_rate", text.find("[host]")))
            << name << ": a rate that follows from the memory bandwidth is not written";
    }
}

struct BadFit {
    const char* name;
    const char* pattern;
    const char* by;
    const char* key;
    const char* in_message;
};
void PrintTo(const BadFit& bad, std::ostream* out) {
    *out << bad.name;
}
class ClusterFit : public ::testing::TestWithParam<BadFit> {};

TEST_P(ClusterFit, that_contradicts_itself_is_refused) {
    Cluster cluster = full();
    cluster.collectives.pop_back();
    cluster.link.fit.reset();
    const std::string text = std::regex_replace(cluster_toml(cluster, ""), std::regex(GetParam().pattern),
                                                GetParam().by, std::regex_constants::format_first_only);
    const UserErrorParts parts = error_of(text);
    EXPECT_EQ(parts.key, GetParam().key);
    EXPECT_NE(std::string(UserError(parts).what()).find(GetParam().in_message), std::string::npos)
        << UserError(parts).what();
}

INSTANTIATE_TEST_SUITE_P(
    files, ClusterFit,
    ::testing::Values(
        BadFit{"other_error", "error = 0.00334928", "error = 0.01", "collectives[0].fit.residuals[1].error",
               "does not belong to these segments"},
        BadFit{"other_count", "points = 29", "points = 28", "collectives[0].fit.residuals", "30 of them"},
        BadFit{"other_left_out", ", left_out = \"not monotone\"", "", "collectives[0].fit.left_out", "1, as many as"},
        BadFit{"unknown_reason", "\"not monotone\"", "\"ugly\"", "collectives[0].fit.residuals[0].left_out",
               "one of 'outlier', 'not monotone'"},
        BadFit{"unsorted", "bytes = \"16 B\"", "bytes = \"8 B\"", "collectives[0].fit.residuals[1].bytes",
               "ascending order"},
        BadFit{"no_mean", "mean_error = [0-9.]+\n", "", "collectives[0].fit.mean_error", "this key to be set"},
        BadFit{"one_rank", "ranks = 16", "ranks = 1", "collectives[0].ranks", "from 2"},
        BadFit{"other_name", "name = \"all-reduce\"", "name = \"all-gather\"", "collectives[0].name", "'all-reduce'"},
        BadFit{"range", "smallest = \"16 B\"", "smallest = \"9 GB\"", "collectives[0].largest", "no less"},
        BadFit{"unknown_key", "smallest = ", "smalest = ", "collectives[0].smallest", "did you mean 'smallest'"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ClusterFile, one_entry_for_a_number_of_ranks) {
    Cluster cluster = full();
    cluster.collectives[1].ranks = 16;
    EXPECT_EQ(error_of(cluster_toml(cluster, "")).key, "collectives[1].ranks");
    cluster.collectives[1].segments.clear();
    EXPECT_EQ(error_of(cluster_toml(cluster, "")).key, "collectives[1].segments");
}

// Whatever a machine can have is read back bit by bit.
RC_GTEST_PROP(ClusterFile, quantities_keep_every_bit, ()) {
    Cluster cluster = full();
    cluster.collectives.clear();
    const auto any = [](int from, int to) {
        return std::exp2(*rc::gen::inRange(from, to)) * (1 + *rc::gen::inRange(0, 1 << 30) / 1073741824.0);
    };
    cluster.link = {};
    cluster.link.segments = {{0, any(-39, 10), any(1, 55)}, {std::floor(any(1, 40)), any(-39, 10), any(1, 55)}};
    cluster.host.sum_bytes_per_s = any(1, 55);
    const Cluster back = read(cluster_toml(cluster, ""));
    RC_ASSERT(back.host.sum_bytes_per_s == cluster.host.sum_bytes_per_s);
    for (std::size_t i = 0; i < 2; ++i) {
        RC_ASSERT(back.link.segments[i].from_bytes == cluster.link.segments[i].from_bytes);
        RC_ASSERT(back.link.segments[i].latency_s == cluster.link.segments[i].latency_s);
        RC_ASSERT(back.link.segments[i].bytes_per_s == cluster.link.segments[i].bytes_per_s);
    }
}

}  // namespace
}  // namespace coppice
