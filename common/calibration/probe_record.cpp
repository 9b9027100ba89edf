#include "common/calibration/probe_record.hpp"

#include "common/diag/nearest.hpp"
#include "common/result/json_lines.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace coppice {

namespace {

constexpr auto kVisit = [](auto& record, auto&& visit) { visit_probe_fields(record, visit); };

const std::vector<std::string> kWhat{"one-way", "both-ways", "incast", "sum", "update", "overhead"};

// What a fit divides by and takes logarithms of.
void check(const ProbeRecord& record, const SourceLocation& where) {
    if (std::find(kWhat.begin(), kWhat.end(), record.what) == kWhat.end())
        throw UserError({where, "what", fmt::format("'{}'", record.what),
                         fmt::format("one of '{}'", fmt::join(kWhat, "', '")), did_you_mean(record.what, kWhat)});
    const auto not_negative = [&](const char* name, std::int64_t value) {
        if (value < 0) throw UserError({where, name, fmt::format("{}", value), "0 or more", ""});
    };
    not_negative("bytes", record.bytes);
    not_negative("senders", record.senders);
    not_negative("segment_bytes", record.segment_bytes);
    not_negative("segments_in_flight", record.segments_in_flight);
    if (!(record.seconds > 0 && record.seconds < 1e9))
        throw UserError({where, "seconds", fmt::format("{}", record.seconds), "a duration above 0", ""});
}

}  // namespace

std::string to_json_lines(const std::vector<ProbeRecord>& records) {
    std::string text;
    for (const ProbeRecord& record : records) text += json_lines::line_of(record, kVisit);
    return text;
}

std::vector<ProbeRecord> parse_probe_records(std::string_view text, const std::string& file) {
    std::vector<ProbeRecord> records;
    json_lines::for_each_object(text, file, [&](const nlohmann::json& object, const SourceLocation& where) {
        json_lines::require_schema(object, kProbeSchema, where);
        records.push_back(json_lines::record_of<ProbeRecord>(object, where, "docs/calibration.md", kVisit));
        check(records.back(), where);
    });
    return records;
}

}  // namespace coppice
