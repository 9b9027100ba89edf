// A configuration tree with the source position of every value.
//
// toml++ parses; this tree is what everything after the parser sees. It exists because a scenario is merged
// from several files ("use = 'titan'" takes a cluster file as base) and from --set, and an error about a
// merged value must still name the file, line and column it came from (toml++ nodes drop that when copied).
#pragma once

#include "common/diag/error.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace coppice::config {

struct Value;
using Array = std::vector<Value>;
using Table = std::map<std::string, Value, std::less<>>;

struct Value {
    std::variant<bool, std::int64_t, double, std::string, Array, Table> data;
    SourceLocation where;

    bool is_table() const { return std::holds_alternative<Table>(data); }
    bool is_array() const { return std::holds_alternative<Array>(data); }
    bool is_string() const { return std::holds_alternative<std::string>(data); }
    Table& table() { return std::get<Table>(data); }
    const Table& table() const { return std::get<Table>(data); }
    const Array& array() const { return std::get<Array>(data); }
};

// Reads and parses. UserError for a file that does not exist (with near names in its folder), a directory,
// an unreadable file, or text that is not TOML (line and column from the parser). Dates are refused:
// coppice has no key that takes one. `display` is what messages call the file; empty: the path as given.
Value load_toml(const std::filesystem::path& path);
Value parse_toml(std::string_view text, const std::string& display_name);

// `over`'s keys win; tables are merged key by key, anything else is replaced whole.
void merge(Value& base, const Value& over);

// One value to be set from outside of the files: `path` is dotted, array elements are addressed as a.b[2].c (from 0;
// must exist). `text` is a TOML literal if it parses as one, else a string; or always a string (`verbatim`).
struct Setting {
    std::string path;
    std::string text;
    std::string source = "--set";  // what messages call it
    bool verbatim = false;
};

// "a.b.c=VALUE", spaces around path and value dropped. UserError (where = source) if there is no '='.
Setting parse_setting(std::string_view assignment, const std::string& source = "--set");
std::vector<Setting> parse_settings(const std::vector<std::string>& assignments);

// Intermediate tables are made as needed: an unknown key is found by whoever reads the tree. UserError (where = source)
// if the path is malformed or runs through something that is no table.
void apply(Value& root, const Setting& setting);

// TOML text of a tree, keys sorted, that parses back to the same tree (used for echoing and hashing).
std::string to_toml(const Value& root);

// "a string", "an integer", ... for messages; describe() adds the value: "the string 'abc'", "the number 10".
std::string_view kind_name(const Value& value);
std::string describe(const Value& value);

}  // namespace coppice::config
