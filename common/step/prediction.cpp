#include "common/step/prediction.hpp"

#include "common/diag/error.hpp"
#include "common/schedule/verifier.hpp"
#include "common/step/fused_step.hpp"
#include "common/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace coppice {

std::string StepPlan::label() const {
    return fmt::format("{} on {} GPU{}, batch {}", choice.canonical(), gpus(), gpus() == 1 ? "" : "s", global_batch);
}

namespace {

// Gradients may travel in another type (workload.gradient_type); layers compute, and parameters are kept, in fp32.
constexpr std::uint32_t kComputeElementBytes = 4;

}  // namespace

Predictor::Predictor(const Scenario& scenario)
    : scenario_(scenario),
      cost_(scenario.cluster),
      compute_(scenario.cluster, scenario.workload.network, scenario.workload.heads, kComputeElementBytes),
      update_s_(
          cost_.update_s(count(scenario.workload.network, scenario.workload.heads).parameters * kComputeElementBytes)) {
    const Baseline& baseline = scenario.baseline;
    if (!baseline.measured) return;
    // A measured iteration includes the update, so that one GPU is predicted to run at just the measured rate.
    const double measured_s = static_cast<double>(*baseline.batch) / *baseline.samples_per_s;
    if (measured_s <= update_s_)
        throw UserError({{scenario.name},
                         "baseline",
                         fmt::format("{:.4g} s for a measured step of {} samples", measured_s, *baseline.batch),
                         fmt::format("more than the {:.4g} s that the update of the parameters alone takes", update_s_),
                         "is the rate, or device.update_rate, off by a unit?"});
    compute_.anchor({static_cast<double>(*baseline.batch) / (measured_s - update_s_), *baseline.batch});
}

ProvedStep Predictor::prove(const StepPlan& plan) const {
    ProvedStep step;
    step.schedule = std::make_shared<const Schedule>(
        fused_step(plan.choice.strategy->schedule(plan.collective_case), plan.share.gpus_with_largest));
    const Verdict verdict = verify(*step.schedule);
    COPPICE_CHECK(verdict.ok(), "{}: {}", plan.label(), verdict.flaw->message);
    const Binding bound = binding(plan, 1);
    step.schedule_hash = schedule_hash(*step.schedule);
    step.messages = verdict.traffic.messages;
    step.bytes_sent = coppice::bytes_sent(*step.schedule, bound);
    step.staging_bytes = largest_staging_bytes(*step.schedule, bound);
    return step;
}

std::vector<StepPlan> Predictor::plan() const {
    std::vector<StepPlan> plans;
    for (const std::string& name : scenario_.strategies) {
        const StrategyChoice requested = parse_strategy(name, {scenario_.name, 0, 0}, "sweep.strategies");
        // Nothing of it depends on the batch but who has the largest share: two batches need two proofs only where they
        // divide the GPUs differently.
        std::map<std::pair<std::int64_t, std::int64_t>, ProvedStep> proved;
        for (const std::int64_t batch : scenario_.training.batches) {
            for (const std::int64_t gpus : scenario_.gpus) {
                const Settled settled =
                    settle(requested, case_on(scenario_.cluster, gpus), scenario_.workload.gradient_elements,
                           scenario_.workload.element_bytes, &cost_);
                StepPlan plan;
                plan.requested = requested;
                plan.choice = settled.choice;
                plan.collective_case = settled.collective;
                plan.refusal = settled.refusal;
                plan.global_batch = scenario_.training.scaling == Scaling::Strong ? batch : batch * gpus;
                plan.share = share_batch(plan.global_batch, gpus);
                if (!plan.refusal && plan.choice.strategy->schedule) {
                    ProvedStep& entry = proved[{gpus, plan.share.gpus_with_largest}];
                    if (!entry.schedule) entry = prove(plan);
                    plan.step = entry;
                }
                plans.push_back(std::move(plan));
            }
        }
    }
    return plans;
}

