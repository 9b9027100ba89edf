// Figures of records and of comparisons, drawn with gnuplot from their CSV files by the scripts in plots/.
#pragma once

#include "common/comparison/comparison.hpp"
#include "common/result/record.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace coppice::program {

struct FigureKind {
    std::string name;
    std::string help;
};
const std::vector<FigureKind>& record_figures();
const FigureKind& comparison_figure();

// Names of record_figures(): all of them for "all". UserError for an unknown one.
std::vector<std::string> record_figures_of(const std::string& kind);

// "pdf,svg" -> pdf, svg. UserError for what is none; `option` is what the user gave them with.
std::vector<std::string> figure_formats(const std::string& option, const std::string& list);
// The same for an option that may also be "none": then empty.
std::vector<std::string> figure_formats_or_none(const std::string& option, const std::string& list);

// Both draw into `folder` (which exists), one file per format, each whole or not there, and return their names. `csv`
// holds what is given beside it. EnvironmentError if gnuplot is missing or fails (with what it said); UserError if
// there is nothing to draw, or what one figure cannot show.

// One figure per kind, and batch where there are several.
std::vector<std::filesystem::path> draw_records(const std::filesystem::path& csv, const std::vector<Record>& records,
                                                const std::vector<std::string>& kinds,
                                                const std::vector<std::string>& formats,
                                                const std::filesystem::path& folder);

// Predicted against measured, a panel per group.
std::vector<std::filesystem::path> draw_comparison(const std::filesystem::path& csv,
                                                   const std::vector<ComparedPoint>& points,
                                                   const std::vector<std::string>& formats,
                                                   const std::filesystem::path& folder);

}  // namespace coppice::program
