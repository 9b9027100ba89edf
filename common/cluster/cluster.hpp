// The machine: device, host, node, link, fabric, as a cluster file says (docs/scenario-files.md). Rates are SI
// (bytes/s, FLOP/s, s).
//
//     device ─ device        node: gpus devices on node.link
//        └─ host ─┘          host: sums for parameter servers
//           │ link           one full-duplex link a node: bandwidth per direction
//        [ fabric ]          kind "switch"; more kinds later, with keys of their own under [fabric]
#pragma once

#include "common/cluster/fit_quality.hpp"
#include "common/config/table_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coppice {

struct Device {
    std::string name;
    double peak_flop_per_s = 0;
    double memory_bytes = 0;
    double memory_bytes_per_s = 0;
    double sum_bytes_per_s =
        0;  // gamma: bytes of summand a second (default memory bandwidth / 3: two reads, one write)
    double update_bytes_per_s = 0;     // bytes of parameters updated a second (default memory bandwidth / 5: SGD with
                                       // momentum reads w, g, m and writes w, m)
    double launch_s = 0;               // per layer and pass
    double efficiency = 1;             // of peak, for a large batch
    double efficiency_half_batch = 0;  // h in efficiency * b / (b + h): the batch at which half of it is reached
};

struct HostMachine {
    double sum_bytes_per_s = 0;  // gamma of a server that sums on the CPU
};

// A message of n bytes takes latency_s + n / bytes_per_s in the segment that holds n (from_bytes <= n < next
// from_bytes).
struct LinkSegment {
    double from_bytes = 0;
    double latency_s = 0;
    double bytes_per_s = 0;
    double seconds(double bytes) const { return latency_s + bytes / bytes_per_s; }
};

// The segment that holds so many bytes, and what a message of them takes.
const LinkSegment& segment_of(const std::vector<LinkSegment>& segments, double bytes);
double seconds_of(const std::vector<LinkSegment>& segments, double bytes);

struct Link {
    std::vector<LinkSegment> segments;  // at least one, the first from 0, ascending
    double overhead_s = 0;              // per message, of the sender's processor: LogGP's o
    // What a message takes while its receiver is sending as much at the same time (acknowledgements, a shared bus, a
    // processor with two things to do); empty: the two directions do not touch each other.
    std::vector<LinkSegment> both_ways = {};
    // How the runtime is to send a message here, if the file says so: in pieces of this size (0: whole), so many posted
    // at a time. Latency and bandwidth are of messages sent in this way.
    std::optional<std::uint64_t> segment_bytes = {};
    std::optional<std::uint32_t> segments_in_flight = {};
    std::optional<Fit> fit = {};  // where the segments come from, if they were fitted
    double latency_s() const;     // the smallest segment latency
    double bytes_per_s() const;   // of large messages: the last segment's (a piece where times hardly grow has no rate)
};

// A collective as it was measured on this machine, with so many ranks: the only use of it is that collective on that
// many ranks (the strategy "measured"). Seconds of n bytes as of a link's message.
struct MeasuredCollective {
    std::string name;  // "all-reduce"
    std::int32_t ranks = 0;
    std::string source;  // which tool's log
    double smallest_bytes = 0;
    double largest_bytes = 0;           // what was measured: beyond is extrapolation
    std::vector<LinkSegment> segments;  // at least one, the first from 0, ascending
    std::optional<Fit> fit;
};

struct Fabric {
    std::string kind = "switch";
    // All traffic between nodes together, per second; none: the switch is not a bottleneck (no such link is simulated).
    std::optional<double> backplane_bytes_per_s;
};

// Which workers share a node. Block: ranks in a row, as most launchers place them. RoundRobin: one after another to
// each node in turn (mpirun --map-by node).
enum class Mapping { Block, RoundRobin };

struct Cluster {
    std::string name;
    std::string title;
    std::string source;
    Device device;
    HostMachine host;
    std::int32_t gpus_per_node = 1;
    Mapping mapping = Mapping::Block;
    std::optional<Link> node_link;  // between the GPUs of a node; required for more than one
    Link link;
    Fabric fabric;
    std::vector<MeasuredCollective> collectives;  // one at most of each name and number of ranks
    const MeasuredCollective* measured(std::string_view collective, std::int32_t ranks) const;  // nullptr: none
    // Of n = ceil(workers / gpus_per_node) nodes, worker r is on r / gpus_per_node (block; the last one may be partly
    // filled) or r % n (round-robin; their numbers differ by one at most); each dedicated server has a node of its own
    // behind them.
    std::int32_t node_of(std::int32_t rank, std::int32_t workers) const;
    std::int32_t nodes(std::int32_t ranks, std::int32_t workers) const;
    // How many workers in a row share a node: what a strategy that knows of nodes may build on.
    std::int32_t gpus_in_a_row() const { return mapping == Mapping::Block ? gpus_per_node : 1; }
};

// Reads the table of a cluster file (key by key; unknown keys are errors).
Cluster read_cluster(config::TableReader table);

}  // namespace coppice
