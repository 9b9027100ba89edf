// coppice-run bench: strategies x sizes, executed and timed.
#include "common/diag/error.hpp"
#include "common/schedule/verifier.hpp"
#include "runtime/program/bench_measure.hpp"
#include "runtime/program/bench_plan.hpp"
#include "runtime/program/bench_report.hpp"
#include "runtime/program/command.hpp"
#include "runtime/program/parts.hpp"

#include <optional>

namespace coppice::program {

namespace {

// On rank 0: since all ranks have the same schedules (require_same), what is proved here is proved for them.
void prove(const BenchSetup& setup) {
    for (const Contender& contender : setup.contenders) {
        if (!contender.schedule) continue;
        const Verdict verdict = verify(*contender.schedule);
        COPPICE_CHECK(verdict.ok(), "{}: {}", contender.name, verdict.flaw->message);
    }
}

Binding binding_of(const Contender& contender, const MeasureSetup& setup, std::uint64_t elements) {
    Binding binding;
    binding.tensors.assign(contender.schedule->tensors.size(), {elements, element_bytes(setup.type)});
    return binding;
}

std::optional<Measured> measure_contender(Parts& parts, const Contender& contender, const BenchSetup& setup,
                                          std::uint64_t bytes) {
    const std::uint64_t elements = bytes / element_bytes(setup.type);
    const MeasureOptions options{setup.type,   contender.workers, elements,
                                 setup.warmup, setup.repetitions, setup.mpi.wait};
    const std::optional<Measured> measured =
        parts.measure_on_first(contender.ranks, options, [&](const Communicator& part) {
            if (!contender.schedule) return mpi_all_reduce(part, elements, setup.type, setup.mpi);
            return schedule_all_reduce(part, *contender.schedule, binding_of(contender, setup, elements), setup.type,
                                       setup.mpi);
        });
    if (measured && contender.schedule)
        check_traffic(contender.name, *contender.schedule, binding_of(contender, setup, elements), *measured);
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
            if (contender.bytes.value_or(bytes) != bytes) continue;
            std::optional<Measured> measured;
            if (!contender.refusal) measured = measure_contender(parts, contender, setup, bytes);
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
