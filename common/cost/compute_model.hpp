// How long a device computes: forward and backward of a network's layers, by a roofline or anchored at a measured rate.
//
// A layer's forward pass over b samples takes (Williams, Waterman, Patterson 2009: the roofline, here as a time)
//
//   max( FLOP b / (peak x efficiency(b)),  bytes(b) / memory bandwidth ) + launch
//   bytes(b) = ((inputs + outputs) b + parameters) x element bytes
//
// and its backward pass twice the FLOP and bytes, since it computes two gradients of the forward's size, of the inputs
// and of the weights (a launch each; layers without weights have one). So a step is 3 x the forward FLOP, as FireCaffe
// counts. efficiency(b) = efficiency x b / (b + h) is coppice's own assumption: a device saturates as the batch grows,
// and at h samples has reached half. It bends strong-scaling curves even on a perfect network. docs/cost-model.md.
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

// Forward and backward of a network's layers on one device. The parameter update is not in here: CostModel::update_s.
class ComputeModel {
public:
    // `network` must outlive the model.
    ComputeModel(const Cluster& cluster, const Network& network, Heads heads, std::uint32_t element_bytes);
    ComputeModel(const Cluster&, Network&&, Heads, std::uint32_t) = delete;

    // Makes step_s(anchor.batch) equal anchor.batch / anchor.samples_per_s, by scaling all durations alike. A second
    // call replaces the first.
    void anchor(const RateAnchor& anchor);

    double efficiency(double batch) const;
    // Both with the anchor's scale in them, so that step_s is the sum of what the layers' activities take.
    double forward_s(const Layer& layer, std::int64_t batch) const;
    double backward_s(const Layer& layer, std::int64_t batch) const;
    double step_s(std::int64_t batch) const;  // forward and backward of the layers that belong to the heads
    double scale() const { return scale_; }   // 1 without an anchor
    // Weights, gradients and momentum (3 x parameters), and activations with their gradients (2 x activations x batch).
    double memory_bytes(std::int64_t batch) const;

private:
    double roofline_s(double flop, double bytes, double batch) const;
    double layer_bytes(const Layer& layer, double batch) const;

    Device device_;
    const Network* network_;
    Heads heads_;
    std::uint32_t element_bytes_;
    double scale_ = 1;
};

}  // namespace coppice
