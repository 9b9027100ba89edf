#include "common/cost/cost_model.hpp"

#include "common/diag/error.hpp"

#include <algorithm>

namespace coppice {

CostModel::CostModel(const Cluster& cluster) : cluster_(cluster) {
    COPPICE_CHECK(!cluster_.link.segments.empty(), "cluster '{}' has a link without segments", cluster_.name);
}

double CostModel::message_s(std::uint64_t bytes) const {
    return message_s(cluster_.link, bytes);
}
double CostModel::message_rate_cap(std::uint64_t bytes) const {
    return message_rate_cap(cluster_.link, bytes);
}

double CostModel::message_s(const Link& link, std::uint64_t bytes) {
    return seconds_of(link.segments, static_cast<double>(bytes));
}

double CostModel::message_rate_cap(const Link& link, std::uint64_t bytes) {
    if (bytes == 0) return 0;
    const double wire_s = message_s(link, bytes) - link.latency_s();
    const double rate = static_cast<double>(bytes) / wire_s;
    return rate < link.bytes_per_s() * (1 - 1e-12) ? rate : 0;
}

double CostModel::both_ways_extra_s(std::uint64_t bytes) const {
    return both_ways_s(cluster_.link, bytes) - message_s(bytes);
}

double CostModel::both_ways_s(const Link& link, std::uint64_t bytes) {
    const double one_way_s = message_s(link, bytes);
    // Measured, so it may come out a little below.
    return link.both_ways.empty() ? one_way_s
                                  : std::max(one_way_s, seconds_of(link.both_ways, static_cast<double>(bytes)));
}

double CostModel::shared_link_s(const Link& link, std::uint64_t bytes) {
    return std::max(message_s(link, bytes), link.latency_s() + static_cast<double>(bytes) / link.bytes_per_s());
}

double CostModel::incast_s(std::uint64_t count, std::uint64_t bytes) const {
    if (count == 0) return 0;
    const double shared_s = static_cast<double>(count) * static_cast<double>(bytes) / link_bytes_per_s();
    return latency_s() + std::max(shared_s, message_s(bytes) - latency_s());
}

double CostModel::overhead_s() const {
    return cluster_.link.overhead_s;
}
double CostModel::latency_s() const {
    return cluster_.link.latency_s();
}
double CostModel::link_bytes_per_s() const {
    return cluster_.link.bytes_per_s();
}

double CostModel::sum_s(std::uint64_t bytes, SumPlace place) const {
    const double rate = place == SumPlace::Device ? cluster_.device.sum_bytes_per_s : cluster_.host.sum_bytes_per_s;
    COPPICE_CHECK(rate > 0, "no summing rate for the {} of '{}'", place == SumPlace::Device ? "device" : "host",
                  cluster_.name);
    return static_cast<double>(bytes) / rate;
}

double CostModel::copy_s(std::uint64_t bytes) const {
    // Read once, written once.
    return 2 * static_cast<double>(bytes) / cluster_.device.memory_bytes_per_s;
}

double CostModel::update_s(std::uint64_t parameter_bytes) const {
    return static_cast<double>(parameter_bytes) / cluster_.device.update_bytes_per_s;
}

}  // namespace coppice
