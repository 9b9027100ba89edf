// Model files: counts of each type of layer, derived by hand where they stand, and the errors of files that are wrong.
#include "common/workload/network.hpp"

#include "common/config/value.hpp"
#include "common/workload/shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace coppice {
namespace {

using Sizes = std::vector<std::int64_t>;

// The first layer stands on line 4.
std::string file(const std::string& input, const std::string& layers) {
    return "schema = 1\nname = 'test'\ninput." + input + "\n" + layers;
}

Network read_text(const std::string& text) {
    const config::Value tree = config::parse_toml(text, "net.toml");
    return read_network({tree, ""});
}

Network read(const std::string& input, const std::string& layers) {
    return read_text(file(input, layers));
}

std::vector<std::string> names(const Network& network) {
    std::vector<std::string> result;
    for (const Layer& layer : network.layers) result.push_back(layer.name);
    return result;
}

const Layer& named(const Network& network, const std::string& name) {
    for (const Layer& layer : network.layers)
        if (layer.name == name) return layer;
    throw std::out_of_range("no layer " + name);
}

TEST(Windows, count_the_last_one_as_the_rounding_says) {
    struct Case {
        std::int64_t size, kernel, stride, pad, floor, ceil;
    };
    const Case cases[] = {
        // 6 - 3 = 3 to slide: 1 whole step of 2 and a half. The third window begins at 4, inside.
        {6, 3, 2, 0, 2, 3},
        // AlexNet's first pooling: (55 - 3) / 2 = 26 steps, no rest.
        {55, 3, 2, 0, 27, 27},
        // GoogLeNet's first: (112 - 3) / 2 = 54.5 steps.
        {112, 3, 2, 0, 55, 56},
        // 4 + 2 - 3 = 3: 1.5 steps. The third window begins at 4 (in padded numbers), before 4 + 1.
        {4, 3, 2, 1, 2, 3},
        // 5 + 2 - 2 = 5: 2.5 steps. A fourth window would begin at 6 = 5 + 1, in the padding behind: Caffe clips it.
        {5, 2, 2, 1, 3, 3},
        // 5 - 1 = 4: 1.33 steps of 3. A third window would begin at 6, outside: clipped without padding, too.
        {5, 1, 3, 0, 2, 2},
        // The whole input.
        {7, 7, 1, 0, 1, 1},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.size);
        EXPECT_EQ(window_count(c.size, c.kernel, c.stride, c.pad, Rounding::Floor), c.floor);
        EXPECT_EQ(window_count(c.size, c.kernel, c.stride, c.pad, Rounding::Ceil), c.ceil);
    }
}

TEST(Windows, products_stop_at_two_to_the_62) {
    EXPECT_EQ(product({3, 5}), 15U);
    EXPECT_EQ(product({1 << 20, 1 << 20, 1 << 20, 1 << 20}), std::uint64_t{1} << 62);
}

TEST(Network, counts_a_convolution) {
    // 3 x 8 x 8, 4 filters of 3 x 3, stride 2, pad 1: (8 + 2 - 3) / 2 + 1 = 4 a side.
    const Network network =
        read("shape = [3, 8, 8]", "[[layer]]\ntype = 'conv'\nout = 4\nkernel = 3\nstride = 2\npad = 1\n");
    const Layer& conv = network.layers.at(0);
    EXPECT_EQ(conv.output_shape, (Sizes{4, 4, 4}));
    EXPECT_EQ(conv.parameters, 4U * 3 * 9 + 4);
    EXPECT_EQ(conv.forward_flop, 2U * 4 * 16 * 27);  // 64 outputs, 27 multiply-adds each
    EXPECT_EQ(conv.input_elements, 192U);
    EXPECT_EQ(conv.output_elements, 64U);
}

TEST(Network, divides_a_convolution_into_groups) {
    // 4 -> 6 channels in 2 groups: each output sees 2 channels.
    const Network network =
        read("shape = [4, 2, 2]", "[[layer]]\ntype = 'conv'\nout = 6\nkernel = 1\ngroups = 2\nbias = false\n");
    EXPECT_EQ(network.layers.at(0).parameters, 6U * 2);
    EXPECT_EQ(network.layers.at(0).forward_flop, 2U * 6 * 4 * 2);
}

