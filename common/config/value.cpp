#include "common/config/value.hpp"

#include "common/diag/nearest.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

namespace coppice::config {

namespace fs = std::filesystem;

namespace {

SourceLocation location_of(const toml::source_region& region, const std::string& file) {
    return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

Value convert(const toml::node& node, const std::string& file);

Value convert_table(const toml::table& source, const std::string& file) {
    Table table;
    for (const auto& [key, child] : source) table.emplace(std::string(key.str()), convert(child, file));
    return {std::move(table), location_of(source.source(), file)};
}

Value convert(const toml::node& node, const std::string& file) {
    const SourceLocation where = location_of(node.source(), file);
    switch (node.type()) {
        case toml::node_type::boolean:
            return {node.as_boolean()->get(), where};
        case toml::node_type::integer:
            return {node.as_integer()->get(), where};
        case toml::node_type::floating_point:
            return {node.as_floating_point()->get(), where};
        case toml::node_type::string:
            return {node.as_string()->get(), where};
        case toml::node_type::table:
            return convert_table(*node.as_table(), file);
        case toml::node_type::array: {
            Array array;
            for (const toml::node& child : *node.as_array()) array.push_back(convert(child, file));
            return {std::move(array), where};
        }
        default:
            throw UserError({where, "", "a date or time", "a string, a number, a boolean, an array or a table", ""});
    }
}

// "did you mean 'titan.toml'?" from the names in the folder where the file was looked for.
std::string near_files(const fs::path& path) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::error_code error;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().filename().string());
    if (error) return fmt::format("the folder '{}' cannot be read either: {}", folder.string(), error.message());
    if (nearest_names(path.filename().string(), names).empty()) return "";
    return did_you_mean(path.filename().string(), names);
}

}  // namespace

Value load_toml(const fs::path& path) {
    const std::string name = path.string();
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found)
        throw UserError({{name}, "", "no such file", "a TOML file", near_files(path)});
    if (status.type() == fs::file_type::directory) throw UserError({{name}, "", "a directory", "a TOML file", ""});
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf() || file.eof()) || file.bad()) {
        // An empty file sets failbit on text without anything being wrong.
        if (errno != 0 || !file.is_open())
            throw UserError({{name},
                             "",
                             fmt::format("a file that cannot be read ({})", std::strerror(errno)),
                             "a readable TOML file",
                             ""});
    }
    return parse_toml(text.str(), name);
}

Value parse_toml(std::string_view text, const std::string& display_name) {
    try {
        const toml::table table = toml::parse(text);
        Value value = convert_table(table, display_name);
        value.where = {display_name, 0, 0};
        return value;
    } catch (const toml::parse_error& error) {
        throw UserError({location_of(error.source(), display_name), "", "text that is not TOML", "a TOML file",
                         std::string(error.description())});
    }
}

void merge(Value& base, const Value& over) {
    if (!base.is_table() || !over.is_table()) {
        base = over;
        return;
    }
    for (const auto& [key, value] : over.table()) {
        const auto found = base.table().find(key);
        if (found == base.table().end())
            base.table().emplace(key, value);
        else
            merge(found->second, value);
    }
}

namespace {

struct PathStep {
    std::string key;
    std::vector<std::size_t> indices;
};

[[noreturn]] void malformed(const std::string& found, const std::string& source) {
    throw UserError({{source, 0, 0},
                     "",
                     fmt::format("'{}'", found),
                     "KEY=VALUE with a dotted key such as cluster.link.bandwidth or link.segments[0].bandwidth",
                     ""});
}

// "link.segments[1].bandwidth" -> {link} {segments,[1]} {bandwidth}
std::vector<PathStep> split_path(const Setting& setting) {
    const std::string_view path = setting.path;
    std::vector<PathStep> steps(1);
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char c = path[i];
        if (c == '.') {
            if (steps.back().key.empty()) malformed(setting.path, setting.source);
            steps.emplace_back();
        } else if (c == '[') {
            const std::size_t close = path.find(']', i);
            if (close == std::string_view::npos || close == i + 1 || steps.back().key.empty() || close - i > 9)
                malformed(setting.path, setting.source);
            std::size_t index = 0;
            for (const char digit : path.substr(i + 1, close - i - 1)) {
                if (digit < '0' || digit > '9') malformed(setting.path, setting.source);
                index = index * 10 + static_cast<std::size_t>(digit - '0');
            }
            steps.back().indices.push_back(index);
            i = close;
        } else if ((std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') &&
                   steps.back().indices.empty()) {
            steps.back().key += c;
        } else {
            malformed(setting.path, setting.source);
        }
    }
    if (steps.back().key.empty()) malformed(setting.path, setting.source);
    return steps;
}

void place(Value& value, const SourceLocation& where) {
    value.where = where;
    if (auto* array = std::get_if<Array>(&value.data))
        for (Value& child : *array) place(child, where);
    if (value.is_table())
        for (auto& [key, child] : value.table()) place(child, where);
}

Value value_of(const Setting& setting) {
    const SourceLocation where{setting.source, 0, 0};
    Value value{setting.text, where};
    if (setting.verbatim) return value;
    try {
        Value parsed = parse_toml(fmt::format("value = {}\n", setting.text), setting.source);
        // More than one key means that the text was no single literal ("1\nb = 2").
        if (parsed.table().size() == 1) value = std::move(parsed.table().begin()->second);
    } catch (const UserError&) {
        // Not a literal: the string it is. "10 Gbps" comes this way, as documented.
    }
    place(value, where);
    return value;
}

}  // namespace

