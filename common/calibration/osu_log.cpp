// OSU micro-benchmarks:
//
//   # OSU MPI Allreduce Latency Test v5.8
//   # Size       Avg Latency(us)   Min Latency(us)  Max Latency(us)  Iterations      the last three with -f
//   1024                 1670.46
//
// Later versions put the data type on a line of its own and, with -c, "Pass" or "Fail" behind each row.
#include "common/calibration/log_formats.hpp"
#include "common/diag/error.hpp"

#include <algorithm>

namespace coppice::logs {

namespace {

constexpr std::string_view kTitle = "# OSU ";

// "# OSU MPI-CUDA Allreduce Latency Test v7.1" -> "Allreduce Latency". One-sided operations are in one word with MPI:
// "# OSU MPI_Put Latency Test" -> "MPI_Put Latency", which is no message's.
std::optional<std::string> test_named(const Line& line) {
    if (!line.text.starts_with(kTitle)) return std::nullopt;
    const auto end = std::find(line.words.begin(), line.words.end(), "Test");
    std::string name;
    // words: "#", "OSU", "MPI-CUDA", ...
    const std::ptrdiff_t first = line.words.size() > 2 && line.words[2].starts_with("MPI_") ? 2 : 3;
    for (auto word = line.words.begin() + std::min(first, end - line.words.begin()); word < end; ++word)
        name += (name.empty() ? "" : " ") + *word;
    return name;
}

bool has_words_of_a_row(const std::vector<std::string>& words) {
    // The time has decimals: a line of two whole numbers is somebody else's.
    if (words.size() < 2 || !is_whole(words[0]) || words[1].find('.') == std::string::npos) return false;
    return std::all_of(words.begin() + 1, words.end(), [&](const std::string& word) {
        return number_in(word) || (&word == &words.back() && (word == "Pass" || word == "Fail"));
    });
}

[[noreturn]] void refuse(const SourceLocation& where, const std::string& test) {
    const bool rate = test.find("Bandwidth") != std::string::npos || test.find("Message Rate") != std::string::npos;
    throw UserError({where, "", fmt::format("a log of the OSU test '{}'", test),
                     "one of osu_allreduce (a collective) or osu_latency (a link)",
                     rate ? "it has many messages under way at once: the time of one message is not in it" : ""});
}

}  // namespace

bool is_osu_log(const std::vector<Line>& lines) {
    return std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.text.starts_with(kTitle); });
}

MeasuredLog parse_osu_log(const std::vector<Line>& lines, const std::string& file) {
    MeasuredLog log;
    log.file = file;
    log.column = "average";
    log.ranks_told = "a log of the OSU benchmarks does not tell it";
    std::string test;
    for (const Line& line : lines) {
        const SourceLocation where{file, line.number, 0};
        if (const auto named = test_named(line)) {
            if (*named != "Allreduce Latency" && *named != "Latency") refuse(where, *named);
            if (!test.empty() && test != *named)
                throw UserError({where, "", fmt::format("a second test, '{}' after '{}'", *named, test),
                                 "one test a file", "split the log"});
            test = *named;
        } else if (!test.empty() && has_words_of_a_row(line.words)) {
            const double bytes = *number_in(line.words[0]);
            const double seconds = *seconds_in(line.words[1]);
            if (line.words.back() == "Fail")
                log.left_out.push_back({line.number, bytes, "a result that failed its validation"});
            else if (!(seconds > 0))
                log.left_out.push_back({line.number, bytes, fmt::format("a time of '{}'", line.words[1])});
            else
                log.points.push_back({bytes, seconds});
        } else if (!line.text.empty() && !line.comment()) {
            ++log.other_lines;
        }
    }
    log.subject = test == "Latency" ? LogSubject::Message : LogSubject::AllReduce;
    log.tool = test == "Latency" ? "osu_latency" : "osu_allreduce";
    return log;
}

}  // namespace coppice::logs
