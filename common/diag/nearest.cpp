#include "common/diag/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace coppice {

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
std::size_t edit_distance(const std::string& a, const std::string& b) {
    const std::size_t width = b.size() + 1;
    std::vector<std::size_t> d((a.size() + 1) * width);
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return d[i * width + j]; };
    for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
    for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitution = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
            at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, substitution});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
        }
    }
    return at(a.size(), b.size());
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view found, const std::vector<std::string>& candidates) {
    const std::string typed = lower(found);
    // A third of the length, but never so much that a short word is near everything.
    const std::size_t reach =
        std::min(std::max<std::size_t>(2, typed.size() / 3), std::max<std::size_t>(1, typed.size() - 1));
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const std::string& candidate : candidates) {
        const std::string name = lower(candidate);
        const std::size_t distance = edit_distance(typed, name);
        const bool prefix = typed.size() >= 2 && name.starts_with(typed);
        if (distance <= reach || prefix)
            near.emplace_back(prefix ? std::min<std::size_t>(distance, 1) : distance, candidate);
    }
    std::sort(near.begin(), near.end());
    if (near.size() > 3) near.resize(3);
    std::vector<std::string> names;
    for (auto& [distance, name] : near) names.push_back(std::move(name));
    return names;
}

std::string did_you_mean(std::string_view found, const std::vector<std::string>& candidates) {
    const std::vector<std::string> near = nearest_names(found, candidates);
    if (!near.empty()) {
        std::string text = "did you mean ";
        for (std::size_t i = 0; i < near.size(); ++i) {
            if (i > 0) text += i + 1 == near.size() ? " or " : ", ";
            text += "'" + near[i] + "'";
        }
        return text + "?";
    }
    if (candidates.empty()) return "none is known";
    constexpr std::size_t kShown = 12;
    if (candidates.size() <= kShown) return fmt::format("known: {}", fmt::join(candidates, ", "));
    const std::vector<std::string> first(candidates.begin(), candidates.begin() + kShown);
    return fmt::format("known: {}, ... {} more", fmt::join(first, ", "), candidates.size() - kShown);
}

}  // namespace coppice
