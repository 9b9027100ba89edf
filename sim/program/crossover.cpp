// coppice crossover: the map of which strategy is fastest for which GPUs and size, and where pairs of them meet.
#include "common/choice/crossover.hpp"
#include "common/diag/error.hpp"
#include "common/program/numbers.hpp"
#include "common/program/sweep_options.hpp"
#include "common/result/atomic_file.hpp"
#include "common/result/csv.hpp"
#include "common/result/text_table.hpp"
#include "sim/program/all_reduce_input.hpp"
#include "sim/program/command.hpp"
#include "sim/program/figures.hpp"
#include "sim/program/gnuplot.hpp"
#include "sim/program/held_signals.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace coppice::program {

namespace fs = std::filesystem;
namespace po = boost::program_options;
using Align = TextTable::Align;

namespace {

const HelpText kHelp{
    "coppice crossover SCENARIO [options], or coppice crossover --cluster CLUSTER --gpus LIST [options]",
    "For each number of GPUs, which strategy is the fastest in which range of sizes, by the closed forms; and the "
    "sizes at\n"
    "which parameter server, tree and ring, two at a time, take as long as each other. What reigns in less than a\n"
    "doubling of the size may be missed.",
    "  coppice crossover --cluster ethernet-10g --gpus 2..1024 -o out\n"
    "  coppice crossover firecaffe-googlenet --bytes '1 kB..1 GB' --strategy ps,tree,ring,auto\n"};

// A line of the file: a range in which a strategy reigns, or a size at which two meet (both ends the same; `strategy`
// is the faster one from there on, `other` the one before).
struct MapLine {
    std::string kind;  // "fastest", "meeting"
    std::int64_t gpus = 0;
    double gpus_low = 0;  // half way to the neighbouring numbers of GPUs, on a logarithmic axis
    double gpus_high = 0;
    std::uint64_t from_bytes = 0;
    std::uint64_t to_bytes = 0;
    std::int64_t index = 0;  // of the strategy among those that reign; of the pair among the pairs; from 1
    std::string strategy;
    std::string other;
};

constexpr auto kVisit = [](auto& line, auto&& visit) {
    visit("kind", line.kind);
    visit("gpus", line.gpus);
    visit("gpus_low", line.gpus_low);
    visit("gpus_high", line.gpus_high);
    visit("from_bytes", line.from_bytes);
    visit("to_bytes", line.to_bytes);
    visit("index", line.index);
    visit("strategy", line.strategy);
    visit("other", line.other);
};

constexpr std::pair<const char*, const char*> kPairs[] = {{"ps", "tree"}, {"tree", "ring"}, {"ps", "ring"}};

struct CrossoverMap {
    std::vector<MapLine> lines;
    std::vector<std::string> strategies;  // that reign, in the order of their first reign
    std::vector<std::string> pairs;       // that meet somewhere
    std::vector<std::string> refused;
};

std::int64_t number_of(std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return found - names.begin() + 1;
    names.push_back(name);
    return static_cast<std::int64_t>(names.size());
}

CrossoverMap crossover_map(const AllReduceSweep& sweep) {
    CrossoverMap map;
    const SizeRange range{sweep.sizes.front(), sweep.sizes.back()};
    for (std::size_t i = 0; i < sweep.gpus.size(); ++i) {
        const std::int64_t gpus = sweep.gpus[i];
        if (const auto refusal = closed_forms_refuse(gpus, sweep.cost.cluster())) {
            map.refused.push_back(fmt::format("{} GPUs: {}", gpus, *refusal));
            continue;
        }
        const auto here = static_cast<double>(gpus);
        const auto between = [&](std::size_t other) {
            return std::sqrt(here * static_cast<double>(sweep.gpus[other]));
        };
        const bool lonely = sweep.gpus.size() == 1;
        const double low = i > 0 ? between(i - 1) : here * here / (lonely ? here * std::sqrt(2.0) : between(i + 1));
        const double high = i + 1 < sweep.gpus.size() ? between(i + 1) : here * here / low;
        const CollectiveCase collective = case_on(sweep.cost.cluster(), gpus);
        for (const Reign& reign : reigns({sweep.strategies, collective, sweep.element, sweep.cost}, range))
            map.lines.push_back({"fastest", gpus, low, high, reign.sizes.from, reign.sizes.to,
                                 number_of(map.strategies, reign.choice.canonical()), reign.choice.canonical(), ""});
        for (const auto& [first, second] : kPairs) {
            const auto named = [](const char* text) { return parse_strategy(text, {"crossover.cpp", 0, 0}, ""); };
            const Contest two{{named(first), named(second)}, collective, sweep.element, sweep.cost};
            for (const Meeting& meeting : meetings(two, range))
                map.lines.push_back({"meeting", gpus, low, high, meeting.bytes, meeting.bytes,
                                     number_of(map.pairs, fmt::format("{} = {}", first, second)),
                                     meeting.faster.canonical(),
                                     meeting.faster.strategy->name == first ? second : first});
        }
    }
    return map;
}

std::string tables(const AllReduceSweep& sweep, const CrossoverMap& map) {
    TextTable fastest({{"GPUs"}, {"from"}, {"to"}, {"fastest", Align::Left}});
    TextTable meeting({{"GPUs"}, {"size"}, {"from there on faster", Align::Left}, {"than", Align::Left}});
    for (const MapLine& line : map.lines) {
        if (line.kind == "fastest")
            fastest.row(
                {std::to_string(line.gpus), size_text(line.from_bytes), size_text(line.to_bytes), line.strategy});
        else
            meeting.row({std::to_string(line.gpus), size_text(line.from_bytes), line.strategy, line.other});
    }
    std::string text = fmt::format("The fastest all-reduce of {} on {}, by closed forms\n{}", sweep.element.name,
                                   sweep.cost.cluster().name, fastest.text());
    return text + (map.pairs.empty() ? "\nParameter server, tree and ring meet nowhere in these sizes\n"
                                     : "\nWhere parameter server, tree and ring meet\n" + meeting.text());
}

void write(const fs::path& folder, const AllReduceSweep& sweep, const CrossoverMap& map, const std::string& csv,
           const std::vector<std::string>& formats) {
    prepare_folder(folder);
    const HeldSignals signals;
    const fs::path file = folder / "crossover.csv";
    write_whole(file, csv);
    std::string written = "crossover.csv";
    if (!formats.empty()) {
        const Drawing drawing{
            "crossover",
            file,
            folder / "crossover",
            {fmt::format("{}", fmt::join(map.strategies, "\n")), fmt::format("{}", fmt::join(map.pairs, "\n")),
             fmt::format("{} of {}", sweep.element.name, sweep.cost.cluster().name)}};
        for (const fs::path& figure : draw(drawing, formats, signals)) written += ", " + figure.filename().string();
    }
    fmt::print(stderr, "coppice: wrote {} to {}\n", written, folder.string());
}

}  // namespace

