// How long a user waits for `coppice predict`, and how much memory its largest process takes: whole runs of the
// program, eight points (1 to 128 GPUs) and three strategies.
//
//   cmake --preset release -DCOPPICE_BENCH=ON && cmake --build --preset release &&
//   build/release/bench/bench_predict_sweep
#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <string>
#include <vector>

extern char** environ;

namespace {

// false if the program could not be run or failed. Output goes to /dev/null.
bool run(std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    return error == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void predict(benchmark::State& state, const std::string& scenario, const std::string& engine) {
    for (auto _ : state) {
        if (!run({COPPICE_PROGRAM, "predict", scenario, "--gpus", "1..128", "--strategy", "ps,tree,ring", "--engine",
                  engine})) {
            state.SkipWithError("coppice predict failed");
            return;
        }
    }
    // The largest of all descendants so far, in KiB: an upper bound for this benchmark.
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    state.counters["largest_process_MB"] = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

}  // namespace

BENCHMARK_CAPTURE(predict, googlenet_closed_form, "firecaffe-googlenet", "closed-form")
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Repetitions(5);
BENCHMARK_CAPTURE(predict, googlenet_simulated, "firecaffe-googlenet", "sim")
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Repetitions(5);

BENCHMARK_MAIN();
