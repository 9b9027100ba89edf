#include "common/calibration/log_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace coppice::logs {

namespace {

constexpr std::string_view kBlank = " \t\r\v\f";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// "2024-05-01T12:00:00.123Z row" -> "row"
std::string_view without_time(std::string_view text) {
    constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
    for (std::size_t i = 0; i < kShape.size(); ++i)
        if (i >= text.size() || (kShape[i] == 'd' ? !is_whole(text.substr(i, 1)) : text[i] != kShape[i])) return text;
    const std::size_t blank = text.find_first_of(kBlank);
    return blank == std::string_view::npos ? std::string_view() : trimmed(text.substr(blank));
}

std::string_view without_label(std::string_view text) {
    text = without_time(text);
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos) return text;
        const std::string_view behind = text.substr(close + 1);
        for (const std::string_view stream : {"<stdout>", "<stderr>"})
            if (behind.starts_with(stream)) {
                const std::string_view rest = behind.substr(stream.size());
                return trimmed(rest.starts_with(':') ? rest.substr(1) : rest);
            }
        return is_whole(text.substr(1, close - 1)) ? trimmed(behind) : text;
    }
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos && is_whole(text.substr(0, colon))) return trimmed(text.substr(colon + 1));
    return text;
}

}  // namespace

std::vector<Line> lines_of(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    std::vector<Line> lines;
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        Line line;
        line.number = ++number;
        line.text = without_label(trimmed(text.substr(0, end)));
        for (std::string_view rest = line.text; !rest.empty();) {
            const std::size_t blank = std::min(rest.find_first_of(kBlank), rest.size());
            line.words.emplace_back(rest.substr(0, blank));
            rest = trimmed(rest.substr(blank));
        }
        lines.push_back(std::move(line));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return lines;
}

bool is_whole(std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<double> number_in(std::string_view word) {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::optional<double> seconds_in(std::string_view microseconds) {
    if (!number_in(microseconds)) return std::nullopt;
    const bool exponent = microseconds.find_first_of("eE") != std::string_view::npos;
    if (exponent) return *number_in(microseconds) * 1e-6;
    return number_in(std::string(microseconds) + "e-6");
}

}  // namespace coppice::logs
