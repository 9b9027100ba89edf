// The program coppice: finds the subcommand, and turns every way to fail into a message on stderr and an exit code
// (docs/cli.md).
#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/version.hpp"
#include "sim/program/command.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

namespace coppice::program {

namespace {

std::string overview() {
    std::string text =
        "coppice predicts the speedup of data-parallel training on 1 to 1024 GPUs under a parameter server,\n"
        "a reduction tree or a ring, from a scenario file.\n\n"
        "Usage: coppice COMMAND [arguments]\n\nCommands:\n";
    for (const Command& command : commands()) text += fmt::format("  {:<11}{}\n", command.name, command.help);
    text +=
        "\n  coppice COMMAND --help    options and examples of a command\n"
        "  coppice --version\n\n"
        "Example:\n  coppice predict firecaffe-googlenet --gpus 1..128\n\n"
        "Exit codes: 0 done, 1 internal error, 2 the input is wrong, 3 the machine said no (files, disk, programs),\n"
        "            130 interrupted\n";
    return text;
}

int run(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const bool alone = !arguments.empty() && (arguments[0] == "--version" || arguments[0] == "help" ||
                                              arguments[0] == "--help" || arguments[0] == "-h");
    if (alone && arguments.size() > 1)
        throw UserError({{"command line", 0, 0},
                         "",
                         "'" + arguments[1] + "'",
                         "nothing after " + arguments[0],
                         "coppice COMMAND --help has the options of a command"});
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
        print(overview());
        return static_cast<int>(arguments.empty() ? ExitCode::BadInput : ExitCode::Ok);
    }
    if (arguments[0] == "--version") {
        print(fmt::format("coppice {}\n", kVersion));
        return 0;
    }
    std::vector<std::string> names;
    for (const Command& command : commands()) {
        if (command.name == arguments[0]) return command.run({arguments.begin() + 1, arguments.end()});
        names.emplace_back(command.name);
    }
    throw UserError(
        {{"command line", 0, 0}, "", "'" + arguments[0] + "'", "a command", did_you_mean(arguments[0], names)});
}

int fail(ExitCode code, const char* message) {
    std::fflush(stdout);
    std::fprintf(stderr, "coppice: %s\n", message);
    return static_cast<int>(code);
}

}  // namespace

}  // namespace coppice::program

int main(int argc, char** argv) {
    using namespace coppice;
    // A reader that goes away (| head) shall be an error of the write, not a silent death in the middle.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return program::run(argc, argv);
    } catch (const UserError& error) {
        return program::fail(ExitCode::BadInput, error.what());
    } catch (const EnvironmentError& error) {
        return program::fail(ExitCode::Environment, error.what());
    } catch (const Interrupted& interrupt) {
        program::fail(ExitCode::Internal, "interrupted; no file is half-written");
        return 128 + interrupt.signal();
    } catch (const std::bad_alloc&) {
        return program::fail(ExitCode::Environment, "out of memory");
    } catch (const std::exception& error) {
        return program::fail(ExitCode::Internal, error.what());
    }
}
