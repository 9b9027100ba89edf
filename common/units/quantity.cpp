#include "common/units/quantity.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

namespace coppice {

namespace {

// A factor of factor * 10^exponent. The power of ten is kept apart so that "8.3 GB/s" is read as the decimal 8.3e9: the
// double nearest to what is written, which 8.3 * 1e9 is not.
struct Factor {
    double factor = 1;
    int exponent = 0;
};

struct Prefix {
    std::string_view text;
    Factor size;
};

constexpr std::array<Prefix, 12> kLargePrefixes{{{"", {1, 0}},
                                                 {"k", {1, 3}},
                                                 {"K", {1, 3}},
                                                 {"M", {1, 6}},
                                                 {"G", {1, 9}},
                                                 {"T", {1, 12}},
                                                 {"P", {1, 15}},
                                                 {"Ki", {1024.0, 0}},
                                                 {"Mi", {1048576.0, 0}},
                                                 {"Gi", {1073741824.0, 0}},
                                                 {"Ti", {1099511627776.0, 0}},
                                                 {"Pi", {1125899906842624.0, 0}}}};

struct Unit {
    std::string_view text;
    Factor size;
    bool prefixed = true;
};

constexpr Factor kOne{1, 0};
constexpr Factor kBit{1.0 / 8, 0};

// The units of each dimension, exactly as they may be written. b is a bit and B a byte, always.
constexpr std::array kBytes{Unit{"B", kOne}, Unit{"byte", kOne, false}, Unit{"bytes", kOne, false},
                            Unit{"b", kBit}, Unit{"bit", kBit},         Unit{"bits", kBit, false}};
constexpr std::array kBytesPerSecond{Unit{"B/s", kOne}, Unit{"Bps", kOne}, Unit{"b/s", kBit}, Unit{"bit/s", kBit},
                                     Unit{"bps", kBit}};
constexpr std::array kSeconds{
    Unit{"s", kOne, false},          Unit{"ms", {1, -3}, false},      Unit{"us", {1, -6}, false},
    Unit{"\u00b5s", {1, -6}, false}, Unit{"\u03bcs", {1, -6}, false}, Unit{"ns", {1, -9}, false},
    Unit{"min", {60, 0}, false},     Unit{"h", {3600, 0}, false},     Unit{"d", {86400, 0}, false}};
constexpr std::array kFlop{Unit{"FLOP", kOne}, Unit{"flop", kOne}, Unit{"Flop", kOne}};
constexpr std::array kFlopPerSecond{Unit{"FLOPS", kOne},  Unit{"flops", kOne},  Unit{"Flops", kOne},
                                    Unit{"FLOP/s", kOne}, Unit{"flop/s", kOne}, Unit{"Flop/s", kOne}};
constexpr std::array kPerSecond{Unit{"/s", kOne},          Unit{"images/s", kOne}, Unit{"samples/s", kOne},
                                Unit{"sentences/s", kOne}, Unit{"tokens/s", kOne}, Unit{"steps/s", kOne}};

template <class Visit>
void for_each_unit(Dimension dimension, Visit&& visit) {
    const auto all = [&](const auto& units) {
        for (const Unit& unit : units) visit(unit);
    };
    switch (dimension) {
        case Dimension::Bytes:
            return all(kBytes);
        case Dimension::BytesPerSecond:
            return all(kBytesPerSecond);
        case Dimension::Seconds:
            return all(kSeconds);
        case Dimension::Flop:
            return all(kFlop);
        case Dimension::FlopPerSecond:
            return all(kFlopPerSecond);
        case Dimension::PerSecond:
            return all(kPerSecond);
    }
}

// The factor of "GB/s" and the like: a unit, or a prefix and a unit that takes one.
std::optional<Factor> unit_factor(std::string_view text, Dimension dimension) {
    std::optional<Factor> factor;
    for_each_unit(dimension, [&](const Unit& unit) {
        if (factor || !text.ends_with(unit.text)) return;
        const std::string_view front = text.substr(0, text.size() - unit.text.size());
        for (const Prefix& prefix : kLargePrefixes) {
            if (front != prefix.text || (!unit.prefixed && !front.empty())) continue;
            factor = Factor{prefix.size.factor * unit.size.factor, prefix.size.exponent + unit.size.exponent};
        }
    });
    return factor;
}

std::string_view example(Dimension dimension) {
    switch (dimension) {
        case Dimension::Bytes:
            return "'30.4 MB' or '64 KiB'";
        case Dimension::BytesPerSecond:
            return "'10 Gbps' or '1.25 GB/s'";
        case Dimension::Seconds:
            return "'1.5 us' or '2 ms'";
        case Dimension::Flop:
            return "'2.2 GFLOP'";
        case Dimension::FlopPerSecond:
            return "'3.95 TFLOPS'";
        case Dimension::PerSecond:
            return "'42.3 images/s'";
    }
    return "";
}

// What a bare number most likely means: the two readings that people confuse in this dimension.
std::string two_meanings(double value, Dimension dimension) {
    switch (dimension) {
        case Dimension::Bytes: {
            if (value < 1e6)
                return fmt::format("'{0} MB' ({0} million bytes) or '{0} MiB' ({1} bytes)?", value, value * 1048576.0);
            return fmt::format("'{0} B' ({1}) or '{0} bit' ({2})?", value, format_rounded(value, dimension),
                               format_rounded(value / 8, dimension));
        }
        case Dimension::BytesPerSecond:
            if (value < 1e6)
                return fmt::format("'{0} Gbps' ({1}) or '{0} GB/s' ({2})?", value,
                                   format_bandwidth_both(value * 1e9 / 8), format_bandwidth_both(value * 1e9));
            return fmt::format("'{0} B/s' ({1}) or '{0} bps' ({2})?", value, format_bandwidth_both(value),
                               format_bandwidth_both(value / 8));
        case Dimension::Seconds:
            if (value < 1e-3)
                return fmt::format("'{0} s' ({1}) or '{0} us' ({2})?", value, format_rounded(value, dimension),
                                   format_rounded(value * 1e-6, dimension));
            return fmt::format("'{0} us' or '{0} ms'?", value);
        case Dimension::Flop:
            return fmt::format("'{0} GFLOP' or '{0} TFLOP'?", value);
        case Dimension::FlopPerSecond:
            if (value < 1e6) return fmt::format("'{0} TFLOPS' or '{0} GFLOPS'?", value);
            return fmt::format("'{0} FLOPS' ({1}) or '{0} MFLOPS' ({2})?", value, format_rounded(value, dimension),
                               format_rounded(value * 1e6, dimension));
        case Dimension::PerSecond:
            return fmt::format("'{0} images/s' or '{0} sentences/s'?", value);
    }
    return "";
}

// A decimal number at the front of text as from_chars reads it; the rest is left in text. Underscores between digits
// are dropped.
std::optional<std::string> take_number(std::string_view& text) {
    const auto is_digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    const auto is_sign = [&](std::size_t at) { return at < text.size() && (text[at] == '-' || text[at] == '+'); };
    std::string number;
    std::size_t used = 0;
    bool exponent = false;
    if (is_sign(used)) number += text[used++];
    for (; used < text.size(); ++used) {
        const char c = text[used];
        if (is_digit(used) || (c == '.' && !exponent)) {
            number += c;
        } else if (c == '_' && used > 0 && is_digit(used - 1) && is_digit(used + 1)) {
            continue;
        } else if ((c == 'e' || c == 'E') && !exponent && used > 0 &&
                   (is_digit(used + 1) || (is_sign(used + 1) && is_digit(used + 2)))) {
            number += 'e';
            if (is_sign(used + 1)) number += text[++used];
            exponent = true;
        } else {
            break;
        }
    }
    if (number.starts_with('+')) number.erase(0, 1);  // from_chars takes no leading plus
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value)) return std::nullopt;
    text.remove_prefix(used);
    return number;
}

