#include "common/cost/compute_model.hpp"

#include <algorithm>
#include <cmath>

namespace coppice {

namespace {

// FLOP and bytes of the backward pass over those of the forward pass: one gradient of the inputs, one of the weights.
constexpr double kBackwardWork = 2;

}  // namespace

ComputeModel::ComputeModel(const Cluster& cluster, const Network& network, Heads heads, std::uint32_t element_bytes)
    : device_(cluster.device), network_(&network), heads_(heads), element_bytes_(element_bytes) {
    COPPICE_CHECK(device_.peak_flop_per_s > 0 && device_.memory_bytes_per_s > 0, "peak {} FLOP/s, memory {} B/s",
                  device_.peak_flop_per_s, device_.memory_bytes_per_s);
    COPPICE_CHECK(element_bytes > 0, "element bytes {}", element_bytes);
}

void ComputeModel::anchor(const RateAnchor& anchor) {
    COPPICE_CHECK(anchor.samples_per_s > 0 && anchor.batch > 0, "{} samples/s at batch {}", anchor.samples_per_s,
                  anchor.batch);
    const double modelled_s = step_s(anchor.batch) / scale_;
    COPPICE_CHECK(modelled_s > 0 && std::isfinite(modelled_s), "modelled step {} s", modelled_s);
    scale_ = static_cast<double>(anchor.batch) / anchor.samples_per_s / modelled_s;
}

double ComputeModel::efficiency(double batch) const {
    COPPICE_CHECK(batch > 0, "batch {}", batch);
    return device_.efficiency * batch / (batch + device_.efficiency_half_batch);
}

double ComputeModel::roofline_s(double flop, double bytes, double batch) const {
    const double arithmetic_s = flop / (device_.peak_flop_per_s * efficiency(batch));
    return std::max(arithmetic_s, bytes / device_.memory_bytes_per_s);
}

double ComputeModel::layer_bytes(const Layer& layer, double batch) const {
    const auto outputs = static_cast<double>(layer.output_elements) * batch;
    auto parameters = static_cast<double>(layer.parameters);
    // Of an embedding's table only the rows that are looked up are read, as many elements as come out.
    if (layer.type == LayerType::Embedding) parameters = std::min(parameters, outputs);
    // In-place layers save memory, not traffic: they read and write all the same.
    return (static_cast<double>(layer.input_elements) * batch + outputs + parameters) * element_bytes_;
}

double ComputeModel::forward_s(const Layer& layer, std::int64_t batch) const {
    const auto samples = static_cast<double>(batch);
    const double flop = static_cast<double>(layer.forward_flop) * samples;
    return scale_ * (roofline_s(flop, layer_bytes(layer, samples), samples) + device_.launch_s);
}

double ComputeModel::backward_s(const Layer& layer, std::int64_t batch) const {
    const auto samples = static_cast<double>(batch);
    const double flop = kBackwardWork * static_cast<double>(layer.forward_flop) * samples;
    const double bytes = kBackwardWork * layer_bytes(layer, samples);
    const double launches = layer.parameters > 0 ? 2 : 1;
    return scale_ * (roofline_s(flop, bytes, samples) + launches * device_.launch_s);
}

double ComputeModel::step_s(std::int64_t batch) const {
    double total_s = 0;
    for (const Layer& layer : network_->layers)
        if (belongs_to(layer, heads_)) total_s += forward_s(layer, batch) + backward_s(layer, batch);
    return total_s;
}

double ComputeModel::memory_bytes(std::int64_t batch) const {
    COPPICE_CHECK(batch > 0, "batch {}", batch);
    const NetworkCounts counts = count(*network_, heads_);
    return (3 * static_cast<double>(counts.parameters) +
            2 * static_cast<double>(counts.activation_elements) * static_cast<double>(batch)) *
           element_bytes_;
}

}  // namespace coppice