TEST(Network, takes_kernel_stride_and_pad_as_height_and_width) {
    // 1 x 7 padded by 3 at the sides, stride 1 down and 2 across: 5 high, (9 + 6 - 7) / 2 + 1 = 5 wide.
    const Network network =
        read("shape = [2, 5, 9]",
             "[[layer]]\ntype = 'conv'\nout = 3\nkernel = [1, 7]\nstride = [1, 2]\npad = [0, 3]\nbias = false\n");
    EXPECT_EQ(network.layers.at(0).output_shape, (Sizes{3, 5, 5}));
    EXPECT_EQ(network.layers.at(0).parameters, 3U * 2 * 7);
    EXPECT_EQ(network.layers.at(0).forward_flop, 2U * 3 * 25 * 2 * 7);
}

TEST(Network, expands_batch_norm_and_activation_of_a_convolution) {
    const Network network =
        read("shape = [1, 4, 4]",
             "[[layer]]\ntype = 'conv'\nname = 'c'\nout = 2\nkernel = 1\nbatchnorm = true\nactivation = 'relu'\n");
    EXPECT_EQ(names(network), (std::vector<std::string>{"c", "c/batchnorm", "c/relu"}));
    EXPECT_EQ(network.layers[1].parameters, 4U);  // scale and shift of 2 channels
    EXPECT_FALSE(network.layers[1].in_place);
    EXPECT_TRUE(network.layers[2].in_place);
    EXPECT_EQ(network.layers[2].forward_flop, 0U);  // only multiply-adds of conv, fc and attention count
}

TEST(Network, pools_with_the_rounding_that_is_asked_for) {
    const std::string conv = "[[layer]]\ntype = 'conv'\nout = 2\nkernel = 1\n";
    const std::string pool = conv + "[[layer]]\ntype = 'pool'\nmode = 'max'\nkernel = 3\nstride = 2\n";
    EXPECT_EQ(read("shape = [1, 6, 6]", pool).layers[1].output_shape, (Sizes{2, 2, 2}));
    EXPECT_EQ(read("shape = [1, 6, 6]", pool + "rounding = 'ceil'\n").layers[1].output_shape, (Sizes{2, 3, 3}));
    const std::string global = conv + "[[layer]]\ntype = 'pool'\nmode = 'average'\nglobal = true\n";
    EXPECT_EQ(read("shape = [1, 6, 5]", global).layers[1].output_shape, (Sizes{2, 1, 1}));
}

TEST(Network, flattens_an_image_for_a_fully_connected_layer) {
    const Network network = read("shape = [2, 3, 3]", "[[layer]]\ntype = 'fc'\nout = 5\n");
    const Layer& fc = network.layers.at(0);
    EXPECT_EQ(fc.parameters, 18U * 5 + 5);
    EXPECT_EQ(fc.forward_flop, 2U * 18 * 5);
    EXPECT_EQ(fc.output_shape, (Sizes{5}));
}

TEST(Network, takes_features_as_input) {
    EXPECT_EQ(read("shape = [784]", "[[layer]]\ntype = 'fc'\nout = 10\n").layers[0].parameters, 7850U);
}

TEST(Network, adds_branches_and_passes_an_empty_one_through) {
    const Network network = read("shape = [2, 4, 4]",
                                 "[[layer]]\ntype = 'branches'\nname = 'r'\njoin = 'add'\nactivation = 'relu'\n"
                                 "branches = [[{ type = 'conv', out = 2, kernel = 3, pad = 1 }], []]\n");
    EXPECT_EQ(names(network), (std::vector<std::string>{"r/branch1/conv1", "r/add", "r/relu"}));
    EXPECT_EQ(network.layers[1].input_elements, 64U);  // two times 2 x 4 x 4
    EXPECT_EQ(network.layers[1].output_elements, 32U);
}

