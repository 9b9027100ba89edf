// coppice figure: figures from records that were written before.
#include "sim/program/figures.hpp"

#include "common/diag/error.hpp"
#include "common/result/atomic_file.hpp"
#include "sim/program/command.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace coppice::program {

namespace fs = std::filesystem;
namespace po = boost::program_options;

int run_figure(const std::vector<std::string>& arguments) {
    std::string kinds = "all: all of these\n";
    for (const FigureKind& kind : figure_kinds()) kinds += fmt::format("  {}: {}\n", kind.name, kind.help);
    const HelpText help{"coppice figure KIND RECORDS.csv [options]",
                        "Draws a figure with gnuplot from a CSV file of records. Kinds:\n  " + kinds,
                        "  coppice figure speedup out/records.csv -o figures --format pdf\n"};
    po::options_description options;
    options.add_options()("kind", po::value<std::string>())("records", po::value<std::string>())(
        "output,o", po::value<std::string>()->default_value(".")->value_name("DIR"), "folder for the figures")(
        "format,f", po::value<std::string>()->default_value("pdf,svg,png")->value_name("LIST"),
        "pdf, svg, png, separated by commas");
    const Arguments read = read_arguments(arguments, options, {"kind", "records"}, help);
    if (read.help) return 0;
    require(read, "kind", "a kind of figure", help);
    require(read, "records", "a CSV file of records", help);
    const FigureRequest request = figure_request("--format", {read.text("kind")}, split_commas(read.text("format")));
    const fs::path csv = read.text("records");
    const std::vector<Record> records = parse_csv(read_whole(csv), csv.string());
    const fs::path folder = read.text("output");
    prepare_folder(folder);
    for (const fs::path& figure : draw_figures(csv, records, request, folder))
        fmt::print(stderr, "coppice: wrote {}\n", figure.string());
    return 0;
}

}  // namespace coppice::program
