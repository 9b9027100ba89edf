// A scenario: which network is trained how on which cluster, and what is asked about it. The file format is
// docs/scenario-files.md.
//
//   scenario file ── [network] use ──▶ model file      merged, the scenario's keys win,
//        │      └─── [cluster] use ──▶ cluster file    --set wins over all; each value keeps its file and line
//        ▼
//   Scenario (plain data, everything resolved and checked)
#pragma once

#include "common/cluster/cluster.hpp"
#include "common/config/value.hpp"
#include "common/workload/network.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coppice {

enum class Scaling { Strong, Weak };       // global batch fixed; batch per GPU fixed
enum class SpeedupOf { TrainTime, Rate };  // ratio of times to train (epochs may differ), or of samples per second

struct Workload {
    Network network;
    Heads heads = Heads::Main;
    std::string gradient_type;  // fp32, fp16, bf16, fp64
    std::uint32_t element_bytes = 4;
    double shrink = 1;                    // compute, update and gradients are divided by it
    std::uint64_t gradient_elements = 0;  // parameters of the heads in use, divided by shrink, at least one
    std::uint64_t gradient_bytes() const { return gradient_elements * element_bytes; }
};

struct Training {
    std::string mode;  // "fused": one message after backward, no overlap
    Scaling scaling = Scaling::Strong;
    std::vector<std::int64_t> batches;  // global ones (strong) or per GPU (weak), ascending
    std::optional<double> epochs;
    std::optional<double> samples_per_epoch;
};

// What a speedup is measured against: one GPU.
struct Baseline {
    bool measured = false;
    std::string device;
    std::string source;
    std::optional<std::int64_t> batch;    // absent (modelled only): that of the sweep's point on one GPU
    std::optional<double> samples_per_s;  // measured
    std::optional<double> epochs;
    SpeedupOf speedup_of = SpeedupOf::Rate;
};

// A number from the literature to be held against.
struct PublishedPoint {
    std::string strategy;  // canonical
    std::int64_t gpus = 0;
    std::int64_t global_batch = 0;
    double speedup = 0;
    std::optional<double> speedup_high;  // where the source gives two values
    std::optional<double> train_s;
    bool used_for_fit = false;
    double tolerance = 0;  // relative; how close coppice claims to come
    std::string source;
    SourceLocation where;
};

struct Scenario {
    std::string name;
    std::string title;
    std::string source;
    std::string hash;    // 16 hex digits, of everything but the sweep and the published points
    config::Value tree;  // resolved, for echoing
    Cluster cluster;
    Workload workload;
    Training training;
    Baseline baseline;
    std::vector<std::int64_t> gpus;
    std::vector<std::string> strategies;  // canonical
    std::vector<PublishedPoint> published;
    std::int64_t seed = 0;
};

// `file`: a path, or the name of one of coppice's own (scenarios/papers, scenarios/examples). Settings win over all
// files, later ones over earlier. UserError for everything that is wrong with it.
Scenario load_scenario(const std::string& file, const std::vector<config::Setting>& settings);

// Puts another cluster (a path, or the name of one of coppice's own) in the place of the scenario's, with all that the
// scenario lays over it. `source` is what messages call the option that says so.
std::vector<config::Setting> cluster_settings(const std::string& name, const std::string& source);

// A cluster without a scenario; settings name its keys as a scenario would, "cluster.link.bandwidth".
struct LoneCluster {
    Cluster cluster;
    config::Value tree;  // resolved, for echoing
};
LoneCluster load_cluster(const std::string& name, const std::string& source,
                         const std::vector<config::Setting>& settings = {});

// Shares of a global batch: the largest and how many GPUs have it (the rest have one sample less).
struct BatchShare {
    std::int64_t largest = 0;
    std::int64_t gpus_with_largest = 0;
};
BatchShare share_batch(std::int64_t global_batch, std::int64_t gpus);

}  // namespace coppice
