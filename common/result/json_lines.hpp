// Structs as JSON Lines: one object a line, its members from the struct's own list of fields (visit). What all our
// files of records share; a schema's rules are with its struct.
//
//   visit(record, [](const char* name, auto& member) { ... });
//
// Members are strings, integers, doubles, and optionals of these (absent: null). Numbers are the shortest text that
// reads back as the same double. For the .cpp files that read or write such records only: it needs nlohmann/json.
#pragma once

#include "common/diag/error.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace coppice::json_lines {

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

// The line of a record, with its line break.
template <class R, class Visit>
std::string line_of(const R& record, Visit&& visit) {
    nlohmann::ordered_json object;
    visit(record, [&](const char* name, const auto& value) {
        if constexpr (is_optional<std::decay_t<decltype(value)>>::value) {
            if (value)
                object[name] = *value;
            else
                object[name] = nullptr;
        } else {
            object[name] = value;
        }
    });
    return object.dump() + "\n";
}

template <class T>
void read_value(const SourceLocation& where, const char* name, const nlohmann::json& json, T& value) {
    const auto fail = [&](const char* expected) { throw UserError({where, name, json.dump(), expected, ""}); };
    if constexpr (is_optional<T>::value) {
        value.reset();
        if (json.is_null()) return;
        typename T::value_type inner{};
        read_value(where, name, json, inner);
        value = inner;
    } else if constexpr (std::is_same_v<T, std::string>) {
        if (!json.is_string()) fail("a string");
        value = json.get<std::string>();
    } else if constexpr (std::is_integral_v<T>) {
        if (!json.is_number_integer()) fail("an integer");
        value = json.get<T>();
    } else {
        if (!json.is_number()) fail("a number");
        value = json.get<T>();
    }
}

// each(object, where) for every line that is not blank. UserError, with file and line, for one that is no object.
template <class Each>
void for_each_object(std::string_view text, const std::string& file, Each&& each) {
    int line = 0;
    while (!text.empty()) {
        ++line;
        const std::size_t end = text.find('\n');
        const std::string_view one = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        if (one.find_first_not_of(" \r\t") == std::string_view::npos) continue;
        const SourceLocation where{file, line, 0};
        const nlohmann::json object = nlohmann::json::parse(one, nullptr, false);
        if (!object.is_object())
            throw UserError({where, "", "no JSON object", "one record a line", "is the file cut off?"});
        each(object, where);
    }
}

// The object's schema, which must be this one: another version is said before its other fields are looked at.
inline void require_schema(const nlohmann::json& object, std::string_view schema, const SourceLocation& where) {
    const std::string found =
        object.contains("schema") && object["schema"].is_string() ? object["schema"].get<std::string>() : "";
    if (found != schema)
        throw UserError({where, "schema", fmt::format("'{}'", found), fmt::format("'{}'", schema),
                         "written by another version of coppice?"});
}

// All members of a record, each of which must be there; `documented` is the page that lists them.
template <class R, class Visit>
R record_of(const nlohmann::json& object, const SourceLocation& where, const std::string& documented, Visit&& visit) {
    R record;
    visit(record, [&](const char* name, auto& value) {
        if (!object.contains(name))
            throw UserError({where, name, "nothing", fmt::format("this field of {}", documented), ""});
        read_value(where, name, object.at(name), value);
    });
    return record;
}

}  // namespace coppice::json_lines
