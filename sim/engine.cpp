#include "sim/engine.hpp"

#include "sim/simgrid_executor.hpp"
#include "sim/simgrid_headers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace coppice {

namespace {

using Clock = std::chrono::steady_clock;

// One line on a terminal, rewritten; silent for work that ends soon, so that a quick sweep does not flicker.
class Progress {
public:
    void show(std::size_t done, std::size_t total) {
        if (::isatty(STDERR_FILENO) == 0) return;
        const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin_).count();
        if (elapsed_s < 2 && !shown_) return;
        if (done == total) {
            std::fprintf(stderr, "\r\033[K");
            return;
        }
        // Points differ in size, so this is a guess until most are done; it is better than none.
        const double left_s = done == 0 ? 0 : elapsed_s / static_cast<double>(done) * static_cast<double>(total - done);
        std::fprintf(stderr, "\r\033[Kcoppice: %zu of %zu simulations, about %.0f s left", done, total, left_s);
        shown_ = true;
    }

private:
    Clock::time_point begin_ = Clock::now();
    bool shown_ = false;
};

}  // namespace

Engine simulation_engine(int parallel) {
    const auto everything = [](std::int64_t, const Cluster&) { return std::optional<std::string>(); };
    const auto run = [parallel](const std::vector<EngineJob>& jobs) {
        std::vector<SimJob> simulations;
        simulations.reserve(jobs.size());
        for (const EngineJob& job : jobs)
            simulations.push_back({fmt::format("simulate {}", job.label), job.schedule, job.binding, job.cost, false});
        Progress progress;
        IsolateOptions options;
        options.parallel = static_cast<unsigned>(parallel);
        options.progress = [&](std::size_t done, std::size_t total) { progress.show(done, total); };
        const std::vector<SimResult> results = simulate_isolated(simulations, options);
        std::vector<double> seconds;
        seconds.reserve(jobs.size());
        for (std::size_t i = 0; i < jobs.size(); ++i)
            seconds.push_back(results[i].workers_end_s(jobs[i].schedule->workers));
        return seconds;
    };
    return {"sim", "simulation", everything, run, true};
}

std::string simulation_engine_name() {
    return fmt::format("sim ({})", SIMGRID_VERSION_STRING);
}

}  // namespace coppice
