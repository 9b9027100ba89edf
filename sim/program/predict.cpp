// coppice predict: a scenario's sweep, or all-reduces alone, as tables, CSV or JSON Lines, and with -o as files and
// figures.
#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/program/sweep_options.hpp"
#include "common/result/atomic_file.hpp"
#include "common/result/context.hpp"
#include "common/step/all_reduce.hpp"
#include "common/step/prediction.hpp"
#include "sim/engine.hpp"
#include "sim/program/all_reduce_input.hpp"
#include "sim/program/command.hpp"
#include "sim/program/figures.hpp"
#include "sim/program/held_signals.hpp"
#include "sim/program/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace coppice::program {

namespace fs = std::filesystem;
namespace po = boost::program_options;

namespace {

const HelpText kHelp{
    "coppice predict SCENARIO [options], or coppice predict --cluster CLUSTER --bytes LIST --gpus LIST [options]",
    "Predicts step time, rate, speedup and hours to train for each strategy and GPU count of a scenario.\n"
    "SCENARIO is a file or the name of one of coppice's own (coppice list scenarios).\n"
    "With --bytes, or without a scenario: the time of all-reduces of these sizes alone, without a training step, "
    "which\n"
    "is what coppice-run bench measures; a scenario then gives the cluster, GPU counts, strategies and type, as far "
    "as\n"
    "options do not. Results go to standard output, messages to standard error.",
    "  coppice predict firecaffe-googlenet\n"
    "  coppice predict my.toml --gpus 1..64 --strategy 'tree,ps(placement=dedicated)' -o out\n"
    "  coppice predict firecaffe-nin --set 'cluster.link.bandwidth=10 Gbps' --engine closed-form --format csv\n"
    "  coppice predict --cluster ethernet-10g --bytes '64 KiB..32 MiB' --strategy ring,tree,ps --gpus 2..8:+1\n"};

// What both kinds of prediction are asked for besides what to predict.
struct Manner {
    std::string engine;  // "sim", "closed-form"
    std::string format;
    std::vector<std::string> figure_formats;
    int parallel = 0;
    std::optional<fs::path> folder;