double read_number(const std::string& number) {
    double value = 0;
    const auto result = std::from_chars(number.data(), number.data() + number.size(), value);
    return result.ec == std::errc() ? value : std::numeric_limits<double>::infinity();
}

// number * size, correctly rounded where size is a power of ten.
double scaled_number(const std::string& number, const Factor& size) {
    const std::size_t e = number.find('e');
    int exponent = size.exponent;
    if (e != std::string::npos) {
        // from_chars knows no leading plus; a written exponent beyond int has been refused by take_number as not
        // finite.
        const std::size_t digits = number[e + 1] == '+' ? e + 2 : e + 1;
        int written = 0;
        std::from_chars(number.data() + digits, number.data() + number.size(), written);
        exponent += written;
    }
    return read_number(fmt::format("{}e{}", number.substr(0, e), exponent)) * size.factor;
}

QuantityProblem problem(Dimension dimension, std::string hint) {
    return {fmt::format("{} such as {}", dimension_name(dimension), example(dimension)), std::move(hint)};
}

// Says so when the unit belongs to another dimension: "'GB' is an amount of data".
std::string wrong_unit_hint(std::string_view unit, double value, Dimension dimension) {
    for (const Dimension other : {Dimension::Bytes, Dimension::BytesPerSecond, Dimension::Seconds, Dimension::Flop,
                                  Dimension::FlopPerSecond, Dimension::PerSecond}) {
        if (other == dimension || !unit_factor(unit, other)) continue;
        std::string hint = fmt::format("'{}' is the unit of {}", unit, dimension_name(other));
        if (dimension == Dimension::BytesPerSecond && other == Dimension::Bytes)
            hint += fmt::format("; '{} {}/s'?", value, unit);
        if (dimension == Dimension::FlopPerSecond && other == Dimension::Flop)
            hint += fmt::format("; '{} {}/s'?", value, unit);
        return hint;
    }
    // The case of a letter: "gbps", "mb/s", "tflops". Bits and bytes are not guessed between, so both are shown.
    std::string near;
    for_each_unit(dimension, [&](const Unit& candidate) {
        for (const Prefix& prefix : kLargePrefixes) {
            if (!candidate.prefixed && !prefix.text.empty()) continue;
            const std::string whole = fmt::format("{}{}", prefix.text, candidate.text);
            if (whole.size() != unit.size()) continue;
            bool same = true;
            for (std::size_t i = 0; i < whole.size(); ++i) same = same && (whole[i] | 0x20) == (unit[i] | 0x20);
            if (same && whole.find('K') == std::string::npos)
                near += fmt::format("{}'{} {}'", near.empty() ? "" : " or ", value, whole);
        }
    });
    if (!near.empty()) return fmt::format("upper and lower case differ (b is a bit, B a byte): {}?", near);
    return fmt::format("'{}' is no unit of {}", unit, dimension_name(dimension));
}

}  // namespace

