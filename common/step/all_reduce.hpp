// From a list of sizes to records of mode "all-reduce": plans each all-reduce (GPUs x size x strategy) without a
// training step around it, proves its schedule, and has an engine time it. The records have the keys of what
// `coppice-run bench` measures, so the two join.
#pragma once

#include "common/cost/cost_model.hpp"
#include "common/result/record.hpp"
#include "common/step/engine.hpp"
#include "common/strategy/strategy.hpp"
#include "common/units/element.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coppice {

struct AllReduceSweep {
    CostModel cost;
    std::vector<StrategyChoice> strategies;
    std::vector<std::int64_t> gpus;
    std::vector<std::uint64_t> sizes;  // bytes, whole elements
    Element element;
    std::string scenario;  // from which the sweep comes; may be empty, as the next
    std::string scenario_hash;
    std::int64_t seed = 0;
};

struct AllReducePlan {
    StrategyChoice requested;
    StrategyChoice choice;  // what runs: another where the requested one leaves something open
    CollectiveCase collective_case;
    std::uint64_t bytes = 0;
    std::optional<std::string> refusal;        // then there is no schedule
    std::shared_ptr<const Schedule> schedule;  // proved; one for all sizes of a choice; none: measured times
    std::string schedule_hash;
    std::uint64_t messages = 0;  // over all ranks
    std::int64_t gpus() const { return collective_case.workers; }
    std::int64_t servers() const { return schedule ? schedule->servers() : 0; }
    std::string label() const;  // "tree on 32 GPUs, 1048576 bytes"
};

// In the order of the records: GPUs, then sizes, then strategies, so that strategies stand side by side. A schedule
// that the verifier refuses is coppice's own fault: COPPICE_CHECK.
std::vector<AllReducePlan> plan_all_reduces(const AllReduceSweep& sweep);

std::vector<Record> predict_all_reduces(const AllReduceSweep& sweep, const std::vector<AllReducePlan>& plans,
                                        const Engine& engine);

// The time of an all-reduce alone and the bandwidths that follow from it (none where it takes no time).
void set_all_reduce_time(Record& record, double seconds);

}  // namespace coppice
