#include "common/result/text_table.hpp"

#include "common/diag/error.hpp"

#include <algorithm>

namespace coppice {

namespace {

// Columns on the terminal, of UTF-8: continuation bytes take none.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::row(std::vector<std::string> cells) {
    COPPICE_CHECK(cells.size() == columns_.size(), "{} cells in a table of {} columns", cells.size(), columns_.size());
    rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::string_view indent) const {
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        for (const auto& row : rows_) widths[c] = std::max(widths[c], width_of(row[c]));
        if (widths[c] > 0) widths[c] = std::max(widths[c], width_of(columns_[c].title));
    }
    std::string out;
    const auto line = [&](const auto& cell_of) {
        std::string text(indent);
        bool first = true;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            if (widths[c] == 0) continue;
            if (!first) text += "  ";
            first = false;
            const std::string cell = cell_of(c);
            const std::string space(widths[c] - width_of(cell), ' ');
            text += columns_[c].align == Align::Left ? cell + space : space + cell;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + "\n";
    };
    line([&](std::size_t c) { return columns_[c].title; });
    line([&](std::size_t c) { return std::string(widths[c], '-'); });
    for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
    return out;
}

}  // namespace coppice
