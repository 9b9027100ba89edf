#include "common/step/all_reduce.hpp"

#include "common/diag/error.hpp"
#include "common/schedule/verifier.hpp"
#include "common/version.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace coppice {

namespace {

void prove(AllReducePlan& plan) {
    plan.schedule = std::make_shared<const Schedule>(plan.choice.strategy->schedule(plan.collective_case));
    const Verdict verdict = verify(*plan.schedule);
    COPPICE_CHECK(verdict.ok(), "{}: {}", plan.label(), verdict.flaw->message);
    plan.schedule_hash = schedule_hash(*plan.schedule);
    plan.messages = verdict.traffic.messages;
}

Binding binding(const AllReduceSweep& sweep, const AllReducePlan& plan) {
    return {{{plan.bytes / sweep.element.bytes, sweep.element.bytes}}, {}};
}

Record describe(const AllReduceSweep& sweep, const AllReducePlan& plan) {
    Record record;
    record.scenario = sweep.scenario;
    record.scenario_hash = sweep.scenario_hash;
    record.seed = sweep.seed;
    record.cluster = sweep.cost.cluster().name;
    record.mode = "all-reduce";
    record.strategy_requested = plan.requested.canonical();
    record.gpus = plan.gpus();
    record.servers = plan.servers();
    record.gradient_type = sweep.element.record_name;
    record.gradient_bytes = static_cast<std::int64_t>(plan.bytes);
    record.version = kVersion;
    record.key = make_key(record);
    return record;
}

}  // namespace

std::string AllReducePlan::label() const {
    return fmt::format("{} on {} GPU{}, {} bytes", choice.canonical(), gpus(), gpus() == 1 ? "" : "s", bytes);
}

std::vector<AllReducePlan> plan_all_reduces(const AllReduceSweep& sweep) {
    std::vector<AllReducePlan> plans;
    for (const std::int64_t gpus : sweep.gpus) {
        std::map<std::string, AllReducePlan> proved;  // nothing of the proof depends on the size
        for (const std::uint64_t bytes : sweep.sizes) {
            for (const StrategyChoice& requested : sweep.strategies) {
                const Settled settled = settle(requested, case_on(sweep.cost.cluster(), gpus),
                                               bytes / sweep.element.bytes, sweep.element.bytes, &sweep.cost);
                AllReducePlan plan;
                plan.requested = requested;
                plan.choice = settled.choice;
                plan.collective_case = settled.collective;
                plan.bytes = bytes;
                plan.refusal = settled.refusal;
                if (!plan.refusal && plan.choice.strategy->schedule) {
                    AllReducePlan& first = proved[plan.choice.canonical()];
                    if (!first.schedule) {
                        first = plan;
                        prove(first);
                    }
                    plan.schedule = first.schedule;
                    plan.schedule_hash = first.schedule_hash;
                    plan.messages = first.messages;
                }
                plans.push_back(std::move(plan));
            }
        }
    }
    return plans;
}

std::vector<Record> predict_all_reduces(const AllReduceSweep& sweep, const std::vector<AllReducePlan>& plans,
                                        const Engine& engine) {
    std::vector<Record> records;
    std::vector<EngineJob> jobs;
    std::vector<std::size_t> timed;  // the record of each job
    for (const AllReducePlan& plan : plans) {
        Record record = describe(sweep, plan);
        record.kind = engine.kind;
        record.engine = engine.name;
        const auto refusal = plan.refusal
                                 ? plan.refusal
                                 : engine_refuses(engine, *plan.choice.strategy, plan.gpus(), sweep.cost.cluster());
        if (refusal) {
            record.status = "n/a";
            record.status_reason = *refusal;
        } else {
            const Binding bound = binding(sweep, plan);
            record.status = "ok";
            record.strategy = plan.choice.canonical();
            record.schedule_hash = plan.schedule_hash;
            if (plan.schedule) {
                record.messages = static_cast<std::int64_t>(plan.messages);
                record.bytes_sent = static_cast<std::int64_t>(bytes_sent(*plan.schedule, bound));
            }
            timed.push_back(records.size());
            jobs.push_back(
                {plan.label(), plan.schedule.get(), plan.choice.strategy, plan.collective_case, bound, sweep.cost});
        }
        records.push_back(std::move(record));
    }
    const std::vector<double> seconds = engine.run(jobs);
    COPPICE_CHECK(seconds.size() == jobs.size(), "engine {} answered {} of {} jobs", engine.name, seconds.size(),
                  jobs.size());
    for (std::size_t k = 0; k < jobs.size(); ++k) {
        COPPICE_CHECK(std::isfinite(seconds[k]) && seconds[k] >= 0, "{}: {} s", jobs[k].label, seconds[k]);
        set_all_reduce_time(records[timed[k]], seconds[k]);
    }
    return records;
}

void set_all_reduce_time(Record& record, double seconds) {
    record.allreduce_s = seconds;
    if (!(seconds > 0)) return;
    const auto n = static_cast<double>(record.gpus);
    record.algbw_bytes_per_s = static_cast<double>(record.gradient_bytes) / seconds;
    record.busbw_bytes_per_s = *record.algbw_bytes_per_s * 2 * (n - 1) / n;
}

}  // namespace coppice
