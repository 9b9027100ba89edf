#include "runtime/sgd_update.hpp"

namespace coppice {

void sgd_update(const SgdStep& step, float* __restrict weights, float* __restrict momenta,
                const float* __restrict gradients, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        momenta[i] = step.momentum * momenta[i] + gradients[i];
        weights[i] -= step.rate * momenta[i];
    }
}

}  // namespace coppice
