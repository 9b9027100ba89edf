// The roofline, its backward pass, the anchor and the memory of a step, each derived by hand.
#include "common/cost/compute_model.hpp"

#include "common/config/value.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

// Round numbers: 1 TFLOP/s at efficiency 0.5, 100 GB/s, 10 us a launch.
Cluster cluster(double half_batch = 0) {
    Cluster cluster;
    cluster.device.peak_flop_per_s = 1e12;
    cluster.device.memory_bytes_per_s = 100e9;
    cluster.device.launch_s = 10e-6;
    cluster.device.efficiency = 0.5;
    cluster.device.efficiency_half_batch = half_batch;
    return cluster;
}

Layer arithmetic_bound() {
    return {.type = LayerType::Convolution,
            .parameters = 1000,
            .forward_flop = 1'000'000'000,
            .input_elements = 2000,
            .output_elements = 3000};
}

Layer memory_bound() {
    return {.type = LayerType::Activation, .input_elements = 1'000'000, .output_elements = 1'000'000, .in_place = true};
}

Network network(std::vector<Layer> layers) {
    Network network;
    network.input_shape = {2000};
    network.layers = std::move(layers);
    return network;
}

TEST(ComputeModel, takes_the_time_of_the_arithmetic_where_that_is_longer) {
    const Network net = network({arithmetic_bound()});
    const ComputeModel model(cluster(), net, Heads::Main, 4);
    // 4 samples: 4e9 FLOP / (1e12 x 0.5) = 8 ms; bytes ((2000 + 3000) 4 + 1000) 4 = 84 kB / 100 GB/s = 0.84 us.
    EXPECT_DOUBLE_EQ(model.forward_s(net.layers[0], 4), 8e-3 + 10e-6);
    // Twice the FLOP, and two launches: the gradients of the input and of the weights.
    EXPECT_DOUBLE_EQ(model.backward_s(net.layers[0], 4), 16e-3 + 20e-6);
}

TEST(ComputeModel, takes_the_time_of_the_memory_for_layers_in_place_too) {
    const Network net = network({memory_bound()});
    const ComputeModel model(cluster(), net, Heads::Main, 4);
    // 10 samples: (1e6 + 1e6) 10 x 4 = 80 MB / 100 GB/s = 0.8 ms; no weights: one launch either way.
    EXPECT_DOUBLE_EQ(model.forward_s(net.layers[0], 10), 0.8e-3 + 10e-6);
    EXPECT_DOUBLE_EQ(model.backward_s(net.layers[0], 10), 1.6e-3 + 10e-6);
}

TEST(ComputeModel, reads_the_parameters_once_a_batch) {
    Layer layer{.type = LayerType::FullyConnected, .parameters = 50'000'000};
    layer.input_elements = layer.output_elements = 1'000'000;
    const Network net = network({layer});
    const ComputeModel model(cluster(), net, Heads::Main, 2);
    // (2e6 b + 50e6) x 2 bytes / 100 GB/s: b = 1 1.04 ms, b = 10 1.4 ms.
    EXPECT_DOUBLE_EQ(model.forward_s(net.layers[0], 1), 1.04e-3 + 10e-6);
    EXPECT_DOUBLE_EQ(model.forward_s(net.layers[0], 10), 1.40e-3 + 10e-6);
}

TEST(ComputeModel, reads_only_the_rows_of_an_embedding_that_are_looked_up) {
    Layer layer{.type = LayerType::Embedding, .parameters = 1'000'000'000};
    layer.input_elements = 500;
    layer.output_elements = 500'000;
    const Network net = network({layer});
    const ComputeModel model(cluster(), net, Heads::Main, 4);
    // b = 2: token numbers 1000, rows read 1e6, rows written 1e6: 2.001e6 x 4 / 100 GB/s = 80.04 us.
    EXPECT_DOUBLE_EQ(model.forward_s(net.layers[0], 2), 80.04e-6 + 10e-6);
}

TEST(ComputeModel, loses_half_its_efficiency_at_the_half_batch) {
    const Network net = network({arithmetic_bound()});
    const ComputeModel model(cluster(32), net, Heads::Main, 4);
    EXPECT_DOUBLE_EQ(model.efficiency(32), 0.25);   // 0.5 x 32 / 64
    EXPECT_DOUBLE_EQ(model.efficiency(96), 0.375);  // 0.5 x 96 / 128
    // 32 samples: 32e9 FLOP / (1e12 x 0.25) = 128 ms.
    EXPECT_DOUBLE_EQ(model.forward_s(net.layers[0], 32), 128e-3 + 10e-6);
}

TEST(ComputeModel, adds_the_layers_of_the_heads_that_are_trained) {
    Layer head = memory_bound();
    head.auxiliary = true;
    const Network net = network({arithmetic_bound(), head});
    const ComputeModel main(cluster(), net, Heads::Main, 4);
    const ComputeModel all(cluster(), net, Heads::WithAuxiliary, 4);
    // The first two tests' numbers at b = 10: 20 + 40 ms and 30 us; the head 0.8 + 1.6 ms and 20 us.
    EXPECT_DOUBLE_EQ(main.step_s(10), 60e-3 + 30e-6);
    EXPECT_DOUBLE_EQ(all.step_s(10), 60e-3 + 30e-6 + 2.4e-3 + 20e-6);
}

TEST(ComputeModel, meets_its_anchor_and_keeps_its_shape) {
    const Network net = network({arithmetic_bound(), memory_bound()});
    ComputeModel model(cluster(16), net, Heads::Main, 4);
    const double before_64_s = model.step_s(64);
    const double before_16_s = model.step_s(16);
    EXPECT_EQ(model.scale(), 1);
    model.anchor({.samples_per_s = 200, .batch = 64});
    EXPECT_DOUBLE_EQ(model.step_s(64), 64.0 / 200);
    EXPECT_DOUBLE_EQ(model.scale(), 0.32 / before_64_s);
    EXPECT_DOUBLE_EQ(model.step_s(16), before_16_s * model.scale());
    // The layers' times are scaled with the step that they add up to.
    double layers_s = 0;
    for (const Layer& layer : net.layers) layers_s += model.forward_s(layer, 64) + model.backward_s(layer, 64);
    EXPECT_DOUBLE_EQ(layers_s, model.step_s(64));
}

TEST(ComputeModel, replaces_an_anchor_by_a_second_one) {
    const Network net = network({arithmetic_bound()});
    ComputeModel model(cluster(), net, Heads::Main, 4);
    model.anchor({.samples_per_s = 200, .batch = 64});
    model.anchor({.samples_per_s = 100, .batch = 32});
    EXPECT_DOUBLE_EQ(model.step_s(32), 0.32);
}

TEST(ComputeModel, holds_three_copies_of_the_weights_and_two_of_the_activations) {
    const Network net = network({arithmetic_bound(), memory_bound()});
    const ComputeModel model(cluster(), net, Heads::Main, 4);
    // 1000 parameters: weights, gradients, momentum. 2000 inputs + 3000 outputs a sample (the layer in place has none
    // of its own), with gradients. b = 10: (3000 + 2 x 5000 x 10) x 4.
    EXPECT_DOUBLE_EQ(model.memory_bytes(10), 412'000);
}

TEST(ComputeModelDeathTest, refuses_a_batch_of_none) {
    const Network net = network({arithmetic_bound()});
    const ComputeModel model(cluster(), net, Heads::Main, 4);
    EXPECT_DEATH(model.forward_s(net.layers[0], 0), "batch 0");
}

}  // namespace
}  // namespace coppice
