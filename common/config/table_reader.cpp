#include "common/config/table_reader.hpp"

#include "common/diag/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace coppice::config {

TableReader::TableReader(const Value& value, std::string dotted_path) : value_(&value), path_(std::move(dotted_path)) {
    if (!value.is_table()) throw UserError({value.where, path_, describe(value), "a table", ""});
}

std::string TableReader::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const Value* TableReader::find(std::string_view key) {
    known_.emplace(key);
    const auto found = value_->table().find(key);
    return found == value_->table().end() ? nullptr : &found->second;
}

bool TableReader::has(std::string_view key) {
    return find(key) != nullptr;
}

const Value& TableReader::require(std::string_view key) {
    const Value* value = find(key);
    if (value) return *value;
    // A misspelt key is the usual reason for a missing one.
    std::vector<std::string> present;
    for (const auto& [name, child] : value_->table())
        if (!known_.contains(name)) present.push_back(name);
    const std::vector<std::string> near = nearest_names(key, present);
    throw UserError({value_->where, path_of(key), "nothing", "this key to be set",
                     near.empty() ? "" : fmt::format("there is '{}': did you mean '{}'?", near.front(), key)});
}

void TableReader::fail(std::string_view key, std::string expected, std::string hint) const {
    const auto found = value_->table().find(key);
    if (found == value_->table().end())
        throw UserError({value_->where, path_of(key), "nothing", std::move(expected), std::move(hint)});
    throw UserError({found->second.where, path_of(key), describe(found->second), std::move(expected), std::move(hint)});
}

std::string TableReader::text(std::string_view key) {
    const Value& value = require(key);
    if (!value.is_string()) fail(key, "a string");
    return std::get<std::string>(value.data);
}

std::string TableReader::name(std::string_view key) {
    const std::string found = text(key);
    const bool good = !found.empty() && std::all_of(found.begin(), found.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' || c == '+';
    });
    if (!good) fail(key, "a name of letters, digits, '-', '_', '.' and '+'", "'title' may be any text");
    return found;
}

std::optional<std::string> TableReader::text_if(std::string_view key) {
    if (!has(key)) return std::nullopt;
    return text(key);
}

std::string TableReader::choice(std::string_view key, const std::vector<std::string>& choices) {
    std::string found = text(key);
    for (const std::string& choice : choices)
        if (choice == found) return found;
    fail(key, fmt::format("one of '{}'", fmt::join(choices, "', '")),
         nearest_names(found, choices).empty() ? "" : did_you_mean(found, choices));
}

std::string TableReader::choice_or(std::string_view key, const std::string& otherwise,
                                   const std::vector<std::string>& choices) {
    return has(key) ? choice(key, choices) : otherwise;
}

bool TableReader::boolean_or(std::string_view key, bool otherwise) {
    const Value* value = find(key);
    if (!value) return otherwise;
    if (!std::holds_alternative<bool>(value->data)) fail(key, "true or false");
    return std::get<bool>(value->data);
}

std::int64_t TableReader::integer(std::string_view key, std::int64_t lowest, std::int64_t highest) {
    const Value& value = require(key);
    const auto* number = std::get_if<std::int64_t>(&value.data);
    if (!number || *number < lowest || *number > highest)
        fail(key, highest == INT64_MAX ? fmt::format("an integer of at least {}", lowest)
                                       : fmt::format("an integer from {} to {}", lowest, highest));
    return *number;
}

std::int64_t TableReader::integer_or(std::string_view key, std::int64_t otherwise, std::int64_t lowest,
                                     std::int64_t highest) {
    return has(key) ? integer(key, lowest, highest) : otherwise;
}

std::optional<std::int64_t> TableReader::integer_if(std::string_view key, std::int64_t lowest, std::int64_t highest) {
    if (!has(key)) return std::nullopt;
    return integer(key, lowest, highest);
}

double TableReader::number(std::string_view key, double lowest, double highest) {
    const Value& value = require(key);
    double number = std::nan("");
    if (const auto* integer = std::get_if<std::int64_t>(&value.data)) number = static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value.data)) number = *real;
    // Written so that NaN fails.
    if (!(number >= lowest && number <= highest) || !std::isfinite(number))
        fail(key, std::isfinite(highest) ? fmt::format("a number from {} to {}", lowest, highest)
                                         : fmt::format("a number of at least {}", lowest));
    return number;
}

