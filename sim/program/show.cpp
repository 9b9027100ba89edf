// coppice show: one thing in full, with every value as coppice understood it.
#include "common/config/value.hpp"
#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/msccl/msccl_xml.hpp"
#include "common/program/numbers.hpp"
#include "common/result/text_table.hpp"
#include "common/scenario/data_files.hpp"
#include "common/scenario/gpu_list.hpp"
#include "common/scenario/scenario.hpp"
#include "common/strategy/strategy.hpp"
#include "sim/program/command.hpp"
#include "sim/program/report.hpp"
#include "sim/program/show_schedule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace coppice::program {

namespace po = boost::program_options;
using Align = TextTable::Align;

namespace {

const std::vector<std::string> kKinds{"scenario", "model", "cluster", "strategy", "schedule"};

std::string segments_text(const std::string& name, const std::vector<LinkSegment>& segments) {
    std::string text;
    for (std::size_t i = 0; i < segments.size(); ++i)
        text += fmt::format("  {:<25} from {}: {}, {}\n", fmt::format("{}[{}]", name, i),
                            format_quantity(segments[i].from_bytes, Dimension::Bytes),
                            format_bandwidth_both(segments[i].bytes_per_s),
                            format_quantity(segments[i].latency_s, Dimension::Seconds));
    return text;
}

// Empty where nothing was fitted.
std::string fit_text(const std::string& name, const std::optional<Fit>& fit) {
    if (!fit) return "";
    const FitQuality& quality = fit->quality;
    return fmt::format("  {:<26}{} of {} sizes, errors: mean {:.2f} %, median {:.2f} %, worst {:.2f} % at {}\n",
                       name + ".fit", quality.points, quality.points + quality.left_out, quality.mean_error * 100,
                       quality.median_error * 100, quality.worst_error * 100,
                       format_rounded(quality.worst_bytes, Dimension::Bytes));
}

std::string link_text(const std::string& name, const Link& link) {
    std::string text;
    if (link.segments.size() == 1) {
        text += fmt::format("  {:<26}{}\n", name + ".bandwidth", format_bandwidth_both(link.segments[0].bytes_per_s));
        text += fmt::format("  {:<26}{}\n", name + ".latency",
                            format_quantity(link.segments[0].latency_s, Dimension::Seconds));
    } else {
        text += segments_text(name + ".segments", link.segments);
    }
    text += fmt::format("  {:<26}{}\n", name + ".overhead", format_quantity(link.overhead_s, Dimension::Seconds));
    text += segments_text(name + ".both_ways", link.both_ways);
    if (link.segment_bytes)
        text += fmt::format("  {:<26}{}\n", name + ".segment",
                            format_quantity(static_cast<double>(*link.segment_bytes), Dimension::Bytes));
    if (link.segments_in_flight) text += fmt::format("  {:<26}{}\n", name + ".in_flight", *link.segments_in_flight);
    return text + fit_text(name, link.fit);
}

std::string collective_text(const std::string& name, const MeasuredCollective& collective) {
    std::string text = fmt::format("  {:<26}{} on {} ranks, {} to {}\n", name, collective.name, collective.ranks,
                                   format_quantity(collective.smallest_bytes, Dimension::Bytes),
                                   format_quantity(collective.largest_bytes, Dimension::Bytes));
    text += fmt::format("  {:<26}{}\n", name + ".source", collective.source);
    text += segments_text(name + ".segments", collective.segments);
    return text + fit_text(name, collective.fit);
}

std::string cluster_text(const Cluster& cluster) {
    const Device& device = cluster.device;
    std::string text = fmt::format("cluster {}: {}\n", cluster.name, cluster.title);
    if (!cluster.source.empty()) text += fmt::format("  source: {}\n", cluster.source);
    const auto line = [&](const char* key, const std::string& value) {
        text += fmt::format("  {:<26}{}\n", key, value);
    };
    const auto rate = [](double value) { return format_quantity(value, Dimension::BytesPerSecond); };
    line("device.name", device.name);
    line("device.peak", format_quantity(device.peak_flop_per_s, Dimension::FlopPerSecond));
    line("device.memory", format_quantity(device.memory_bytes, Dimension::Bytes));
    line("device.memory_bandwidth", rate(device.memory_bytes_per_s));
    line("device.sum_rate", rate(device.sum_bytes_per_s));
    line("device.update_rate", rate(device.update_bytes_per_s));
    line("device.launch", format_quantity(device.launch_s, Dimension::Seconds));
    line("device.efficiency", fmt::format("{}", device.efficiency));
    line("device.efficiency_half_batch", fmt::format(" {}", device.efficiency_half_batch));
    line("host.sum_rate", rate(cluster.host.sum_bytes_per_s));
    line("node.gpus", std::to_string(cluster.gpus_per_node));
    if (cluster.mapping == Mapping::RoundRobin) line("node.mapping", "round-robin");
    if (cluster.node_link) text += link_text("node.link", *cluster.node_link);
    text += link_text("link", cluster.link);
    line("fabric.kind", cluster.fabric.kind);
    if (cluster.fabric.backplane_bytes_per_s)
        line("fabric.backplane", format_bandwidth_both(*cluster.fabric.backplane_bytes_per_s));
    for (std::size_t i = 0; i < cluster.collectives.size(); ++i)
        text += collective_text(fmt::format("collectives[{}]", i), cluster.collectives[i]);
    return text;
}

std::string counts_line(const char* which, const NetworkCounts& counts) {
    return fmt::format(
        "  {:<22}{} parameters ({:.2f} MB fp32), {:.4g} GFLOP forward, |D| {}, activations {} (fp32, a sample)\n",
        which, grouped(counts.parameters), static_cast<double>(counts.parameters) * 4 / 1e6,
        static_cast<double>(counts.forward_flop) / 1e9,
        format_rounded(static_cast<double>(counts.data_elements) * 4, Dimension::Bytes),
        format_rounded(static_cast<double>(counts.activation_elements) * 4, Dimension::Bytes));
}

std::string network_text(const Network& network) {
    std::string text = fmt::format("model {}: {}\n", network.name, network.title);
    if (!network.source.empty()) text += fmt::format("  source: {}\n", network.source);
    text += fmt::format("  input {} ({})\n", fmt::join(network.input_shape, " x "), network.sample);
    text += counts_line("main path", count(network, Heads::Main));
    if (network.has_auxiliary) text += counts_line("with auxiliary heads", count(network, Heads::WithAuxiliary));
    TextTable table({{"layer", Align::Left},
                     {"type", Align::Left},
                     {"output"},
                     {"parameters"},
                     {"MFLOP forward"},
                     {"", Align::Left}});
    for (const Layer& layer : network.layers)
        table.row({layer.name, std::string(layer_type_name(layer.type)),
                   fmt::format("{}", fmt::join(layer.output_shape, " x ")),
                   layer.parameters ? grouped(layer.parameters) : "",
                   layer.forward_flop ? fmt::format("{:.2f}", static_cast<double>(layer.forward_flop) / 1e6) : "",
                   layer.auxiliary ? "auxiliary" : ""});
    return text + table.text();
}

std::string strategy_text(const Strategy& strategy) {
    std::string text = fmt::format("strategy {}: {}\n  closed form  {}\n  source       {}\n", strategy.name,
                                   strategy.help, strategy.closed_form, strategy.source);
    if (strategy.parameters.empty()) return text + "  no parameters\n";
    text += "  parameters, as in " + std::string(strategy.name) + "(" + strategy.parameters.front().name + "=...):\n";
    for (const ParameterSpec& parameter : strategy.parameters) {
        std::vector<std::string> kinds = parameter.choices;
        if (parameter.takes_integer()) kinds.push_back(fmt::format("{} to {}", parameter.lowest, parameter.highest));
        const std::string values = parameter.free_text
                                       ? "any text (must be given)"
                                       : fmt::format("{} (default {})", fmt::join(kinds, " | "), parameter.otherwise);
        text += fmt::format("    {:<12}{}\n{:16}{}\n", parameter.name, values, "", parameter.help);
    }
    return text;
}

std::string show(const std::string& kind, const std::string& name, const std::vector<config::Setting>& settings) {
    const SourceLocation here{"command line", 0, 0};
    if (kind == "scenario") {
        const Scenario scenario = load_scenario(name, settings);
        std::string text =
            report_header(scenario, "(shown only)") +
            fmt::format("  strategies {}\n  hash      {}\n\n", fmt::join(scenario.strategies, ", "), scenario.hash);
        return text + cluster_text(scenario.cluster) + "\nas one file, all bases and --set applied:\n\n" +
               config::to_toml(scenario.tree);
    }
    if (kind == "strategy") {
        if (!settings.empty())
            throw UserError(
                {here, "", "--set with a strategy", "a scenario, model or cluster to set something in", ""});
        const Strategy* strategy = find_strategy(name);
        if (!strategy)
            throw UserError({here, "", "'" + name + "'", "a strategy", did_you_mean(name, all_strategy_names())});
        return strategy_text(*strategy);
    }
    if (kind != "model" && kind != "cluster")
        throw UserError({here, "", "'" + kind + "'", "something to show", did_you_mean(kind, kKinds)});
    config::Value file = config::load_toml(find_data(kind + "s", name, ".", here, ""));
    for (const config::Setting& setting : settings) config::apply(file, setting);
    if (kind == "model") return network_text(read_network(config::TableReader(file, "")));
    return cluster_text(read_cluster(config::TableReader(file, "")));
}

constexpr std::int64_t kMostRanks = 1024;

std::int64_t count_of(const Arguments& read, const char* option) {
    const auto value = read.values[option].as<std::int64_t>();
    if (value < 1 || value > kMostRanks)
        throw UserError({{std::string("--") + option, 0, 0}, "", std::to_string(value), "1 to 1024", ""});
    return value;
}

std::string show_schedule(const Arguments& read) {
    const std::string format = choice(read, "format", {"table", "dot", "msccl"});
    const SourceLocation here{"command line", 0, 0};
    const StrategyChoice asked = parse_strategy(read.text("name"), here, "");
    const auto workers = static_cast<std::int32_t>(count_of(read, "gpus"));
    const Settled settled =
        settle(asked, {workers, {}, static_cast<std::int32_t>(count_of(read, "gpus-per-node"))}, 0, 4, nullptr);
    if (!settled.refusal && !settled.choice.strategy->schedule)
        throw UserError({here, "", "'" + asked.canonical() + "'", "a strategy that has a schedule", ""});
    if (settled.refusal)
        throw UserError({here, "", fmt::format("'{}' on {} GPUs", asked.canonical(), workers),
                         "what this strategy can serve", *settled.refusal});
    const Schedule schedule = settled.choice.strategy->schedule(settled.collective);
    const Verdict proof = verify(schedule);
    COPPICE_CHECK(proof.ok(), "{}: {}", schedule.strategy, proof.flaw->message);
    if (format != "table" && read.has("rank"))
        throw UserError(
            {{"--rank", 0, 0}, "", "--rank with --format " + format, "all ranks: a message has two ends", ""});
    if (format == "msccl") return export_msccl(schedule, here);
    if (format == "dot") return schedule_dot(schedule);
    std::optional<Rank> only;
    if (read.has("rank")) {
        const auto rank = read.values["rank"].as<std::int64_t>();
        if (rank < 0 || rank >= schedule.ranks)
            throw UserError(
                {{"--rank", 0, 0}, "", std::to_string(rank), fmt::format("0 to {}", schedule.ranks - 1), ""});
        only = static_cast<Rank>(rank);
    }
    return schedule_text(schedule, proof, only);
}

}  // namespace

