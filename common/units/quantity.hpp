// Quantities with units: "8.3 GB/s", "10 Gbps", "30.4 MB", "1.5 us", "3.95 TFLOPS".
//
// Inside coppice every quantity is a double (or uint64_t for byte counts) in the SI unit that its name
// ends in: _s, _bytes, _bytes_per_s, _flop, _flop_per_s, _per_s. This file is the only border where
// prefixes are applied.
//
// Grammar:  NUMBER [space] [PREFIX] UNIT     NUMBER: decimal, '_' allowed between digits, exponent allowed
//   prefixes  decimal  k M G T P (10^3 ... 10^15; K is accepted for k), binary  Ki Mi Gi Ti Pi (2^10 ... 2^50),
//             and m u n (and the micro sign) for seconds
//   Bytes           B, "byte(s)"; bits are "b", "bit": 8 bits a byte. The case of b/B is never guessed.
//   BytesPerSecond  B/s, b/s, bit/s, bps (bits per second, as network people write it), Bps (bytes)
//   Seconds         s, ms, us, ns, min, h, d
//   FlopPerSecond   FLOPS, FLOP/s, flop/s (any case)            Flop  FLOP, flop
//   PerSecond       /s, images/s, samples/s, sentences/s, tokens/s, steps/s
// "GB" is 10^9 and "GiB" 2^30, always.
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace coppice {

enum class Dimension { Bytes, BytesPerSecond, Seconds, Flop, FlopPerSecond, PerSecond };

std::string_view dimension_name(Dimension dimension);  // "a bandwidth", "a duration", ... for messages

struct QuantityProblem {
    std::string expected;  // "a bandwidth such as '10 Gbps' or '1.25 GB/s'"
    std::string hint;      // a bare 10: "'10 GB/s' (10e9 bytes a second) or '10 Gbps' (1.25e9 bytes a second)?"
};

// The value in the SI unit of the dimension, or what is wrong with the text. Never throws. Values are not
// range-checked here, except that NaN, infinities and overflow are problems.
std::variant<double, QuantityProblem> parse_quantity(std::string_view text, Dimension dimension);

// What a machine or a network can have; outside of it there is a unit too many or too few, and arithmetic would
// overflow later. Zero and negative values are the caller's to judge.
struct Bounds {
    double least;  // above zero
    double greatest;
};
Bounds sane_bounds(Dimension dimension);

// Shortest text with a decimal prefix that parses back to the same double: "8.3 GB/s", "1.5 us", "240 MB".
// Durations from a minute up as "2.5 h" or "10.5 h".
std::string format_quantity(double value, Dimension dimension);

// The same for people: four significant digits.
std::string format_rounded(double value, Dimension dimension);

// A bandwidth both ways, since the two are what gets confused: "1.25 GB/s (10 Gbps)".
std::string format_bandwidth_both(double bytes_per_s);

// Rounded to seven significant digits, so that a person can read it in a file: far below what any measurement knows.
double seven_digits(double value);

}  // namespace coppice
