#include "common/units/size_list.hpp"

#include "common/units/quantity.hpp"

#include <charconv>
#include <cmath>
#include <set>

namespace coppice {

namespace {

constexpr double kMost = 1125899906842624.0;  // 2^50: exact as a double, and no sum of a few of them overflows

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

[[noreturn]] void fail(std::string_view text, const SourceLocation& where, std::string expected, std::string hint) {
    throw UserError({where, "", fmt::format("'{}'", text), std::move(expected), std::move(hint)});
}

void add_range(std::string_view text, std::size_t dots, const SourceLocation& where, std::set<std::uint64_t>& into) {
    const std::size_t colon = text.find(':', dots);
    const std::uint64_t first = parse_size(text.substr(0, dots), where);
    const std::size_t last_length = colon == std::string_view::npos ? colon : colon - dots - 2;
    const std::uint64_t last = parse_size(text.substr(dots + 2, last_length), where);
    std::uint64_t factor = 2;
    if (colon != std::string_view::npos) {
        const std::string_view step = trimmed(text.substr(colon + 1));
        bool whole = step.size() > 1 && step[0] == '*';
        if (whole) {
            const auto [end, error] = std::from_chars(step.data() + 1, step.data() + step.size(), factor);
            whole = error == std::errc{} && end == step.data() + step.size();
        }
        if (!whole || factor < 2 || factor > 1'000'000) fail(text, where, "*FACTOR (2 or more) after the ':'", "");
    }
    if (last < first) fail(text, where, "a range that ends after its beginning", "");
    if (first == 0) fail(text, where, "a range that begins above 0", "0 doubled is 0; write '0 B, 1 KiB..1 MiB'");
    for (std::uint64_t size = first;; size *= factor) {
        into.insert(size);
        if (size > last / factor) break;  // before the product can overflow
    }
}

}  // namespace

std::uint64_t parse_size(std::string_view text, const SourceLocation& where) {
    const auto parsed = parse_quantity(trimmed(text), Dimension::Bytes);
    if (const auto* problem = std::get_if<QuantityProblem>(&parsed))
        fail(trimmed(text), where, problem->expected, problem->hint);
    const double bytes = std::get<double>(parsed);
    if (bytes < 0 || bytes > kMost || bytes != std::floor(bytes))
        fail(trimmed(text), where, "a whole number of bytes, at most 1 PiB", "");
    return static_cast<std::uint64_t>(bytes);
}

std::vector<std::uint64_t> parse_size_list(std::string_view text, const SourceLocation& where) {
    std::set<std::uint64_t> sizes;
    std::string_view rest = text;
    for (;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view part = trimmed(rest.substr(0, comma));
        if (part.empty())
            fail(text, where, "sizes with units such as '1 MiB', '64 KiB..32 MiB' (doubling) or '1 kB..1 GB:*10'", "");
        const std::size_t dots = part.find("..");
        if (dots == std::string_view::npos)
            sizes.insert(parse_size(part, where));
        else
            add_range(part, dots, where, sizes);
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    return {sizes.begin(), sizes.end()};
}

void require_whole_elements(const std::vector<std::uint64_t>& sizes, const Element& element,
                            const SourceLocation& where) {
    for (const std::uint64_t size : sizes) {
        if (size % element.bytes == 0) continue;
        const std::uint64_t below = size / element.bytes * element.bytes;
        throw UserError({where, "", fmt::format("{} bytes", size),
                         fmt::format("a multiple of the {} bytes of a {}", element.bytes, element.name),
                         fmt::format("{} or {}", below, below + element.bytes)});
    }
}

}  // namespace coppice