TEST(Network, concatenates_channels_of_nested_branches) {
    const Network network = read("shape = [2, 4, 4]", R"([[layer]]
type = 'branches'
name = 'b'
join = 'concat'
branches = [
  [{ type = 'conv', out = 3, kernel = 1 }],
  [{ type = 'branches', name = 'in', join = 'concat', branches = [
    [],
    [{ type = 'conv', out = 5, kernel = [1, 3], pad = [0, 1] }],
  ] }],
]
)");
    EXPECT_EQ(named(network, "b/branch2/in/concat").output_shape, (Sizes{7, 4, 4}));  // 2 + 5
    EXPECT_EQ(named(network, "b/concat").output_shape, (Sizes{10, 4, 4}));            // 3 + 7
    // Both convolutions read the same 32 elements; |D| counts inputs of layers, so twice.
    EXPECT_EQ(count(network, Heads::Main).data_elements, 64U);
}

TEST(Network, repeats_layers_with_numbered_names) {
    // 8 -> 4 -> 2 a side, channels 1 -> 2 -> 2.
    const Network network = read("shape = [1, 8, 8]", R"([[layer]]
type = 'block'
name = 'stage'
repeat = 2
layers = [{ type = 'conv', out = 2, kernel = 2, stride = 2, bias = false }, { type = 'relu' }]
)");
    EXPECT_EQ(names(network),
              (std::vector<std::string>{"stage[1]/conv1", "stage[1]/relu1", "stage[2]/conv1", "stage[2]/relu1"}));
    EXPECT_EQ(network.layers[0].parameters, 2U * 1 * 4);
    EXPECT_EQ(network.layers[2].parameters, 2U * 2 * 4);
    EXPECT_EQ(network.layers[3].output_shape, (Sizes{2, 2, 2}));
}

TEST(Network, numbers_layers_without_a_name_past_the_names_that_are_given) {
    const Network network = read("shape = [4]",
                                 "[[layer]]\ntype = 'fc'\nout = 4\n[[layer]]\ntype = 'fc'\nout = 4\n"
                                 "[[layer]]\ntype = 'fc'\nname = 'fc2'\nout = 4\n");
    EXPECT_EQ(names(network), (std::vector<std::string>{"fc1", "fc3", "fc2"}));
}

TEST(Network, fills_in_defaults_that_a_layer_can_override) {
    const Network network = read("shape = [1, 4, 4]", R"([[layer]]
type = 'conv'
out = 2
[[layer]]
type = 'conv'
out = 2
kernel = 1
activation = 'none'
[defaults.conv]
kernel = 3
pad = 1
bias = false
activation = 'relu'
)");
    EXPECT_EQ(names(network), (std::vector<std::string>{"conv1", "conv1/relu", "conv2"}));
    EXPECT_EQ(network.layers[0].parameters, 18U);                 // 2 x 1 x 3 x 3
    EXPECT_EQ(network.layers[2].parameters, 4U);                  // 2 x 2
    EXPECT_EQ(network.layers[2].output_shape, (Sizes{2, 6, 6}));  // 1 x 1 with the pad of the defaults
}

constexpr const char* kWithHead = R"([[layer]]
type = 'fc'
name = 'a'
out = 3
[[layer]]
type = 'fc'
name = 'b'
out = 5
[[layer]]
type = 'block'
name = 'head'
auxiliary = true
from = 'a'
layers = [{ type = 'fc', out = 7 }]
[[layer]]
type = 'fc'
name = 'c'
out = 2
)";

TEST(Network, hangs_an_auxiliary_head_on_the_named_layer_and_goes_on_without_it) {
    const Network network = read("shape = [4]", kWithHead);
    EXPECT_TRUE(network.has_auxiliary);
    EXPECT_EQ(named(network, "head/fc1").parameters, 3U * 7 + 7);  // on a's 3 features
    EXPECT_TRUE(named(network, "head/fc1").auxiliary);
    EXPECT_EQ(named(network, "c").parameters, 5U * 2 + 2);  // on b's 5
    EXPECT_FALSE(named(network, "c").auxiliary);
}

