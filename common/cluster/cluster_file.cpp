#include "common/cluster/cluster_file.hpp"

#include "common/units/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace coppice {

namespace {

std::string quantity(double value, Dimension dimension) {
    return fmt::format("\"{}\"", format_quantity(value, dimension));
}
std::string size(double bytes) {
    return quantity(bytes, Dimension::Bytes);
}
std::string seconds(double value) {
    return quantity(value, Dimension::Seconds);
}
std::string rate(double value) {
    return quantity(value, Dimension::BytesPerSecond);
}

// A basic string of TOML.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += fmt::format("\\{}", c);
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            result += c;
    }
    return result + "\"";
}

class File {
public:
    void key(const char* name, const std::string& value) { text += fmt::format("{} = {}\n", name, value); }
    void table(const std::string& header) { text += fmt::format("\n{}\n", header); }
    std::string text;
};

void write_segments(File& file, const char* key, const std::vector<LinkSegment>& segments) {
    file.text += fmt::format("{} = [\n", key);
    for (const LinkSegment& segment : segments)
        file.text += fmt::format("  {{ from = {}, latency = {}, bandwidth = {} }},\n", size(segment.from_bytes),
                                 seconds(segment.latency_s), rate(segment.bytes_per_s));
    file.text += "]\n";
}

void write_fit(File& file, const Fit& fit) {
    const FitQuality& quality = fit.quality;
    file.key("points", fmt::format("{}", quality.points));
    file.key("left_out", fmt::format("{}", quality.left_out));
    file.key("mean_error", fmt::format("{}", seven_digits(quality.mean_error)));
    file.key("median_error", fmt::format("{}", seven_digits(quality.median_error)));
    file.key("worst_error", fmt::format("{}", seven_digits(quality.worst_error)));
    file.key("worst_at", size(quality.worst_bytes));
    file.key("bic", fmt::format("{}", seven_digits(quality.criterion)));
    file.text += "residuals = [\n";
    for (const FitResidual& residual : fit.residuals)
        file.text += fmt::format("  {{ bytes = {}, measured = {}, error = {}{} }},\n", size(residual.bytes),
                                 seconds(residual.seconds), seven_digits(residual.error()),
                                 residual.left_out.empty() ? "" : ", left_out = " + quoted(residual.left_out));
    file.text += "]\n";
}

void write_link(File& file, const std::string& name, const Link& link) {
    file.table(fmt::format("[{}]", name));
    if (link.segments.size() == 1) {
        file.key("bandwidth", rate(link.segments[0].bytes_per_s));
        file.key("latency", seconds(link.segments[0].latency_s));
    } else {
        write_segments(file, "segments", link.segments);
    }
    file.key("overhead", seconds(link.overhead_s));
    if (!link.both_ways.empty()) write_segments(file, "both_ways", link.both_ways);
    if (link.segment_bytes) file.key("segment", size(static_cast<double>(*link.segment_bytes)));
    if (link.segments_in_flight) file.key("in_flight", fmt::format("{}", *link.segments_in_flight));
    if (!link.fit) return;
    file.table(fmt::format("[{}.fit]", name));
    write_fit(file, *link.fit);
}

void write_device(File& file, const Device& device) {
    file.table("[device]");
    file.key("name", quoted(device.name));
    file.key("peak", quantity(device.peak_flop_per_s, Dimension::FlopPerSecond));
    file.key("memory", quantity(device.memory_bytes, Dimension::Bytes));
    file.key("memory_bandwidth", rate(device.memory_bytes_per_s));
    if (device.sum_bytes_per_s != device.memory_bytes_per_s / 3) file.key("sum_rate", rate(device.sum_bytes_per_s));
    if (device.update_bytes_per_s != device.memory_bytes_per_s / 5)
        file.key("update_rate", rate(device.update_bytes_per_s));
    file.key("launch", seconds(device.launch_s));
    file.key("efficiency", fmt::format("{}", device.efficiency));
    file.key("efficiency_half_batch", fmt::format("{}", device.efficiency_half_batch));
}

void write_collective(File& file, const MeasuredCollective& collective) {
    file.table("[[collectives]]");
    file.key("name", quoted(collective.name));
    file.key("ranks", fmt::format("{}", collective.ranks));
    file.key("source", quoted(collective.source));
    file.key("smallest", size(collective.smallest_bytes));
    file.key("largest", size(collective.largest_bytes));
    write_segments(file, "segments", collective.segments);
    if (!collective.fit) return;
    file.table("[collectives.fit]");
    write_fit(file, *collective.fit);
}

std::string commented(const std::string& comment) {
    std::string text;
    std::size_t begin = 0;
    while (begin < comment.size()) {
        const std::size_t end = std::min(comment.find('\n', begin), comment.size());
        // Control characters of a file's name may not stand in a comment.
        std::string line = comment.substr(begin, end - begin);
        for (char& c : line)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
        text += fmt::format("# {}\n", line);
        begin = end + 1;
    }
    return text;
}

}  // namespace

std::string cluster_toml(const Cluster& cluster, const std::string& comment) {
    File file;
    file.text = commented(comment);
    file.key("schema", "1");
    file.key("name", quoted(cluster.name));
    file.key("title", quoted(cluster.title));
    if (!cluster.source.empty()) file.key("source", quoted(cluster.source));
    write_device(file, cluster.device);
    file.table("[host]");
    file.key("sum_rate", rate(cluster.host.sum_bytes_per_s));
    file.table("[node]");
    file.key("gpus", fmt::format("{}", cluster.gpus_per_node));
    if (cluster.mapping == Mapping::RoundRobin) file.key("mapping", quoted("round-robin"));
    if (cluster.node_link) write_link(file, "node.link", *cluster.node_link);
    write_link(file, "link", cluster.link);
    file.table("[fabric]");
    file.key("kind", quoted(cluster.fabric.kind));
    if (cluster.fabric.backplane_bytes_per_s) file.key("backplane", rate(*cluster.fabric.backplane_bytes_per_s));
    for (const MeasuredCollective& collective : cluster.collectives) write_collective(file, collective);
    return file.text;
}

}  // namespace coppice