int run_show(const std::vector<std::string>& arguments) {
    const HelpText help{
        "coppice show scenario|model|cluster|strategy|schedule NAME [options]",
        "Shows one thing in full: layers and counts of a model, the values of a cluster as understood, a\n"
        "strategy's parameters and closed form, a scenario resolved into one file. NAME may be a file. Of a schedule, "
        "whose\n"
        "NAME is a strategy with its parameters: what each rank does in each round, after it was proved.",
        "  coppice show model googlenet\n  coppice show cluster titan\n  coppice show strategy ps\n"
        "  coppice show scenario firecaffe-nin --set 'cluster.link.bandwidth=10 Gbps'\n"
        "  coppice show schedule ring --gpus 4\n"
        "  coppice show schedule 'ps(servers=2)' --gpus 4 --format dot | dot -Tsvg > ps.svg\n"
        "  coppice show schedule halving-doubling --gpus 8 --format msccl > hd8.xml\n"};
    po::options_description options;
    options.add_options()("kind", po::value<std::string>())("name", po::value<std::string>())(
        "set", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"), "sets any key first; may be repeated")(
        "gpus,g", po::value<std::int64_t>()->default_value(4)->value_name("N"), "of a schedule: workers")(
        "gpus-per-node", po::value<std::int64_t>()->default_value(1)->value_name("N"), "of a schedule: GPUs of a node")(
        "rank", po::value<std::int64_t>()->value_name("R"), "of a schedule: only what this rank does")(
        "format,f", po::value<std::string>()->default_value("table")->value_name("NAME"),
        "of a schedule: table, dot (Graphviz), or msccl (MSCCL's XML, which msccl(file=...) reads)");
    const Arguments read = read_arguments(arguments, options, {"kind", "name"}, help);
    if (read.help) return 0;
    require(read, "kind", "scenario, model, cluster, strategy or schedule", help);
    require(read, "name", "a name or a file", help);
    if (read.text("kind") == "schedule") {
        if (read.has("set"))
            throw UserError({{"command line", 0, 0}, "", "--set with a schedule", "--gpus, --gpus-per-node", ""});
        print(show_schedule(read));
        return 0;
    }
    for (const char* const option : {"gpus", "gpus-per-node", "rank", "format"})
        if (read.has(option) && !read.values[option].defaulted())
            throw UserError({{"command line", 0, 0},
                             "",
                             fmt::format("--{} with a {}", option, read.text("kind")),
                             "it with a schedule only",
                             ""});
    print(show(read.text("kind"), read.text("name"), set_options(read)));
    return 0;
}

}  // namespace coppice::program