TEST(Network, counts_auxiliary_heads_only_when_asked) {
    const Network network = read("shape = [4]", kWithHead);
    const NetworkCounts main = count(network, Heads::Main);
    const NetworkCounts all = count(network, Heads::WithAuxiliary);
    // a 4 -> 3, b 3 -> 5, c 5 -> 2: 15 + 20 + 12. Head 3 -> 7: 28.
    EXPECT_EQ(main.parameters, 47U);
    EXPECT_EQ(all.parameters, 75U);
    EXPECT_EQ(main.forward_flop, 2U * (12 + 15 + 10));
    EXPECT_EQ(all.forward_flop, 2U * (12 + 15 + 10 + 21));
    EXPECT_EQ(main.data_elements, 4U + 3 + 5);
    EXPECT_EQ(all.data_elements, 4U + 3 + 5 + 3);
    EXPECT_EQ(main.activation_elements, 4U + 3 + 5 + 2);  // the input and all outputs
    EXPECT_EQ(all.activation_elements, 4U + 3 + 5 + 2 + 7);
}

TEST(Network, keeps_no_activations_of_layers_in_place) {
    const Network network = read("shape = [4]",
                                 "[[layer]]\ntype = 'fc'\nout = 3\nactivation = 'relu'\n[[layer]]\ntype = 'dropout'\n"
                                 "[[layer]]\ntype = 'gelu'\n[[layer]]\ntype = 'activation'\n");
    // Input 4, fc 3, GELU 3 (its gradient needs its input), the unnamed function 3; ReLU and dropout none.
    EXPECT_EQ(count(network, Heads::Main).activation_elements, 13U);
}

TEST(Network, counts_attention) {
    // 4 tokens of 6 features, 2 heads.
    const Network network = read("tokens = 4", R"([[layer]]
type = 'embedding'
vocabulary = 10
hidden = 6
[[layer]]
type = 'attention'
name = 'att'
heads = 2
dropout = true
)");
    EXPECT_EQ(named(network, "att/query").parameters, 6U * 6 + 6);
    EXPECT_EQ(named(network, "att/query").forward_flop, 2U * 4 * 6 * 6);
    // Each head multiplies 4 x 3 by 3 x 4: 2 x 4 x 4 x 3 FLOP, twice; the two maps have 4 x 4 elements each.
    EXPECT_EQ(named(network, "att/scores").forward_flop, 2U * (2 * 4 * 4 * 3));
    EXPECT_EQ(named(network, "att/scores").input_elements, 2U * 4 * 6);
    EXPECT_EQ(named(network, "att/scores").output_elements, 2U * 4 * 4);
    EXPECT_EQ(named(network, "att/softmax").output_elements, 32U);
    EXPECT_TRUE(named(network, "att/dropout").in_place);
    // Each head multiplies 4 x 4 by 4 x 3.
    EXPECT_EQ(named(network, "att/context").forward_flop, 2U * (2 * 4 * 4 * 3));
    EXPECT_EQ(named(network, "att/context").input_elements, 32U + 24);
    const NetworkCounts counts = count(network, Heads::Main);
    EXPECT_EQ(counts.parameters, 10U * 6 + 4 * 42);      // the table, four projections
    EXPECT_EQ(counts.forward_flop, 4U * 288 + 2 * 192);  // four projections, two products
    EXPECT_EQ(network.layers.back().output_shape, (Sizes{4, 6}));
}

TEST(Network, gives_attention_an_inner_width_of_its_own) {
    const Network network = read("tokens = 4",
                                 "[[layer]]\ntype = 'embedding'\nvocabulary = 10\nhidden = 6\n"
                                 "[[layer]]\ntype = 'attention'\nname = 'att'\nheads = 4\nhidden = 8\nbias = false\n");
    EXPECT_EQ(named(network, "att/value").parameters, 6U * 8);
    EXPECT_EQ(named(network, "att/output").parameters, 8U * 6);
    EXPECT_EQ(named(network, "att/scores").forward_flop, 2U * 4 * 4 * 8);
}

