#include "sim/program/command.hpp"

namespace coppice::program {

const std::vector<Command>& commands() {
    static const std::vector<Command> all{
        {"predict", "speedup, step time and hours to train for a scenario", run_predict},
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
