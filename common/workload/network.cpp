#include "common/workload/network.hpp"

#include "common/workload/layer_context.hpp"

#include <fmt/format.h>

namespace coppice {

using config::TableReader;
using config::Value;

std::string_view layer_type_name(LayerType type) {
    switch (type) {
        case LayerType::Convolution:
            return "conv";
        case LayerType::FullyConnected:
            return "fc";
        case LayerType::Pooling:
            return "pool";
        case LayerType::LocalResponseNorm:
            return "lrn";
        case LayerType::BatchNorm:
            return "batchnorm";
        case LayerType::LayerNorm:
            return "layernorm";
        case LayerType::Activation:
            return "activation";
        case LayerType::Dropout:
            return "dropout";
        case LayerType::Softmax:
            return "softmax";
        case LayerType::Concat:
            return "concat";
        case LayerType::Add:
            return "add";
        case LayerType::Embedding:
            return "embedding";
        case LayerType::Attention:
            return "attention";
    }
    return "";
}

namespace {

Shape read_input(TableReader table) {
    const bool tokens = table.has("tokens");
    if (tokens && table.has("shape")) table.fail("tokens", "either 'shape' or 'tokens', not both");
    if (tokens) {
        const Shape shape{Shape::Kind::Tokens, {table.integer("tokens", 1, model_file::kSizeMax)}};
        table.finish();
        return shape;
    }
    if (!table.has("shape")) {
        table.finish();  // a misspelt key explains more than a missing one
        table.fail("shape", "shape = [channels, height, width] or tokens = N");
    }
    const std::vector<std::int64_t> sizes = table.integers("shape", 1, model_file::kSizeMax);
    table.finish();
    if (sizes.size() == 1) return features(sizes[0]);
    if (sizes.size() != 3) table.fail("shape", "[channels, height, width] or [features]");
    return image(sizes[0], sizes[1], sizes[2]);
}

void check_not_empty(const TableReader& table, const Network& network) {
    for (const Layer& layer : network.layers)
        if (!layer.auxiliary && layer.parameters > 0) return;
    table.fail("layer", "a layer with parameters on the main path",
               "without any, there is nothing to train and nothing to exchange");
}

}  // namespace

Network read_network(TableReader table) {
    Network network;
    table.integer("schema", 1, 1);
    network.name = table.name("name");
    network.title = table.text_if("title").value_or(network.name);
    network.source = table.text_if("source").value_or("");
    const Shape input = read_input(table.table("input"));
    network.input_shape = input.sizes;
    network.sample =
        table.choice_or("sample", input.kind == Shape::Kind::Tokens ? "sentence" : "image", {"image", "sentence"});
    const Value* defaults = table.find("defaults");
    if (defaults) model_file::check_defaults(*defaults, table.path_of("defaults"));
    const Value& layers = table.require("layer");
    table.finish();
    model_file::Expansion expansion{network, defaults};
    model_file::LayerList list{expansion, table.path_of("layer"), ""};
    model_file::read_layers(layers, list, input);
    check_not_empty(table, network);
    return network;
}

NetworkCounts count(const Network& network, Heads heads) {
    NetworkCounts counts;
    counts.activation_elements = 1;
    for (const std::int64_t size : network.input_shape) counts.activation_elements *= static_cast<std::uint64_t>(size);
    for (const Layer& layer : network.layers) {
        if (!belongs_to(layer, heads)) continue;
        counts.parameters += layer.parameters;
        counts.forward_flop += layer.forward_flop;
        if (layer.type == LayerType::Convolution || layer.type == LayerType::FullyConnected)
            counts.data_elements += layer.input_elements;
        if (!layer.in_place) counts.activation_elements += layer.output_elements;
    }
    return counts;
}

}  // namespace coppice
