// The one way in which figures are drawn: gnuplot runs a script of plots/ on a CSV file, and what it drew appears under
// its name whole or not at all.
#pragma once

#include "sim/program/held_signals.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace coppice::program {

struct Drawing {
    std::string script;  // plots/SCRIPT.gp
    std::filesystem::path csv;
    std::filesystem::path target;  // without the format, which is added as extension
    // Behind those that every script has (plots/data.gp). Lists are separated by line breaks, as names may hold spaces.
    std::vector<std::string> arguments;
};

// One file per format ("pdf", "svg", "png"); returns their names. EnvironmentError if gnuplot is missing or fails, with
// what it said; Interrupted if a signal came meanwhile.
std::vector<std::filesystem::path> draw(const Drawing& drawing, const std::vector<std::string>& formats,
                                        const HeldSignals& signals);

}  // namespace coppice::program
