#include "runtime/program/bench_plan.hpp"

#include "common/diag/nearest.hpp"
#include "common/units/size_list.hpp"
#include "common/version.hpp"
#include "runtime/check_pattern.hpp"
#include "runtime/program/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace coppice::program {

namespace po = boost::program_options;

namespace {

const HelpText kHelp{
    "mpirun -np RANKS coppice-run bench [SCENARIO] [options]",
    "Times an all-reduce by each strategy and size, executed for real, and checks every result on every rank.\n"
    "RANKS is workers plus dedicated servers: ps(placement=dedicated) on 9 ranks has 8 workers.\n"
    "SCENARIO gives strategies, the size (of its gradients), the type and the cluster of the predictions, as far as\n"
    "options do not. A repetition lasts as long as on its slowest rank. algbw is size / median time, busbw is\n"
    "algbw 2(n-1)/n with n workers, as in nccl-tests. Results go to standard output (rank 0), messages to standard\n"
    "error.",
    "  mpirun -np 4 coppice-run bench\n"
    "  mpirun -np 8 coppice-run bench --strategy ring,tree --bytes '64 KiB..32 MiB' --cluster ethernet-10g\n"
    "  mpirun -np 9 coppice-run bench --workers 8 --strategy 'ring,ps(placement=dedicated)' --format csv -o out\n"};

po::options_description bench_options() {
    po::options_description options;
    const auto text = [] { return po::value<std::string>(); };
    options.add_options()("scenario", text())(
        "strategy,s", text()->value_name("LIST"),
        "strategies, for example ring,tree,'ps(placement=dedicated)'; default: the scenario's, else all")(
        "bytes,b", text()->value_name("LIST"),
        "sizes with units: '1 MiB', '64 KiB..32 MiB' (doubles), '1 kB..1 GB:*10'; default: the scenario's gradients, "
        "else 64 KiB..32 MiB")("type,t", text()->value_name("NAME"),
                               "float32, float64, int32 or int64; default: the scenario's, else float32")(
        "workers,w", po::value<std::int32_t>()->value_name("N"),
        "so many workers for every strategy, ranks that are left over stand by; default: as many as fit the ranks")(
        "no-mpi", "without the row of the MPI's own MPI_Allreduce")("only-mpi", "that row alone")(
        "cluster,c", text()->value_name("FILE|NAME"),
        "predictions (closed form) for this cluster beside the measurements; default: the scenario's");
    add_measure_options(options, 2, 10);
    return options;
}

ElementType read_type(const Arguments& read, const std::optional<Scenario>& scenario) {
    if (read.has("type")) {
        const auto type = element_type_named(read.text("type"));
        if (!type) choice(read, "type", element_type_names());  // throws, with what would have been right
        return type.value();
    }
    if (!scenario) return ElementType::Float32;
    return gradient_type_of(*scenario, "--type float32 runs as many elements of that type");
}

std::vector<std::uint64_t> read_sizes(const Arguments& read, const BenchSetup& setup) {
    const std::uint64_t element = element_bytes(setup.type);
    if (!read.has("bytes")) {
        if (setup.scenario) return {setup.scenario->workload.gradient_elements * element};
        return parse_size_list("64 KiB..32 MiB", {"default sizes", 0, 0});
    }
    const std::vector<std::uint64_t> sizes = parse_size_list(read.text("bytes"), {"--bytes", 0, 0});
    require_whole_elements(sizes, element_of(setup.type), {"--bytes", 0, 0});
    return sizes;
}

std::vector<StrategyChoice> read_strategies(const Arguments& read, const std::optional<Scenario>& scenario) {
    const bool given = read.has("strategy");
    std::vector<std::string> names = strategy_names();
    if (scenario) names = scenario->strategies;
    if (given) names = split_strategy_list(read.text("strategy"));
    return parse_strategies(names, {given ? "--strategy" : scenario ? scenario->name : "", 0, 0}, "");
}

std::optional<Cluster> read_bench_cluster(const Arguments& read, const std::optional<Scenario>& scenario) {
    if (!read.has("cluster")) return scenario ? std::optional(scenario->cluster) : std::nullopt;
    return load_cluster(read.text("cluster"), "--cluster").cluster;
}

std::string described(const Schedule& schedule) {
    if (schedule.servers() == 0) return fmt::format("{} workers take {} ranks", schedule.workers, schedule.ranks);
    return fmt::format("{} workers and {} servers take {} ranks", schedule.workers, schedule.servers(), schedule.ranks);
}

// Contenders that differ in their schedule only, for the choice that leaves something open may have one for each size.
struct Occasion {
    std::int32_t ranks = 0;
    std::optional<std::int32_t> workers;  // asked for
    std::uint64_t elements = 0;
    std::uint32_t element_bytes = 0;
    std::optional<CostModel> cost;
};

// The most workers that, with their servers, are exactly the ranks there are; or just as many as asked for.
Contender plan_contender(const StrategyChoice& requested, const Occasion& occasion) {
    Contender contender;
    contender.requested = contender.name = requested.canonical();
    contender.choice = requested;
    const std::int32_t most = occasion.workers.value_or(occasion.ranks);
    const std::int32_t least = occasion.workers.value_or(1);
    const std::int32_t gpus_per_node = occasion.cost ? occasion.cost->cluster().gpus_in_a_row() : 1;
    if (!requested.strategy->schedule && !is_open(requested)) {
        contender.collective = {most, requested.parameters, gpus_per_node};
        contender.workers = most;
        contender.refusal = "measured times have no schedule to execute";
        return contender;
    }
    std::optional<std::string> reason;
    for (std::int32_t n = most; n >= least; --n) {
        const Settled settled = settle(requested, {n, {}, gpus_per_node}, occasion.elements, occasion.element_bytes,
                                       occasion.cost ? &*occasion.cost : nullptr);
        std::shared_ptr<const Schedule> schedule;
        if (!settled.refusal)
            schedule = std::make_shared<const Schedule>(settled.choice.strategy->schedule(settled.collective));
        if (schedule && (occasion.workers ? schedule->ranks <= occasion.ranks : schedule->ranks == occasion.ranks)) {
            contender.choice = settled.choice;
            contender.name = settled.choice.canonical();
            contender.collective = settled.collective;
            contender.workers = n;
            contender.schedule = schedule;
            contender.schedule_hash = schedule_hash(*schedule);
            contender.ranks = schedule->ranks;
            return contender;
        }
        if (!reason)
            reason = settled.refusal ? *settled.refusal
                                     : fmt::format("{}; there are {}", described(*schedule), occasion.ranks);
    }
    contender.collective = {most, requested.parameters, gpus_per_node};
    contender.workers = most;
    contender.refusal = reason;
    return contender;
}

void plan_contenders(const Arguments& read, std::int32_t ranks, BenchSetup& setup) {
    std::optional<std::int32_t> workers;
    if (read.has("workers")) workers = whole_number(read, "workers", 1, kMostCheckedWorkers);
    if (workers && *workers > ranks)
        throw UserError({{"--workers", 0, 0},
                         "",
                         std::to_string(*workers),
                         fmt::format("no more workers than the {} ranks that mpirun has started", ranks),
                         fmt::format("mpirun -np {} coppice-run bench ...", *workers)});
    if (read.has("only-mpi")) {
        for (const char* other : {"no-mpi", "strategy"})
            if (read.has(other))
                throw UserError(
                    {{"command line", 0, 0}, "", fmt::format("--only-mpi and --{}", other), "one of them", ""});
    }
    const std::vector<StrategyChoice> choices =
        read.has("only-mpi") ? std::vector<StrategyChoice>{} : read_strategies(read, setup.scenario);
    Occasion occasion{ranks, workers, 0, element_bytes(setup.type), {}};
    if (setup.cluster) occasion.cost.emplace(*setup.cluster);
    for (const StrategyChoice& choice : choices) {
        if (!is_open(choice)) {
            setup.contenders.push_back(plan_contender(choice, occasion));
            continue;
        }
        for (const std::uint64_t bytes : setup.sizes) {
            occasion.elements = bytes / occasion.element_bytes;
            setup.contenders.push_back(plan_contender(choice, occasion));
            setup.contenders.back().bytes = bytes;
        }
    }
    if (read.has("no-mpi")) return;
    Contender own;
    own.requested = own.name = kMpiRow;
    own.workers = own.ranks = workers.value_or(ranks);
    setup.contenders.push_back(own);
}

}  // namespace

