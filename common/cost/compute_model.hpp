// How long a device computes: forward and backward of a network's layers, by a roofline or anchored at a measured rate.
// Formulas and their sources: docs/cost-model.md.
#pragma once

#include "common/cluster/cluster.hpp"
#include "common/workload/network.hpp"

#include <cstdint>

namespace coppice {

// A measured single-GPU rate that replaces the modelled one at one batch size; other batch sizes follow the model's
// shape.
struct RateAnchor {
    double samples_per_s = 0;
    std::int64_t batch = 1;
};

// Forward and backward of a network's layers on one device.
class ComputeModel {
public:
    ComputeModel(const Cluster& cluster, const Network& network, Heads heads, std::uint32_t element_bytes);

    // Makes step_s(anchor.batch) equal anchor.batch / anchor.samples_per_s.
    void anchor(const RateAnchor& anchor);

    double efficiency(double batch) const;  // efficiency * b / (b + h)
    double forward_s(const Layer& layer, std::int64_t batch) const;
    double backward_s(const Layer& layer, std::int64_t batch) const;
    double step_s(std::int64_t batch) const;        // all layers, forward and backward; scaled by the anchor
    double scale() const { return scale_; }         // 1 without an anchor
    double memory_bytes(std::int64_t batch) const;  // weights, gradients, momentum, activations and their gradients

private:
    Device device_;
    const Network* network_;
    Heads heads_;
    std::uint32_t element_bytes_;
    double scale_ = 1;
};

}  // namespace coppice
