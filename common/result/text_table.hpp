// Columns of text for people: right-aligned numbers, a rule under the header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coppice {

class TextTable {
public:
    enum class Align { Left, Right };
    struct Column {
        std::string title;
        Align align = Align::Right;
    };

    explicit TextTable(std::vector<Column> columns);
    void row(std::vector<std::string> cells);                // as many as columns
    std::string text(std::string_view indent = "  ") const;  // columns whose cells are all empty are left out

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace coppice
