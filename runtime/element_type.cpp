#include "runtime/element_type.hpp"

#include "common/diag/error.hpp"

namespace coppice {

namespace {

struct Description {
    ElementType type;
    Element element;
};

constexpr Description kDescriptions[] = {
    {ElementType::Float32, *find_element("float32")},
    {ElementType::Float64, *find_element("float64")},
    {ElementType::Int32, *find_element("int32")},
    {ElementType::Int64, *find_element("int64")},
};

// Buffers are allocated for any type (aligned to 64 bytes), and slices begin at multiples of the element.
template <class T>
void add(std::byte* target_bytes, const std::byte* source_bytes, std::uint64_t elements) {
    T* __restrict target = reinterpret_cast<T*>(target_bytes);
    const T* __restrict source = reinterpret_cast<const T*>(source_bytes);
    for (std::uint64_t i = 0; i < elements; ++i) target[i] += source[i];
}

}  // namespace

const Element& element_of(ElementType type) {
    for (const Description& one : kDescriptions)
        if (one.type == type) return one.element;
    COPPICE_CHECK(false, "element type {}", static_cast<int>(type));
}

std::uint32_t element_bytes(ElementType type) {
    return element_of(type).bytes;
}

std::string_view element_type_name(ElementType type) {
    return element_of(type).name;
}

std::string_view element_record_name(ElementType type) {
    return element_of(type).record_name;
}

std::optional<ElementType> element_type_named(std::string_view name) {
    for (const Description& one : kDescriptions)
        if (one.element.name == name || one.element.record_name == name) return one.type;
    return std::nullopt;
}

std::vector<std::string> element_type_names() {
    std::vector<std::string> names;
    for (const Description& one : kDescriptions) names.emplace_back(one.element.name);
    return names;
}

void add_elements(ElementType type, std::byte* target, const std::byte* source, std::uint64_t elements) {
    switch (type) {
        case ElementType::Float32:
            return add<float>(target, source, elements);
        case ElementType::Float64:
            return add<double>(target, source, elements);
        case ElementType::Int32:  // as unsigned: overflow wraps instead of being undefined
            return add<std::uint32_t>(target, source, elements);
        case ElementType::Int64:
            return add<std::uint64_t>(target, source, elements);
    }
}

}  // namespace coppice
