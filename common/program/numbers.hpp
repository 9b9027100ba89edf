// Numbers as tables for people print them.
#pragma once

#include "common/units/quantity.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

namespace coppice::program {

// 13378280 -> "13,378,280"
inline std::string grouped(std::uint64_t value) {
    std::string digits = std::to_string(value);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

inline std::string signed_percent(double ratio) {
    return fmt::format("{:+.1f} %", ratio * 100);
}

inline std::string size_text(std::uint64_t bytes) {
    return format_rounded(static_cast<double>(bytes), Dimension::Bytes);
}

// Empty for none.
inline std::string duration(const std::optional<double>& seconds) {
    return seconds ? format_rounded(*seconds, Dimension::Seconds) : "";
}

}  // namespace coppice::program