Setting parse_setting(std::string_view assignment, const std::string& source) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos) malformed(std::string(assignment), source);
    const auto trimmed = [](std::string_view s) {
        while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
        while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
        return std::string(s);
    };
    return {trimmed(assignment.substr(0, equals)), trimmed(assignment.substr(equals + 1)), source, false};
}

std::vector<Setting> parse_settings(const std::vector<std::string>& assignments) {
    std::vector<Setting> settings;
    for (const std::string& assignment : assignments) settings.push_back(parse_setting(assignment));
    return settings;
}

void apply(Value& root, const Setting& setting) {
    const SourceLocation where{setting.source, 0, 0};
    Value* at = &root;
    std::string so_far;
    for (const PathStep& step : split_path(setting)) {
        if (!at->is_table())
            throw UserError({where, so_far, describe(*at), "a table, to set '" + step.key + "' in it", ""});
        at = &at->table().try_emplace(step.key, Value{Table{}, where}).first->second;
        so_far += (so_far.empty() ? "" : ".") + step.key;
        for (const std::size_t index : step.indices) {
            auto* array = std::get_if<Array>(&at->data);
            if (!array) throw UserError({where, so_far, describe(*at), "an array", ""});
            if (index >= array->size())
                throw UserError({where, so_far, fmt::format("index {}", index),
                                 fmt::format("an index below {}", array->size()), ""});
            at = &(*array)[index];
            so_far += fmt::format("[{}]", index);
        }
    }
    *at = value_of(setting);
}

namespace {

toml::array to_toml_array(const Array& array);

toml::table to_toml_table(const Table& table) {
    toml::table result;
    for (const auto& [key, value] : table) {
        std::visit(
            [&, k = std::string_view(key)](const auto& data) {
                using T = std::decay_t<decltype(data)>;
                if constexpr (std::is_same_v<T, Table>)
                    result.insert(k, to_toml_table(data));
                else if constexpr (std::is_same_v<T, Array>)
                    result.insert(k, to_toml_array(data));
                else
                    result.insert(k, data);
            },
            value.data);
    }
    return result;
}

toml::array to_toml_array(const Array& array) {
    toml::array result;
    for (const Value& value : array) {
        std::visit(
            [&](const auto& data) {
                using T = std::decay_t<decltype(data)>;
                if constexpr (std::is_same_v<T, Table>)
                    result.push_back(to_toml_table(data));
                else if constexpr (std::is_same_v<T, Array>)
                    result.push_back(to_toml_array(data));
                else
                    result.push_back(data);
            },
            value.data);
    }
    return result;
}

}  // namespace

std::string to_toml(const Value& root) {
    std::ostringstream text;
    text << toml::toml_formatter(to_toml_table(root.table()));
    return text.str() + "\n";
}

std::string_view kind_name(const Value& value) {
    switch (value.data.index()) {
        case 0:
            return "a boolean";
        case 1:
            return "an integer";
        case 2:
            return "a number";
        case 3:
            return "a string";
        case 4:
            return "an array";
        default:
            return "a table";
    }
}

std::string describe(const Value& value) {
    if (const auto* boolean = std::get_if<bool>(&value.data)) return *boolean ? "true" : "false";
    if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return fmt::format("the number {}", *integer);
    if (const auto* number = std::get_if<double>(&value.data)) return fmt::format("the number {}", *number);
    if (const auto* text = std::get_if<std::string>(&value.data)) return fmt::format("'{}'", *text);
    return std::string(kind_name(value));
}

}  // namespace coppice::config
