// Lists of layers: types, names, defaults and repeats.
#include "common/diag/nearest.hpp"
#include "common/workload/layer_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace coppice::model_file {

using config::TableReader;
using config::Value;

namespace {

struct Kind {
    const char* name;
    Shape (*read)(const LayerContext& at);
};

constexpr std::array kKinds{
    Kind{"conv", read_conv},           Kind{"fc", read_fc},
    Kind{"pool", read_pool},           Kind{"lrn", read_lrn},
    Kind{"batchnorm", read_batchnorm}, Kind{"layernorm", read_layernorm},
    Kind{"relu", read_relu},           Kind{"gelu", read_gelu},
    Kind{"tanh", read_tanh},           Kind{"sigmoid", read_sigmoid},
    Kind{"dropout", read_dropout},     Kind{"activation", read_activation_layer},
    Kind{"softmax", read_softmax},     Kind{"block", read_block},
    Kind{"branches", read_branches},   Kind{"embedding", read_embedding},
    Kind{"attention", read_attention}, Kind{"first_token", read_first_token},
};

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const Kind& kind : kKinds) names.emplace_back(kind.name);
    return names;
}

const Kind& read_kind(TableReader& table) {
    const std::string name = table.choice("type", kind_names());
    for (const Kind& kind : kKinds)
        if (name == kind.name) return kind;
    COPPICE_CHECK(false, "type '{}' passed choice()", name);
    return kKinds.front();
}

// The layer's table with the file's [defaults] of its type underneath.
std::optional<Value> with_defaults(const Value& layer, const Kind& kind, const Value* defaults) {
    if (!defaults) return std::nullopt;
    const auto found = defaults->table().find(kind.name);
    if (found == defaults->table().end()) return std::nullopt;
    Value merged = found->second;
    config::merge(merged, layer);
    merged.where = layer.where;
    return merged;
}

bool is_name(const std::string& text) {
    constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return !text.empty() && text.find_first_not_of(kAllowed) == std::string::npos;
}

// Names of one list: those of the file must be unique, the others are "conv1", "conv2", ... past those.
class Names {
public:
    // Looks through the list beforehand, so that an automatic name never takes one that comes later.
    explicit Names(const Value& layers) {
        for (const Value& layer : layers.array()) {
            if (!layer.is_table()) continue;
            const auto name = layer.table().find("name");
            if (name != layer.table().end() && name->second.is_string())
                given_.insert(std::get<std::string>(name->second.data));
        }
    }

    std::string of(TableReader& table, const Kind& kind) {
        const std::optional<std::string> given = table.text_if("name");
        if (!given) {
            std::string name;
            do name = fmt::format("{}{}", kind.name, ++counted_[kind.name]);
            while (given_.contains(name));
            return name;
        }
        if (!is_name(*given)) table.fail("name", "letters, digits, '_', '-' and '.'");
        const auto [earlier, fresh] = seen_.emplace(*given, table.where());
        if (!fresh)
            table.fail("name", "a name that no other layer of the same list has",
                       fmt::format("the other one is at {}", to_string(earlier->second)));
        return *given;
    }

private:
    std::set<std::string> given_;
    std::map<std::string, SourceLocation> seen_;
    std::map<std::string, int> counted_;
};

Shape read_layer(const Value& value, LayerList& list, const std::string& path, Names& names, const Shape& input) {
    TableReader plain(value, path);
    const Kind& kind = read_kind(plain);
    const std::optional<Value> merged = with_defaults(value, kind, list.expansion.defaults);
    TableReader table(merged ? *merged : value, path);
    table.allow("type");
    const std::string name = names.of(table, kind);
    const std::int64_t repeat = table.integer_or("repeat", 1, 1, 1000);
    Shape shape = input;
    for (std::int64_t i = 1; i <= repeat; ++i) {
        // Brackets cannot stand in a name of the file, so the copies' names clash with nothing.
        const std::string full = list.scope + (repeat == 1 ? name : fmt::format("{}[{}]", name, i));
        shape = kind.read(LayerContext{table, full, shape, list});
    }
    list.outputs.emplace(name, shape);
    return shape;
}

}  // namespace

void check_defaults(const Value& defaults, const std::string& path) {
    if (!defaults.is_table())
        throw UserError({defaults.where, path, config::describe(defaults), "a table with one table per type", ""});
    const std::vector<std::string> known = kind_names();
    for (const auto& [type, keys] : defaults.table()) {
        const std::string here = fmt::format("{}.{}", path, type);
        if (std::find(known.begin(), known.end(), type) == known.end())
            throw UserError({keys.where, here, "an unknown type", "a type of layer", did_you_mean(type, known)});
        TableReader reader(keys, here);
        for (const char* key : {"type", "name", "repeat"})
            if (reader.has(key)) reader.fail(key, "a key that layers can share", "set it at the layer");
    }
}

void LayerContext::emit(std::string_view part, Layer layer) const {
    layer.name = part.empty() ? name : fmt::format("{}/{}", name, part);
    layer.auxiliary = list.auxiliary;
    const std::pair<std::uint64_t, const char*> amounts[] = {{layer.parameters, "parameters"},
                                                             {layer.forward_flop, "FLOP a sample"},
                                                             {layer.input_elements, "input elements"},
                                                             {layer.output_elements, "output elements"}};
    for (const auto& [amount, what] : amounts)
        if (amount > kAmountMax)
            throw UserError({table.where(), table.path(), fmt::format("a layer of {:.3g} {}", double(amount), what),
                             fmt::format("at most 2^48 ({:.3g})", double(kAmountMax)), ""});
    std::vector<Layer>& layers = list.expansion.network.layers;
    if (layers.size() == kLayersMax)
        throw UserError({table.where(), table.path(), fmt::format("more than {} layers", kLayersMax),
                         fmt::format("at most {}, repeats counted", kLayersMax), ""});
    if (layer.auxiliary) list.expansion.network.has_auxiliary = true;
    layers.push_back(std::move(layer));
}

void LayerContext::refuse_input(std::string_view takes) const {
    throw UserError({table.where(), table.path(), fmt::format("an input of {}", to_string(input)), std::string(takes),
                     fmt::format("the layer's name is '{}'", name)});
}

Shape read_layers(const Value& layers, LayerList& list, Shape input) {
    if (!layers.is_array())
        throw UserError({layers.where, list.path, config::describe(layers), "an array of layers",
                         "each layer is a table: { type = \"conv\", ... }"});
    Names names(layers);
    for (std::size_t i = 0; i < layers.array().size(); ++i)
        input = read_layer(layers.array()[i], list, fmt::format("{}[{}]", list.path, i), names, input);
    return input;
}

}  // namespace coppice::model_file
