// Layer types that stand for one primitive layer (with the batch norm and activation that may be fused into their
// table).
#include "common/workload/layer_context.hpp"

#include <fmt/format.h>

namespace coppice::model_file {

using config::TableReader;

namespace {

struct Pair {
    std::int64_t height = 0;
    std::int64_t width = 0;
};

// 3 or [1, 7]: height, width.
Pair read_pair(TableReader& table, std::string_view key, std::int64_t lowest) {
    if (!table.require(key).is_array()) {
        const std::int64_t size = table.integer(key, lowest, kSizeMax);
        return {size, size};
    }
    const std::vector<std::int64_t> sizes = table.integers(key, lowest, kSizeMax);
    if (sizes.size() != 2) table.fail(key, "an integer, or two: [height, width]");
    return {sizes[0], sizes[1]};
}

Pair read_pair_or(TableReader& table, std::string_view key, std::int64_t otherwise, std::int64_t lowest) {
    return table.has(key) ? read_pair(table, key, lowest) : Pair{otherwise, otherwise};
}

struct Window {
    Pair kernel;
    Pair stride;
    Pair pad;
};

void check_side(const LayerContext& at, std::int64_t size, std::int64_t kernel, std::int64_t pad,
                std::string_view side) {
    if (kernel <= size + 2 * pad) return;
    at.table.fail(
        "kernel",
        fmt::format("at most {}, the {} of the input with its padding ({} + 2 x {})", size + 2 * pad, side, size, pad),
        fmt::format("the input of this layer is {}", to_string(at.input)));
}

Pair slide(const LayerContext& at, const Window& window, Rounding rounding) {
    const std::int64_t height = at.input.sizes[1];
    const std::int64_t width = at.input.sizes[2];
    check_side(at, height, window.kernel.height, window.pad.height, "height");
    check_side(at, width, window.kernel.width, window.pad.width, "width");
    return {window_count(height, window.kernel.height, window.stride.height, window.pad.height, rounding),
            window_count(width, window.kernel.width, window.stride.width, window.pad.width, rounding)};
}

void need_image(const LayerContext& at) {
    if (at.input.kind != Shape::Kind::Image) at.refuse_input("channels x height x width");
}

// Token numbers are no values to compute with.
void need_values(const LayerContext& at) {
    if (at.input.kind == Shape::Kind::Tokens) at.refuse_input("values (token numbers need a layer 'embedding' first)");
}

// A layer that maps a shape onto itself.
void emit_same(const LayerContext& at, std::string_view part, LayerType type, const Shape& shape,
               std::uint64_t parameters, bool in_place) {
    at.emit(part, {.type = type,
                   .parameters = parameters,
                   .input_elements = elements(shape),
                   .output_elements = elements(shape),
                   .output_shape = shape.sizes,
                   .in_place = in_place});
}

Shape read_elementwise(const LayerContext& at, LayerType type, bool in_place) {
    at.table.finish();
    need_values(at);
    emit_same(at, "", type, at.input, 0, in_place);
    return at.input;
}

void emit_batchnorm(const LayerContext& at, std::string_view part, const Shape& shape) {
    // Scale and shift for each channel.
    emit_same(at, part, LayerType::BatchNorm, shape, 2 * static_cast<std::uint64_t>(shape.sizes[0]), false);
}

// The gradient of these follows from the output alone, so the output can take the input's place. GELU's does not.
bool is_in_place(const std::string& function) {
    return function != "gelu";
}

}  // namespace

std::string read_activation(TableReader& table) {
    return table.choice_or("activation", "none", {"none", "relu", "gelu", "tanh", "sigmoid"});
}

void emit_activation(const LayerContext& at, const std::string& function, const Shape& shape) {
    if (function != "none") emit_same(at, function, LayerType::Activation, shape, 0, is_in_place(function));
}

void emit_projection(const LayerContext& at, std::string_view part, const Projection& p, const Shape& output) {
    const std::uint64_t weights = product({p.inputs, p.outputs});
    at.emit(part, {.type = LayerType::FullyConnected,
                   .parameters = weights + (p.bias ? static_cast<std::uint64_t>(p.outputs) : 0),
                   .forward_flop = product({2, p.rows, p.inputs, p.outputs}),
                   .input_elements = product({p.rows, p.inputs}),
                   .output_elements = product({p.rows, p.outputs}),
                   .output_shape = output.sizes});
}

Shape read_conv(const LayerContext& at) {
    TableReader& table = at.table;
    const std::int64_t out = table.integer("out", 1, kSizeMax);
    const Window window{read_pair(table, "kernel", 1), read_pair_or(table, "stride", 1, 1),
                        read_pair_or(table, "pad", 0, 0)};
    const std::int64_t groups = table.integer_or("groups", 1, 1, kSizeMax);
    const bool bias = table.boolean_or("bias", true);
    const bool batchnorm = table.boolean_or("batchnorm", false);
    const std::string activation = read_activation(table);
    table.finish();
    need_image(at);
    const std::int64_t in = at.input.sizes[0];
    if (in % groups != 0) table.fail("groups", fmt::format("a divisor of the input's {} channels", in));
    if (out % groups != 0) table.fail("groups", fmt::format("a divisor of out = {}", out));
    const Pair size = slide(at, window, Rounding::Floor);
    const Shape shape = image(out, size.height, size.width);
    // One output element sums over its group's channels and the window.
    const std::int64_t in_group = in / groups;
    const auto& kernel = window.kernel;
    at.emit("", {.type = LayerType::Convolution,
                 .parameters = product({out, in_group, kernel.height, kernel.width}) +
                               (bias ? static_cast<std::uint64_t>(out) : 0),
                 .forward_flop = product({2, out, size.height, size.width, in_group, kernel.height, kernel.width}),
                 .input_elements = elements(at.input),
                 .output_elements = elements(shape),
                 .output_shape = shape.sizes});
    if (batchnorm) emit_batchnorm(at, "batchnorm", shape);
    emit_activation(at, activation, shape);
    return shape;
}

Shape read_fc(const LayerContext& at) {
    TableReader& table = at.table;
    const std::int64_t out = table.integer("out", 1, kSizeMax);
    const bool bias = table.boolean_or("bias", true);
    const std::string activation = read_activation(table);
    table.finish();
    need_values(at);
    const bool is_sequence = at.input.kind == Shape::Kind::Sequence;
    const std::int64_t rows = is_sequence ? at.input.sizes[0] : 1;
    const Shape shape = is_sequence ? sequence(rows, out) : features(out);
    const auto inputs = static_cast<std::int64_t>(elements(at.input)) / rows;
    emit_projection(at, "", {rows, inputs, out, bias}, shape);
    emit_activation(at, activation, shape);
    return shape;
}

Shape read_pool(const LayerContext& at) {
    TableReader& table = at.table;
    table.choice("mode", {"max", "average"});
    const bool global = table.boolean_or("global", false);
    const bool ceil = table.choice_or("rounding", "floor", {"floor", "ceil"}) == "ceil";
    Window window;
    if (global) {
        for (const char* key : {"kernel", "stride", "pad"})
            if (table.has(key)) table.fail(key, "no such key beside global = true: the window is the whole input");
    } else {
        window = {read_pair(table, "kernel", 1), read_pair(table, "stride", 1), read_pair_or(table, "pad", 0, 0)};
        if (window.pad.height >= window.kernel.height || window.pad.width >= window.kernel.width)
            table.fail("pad", "less than kernel (a window must not lie in the padding alone)");
    }
    table.finish();
    need_image(at);
    const Pair size = global ? Pair{1, 1} : slide(at, window, ceil ? Rounding::Ceil : Rounding::Floor);
    const Shape shape = image(at.input.sizes[0], size.height, size.width);
    at.emit("", {.type = LayerType::Pooling,
                 .input_elements = elements(at.input),
                 .output_elements = elements(shape),
                 .output_shape = shape.sizes});
    return shape;
}

Shape read_lrn(const LayerContext& at) {
    at.table.finish();
    need_image(at);
    emit_same(at, "", LayerType::LocalResponseNorm, at.input, 0, false);
    return at.input;
}

Shape read_batchnorm(const LayerContext& at) {
    at.table.finish();
    if (at.input.kind != Shape::Kind::Image && at.input.kind != Shape::Kind::Features)
        at.refuse_input("channels x height x width, or features");
    emit_batchnorm(at, "", at.input);
    return at.input;
}

Shape read_layernorm(const LayerContext& at) {
    at.table.finish();
    if (at.input.kind != Shape::Kind::Sequence && at.input.kind != Shape::Kind::Features)
        at.refuse_input("tokens x features, or features");
    // Scale and shift for each feature, the same ones for all tokens.
    emit_same(at, "", LayerType::LayerNorm, at.input, 2 * static_cast<std::uint64_t>(at.input.sizes.back()), false);
    return at.input;
}

Shape read_activation_layer(const LayerContext& at) {
    return read_elementwise(at, LayerType::Activation, at.table.boolean_or("in_place", false));
}

Shape read_relu(const LayerContext& at) {
    return read_elementwise(at, LayerType::Activation, is_in_place("relu"));
}

Shape read_gelu(const LayerContext& at) {
    return read_elementwise(at, LayerType::Activation, is_in_place("gelu"));
}

Shape read_tanh(const LayerContext& at) {
    return read_elementwise(at, LayerType::Activation, is_in_place("tanh"));
}

Shape read_sigmoid(const LayerContext& at) {
    return read_elementwise(at, LayerType::Activation, is_in_place("sigmoid"));
}

Shape read_dropout(const LayerContext& at) {
    return read_elementwise(at, LayerType::Dropout, true);
}

Shape read_softmax(const LayerContext& at) {
    return read_elementwise(at, LayerType::Softmax, false);
}

}  // namespace coppice::model_file
