// The program coppice-run: every rank runs this. Rank 0 writes results; what all ranks agree to be wrong is printed
// once, what befalls one rank is printed by that rank, which then takes the others down (MPI_Abort).
#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/version.hpp"
#include "runtime/agreement.hpp"
#include "runtime/program/command.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace coppice::program {

namespace {

volatile std::sig_atomic_t interrupted_by = 0;

extern "C" void note_signal(int signal) {
    interrupted_by = signal;
}

std::string overview() {
    std::string text =
        "coppice-run executes coppice's communication schedules for real, over MPI, and measures them.\n\n"
        "Usage: mpirun -np RANKS coppice-run COMMAND [arguments]\n\nCommands:\n";
    for (const RunCommand& command : run_commands()) text += fmt::format("  {:<10}{}\n", command.name, command.help);
    text +=
        "\n  coppice-run COMMAND --help    options and examples of a command\n"
        "  coppice-run --version\n\n"
        "Example:\n  mpirun -np 4 coppice-run bench --bytes '1 MiB..32 MiB'\n\n"
        "Exit codes: 0 done, 1 internal error, 2 the input is wrong, 3 the machine said no (MPI, memory, files) or\n"
        "            nothing moved for --timeout seconds, 4 a result was not the sum, 130 interrupted\n";
    return text;
}

int run(const Communicator& world, const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
        if (world.rank() == 0) print(overview());
        return static_cast<int>(arguments.empty() ? ExitCode::BadInput : ExitCode::Ok);
    }
    if (arguments[0] == "--version") {
        if (world.rank() == 0) print(fmt::format("coppice-run {}\n", kVersion));
        return 0;
    }
    const RunCommand* found = nullptr;
    together(world, {.interrupt = interrupt_flag()}, [&] {
        std::vector<std::string> names;
        for (const RunCommand& command : run_commands()) {
            if (command.name == arguments[0]) found = &command;
            names.emplace_back(command.name);
        }
        if (found == nullptr)
            throw UserError({{"command line", 0, 0},
                             "",
                             "'" + arguments[0] + "'",
                             "a command of coppice-run",
                             did_you_mean(arguments[0], names)});
    });
    return found->run(world, {arguments.begin() + 1, arguments.end()});
}

void say(const char* message) {
    std::fflush(stdout);
    std::fprintf(stderr, "coppice-run: %s\n", message);
    std::fflush(stderr);
}

// Of one rank: the others may be anywhere, so they are ended with it.
[[noreturn]] void abort_all(int code, const std::string& message) {
    say(message.c_str());
    // After a signal mpirun is ending the job already (or does so when this rank is gone), and MPI_Abort, which wants
    // to talk to it, may never return.
    if (interrupted_by != 0) std::_Exit(128 + interrupted_by);
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
}

int guarded(const std::vector<std::string>& arguments) {
    const Communicator world(MPI_COMM_WORLD);
    const auto rank = [&world](const char* message) { return fmt::format("rank {}: {}", world.rank(), message); };
    try {
        return run(world, arguments);
    } catch (const AgreedFailure& failure) {
        if (world.rank() == 0) say(failure.what());
        return failure.exit_code();
    } catch (const UserError& error) {
        abort_all(static_cast<int>(ExitCode::BadInput), rank(error.what()));
    } catch (const EnvironmentError& error) {
        abort_all(static_cast<int>(ExitCode::Environment), error.what());
    } catch (const Interrupted& interrupt) {
        abort_all(128 + interrupt.signal(), rank("interrupted"));
    } catch (const std::bad_alloc&) {
        abort_all(static_cast<int>(ExitCode::Environment), rank("out of memory"));
    } catch (const std::exception& error) {
        abort_all(static_cast<int>(ExitCode::Internal), rank(error.what()));
    }
}

}  // namespace

const std::vector<RunCommand>& run_commands() {
    static const std::vector<RunCommand> all{
        {"bench", "all-reduce by each strategy and size: time, bandwidth, checked results", run_bench},
        {"step", "training steps of a scenario: modelled compute, real communication; speedup", run_step},
        {"probe", "latency, bandwidth, summing rate of this machine, for coppice fit", run_probe},
    };
    return all;
}

const volatile std::sig_atomic_t* interrupt_flag() {
    return &interrupted_by;
}

bool asks_for_help(const std::vector<std::string>& arguments) {
    for (const std::string& argument : arguments)
        if (argument == "--help" || argument == "-h") return true;
    return false;
}

}  // namespace coppice::program

int main(int argc, char** argv) {
    // A reader that goes away (| head) shall be an error of the write, not a silent death in the middle.
    std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    MPI_Init(&argc, &argv);
    std::signal(SIGINT, coppice::program::note_signal);
    std::signal(SIGTERM, coppice::program::note_signal);
    const int code = coppice::program::guarded(arguments);
    MPI_Finalize();
    return code;
}
