// Cells of CSV files, RFC 4180: quoted where they must be. Numbers are the shortest text that reads back as the same
// double, so a record survives a round trip; what is absent is empty.
#pragma once

#include "common/result/json_lines.hpp"

#include <fmt/format.h>

#include <string>
#include <type_traits>

namespace coppice {

inline std::string csv_quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

template <class T>
std::string csv_text(const T& value) {
    if constexpr (json_lines::is_optional<T>::value)
        return value ? csv_text(*value) : std::string();
    else if constexpr (std::is_same_v<T, std::string>)
        return csv_quoted(value);
    else
        return fmt::format("{}", value);
}

// The names of all members, likewise.
template <class R, class Visit>
std::string csv_header_of(Visit&& visit) {
    const R record{};
    std::string text;
    visit(record, [&](const char* name, const auto&) {
        text += name;
        text += ',';
    });
    text.back() = '\n';
    return text;
}

// All members of a record, in the order of visit, with a line break.
template <class R, class Visit>
std::string csv_line_of(const R& record, Visit&& visit) {
    std::string text;
    visit(record, [&](const char*, const auto& value) {
        text += csv_text(value);
        text += ',';
    });
    text.back() = '\n';
    return text;
}

}  // namespace coppice
