// 64-bit FNV-1a (Fowler, Noll, Vo): identifies schedules and scenarios in records. Not for security.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace coppice {

class Fnv1a {
public:
    void byte(std::uint8_t value) { state_ = (state_ ^ value) * 0x100000001b3ULL; }
    void text(std::string_view value) {
        for (const char c : value) byte(static_cast<std::uint8_t>(c));
    }
    // Little-endian on every machine.
    void number(std::uint64_t value) {
        for (int i = 0; i < 8; ++i) byte(static_cast<std::uint8_t>(value >> (8 * i)));
    }
    std::string hex() const { return fmt::format("{:016x}", state_); }

private:
    std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

inline std::string fnv1a_hex(std::string_view text) {
    Fnv1a hash;
    hash.text(text);
    return hash.hex();
}

}  // namespace coppice
