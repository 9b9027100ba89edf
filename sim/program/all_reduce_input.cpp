#include "sim/program/all_reduce_input.hpp"

#include "common/diag/error.hpp"
#include "common/program/sweep_options.hpp"
#include "common/scenario/gpu_list.hpp"
#include "common/scenario/scenario.hpp"
#include "common/units/size_list.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace coppice::program {

namespace po = boost::program_options;

namespace {

const Element& read_element(const Arguments& read, const std::string& otherwise) {
    std::vector<std::string> known;
    for (const Element& one : kElements) known.emplace_back(one.name);
    const std::string given = read.has("type") ? read.text("type") : otherwise;
    const Element* element = find_element(given);
    if (!element) choice(read, "type", known);  // throws, with what would have been right
    return *element;
}

std::vector<std::uint64_t> read_sizes(const Arguments& read, const std::string& otherwise, const Element& element) {
    const SourceLocation where{"--bytes", 0, 0};
    const std::vector<std::uint64_t> sizes = parse_size_list(read.has("bytes") ? read.text("bytes") : otherwise, where);
    require_whole_elements(sizes, element, where);
    return sizes;
}

std::vector<StrategyChoice> named(const Arguments& read) {
    return parse_strategies(split_strategy_list(read.text("strategy")), {"--strategy", 0, 0}, "");
}

AllReduceInput of_scenario(const Arguments& read, const AllReduceDefaults& defaults) {
    const Scenario scenario = load_scenario(read.text("scenario"), sweep_settings(read));
    const Element& element = read_element(read, scenario.workload.gradient_type);
    AllReduceInput input{
        {CostModel(scenario.cluster), {}, scenario.gpus, {}, element, scenario.name, scenario.hash, scenario.seed},
        scenario.tree};
    const bool own_size = defaults.size_of_scenario && !read.has("bytes");
    input.sweep.sizes = own_size ? std::vector<std::uint64_t>{scenario.workload.gradient_elements * element.bytes}
                                 : read_sizes(read, defaults.sizes, element);
    if (defaults.greatest_of_scenario && !read.has("gpus"))
        input.sweep.gpus = {*std::max_element(scenario.gpus.begin(), scenario.gpus.end())};
    const bool own_strategies = defaults.strategies_of_scenario || read.has("strategy");
    input.sweep.strategies =
        own_strategies ? parse_strategies(scenario.strategies, {scenario.name, 0, 0}, "") : defaults.strategies;
    return input;
}

AllReduceInput of_cluster(const Arguments& read, const HelpText& help, const AllReduceDefaults& defaults) {
    for (const auto& [option, what] : {std::pair{"cluster", "--cluster FILE|NAME"}, std::pair{"gpus", "--gpus LIST"}})
        if (!read.has(option))
            throw UserError({{"command line", 0, 0},
                             "",
                             "no scenario",
                             fmt::format("{}, or a scenario", what),
                             "usage: " + help.usage});
    const LoneCluster lone = load_cluster(read.text("cluster"), "--cluster", set_options(read));
    const Element& element = read_element(read, "fp32");
    AllReduceInput input{
        {CostModel(lone.cluster), defaults.strategies, parse_gpu_list(read.text("gpus"), {"--gpus", 0, 0}, ""),
         read_sizes(read, defaults.sizes, element), element, "", "", 0},
        lone.tree};
    if (read.has("strategy"))
        input.sweep.strategies = named(read);
    else if (input.sweep.strategies.empty())
        input.sweep.strategies = parse_strategies(strategy_names(), {"--strategy", 0, 0}, "");
    return input;
}

}  // namespace

AllReduceInput read_all_reduce_input(const Arguments& read, const HelpText& help, const AllReduceDefaults& defaults) {
    return read.has("scenario") ? of_scenario(read, defaults) : of_cluster(read, help, defaults);
}

void add_all_reduce_options(po::options_description& options, const std::string& sizes_help) {
    options.add_options()("bytes,b", po::value<std::string>()->value_name("LIST"), sizes_help.c_str())(
        "type,t", po::value<std::string>()->value_name("NAME"),
        "of what is summed in them: float32, float64, float16, bfloat16, int32 or int64; default: the scenario's, else "
        "float32");
}

}  // namespace coppice::program
