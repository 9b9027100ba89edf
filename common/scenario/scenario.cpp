#include "common/scenario/scenario.hpp"

#include "common/diag/hash.hpp"
#include "common/diag/nearest.hpp"
#include "common/scenario/data_files.hpp"
#include "common/scenario/gpu_list.hpp"
#include "common/strategy/strategy.hpp"
#include "common/units/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace coppice {

namespace fs = std::filesystem;
using config::Sign;
using config::TableReader;
using config::Value;

namespace {

// Replaces {use = "titan", link.bandwidth = ...} by titan.toml's table with the other keys laid over it.
void resolve_use(Value& root, const std::string& section, const std::string& kind, const fs::path& beside) {
    const auto found = root.table().find(section);
    if (found == root.table().end() || !found->second.is_table()) return;  // the reader will say what is missing
    Value overlay = found->second;
    const auto use = overlay.table().find("use");
    if (use == overlay.table().end()) return;
    if (!use->second.is_string())
        throw UserError({use->second.where, section + ".use", config::describe(use->second), "a name or a path", ""});
    const std::string name = std::get<std::string>(use->second.data);
    // A path on the command line is meant from where the user stands, one in a file from where that file is.
    const bool from_file = use->second.where.line > 0;
    Value base = config::load_toml(
        find_data(kind, name, from_file ? beside : fs::path("."), use->second.where, section + ".use"));
    overlay.table().erase("use");
    const SourceLocation where = overlay.where;
    config::merge(base, overlay);
    found->second = std::move(base);
    if (found->second.where.line == 0 && where.line != 0) found->second.where = where;
}

// From where a value, or anything in it, was set: 0 a file that the scenario uses, 1 the scenario, 2 --set; -1: absent.
int latest_source(const Value* value, const std::string& scenario_file) {
    if (!value) return -1;
    int latest = value->where.line == 0 ? 2 : value->where.file == scenario_file ? 1 : 0;
    if (value->is_array())
        for (const Value& child : value->array()) latest = std::max(latest, latest_source(&child, scenario_file));
    if (value->is_table())
        for (const auto& [key, child] : value->table()) latest = std::max(latest, latest_source(&child, scenario_file));
    return latest;
}

// A link is described by bandwidth and latency or by segments. Whoever lays one form over a file that has the other
// means to replace it; both forms from the same place are an error that the reader finds. What is known of a fit does
// not hold for other segments than those that were fitted.
void keep_latest_link_form(Value& link, const std::string& scenario_file) {
    if (!link.is_table()) return;
    config::Table& table = link.table();
    const auto find = [&](const char* key) -> const Value* {
        const auto found = table.find(key);
        return found == table.end() ? nullptr : &found->second;
    };
    const auto source_of = [&](const char* key) {
        const Value* value = find(key);
        return !value ? -1 : value->where.line == 0 ? 2 : value->where.file == scenario_file ? 1 : 0;
    };
    const int segments = source_of("segments");
    const int single = std::max(source_of("bandwidth"), source_of("latency"));
    // Nor do times both ways that were measured of another link.
    for (const char* fitted : {"fit", "both_ways"}) {
        const int source = latest_source(find(fitted), scenario_file);
        for (const char* key : {"segments", "bandwidth", "latency", "overhead"})
            if (source >= 0 && latest_source(find(key), scenario_file) > source) table.erase(fitted);
    }
    if (segments < 0 || single < 0 || segments == single) return;
    if (segments < single) {
        table.erase("segments");
    } else {
        table.erase("bandwidth");
        table.erase("latency");
    }
}

void keep_latest_link_forms(Value& tree, const std::string& scenario_file) {
    const auto child = [](Value* value, const char* key) -> Value* {
        if (!value || !value->is_table()) return nullptr;
        const auto found = value->table().find(key);
        return found == value->table().end() ? nullptr : &found->second;
    };
    Value* cluster = child(&tree, "cluster");
    if (Value* link = child(cluster, "link")) keep_latest_link_form(*link, scenario_file);
    if (Value* link = child(child(cluster, "node"), "link")) keep_latest_link_form(*link, scenario_file);
}

Workload read_workload(TableReader& root) {
    Workload workload;
    workload.network = read_network(root.table("network"));
    workload.gradient_type = "fp32";
    workload.heads = workload.network.has_auxiliary ? Heads::WithAuxiliary : Heads::Main;
    if (auto table = root.table_if("workload")) {
        workload.gradient_type = table->choice_or("gradient_type", "fp32", {"fp32", "fp16", "bf16", "fp64"});
        const std::string heads = table->choice_or("heads", workload.network.has_auxiliary ? "with-auxiliary" : "main",
                                                   {"main", "with-auxiliary"});
        if (heads == "with-auxiliary" && !workload.network.has_auxiliary)
            table->fail("heads", "'main'", fmt::format("{} has no auxiliary head", workload.network.name));
        workload.heads = heads == "main" ? Heads::Main : Heads::WithAuxiliary;
        workload.shrink = table->number_or("shrink", 1, 1, 1e9);
        table->finish();
    }
    workload.element_bytes = find_element(workload.gradient_type)->bytes;
    const auto parameters = static_cast<double>(count(workload.network, workload.heads).parameters);
    workload.gradient_elements = std::max<std::uint64_t>(1, std::llround(parameters / workload.shrink));
    return workload;
}

std::vector<std::int64_t> read_batches(TableReader& table, std::string_view key) {
    constexpr std::int64_t kMaxBatch = 1'000'000'000;
    std::vector<std::int64_t> batches;
    if (table.require(key).is_array()) {
        batches = table.integers(key, 1, kMaxBatch);
        if (batches.empty()) table.fail(key, "at least one batch size");
    } else {
        batches.push_back(table.integer(key, 1, kMaxBatch));
    }
    std::sort(batches.begin(), batches.end());
    batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
    return batches;
}

Training read_training(TableReader table) {
    Training training;
    training.mode = table.choice_or("mode", "fused", {"fused"});
    training.scaling =
        table.choice_or("scaling", "strong", {"strong", "weak"}) == "strong" ? Scaling::Strong : Scaling::Weak;
    const bool strong = training.scaling == Scaling::Strong;
    const char* right = strong ? "global_batch" : "batch_per_gpu";
    const char* wrong = strong ? "batch_per_gpu" : "global_batch";
    if (table.has(wrong))
        table.fail(wrong, fmt::format("'{}', since scaling is '{}'", right, strong ? "strong" : "weak"),
                   strong ? "strong scaling fixes the global batch; scaling = 'weak' fixes the batch of each GPU"
                          : "weak scaling fixes the batch of each GPU; scaling = 'strong' fixes the global batch");
    training.batches = read_batches(table, right);
    training.epochs = table.number_if("epochs", 1e-9, 1e9);
    training.samples_per_epoch = table.number_if("samples_per_epoch", 1, 1e15);
    if (training.epochs && !training.samples_per_epoch)
        table.fail("samples_per_epoch", "the number of samples in an epoch",
                   "epochs are given, so the time to train needs it");
    table.finish();
    return training;
}

Baseline read_measured_baseline(TableReader& table, const Training& training) {
    Baseline baseline;
    baseline.measured = true;
    baseline.device = table.text("device");
    baseline.source = table.text("source");
    baseline.batch = table.integer("batch", 1, 1'000'000'000);
    baseline.epochs = table.number_if("epochs", 1e-9, 1e9);
    baseline.samples_per_s = table.quantity_if("rate", Dimension::PerSecond, Sign::Positive);
    if (const auto train_s = table.quantity_if("train_time", Dimension::Seconds, Sign::Positive)) {
        if (baseline.samples_per_s)
            table.fail("train_time", "either 'rate' or 'train_time', not both", "one follows from the other");
        if (!baseline.epochs) table.fail("epochs", "the epochs that train_time took");
        if (!training.samples_per_epoch)
            table.fail("train_time", "training.samples_per_epoch to be set as well",
                       "the rate is epochs x samples_per_epoch / train_time");
        baseline.samples_per_s = *baseline.epochs * *training.samples_per_epoch / *train_s;
    }
    if (!baseline.samples_per_s)
        table.fail("rate", "the measured rate (\"42.3 images/s\") or a train_time (\"504 h\")");
    return baseline;
}

Baseline read_baseline(TableReader table, const Training& training, const Cluster& cluster) {
    Baseline baseline;
    if (table.choice("kind", {"measured", "modelled"}) == "measured") {
        baseline = read_measured_baseline(table, training);
    } else {
        baseline.device = cluster.device.name;
        baseline.batch = table.integer_if("batch", 1, 1'000'000'000);
        baseline.epochs = table.number_if("epochs", 1e-9, 1e9);
    }
    if (!baseline.epochs) baseline.epochs = training.epochs;
    baseline.speedup_of = table.choice_or("speedup_of", "rate", {"rate", "train-time"}) == "rate"
                              ? SpeedupOf::Rate
                              : SpeedupOf::TrainTime;
    if (baseline.speedup_of == SpeedupOf::TrainTime && !(training.epochs && baseline.epochs))
        table.fail("speedup_of", "training.epochs to be set as well",
                   "a ratio of times to train needs the epochs of both");
    table.finish();
    return baseline;
}

std::vector<PublishedPoint> read_published(TableReader& root, const Training& training) {
    std::vector<PublishedPoint> points;
    for (TableReader& table : root.tables("published")) {
        PublishedPoint point;
        point.where = table.where();
        point.strategy = parse_strategy(table.text("strategy"), table.where(), table.path_of("strategy")).canonical();
        point.gpus = table.integer("gpus", 1, kMaxGpus);
        point.global_batch = table.integer_or(
            "global_batch",
            training.scaling == Scaling::Strong ? training.batches.back() : training.batches.back() * point.gpus, 1,
            INT64_MAX);
        point.speedup = table.number("speedup", 1e-6, 1e6);
        point.speedup_high = table.number_if("speedup_high", point.speedup, 1e6);
        point.train_s = table.quantity_if("train_time", Dimension::Seconds, Sign::Positive);
        point.used_for_fit = table.choice("use", {"fit", "check"}) == "fit";
        point.tolerance = table.number_or("tolerance", 0.1, 0, 1);
        point.source = table.text_if("source").value_or("");
        table.finish();
        points.push_back(std::move(point));
    }
    return points;
}

void read_sweep(TableReader table, Scenario& scenario) {
    const Value& gpus = table.require("gpus");
    if (gpus.is_array()) {
        for (const std::int64_t one : table.integers("gpus", 1, kMaxGpus)) scenario.gpus.push_back(one);
        if (scenario.gpus.empty()) table.fail("gpus", "at least one GPU count");
        std::sort(scenario.gpus.begin(), scenario.gpus.end());
        scenario.gpus.erase(std::unique(scenario.gpus.begin(), scenario.gpus.end()), scenario.gpus.end());
    } else if (const auto* one = std::get_if<std::int64_t>(&gpus.data)) {
        scenario.gpus = parse_gpu_list(std::to_string(*one), gpus.where, table.path_of("gpus"));
    } else {
        scenario.gpus = parse_gpu_list(table.text("gpus"), gpus.where, table.path_of("gpus"));
    }
    const Value& strategies = table.require("strategies");
    const std::string key = table.path_of("strategies");
    std::vector<std::pair<std::string, SourceLocation>> names;
    if (strategies.is_string()) {
        for (std::string& name : split_strategy_list(table.text("strategies")))
            names.emplace_back(std::move(name), strategies.where);
    } else {
        const std::vector<std::string> texts = table.texts("strategies");
        for (std::size_t i = 0; i < texts.size(); ++i) names.emplace_back(texts[i], strategies.array()[i].where);
    }
    for (const auto& [name, where] : names) {
        const std::string canonical = parse_strategy(name, where, key).canonical();
        if (std::find(scenario.strategies.begin(), scenario.strategies.end(), canonical) == scenario.strategies.end())
            scenario.strategies.push_back(canonical);
    }
    if (scenario.strategies.empty())
        table.fail("strategies", "at least one strategy", did_you_mean("", all_strategy_names()));
    table.finish();
}

void check_batches(const Scenario& scenario) {
    if (scenario.training.scaling != Scaling::Strong) return;
    const std::int64_t batch = scenario.training.batches.front();
    if (batch >= scenario.gpus.back()) return;
    const Value& training = scenario.tree.table().find("training")->second;
    throw UserError({training.table().find("global_batch")->second.where, "training.global_batch",
                     fmt::format("the number {}", batch),
                     fmt::format("at least one sample for each of {} GPUs", scenario.gpus.back()),
                     "sweep fewer GPUs (--gpus), use a larger batch, or scaling = 'weak'"});
}

std::string hash_of(const Value& tree) {
    Value judged = tree;
    judged.table().erase("sweep");
    judged.table().erase("published");
    return fnv1a_hex(config::to_toml(judged));
}

fs::path find_scenario(const std::string& file) {
    if (file.find('/') != std::string::npos || file.ends_with(".toml") || fs::is_regular_file(file)) return file;
    // A folder of that name is no reason not to find coppice's own: -o often makes one.
    std::vector<std::string> names;
    for (const std::string kind : {"papers", "examples"}) {
        for (const std::string& name : data_names(kind)) {
            if (name == file) return data_folder() / "scenarios" / kind / (name + ".toml");
            names.push_back(name);
        }
    }
    if (fs::exists(file)) return file;  // a folder, say: the loader tells
    throw UserError({{file},
                     "",
                     "no such scenario",
                     "a scenario file, or the name of one of coppice's",
                     did_you_mean(file, names)});
}

// Two passes: which files are used must be known before anything in them can be set.
void apply_settings(Value& tree, const std::vector<config::Setting>& settings, const fs::path& file) {
    const auto chooses_file = [](const config::Setting& setting) {
        return setting.path.ends_with(".use") || setting.path == "network" || setting.path == "cluster";
    };
    for (const config::Setting& setting : settings)
        if (chooses_file(setting)) config::apply(tree, setting);
    resolve_use(tree, "network", "models", file.parent_path());
    resolve_use(tree, "cluster", "clusters", file.parent_path());
    for (const config::Setting& setting : settings)
        if (!chooses_file(setting)) config::apply(tree, setting);
    keep_latest_link_forms(tree, file.string());
}

}  // namespace

BatchShare share_batch(std::int64_t global_batch, std::int64_t gpus) {
    const std::int64_t rest = global_batch % gpus;
    return {global_batch / gpus + (rest > 0 ? 1 : 0), rest > 0 ? rest : gpus};
}

Scenario load_scenario(const std::string& file, const std::vector<config::Setting>& settings) {
    const fs::path path = find_scenario(file);
    Scenario scenario;
    Value& tree = scenario.tree;
    tree = config::load_toml(path);
    apply_settings(tree, settings, path);

    TableReader root(tree, "");
    root.integer("schema", 1, 1);
    scenario.name = root.name("name");
    scenario.title = root.text_if("title").value_or(scenario.name);
    scenario.source = root.text_if("source").value_or("");
    scenario.seed = root.integer_or("seed", 0, 0, INT64_MAX);
    scenario.cluster = read_cluster(root.table("cluster"));
    scenario.workload = read_workload(root);
    scenario.training = read_training(root.table("training"));
    scenario.baseline = read_baseline(root.table("baseline"), scenario.training, scenario.cluster);
    read_sweep(root.table("sweep"), scenario);
    scenario.published = read_published(root, scenario.training);
    root.finish();
    check_batches(scenario);
    scenario.hash = hash_of(tree);
    return scenario;
}

std::vector<config::Setting> cluster_settings(const std::string& name, const std::string& source) {
    return {{"cluster", "{}", source, false}, {"cluster.use", name, source, true}};
}

LoneCluster load_cluster(const std::string& name, const std::string& source,
                         const std::vector<config::Setting>& settings) {
    Value root;
    root.data = config::Table{};
    std::vector<config::Setting> all = cluster_settings(name, source);
    all.insert(all.end(), settings.begin(), settings.end());
    apply_settings(root, all, "");
    TableReader reader(root, "");
    LoneCluster lone;
    lone.cluster = read_cluster(reader.table("cluster"));
    reader.finish();
    lone.tree = root.table().find("cluster")->second;
    return lone;
}

}  // namespace coppice
