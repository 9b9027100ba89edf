#include "sim/program/command.hpp"

namespace coppice::program {

const std::vector<Command>& commands() {
    static const std::vector<Command> all{
        {"predict", "speedup, step time and hours to train for a scenario", run_predict},
        {"explain", "which strategy is fastest for a size, why, and where that changes", run_explain},
        {"crossover", "the map of which strategy is fastest for which GPUs and size", run_crossover},
        {"rules", "the same as rules that Open MPI and NCCL's tuner read", run_rules},
        {"list", "what coppice knows: models, clusters, strategies, scenarios", run_list},
        {"show", "one of them in full, with every value as understood", run_show},
        {"check", "read a file, prove its schedules, and say what is wrong", run_check},
        {"compare", "predictions against measurements: errors, and the order of strategies", run_compare},
        {"fit", "from measured times (coppice-run probe, nccl-tests, OSU) to a cluster file", run_fit},
        {"figure", "draw figures from records", run_figure},
    };
    return all;
}

}  // namespace coppice::program
