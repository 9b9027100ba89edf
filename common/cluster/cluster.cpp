#include "common/cluster/cluster.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace coppice {

using config::Sign;
using config::TableReader;

double Link::bytes_per_s() const {
    return segments.back().bytes_per_s;
}

double Link::latency_s() const {
    double least = segments.front().latency_s;
    for (const LinkSegment& segment : segments) least = std::min(least, segment.latency_s);
    return least;
}

const LinkSegment& segment_of(const std::vector<LinkSegment>& segments, double bytes) {
    const LinkSegment* found = &segments.front();
    for (const LinkSegment& segment : segments)
        if (bytes >= segment.from_bytes) found = &segment;
    return *found;
}

double seconds_of(const std::vector<LinkSegment>& segments, double bytes) {
    return segment_of(segments, bytes).seconds(bytes);
}

const MeasuredCollective* Cluster::measured(std::string_view collective, std::int32_t ranks) const {
    for (const MeasuredCollective& one : collectives)
        if (one.name == collective && one.ranks == ranks) return &one;
    return nullptr;
}

namespace {

// Of relative errors. Files have them, and what was fitted, rounded to seven digits (cluster_file.hpp).
constexpr double kFitErrorRounding = 1e-4;

Device read_device(TableReader table) {
    Device device;
    device.name = table.text("name");
    device.peak_flop_per_s = table.quantity("peak", Dimension::FlopPerSecond, Sign::Positive);
    device.memory_bytes = table.quantity("memory", Dimension::Bytes, Sign::Positive);
    device.memory_bytes_per_s = table.quantity("memory_bandwidth", Dimension::BytesPerSecond, Sign::Positive);
    device.sum_bytes_per_s =
        table.quantity_or("sum_rate", device.memory_bytes_per_s / 3, Dimension::BytesPerSecond, Sign::Positive);
    device.update_bytes_per_s =
        table.quantity_or("update_rate", device.memory_bytes_per_s / 5, Dimension::BytesPerSecond, Sign::Positive);
    device.launch_s = table.quantity_or("launch", 0, Dimension::Seconds, Sign::NonNegative);
    device.efficiency = table.number_or("efficiency", 1, 0.001, 1);
    device.efficiency_half_batch = table.number_or("efficiency_half_batch", 0, 0, 1e6);
    table.finish();
    return device;
}

// Ascending, the first from 0 B.
std::vector<LinkSegment> read_segments(TableReader& table, const char* key) {
    std::vector<LinkSegment> segments;
    for (TableReader& segment : table.tables(key)) {
        LinkSegment read;
        read.from_bytes = segment.quantity("from", Dimension::Bytes, Sign::NonNegative);
        read.latency_s = segment.quantity("latency", Dimension::Seconds, Sign::NonNegative);
        read.bytes_per_s = segment.quantity("bandwidth", Dimension::BytesPerSecond, Sign::Positive);
        segment.finish();
        if (segments.empty() && read.from_bytes != 0) segment.fail("from", "'0 B' in the first segment");
        if (!segments.empty() && read.from_bytes <= segments.back().from_bytes)
            segment.fail("from", "segments in ascending order");
        segments.push_back(read);
    }
    return segments;
}

// The errors of the residuals must be what the segments (and a link's overhead) give: a fit that has outlived its
// segments would lend them an error band that is not theirs.
Fit read_fit(TableReader table, const std::vector<LinkSegment>& segments, double overhead_s) {
    Fit fit;
    FitQuality& quality = fit.quality;
    quality.points = table.integer("points", 0, INT64_MAX);
    quality.left_out = table.integer("left_out", 0, INT64_MAX);
    quality.mean_error = table.number("mean_error", 0, INFINITY);
    quality.median_error = table.number("median_error", 0, INFINITY);
    quality.worst_error = table.number("worst_error", 0, INFINITY);
    quality.worst_bytes = table.quantity("worst_at", Dimension::Bytes, Sign::NonNegative);
    quality.criterion = table.number("bic", -INFINITY, INFINITY);
    std::int64_t left_out = 0;
    for (TableReader& point : table.tables("residuals")) {
        FitResidual read;
        read.bytes = point.quantity("bytes", Dimension::Bytes, Sign::NonNegative);
        read.seconds = point.quantity("measured", Dimension::Seconds, Sign::Positive);
        read.fitted_s = (1 + point.number("error", -1, INFINITY)) * read.seconds;
        if (point.has("left_out")) read.left_out = point.choice("left_out", {"outlier", "not monotone"});
        point.finish();
        if (!fit.residuals.empty() && read.bytes <= fit.residuals.back().bytes)
            point.fail("bytes", "residuals in ascending order of their sizes, each size once");
        const double error = (overhead_s + seconds_of(segments, read.bytes)) / read.seconds - 1;
        if (std::abs(error - read.error()) > kFitErrorRounding * (1 + std::abs(error)))
            point.fail("error", fmt::format("{:.4g}, which the segments give", error),
                       "the fit does not belong to these segments: remove the table 'fit', or fit again");
        left_out += read.left_out.empty() ? 0 : 1;
        fit.residuals.push_back(std::move(read));
    }
    if (static_cast<std::int64_t>(fit.residuals.size()) != quality.points + quality.left_out)
        table.fail("residuals",
                   fmt::format("{} of them: points and those left out", quality.points + quality.left_out));
    if (left_out != quality.left_out) table.fail("left_out", fmt::format("{}, as many as residuals say so", left_out));
    table.finish();
    return fit;
}

MeasuredCollective read_collective(TableReader table) {
    MeasuredCollective read;
    read.name = table.choice("name", {"all-reduce"});
    read.ranks = static_cast<std::int32_t>(table.integer("ranks", 2, 1'000'000));
    read.source = table.text_if("source").value_or("");
    read.smallest_bytes = table.quantity("smallest", Dimension::Bytes, Sign::NonNegative);
    read.largest_bytes = table.quantity("largest", Dimension::Bytes, Sign::Positive);
    if (read.largest_bytes < read.smallest_bytes) table.fail("largest", "no less than 'smallest'");
    read.segments = read_segments(table, "segments");
    if (read.segments.empty()) table.fail("segments", "at least one segment: from, latency, bandwidth");
    if (auto fit = table.table_if("fit")) read.fit = read_fit(*fit, read.segments, 0);
    table.finish();
    return read;
}

Link read_link(TableReader table) {
    Link link;
    link.overhead_s = table.quantity_or("overhead", 0, Dimension::Seconds, Sign::NonNegative);
    if (table.has("segments")) {
        for (const char* alone : {"latency", "bandwidth"})
            if (table.has(alone))
                table.fail(alone, "either 'latency' and 'bandwidth' or 'segments', not both",
                           "each segment has its own latency and bandwidth");
        link.segments = read_segments(table, "segments");
    }
    if (link.segments.empty())
        link.segments.push_back({0, table.quantity("latency", Dimension::Seconds, Sign::NonNegative),
                                 table.quantity("bandwidth", Dimension::BytesPerSecond, Sign::Positive)});
    if (auto fit = table.table_if("fit")) link.fit = read_fit(*fit, link.segments, link.overhead_s);
    link.both_ways = read_segments(table, "both_ways");
    if (const auto segment = table.quantity_if("segment", Dimension::Bytes, Sign::NonNegative))
        link.segment_bytes = static_cast<std::uint64_t>(*segment);
    if (table.has("in_flight"))
        link.segments_in_flight = static_cast<std::uint32_t>(table.integer("in_flight", 1, 1'000'000));
    table.finish();
    return link;
}

Fabric read_fabric(TableReader table) {
    Fabric fabric;
    fabric.kind = table.choice("kind", {"switch"});
    fabric.backplane_bytes_per_s = table.quantity_if("backplane", Dimension::BytesPerSecond, Sign::Positive);
    table.finish();
    return fabric;
}

}  // namespace