int run_crossover(const std::vector<std::string>& arguments) {
    po::options_description options;
    options.add_options()("scenario", po::value<std::string>());
    add_all_reduce_options(options, "from the least to the greatest of these; default 8 B to 1 GiB");
    add_sweep_options(options);
    options.add_options()("format,f", po::value<std::string>()->default_value("table")->value_name("NAME"),
                          "table, csv or jsonl, on standard output")(
        "output,o", po::value<std::string>()->value_name("DIR"), "also writes crossover.csv and the map there")(
        "figures", po::value<std::string>()->default_value("pdf,svg,png")->value_name("LIST"),
        "formats of the map in DIR, or none");
    const Arguments read = read_arguments(arguments, options, {"scenario"}, kHelp);
    if (read.help) return 0;
    const std::string format = choice(read, "format", {"table", "csv", "jsonl"});
    const std::vector<std::string> figures = figure_formats_or_none("--figures", read.text("figures"));
    AllReduceSweep sweep =
        read_all_reduce_input(read, kHelp,
                              {.sizes = "8 B,1 GiB", .strategies_of_scenario = false, .strategies = auto_candidates()})
            .sweep;
    std::erase(sweep.gpus, 1);  // nothing to choose
    const CrossoverMap map = crossover_map(sweep);
    for (const std::string& refusal : map.refused) fmt::print(stderr, "coppice: not on {}\n", refusal);
    if (map.lines.empty())
        throw UserError({{"command line", 0, 0},
                         "",
                         "nothing that can be compared",
                         "two or more GPUs, on a cluster that the closed forms know",
                         map.refused.empty() ? "" : map.refused.front()});
    std::string csv = csv_header_of<MapLine>(kVisit);
    std::string lines;
    for (const MapLine& line : map.lines) {
        csv += csv_line_of(line, kVisit);
        lines += json_lines::line_of(line, kVisit);
    }
    if (read.has("output")) write(read.text("output"), sweep, map, csv, figures);
    print(format == "csv" ? csv : format == "jsonl" ? lines : tables(sweep, map));
    return 0;
}

}  // namespace coppice::program