std::string_view dimension_name(Dimension dimension) {
    switch (dimension) {
        case Dimension::Bytes:
            return "an amount of data";
        case Dimension::BytesPerSecond:
            return "a bandwidth";
        case Dimension::Seconds:
            return "a duration";
        case Dimension::Flop:
            return "an amount of arithmetic";
        case Dimension::FlopPerSecond:
            return "a compute rate";
        case Dimension::PerSecond:
            return "a rate";
    }
    return "";
}

Bounds sane_bounds(Dimension dimension) {
    switch (dimension) {
        case Dimension::Bytes:
            return {1.0 / 8, 1e18};
        case Dimension::BytesPerSecond:
            return {1, 1e18};
        case Dimension::Seconds:
            return {1e-12, 1e10};
        case Dimension::Flop:
            return {1, 1e24};
        case Dimension::FlopPerSecond:
            return {1e3, 1e21};
        case Dimension::PerSecond:
            return {1e-9, 1e12};
    }
    return {};
}

std::variant<double, QuantityProblem> parse_quantity(std::string_view text, Dimension dimension) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    const std::optional<std::string> number = take_number(text);
    if (!number) return problem(dimension, "");
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    if (text.empty()) return problem(dimension, "a unit is needed: " + two_meanings(read_number(*number), dimension));
    const std::optional<Factor> size = unit_factor(text, dimension);
    if (!size) return problem(dimension, wrong_unit_hint(text, read_number(*number), dimension));
    const double value = scaled_number(*number, *size);
    if (!std::isfinite(value)) return problem(dimension, "the value is too large");
    return value;
}

