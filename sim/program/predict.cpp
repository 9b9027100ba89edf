// coppice predict: a scenario's sweep as tables, CSV or JSON Lines, and with -o as files and figures.
#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/result/atomic_file.hpp"
#include "common/result/context.hpp"
#include "common/step/prediction.hpp"
#include "sim/program/command.hpp"
#include "sim/program/figures.hpp"
#include "sim/program/held_signals.hpp"
#include "sim/program/report.hpp"
#include "sim/step_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace coppice::program {

namespace fs = std::filesystem;
namespace po = boost::program_options;

namespace {

const HelpText kHelp{
    "coppice predict SCENARIO [options]",
    "Predicts step time, rate, speedup and hours to train for each strategy and GPU count of a scenario.\n"
    "SCENARIO is a file or the name of one of coppice's own (coppice list scenarios).\n"
    "Results go to standard output, messages to standard error.",
    "  coppice predict firecaffe-googlenet\n"
    "  coppice predict my.toml --gpus 1..64 --strategy 'tree,ps(placement=dedicated)' -o out\n"
    "  coppice predict firecaffe-nin --set 'cluster.link.bandwidth=10 Gbps' --engine closed-form --format csv\n"};

// --gpus and --strategy are shorter ways to set two keys of the scenario.
std::vector<config::Setting> settings_of(const Arguments& read) {
    std::vector<config::Setting> settings = set_options(read);
    for (const auto& [option, key] : {std::pair{"gpus", "sweep.gpus"}, std::pair{"strategy", "sweep.strategies"}})
        if (read.has(option)) settings.push_back({key, read.text(option), fmt::format("--{}", option), true});
    return settings;
}

void write_records(const fs::path& folder, const Scenario& scenario, const Prediction& prediction,
                   const std::vector<std::string>& arguments, const std::string& engine) {
    const HeldSignals signals;
    write_whole(folder / "records.csv", to_csv(prediction.records));
    write_whole(folder / "records.jsonl", to_json_lines(prediction.records));
    write_whole(folder / "scenario.toml", config::to_toml(scenario.tree));
    write_whole(folder / "context.json", context_json("coppice predict", arguments, engine));
    signals.check();
}

void draw(const fs::path& folder, const Prediction& prediction, const FigureRequest& figures) {
    std::string written = "records.csv, records.jsonl, scenario.toml, context.json";
    const bool something = std::any_of(prediction.records.begin(), prediction.records.end(),
                                       [](const Record& record) { return record.status == "ok"; });
    if (something) {
        for (const fs::path& figure : draw_figures(folder / "records.csv", prediction.records, figures, folder))
            written += ", " + figure.filename().string();
    } else {
        fmt::print(stderr, "coppice: warning: no point has a result, so there is nothing to draw\n");
    }
    fmt::print(stderr, "coppice: wrote {} to {}\n", written, folder.string());
}

}  // namespace

int run_predict(const std::vector<std::string>& arguments) {
    po::options_description options;
    options.add_options()("scenario", po::value<std::string>())(
        "gpus,g", po::value<std::string>()->value_name("LIST"),
        "GPU counts: 1,2,4 or 1..128 (doubles), 1..128:*2, 1..128:+1; instead of the scenario's")(
        "strategy,s", po::value<std::string>()->value_name("LIST"),
        "strategies, for example ps,tree,ring or 'ps(placement=dedicated)'; instead of the scenario's")(
        "set", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
        "sets any key of the scenario, its network or its cluster; may be repeated")(
        "engine,e", po::value<std::string>()->default_value("sim")->value_name("NAME"),
        "sim (discrete events, SimGrid) or closed-form (formulas)")(
        "format,f", po::value<std::string>()->default_value("table")->value_name("NAME"),
        "table, csv or jsonl, on standard output")("output,o", po::value<std::string>()->value_name("DIR"),
                                                   "also writes records, the resolved scenario and figures there")(
        "figures", po::value<std::string>()->default_value("pdf,svg,png")->value_name("LIST"),
        "formats of the figures in DIR, or none")("jobs,j", po::value<int>()->default_value(0)->value_name("N"),
                                                  "simulations at a time; 0: one per core");
    const Arguments read = read_arguments(arguments, options, {"scenario"}, kHelp);
    if (read.help) return 0;
    require(read, "scenario", "a scenario", kHelp);
    const std::string engine = choice(read, "engine", {"sim", "closed-form"});
    const std::string format = choice(read, "format", {"table", "csv", "jsonl"});
    const FigureRequest figures = figure_request(
        "--figures", {"all"},
        read.text("figures") == "none" ? std::vector<std::string>{} : split_commas(read.text("figures")));
    const int parallel = read.values["jobs"].as<int>();
    if (parallel < 0)
        throw UserError({{"--jobs", 0, 0}, "", std::to_string(parallel), "0 or more simulations at a time", ""});

    const Scenario scenario = load_scenario(read.text("scenario"), settings_of(read));
    if (read.has("output")) prepare_folder(read.text("output"));
    const Predictor predictor(scenario);
    const std::vector<StepPlan> plans = predictor.plan();
    const bool simulated = engine == "sim";
    const std::string engine_text = simulated ? simulation_engine_name() : "closed-form (formulas, no contention)";
    const Prediction prediction =
        predictor.predict(plans, simulated ? simulation_engine(parallel) : closed_form_engine());
    for (const std::string& warning : prediction.warnings) fmt::print(stderr, "coppice: warning: {}\n", warning);
    // The records are safe before anything is printed: who reads only the first lines of a long sweep keeps the rest.
    const std::string folder = read.has("output") ? read.text("output") : "";
    if (!folder.empty()) write_records(folder, scenario, prediction, arguments, engine_text);
    if (format == "csv")
        print(to_csv(prediction.records));
    else if (format == "jsonl")
        print(to_json_lines(prediction.records));
    else
        print(report_header(scenario, engine_text) + report_tables(scenario, prediction));
    if (!folder.empty()) draw(folder, prediction, figures);
    return 0;
}

}  // namespace coppice::program
