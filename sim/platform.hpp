// The simulated machine: a Cluster as SimGrid hosts, links and routes, and the settings under which SimGrid computes
// what docs/cost-model.md says. Rates in bytes/s, times in seconds.
//
//   a node with one GPU           a node with several GPUs
//
//   device ── up ──▶ fabric       device ── device up ──▶ switch ── device down ──▶ device    (node_link)
//          ◀─ down ──             device ──────────── the node's up ──▶ fabric                (link)
//
// - Each node has an up and a down link of CostModel::link_bytes_per_s(), each with half of latency_s(): a route
// between
//   nodes has exactly latency_s(). All GPUs of a node share them. A dedicated server is a node with one host.
// - GPUs of a node reach each other through a full-duplex link each of node_link's bandwidth and latency.
// - A backplane link, shared by all traffic between nodes in both directions, only if the cluster has one. Nothing else
//   is shared by all: a link in every route joins all flows into one max-min system, which costs 40 % of the run time.
// - A device's host computes one second of work a second; several works at a time share it equally.
// - CPU overhead of sending is spent on another host of the rank: it is serial per rank but takes nothing from the GPU.
#pragma once

#include "common/cost/cost_model.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace simgrid::s4u {
class Engine;
class Host;
}  // namespace simgrid::s4u

namespace coppice {

// The engine, set up. Once per process, before anything else of SimGrid. `horizon_s` is a generous guess of the
// simulated duration, by which the precision of the clock is chosen. Prints nothing, reads nobody's argv.
//
// CM02 without cross-traffic is max-min sharing with the exact latency and bandwidth. CM02 gives flows of higher
// latency a smaller share of a link (weight 1 / latency); here that must not be, so weight-S adds a constant to the
// latency next to which all latencies vanish: two flows of 1 us and 100 us get halves to within 1e-6.
std::unique_ptr<simgrid::s4u::Engine> start_simgrid(double link_bytes_per_s, double horizon_s);

struct SimPlatform {
    std::vector<simgrid::s4u::Host*> devices;  // by rank
    std::vector<simgrid::s4u::Host*> senders;  // by rank; empty if sending has no overhead
    std::vector<simgrid::s4u::Host*> clocks;   // by rank: wait there, as many at a time as you like; empty as above if
                                               // no link is slower both ways
};

// Builds and seals the platform of `ranks` ranks, of which the first `workers` are GPUs.
SimPlatform build_platform(const Cluster& cluster, std::int32_t workers, std::int32_t ranks);

}  // namespace coppice