StepCosts Predictor::step_costs(const StepPlan& plan) const {
    const std::int64_t largest = plan.share.largest;
    // With one sample less than one there is nothing to compute; no worker has that share then (share_batch).
    const double shrink = scenario_.workload.shrink;
    return {compute_.step_s(largest) / shrink, largest > 1 ? compute_.step_s(largest - 1) / shrink : 0,
            update_s_ / shrink};
}

Binding Predictor::binding(const StepPlan& plan, double compute_factor) const {
    const StepCosts costs = step_costs(plan);
    const Workload& workload = scenario_.workload;
    return {{{workload.gradient_elements, workload.element_bytes}},
            {costs.compute_s * compute_factor, costs.compute_rest_s * compute_factor, costs.update_s}};
}

double Predictor::baseline_rate(std::int64_t batch_of_point) const {
    const Baseline& baseline = scenario_.baseline;
    const double shrink = scenario_.workload.shrink;
    if (baseline.measured) return *baseline.samples_per_s * shrink;
    const std::int64_t batch = baseline.batch.value_or(batch_of_point);
    return static_cast<double>(batch) / (compute_.step_s(batch) + update_s_) * shrink;
}

Record Predictor::describe(const StepPlan& plan) const {
    const Workload& workload = scenario_.workload;
    Record record;
    record.scenario = scenario_.name;
    record.scenario_hash = scenario_.hash;
    record.cluster = scenario_.cluster.name;
    record.model = workload.network.name;
    record.mode = scenario_.training.mode;
    record.scaling = scenario_.training.scaling == Scaling::Strong ? "strong" : "weak";
    record.strategy_requested = plan.requested.canonical();
    record.gpus = plan.gpus();
    record.servers = plan.servers();
    record.global_batch = plan.global_batch;
    record.batch_per_gpu = plan.share.largest;
    record.gradient_type = workload.gradient_type;
    record.gradient_bytes = static_cast<std::int64_t>(workload.gradient_bytes());
    record.shrink = workload.shrink;
    record.version = std::string(kVersion);
    record.seed = scenario_.seed;
    record.key = make_key(record);
    return record;
}

void Predictor::fill(Record& record, const StepPlan& plan, double step_s) const {
    const StepCosts costs = step_costs(plan);
    const Baseline& baseline = scenario_.baseline;
    const Training& training = scenario_.training;
    record.step_s = step_s;
    record.compute_s = costs.compute_s;
    record.update_s = costs.update_s;
    // Without messages the difference is rounding.
    const double rest_s = step_s - costs.compute_s - costs.update_s;
    COPPICE_CHECK(std::isfinite(step_s) && rest_s >= -1e-6 * step_s,
                  "{}: a step of {} s with {} s of compute and {} s of update", plan.label(), step_s, costs.compute_s,
                  costs.update_s);
    const bool silent = plan.step.schedule ? plan.step.messages == 0 : plan.gpus() == 1;
    record.exposed_comm_s = silent ? 0 : std::max(0.0, rest_s);
    if (plan.step.schedule) {
        record.messages = static_cast<std::int64_t>(plan.step.messages);
        record.bytes_sent = static_cast<std::int64_t>(plan.step.bytes_sent);
    }
    if (plan.gpus() > 1 && *record.exposed_comm_s > 0) {
        const auto n = static_cast<double>(plan.gpus());
        record.algbw_bytes_per_s = static_cast<double>(record.gradient_bytes) / *record.exposed_comm_s;
        record.busbw_bytes_per_s = *record.algbw_bytes_per_s * 2 * (n - 1) / n;
    }
    record.samples_per_s = static_cast<double>(plan.global_batch) / step_s;

    const std::int64_t one_gpu_batch = training.scaling == Scaling::Strong ? plan.global_batch : plan.share.largest;
    const double base_rate = baseline_rate(one_gpu_batch);
    record.baseline = baseline.measured ? "measured" : "modelled";
    record.baseline_device = baseline.device;
    record.baseline_batch = baseline.batch.value_or(one_gpu_batch);
    record.baseline_samples_per_s = base_rate;
    record.baseline_epochs = baseline.epochs;
    record.speedup_of = baseline.speedup_of == SpeedupOf::TrainTime ? "train-time" : "rate";
    double speedup = *record.samples_per_s / base_rate;
    if (training.epochs) {
        record.epochs = training.epochs;
        // Steps that were made shorter train nothing: there are no hours of them.
        if (scenario_.workload.shrink == 1)
            record.train_hours = *training.epochs * *training.samples_per_epoch / *record.samples_per_s / 3600;
        if (baseline.speedup_of == SpeedupOf::TrainTime) speedup *= *baseline.epochs / *training.epochs;
    }
    record.speedup = speedup;
    record.efficiency = speedup / static_cast<double>(plan.gpus());
}