std::int32_t Cluster::node_of(std::int32_t rank, std::int32_t workers) const {
    const std::int32_t worker_nodes = (workers + gpus_per_node - 1) / gpus_per_node;
    if (rank >= workers) return worker_nodes + (rank - workers);
    return mapping == Mapping::Block ? rank / gpus_per_node : rank % worker_nodes;
}

std::int32_t Cluster::nodes(std::int32_t ranks, std::int32_t workers) const {
    return (std::min(ranks, workers) + gpus_per_node - 1) / gpus_per_node + std::max(0, ranks - workers);
}

Cluster read_cluster(TableReader table) {
    Cluster cluster;
    table.integer("schema", 1, 1);
    cluster.name = table.name("name");
    cluster.title = table.text_if("title").value_or(cluster.name);
    cluster.source = table.text_if("source").value_or("");
    cluster.device = read_device(table.table("device"));
    TableReader host = table.table("host");
    cluster.host.sum_bytes_per_s = host.quantity("sum_rate", Dimension::BytesPerSecond, Sign::Positive);
    host.finish();
    if (auto node = table.table_if("node")) {
        cluster.gpus_per_node = static_cast<std::int32_t>(node->integer_or("gpus", 1, 1, 1024));
        if (node->choice_or("mapping", "block", {"block", "round-robin"}) == "round-robin")
            cluster.mapping = Mapping::RoundRobin;
        if (auto link = node->table_if("link")) cluster.node_link = read_link(*link);
        if (cluster.gpus_per_node > 1 && !cluster.node_link)
            node->fail("link", fmt::format("a table with the latency and bandwidth between the {} GPUs of a node",
                                           cluster.gpus_per_node));
        node->finish();
    }
    cluster.link = read_link(table.table("link"));
    cluster.fabric = read_fabric(table.table("fabric"));
    for (TableReader& entry : table.tables("collectives")) {
        MeasuredCollective read = read_collective(entry);
        if (cluster.measured(read.name, read.ranks))
            entry.fail("ranks", fmt::format("one entry for {} on {} ranks", read.name, read.ranks));
        cluster.collectives.push_back(std::move(read));
    }
    table.finish();
    return cluster;
}

}  // namespace coppice
