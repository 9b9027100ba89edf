#include "sim/platform.hpp"

#include "common/diag/error.hpp"
#include "sim/simgrid_headers.hpp"

#include <xbt/log.h>

#include <algorithm>
#include <string>
#include <vector>

namespace coppice {

namespace sg = simgrid::s4u;

namespace {

// What weight-S adds to a route's latency (seconds) per link of the fabric's bandwidth. Large next to any latency, yet
// its inverse must stay large next to the solver's precision below.
constexpr double kEqualWeight_s = 100;
constexpr double kSolverPrecision = 1e-9;

// Not a limit: TCP-gamma caps a flow at gamma / (2 latency), weight and loopback must not matter.
constexpr double kUnlimited = 1e30;

class PlatformBuilder {
public:
    PlatformBuilder(const Cluster& cluster, std::int32_t workers, std::int32_t ranks)
        : cluster_(cluster), workers_(workers), ranks_(ranks), fabric_(sg::create_star_zone("fabric")) {}

    SimPlatform build() {
        if (cluster_.fabric.backplane_bytes_per_s) {
            backplane_.emplace_back(
                fabric_->create_link("backplane", *cluster_.fabric.backplane_bytes_per_s)->set_latency(0)->seal());
        }
        platform_.devices.resize(static_cast<std::size_t>(ranks_));
        std::vector<std::vector<Rank>> nodes(static_cast<std::size_t>(cluster_.nodes(ranks_, workers_)));
        for (Rank rank = 0; rank < ranks_; ++rank)
            nodes[static_cast<std::size_t>(cluster_.node_of(rank, workers_))].push_back(rank);
        // All nodes the one way or all the other: a star zone of SimGrid 3.32 that holds hosts beside zones gives its
        // first host a wrong route to them (the links inside the zone are missing).
        for (std::size_t node = 0; node < nodes.size(); ++node) {
            if (cluster_.gpus_per_node == 1)
                add_single_node(nodes[node].front());
            else
                add_shared_node(node, nodes[node]);
        }
        if (cluster_.link.overhead_s > 0 || (cluster_.node_link && cluster_.node_link->overhead_s > 0)) add_senders();
        if (!cluster_.link.both_ways.empty() || (cluster_.node_link && !cluster_.node_link->both_ways.empty()))
            add_clocks();
        fabric_->seal();
        return platform_;
    }

private:
    using Rank = std::int32_t;
    using Links = std::vector<sg::LinkInRoute>;

    struct UpDown {
        const sg::Link* up;
        const sg::Link* down;
    };

    static UpDown make_links(sg::NetZone* zone, const std::string& name, const Link& link) {
        const double half_s = link.latency_s() / 2;
        const auto make = [&](const char* direction) {
            return zone->create_link(name + direction, link.bytes_per_s())->set_latency(half_s)->seal();
        };
        return {make(" up"), make(" down")};
    }

    sg::Host* make_device(sg::NetZone* zone, Rank rank) {
        sg::Host* host = zone->create_host("device " + std::to_string(rank), 1.0);
        host->seal();
        return platform_.devices[static_cast<std::size_t>(rank)] = host;
    }

    void add_single_node(Rank rank) {
        const sg::Host* host = make_device(fabric_, rank);
        const UpDown nic =
            make_links(fabric_, "node " + std::to_string(cluster_.node_of(rank, workers_)), cluster_.link);
        Links up{sg::LinkInRoute(nic.up)};
        up.insert(up.end(), backplane_.begin(), backplane_.end());
        fabric_->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, up, false);
        fabric_->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {sg::LinkInRoute(nic.down)}, false);
    }

