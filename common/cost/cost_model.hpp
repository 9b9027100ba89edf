// The one place where a duration is computed. Everything that is not contention on a network link comes from here: the
// simulator takes these as activities, the closed forms add them up. Formulas and their sources: docs/cost-model.md.
#pragma once

#include "common/cluster/cluster.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace coppice {

// Who sums: a worker's device, or the processor of a machine that is only a server.
enum class SumPlace { Device, Host };

class CostModel {
public:
    explicit CostModel(const Cluster& cluster);

    // --- communication, between nodes ---
    // A message alone on its route: overhead excluded. alpha + bytes/B of the segment that holds it.
    double message_s(std::uint64_t bytes) const;
    double overhead_s() const;        // o, per message sent, serial per rank
    double latency_s() const;         // the smallest alpha of the segments: what the simulated links have
    double link_bytes_per_s() const;  // B of large messages: what the simulated links have
    // The rate that, with latency_s(), gives message_s(bytes) on an empty route; 0: no cap needed.
    double message_rate_cap(std::uint64_t bytes) const;
    // The same for any link (inside a node).
    static double message_s(const Link& link, std::uint64_t bytes);
    static double message_rate_cap(const Link& link, std::uint64_t bytes);
    // `count` messages that leave `count` machines together for one (or one for many) share that one's link.
    double incast_s(std::uint64_t count, std::uint64_t bytes) const;
    // o + alpha + n/B.
    double send_s(std::uint64_t bytes) const { return overhead_s() + message_s(bytes); }
    // How much longer a message takes whose receiver sends as much at the same time; 0 where the link does not say.
    double both_ways_extra_s(std::uint64_t bytes) const;
    // A message whose receiver sends as much at the same time.
    static double both_ways_s(const Link& link, std::uint64_t bytes);
    // A message alone on a link that the simulator shares among all messages: no message there is faster than B of long
    // ones, even where short ones were measured to be (a token bucket lets some kilobytes through at once).
    static double shared_link_s(const Link& link, std::uint64_t bytes);
    // One step of a pattern in which every rank sends and receives at once: o + message + that.
    double exchange_s(std::uint64_t bytes) const { return send_s(bytes) + both_ways_extra_s(bytes); }

    // --- arithmetic ---
    double sum_s(std::uint64_t bytes, SumPlace place) const;  // `bytes` of one summand added into another
    double copy_s(std::uint64_t bytes) const;                 // within a device
    double update_s(std::uint64_t parameter_bytes) const;

    const Cluster& cluster() const { return cluster_; }

private:
    Cluster cluster_;
};

}  // namespace coppice
