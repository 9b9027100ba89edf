// Reads one table of a configuration tree key by key, and knows what was not read.
//
//   TableReader link(root, "cluster.link");
//   double bandwidth = link.quantity("bandwidth", Dimension::BytesPerSecond, Sign::Positive);
//   int    lanes     = link.integer_or("lanes", 1, 1, 64);
//   link.finish();   // UserError for the first key nobody asked for, with the nearest known one
//
// Every getter throws UserError with file, line, column, dotted key, found and expected.
// The asked-for names, whether present or not, are the known names.
#pragma once

#include "common/config/value.hpp"
#include "common/units/quantity.hpp"

#include <optional>
#include <set>

namespace coppice::config {

enum class Sign { Any, NonNegative, Positive };

class TableReader {
public:
    // `value` must outlive the reader. UserError if it is no table.
    TableReader(const Value& value, std::string dotted_path);

    const std::string& path() const { return path_; }
    const SourceLocation& where() const { return value_->where; }
    std::string path_of(std::string_view key) const;  // "cluster.link.bandwidth"

    bool has(std::string_view key);
    const Value* find(std::string_view key);     // nullptr if absent
    const Value& require(std::string_view key);  // UserError: missing key, with where the table is

    std::string text(std::string_view key);
    std::string name(std::string_view key);  // a text that records, keys and figures can carry unquoted
    std::optional<std::string> text_if(std::string_view key);
    std::string choice(std::string_view key, const std::vector<std::string>& choices);
    std::string choice_or(std::string_view key, const std::string& otherwise, const std::vector<std::string>& choices);
    bool boolean_or(std::string_view key, bool otherwise);
    std::int64_t integer(std::string_view key, std::int64_t lowest, std::int64_t highest);
    std::int64_t integer_or(std::string_view key, std::int64_t otherwise, std::int64_t lowest, std::int64_t highest);
    std::optional<std::int64_t> integer_if(std::string_view key, std::int64_t lowest, std::int64_t highest);
    double number(std::string_view key, double lowest, double highest);  // an integer or a float; bounds included
    double number_or(std::string_view key, double otherwise, double lowest, double highest);
    std::optional<double> number_if(std::string_view key, double lowest, double highest);
    double quantity(std::string_view key, Dimension dimension, Sign sign);
    double quantity_or(std::string_view key, double otherwise, Dimension dimension, Sign sign);
    std::optional<double> quantity_if(std::string_view key, Dimension dimension, Sign sign);

    TableReader table(std::string_view key);
    std::optional<TableReader> table_if(std::string_view key);
    // An array of tables; a missing key is an empty list.
    std::vector<TableReader> tables(std::string_view key);
    std::vector<std::string> texts(std::string_view key);  // an array of strings (required)
    std::vector<std::int64_t> integers(std::string_view key, std::int64_t lowest, std::int64_t highest);

    // Keys that are somebody else's (read by another reader of the same table).
    void allow(std::string_view key) { known_.insert(std::string(key)); }

    void finish();

    // For checks that only the caller can make: UserError at this key.
    [[noreturn]] void fail(std::string_view key, std::string expected, std::string hint = {}) const;

private:
    const Value* value_;
    std::string path_;
    std::set<std::string, std::less<>> known_;
};

}  // namespace coppice::config
