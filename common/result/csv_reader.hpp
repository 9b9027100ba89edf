// Structs from CSV files, by the names in the header line and the struct's own list of fields (visit), as
// json_lines.hpp does for JSON Lines. Columns may stand in any order; those that the struct does not have are passed
// by.
#pragma once

#include "common/diag/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace coppice {

struct CsvTable {
    struct Row {
        SourceLocation where;
        std::vector<std::string> cells;  // as many as the header has
    };
    std::vector<std::string> header;
    std::map<std::string, std::size_t> columns;
    std::vector<Row> rows;
};

// Lines of this schema, with the column `schema`. UserError, with file and line, for what is no such file; `documented`
// is the page that lists the columns.
CsvTable read_csv_table(std::string_view text, const std::string& file, std::string_view schema,
                        const std::string& documented);

// UserError with the nearest name if there is no such column.
std::size_t csv_column(const CsvTable& table, const std::string& file, const std::string& name,
                       const std::string& documented);

// What csv_text (csv.hpp) writes.
template <class T>
void read_csv_cell(const SourceLocation& where, const char* name, const std::string& text, T& value) {
    const auto fail = [&](const char* expected) {
        throw UserError({where, name, fmt::format("'{}'", text), expected, ""});
    };
    if constexpr (std::is_same_v<T, std::string>) {
        value = text;
    } else if constexpr (std::is_same_v<T, bool>) {
        if (text != "true" && text != "false") fail("true or false");
        value = text == "true";
    } else if constexpr (std::is_arithmetic_v<T>) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size())
            fail(std::is_integral_v<T> ? "an integer" : "a number");
    } else {
        value.reset();
        if (!text.empty()) read_csv_cell(where, name, text, value.emplace());
    }
}

// visit(record, [](const char* name, auto& member) { ... }): every member, whose column must be there.
template <class R, class Visit>
std::vector<R> read_csv_records(std::string_view text, const std::string& file, std::string_view schema,
                                const std::string& documented, Visit&& visit) {
    const CsvTable table = read_csv_table(text, file, schema, documented);
    R record;
    visit(record, [&](const char* name, auto&) { csv_column(table, file, name, documented); });
    std::vector<R> records;
    for (const CsvTable::Row& row : table.rows) {
        visit(record, [&](const char* name, auto& value) {
            read_csv_cell(row.where, name, row.cells[table.columns.at(name)], value);
        });
        records.push_back(record);
    }
    return records;
}

}  // namespace coppice