TEST(Network, sums_the_tables_of_an_embedding) {
    const std::string text =
        "[[layer]]\ntype = 'embedding'\nname = 'e'\nvocabulary = 10\nhidden = 6\npositions = 9\nsegments = 2\n"
        "[[layer]]\ntype = 'layernorm'\n[[layer]]\ntype = 'first_token'\n[[layer]]\ntype = 'fc'\nout = 3\n";
    const Network network = read("tokens = 4", text);
    EXPECT_EQ(names(network),
              (std::vector<std::string>{"e/word", "e/position", "e/segment", "e/add", "layernorm1", "fc1"}));
    // Tables (10 + 9 + 2) x 6, layer norm 2 x 6, fc on one token 6 x 3 + 3.
    EXPECT_EQ(count(network, Heads::Main).parameters, 126U + 12 + 21);
    EXPECT_EQ(named(network, "fc1").forward_flop, 2U * 6 * 3);
    EXPECT_EQ(count(read("tokens = 9", text), Heads::Main).parameters, 126U + 12 + 21);
}

TEST(Network, applies_a_fully_connected_layer_to_each_token) {
    const Network network = read("tokens = 4",
                                 "[[layer]]\ntype = 'embedding'\nvocabulary = 10\nhidden = 6\n"
                                 "[[layer]]\ntype = 'fc'\nname = 'f'\nout = 5\n");
    EXPECT_EQ(named(network, "f").parameters, 6U * 5 + 5);
    EXPECT_EQ(named(network, "f").forward_flop, 2U * 4 * 6 * 5);
    EXPECT_EQ(named(network, "f").output_shape, (Sizes{4, 5}));
}

TEST(Network, says_what_a_sample_is_by_its_input) {
    EXPECT_EQ(read("shape = [4]", "[[layer]]\ntype = 'fc'\nout = 4\n").sample, "image");
    EXPECT_EQ(read("tokens = 4", "[[layer]]\ntype = 'embedding'\nvocabulary = 9\nhidden = 2\n").sample, "sentence");
}

TEST(Network, gives_each_type_a_name) {
    for (int type = 0; type <= static_cast<int>(LayerType::Attention); ++type)
        EXPECT_FALSE(layer_type_name(static_cast<LayerType>(type)).empty());
}

// The example of the documentation is a model file.
TEST(Network, reads_the_example_of_its_documentation) {
    std::ifstream in(std::string(COPPICE_SOURCE_DIR) + "/docs/model-files.md");
    std::stringstream all;
    all << in.rdbuf();
    const std::string text = all.str();
    const std::size_t begin = text.find("```toml\n");
    ASSERT_NE(begin, std::string::npos);
    const std::size_t end = text.find("```", begin + 8);
    ASSERT_NE(end, std::string::npos);
    const Network network = read_text(text.substr(begin + 8, end - begin - 8));
    // conv1  1 x 28 x 28 -> 16 x 28 x 28, 3 x 3: 16 x 9 + 16 = 160
    // mixed  to 8 + 24 channels: 16 x 8 + 8, 16 x 24 x 9 + 24 = 136 + 3480
    // res    twice 32 x 32 x 9 without bias + 2 x 32 = 9280
    // head   32 -> 10: 330; classifier the same on 32 averaged channels
    EXPECT_EQ(count(network, Heads::Main).parameters, 160U + 136 + 3480 + 2 * 9280 + 330);
    EXPECT_EQ(count(network, Heads::WithAuxiliary).parameters, 160U + 136 + 3480 + 2 * 9280 + 330 + 330);
}

struct Wrong {
    const char* what;
    std::string text;
    int line;
    const char* key;
    const char* found;
    const char* expected;
    const char* hint;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
    *out << wrong.text;
}

class NetworkErrors : public testing::TestWithParam<Wrong> {};

