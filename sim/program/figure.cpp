// coppice figure: figures from records, or a comparison, that were written before.
#include "sim/program/figures.hpp"

#include "common/diag/error.hpp"
#include "common/result/atomic_file.hpp"
#include "sim/program/command.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace coppice::program {

namespace fs = std::filesystem;
namespace po = boost::program_options;

namespace {

HelpText help_text() {
    std::string kinds;
    for (const FigureKind& kind : record_figures()) kinds += fmt::format("  {}: {}\n", kind.name, kind.help);
    return {"coppice figure KIND FILE.csv [options]",
            fmt::format("Draws a figure with gnuplot from a CSV file. Kinds, of records:\n"
                        "{}"
                        "  all: all of these\n"
                        "Of a comparison:\n"
                        "  {}: {}",
                        kinds, comparison_figure().name, comparison_figure().help),
            "  coppice figure speedup out/records.csv -o figures --format pdf\n"
            "  coppice figure comparison out/comparison.csv\n"};
}

}  // namespace

int run_figure(const std::vector<std::string>& arguments) {
    const HelpText help = help_text();
    po::options_description options;
    options.add_options()("kind", po::value<std::string>())("file", po::value<std::string>())(
        "output,o", po::value<std::string>()->default_value(".")->value_name("DIR"), "folder for the figures")(
        "format,f", po::value<std::string>()->default_value("pdf,svg,png")->value_name("LIST"),
        "pdf, svg, png, separated by commas");
    const Arguments read = read_arguments(arguments, options, {"kind", "file"}, help);
    if (read.help) return 0;
    require(read, "kind", "a kind of figure", help);
    require(read, "file", "a CSV file of records", help);
    const bool of_comparison = read.text("kind") == comparison_figure().name;
    const std::vector<std::string> kinds =
        of_comparison ? std::vector<std::string>{} : record_figures_of(read.text("kind"));
    const std::vector<std::string> formats = figure_formats("--format", read.text("format"));
    const fs::path csv = read.text("file");
    const std::string text = read_whole(csv);
    const fs::path folder = read.text("output");
    std::vector<fs::path> drawn;
    if (of_comparison) {
        const std::vector<ComparedPoint> points = parse_comparison_csv(text, csv.string());
        prepare_folder(folder);
        drawn = draw_comparison(csv, points, formats, folder);
    } else {
        const std::vector<Record> records = parse_csv(text, csv.string());
        prepare_folder(folder);
        drawn = draw_records(csv, records, kinds, formats, folder);
    }
    for (const fs::path& figure : drawn) fmt::print(stderr, "coppice: wrote {}\n", figure.string());
    return 0;
}

}  // namespace coppice::program
