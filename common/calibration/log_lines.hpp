// What the readers of logs share: lines without the labels of launchers, and their words. Not for anybody else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::logs {

struct Line {
    int number = 0;
    std::string_view text;  // without label, carriage return and blanks at its ends
    std::vector<std::string> words;
    bool comment() const { return text.starts_with('#'); }
};

// Labels: "[1,0]<stdout>:" (Open MPI's --tag-output), "[0] " (mpiexec -l), "0: " (srun --label), the time of day
// (kubectl and docker logs --timestamps). A byte order mark is no part of the first line.
std::vector<Line> lines_of(std::string_view text);

bool is_whole(std::string_view word);                    // decimal digits only
std::optional<double> number_in(std::string_view word);  // finite, and nothing behind it
// The same of microseconds, as the double next to the decimal that is written.
std::optional<double> seconds_in(std::string_view microseconds);

}  // namespace coppice::logs
