// "Did you mean ...?": the valid names closest to what was typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coppice {

// The candidates within a Damerau-Levenshtein distance of max(2, length/3) (case ignored), or that
// `found` is a prefix of; nearest first, at most three, ties in alphabetical order.
std::vector<std::string> nearest_names(std::string_view found, const std::vector<std::string>& candidates);

// "did you mean 'ring'?", "did you mean 'ring' or 'tree'?"; without a near one
// "known: a, b, c" (all when 12 or fewer, else the first 12 and "... N more").
std::string did_you_mean(std::string_view found, const std::vector<std::string>& candidates);

}  // namespace coppice
