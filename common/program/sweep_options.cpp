#include "common/program/sweep_options.hpp"

#include "common/scenario/scenario.hpp"

#include <fmt/format.h>

#include <utility>

namespace coppice::program {

namespace po = boost::program_options;

void add_sweep_options(po::options_description& options) {
    options.add_options()("cluster,c", po::value<std::string>()->value_name("FILE|NAME"),
                          "the cluster, in the place of the scenario's with all that the scenario changes of it")(
        "gpus,g", po::value<std::string>()->value_name("LIST"),
        "GPU counts: 1,2,4 or 1..128 (doubles), 1..128:*2, 1..128:+1; instead of the scenario's")(
        "strategy,s", po::value<std::string>()->value_name("LIST"),
        "strategies, for example ps,tree,ring or 'ps(placement=dedicated)'; instead of the scenario's")(
        "set", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
        "sets any key of the scenario, its network or its cluster; may be repeated");
}

std::vector<config::Setting> sweep_settings(const Arguments& read) {
    std::vector<config::Setting> settings = set_options(read);
    if (read.has("cluster")) {
        const std::vector<config::Setting> cluster = cluster_settings(read.text("cluster"), "--cluster");
        settings.insert(settings.begin(), cluster.begin(), cluster.end());
    }
    for (const auto& [option, key] : {std::pair{"gpus", "sweep.gpus"}, std::pair{"strategy", "sweep.strategies"}})
        if (read.has(option)) settings.push_back({key, read.text(option), fmt::format("--{}", option), true});
    return settings;
}

}  // namespace coppice::program
