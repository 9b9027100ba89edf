// Layer types that hold lists of layers: block (a sequence, or an auxiliary head) and branches (side by side, joined).
#include "common/diag/nearest.hpp"
#include "common/workload/layer_context.hpp"

#include <fmt/format.h>

namespace coppice::model_file {

using config::TableReader;
using config::Value;

namespace {

// What an auxiliary head hangs on: the layer named by 'from', without it the layer before.
Shape read_from(const LayerContext& at) {
    const std::optional<std::string> from = at.table.text_if("from");
    if (!from) return at.input;
    const auto found = at.list.outputs.find(*from);
    if (found != at.list.outputs.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [name, shape] : at.list.outputs) names.push_back(name);
    at.table.fail("from", "the name of an earlier layer of the same list", did_you_mean(*from, names));
}

// Whether two outputs can be joined, and if not, what the second should have been.
bool fits(const Shape& first, const Shape& other, bool concat) {
    if (!concat || first.kind != other.kind) return first == other;
    switch (first.kind) {
        case Shape::Kind::Image:
            return first.sizes[1] == other.sizes[1] && first.sizes[2] == other.sizes[2];
        case Shape::Kind::Sequence:
            return first.sizes[0] == other.sizes[0];
        default:
            return true;
    }
}

std::string needed(const Shape& first, bool concat) {
    if (!concat) return fmt::format("{}, as branch 1 gives (join = \"add\")", to_string(first));
    switch (first.kind) {
        case Shape::Kind::Image:
            return fmt::format("any channels x {} x {}, as branch 1 gives", first.sizes[1], first.sizes[2]);
        case Shape::Kind::Sequence:
            return fmt::format("{} tokens x any features, as branch 1 gives", first.sizes[0]);
        default:
            return "any features, as branch 1 gives";
    }
}

struct Joined {
    Shape shape;
    std::uint64_t input_elements = 0;
};

Joined join(const LayerContext& at, const Value& branches, const std::vector<Shape>& outputs, bool concat) {
    Joined joined{outputs.front(), 0};
    // Features and channels stand last and first.
    const std::size_t axis = joined.shape.kind == Shape::Kind::Sequence ? 1 : 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!fits(outputs.front(), outputs[i], concat))
            throw UserError({branches.array()[i].where, fmt::format("{}[{}]", at.table.path_of("branches"), i),
                             fmt::format("branch {} giving {}", i + 1, to_string(outputs[i])),
                             needed(outputs.front(), concat), fmt::format("the layer's name is '{}'", at.name)});
        joined.input_elements += elements(outputs[i]);
        if (concat && i > 0) joined.shape.sizes[axis] += outputs[i].sizes[axis];
    }
    return joined;
}

}  // namespace

Shape read_block(const LayerContext& at) {
    TableReader& table = at.table;
    const bool auxiliary = table.boolean_or("auxiliary", false);
    if (!auxiliary && table.has("from")) table.fail("from", "no such key without auxiliary = true");
    const Shape start = auxiliary ? read_from(at) : at.input;
    const Value& layers = table.require("layers");
    table.finish();
    LayerList inner{at.list.expansion, table.path_of("layers"), at.name + "/", at.list.auxiliary || auxiliary};
    if (layers.is_array() && layers.array().empty()) table.fail("layers", "at least one layer");
    const Shape end = read_layers(layers, inner, start);
    // The main path goes on as if the head were not there.
    return auxiliary ? at.input : end;
}

Shape read_branches(const LayerContext& at) {
    TableReader& table = at.table;
    const bool concat = table.choice("join", {"concat", "add"}) == "concat";
    const Value& branches = table.require("branches");
    const std::string activation = read_activation(table);
    table.finish();
    if (at.input.kind == Shape::Kind::Tokens) at.refuse_input("values (token numbers need a layer 'embedding' first)");
    if (!branches.is_array() || branches.array().size() < 2)
        table.fail("branches", "an array of two or more branches, each an array of layers",
                   "a branch without layers passes its input on: []");
    std::vector<Shape> outputs;
    for (std::size_t i = 0; i < branches.array().size(); ++i) {
        LayerList inner{at.list.expansion, fmt::format("{}[{}]", table.path_of("branches"), i),
                        fmt::format("{}/branch{}/", at.name, i + 1), at.list.auxiliary};
        outputs.push_back(read_layers(branches.array()[i], inner, at.input));
    }
    const Joined joined = join(at, branches, outputs, concat);
    at.emit(concat ? "concat" : "add", {.type = concat ? LayerType::Concat : LayerType::Add,
                                        .input_elements = joined.input_elements,
                                        .output_elements = elements(joined.shape),
                                        .output_shape = joined.shape.sizes});
    emit_activation(at, activation, joined.shape);
    return joined.shape;
}

}  // namespace coppice::model_file
