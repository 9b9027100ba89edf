#include "common/calibration/calibration.hpp"

#include "common/cost/cost_model.hpp"
#include "common/diag/error.hpp"
#include "common/units/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace coppice {

namespace {

using config::Array;
using config::Table;
using config::Value;

// Of messages that travelled as the one-way ones did: the probe tries other ways, too.
std::vector<TimedSize> times_of(const std::vector<ProbeRecord>& records, const char* what, const ProbeRecord* like) {
    std::vector<TimedSize> points;
    for (const ProbeRecord& record : records) {
        if (record.what != what) continue;
        if (like != nullptr &&
            (record.segment_bytes != like->segment_bytes || record.segments_in_flight != like->segments_in_flight))
            continue;
        points.push_back({static_cast<double>(record.bytes), record.seconds});
    }
    return points;
}

bool has_two_sizes(const std::vector<TimedSize>& points) {
    return std::any_of(points.begin(), points.end(),
                       [&](const TimedSize& one) { return one.bytes != points.front().bytes; });
}

std::optional<double> rate_of_largest(const std::vector<ProbeRecord>& records, const char* what) {
    const ProbeRecord* largest = nullptr;
    for (const ProbeRecord& record : records)
        if (record.what == what && (largest == nullptr || record.bytes > largest->bytes)) largest = &record;
    if (largest == nullptr) return std::nullopt;
    return static_cast<double>(largest->bytes) / largest->seconds;
}

// Does the receiver's link share fairly what several send to it? The probe has measured it; the model assumes it.
void compare_incast(const std::vector<ProbeRecord>& records, Calibration& calibration) {
    Cluster cluster;
    cluster.link.segments = calibration.link.segments;
    const CostModel cost(cluster);
    for (const ProbeRecord& record : records) {
        if (record.what != "incast") continue;
        const auto bytes = static_cast<std::uint64_t>(record.bytes);
        const double predicted_s = cost.message_s(0) + cost.incast_s(static_cast<std::uint64_t>(record.senders), bytes);
        const double error = predicted_s / record.seconds - 1;
        if (std::abs(error) > 0.10)
            calibration.notes.push_back(
                fmt::format("incast of {} messages of {}: {:+.1f} % against the model", record.senders,
                            format_rounded(static_cast<double>(bytes), Dimension::Bytes), error * 100));
    }
}

Value text(const std::string& value) {
    return {value, {}};
}

Value quantity(double value, Dimension dimension) {
    return text(format_quantity(value, dimension));
}

// The processor's part in sending is in the times that were measured; the model adds it to a message's latency.
Value segments_value(const std::vector<LinkSegment>& segments, double overhead_s) {
    Array array;
    for (const LinkSegment& segment : segments) {
        Table table;
        table["from"] = quantity(segment.from_bytes, Dimension::Bytes);
        table["latency"] = quantity(std::max(0.0, segment.latency_s - overhead_s), Dimension::Seconds);
        table["bandwidth"] = quantity(segment.bytes_per_s, Dimension::BytesPerSecond);
        array.push_back({table, {}});
    }
    return {array, {}};
}

}  // namespace

Calibration calibrate(const std::vector<ProbeRecord>& records, const std::string& file, const FitOptions& options) {
    const auto first = std::find_if(records.begin(), records.end(),
                                    [](const ProbeRecord& record) { return record.what == "one-way"; });
    const std::vector<TimedSize> one_way =
        first == records.end() ? std::vector<TimedSize>{} : times_of(records, "one-way", nullptr);
    if (one_way.empty() || !has_two_sizes(one_way))
        throw UserError({{file},
                         "what",
                         fmt::format("{} records of one-way messages", one_way.size()),
                         "one-way messages of at least two sizes: a latency and a bandwidth are fitted to them",
                         "coppice-run probe --bytes '4 B,1 KiB..16 MiB'"});
    if (times_of(records, "one-way", &*first).size() != one_way.size())
        throw UserError({{file},
                         "segment_bytes",
                         "one-way messages that travelled in segments of different sizes",
                         "one size in a file: latency and bandwidth are of messages sent in one way",
                         "fit each probe to a cluster file of its own"});
    Calibration calibration;
    calibration.link = fit_piecewise(one_way, options);
    calibration.segment_bytes = static_cast<std::uint64_t>(first->segment_bytes);
    calibration.segments_in_flight = static_cast<std::uint32_t>(first->segments_in_flight);
    const std::vector<TimedSize> both = times_of(records, "both-ways", &*first);
    if (!both.empty() && has_two_sizes(both)) calibration.both_ways = fit_piecewise(both, options);
    for (const ProbeRecord& record : records)
        if (record.what == "overhead") calibration.overhead_s = record.seconds;
    calibration.sum_bytes_per_s = rate_of_largest(records, "sum");
    calibration.update_bytes_per_s = rate_of_largest(records, "update");
    const auto loose =
        std::count_if(records.begin(), records.end(), [](const ProbeRecord& record) { return record.stop == "limit"; });
    if (loose > 0)
        calibration.notes.push_back(
            fmt::format("{} of {} points were cut short before they were known well", loose, records.size()));
    compare_incast(records, calibration);
    calibration.source = fmt::format("measured by coppice-run probe {} between {} and {}, {}; fitted by coppice fit",
                                     first->version, first->from, first->to, first->mpi);
    return calibration;
}

config::Value calibrated_cluster(config::Value base, const Calibration& calibration, const std::string& name,
                                 bool device_is_host) {
    Table& cluster = base.table();
    cluster["name"] = text(name);
    cluster["title"] = text(name + ", calibrated");
    cluster["source"] = text(calibration.source);
    Table link;
    link["segments"] = segments_value(calibration.link.segments, calibration.overhead_s);
    if (calibration.both_ways)
        link["both_ways"] = segments_value(calibration.both_ways->segments, calibration.overhead_s);
    link["overhead"] = quantity(calibration.overhead_s, Dimension::Seconds);
    link["segment"] = quantity(static_cast<double>(calibration.segment_bytes), Dimension::Bytes);
    link["in_flight"] = {static_cast<std::int64_t>(calibration.segments_in_flight), {}};
    cluster["link"] = {link, {}};
    const auto set = [&](const char* table, const char* key, const std::optional<double>& rate) {
        if (rate) cluster[table].table()[key] = quantity(*rate, Dimension::BytesPerSecond);
    };
    set("host", "sum_rate", calibration.sum_bytes_per_s);
    if (device_is_host) {
        set("device", "sum_rate", calibration.sum_bytes_per_s);
        set("device", "update_rate", calibration.update_bytes_per_s);
    }
    return base;
}

}  // namespace coppice
