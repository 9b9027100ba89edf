// The networks of scenarios/models must come to the parameters, FLOP and data that are published for them.
#include "common/config/value.hpp"
#include "common/workload/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace coppice {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = COPPICE_SOURCE_DIR;

Network read_model(const std::string& name, const std::string& set = "") {
    config::Value tree = config::load_toml(kSource / "scenarios/models" / (name + ".toml"));
    if (!set.empty()) config::apply(tree, config::parse_setting(set));
    return read_network({tree, ""});
}

// Which model file, input and heads a row of the table means.
struct Case {
    std::string row;
    std::string model;
    std::string set;
    Heads heads = Heads::Main;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.model << " " << c.set;
}

const std::vector<Case>& cases() {
    static const std::vector<Case> all = {
        {"nin_224", "nin", ""},
        {"nin_227", "nin", "input.shape=[3, 227, 227]"},
        {"alexnet_grouped_227", "alexnet", ""},
        {"alexnet_grouped_224", "alexnet", "input.shape=[3, 224, 224]"},
        {"alexnet_ungrouped_224", "alexnet-ungrouped", ""},
        {"owt_one_column_64_192_384_256_256", "alexnet-one-column", ""},
        {"googlenet_with_aux_heads", "googlenet", "", Heads::WithAuxiliary},
        {"googlenet_main_path", "googlenet", ""},
        {"vgg19", "vgg19", ""},
        {"vgg16", "vgg16", ""},
    };
    return all;
}

using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells;
    std::string cell;
    for (std::istringstream in(line); std::getline(in, cell, ',');) cells.push_back(cell);
    return cells;
}

std::map<std::string, Row> read_table() {
    std::ifstream in(kSource / "tests/published/model_counts.csv");
    std::map<std::string, Row> table;
    std::vector<std::string> header;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::vector<std::string> cells = split(line);
        if (header.empty()) {
            header = cells;
            continue;
        }
        cells.resize(header.size());
        Row& row = table[cells.front()];
        for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = cells[i];
    }
    return table;
}

// Half a unit of the last digit given.
double half_digit(const std::string& text) {
    const std::size_t point = text.find('.');
    const std::size_t decimals = point == std::string::npos ? 0 : text.size() - point - 1;
    return 0.5001 * std::pow(10.0, -static_cast<double>(decimals));
}

void expect_digits(double value, const std::string& published) {
    EXPECT_NEAR(value, std::stod(published), half_digit(published));
}

class ModelCounts : public testing::TestWithParam<Case> {};

TEST_P(ModelCounts, come_out_as_published) {
    const Case& c = GetParam();
    const Row row = read_table().at(c.row);
    const NetworkCounts counts = count(read_model(c.model, c.set), c.heads);
    const auto flop = static_cast<double>(counts.forward_flop);
    EXPECT_EQ(std::to_string(counts.parameters), row.at("params"));
    expect_digits(static_cast<double>(counts.parameters) * 4 / 1e6, row.at("w_mb"));
    expect_digits(flop / 1e9, row.at("forward_gflop_per_image"));
    // Training: forward and twice as much backward.
    expect_digits(3 * flop * 1024 / 1e12, row.at("train_tflop_1024"));
    expect_digits(static_cast<double>(counts.data_elements) * 1024 * 4 / 1e6, row.at("d_in_mb_1024"));
}

// One unit of the last digit that is not a zero at the end of an integer: 100 for 5800, 0.1 for 7.0.
double last_unit(const std::string& text) {
    if (text.find('.') != std::string::npos) return 2 * half_digit(text);
    return std::pow(10.0, static_cast<double>(text.size() - 1 - text.find_last_not_of('0')));
}

// FireCaffe cuts some figures off (249.51 MB: 249) and rounds others (53.51 MB: 54), so a unit of the last digit is
// what they can be held to.
TEST_P(ModelCounts, agree_with_the_table_of_firecaffe) {
    const Case& c = GetParam();
    const Row row = read_table().at(c.row);
    const NetworkCounts counts = count(read_model(c.model, c.set), c.heads);
    const std::pair<const char*, double> columns[] = {
        {"firecaffe_d_mb", static_cast<double>(counts.data_elements) * 1024 * 4 / 1e6},
        {"firecaffe_w_mb", static_cast<double>(counts.parameters) * 4 / 1e6},
        {"firecaffe_tflop", 3 * static_cast<double>(counts.forward_flop) * 1024 / 1e12}};
    for (const auto& [column, value] : columns) {
        const std::string& text = row.at(column);
        if (text.empty()) continue;
        EXPECT_NEAR(value, std::stod(text), last_unit(text)) << column;
    }
}

INSTANTIATE_TEST_SUITE_P(Table, ModelCounts, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& tested) { return tested.param.row; });

