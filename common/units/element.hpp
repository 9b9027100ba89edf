// Types of the elements of a tensor: how many bytes one has, and its two names.
#pragma once

#include <cstdint>
#include <string_view>

namespace coppice {

struct Element {
    std::string_view name;         // "float32", as command lines have it
    std::string_view record_name;  // "fp32", as records and scenarios have it
    std::uint32_t bytes = 0;
};

inline constexpr Element kElements[] = {
    {"float32", "fp32", 4},  {"float64", "fp64", 8}, {"float16", "fp16", 2},
    {"bfloat16", "bf16", 2}, {"int32", "int32", 4},  {"int64", "int64", 8},
};

// By either of its names; nullptr if there is none.
constexpr const Element* find_element(std::string_view name) {
    for (const Element& one : kElements)
        if (one.name == name || one.record_name == name) return &one;
    return nullptr;
}

}  // namespace coppice
