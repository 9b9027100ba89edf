// coppice-run step: training steps of a scenario, with modelled compute and real communication.
#include "common/diag/error.hpp"
#include "common/program/sweep_options.hpp"
#include "common/version.hpp"
#include "runtime/agreement.hpp"
#include "runtime/check_pattern.hpp"
#include "runtime/program/command.hpp"
#include "runtime/program/mpi_library.hpp"
#include "runtime/program/parts.hpp"
#include "runtime/program/step_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace coppice::program {

namespace po = boost::program_options;

namespace {

const HelpText kHelp{
    "mpirun -np RANKS coppice-run step SCENARIO [options]",
    "Runs the training steps that coppice predict predicts: each rank waits for as long as the model says that a GPU\n"
    "computes, and communicates for real, by the same schedule. So a host with few cores stands for one with a GPU.\n"
    "Every point of the scenario's sweep is run, each on the first ranks of the job; RANKS must be enough for the\n"
    "largest, with its dedicated servers. Every sum of gradients is checked. A step begins on all ranks together and\n"
    "lasts as long as on its slowest. Where compute or gradients are too large for this network, workload.shrink\n"
    "divides both (and the update), here and in coppice predict. Results go to standard output (rank 0), messages to\n"
    "standard error.",
    "  mpirun -np 8 coppice-run step firecaffe-nin --gpus 1..8 --cluster mine.toml\n"
    "  mpirun -np 8 coppice-run step firecaffe-nin --gpus 1..8:+1 --set workload.shrink=20 -o measured\n"
    "  coppice predict firecaffe-nin --gpus 1..8:+1 --set workload.shrink=20 --cluster mine.toml -o predicted\n"
    "  coppice compare predicted measured\n"};

po::options_description step_options() {
    po::options_description options;
    options.add_options()("scenario", po::value<std::string>());
    add_sweep_options(options);
    add_measure_options(options, 1, 5);
    return options;
}

[[noreturn]] void too_few_ranks(const std::string& what, std::int64_t needed, std::int32_t ranks) {
    throw UserError({{"command line", 0, 0},
                     "",
                     fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"),
                     fmt::format("at least the {} that {} needs", needed, what),
                     fmt::format("mpirun -np {}, or fewer GPUs: --gpus", needed)});
}

StepSetup read_setup(const std::vector<std::string>& arguments, std::int32_t ranks) {
    const Arguments read = read_arguments(arguments, step_options(), {"scenario"}, kHelp);
    require(read, "scenario", "a scenario", kHelp);
    StepSetup setup;
    setup.scenario = load_scenario(read.text("scenario"), sweep_settings(read));
    const std::int64_t most = setup.scenario.gpus.back();
    if (most > ranks) too_few_ranks(fmt::format("the sweep to {} GPUs", most), most, ranks);
    if (most > kMostCheckedWorkers)
        throw UserError({{setup.scenario.name, 0, 0},
                         "sweep.gpus",
                         std::to_string(most),
                         fmt::format("at most {}, beyond which sums could not be checked", kMostCheckedWorkers),
                         ""});
    setup.type = gradient_type_of(setup.scenario, "--set workload.gradient_type=fp32");
    read_measure_options(read, setup.scenario.cluster, setup);
    return setup;
}

std::vector<StepPlan> plan_steps(const Predictor& predictor, std::int32_t ranks) {
    std::vector<StepPlan> plans = predictor.plan();
    for (const StepPlan& plan : plans)
        if (plan.step.schedule && plan.step.schedule->ranks > ranks)
            too_few_ranks(plan.label(), plan.step.schedule->ranks, ranks);
    return plans;
}

std::vector<Fact> facts_of(const StepSetup& setup, const std::vector<StepPlan>& plans) {
    std::vector<Fact> facts{
        {"version", fmt::format("{} ({})", kVersion, kRevision)},
        {"scenario", setup.scenario.name + " " + setup.scenario.hash},
        {"number of repetitions", fmt::format("{} + {}", setup.warmup, setup.repetitions)},
        {"segment", fmt::format("{} x {}", setup.mpi.segment_bytes, setup.mpi.segments_in_flight)},
        {"number of points", std::to_string(plans.size())},
    };
    for (const StepPlan& plan : plans)
        facts.push_back({"schedule of " + plan.label(), plan.refusal ? "n/a" : plan.step.schedule_hash});
    return facts;
}

std::string refusal_of(const StepPlan& plan) {
    if (plan.refusal) return *plan.refusal;
    return plan.step.schedule ? "" : "measured times have no schedule to execute";
}

std::optional<Measured> measure_plan(Parts& parts, const StepPlan& plan, const StepSetup& setup,
                                     const Binding& binding) {
    const Schedule& schedule = *plan.step.schedule;
    MpiOptions mpi = setup.mpi;
    // A rank that waits for another's gradients sees nothing move while that one computes.
    for (const double work_s : binding.work_s) mpi.wait.timeout_s += work_s;
    const MeasureOptions options{setup.type,
                                 static_cast<std::int32_t>(plan.gpus()),
                                 binding.tensors.front().elements,
                                 setup.warmup,
                                 setup.repetitions,
                                 mpi.wait};
    const std::optional<Measured> measured = parts.measure_on_first(
        schedule.ranks, options,
        [&](const Communicator& part) { return schedule_all_reduce(part, schedule, binding, setup.type, mpi); });
    if (measured) check_traffic(plan.label(), schedule, binding, *measured);
    return measured;
}

}  // namespace

int run_step(const Communicator& world, const std::vector<std::string>& arguments) {
    if (asks_for_help(arguments)) {
        if (world.rank() == 0) read_arguments({"--help"}, step_options(), {"scenario"}, kHelp);
        return 0;
    }
    WaitOptions wait;
    wait.interrupt = interrupt_flag();
    StepSetup setup;
    std::optional<Predictor> predictor;
    std::vector<StepPlan> plans;
    together(world, wait, [&] {
        setup = read_setup(arguments, world.size());
        predictor.emplace(setup.scenario);
        plans = plan_steps(*predictor, world.size());
    });
    require_same(world, wait, facts_of(setup, plans));
    const Crowd crowd = survey_crowd(world, wait);
    setup.mpi.wait.yield = crowd.crowded;
    std::optional<StepReport> report;
    together(world, wait, [&] {
        if (world.rank() != 0) return;
        Prediction prediction = predictor->predict(plans, closed_form_engine());
        for (const std::string& warning : prediction.warnings)
            fmt::print(stderr, "coppice-run: warning: {}\n", warning);
        ResultFolder folder(setup.output, "coppice-run step", arguments, crowd, world.size());
        warn_of_crowd(crowd, world.size());
        report.emplace(setup, *predictor, plans, std::move(prediction.records), std::move(folder));
    });
    Parts parts(world);
    for (const StepPlan& plan : plans) {
        const std::string refusal = refusal_of(plan);
        std::optional<Measured> measured;
        if (refusal.empty()) measured = measure_plan(parts, plan, setup, predictor->binding(plan));
        if (report) report->row(measured, refusal);
    }
    int wrong = 0;
    if (report) {
        report->end();
        wrong = report->wrong_elements() > 0 ? 1 : 0;
    }
    world.all_reduce(&wrong, 1, MPI_INT, MPI_MAX, "MPI_Iallreduce: was anything wrong?", setup.mpi.wait);
    return static_cast<int>(wrong > 0 ? ExitCode::Difference : ExitCode::Ok);
}

}  // namespace coppice::program
