#include "common/result/record.hpp"

#include "common/result/csv.hpp"
#include "common/result/csv_reader.hpp"
#include "common/result/json_lines.hpp"

#include <fmt/format.h>

namespace coppice {

namespace {

const std::string kDocumented = "docs/records.md";

constexpr auto kVisit = [](auto& record, auto&& visit) { visit_fields(record, visit); };

}  // namespace

std::string make_key(const Record& r) {
    return fmt::format("model={}|grad={}:{}|mode={}|strategy={}|gpus={}|servers={}|batch={}", r.model, r.gradient_type,
                       r.gradient_bytes, r.mode, r.strategy_requested, r.gpus, r.servers, r.global_batch);
}

std::string csv_line(const Record& record) {
    return csv_line_of(record, kVisit);
}

std::string to_csv(const std::vector<Record>& records) {
    std::string text = csv_header_of<Record>(kVisit);
    for (const Record& record : records) text += csv_line(record);
    return text;
}

std::string to_json_lines(const std::vector<Record>& records) {
    std::string text;
    for (const Record& record : records) text += json_lines::line_of(record, kVisit);
    return text;
}

std::vector<Record> parse_csv(std::string_view text, const std::string& file) {
    return read_csv_records<Record>(text, file, kRecordSchema, kDocumented, kVisit);
}

std::vector<Record> parse_json_lines(std::string_view text, const std::string& file) {
    std::vector<Record> records;
    json_lines::for_each_object(text, file, [&](const nlohmann::json& object, const SourceLocation& where) {
        json_lines::require_schema(object, kRecordSchema, where);
        records.push_back(json_lines::record_of<Record>(object, where, kDocumented, kVisit));
    });
    return records;
}

}  // namespace coppice