TEST_P(NetworkErrors, say_where_what_and_what_else) {
    const Wrong& wrong = GetParam();
    try {
        read_text(wrong.text);
        FAIL() << "was read";
    } catch (const UserError& error) {
        const UserErrorParts& parts = error.parts();
        EXPECT_EQ(parts.where.file, "net.toml");
        EXPECT_EQ(parts.where.line, wrong.line) << error.what();
        EXPECT_EQ(parts.key, wrong.key);
        EXPECT_EQ(parts.found, wrong.found);
        EXPECT_NE(parts.expected.find(wrong.expected), std::string::npos) << error.what();
        EXPECT_NE(parts.hint.find(wrong.hint), std::string::npos) << error.what();
    }
}

std::string image(const std::string& layers) {
    return file("shape = [3, 4, 6]", layers);
}

std::vector<Wrong> wrong_windows() {
    return {
        {"kernel_too_large", image("[[layer]]\ntype = 'conv'\nout = 1\nkernel = 7\npad = 1\n"), 7, "layer[0].kernel",
         "the number 7", "at most 6, the height of the input with its padding (4 + 2 x 1)", "3 channels x 4 x 6"},
        {"kernel_too_wide", image("[[layer]]\ntype = 'conv'\nout = 1\nkernel = [1, 7]\n"), 7, "layer[0].kernel",
         "an array", "at most 6, the width", ""},
        {"kernel_of_three", image("[[layer]]\ntype = 'conv'\nout = 1\nkernel = [1, 2, 3]\n"), 7, "layer[0].kernel",
         "an array", "an integer, or two: [height, width]", ""},
        {"kernel_zero", image("[[layer]]\ntype = 'conv'\nout = 1\nkernel = 0\n"), 7, "layer[0].kernel", "the number 0",
         "an integer from 1", ""},
        {"input_channels_in_groups", image("[[layer]]\ntype = 'conv'\nout = 4\nkernel = 1\ngroups = 2\n"), 8,
         "layer[0].groups", "the number 2", "a divisor of the input's 3 channels", ""},
        {"output_channels_in_groups", image("[[layer]]\ntype = 'conv'\nout = 4\nkernel = 1\ngroups = 3\n"), 8,
         "layer[0].groups", "the number 3", "a divisor of out = 4", ""},
    };
}

std::vector<Wrong> wrong_keys() {
    return {
        {"unknown_type", image("[[layer]]\ntype = 'convv'\nout = 4\n"), 5, "layer[0].type", "'convv'", "one of 'conv'",
         "did you mean 'conv'"},
        {"missing_type", image("[[layer]]\nout = 4\n"), 4, "layer[0].type", "nothing", "this key to be set", ""},
        {"unknown_key", image("[[layer]]\ntype = 'conv'\nout = 4\nkernel = 9\nstrid = 2\n"), 8, "layer[0].strid",
         "an unknown key", "a key of [layer[0]]", "did you mean 'stride'"},
        {"key_of_another_type", image("[[layer]]\ntype = 'relu'\nkernel = 3\n"), 6, "layer[0].kernel", "an unknown key",
         "a key of [layer[0]]", ""},
        {"missing_out", image("[[layer]]\ntype = 'conv'\nkernel = 3\n"), 4, "layer[0].out", "nothing",
         "this key to be set", ""},
        {"pad_of_a_whole_window", image("[[layer]]\ntype = 'pool'\nmode = 'max'\nkernel = 2\nstride = 2\npad = 2\n"), 9,
         "layer[0].pad", "the number 2", "less than kernel", ""},
        {"kernel_of_a_global_pool", image("[[layer]]\ntype = 'pool'\nmode = 'max'\nglobal = true\nkernel = 2\n"), 8,
         "layer[0].kernel", "the number 2", "no such key beside global = true", ""},
        {"repeated_name", image("[[layer]]\ntype = 'relu'\nname = 'a'\n[[layer]]\ntype = 'relu'\nname = 'a'\n"), 9,
         "layer[1].name", "'a'", "a name that no other layer of the same list has", "net.toml:4"},
        {"malformed_name", image("[[layer]]\ntype = 'relu'\nname = 'a/b'\n"), 6, "layer[0].name", "'a/b'",
         "letters, digits", ""},
    };
}

