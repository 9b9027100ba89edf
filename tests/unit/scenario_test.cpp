#include "common/scenario/scenario.hpp"

#include "common/diag/error.hpp"
#include "common/result/atomic_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace coppice {
namespace {

const std::string kPapers = std::string(COPPICE_SOURCE_DIR) + "/scenarios/papers/";

Scenario load(const std::vector<std::string>& sets, const std::string& name = "firecaffe-nin.toml") {
    return load_scenario(kPapers + name, config::parse_settings(sets));
}

UserErrorParts error_of(const std::vector<std::string>& sets) {
    try {
        load(sets);
    } catch (const UserError& error) {
        return error.parts();
    }
    throw std::runtime_error("no UserError for " + sets.at(0));
}

TEST(Scenario, set_wins_over_the_scenario_which_wins_over_the_file_it_uses) {
    EXPECT_EQ(load({}).cluster.link.bytes_per_s(), 2.8e9);
    EXPECT_EQ(load({"cluster.link.bandwidth=10 Gbps"}).cluster.link.bytes_per_s(), 1.25e9);
    EXPECT_EQ(load({"cluster.use=ethernet-1g"}).cluster.link.bytes_per_s(), 0.125e9);
    EXPECT_EQ(load({"cluster.link.bandwidth=1 GB/s", "cluster.use=ethernet-1g"}).cluster.link.bytes_per_s(), 1e9)
        << "which file is used comes first, whatever the order";
}

TEST(Scenario, another_cluster_comes_without_what_was_laid_over_the_old_one) {
    std::vector<config::Setting> settings = config::parse_settings({"cluster.link.latency=7 us"});
    const std::vector<config::Setting> other = cluster_settings("ethernet-1g", "--cluster");
    settings.insert(settings.begin(), other.begin(), other.end());
    // titan's segments, say, must not survive; what is set on the command line does.
    const Scenario scenario = load_scenario(kPapers + "firecaffe-nin.toml", settings);
    EXPECT_EQ(scenario.cluster.name, "ethernet-1g");
    EXPECT_EQ(scenario.cluster.link.bytes_per_s(), 0.125e9);
    EXPECT_EQ(scenario.cluster.link.latency_s(), 7e-6);
}

TEST(LoneCluster, takes_the_settings_of_a_scenario) {
    const LoneCluster lone =
        load_cluster("ethernet-1g", "--cluster", config::parse_settings({"cluster.link.bandwidth=2 Gbps"}));
    EXPECT_EQ(lone.cluster.name, "ethernet-1g");
    EXPECT_EQ(lone.cluster.link.bytes_per_s(), 0.25e9);
    EXPECT_EQ(read_cluster(config::TableReader(lone.tree, "")).link.bytes_per_s(), 0.25e9)
        << "what is echoed is what was read";
    EXPECT_THROW(load_cluster("ethrnet-1g", "--cluster"), UserError);
    EXPECT_THROW(load_cluster("ethernet-1g", "--cluster", config::parse_settings({"sweep.gpus=8"})), UserError);
    EXPECT_THROW(load_cluster("ethernet-1g", "--cluster", config::parse_settings({"cluster.lnk.latency=1 us"})),
                 UserError);
}

TEST(Scenario, the_network_can_be_exchanged_and_changed) {
    EXPECT_EQ(load({"network.use=vgg16"}).workload.gradient_elements, 138357544u);
    EXPECT_EQ(load({"network.input.shape=[3,227,227]"}).workload.gradient_elements, 7595176u)
        << "NiN is fully convolutional";
}

TEST(Scenario, the_gradient_type_is_part_of_the_workload) {
    EXPECT_EQ(load({"workload.gradient_type=fp16"}).workload.gradient_bytes(), 7595176u * 2);
    EXPECT_EQ(load({"workload.gradient_type=fp64"}).workload.gradient_bytes(), 7595176u * 8);
}

TEST(Scenario, a_shrunk_workload_has_fewer_gradients_but_never_none) {
    EXPECT_EQ(load({"workload.shrink=10"}).workload.gradient_elements, 759518u);  // 7,595,176 / 10, rounded
    EXPECT_EQ(load({"workload.shrink=1e9"}).workload.gradient_elements, 1u);
    EXPECT_NE(load({"workload.shrink=10"}).hash, load({}).hash);
}

TEST(Scenario, auxiliary_heads_count_where_the_scenario_says_so) {
    EXPECT_EQ(load({}, "firecaffe-googlenet.toml").workload.gradient_elements, 13378280u);
    EXPECT_EQ(load({"workload.heads=main"}, "firecaffe-googlenet.toml").workload.gradient_elements, 6998552u);
    EXPECT_EQ(error_of({"workload.heads=with-auxiliary"}).key, "workload.heads") << "NiN has none";
}

// A link has one bandwidth or segments; whoever comes later means to replace the other form, not to contradict it.
TEST(Scenario, a_later_form_of_a_link_replaces_the_earlier_one) {
    const Scenario segments =
        load({"cluster.link.segments=[{from='0 B',latency='1 us',bandwidth='1 GB/s'},"
              "{from='1 kB',latency='2 us',bandwidth='2 GB/s'}]"});
    EXPECT_EQ(segments.cluster.link.segments.size(), 2u);
    EXPECT_EQ(segments.cluster.link.bytes_per_s(), 2e9);
}

// 1 us + 1 kB / 1 GB/s = 2 us, as measured.
TEST(Scenario, a_fit_ends_where_its_segments_are_changed) {
    const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "coppice_fitted";
    prepare_folder(folder);
    std::string text = read_whole(std::string(COPPICE_SOURCE_DIR) + "/scenarios/clusters/ethernet-10g.toml");
    text.resize(text.find("[link]"));
    text +=
        "[link]\nsegments = [{from='0 B', latency='1 us', bandwidth='1 GB/s'}]\n"
        "both_ways = [{from='0 B', latency='2 us', bandwidth='1 GB/s'}]\n"
        "[link.fit]\npoints = 1\nleft_out = 0\nmean_error = 0\nmedian_error = 0\nworst_error = 0\n"
        "worst_at = '1 kB'\nbic = -1\nresiduals = [{bytes='1 kB', measured='2 us', error=0.0}]\n"
        "[fabric]\nkind = 'switch'\n";
    write_whole(folder / "fitted.toml", text);
    const std::string use = "cluster.use=" + (folder / "fitted.toml").string();
    EXPECT_TRUE(load({use}).cluster.link.fit);
    EXPECT_FALSE(load({use}).cluster.link.both_ways.empty());
    EXPECT_TRUE(load({use, "cluster.host.sum_rate=1 GB/s"}).cluster.link.fit);
    for (const char* change : {"cluster.link.segments[0].latency=2 us", "cluster.link.overhead=1 us",
                               "cluster.link.segments=[{from='0 B',latency='1 us',bandwidth='2 GB/s'}]"}) {
        EXPECT_FALSE(load({use, change}).cluster.link.fit) << change;
        EXPECT_TRUE(load({use, change}).cluster.link.both_ways.empty()) << change;
    }
    EXPECT_FALSE(load({use, "cluster.link.latency=1 us", "cluster.link.bandwidth=2 GB/s"}).cluster.link.fit);
    std::filesystem::remove_all(folder);
}

TEST(Scenario, both_forms_of_a_link_in_one_place_are_an_error) {
    const UserErrorParts parts = error_of({"cluster.link.segments=[{from='0 B',latency='1 us',bandwidth='1 GB/s'}]",
                                           "cluster.link.bandwidth=1 GB/s", "cluster.link.latency=1 us"});
    EXPECT_NE(parts.expected.find("not both"), std::string::npos) << parts.expected;
}

TEST(Scenario, a_whole_section_can_be_set) {
    EXPECT_EQ(load({"cluster={use='ethernet-1g'}"}).cluster.link.bytes_per_s(), 0.125e9);
}

TEST(Scenario, the_hash_follows_what_changes_a_result_and_nothing_else) {
    const std::string hash = load({}).hash;
    EXPECT_EQ(load({"sweep.gpus=1..8"}).hash, hash);
    EXPECT_NE(load({"cluster.link.bandwidth=10 Gbps"}).hash, hash);
    EXPECT_NE(load({"seed=1"}).hash, hash);
}

struct BadKey {
    const char* set;
    const char* key;
    const char* in_message;
};

class BadScenario : public ::testing::TestWithParam<BadKey> {};

TEST_P(BadScenario, is_refused_with_the_key_and_a_way_out) {
    const UserErrorParts parts = error_of({GetParam().set});
    EXPECT_EQ(parts.key, GetParam().key);
    const std::string message = UserError(parts).what();
    EXPECT_NE(message.find(GetParam().in_message), std::string::npos) << message;
    EXPECT_FALSE(parts.where.file.empty());
}

INSTANTIATE_TEST_SUITE_P(
    inputs, BadScenario,
    ::testing::Values(
        BadKey{"clutser.x=1", "clutser", "did you mean 'cluster'?"},
        BadKey{"cluster.link.bandwith=10 Gbps", "cluster.link.bandwith", "did you mean 'bandwidth'?"},
        BadKey{"cluster.use=titann", "cluster.use", "did you mean 'titan'?"},
        BadKey{"network.use=googlent", "network.use", "did you mean 'googlenet'?"},
        BadKey{"network.use=banana", "network.use", "known: "},
        BadKey{"cluster.link.bandwidth=10", "cluster.link.bandwidth", "'10 Gbps'"},
        BadKey{"cluster.link.bandwidth=10 GB", "cluster.link.bandwidth", "'10 GB/s'?"},
        BadKey{"cluster.link.bandwidth=10 gbps", "cluster.link.bandwidth", "'10 GBps' or '10 Gbps'"},
        BadKey{"cluster.link.bandwidth=0 GB/s", "cluster.link.bandwidth", "above zero"},
        BadKey{"cluster.link.bandwidth=-1 GB/s", "cluster.link.bandwidth", "above zero"},
        BadKey{"cluster.link.bandwidth=1e-310 B/s", "cluster.link.bandwidth", "from 1 B/s"},
        BadKey{"cluster.link.latency=1e30 s", "cluster.link.latency", "a duration from"},
        BadKey{"cluster.device.peak=1e-300 FLOPS", "cluster.device.peak", "from 1 kFLOPS"},
        BadKey{"name=a \"quoted\" name", "name", "letters, digits"},
        BadKey{"cluster.name=two words", "cluster.name", "letters, digits"},
        BadKey{"cluster.link.latency=-1 us", "cluster.link.latency", "zero or more"},
        BadKey{"cluster.device.peak=3.95", "cluster.device.peak", "'3.95 TFLOPS'"},
        BadKey{"cluster.device.efficiency=1.5", "cluster.device.efficiency", "a number from 0.001 to 1"},
        BadKey{"cluster.node.gpus=0", "cluster.node.gpus", "from 1 to 1024"},
        BadKey{"cluster.node.gpus=4", "cluster.node.link", "between the 4 GPUs of a node"},
        BadKey{"cluster.fabric.kind=swich", "cluster.fabric.kind", "did you mean 'switch'?"},
        BadKey{"sweep.strategies=rnig", "sweep.strategies", "did you mean 'ring'?"},
        BadKey{"sweep.strategies=ps(placement=dedicatd)", "sweep.strategies", "did you mean 'dedicated'?"},
        BadKey{"sweep.strategies=[]", "sweep.strategies", "at least one strategy"},
        BadKey{"sweep.gpus=0", "sweep.gpus", "between 1 and 1024"},
        BadKey{"sweep.gpus=1..2048", "sweep.gpus", "between 1 and 1024"},
        BadKey{"sweep.gpus=[]", "sweep.gpus", "at least one GPU count"},
        BadKey{"training.global_batch=100", "training.global_batch", "at least one sample for each of 128 GPUs"},
        BadKey{"training.global_batch=0", "training.global_batch", "from 1 to"},
        BadKey{"training.scaling=weak", "training.global_batch", "'batch_per_gpu'"},
        BadKey{"training.mode=layerwise", "training.mode", "one of 'fused'"},
        BadKey{"workload.gradient_type=fp8", "workload.gradient_type", "'fp32'"},
        BadKey{"workload.shrink=0.5", "workload.shrink", "from 1 to"},
        BadKey{"baseline.kind=guessed", "baseline.kind", "'measured'"},
        BadKey{"baseline.rate=10 images/s", "baseline.train_time", "not both"},
        BadKey{"baseline.batch=0", "baseline.batch", "an integer"},
        BadKey{"published[0].use=maybe", "published[0].use", "'fit'"}, BadKey{"schema=2", "schema", "from 1 to 1"}));

TEST(Scenario, an_unknown_scenario_offers_the_near_ones) {
    try {
        load_scenario("firecafe-nin", {});
        FAIL();
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'firecaffe-nin'"), std::string::npos) << error.what();
    }
}

TEST(Scenario, all_own_scenarios_load) {
    for (const char* name : {"firecaffe-nin", "firecaffe-googlenet", "resnet50-weak"})
        EXPECT_NO_THROW(load_scenario(name, {})) << name;
}

TEST(Scenario, own_clusters_are_read_as_their_names_say) {
    const auto link = [](const std::string& name) { return load({"cluster.use=" + name}).cluster.link.bytes_per_s(); };
    EXPECT_EQ(link("ethernet-1g"), 1e9 / 8);
    EXPECT_EQ(link("ethernet-10g"), 10e9 / 8);
    EXPECT_EQ(link("ethernet-25g"), 25e9 / 8);
    EXPECT_EQ(link("ethernet-100g"), 100e9 / 8);
    EXPECT_EQ(link("infiniband-edr"), 100e9 / 8);
}

// docs/scenario-files.md is what users copy from: its first example is read like any file of theirs.
TEST(Scenario, the_example_in_the_documentation_is_one) {
    std::ifstream page(std::string(COPPICE_SOURCE_DIR) + "/docs/scenario-files.md");
    const std::string text{std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()};
    const std::string fence = "```toml\n";
    const std::size_t scenario = text.find(fence) + fence.size();
    const std::size_t cluster = text.find(fence, scenario) + fence.size();
    const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "coppice_documented";
    prepare_folder(folder);
    write_whole(folder / "scenario.toml", text.substr(scenario, text.find("```", scenario) - scenario));
    write_whole(folder / "cluster.toml", text.substr(cluster, text.find("```", cluster) - cluster));
    const Scenario read = load_scenario((folder / "scenario.toml").string(), {});
    EXPECT_EQ(read.cluster.link.bytes_per_s(), 25e9 / 8) << "the scenario's key wins over the cluster file's";
    EXPECT_EQ(read.published.at(0).tolerance, 0.1);
    const config::Value file = config::load_toml(folder / "cluster.toml");
    EXPECT_EQ(read_cluster(config::TableReader(file, "")).device.peak_flop_per_s, 14e12);
    std::filesystem::remove_all(folder);
}

TEST(ShareBatch, is_as_even_as_possible) {
    const BatchShare even = share_batch(1024, 128);
    EXPECT_EQ(even.largest, 8);
    EXPECT_EQ(even.gpus_with_largest, 128);
    const BatchShare uneven = share_batch(1024, 7);  // 146 * 7 = 1022: two GPUs have one more
    EXPECT_EQ(uneven.largest, 147);
    EXPECT_EQ(uneven.gpus_with_largest, 2);
}

}  // namespace
}  // namespace coppice
