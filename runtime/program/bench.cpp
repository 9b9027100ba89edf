// coppice-run bench: strategies x sizes, executed and timed.
#include "common/diag/error.hpp"
#include "common/schedule/verifier.hpp"
#include "runtime/program/bench_measure.hpp"
#include "runtime/program/bench_plan.hpp"
#include "runtime/program/bench_report.hpp"
#include "runtime/program/command.hpp"

#include <map>
#include <memory>
#include <optional>

namespace coppice::program {

namespace {

// Communicators of the first n ranks, made once for each n. Ranks outside have none.
class Parts {
public:
    explicit Parts(const Communicator& world) : world_(world) {}

    const Communicator* first(std::int32_t ranks) {
        const auto found = parts_.find(ranks);
        if (found != parts_.end()) return found->second.get();
        MPI_Comm part = MPI_COMM_NULL;
        const int color = world_.rank() < ranks ? 0 : MPI_UNDEFINED;
        world_.check(MPI_Comm_split(world_.get(), color, world_.rank(), &part), "MPI_Comm_split");
        std::unique_ptr<Communicator>& made = parts_[ranks];
        if (part != MPI_COMM_NULL) {
            made = std::make_unique<Communicator>(part);
            MPI_Comm_free(&part);
        }
        return made.get();
    }

private:
    const Communicator& world_;
    std::map<std::int32_t, std::unique_ptr<Communicator>> parts_;
};

// On rank 0: since all ranks have the same schedules (require_same), what is proved here is proved for them.
void prove(const BenchSetup& setup) {
    for (const Contender& contender : setup.contenders) {
        if (!contender.schedule) continue;
        const Verdict verdict = verify(*contender.schedule);
        COPPICE_CHECK(verdict.ok(), "{}: {}", contender.name, verdict.flaw->message);
    }
}

std::unique_ptr<AllReduce> make_all_reduce(const Communicator& part, const Contender& contender,
                                           const BenchSetup& setup, std::uint64_t elements) {
    if (!contender.schedule) return mpi_all_reduce(part, elements, setup.type, setup.mpi);
    Binding binding;
    binding.tensors.assign(contender.schedule->tensors.size(), {elements, element_bytes(setup.type)});
    return schedule_all_reduce(part, *contender.schedule, binding, setup.type, setup.mpi);
}

// What was sent is what the schedule says, or the figure would be of something else.
void check_traffic(const Contender& contender, const BenchSetup& setup, std::uint64_t elements,
                   const Measured& measured) {
    if (!contender.schedule) return;
    Binding binding;
    binding.tensors.assign(contender.schedule->tensors.size(), {elements, element_bytes(setup.type)});
    const std::uint64_t bytes = bytes_sent(*contender.schedule, binding);
    COPPICE_CHECK(measured.sent.bytes == bytes, "{} sent {} bytes, its schedule {}", contender.name,
                  measured.sent.bytes, bytes);
}

std::optional<Measured> measure_contender(const Communicator& world, Parts& parts, const Contender& contender,
                                          const BenchSetup& setup, std::uint64_t bytes) {
    const Communicator* part = parts.first(contender.ranks);
    const std::uint64_t elements = bytes / element_bytes(setup.type);
    // Who has no part waits here until the others have measured, however long that takes.
    WaitOptions wait = setup.mpi.wait;
    if (part == nullptr) {
        wait.doze = true;
        wait.timeout_s = 1e9;
    }
    std::unique_ptr<AllReduce> all_reduce;
    together(world, wait, [&] {
        if (part != nullptr) all_reduce = make_all_reduce(*part, contender, setup, elements);
    });
    std::optional<Measured> measured;
    if (part != nullptr) {
        const MeasureOptions options{setup.type,   contender.workers, elements,
                                     setup.warmup, setup.repetitions, setup.mpi.wait};
        measured = measure(*part, *all_reduce, options);
        if (world.rank() == 0) check_traffic(contender, setup, elements, *measured);
    }
    world.barrier("MPI_Ibarrier after a row", wait);
    return measured;
}

}  // namespace

int run_bench(const Communicator& world, const std::vector<std::string>& arguments) {
    if (asks_for_help(arguments)) {
        if (world.rank() == 0) print_bench_help();
        return 0;
    }
    WaitOptions wait;
    wait.interrupt = interrupt_flag();
    BenchSetup setup;
    together(world, wait, [&] { setup = read_bench_setup(arguments, world.size()); });
    require_same(world, wait, facts_of(setup));
    const Crowd crowd = survey_crowd(world, wait);
    setup.mpi.wait.yield = crowd.crowded;
    std::optional<BenchReport> report;
    together(world, wait, [&] {
        if (world.rank() != 0) return;
        prove(setup);
        report.emplace(setup, arguments, crowd, world.size());
    });
    Parts parts(world);
    for (const std::uint64_t bytes : setup.sizes) {
        for (const Contender& contender : setup.contenders) {
            std::optional<Measured> measured;
            if (!contender.refusal) measured = measure_contender(world, parts, contender, setup, bytes);
            if (report) report->row(contender, bytes, measured);
        }
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