Record Predictor::timed(const StepPlan& plan, double step_s) const {
    Record record = describe(plan);
    record.status = "ok";
    record.strategy = plan.choice.canonical();
    record.schedule_hash = plan.step.schedule_hash;
    fill(record, plan, step_s);
    return record;
}

Record Predictor::refused(const StepPlan& plan, const std::string& reason) const {
    Record record = describe(plan);
    record.status = "n/a";
    record.status_reason = reason;
    return record;
}

std::optional<std::string> Predictor::compare(Record& record) const {
    if (scenario_.workload.shrink != 1) return std::nullopt;  // what was published is of the whole network
    for (const PublishedPoint& point : scenario_.published) {
        if (point.strategy != record.strategy_requested || point.gpus != record.gpus ||
            point.global_batch != record.global_batch)
            continue;
        record.published_speedup = point.speedup;
        record.published_speedup_high = point.speedup_high;
        if (point.train_s) record.published_train_hours = *point.train_s / 3600;
        record.published_use = point.used_for_fit ? "fit" : "check";
        if (!record.speedup) return std::nullopt;
        // Between two published values nothing is wrong; outside, the nearer one counts.
        const double nearest = std::clamp(*record.speedup, point.speedup, point.speedup_high.value_or(point.speedup));
        record.published_error = *record.speedup / nearest - 1;
        if (std::abs(*record.published_error) <= point.tolerance) return std::nullopt;
        return fmt::format(
            "{} on {} GPUs, batch {}: a speedup of {:.4g} misses the published {:.4g} by more than the {:.3g} % that "
            "the scenario allows",
            point.strategy, point.gpus, point.global_batch, *record.speedup, point.speedup, point.tolerance * 100);
    }
    return std::nullopt;
}

std::vector<std::string> Predictor::warnings(const std::vector<StepPlan>& plans) const {
    std::vector<std::string> found;
    const double device_bytes = scenario_.cluster.device.memory_bytes;
    const StepPlan* worst = nullptr;
    std::pair<double, double> worst_needs;
    std::int64_t most_gpus = 0;
    for (const StepPlan& plan : plans) {
        const double training = compute_.memory_bytes(plan.share.largest);
        const auto staging = static_cast<double>(plan.step.staging_bytes);
        if (training + staging <= device_bytes) continue;
        if (!worst || training + staging > worst_needs.first + worst_needs.second) {
            worst = &plan;
            worst_needs = {training, staging};
        }
        most_gpus = std::max(most_gpus, plan.gpus());
    }
    // One sentence for all points: a sweep that begins with one GPU has several.
    if (worst) {
        const auto size = [](double bytes) { return format_rounded(bytes, Dimension::Bytes); };
        found.push_back(fmt::format(
            "a {} has {}, less than some points (on up to {} GPU{}) need: {} takes {} for weights, gradients, "
            "momentum and activations of {} samples{}",
            scenario_.cluster.device.name, size(device_bytes), most_gpus, most_gpus == 1 ? "" : "s", worst->label(),
            size(worst_needs.first), worst->share.largest,
            worst_needs.second > 0 ? fmt::format(" and {} for messages that arrive", size(worst_needs.second)) : ""));
    }
    std::size_t outside = 0;
    for (const PublishedPoint& point : scenario_.published)
        outside += std::none_of(plans.begin(), plans.end(), [&](const StepPlan& plan) {
            return plan.requested.canonical() == point.strategy && plan.gpus() == point.gpus &&
                   plan.global_batch == point.global_batch;
        });
    if (outside > 0)
        found.push_back(
            fmt::format("{} of {} published points are outside of this sweep", outside, scenario_.published.size()));
    return found;
}

