// Lists and ranges of GPU counts: "1..128" (doubles), "1..128:*2", "1..128:+1", "1,2,4,7", and mixtures with commas.
#pragma once

#include "common/diag/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

inline constexpr std::int64_t kMaxGpus = 1024;

// Ascending, without repetitions. A range ends at its last member that does not exceed its end.
// UserError at where/key for anything else, 0, or more than kMaxGpus.
std::vector<std::int64_t> parse_gpu_list(std::string_view text, const SourceLocation& where, const std::string& key);

// "1, 2, 4, 8" or "1, 2, 3, ..., 128 (128 counts)" for the echo.
std::string describe_gpu_list(const std::vector<std::int64_t>& gpus);

}  // namespace coppice
