#include "common/cluster/cluster.hpp"

#include <fmt/format.h>
#include <algorithm>

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

const LinkSegment& Link::segment_of(std::uint64_t bytes) const {
    return coppice::segment_of(segments, bytes);
}

const LinkSegment& segment_of(const std::vector<LinkSegment>& segments, std::uint64_t bytes) {
    const LinkSegment* found = &segments.front();
    for (const LinkSegment& segment : segments)
        if (static_cast<double>(bytes) >= segment.from_bytes) found = &segment;
    return *found;
}

namespace {

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
    return rank < workers ? rank / gpus_per_node : worker_nodes + (rank - workers);
}

std::int32_t Cluster::nodes(std::int32_t ranks, std::int32_t workers) const {
    return ranks == 0 ? 0 : node_of(ranks - 1, workers) + 1;
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
        if (auto link = node->table_if("link")) cluster.node_link = read_link(*link);
        if (cluster.gpus_per_node > 1 && !cluster.node_link)
            node->fail("link", fmt::format("a table with the latency and bandwidth between the {} GPUs of a node",
                                           cluster.gpus_per_node));
        node->finish();
    }
    cluster.link = read_link(table.table("link"));
    cluster.fabric = read_fabric(table.table("fabric"));
    table.finish();
    return cluster;
}

}  // namespace coppice
