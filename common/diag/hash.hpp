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
    // From the lowest byte up, so that the hash is the same on every machine.
    template <typename Integer>
    void add(Integer value) {
        auto bits = static_cast<std::uint64_t>(value);
        for (std::size_t i = 0; i < sizeof(Integer); ++i, bits >>= 8) byte(static_cast<std::uint8_t>(bits & 0xff));
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