TEST(ModelCountsTable, has_a_case_for_each_row) {
    const std::map<std::string, Row> table = read_table();
    EXPECT_EQ(table.size(), cases().size());
    for (const auto& [name, row] : table)
        EXPECT_TRUE(std::any_of(cases().begin(), cases().end(), [&](const Case& c) { return c.row == name; })) << name;
}

// The pages of torchvision 0.25 on these models, num_params and GFLOPS (multiply-adds: half of our FLOP). It gives
// inception_v3's parameters with the auxiliary head and its GFLOPS without.
TEST(ModelCountsTorchvision, come_out_as_its_documentation_says) {
    struct Published {
        const char* model;
        Heads heads;
        std::uint64_t parameters;
        const char* giga_multiply_adds;
    };
    const Published table[] = {{"resnet50", Heads::Main, 25'557'032, "4.09"},
                               {"resnet101", Heads::Main, 44'549'160, "7.80"},
                               {"resnet152", Heads::Main, 60'192'808, "11.51"},
                               {"inception-v3", Heads::WithAuxiliary, 27'161'264, "5.71"}};
    for (const Published& published : table) {
        SCOPED_TRACE(published.model);
        const Network network = read_model(published.model);
        EXPECT_EQ(count(network, published.heads).parameters, published.parameters);
        expect_digits(static_cast<double>(count(network, Heads::Main).forward_flop) / 2e9,
                      published.giga_multiply_adds);
    }
}

// The auxiliary head of torchvision's inception_v3, convolutions without bias and with 2 a channel of batch norm:
//   768 -> 128, 1x1: 768 x 128 + 2 x 128            =    98,560
//   128 -> 768, 5x5: 128 x 768 x 25 + 2 x 768       = 2,459,136
//   768 -> 1000, fc: 768 x 1000 + 1000              =   769,000
//                                                      3,326,696 = 27,161,264 - 23,834,568
TEST(ModelCountsInception, has_23834568_parameters_on_the_main_path) {
    EXPECT_EQ(count(read_model("inception-v3"), Heads::Main).parameters, 23'834'568U);
}

// E tokens' embedding, L layers of width H and feed-forward 4 H, pooler:
//   embedding   (30522 + 512 + 2) H, layer norm 2 H
//   a layer     attention 4 (H^2 + H), feed-forward 8 H^2 + 5 H, two layer norms 4 H: together 12 H^2 + 13 H
//   pooler      H^2 + H
// H = 768, L = 12:   23,837,184 + 12 x  7,087,872 +   590,592 = 109,482,240
// H = 1024, L = 24:  31,782,912 + 24 x 12,596,224 + 1,049,600 = 335,141,888
// which are the numbers that Hugging Face's BertModel and keras_hub report for the uncased models.
TEST(ModelCountsBert, has_the_parameters_of_the_released_models) {
    EXPECT_EQ(count(read_model("bert-base"), Heads::Main).parameters, 109'482'240U);
    EXPECT_EQ(count(read_model("bert-large"), Heads::Main).parameters, 335'141'888U);
}

TEST(ModelCountsBert, has_parameters_that_do_not_depend_on_the_tokens) {
    EXPECT_EQ(count(read_model("bert-large", "input.tokens=64"), Heads::Main).parameters, 335'141'888U);
}

// T tokens: projections 4 x 2 T H^2, feed-forward 2 x 2 T 4 H^2, the products QK^T and AV 2 x 2 T^2 H a layer:
// 24 T H^2 + 4 T^2 H; the pooler's 2 H^2 once.
//   T = 512, H = 768:   12 x (24 x 512 x 589,824 + 4 x 262,144 x 768) + 2 x 589,824
//                     = 12 x (7,247,757,312 + 805,306,368) + 1,179,648      = 96,637,943,808
//   T = 64, H = 1024:   24 x (24 x 64 x 1,048,576 + 4 x 4096 x 1024) + 2 x 1,048,576
//                     = 24 x (1,610,612,736 + 16,777,216) + 2,097,152       = 39,059,456,000
TEST(ModelCountsBert, has_the_flop_of_its_projections_and_products) {
    EXPECT_EQ(count(read_model("bert-base"), Heads::Main).forward_flop, 96'637'943'808U);
    EXPECT_EQ(count(read_model("bert-large", "input.tokens=64"), Heads::Main).forward_flop, 39'059'456'000U);
}

TEST(ModelFiles, bear_their_own_names_and_say_their_sources) {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(kSource / "scenarios/models")) {
        SCOPED_TRACE(entry.path().string());
        const Network network = read_model(entry.path().stem().string());
        EXPECT_EQ(network.name, entry.path().stem().string());
        EXPECT_NE(network.title, network.name);
        EXPECT_FALSE(network.source.empty());
        ++files;
    }
    EXPECT_EQ(files, 13);
}

}  // namespace
}  // namespace coppice
