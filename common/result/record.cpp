#include "common/result/record.hpp"

#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/result/csv.hpp"
#include "common/result/json_lines.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <type_traits>

namespace coppice {

namespace {

using json_lines::is_optional;

constexpr auto kVisit = [](auto& record, auto&& visit) { visit_fields(record, visit); };

std::vector<std::string> field_names() {
    std::vector<std::string> names;
    Record record;
    visit_fields(record, [&](const char* name, auto&) { names.emplace_back(name); });
    return names;
}

struct Place {
    std::string file;
    int line = 0;
};

template <class T>
void read_text(const Place& place, const char* name, const std::string& text, T& value) {
    if constexpr (is_optional<T>::value) {
        if (text.empty()) {
            value.reset();
            return;
        }
        typename T::value_type inner{};
        read_text(place, name, text, inner);
        value = inner;
    } else if constexpr (std::is_same_v<T, std::string>) {
        value = text;
    } else {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size())
            throw UserError({{place.file, place.line, 0},
                             name,
                             fmt::format("'{}'", text),
                             std::is_integral_v<T> ? "an integer" : "a number",
                             ""});
    }
}

// RFC 4180: quoted fields may hold commas, quotes (doubled) and line breaks.
std::vector<std::vector<std::string>> split_csv(std::string_view text, std::vector<int>& lines) {
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> row;
    std::string field;
    bool quoted = false;
    int line = 1;
    int row_line = 1;
    const auto end_row = [&] {
        row.push_back(std::move(field));
        field.clear();
        if (row.size() > 1 || !row.front().empty()) {
            rows.push_back(std::move(row));
            lines.push_back(row_line);
        }
        row.clear();
        row_line = line;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n') ++line;
        if (quoted) {
            if (c == '"' && i + 1 < text.size() && text[i + 1] == '"')
                field += text[++i];
            else if (c == '"')
                quoted = false;
            else
                field += c;
        } else if (c == '"' && field.empty()) {
            quoted = true;
        } else if (c == ',') {
            row.push_back(std::move(field));
            field.clear();
        } else if (c == '\n') {
            end_row();
        } else if (c != '\r') {
            field += c;
        }
    }
    if (!field.empty() || !row.empty()) end_row();
    return rows;
}

void check_schema(const Record& record, const Place& place) {
    if (record.schema != kRecordSchema)
        throw UserError({{place.file, place.line, 0},
                         "schema",
                         fmt::format("'{}'", record.schema),
                         fmt::format("'{}'", kRecordSchema),
                         "written by another version of coppice?"});
}

}  // namespace

std::string make_key(const Record& r) {
    return fmt::format("model={}|grad={}:{}|mode={}|strategy={}|gpus={}|servers={}|batch={}", r.model, r.gradient_type,
                       r.gradient_bytes, r.mode, r.strategy_requested, r.gpus, r.servers, r.global_batch);
}

std::string csv_line(const Record& record) {
    return csv_line_of(record, kVisit);
}

std::string to_csv(const std::vector<Record>& records) {
    std::string text;
    const std::vector<std::string> names = field_names();
    for (std::size_t i = 0; i < names.size(); ++i) text += (i ? "," : "") + names[i];
    text += "\n";
    for (const Record& record : records) text += csv_line(record);
    return text;
}

std::string to_json_lines(const std::vector<Record>& records) {
    std::string text;
    for (const Record& record : records) text += json_lines::line_of(record, kVisit);
    return text;
}

std::vector<Record> parse_csv(std::string_view text, const std::string& file) {
    std::vector<int> lines;
    const std::vector<std::vector<std::string>> rows = split_csv(text, lines);
    const std::vector<std::string> names = field_names();
    if (text.starts_with('{'))
        throw UserError(
            {{file}, "", "JSON Lines", "CSV with a header line", "records.csv stands beside records.jsonl"});
    if (rows.empty()) throw UserError({{file}, "", "an empty file", "a header line and records", ""});
    std::map<std::string, std::size_t> columns;
    for (std::size_t i = 0; i < rows[0].size(); ++i) columns.emplace(rows[0][i], i);
    // Another version is said first: its columns differ, and that would be found next.
    if (const auto schema = columns.find("schema");
        schema != columns.end() && rows.size() > 1 && rows[1].size() > schema->second) {
        Record record;
        record.schema = rows[1][schema->second];
        check_schema(record, {file, lines[1]});
    }
    for (const std::string& name : names)
        if (!columns.contains(name))
            throw UserError(
                {{file, 1, 0}, name, "no such column", "the columns of docs/records.md", did_you_mean(name, rows[0])});
    std::vector<Record> records;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const Place place{file, lines[i]};
        if (rows[i].size() != rows[0].size())
            throw UserError({{file, lines[i], 0},
                             "",
                             fmt::format("{} fields", rows[i].size()),
                             fmt::format("{} as in the header", rows[0].size()),
                             "is the file cut off?"});
        Record record;
        visit_fields(record,
                     [&](const char* name, auto& value) { read_text(place, name, rows[i][columns.at(name)], value); });
        check_schema(record, place);
        records.push_back(std::move(record));
    }
    return records;
}

std::vector<Record> parse_json_lines(std::string_view text, const std::string& file) {
    std::vector<Record> records;
    json_lines::for_each_object(text, file, [&](const nlohmann::json& object, const SourceLocation& where) {
        json_lines::require_schema(object, kRecordSchema, where);
        records.push_back(json_lines::record_of<Record>(object, where, "docs/records.md", kVisit));
    });
    return records;
}

}  // namespace coppice