    // A zone of its own, in which every pair of devices has its route, and from which the node's link leads out.
    void add_shared_node(std::size_t node, const std::vector<Rank>& ranks) {
        COPPICE_CHECK(cluster_.node_link.has_value(), "cluster '{}' has several GPUs a node and no link between them",
                      cluster_.name);
        const std::string name = "node " + std::to_string(node);
        sg::NetZone* zone = sg::create_full_zone(name)->set_parent(fabric_);
        auto* gateway = zone->create_router(name + " gateway");
        const UpDown nic = make_links(zone, name, cluster_.link);
        std::vector<UpDown> links;
        for (const Rank rank : ranks) {
            auto* device = make_device(zone, rank)->get_netpoint();
            zone->add_route(device, gateway, nullptr, nullptr, {sg::LinkInRoute(nic.up)}, false);
            zone->add_route(gateway, device, nullptr, nullptr, {sg::LinkInRoute(nic.down)}, false);
            links.push_back(make_links(zone, "device " + std::to_string(rank), *cluster_.node_link));
        }
        const auto point = [&](std::size_t i) {
            return platform_.devices[static_cast<std::size_t>(ranks[i])]->get_netpoint();
        };
        for (std::size_t from = 0; from < ranks.size(); ++from) {
            for (std::size_t to = 0; to < ranks.size(); ++to) {
                if (from == to) continue;
                zone->add_route(point(from), point(to), nullptr, nullptr,
                                {sg::LinkInRoute(links[from].up), sg::LinkInRoute(links[to].down)}, false);
            }
        }
        zone->seal();
        fabric_->add_route(zone->get_netpoint(), nullptr, gateway, nullptr, backplane_, false);
        fabric_->add_route(nullptr, zone->get_netpoint(), nullptr, gateway, {}, false);
    }

    void add_senders() {
        for (Rank rank = 0; rank < ranks_; ++rank) {
            sg::Host* host = fabric_->create_host("sender " + std::to_string(rank), 1.0);
            host->seal();
            platform_.senders.push_back(host);
        }
    }

    void add_clocks() {
        constexpr int kCores = 4096;  // more than a rank has messages under way, so that they do not share one
        for (Rank rank = 0; rank < ranks_; ++rank) {
            sg::Host* host = fabric_->create_host("clock " + std::to_string(rank), 1.0)->set_core_count(kCores);
            host->seal();
            platform_.clocks.push_back(host);
        }
    }

    const Cluster& cluster_;
    std::int32_t workers_;
    std::int32_t ranks_;
    sg::NetZone* fabric_;
    Links backplane_;
    SimPlatform platform_;
};

std::unique_ptr<sg::Engine> make_engine() {
#ifdef __SANITIZE_ADDRESS__
    // ASan cannot follow SimGrid's own stack switching, but it can follow threads. The kind of context is settled when
    // the engine starts, so it must come as an argument.
    std::string program = "coppice";
    std::string threads = "--cfg=contexts/factory:thread";
    std::string quiet = "--log=root.thresh:critical";  // that the setting was accepted
    char* arguments[] = {program.data(), threads.data(), quiet.data(), nullptr};
    int count = 3;
    return std::make_unique<sg::Engine>(&count, arguments);
#else
    return std::make_unique<sg::Engine>("coppice");
#endif
}

}  // namespace

std::unique_ptr<sg::Engine> start_simgrid(double link_bytes_per_s, double horizon_s) {
    auto engine = make_engine();
    // Its messages are for people who write simulators; ours are COPPICE_CHECKs.
    xbt_log_control_set("root.thresh:critical");
    const auto set = [](const char* key, auto value) { sg::Engine::set_config(key, value); };
    set("network/model", std::string("CM02"));
    set("network/crosstraffic", false);
    set("network/TCP-gamma", kUnlimited);
    set("network/weight-S", kEqualWeight_s * link_bytes_per_s);
    // No rank sends to itself; if it ever did, its 10 GB/s default would be one more number from nowhere.
    set("network/loopback-bw", kUnlimited);
    set("network/loopback-lat", 0.0);
    // Events closer than this are one event. The default (1 ns) is 1 % of a message of 1 kB. It must stay above the
    // rounding of the clock, 2.2e-16 of its value.
    const double clock_precision_s = std::max(1e-12, 1e-15 * horizon_s);
#if SIMGRID_VERSION >= 40000  // renamed
    set("precision/timing", clock_precision_s);
    set("precision/work-amount", kSolverPrecision);
#else
    set("surf/precision", clock_precision_s);
    set("maxmin/precision", kSolverPrecision);
#endif
    // An actor a rank, none of them deep. The default of 8 MiB each is 8 GiB of address space for 1024 ranks.
    set("contexts/stack-size", 256);
    return engine;
}

SimPlatform build_platform(const Cluster& cluster, std::int32_t workers, std::int32_t ranks) {
    return PlatformBuilder(cluster, workers, ranks).build();
}

}  // namespace coppice
