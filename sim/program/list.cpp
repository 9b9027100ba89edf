// coppice list: the names that files and options may use.
#include "common/config/value.hpp"
#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/program/numbers.hpp"
#include "common/result/text_table.hpp"
#include "common/scenario/data_files.hpp"
#include "common/strategy/strategy.hpp"
#include "common/workload/network.hpp"
#include "sim/program/command.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace coppice::program {

namespace po = boost::program_options;
using Align = TextTable::Align;

namespace {

const std::vector<std::string> kKinds{"models", "clusters", "strategies", "scenarios"};

config::Value load(const std::string& kind, const std::string& name) {
    return config::load_toml(data_folder() / "scenarios" / kind / (name + ".toml"));
}

std::string list_models() {
    TextTable table({{"model", Align::Left}, {"parameters"}, {"with heads"}, {"GFLOP forward"}, {"", Align::Left}});
    for (const std::string& name : data_names("models")) {
        const config::Value file = load("models", name);
        const Network network = read_network(config::TableReader(file, ""));
        const NetworkCounts main = count(network, Heads::Main);
        table.row({name, grouped(main.parameters),
                   network.has_auxiliary ? grouped(count(network, Heads::WithAuxiliary).parameters) : "",
                   fmt::format("{:.3f}", static_cast<double>(main.forward_flop) / 1e9), network.title});
    }
    return table.text();
}

std::string list_clusters() {
    TextTable table(
        {{"cluster", Align::Left}, {"device", Align::Left}, {"GPUs/node"}, {"link"}, {"latency"}, {"", Align::Left}});
    for (const std::string& name : data_names("clusters")) {
        const config::Value file = load("clusters", name);
        const Cluster cluster = read_cluster(config::TableReader(file, ""));
        table.row({name, cluster.device.name, std::to_string(cluster.gpus_per_node),
                   format_bandwidth_both(cluster.link.bytes_per_s()),
                   format_rounded(cluster.link.latency_s(), Dimension::Seconds), cluster.title});
    }
    return table.text();
}

std::string list_strategies() {
    TextTable table({{"strategy", Align::Left}, {"", Align::Left}});
    for (const Strategy& strategy : strategies()) table.row({std::string(strategy.name), std::string(strategy.help)});
    TextTable measured({{"without a schedule", Align::Left}, {"", Align::Left}});
    for (const auto* table_of : {&measured_strategies(), &choosing_strategies()})
        for (const Strategy& strategy : *table_of)
            measured.row({std::string(strategy.name), std::string(strategy.help)});
    TextTable imported({{"from a file", Align::Left}, {"", Align::Left}});
    for (const Strategy& strategy : imported_strategies())
        imported.row({std::string(strategy.name), std::string(strategy.help)});
    return table.text() + "\n" + measured.text() + "\n" + imported.text();
}

std::string list_scenarios() {
    TextTable table({{"scenario", Align::Left}, {"", Align::Left}});
    for (const std::string kind : {"papers", "examples"}) {
        for (const std::string& name : data_names(kind)) {
            const config::Value file = load(kind, name);
            config::TableReader reader(file, "");
            table.row({name, reader.text_if("title").value_or("")});
        }
    }
    return table.text();
}

std::string list(const std::string& kind) {
    if (kind == "models") return list_models();
    if (kind == "clusters") return list_clusters();
    if (kind == "strategies") return list_strategies();
    if (kind == "scenarios") return list_scenarios();
    throw UserError({{"command line", 0, 0}, "", "'" + kind + "'", "something to list", did_you_mean(kind, kKinds)});
}

}  // namespace

int run_list(const std::vector<std::string>& arguments) {
    const HelpText help{"coppice list [models|clusters|strategies|scenarios]",
                        "Lists what coppice brings along; without a kind, all of it. 'coppice show' has each in full.",
                        "  coppice list models\n"};
    po::options_description options;
    options.add_options()("kind", po::value<std::string>());
    const Arguments read = read_arguments(arguments, options, {"kind"}, help);
    if (read.help) return 0;
    if (read.has("kind")) {
        print(list(read.text("kind")));
        return 0;
    }
    std::string text;
    for (const std::string& kind : kKinds) text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", kind, list(kind));
    print(text);
    return 0;
}

}  // namespace coppice::program
