// Short cuts for tests of the simulator: clusters with round numbers, and one simulation in a process of its own.
#pragma once

#include "common/cost/cost_model.hpp"
#include "common/schedule/binding.hpp"
#include "sim/simgrid_executor.hpp"

#include <limits>

namespace coppice::testing {

constexpr double kAlpha_s = 1e-6;
constexpr double kB = 12.5e9;  // bytes/s

// The machine of tests/published/reference_collectives.csv: 12.5e9 B/s each way, 1 us end to end, sums cost nothing.
inline Cluster reference_cluster() {
    Cluster cluster;
    cluster.name = "reference";
    cluster.link.segments = {{0, kAlpha_s, kB}};
    cluster.device.sum_bytes_per_s = std::numeric_limits<double>::infinity();
    cluster.device.memory_bytes_per_s = std::numeric_limits<double>::infinity();
    cluster.device.update_bytes_per_s = std::numeric_limits<double>::infinity();
    cluster.host.sum_bytes_per_s = std::numeric_limits<double>::infinity();
    return cluster;
}

inline SimJob sim_job(const Schedule& schedule, const Binding& binding, const Cluster& cluster) {
    return {"simulate " + schedule.strategy, &schedule, binding, CostModel(cluster), true};
}

inline SimResult simulate_once(const Schedule& schedule, const Binding& binding, const Cluster& cluster) {
    return simulate_isolated({sim_job(schedule, binding, cluster)}).front();
}

}  // namespace coppice::testing
