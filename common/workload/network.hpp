// A network as its layers, and what follows from them by shape inference: parameters, FLOP, activations, bytes.
// The file format is described in docs/model-files.md; the built-in ones are scenarios/models/*.toml.
//
// Conventions (docs/model-files.md, "What is counted"):
//   parameters        weights and biases; batch norm: scale and shift (running statistics are not parameters)
//   FLOP              2 per multiply-add, of convolutions, fully connected layers and attention's products only
//   |D| of FireCaffe  sum of the INPUT blobs of convolution and fully connected layers, per sample
// All counts are per sample (one image, or one sequence of the input's length).
#pragma once

#include "common/config/table_reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

enum class LayerType : std::uint8_t {
    Convolution,
    FullyConnected,
    Pooling,
    LocalResponseNorm,
    BatchNorm,
    LayerNorm,
    Activation,
    Dropout,
    Softmax,
    Concat,
    Add,
    Embedding,
    Attention,  // one of the two products QK^T and AV of a head block; its projections are FullyConnected layers
};

// "conv", "fc", "pool", ...: the names of the model files where there is one.
std::string_view layer_type_name(LayerType type);

// One primitive layer after inference, in forward order. Composites of the file (blocks, branches, attention,
// repeats) are expanded into these, with names like "inception_3a/branch2/conv1" or "encoder[3]/attention/...".
// Invariant: each count is at most 2^48 and there are at most 2^14 layers, so sums fit in 64 bits.
struct Layer {
    std::string name = {};
    LayerType type = LayerType::Activation;
    std::uint64_t parameters = 0;
    std::uint64_t forward_flop = 0;
    std::uint64_t input_elements = 0;  // all bottoms together
    std::uint64_t output_elements = 0;
    std::vector<std::int64_t> output_shape = {};  // channels, height, width; or tokens, features; or features
    bool in_place = false;                        // its output takes no memory of its own (ReLU, dropout as in Caffe)
    bool auxiliary = false;                       // belongs to an auxiliary head
};

struct Network {
    std::string name;
    std::string title;
    std::string source;
    std::string sample;                     // what one sample is: "image", "sentence"
    std::vector<std::int64_t> input_shape;  // channels, height, width; or features; or tokens
    std::vector<Layer> layers;
    bool has_auxiliary = false;
};

// Reads the table of a model file, infers all shapes. UserError at the layer that does not fit.
// The main path has at least one layer with parameters.
Network read_network(config::TableReader table);

enum class Heads { Main, WithAuxiliary };

// Whether count() and the compute model look at this layer.
inline bool belongs_to(const Layer& layer, Heads heads) {
    return heads == Heads::WithAuxiliary || !layer.auxiliary;
}

struct NetworkCounts {
    std::uint64_t parameters = 0;
    std::uint64_t forward_flop = 0;   // per sample
    std::uint64_t data_elements = 0;  // |D|: inputs of convolution and fully connected layers, per sample
    // Outputs kept for the backward pass (in-place layers excepted) and the input, per sample.
    std::uint64_t activation_elements = 0;
};

NetworkCounts count(const Network& network, Heads heads);

}  // namespace coppice
