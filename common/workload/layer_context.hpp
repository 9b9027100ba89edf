// What the readers of single layer types see and call, private to common/workload: one layer's table, its input, and
// where its primitive layers go.
//
//   model file  --read_layers-->  per layer: kind table (layer_list.cpp)  -->  read_conv, read_branches, ...
//                                     ^                                             |emit: primitive layers
//                                     +---- composites read their own lists --------+return: the output's shape
#pragma once

#include "common/workload/network.hpp"
#include "common/workload/shape.hpp"

#include <map>
#include <string>
#include <string_view>

namespace coppice::model_file {

// Bounds that keep all counts exact in 64 bits (network.hpp, Layer): far above any network there is.
inline constexpr std::int64_t kSizeMax = std::int64_t{1} << 20;
inline constexpr std::uint64_t kAmountMax = std::uint64_t{1} << 48;
inline constexpr std::size_t kLayersMax = std::size_t{1} << 14;

// What the whole file shares.
struct Expansion {
    Network& network;
    const config::Value* defaults = nullptr;  // the table [defaults]; nullptr: none
};

// A list of layers while it is read.
struct LayerList {
    Expansion& expansion;
    std::string path;   // "layer", "layer[2].branches[0]": for messages
    std::string scope;  // "", "inception_3a/branch1/": put before names
    bool auxiliary = false;
    std::map<std::string, Shape> outputs = {};  // of the layers so far, by their own names
};

struct LayerContext {
    config::TableReader& table;  // the layer's keys, with [defaults] filled in
    std::string name;            // with its scope
    const Shape& input;
    const LayerList& list;

    // Appends a primitive layer called `name`, or `name`/`part`. UserError beyond the bounds above.
    void emit(std::string_view part, Layer layer) const;
    // UserError: this type of layer does not take such an input.
    [[noreturn]] void refuse_input(std::string_view takes) const;
};

// Reads `layers` (an array of tables) one after the other; returns the shape of the last one's output.
Shape read_layers(const config::Value& layers, LayerList& list, Shape input);

// [defaults]: a table of types, each with keys that layers of this type may leave out. UserError for what is not that.
void check_defaults(const config::Value& defaults, const std::string& path);

// The optional key 'activation' of conv, fc and branches: "none", "relu", ...
std::string read_activation(config::TableReader& table);
void emit_activation(const LayerContext& at, const std::string& function, const Shape& shape);

// A fully connected layer from `inputs` to `outputs` features, on each of `rows` rows (the tokens of a sequence).
struct Projection {
    std::int64_t rows = 1;
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    bool bias = true;
};
void emit_projection(const LayerContext& at, std::string_view part, const Projection& projection, const Shape& output);

// One per `type` of the file. Each reads its keys, calls finish() on the table (so that a misspelt key is reported
// before the wrong shape it causes), emits, and returns the output's shape.
Shape read_conv(const LayerContext& at);
Shape read_fc(const LayerContext& at);
Shape read_pool(const LayerContext& at);
Shape read_lrn(const LayerContext& at);
Shape read_batchnorm(const LayerContext& at);
Shape read_layernorm(const LayerContext& at);
Shape read_activation_layer(const LayerContext& at);  // any other element-wise function
Shape read_relu(const LayerContext& at);
Shape read_gelu(const LayerContext& at);
Shape read_tanh(const LayerContext& at);
Shape read_sigmoid(const LayerContext& at);
Shape read_dropout(const LayerContext& at);
Shape read_softmax(const LayerContext& at);
Shape read_block(const LayerContext& at);
Shape read_branches(const LayerContext& at);
Shape read_embedding(const LayerContext& at);
Shape read_attention(const LayerContext& at);
Shape read_first_token(const LayerContext& at);

}  // namespace coppice::model_file
