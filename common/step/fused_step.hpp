// A training step in `fused` mode (FireCaffe): every worker computes forward and backward, then one message with all
// gradients goes through the collective, then every worker updates its parameters. Nothing overlaps.
//
//   lane L (the lane behind the collective's own)   compute ────────┐                        ┌──▶ update
//   lanes 0..L-1                                                    └─wait─▶ all-reduce ─wait─┘
#pragma once

#include "common/schedule/schedule.hpp"

namespace coppice {

// Works of the step's binding (Binding::work_s).
struct StepWorks {
    static constexpr std::uint32_t kComputeLargest = 0;  // forward and backward of the largest share of the batch
    static constexpr std::uint32_t kComputeRest = 1;     // ... of one sample less
    static constexpr std::uint32_t kUpdate = 2;
};

// The first `gpus_with_largest` workers compute kComputeLargest, the others kComputeRest. Servers only serve.
Schedule fused_step(const Schedule& collective, std::int64_t gpus_with_largest);

}  // namespace coppice
