// What transformers need: embedding of token numbers, multi-head attention, the pooler's choice of a token.
//
// Attention of h heads with inner width H on T tokens of F features (Vaswani et al. 2017, section 3.2):
//
//   T x F --query, key, value--> 3 times T x H
//         --scores QK^T--> h maps of T x T --softmax--> --context AV--> T x H --output--> T x F
//
// Each head works on H/h of the H columns, so that QK^T takes 2 T T (H/h) FLOP a head: 2 T T H together, and AV the
// same.
#include "common/workload/layer_context.hpp"

#include <fmt/format.h>

namespace coppice::model_file {

using config::TableReader;

namespace {

void emit_lookup(const LayerContext& at, std::string_view part, std::int64_t rows, const Shape& output) {
    at.emit(part, {.type = LayerType::Embedding,
                   .parameters = product({rows, output.sizes[1]}),
                   .input_elements = static_cast<std::uint64_t>(output.sizes[0]),
                   .output_elements = elements(output),
                   .output_shape = output.sizes});
}

}  // namespace

Shape read_embedding(const LayerContext& at) {
    TableReader& table = at.table;
    const std::int64_t vocabulary = table.integer("vocabulary", 1, kSizeMax);
    const std::int64_t hidden = table.integer("hidden", 1, kSizeMax);
    const std::optional<std::int64_t> positions = table.integer_if("positions", 1, kSizeMax);
    const std::optional<std::int64_t> segments = table.integer_if("segments", 1, kSizeMax);
    table.finish();
    if (at.input.kind != Shape::Kind::Tokens) at.refuse_input("token numbers ([input] tokens = ...)");
    const std::int64_t tokens = at.input.sizes[0];
    if (positions && *positions < tokens)
        table.fail("positions", fmt::format("at least {}, the tokens of the input", tokens),
                   fmt::format("or set input.tokens to at most {}", *positions));
    const Shape shape = sequence(tokens, hidden);
    emit_lookup(at, "word", vocabulary, shape);
    if (positions) emit_lookup(at, "position", *positions, shape);
    if (segments) emit_lookup(at, "segment", *segments, shape);
    const std::uint64_t summands = 1 + (positions ? 1 : 0) + (segments ? 1 : 0);
    if (summands > 1)
        at.emit("add", {.type = LayerType::Add,
                        .input_elements = summands * elements(shape),
                        .output_elements = elements(shape),
                        .output_shape = shape.sizes});
    return shape;
}

Shape read_attention(const LayerContext& at) {
    TableReader& table = at.table;
    const std::int64_t heads = table.integer("heads", 1, kSizeMax);
    const std::optional<std::int64_t> given = table.integer_if("hidden", 1, kSizeMax);
    const bool bias = table.boolean_or("bias", true);
    const bool dropout = table.boolean_or("dropout", false);
    table.finish();
    if (at.input.kind != Shape::Kind::Sequence) at.refuse_input("tokens x features");
    const std::int64_t tokens = at.input.sizes[0];
    const std::int64_t width = at.input.sizes[1];
    const std::int64_t hidden = given.value_or(width);
    if (hidden % heads != 0) table.fail("heads", fmt::format("a divisor of hidden = {}", hidden));

    const Shape inner = sequence(tokens, hidden);
    for (const char* part : {"query", "key", "value"}) emit_projection(at, part, {tokens, width, hidden, bias}, inner);
    const std::uint64_t weights = product({heads, tokens, tokens});  // the attention's, which are no parameters
    const std::uint64_t product_flop = product({2, tokens, tokens, hidden});
    const std::vector<std::int64_t> weights_shape = {heads, tokens, tokens};
    at.emit("scores", {.type = LayerType::Attention,
                       .forward_flop = product_flop,
                       .input_elements = 2 * elements(inner),
                       .output_elements = weights,
                       .output_shape = weights_shape});
    Layer same{.input_elements = weights, .output_elements = weights, .output_shape = weights_shape};
    same.type = LayerType::Softmax;
    at.emit("softmax", same);
    same.type = LayerType::Dropout;
    same.in_place = true;
    if (dropout) at.emit("dropout", same);
    at.emit("context", {.type = LayerType::Attention,
                        .forward_flop = product_flop,
                        .input_elements = weights + elements(inner),
                        .output_elements = elements(inner),
                        .output_shape = inner.sizes});
    emit_projection(at, "output", {tokens, hidden, width, bias}, at.input);
    return at.input;
}

Shape read_first_token(const LayerContext& at) {
    at.table.finish();
    if (at.input.kind != Shape::Kind::Sequence) at.refuse_input("tokens x features");
    // A view of the input: no layer, no cost.
    return features(at.input.sizes[1]);
}

}  // namespace coppice::model_file
