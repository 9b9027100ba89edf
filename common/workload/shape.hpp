// The shape of what flows from layer to layer, per sample, and the arithmetic of sliding windows.
//
// The kind says what the sizes mean, so that a fully connected layer put on token numbers, or a convolution on a
// sequence, is an error and not a number.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace coppice {

struct Shape {
    enum class Kind : std::uint8_t {
        Image,     // channels, height, width
        Features,  // features
        Tokens,    // tokens: their numbers, before an embedding
        Sequence,  // tokens, features
    };
    Kind kind = Kind::Features;
    std::vector<std::int64_t> sizes;

    bool operator==(const Shape&) const = default;
};

Shape image(std::int64_t channels, std::int64_t height, std::int64_t width);
Shape features(std::int64_t count);
Shape sequence(std::int64_t tokens, std::int64_t width);

std::uint64_t elements(const Shape& shape);
std::string to_string(const Shape& shape);  // "96 channels x 27 x 27", "512 tokens x 768 features", for messages

// A product of sizes, 2^62 where it would be more (callers refuse such numbers, none may wrap around first).
std::uint64_t product(std::initializer_list<std::int64_t> factors);

enum class Rounding : std::uint8_t { Floor, Ceil };

// How many windows fit along one side. Needs kernel <= size + 2 pad.
//
//   pad |   size   | pad         floor: 1 + (size + 2 pad - kernel) / stride, whole windows only
//   [kernel]                     ceil:  the last window may stick out at the end, but must begin before
//      [kernel]                         size + pad: Caffe takes one that lies in the padding alone away again
//       ~ stride                        (pooling_layer.cpp, Reshape)
std::int64_t window_count(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                          Rounding rounding);

}  // namespace coppice
