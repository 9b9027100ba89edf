#include "common/calibration/probe_record.hpp"

#include "common/diag/error.hpp"

#include <nlohmann/json.hpp>

#include <type_traits>

namespace coppice {

namespace {

template <class T>
void read_field(const SourceLocation& where, const char* name, const nlohmann::json& object, T& value) {
    const auto fail = [&](const std::string& found, const char* expected) {
        throw UserError({where, name, found, expected, "is this what coppice-run probe -o has written?"});
    };
    if (!object.contains(name)) fail("nothing", "this field of a probe record (docs/calibration.md)");
    const nlohmann::json& json = object.at(name);
    if constexpr (std::is_same_v<T, std::string>) {
        if (!json.is_string()) fail(json.dump(), "a string");
    } else if constexpr (std::is_integral_v<T>) {
        if (!json.is_number_integer()) fail(json.dump(), "an integer");
    } else {
        if (!json.is_number()) fail(json.dump(), "a number");
    }
    value = json.get<T>();
}

void check(const SourceLocation& where, const ProbeRecord& record) {
    const auto fail = [&](const char* key, const std::string& found, const char* expected) {
        throw UserError({where, key, found, expected, ""});
    };
    if (record.bytes < 0) fail("bytes", std::to_string(record.bytes), "a size, not below 0");
    if (!(record.seconds > 0)) fail("seconds", fmt::format("{}", record.seconds), "a time above 0");
}

}  // namespace

std::string to_json_lines(const std::vector<ProbeRecord>& records) {
    std::string text;
    for (const ProbeRecord& record : records) {
        nlohmann::ordered_json object;
        visit_probe_fields(record, [&](const char* name, const auto& value) { object[name] = value; });
        text += object.dump() + "\n";
    }
    return text;
}

std::vector<ProbeRecord> parse_probe_records(std::string_view text, const std::string& file) {
    std::vector<ProbeRecord> records;
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
            throw UserError({where, "", "no JSON object", "one probe record a line", "is the file cut off?"});
        ProbeRecord record;
        read_field(where, "schema", object, record.schema);
        if (record.schema != kProbeSchema)
            throw UserError({where, "schema", "'" + record.schema + "'", fmt::format("'{}'", kProbeSchema),
                             "what coppice-run probe -o has written"});
        visit_probe_fields(record, [&](const char* name, auto& value) { read_field(where, name, object, value); });
        check(where, record);
        records.push_back(std::move(record));
    }
    if (records.empty())
        throw UserError({{file}, "", "no record", "what coppice-run probe -o has written, one record a line", ""});
    return records;
}

}  // namespace coppice
