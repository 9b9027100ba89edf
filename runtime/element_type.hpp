// What an element is: its size, its MPI datatype, and how it is summed.
#pragma once

#include "common/units/element.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

enum class ElementType { Float32, Float64, Int32, Int64 };

inline constexpr ElementType kElementTypes[] = {ElementType::Float32, ElementType::Float64, ElementType::Int32,
                                                ElementType::Int64};

const Element& element_of(ElementType type);
std::uint32_t element_bytes(ElementType type);
std::string_view element_type_name(ElementType type);                  // "float32", as the command line has it
std::string_view element_record_name(ElementType type);                // "fp32", as records and scenarios have it
std::optional<ElementType> element_type_named(std::string_view name);  // either of them
std::vector<std::string> element_type_names();

// target[i] += source[i]. The two do not overlap. Integers wrap.
void add_elements(ElementType type, std::byte* target, const std::byte* source, std::uint64_t elements);

}  // namespace coppice
