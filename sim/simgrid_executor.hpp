// Plays a schedule in SimGrid: the interpreter's RankProgram on an actor a rank, messages as communications that share
// links max-min fairly, sums, copies and works as executions that share the rank's device.
//
//   rank's RankProgram ── start_send / start_recv ──▶ mailbox (sender, receiver, channel) ──▶ links of the platform
//                      ── start_sum / copy / work ──▶ the device's host
//
// What each thing costs is CostModel's matter: a message of n bytes that is alone takes message_s(n) (by a rate cap
// where its segment is slower than the link), a send first costs overhead_s() on a processor that sends one after
// another, sums run at the device's or, on a dedicated server, at the host's rate. See platform.hpp for the machine.
//
// One engine a process: simulate() may be called once; simulate_isolated runs each job in a child of its own.
#pragma once

#include "common/cost/cost_model.hpp"
#include "common/schedule/binding.hpp"
#include "common/schedule/interpreter.hpp"
#include "common/schedule/schedule.hpp"
#include "sim/isolate.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace coppice {

struct SimOptions {
    bool count_traffic = false;      // fills SimResult::traffic
    OpObserver* observer = nullptr;  // its clock is simulated_now_s()
};

struct SimPairTraffic {
    Rank from = 0;
    Rank to = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    friend bool operator==(const SimPairTraffic&, const SimPairTraffic&) = default;
};

struct SimResult {
    double total_s = 0;                   // until the last rank ends
    std::vector<double> rank_end_s;       // by rank
    std::vector<SimPairTraffic> traffic;  // by (from, to), ascending; only if asked for
    double workers_end_s(std::int32_t workers) const;
};

// The schedule must be proved: a deadlock in here is a COPPICE_CHECK that names the operations which wait.
SimResult simulate(const Schedule& schedule, const Binding& binding, const CostModel& cost,
                   const SimOptions& options = {});

// The simulated clock, for observers during simulate().
double simulated_now_s();

struct SimJob {
    std::string label;  // as in IsolatedJob
    const Schedule* schedule = nullptr;
    Binding binding;
    CostModel cost;
    bool count_traffic = false;
};

// The jobs' results, each simulated in a process of its own; errors as run_isolated.
std::vector<SimResult> simulate_isolated(const std::vector<SimJob>& jobs, const IsolateOptions& options = {});

}  // namespace coppice
