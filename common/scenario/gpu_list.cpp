#include "common/scenario/gpu_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <set>

namespace coppice {

namespace {

constexpr std::string_view kForms = "GPU counts such as 8, 1,2,4, 1..128 (doubling), 1..128:*2 or 1..128:+1";

struct Reader {
    std::string_view text;
    const SourceLocation& where;
    const std::string& key;

    [[noreturn]] void fail(const std::string& hint = "") const {
        throw UserError({where, key, fmt::format("'{}'", text), std::string(kForms), hint});
    }

    std::int64_t integer(std::string_view part) const {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc() || end != part.data() + part.size())
            fail(fmt::format("'{}' is no whole number", part));
        return value;
    }

    std::int64_t count(std::string_view part) const {
        const std::int64_t value = integer(part);
        if (value < 1 || value > kMaxGpus) fail(fmt::format("{} is not between 1 and {} GPUs", value, kMaxGpus));
        return value;
    }

    void range(std::string_view part, std::size_t dots, std::set<std::int64_t>& into) const {
        const std::size_t colon = part.find(':', dots);
        const std::int64_t first = count(part.substr(0, dots));
        const std::int64_t last =
            count(part.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2));
        if (last < first) fail("the range is empty");
        char operation = '*';
        std::int64_t step = 2;
        if (colon != std::string_view::npos) {
            if (part.size() < colon + 3) fail("after ':' stands *FACTOR or +STEP");
            operation = part[colon + 1];
            step = integer(part.substr(colon + 2));
            if (operation == '*' ? step < 2 : operation != '+' || step < 1)
                fail("after ':' stands *FACTOR (2 or more) or +STEP (1 or more)");
        }
        // Both operands are at most kMaxGpus here or the loop has ended, so nothing overflows.
        if (step > kMaxGpus) fail(fmt::format("a step of {} leaves the range at once", step));
        for (std::int64_t value = first; value <= last; value = operation == '*' ? value * step : value + step)
            into.insert(value);
    }
};

std::string_view trimmed(std::string_view part) {
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    return part;
}

}  // namespace

std::vector<std::int64_t> parse_gpu_list(std::string_view text, const SourceLocation& where, const std::string& key) {
    const Reader reader{text, where, key};
    std::set<std::int64_t> counts;
    std::string_view rest = text;
    for (;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view part = trimmed(rest.substr(0, comma));
        if (part.empty()) reader.fail();
        const std::size_t dots = part.find("..");
        if (dots == std::string_view::npos)
            counts.insert(reader.count(part));
        else
            reader.range(part, dots, counts);
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    return {counts.begin(), counts.end()};
}

std::string describe_gpu_list(const std::vector<std::int64_t>& gpus) {
    if (gpus.size() <= 16) return fmt::format("{}", fmt::join(gpus, ", "));
    return fmt::format("{}, {}, {}, ..., {} ({} counts)", gpus[0], gpus[1], gpus[2], gpus.back(), gpus.size());
}

}  // namespace coppice