void print_bench_help() {
    read_arguments({"--help"}, bench_options(), {"scenario"}, kHelp);
}

BenchSetup read_bench_setup(const std::vector<std::string>& arguments, std::int32_t ranks) {
    const Arguments read = read_arguments(arguments, bench_options(), {"scenario"}, kHelp);
    if (ranks > kMostCheckedWorkers)
        throw UserError({{"command line", 0, 0},
                         "",
                         fmt::format("{} ranks", ranks),
                         fmt::format("at most {}, beyond which results could not be checked", kMostCheckedWorkers),
                         ""});
    BenchSetup setup;
    if (read.has("scenario")) setup.scenario = load_scenario(read.text("scenario"), {});
    setup.type = read_type(read, setup.scenario);
    setup.sizes = read_sizes(read, setup);
    setup.cluster = read_bench_cluster(read, setup.scenario);
    read_measure_options(read, setup.cluster, setup);
    plan_contenders(read, ranks, setup);
    return setup;
}

std::vector<Fact> facts_of(const BenchSetup& setup) {
    std::vector<Fact> facts{
        {"version", fmt::format("{} ({})", kVersion, kRevision)},
        {"scenario", setup.scenario ? setup.scenario->name + " " + setup.scenario->hash : "none"},
        {"element type", std::string(element_type_name(setup.type))},
        {"list of sizes", fmt::format("{}", fmt::join(setup.sizes, " "))},
        {"number of repetitions", fmt::format("{} + {}", setup.warmup, setup.repetitions)},
        {"segment", fmt::format("{} x {}", setup.mpi.segment_bytes, setup.mpi.segments_in_flight)},
        {"number of contenders", std::to_string(setup.contenders.size())},
    };
    for (const Contender& contender : setup.contenders) {
        facts.push_back({"contender", contender.name});
        facts.push_back({fmt::format("schedule of {} on {} ranks", contender.name, contender.ranks),
                         contender.refusal ? "n/a" : contender.schedule_hash});
    }
    return facts;
}

}  // namespace coppice::program
