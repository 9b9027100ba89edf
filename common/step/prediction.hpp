// From a scenario to records: plans every point of the sweep (strategy x batch x GPUs), proves its schedule, has an
// engine time the step, and derives rates, speedups and hours. Knows no executor but what an engine is (engine.hpp).
#pragma once

#include "common/cost/compute_model.hpp"
#include "common/cost/cost_model.hpp"
#include "common/result/record.hpp"
#include "common/scenario/scenario.hpp"
#include "common/schedule/binding.hpp"
#include "common/step/engine.hpp"
#include "common/strategy/strategy.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coppice {

// The schedule of a whole step, proved, and what follows from it.
struct ProvedStep {
    std::shared_ptr<const Schedule> schedule;
    std::string schedule_hash;
    std::uint64_t messages = 0;       // of the all-reduce
    std::uint64_t bytes_sent = 0;     // of the all-reduce, over all ranks
    std::uint64_t staging_bytes = 0;  // beside the gradients, at the worker that needs most (largest_staging_bytes)
};

// A step, ready to be timed.
struct StepPlan {
    StrategyChoice requested;
    StrategyChoice choice;  // what runs: another where the requested one leaves something open
    CollectiveCase collective_case;
    std::int64_t global_batch = 0;
    BatchShare share;
    std::optional<std::string> refusal;  // then there is no schedule
    ProvedStep step;                     // empty for a strategy that has times only
    std::int64_t gpus() const { return collective_case.workers; }
    std::int64_t servers() const { return step.schedule ? step.schedule->servers() : 0; }
    std::string label() const;  // "tree on 32 GPUs, batch 1024"
};

// What a step's time is made of besides communication.
struct StepCosts {
    double compute_s = 0;       // of the largest share
    double compute_rest_s = 0;  // of one sample less
    double update_s = 0;
};

// How much a doubling of one thing changes the step time, relative: -0.4 is 40 % faster.
struct Sensitivity {
    std::string strategy;
    std::int64_t gpus = 0;
    std::int64_t global_batch = 0;
    double link_bandwidth = 0;
    double link_latency = 0;
    double compute_rate = 0;
    double summing_rate = 0;
};

struct Prediction {
    std::vector<Record> records;
    std::vector<Sensitivity> sensitivities;  // per strategy and batch, at its most GPUs
    std::vector<std::string> warnings;       // memory, published points outside of the sweep or of their band
};

class Predictor {
public:
    explicit Predictor(const Scenario& scenario);

    // Plans of the whole sweep, in the order of the records.
    std::vector<StepPlan> plan() const;

    Prediction predict(const std::vector<StepPlan>& plans, const Engine& engine) const;

    // Batches that do not fit into a device's memory; published points that the sweep does not meet.
    std::vector<std::string> warnings(const std::vector<StepPlan>& plans) const;

    const CostModel& cost() const { return cost_; }
    StepCosts step_costs(const StepPlan& plan) const;
    Binding binding(const StepPlan& plan, double compute_factor = 1) const;

    // The record of a point: what was asked for; with the time of its step and all that follows from it; or with why
    // there is none. Kind and engine are the caller's to say.
    Record timed(const StepPlan& plan, double step_s) const;
    Record refused(const StepPlan& plan, const std::string& reason) const;

private:
    // A schedule that the verifier refuses is coppice's own fault: COPPICE_CHECK.
    ProvedStep prove(const StepPlan& plan) const;
    std::vector<EngineJob> jobs(const std::vector<StepPlan>& plans, const std::vector<std::size_t>& priced,
                                const std::vector<std::size_t>& varied) const;
    Record describe(const StepPlan& plan) const;
    void fill(Record& record, const StepPlan& plan, double step_s) const;
    // Fills the published fields; says so if the point leaves the band that the scenario allows.
    std::optional<std::string> compare(Record& record) const;
    double baseline_rate(std::int64_t batch_of_point) const;

    const Scenario& scenario_;
    CostModel cost_;
    ComputeModel compute_;
    double update_s_ = 0;
};

}  // namespace coppice
