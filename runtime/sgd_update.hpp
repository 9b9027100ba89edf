// The optimiser's step as training frameworks have it: SGD with momentum,
//     m = momentum m + g,   w = w - rate m
// reading w, m, g and writing w, m (the five passes behind the cost model's default update rate). In host memory.
#pragma once

#include <cstdint>

namespace coppice {

struct SgdStep {
    float rate = 0.01F;
    float momentum = 0.9F;
};

// None of the three overlap.
void sgd_update(const SgdStep& step, float* weights, float* momenta, const float* gradients, std::uint64_t count);

}  // namespace coppice