std::vector<Wrong> wrong_composites() {
    const std::string branches = "[[layer]]\ntype = 'branches'\njoin = 'concat'\nbranches = [\n";
    return {
        {"concat_of_different_sizes",
         image(branches + "[],\n[{ type = 'conv', out = 1, kernel = 1, stride = 2 }],\n]\n"), 9, "layer[0].branches[1]",
         "branch 2 giving 1 channels x 2 x 3", "any channels x 4 x 6, as branch 1 gives", "'branches1'"},
        {"add_of_different_shapes",
         image("[[layer]]\ntype = 'branches'\nname = 'r'\njoin = 'add'\nbranches = [[],\n"
               "[{ type = 'conv', out = 1, kernel = 1 }]]\n"),
         9, "layer[0].branches[1]", "branch 2 giving 1 channels x 4 x 6", "3 channels x 4 x 6, as branch 1 gives",
         "'r'"},
        {"layers_where_branches_should_be", image(branches + "{ type = 'relu' },\n[],\n]\n"), 8, "layer[0].branches[0]",
         "a table", "an array of layers", ""},
        {"one_branch", image(branches + "[],\n]\n"), 7, "layer[0].branches", "an array", "two or more branches", ""},
        {"error_within_branches", image(branches + "[],\n[{ type = 'relu' }, { type = 'conv', out = 1 }],\n]\n"), 9,
         "layer[0].branches[1][1].kernel", "nothing", "this key to be set", ""},
        {"error_within_a_block", image("[[layer]]\ntype = 'block'\nlayers = [\n{ type = 'fc', out = 0 },\n]\n"), 7,
         "layer[0].layers[0].out", "the number 0", "an integer from 1", ""},
        {"empty_block", image("[[layer]]\ntype = 'block'\nlayers = []\n"), 6, "layer[0].layers", "an array",
         "at least one layer", ""},
        {"from_without_auxiliary",
         image("[[layer]]\ntype = 'block'\nfrom = 'a'\nlayers = [{ type = 'fc', out = 1 }]\n"), 6, "layer[0].from",
         "'a'", "no such key without auxiliary = true", ""},
        {"auxiliary_from_nowhere",
         image("[[layer]]\ntype = 'fc'\nname = 'fc7'\nout = 3\n[[layer]]\ntype = 'block'\nauxiliary = true\n"
               "from = 'fc8'\nlayers = [{ type = 'fc', out = 1 }]\n"),
         11, "layer[1].from", "'fc8'", "the name of an earlier layer", "did you mean 'fc7'"},
    };
}

std::vector<Wrong> wrong_lists() {
    return {
        {"convolution_on_features",
         image("[[layer]]\ntype = 'fc'\nout = 3\n[[layer]]\ntype = 'conv'\nname = 'c'\nout = 1\nkernel = 1\n"), 7,
         "layer[1]", "an input of 3 features", "channels x height x width", "'c'"},
        {"too_many_layers",
         image("[[layer]]\ntype = 'block'\nrepeat = 1000\nlayers = [{ type = 'relu', repeat = 1000 }]\n"), 7,
         "layer[0].layers[0]", "more than 16384 layers", "at most 16384", ""},
        {"error_in_defaults", image("[[layer]]\ntype = 'conv'\nout = 1\nkernel = 1\n[defaults.conv]\nstrid = 2\n"), 9,
         "layer[0].strid", "an unknown key", "a key of", "did you mean 'stride'"},
        {"unknown_type_in_defaults", image("[[layer]]\ntype = 'fc'\nout = 1\n[defaults.con]\nstride = 2\n"), 7,
         "defaults.con", "an unknown type", "a type of layer", "did you mean 'conv'"},
        {"name_in_defaults", image("[[layer]]\ntype = 'fc'\nout = 1\n[defaults.fc]\nname = 'a'\n"), 8,
         "defaults.fc.name", "'a'", "a key that layers can share", ""},
    };
}