namespace {

Cluster with_links_scaled(const Cluster& cluster, double bandwidth, double latency) {
    Cluster scaled = cluster;
    const auto scale = [&](Link& link) {
        for (std::vector<LinkSegment>* segments : {&link.segments, &link.both_ways}) {
            for (LinkSegment& segment : *segments) {
                segment.bytes_per_s *= bandwidth;
                segment.latency_s *= latency;
            }
        }
    };
    scale(scaled.link);
    if (scaled.node_link) scale(*scaled.node_link);
    if (scaled.fabric.backplane_bytes_per_s) *scaled.fabric.backplane_bytes_per_s *= bandwidth;
    return scaled;
}

Cluster with_sums_scaled(const Cluster& cluster, double factor) {
    Cluster scaled = cluster;
    scaled.device.sum_bytes_per_s *= factor;
    scaled.host.sum_bytes_per_s *= factor;
    return scaled;
}

}  // namespace

// Base points first, then four variations of each varied one, so that an engine gets all in one go.
std::vector<EngineJob> Predictor::jobs(const std::vector<StepPlan>& plans, const std::vector<std::size_t>& priced,
                                       const std::vector<std::size_t>& varied) const {
    std::vector<EngineJob> all;
    const auto add = [&](std::size_t i, double compute_factor, const CostModel& cost) {
        const StepPlan& plan = plans[i];
        all.push_back({plan.label(), plan.step.schedule.get(), plan.choice.strategy, plan.collective_case,
                       binding(plan, compute_factor), cost});
    };
    for (const std::size_t i : priced) add(i, 1, cost_);
    for (const std::size_t i : varied) {
        add(i, 1, CostModel(with_links_scaled(scenario_.cluster, 2, 1)));
        add(i, 1, CostModel(with_links_scaled(scenario_.cluster, 1, 2)));
        add(i, 0.5, cost_);
        add(i, 1, CostModel(with_sums_scaled(scenario_.cluster, 2)));
    }
    return all;
}

Prediction Predictor::predict(const std::vector<StepPlan>& plans, const Engine& engine) const {
    std::vector<std::optional<std::string>> refusals;
    std::vector<std::size_t> priced;
    std::vector<std::size_t> varied;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        refusals.push_back(plans[i].refusal
                               ? plans[i].refusal
                               : engine_refuses(engine, *plans[i].choice.strategy, plans[i].gpus(), scenario_.cluster));
        if (refusals[i]) continue;
        priced.push_back(i);
        const bool most_gpus = i + 1 == plans.size() || plans[i + 1].gpus() <= plans[i].gpus();
        // What another link would do to a measured time is not in it.
        if (most_gpus && plans[i].step.schedule) varied.push_back(i);
    }
    const std::vector<EngineJob> all = jobs(plans, priced, varied);
    const std::vector<double> seconds = engine.run(all);
    COPPICE_CHECK(seconds.size() == all.size(), "engine {} answered {} of {} jobs", engine.name, seconds.size(),
                  all.size());

    Prediction prediction;
    std::map<std::size_t, double> step_of;
    for (std::size_t k = 0; k < priced.size(); ++k) step_of[priced[k]] = seconds[k];
    prediction.warnings = warnings(plans);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        Record record = refusals[i] ? refused(plans[i], *refusals[i]) : timed(plans[i], step_of.at(i));
        record.kind = engine.kind;
        record.engine = engine.name;
        if (const std::optional<std::string> missed = compare(record)) prediction.warnings.push_back(*missed);
        prediction.records.push_back(std::move(record));
    }
    for (std::size_t k = 0; k < varied.size(); ++k) {
        const StepPlan& plan = plans[varied[k]];
        const double* changed = &seconds[priced.size() + 4 * k];
        const double base = step_of.at(varied[k]);
        prediction.sensitivities.push_back({plan.choice.canonical(), plan.gpus(), plan.global_batch,
                                            changed[0] / base - 1, changed[1] / base - 1, changed[2] / base - 1,
                                            changed[3] / base - 1});
    }
    return prediction;
}

}  // namespace coppice
