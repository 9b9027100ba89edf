#include "common/result/csv_reader.hpp"

#include "common/diag/nearest.hpp"

#include <algorithm>
#include <utility>

namespace coppice {

namespace {

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

}  // namespace

std::size_t csv_column(const CsvTable& table, const std::string& file, const std::string& name,
                       const std::string& documented) {
    const auto found = table.columns.find(name);
    if (found == table.columns.end())
        throw UserError({{file, 1, 0},
                         name,
                         "no such column",
                         fmt::format("the columns of {}", documented),
                         did_you_mean(name, table.header)});
    return found->second;
}

CsvTable read_csv_table(std::string_view text, const std::string& file, std::string_view schema,
                        const std::string& documented) {
    if (text.starts_with('{'))
        throw UserError({{file}, "", "JSON Lines", "CSV with a header line", "the .csv file stands beside the .jsonl"});
    std::vector<int> lines;
    std::vector<std::vector<std::string>> rows = split_csv(text, lines);
    if (rows.empty()) throw UserError({{file}, "", "an empty file", "a header line and records", ""});
    CsvTable table;
    table.header = std::move(rows[0]);
    for (std::size_t i = 0; i < table.header.size(); ++i) table.columns.emplace(table.header[i], i);
    const std::size_t schema_column = csv_column(table, file, "schema", documented);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const SourceLocation where{file, lines[i], 0};
        if (rows[i].size() != table.header.size())
            throw UserError({where, "", fmt::format("{} fields", rows[i].size()),
                             fmt::format("{} as in the header", table.header.size()), "is the file cut off?"});
        // Here, before other columns are asked for: those of another version differ.
        if (rows[i][schema_column] != schema)
            throw UserError({where, "schema", fmt::format("'{}'", rows[i][schema_column]), fmt::format("'{}'", schema),
                             "written by another version of coppice?"});
        table.rows.push_back({where, std::move(rows[i])});
    }
    return table;
}

}  // namespace coppice
