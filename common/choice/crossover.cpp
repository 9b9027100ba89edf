#include "common/choice/crossover.hpp"

#include "common/diag/error.hpp"

#include <algorithm>
#include <optional>

namespace coppice {

namespace {

constexpr double kCloseEnough = 1.005;

// Nothing: all are refused.
std::optional<StrategyChoice> fastest(const Contest& contest, std::uint64_t bytes) {
    const std::uint32_t size = contest.element.bytes;
    const std::vector<Ranked> ranked =
        rank_strategies(contest.candidates, contest.collective, bytes / size, size, contest.cost);
    if (ranked.empty() || ranked.front().refusal) return std::nullopt;
    return without_number_of_segments(ranked.front().choice);
}

bool same(const StrategyChoice& a, const StrategyChoice& b) {
    return a.canonical() == b.canonical();
}

// From `bytes` on `choice` is the fastest.
struct Change {
    std::uint64_t bytes = 0;
    StrategyChoice choice;
};

// Appends the changes in (low, high], `low` being of the strategy that came last.
void find_changes(const Contest& contest, std::uint64_t low, std::uint64_t high, const StrategyChoice& at_high,
                  std::vector<Change>& changes) {
    if (same(changes.back().choice, at_high)) return;
    const std::uint32_t size = contest.element.bytes;
    const std::uint64_t middle = (low / size + high / size) / 2 * size;
    if (middle == low || static_cast<double>(high) < kCloseEnough * static_cast<double>(low)) {
        changes.push_back({high, at_high});
        return;
    }
    const StrategyChoice at_middle = *fastest(contest, middle);  // no refusal depends on the size
    find_changes(contest, low, middle, at_middle, changes);
    find_changes(contest, middle, high, at_high, changes);
}

}  // namespace

StrategyChoice without_number_of_segments(StrategyChoice choice) {
    const auto segments = choice.parameters.find("segments");
    if (segments != choice.parameters.end() && segments->second != "1") segments->second = "auto";
    return choice;
}

std::vector<Reign> reigns(const Contest& contest, const SizeRange& range) {
    const std::uint32_t size = contest.element.bytes;
    COPPICE_CHECK(range.from % size == 0 && range.to % size == 0 && range.from <= range.to, "{} to {} bytes of {}",
                  range.from, range.to, size);
    const std::optional<StrategyChoice> first = fastest(contest, range.from);
    if (!first) return {};
    std::vector<Change> changes = {{range.from, *first}};
    for (std::uint64_t low = range.from; low < range.to;) {
        const std::uint64_t high = std::min(range.to, std::max<std::uint64_t>(2 * low, size));
        find_changes(contest, low, high, *fastest(contest, high), changes);
        low = high;
    }
    std::vector<Reign> result;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const std::uint64_t to = i + 1 < changes.size() ? changes[i + 1].bytes - size : range.to;
        result.push_back({{changes[i].bytes, to}, changes[i].choice});
    }
    return result;
}

std::vector<Meeting> meetings(const Contest& of_two, const SizeRange& range) {
    COPPICE_CHECK(of_two.candidates.size() == 2, "{} candidates", of_two.candidates.size());
    const std::uint32_t size = of_two.element.bytes;
    for (const Ranked& one :
         rank_strategies(of_two.candidates, of_two.collective, range.from / size, size, of_two.cost))
        if (one.refusal) return {};
    std::vector<Meeting> result;
    const std::vector<Reign> turns = reigns(of_two, range);
    for (std::size_t i = 1; i < turns.size(); ++i) result.push_back({turns[i].sizes.from, turns[i].choice});
    return result;
}

}  // namespace coppice
