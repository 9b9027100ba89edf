// coppice rules: which algorithm Open MPI or NCCL should take, in the file that it reads.
#include "common/choice/tuning_rules.hpp"
#include "common/diag/error.hpp"
#include "common/program/sweep_options.hpp"
#include "common/result/atomic_file.hpp"
#include "common/version.hpp"
#include "sim/program/all_reduce_input.hpp"
#include "sim/program/command.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace coppice::program {

namespace po = boost::program_options;

namespace {

const HelpText kHelp{
    "coppice rules open-mpi|nccl SCENARIO [options], or coppice rules open-mpi|nccl --cluster CLUSTER --gpus LIST",
    "Writes which algorithm is fastest for which ranks and size, among those that exist there, by the closed forms:\n"
    "  open-mpi  rules of coll_tuned for MPI_Allreduce: recursive doubling, ring, Rabenseifner. Used by mpirun with\n"
    "            --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE\n"
    "  nccl      the CSV file of NCCL's example tuner plugin: ring, tree (NCCL_TUNER_CONFIG_FILE=FILE)\n"
    "Where something that does not exist there would be faster, a comment in the file says what, and by how much.",
    "  coppice rules open-mpi --cluster ethernet-10g --gpus 2..64 -o allreduce.rules\n"
    "  coppice rules nccl my.toml --bytes '1 kB..1 GB' -o nccl_tuner.conf\n"};

}  // namespace

int run_rules(const std::vector<std::string>& arguments) {
    po::options_description options;
    options.add_options()("software", po::value<std::string>())("scenario", po::value<std::string>());
    add_all_reduce_options(options, "rules from the least to the greatest of these; default 8 B to 1 GiB");
    add_sweep_options(options);
    options.add_options()("output,o", po::value<std::string>()->value_name("FILE"),
                          "writes there instead of to standard output");
    const Arguments read = read_arguments(arguments, options, {"software", "scenario"}, kHelp);
    if (read.help) return 0;
    require(read, "software", "open-mpi or nccl", kHelp);
    const bool open_mpi = choice(read, "software", {"open-mpi", "nccl"}) == "open-mpi";
    const AllReduceSweep sweep =
        read_all_reduce_input(read, kHelp,
                              {.sizes = "8 B,1 GiB", .strategies_of_scenario = false, .strategies = auto_candidates()})
            .sweep;
    const TuningRules rules =
        tuning_rules(open_mpi ? open_mpi_counterparts() : nccl_counterparts(), sweep.strategies, sweep.gpus,
                     {sweep.sizes.front(), sweep.sizes.back()}, sweep.element, sweep.cost);
    for (const std::string& refusal : rules.refused) fmt::print(stderr, "coppice: no rule for {}\n", refusal);
    if (rules.rules.empty())
        throw UserError({{"command line", 0, 0},
                         "",
                         "no number of ranks that a rule can be made for",
                         "two or more GPUs, on a cluster that the closed forms know",
                         rules.refused.empty() ? "" : rules.refused.front()});
    const std::string origin = fmt::format("for {} of {}, by coppice {} from closed forms", sweep.element.name,
                                           sweep.cost.cluster().name, kVersion);
    const std::string text = open_mpi ? open_mpi_rules(rules, origin) : nccl_rules(rules, origin);
    if (!read.has("output")) {
        print(text);
        return 0;
    }
    write_whole(read.text("output"), text);
    fmt::print(stderr, "coppice: wrote {} rules to {}{}\n", rules.rules.size(), read.text("output"),
               rules.forgone.empty() ? ""
                                     : fmt::format("; in {} ranges something without a counterpart would be faster",
                                                   rules.forgone.size()));
    return 0;
}

}  // namespace coppice::program