namespace {

struct Scale {
    double factor;
    std::string_view unit;
};

Scale scale_for(double value, Dimension dimension) {
    const double size = std::abs(value);
    if (dimension == Dimension::Seconds) {
        if (size >= 3600) return {3600, "h"};
        if (size >= 1 || size == 0) return {1, "s"};
        if (size >= 1e-3) return {1e-3, "ms"};
        if (size >= 1e-6) return {1e-6, "us"};
        return {1e-9, "ns"};
    }
    static constexpr std::array<std::array<std::string_view, 6>, 6> kUnits{{
        {"B", "kB", "MB", "GB", "TB", "PB"},
        {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"},
        {},
        {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"},
        {"FLOPS", "kFLOPS", "MFLOPS", "GFLOPS", "TFLOPS", "PFLOPS"},
        {"/s", "/s", "/s", "/s", "/s", "/s"},
    }};
    if (dimension == Dimension::PerSecond) return {1, "/s"};
    std::size_t step = 0;
    double factor = 1;
    while (step < 5 && size >= factor * 1e3) {
        factor *= 1e3;
        ++step;
    }
    return {factor, kUnits[static_cast<std::size_t>(dimension)][step]};
}

// The decimal digits of the value with the point moved: 0.0001358 s is 135.8 us, where 0.0001358 * 1e6 is not. None for
// a scale that is no power of ten.
std::optional<std::string> shifted(double value, const Scale& scale) {
    const auto exponent = static_cast<int>(std::lround(std::log10(scale.factor)));
    if (std::abs(std::pow(10.0, exponent) / scale.factor - 1) > 1e-9) return std::nullopt;
    std::array<char, 40> buffer{};
    const auto [end, error] =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    if (error != std::errc()) return std::nullopt;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    const std::size_t e = text.find('e');
    if (e == std::string_view::npos) return std::nullopt;
    int power = 0;
    const std::size_t sign = text[e + 1] == '+' ? e + 2 : e + 1;
    std::from_chars(text.data() + sign, text.data() + text.size(), power);
    power -= exponent;
    std::string digits;
    for (const char c : text.substr(0, e))
        if (c >= '0' && c <= '9') digits += c;
    // `power` is that of the first digit; what is scaled is 1 or more, but for what is smaller than the smallest unit.
    const int point = power + 1;
    if (point <= 0)
        digits = "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
    else if (static_cast<std::size_t>(point) < digits.size())
        digits.insert(static_cast<std::size_t>(point), ".");
    else
        digits.append(static_cast<std::size_t>(point) - digits.size(), '0');
    return (value < 0 ? "-" : "") + digits;
}

std::string scaled(double value, const Scale& scale) {
    if (value != 0)
        if (const auto text = shifted(value, scale)) return *text;
    return scale.factor < 1 ? fmt::format("{}", value * std::round(1 / scale.factor))
                            : fmt::format("{}", value / scale.factor);
}

}  // namespace

std::string format_quantity(double value, Dimension dimension) {
    const Scale scale = scale_for(value, dimension);
    const std::string text = fmt::format("{} {}", scaled(value, scale), scale.unit);
    const auto back = parse_quantity(text, dimension);
    if (const double* same = std::get_if<double>(&back); same && *same == value) return text;
    // The division rounded: the base unit is always exact.
    const std::string_view base = dimension == Dimension::Bytes            ? "B"
                                  : dimension == Dimension::BytesPerSecond ? "B/s"
                                  : dimension == Dimension::Seconds        ? "s"
                                  : dimension == Dimension::Flop           ? "FLOP"
                                  : dimension == Dimension::FlopPerSecond  ? "FLOPS"
                                                                           : "/s";
    return fmt::format("{} {}", value, base);
}

std::string format_rounded(double value, Dimension dimension) {
    const Scale scale = scale_for(value, dimension);
    return fmt::format("{:.4g} {}", value / scale.factor, scale.unit);
}

std::string format_bandwidth_both(double bytes_per_s) {
    const double bits = bytes_per_s * 8;
    const char* unit = bits >= 1e9 ? "Gbps" : bits >= 1e6 ? "Mbps" : bits >= 1e3 ? "kbps" : "bps";
    const double factor = bits >= 1e9 ? 1e9 : bits >= 1e6 ? 1e6 : bits >= 1e3 ? 1e3 : 1;
    return fmt::format("{} ({:.4g} {})", format_rounded(bytes_per_s, Dimension::BytesPerSecond), bits / factor, unit);
}

double seven_digits(double value) {
    return std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);
}

}  // namespace coppice
