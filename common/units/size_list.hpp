// Lists and ranges of sizes: "1 MiB", "64 KiB..32 MiB" (doubles), "1 kB..1 MB:*4", and mixtures with commas.
#pragma once

#include "common/diag/error.hpp"
#include "common/units/element.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

// One size: a whole number of bytes with its unit, at most 2^50. UserError at `where`.
std::uint64_t parse_size(std::string_view text, const SourceLocation& where);

// Ascending, without repetitions. A range ends at its last member that does not exceed its end.
std::vector<std::uint64_t> parse_size_list(std::string_view text, const SourceLocation& where);

// UserError at `where` for a size that is no whole number of such elements, with the nearest ones that are.
void require_whole_elements(const std::vector<std::uint64_t>& sizes, const Element& element,
                            const SourceLocation& where);

}  // namespace coppice
