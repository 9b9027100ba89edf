// coppice check: reads a file of any kind and says what is wrong with it; the schedules of a scenario's sweep are
// proved as well, and so is an all-reduce in MSCCL's XML.
#include "common/calibration/probe_record.hpp"
#include "common/config/value.hpp"
#include "common/diag/error.hpp"
#include "common/msccl/msccl_xml.hpp"
#include "common/program/numbers.hpp"
#include "common/result/atomic_file.hpp"
#include "common/result/record.hpp"
#include "common/step/prediction.hpp"
#include "sim/program/command.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace coppice::program {

namespace po = boost::program_options;

namespace {

std::string check_scenario(const std::string& file, const std::vector<config::Setting>& settings) {
    const Scenario scenario = load_scenario(file, settings);
    const Predictor predictor(scenario);
    const std::vector<StepPlan> plans = predictor.plan();
    std::size_t proved = 0;
    std::size_t measured = 0;
    std::string text;
    for (const StepPlan& plan : plans) {
        if (plan.refusal)
            text += fmt::format("  {}: n/a: {}\n", plan.label(), *plan.refusal);
        else if (plan.step.schedule)
            ++proved;
        else
            ++measured;
    }
    if (measured > 0)
        text += fmt::format("  {} of {} points are measured times, which have no schedule\n", measured, plans.size());
    for (const std::string& warning : predictor.warnings(plans)) fmt::print(stderr, "coppice: warning: {}\n", warning);
    return fmt::format("{}: a scenario, {}; {} of {} points have a schedule, all proved\n{}", file, scenario.name,
                       proved, plans.size(), text);
}

std::string check_msccl(const std::string& file) {
    const MscclAlgo algo = parse_msccl(read_whole(file), file);
    const ImportedSchedule imported = import_msccl(algo, algo.name);
    return fmt::format("{}: an all-reduce in MSCCL's XML, {}, of {} GPUs in {} chunks, {} messages, proved\n", file,
                       algo.name, imported.schedule.workers, algo.chunks, grouped(imported.verdict.traffic.messages));
}

std::string check_file(const std::string& file, const std::vector<config::Setting>& settings) {
    const bool records = file.ends_with(".csv") || file.ends_with(".jsonl");
    if (!settings.empty() && (records || file.ends_with(".xml")))
        throw UserError({{"command line", 0, 0},
                         "",
                         records ? "--set with records" : "--set with a schedule",
                         "a scenario, model or cluster to set something in",
                         ""});
    if (file.ends_with(".xml")) return check_msccl(file);
    if (file.ends_with(".csv")) return fmt::format("{}: {} records\n", file, parse_csv(read_whole(file), file).size());
    if (file.ends_with(".jsonl")) {
        const std::string text = read_whole(file);
        if (text.substr(0, text.find('\n')).find(kProbeSchema) != std::string::npos)
            return fmt::format("{}: {} records of a probe\n", file, parse_probe_records(text, file).size());
        return fmt::format("{}: {} records\n", file, parse_json_lines(text, file).size());
    }
    if (!file.ends_with(".toml") && file.find('/') == std::string::npos) return check_scenario(file, settings);
    config::Value value = config::load_toml(file);
    for (const config::Setting& setting : settings) config::apply(value, setting);
    // What a file is shows in what only its kind has.
    const config::TableReader table(value, "");
    if (value.table().contains("layer")) {
        const Network network = read_network(table);
        return fmt::format("{}: a model, {}, {} parameters\n", file, network.name,
                           grouped(count(network, Heads::WithAuxiliary).parameters));
    }
    if (value.table().contains("device") || value.table().contains("link"))
        return fmt::format("{}: a cluster, {}\n", file, read_cluster(table).name);
    return check_scenario(file, settings);
}

}  // namespace

int run_check(const std::vector<std::string>& arguments) {
    const HelpText help{
        "coppice check FILE [options]",
        "Reads a scenario, model or cluster (TOML), records (.csv, .jsonl) or an all-reduce in MSCCL's XML (.xml)\n"
        "and says what is wrong. Such an all-reduce is proved, and for a scenario every schedule of its sweep:\n"
        "each worker ends with each contribution once.",
        "  coppice check my-scenario.toml\n  coppice check my-cluster.toml --set 'link.bandwidth=10 Gbps'\n"};
    po::options_description options;
    options.add_options()("file", po::value<std::string>())(
        "set", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"), "sets any key first; may be repeated");
    const Arguments read = read_arguments(arguments, options, {"file"}, help);
    if (read.help) return 0;
    require(read, "file", "a file", help);
    print(check_file(read.text("file"), set_options(read)));
    return 0;
}

}  // namespace coppice::program
