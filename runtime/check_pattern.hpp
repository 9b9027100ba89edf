// Inputs whose sum is known exactly: small integers, so that floats sum without rounding in any order.
//
//   worker w, element i:   contribution(w, i) = (w mod 1024) + 1 + b(i),   b(i) in 0..1023, scrambled
//   sum over n workers:    n b(i) + sum of (w mod 1024) + 1
//
// What is missing, added twice or in the wrong place changes the sum. Since the right value is one bit pattern
// (positive, whole), results that are right on all ranks have the same bits on all ranks.
#pragma once

#include "runtime/element_type.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace coppice {

// Beyond this many workers a float32 could not hold the sum exactly (2^24).
inline constexpr std::int32_t kMostCheckedWorkers = 10'000;

std::int64_t contribution_of(std::int32_t worker, std::uint64_t element);
std::int64_t exact_sum(std::int32_t workers, std::uint64_t element);

void write_contribution(ElementType type, std::int32_t worker, std::byte* data, std::uint64_t elements);

struct WrongElements {
    std::uint64_t count = 0;
    std::uint64_t first = 0;  // where; found and expected there
    double found = 0;
    double expected = 0;
};
WrongElements compare_with_sum(ElementType type, std::int32_t workers, const std::byte* data, std::uint64_t elements);

}  // namespace coppice
