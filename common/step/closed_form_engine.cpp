#include "common/step/engine.hpp"
#include "common/step/fused_step.hpp"

namespace coppice {

namespace {

std::optional<std::string> refuses(std::int64_t workers, const Cluster& cluster) {
    const auto refusal = closed_forms_refuse(workers, cluster);
    if (!refusal) return std::nullopt;
    return *refusal + "; use the engine sim";
}

std::vector<double> run(const std::vector<EngineJob>& jobs) {
    std::vector<double> seconds;
    seconds.reserve(jobs.size());
    for (const EngineJob& job : jobs) {
        const TensorBinding& tensor = job.binding.tensors.at(0);
        double total_s =
            job.strategy->closed_form_s(job.collective_case, tensor.elements, tensor.element_bytes, job.cost);
        if (!job.binding.work_s.empty())
            total_s =
                job.binding.work_s.at(StepWorks::kComputeLargest) + total_s + job.binding.work_s.at(StepWorks::kUpdate);
        seconds.push_back(total_s);
    }
    return seconds;
}

}  // namespace

std::optional<std::string> engine_refuses(const Engine& engine, const Strategy& strategy, std::int64_t workers,
                                          const Cluster& cluster) {
    if (!strategy.closed_form_s && !engine.plays_schedules)
        return "an imported schedule has no closed form; use the engine sim";
    if (strategy.schedule) return engine.refuses(workers, cluster);
    if (engine.plays_schedules) return "measured times have no schedule to simulate; use --engine closed-form";
    return std::nullopt;
}

Engine closed_form_engine() {
    return {"closed-form", "prediction", refuses, run, false};
}

}  // namespace coppice
