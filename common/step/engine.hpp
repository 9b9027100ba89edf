// What times schedules: those of training steps, or of all-reduces alone. An engine is handed all jobs at once, so that
// it may run them side by side; it knows nothing of scenarios, sweeps and records.
#pragma once

#include "common/cost/cost_model.hpp"
#include "common/schedule/binding.hpp"
#include "common/strategy/strategy.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace coppice {

struct EngineJob {
    std::string label;                   // "tree on 32 GPUs, batch 1024"
    const Schedule* schedule = nullptr;  // proved; none: measured times; of a step
                                         // (common/step/fused_step.hpp) or of an all-reduce alone
    const Strategy* strategy = nullptr;  // that made it, or the all-reduce in it,
    CollectiveCase collective_case;      // for this case
    Binding binding;                     // of an all-reduce alone: without works
    CostModel cost;
};

struct Engine {
    std::string name;  // as records say it: "sim", "closed-form"
    std::string kind;  // of its records: "simulation", "prediction"
    // Why it cannot time so many workers on this cluster ("..., use the engine sim"), or nothing.
    std::function<std::optional<std::string>(std::int64_t workers, const Cluster&)> refuses;
    // Seconds from the start until the last worker is done, per job.
    std::function<std::vector<double>(const std::vector<EngineJob>&)> run;
    bool plays_schedules = false;  // so it has no time for a strategy that has none
};

// Why the engine cannot time this strategy for so many workers on this cluster, or nothing. Times that were measured
// need none of what closed forms assume of a cluster, but are no schedule.
std::optional<std::string> engine_refuses(const Engine& engine, const Strategy& strategy, std::int64_t workers,
                                          const Cluster& cluster);

// compute + the strategy's formula + update; of an all-reduce alone just the formula. Refuses clusters that the
// formulas know nothing of: several GPUs a node, a limited backplane.
Engine closed_form_engine();

}  // namespace coppice
