// Draws figures with gnuplot from a CSV file of records, by the scripts in plots/.
#pragma once

#include "common/result/record.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace coppice::program {

struct FigureRequest {
    std::vector<std::string> kinds;    // of figure_kinds()
    std::vector<std::string> formats;  // "pdf", "svg", "png"
};

struct FigureKind {
    std::string name;
    std::string help;
};
const std::vector<FigureKind>& figure_kinds();
const std::vector<std::string>& figure_formats();

// UserError for an unknown kind or format; format_option is what the user gave the formats with.
FigureRequest figure_request(const std::string& format_option, const std::vector<std::string>& kinds,
                             const std::vector<std::string>& formats);

// Draws into `folder` (which exists), one file per kind, batch (where there are several) and format, each whole or not
// there; returns their names. `csv` holds `records`. EnvironmentError if gnuplot is missing or fails (with what it
// said); UserError if the records have nothing to draw.
std::vector<std::filesystem::path> draw_figures(const std::filesystem::path& csv, const std::vector<Record>& records,
                                                const FigureRequest& request, const std::filesystem::path& folder);

}  // namespace coppice::program