    std::string engine_text() const {
        return engine == "sim" ? simulation_engine_name() : "closed-form (formulas, no contention)";
    }
    Engine make_engine() const { return engine == "sim" ? simulation_engine(parallel) : closed_form_engine(); }
};

Manner read_manner(const Arguments& read) {
    Manner manner;
    manner.engine = choice(read, "engine", {"sim", "closed-form"});
    manner.format = choice(read, "format", {"table", "csv", "jsonl"});
    manner.figure_formats = figure_formats_or_none("--figures", read.text("figures"));
    manner.parallel = read.values["jobs"].as<int>();
    if (manner.parallel < 0)
        throw UserError({{"--jobs", 0, 0}, "", std::to_string(manner.parallel), "0 or more simulations at a time", ""});
    if (read.has("output")) manner.folder = read.text("output");
    return manner;
}

// The resolved input, as TOML, under the name that says what it is.
struct Echo {
    std::string name;
    const config::Value& tree;
};

// The records are safe before anything is printed: who reads only the first lines of a long sweep keeps the rest.
void write_records(const Manner& manner, const Echo& input, const std::vector<Record>& records,
                   const std::vector<std::string>& arguments) {
    if (!manner.folder) return;
    const HeldSignals signals;
    write_whole(*manner.folder / "records.csv", to_csv(records));
    write_whole(*manner.folder / "records.jsonl", to_json_lines(records));
    write_whole(*manner.folder / input.name, config::to_toml(input.tree));
    write_whole(*manner.folder / "context.json", context_json("coppice predict", arguments, manner.engine_text()));
    signals.check();
}

void draw_prediction(const fs::path& folder, const Prediction& prediction, const std::vector<std::string>& formats) {
    std::string written = "records.csv, records.jsonl, scenario.toml, context.json";
    const bool something = std::any_of(prediction.records.begin(), prediction.records.end(),
                                       [](const Record& record) { return record.status == "ok"; });
    if (something) {
        for (const fs::path& figure :
             draw_records(folder / "records.csv", prediction.records, record_figures_of("all"), formats, folder))
            written += ", " + figure.filename().string();
    } else {
        fmt::print(stderr, "coppice: warning: no point has a result, so there is nothing to draw\n");
    }
    fmt::print(stderr, "coppice: wrote {} to {}\n", written, folder.string());
}

int predict_steps(const Arguments& read, const Manner& manner, const std::vector<std::string>& arguments) {
    if (read.has("type"))
        throw UserError({{"--type", 0, 0},
                         "",
                         "'" + read.text("type") + "' without --bytes",
                         "the type of all-reduces alone",
                         "of a training step: --set workload.gradient_type=fp16"});
    const Scenario scenario = load_scenario(read.text("scenario"), sweep_settings(read));
    if (manner.folder) prepare_folder(*manner.folder);
    const Predictor predictor(scenario);
    const Prediction prediction = predictor.predict(predictor.plan(), manner.make_engine());
    for (const std::string& warning : prediction.warnings) fmt::print(stderr, "coppice: warning: {}\n", warning);
    write_records(manner, {"scenario.toml", scenario.tree}, prediction.records, arguments);
    if (manner.format == "csv")
        print(to_csv(prediction.records));
    else if (manner.format == "jsonl")
        print(to_json_lines(prediction.records));
    else
        print(report_header(scenario, manner.engine_text()) + report_tables(scenario, prediction));
    if (manner.folder) draw_prediction(*manner.folder, prediction, manner.figure_formats);
    return 0;
}

int predict_all_reduces(const Arguments& read, const Manner& manner, const std::vector<std::string>& arguments) {
    const bool with_scenario = read.has("scenario");
    const AllReduceInput input = read_all_reduce_input(read, kHelp, {.sizes = "64 KiB..32 MiB"});
    if (manner.folder) prepare_folder(*manner.folder);
    const std::vector<Record> records =
        coppice::predict_all_reduces(input.sweep, plan_all_reduces(input.sweep), manner.make_engine());
    const std::string echo = with_scenario ? "scenario.toml" : "cluster.toml";
    write_records(manner, {echo, input.tree}, records, arguments);
    if (manner.format == "csv")
        print(to_csv(records));
    else if (manner.format == "jsonl")
        print(to_json_lines(records));
    else
        print(all_reduce_header(input.sweep, manner.engine_text()) + all_reduce_table(input.sweep, records));
    if (manner.folder)
        fmt::print(stderr, "coppice: wrote records.csv, records.jsonl, {}, context.json to {}\n", echo,
                   manner.folder->string());
    return 0;
}

}  // namespace

int run_predict(const std::vector<std::string>& arguments) {
    po::options_description options;
    options.add_options()("scenario", po::value<std::string>());
    add_all_reduce_options(options,
                           "predicts all-reduces of these sizes alone: '1 MiB', '64 KiB..32 MiB' (doubles; the default "
                           "without a scenario), '1 kB..1 GB:*10'");
    add_sweep_options(options);
    options.add_options()("engine,e", po::value<std::string>()->default_value("sim")->value_name("NAME"),
                          "sim (discrete events, SimGrid) or closed-form (formulas)")(
        "format,f", po::value<std::string>()->default_value("table")->value_name("NAME"),
        "table, csv or jsonl, on standard output")("output,o", po::value<std::string>()->value_name("DIR"),
                                                   "also writes records, the resolved scenario and figures there")(
        "figures", po::value<std::string>()->default_value("pdf,svg,png")->value_name("LIST"),
        "formats of the figures in DIR, or none")("jobs,j", po::value<int>()->default_value(0)->value_name("N"),
                                                  "simulations at a time; 0: one per core");
    const Arguments read = read_arguments(arguments, options, {"scenario"}, kHelp);
    if (read.help) return 0;
    const bool alone = read.has("bytes") || read.has("cluster");
    if (!alone) require(read, "scenario", "a scenario", kHelp);
    const Manner manner = read_manner(read);
    const bool all_reduces = read.has("bytes") || !read.has("scenario");
    return all_reduces ? predict_all_reduces(read, manner, arguments) : predict_steps(read, manner, arguments);
}

}  // namespace coppice::program
