#include "common/workload/shape.hpp"

#include "common/diag/error.hpp"

#include <fmt/format.h>

namespace coppice {

Shape image(std::int64_t channels, std::int64_t height, std::int64_t width) {
    return {Shape::Kind::Image, {channels, height, width}};
}

Shape features(std::int64_t count) {
    return {Shape::Kind::Features, {count}};
}

Shape sequence(std::int64_t tokens, std::int64_t width) {
    return {Shape::Kind::Sequence, {tokens, width}};
}

std::uint64_t elements(const Shape& shape) {
    std::uint64_t total = 1;
    for (const std::int64_t size : shape.sizes) total *= static_cast<std::uint64_t>(size);
    return total;
}

std::string to_string(const Shape& shape) {
    const std::vector<std::int64_t>& sizes = shape.sizes;
    switch (shape.kind) {
        case Shape::Kind::Image:
            return fmt::format("{} channels x {} x {}", sizes[0], sizes[1], sizes[2]);
        case Shape::Kind::Features:
            return fmt::format("{} features", sizes[0]);
        case Shape::Kind::Tokens:
            return fmt::format("{} token numbers", sizes[0]);
        case Shape::Kind::Sequence:
            return fmt::format("{} tokens x {} features", sizes[0], sizes[1]);
    }
    return "";
}

std::uint64_t product(std::initializer_list<std::int64_t> factors) {
    constexpr std::int64_t kSaturated = std::int64_t{1} << 62;
    std::int64_t total = 1;
    for (const std::int64_t factor : factors) {
        COPPICE_CHECK(factor >= 0, "factor {}", factor);
        if (__builtin_mul_overflow(total, factor, &total) || total > kSaturated) return kSaturated;
    }
    return static_cast<std::uint64_t>(total);
}

std::int64_t window_count(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                          Rounding rounding) {
    COPPICE_CHECK(size > 0 && kernel > 0 && stride > 0 && pad >= 0 && kernel <= size + 2 * pad,
                  "size {} kernel {} stride {} pad {}", size, kernel, stride, pad);
    const std::int64_t room = size + 2 * pad - kernel;
    if (rounding == Rounding::Floor) return room / stride + 1;
    const std::int64_t windows = (room + stride - 1) / stride + 1;
    // Clipped with or without padding. Caffe clips only with it; the two differ only for a stride beyond the kernel,
    // where Caffe would pool a window outside of everything.
    return (windows - 1) * stride >= size + pad ? windows - 1 : windows;
}

}  // namespace coppice