double TableReader::number_or(std::string_view key, double otherwise, double lowest, double highest) {
    return has(key) ? number(key, lowest, highest) : otherwise;
}

std::optional<double> TableReader::number_if(std::string_view key, double lowest, double highest) {
    if (!has(key)) return std::nullopt;
    return number(key, lowest, highest);
}

double TableReader::quantity(std::string_view key, Dimension dimension, Sign sign) {
    const Value& value = require(key);
    std::string text;
    if (value.is_string())
        text = std::get<std::string>(value.data);
    else if (const auto* integer = std::get_if<std::int64_t>(&value.data))
        text = fmt::format("{}", *integer);
    else if (const auto* real = std::get_if<double>(&value.data))
        text = fmt::format("{}", *real);
    const std::variant<double, QuantityProblem> parsed = parse_quantity(text, dimension);
    if (const auto* problem = std::get_if<QuantityProblem>(&parsed)) fail(key, problem->expected, problem->hint);
    const double result = std::get<double>(parsed);
    if ((sign == Sign::Positive && !(result > 0)) || (sign == Sign::NonNegative && !(result >= 0)))
        fail(key, fmt::format("{} {}", dimension_name(dimension),
                              sign == Sign::Positive ? "above zero" : "of zero or more"));
    const Bounds bounds = sane_bounds(dimension);
    if (result != 0 && (std::abs(result) < bounds.least || std::abs(result) > bounds.greatest))
        fail(key,
             fmt::format("{} from {} to {}", dimension_name(dimension), format_quantity(bounds.least, dimension),
                         format_quantity(bounds.greatest, dimension)),
             fmt::format("it was understood as {}", format_quantity(result, dimension)));
    return result;
}

double TableReader::quantity_or(std::string_view key, double otherwise, Dimension dimension, Sign sign) {
    return has(key) ? quantity(key, dimension, sign) : otherwise;
}

std::optional<double> TableReader::quantity_if(std::string_view key, Dimension dimension, Sign sign) {
    if (!has(key)) return std::nullopt;
    return quantity(key, dimension, sign);
}

TableReader TableReader::table(std::string_view key) {
    return {require(key), path_of(key)};
}

std::optional<TableReader> TableReader::table_if(std::string_view key) {
    const Value* value = find(key);
    if (!value) return std::nullopt;
    return TableReader(*value, path_of(key));
}

std::vector<TableReader> TableReader::tables(std::string_view key) {
    std::vector<TableReader> readers;
    const Value* value = find(key);
    if (!value) return readers;
    if (!value->is_array()) fail(key, "an array of tables");
    for (std::size_t i = 0; i < value->array().size(); ++i)
        readers.emplace_back(value->array()[i], fmt::format("{}[{}]", path_of(key), i));
    return readers;
}

std::vector<std::string> TableReader::texts(std::string_view key) {
    const Value& value = require(key);
    if (!value.is_array()) fail(key, "an array of strings");
    std::vector<std::string> result;
    for (const Value& element : value.array()) {
        if (!element.is_string()) throw UserError({element.where, path_of(key), describe(element), "a string", ""});
        result.push_back(std::get<std::string>(element.data));
    }
    return result;
}

std::vector<std::int64_t> TableReader::integers(std::string_view key, std::int64_t lowest, std::int64_t highest) {
    const Value& value = require(key);
    if (!value.is_array()) fail(key, "an array of integers");
    std::vector<std::int64_t> result;
    for (const Value& element : value.array()) {
        const auto* number = std::get_if<std::int64_t>(&element.data);
        if (!number || *number < lowest || *number > highest)
            throw UserError({element.where, path_of(key), describe(element),
                             fmt::format("an integer from {} to {}", lowest, highest), ""});
        result.push_back(*number);
    }
    return result;
}

void TableReader::finish() {
    const std::vector<std::string> known(known_.begin(), known_.end());
    for (const auto& [key, value] : value_->table()) {
        if (known_.contains(key)) continue;
        throw UserError({value.where, path_of(key), "an unknown key",
                         path_.empty() ? "a known key" : fmt::format("a key of [{}]", path_),
                         did_you_mean(key, known)});
    }
}

}  // namespace coppice::config