std::vector<Wrong> wrong_files() {
    const std::string fc = "[[layer]]\ntype = 'fc'\nout = 1\n";
    const std::string embedding = "[[layer]]\ntype = 'embedding'\nvocabulary = 9\nhidden = 6\n";
    return {
        {"no_layers", file("shape = [4]", ""), 0, "layer", "nothing", "this key to be set", ""},
        {"empty_network", file("shape = [4]", "layer = []\n"), 4, "layer", "an array", "a layer with parameters",
         "nothing to train"},
        {"nothing_to_train", file("shape = [4]", "[[layer]]\ntype = 'relu'\n"), 4, "layer", "an array",
         "a layer with parameters on the main path", "nothing to exchange"},
        {"unknown_top_key", file("shape = [4]", "titel = 'x'\n" + fc), 4, "titel", "an unknown key", "a known key",
         "did you mean 'title'"},
        {"another_schema", "schema = 2\nname = 'x'\ninput.shape = [4]\n" + fc, 1, "schema", "the number 2",
         "an integer from 1 to 1", ""},
        {"both_inputs", file("shape = [4]", "input.tokens = 3\n" + fc), 4, "input.tokens", "the number 3",
         "either 'shape' or 'tokens'", ""},
        {"misspelt_input", file("shap = [4]", fc), 3, "input.shap", "an unknown key", "a key of [input]",
         "did you mean 'shape'"},
        {"two_sizes", file("shape = [4, 4]", fc), 3, "input.shape", "an array", "[channels, height, width]", ""},
        {"unknown_sample", file("shape = [4]", "sample = 'sentense'\n" + fc), 4, "sample", "'sentense'", "one of",
         "did you mean 'sentence'"},
        {"heads_do_not_divide", file("tokens = 4", embedding + "[[layer]]\ntype = 'attention'\nheads = 4\n"), 10,
         "layer[1].heads", "the number 4", "a divisor of hidden = 6", ""},
        {"too_few_positions", file("tokens = 4", embedding + "positions = 3\n"), 8, "layer[0].positions",
         "the number 3", "at least 4, the tokens of the input", "input.tokens to at most 3"},
        {"no_embedding", file("tokens = 4", fc), 4, "layer[0]", "an input of 4 token numbers", "values",
         "the layer's name is 'fc1'"},
        {"attention_on_features", file("shape = [4]", "[[layer]]\ntype = 'attention'\nheads = 4\n"), 4, "layer[0]",
         "an input of 4 features", "tokens x features", ""},
        {"concat_of_other_tokens_and_features",
         file("tokens = 4", embedding + "[[layer]]\ntype = 'branches'\njoin = 'concat'\nbranches = [[],\n"
                                        "[{ type = 'first_token' }]]\n"),
         12, "layer[1].branches[1]", "branch 2 giving 6 features", "4 tokens x any features, as branch 1 gives", ""},
        {"layer_is_no_array", file("shape = [4]", "layer = 3\n"), 4, "layer", "the number 3", "an array of layers", ""},
        // 1,048,576 x 1,048,576 inputs times as many outputs would be 2^60 weights.
        {"amount_too_large", file("shape = [1, 1048576, 1048576]", "[[layer]]\ntype = 'fc'\nout = 1048576\n"), 4,
         "layer[0]", "a layer of 1.15e+18 parameters", "at most 2^48", ""},
    };
}

const auto kWrongName = [](const testing::TestParamInfo<Wrong>& tested) { return std::string(tested.param.what); };

INSTANTIATE_TEST_SUITE_P(Windows, NetworkErrors, testing::ValuesIn(wrong_windows()), kWrongName);
INSTANTIATE_TEST_SUITE_P(Keys, NetworkErrors, testing::ValuesIn(wrong_keys()), kWrongName);
INSTANTIATE_TEST_SUITE_P(Composites, NetworkErrors, testing::ValuesIn(wrong_composites()), kWrongName);
INSTANTIATE_TEST_SUITE_P(Lists, NetworkErrors, testing::ValuesIn(wrong_lists()), kWrongName);
INSTANTIATE_TEST_SUITE_P(Files, NetworkErrors, testing::ValuesIn(wrong_files()), kWrongName);

}  // namespace
}  // namespace coppice
