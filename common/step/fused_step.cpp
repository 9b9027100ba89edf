#include "common/step/fused_step.hpp"

namespace coppice {

Schedule fused_step(const Schedule& collective, std::int64_t gpus_with_largest) {
    Schedule step = collective;
    const std::int32_t workers = collective.workers;

    Phase compute{.name = "forward and backward", .rounds = 1, .uniform = false, .rule = {}};
    compute.rule = [collective, workers, gpus_with_largest](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank >= workers) return;
        const std::uint32_t lanes = lane_count(collective, rank);
        ops.compute(lanes, rank < gpus_with_largest ? StepWorks::kComputeLargest : StepWorks::kComputeRest);
        for (std::uint32_t lane = 0; lane < lanes; ++lane) ops.wait(lane, lanes);
    };
    step.phases.insert(step.phases.begin(), std::move(compute));

    Phase update{.name = "update", .rounds = 1, .uniform = false, .rule = {}};
    update.rule = [collective, workers](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank >= workers) return;
        const std::uint32_t lanes = lane_count(collective, rank);
        ops.wait_all(lanes);
        ops.update(lanes, StepWorks::kUpdate);
    };
    step.phases.push_back(std::move(update));
    return step;
}

}  // namespace coppice
