#include "sim/program/gnuplot.hpp"

#include "common/diag/error.hpp"
#include "common/scenario/data_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace coppice::program {

namespace fs = std::filesystem;

namespace {

// Runs gnuplot without a shell; throws if it cannot be run or fails, with what it said, or if a signal came meanwhile
// (ctrl-C on a terminal reaches gnuplot as well, which then stops at once).
void run_gnuplot(const std::vector<std::string>& arguments, const std::string& what, const HeldSignals& signals) {
    std::array<int, 2> pipe_ends{};
    if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) throw EnvironmentError("run gnuplot", std::strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &signals.mask_before());
    std::vector<char*> argv;
    std::vector<std::string> words(arguments);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, "gnuplot", &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ::close(pipe_ends[1]);
    std::string said;
    if (error == 0) {
        std::array<char, 4096> block{};
        ssize_t got = 0;
        while ((got = ::read(pipe_ends[0], block.data(), block.size())) > 0 || (got < 0 && errno == EINTR))
            if (got > 0) said.append(block.data(), static_cast<std::size_t>(got));
    }
    ::close(pipe_ends[0]);
    if (error != 0)
        throw EnvironmentError(
            "run gnuplot",
            fmt::format("{}{}", std::strerror(error), error == ENOENT ? "; Debian: apt-get install gnuplot-nox" : ""));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    signals.check();
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM))
        throw Interrupted(WTERMSIG(status));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw EnvironmentError(fmt::format("draw {}", what),
                               said.empty() ? "gnuplot failed and says nothing" : "gnuplot says: " + said);
}

std::vector<std::string> command_line(const Drawing& drawing, const std::string& format, const fs::path& out) {
    const fs::path plots = data_folder() / "plots";
    std::vector<std::string> words{"gnuplot",
                                   "-c",
                                   (plots / (drawing.script + ".gp")).string(),
                                   fs::absolute(drawing.csv).string(),
                                   out.string(),
                                   format,
                                   plots.string()};
    words.insert(words.end(), drawing.arguments.begin(), drawing.arguments.end());
    return words;
}

fs::path draw_one(const Drawing& drawing, const std::string& format, const HeldSignals& signals) {
    const fs::path target = fmt::format("{}.{}", fs::absolute(drawing.target).string(), format);
    const fs::path aside = fmt::format("{}.part-{}", target.string(), ::getpid());
    std::error_code ignored;
    try {
        run_gnuplot(command_line(drawing, format, aside), target.string(), signals);
        if (fs::file_size(aside, ignored) == 0 || ignored)
            throw EnvironmentError(fmt::format("draw {}", target.string()),
                                   "gnuplot wrote nothing (is the disk full?)");
    } catch (...) {
        fs::remove(aside, ignored);
        throw;
    }
    std::error_code error;
    fs::rename(aside, target, error);
    if (error) {
        fs::remove(aside, ignored);
        throw EnvironmentError(fmt::format("write '{}'", target.string()), error.message());
    }
    return target;
}

}  // namespace

std::vector<fs::path> draw(const Drawing& drawing, const std::vector<std::string>& formats,
                           const HeldSignals& signals) {
    std::vector<fs::path> drawn;
    for (const std::string& format : formats) drawn.push_back(draw_one(drawing, format, signals));
    return drawn;
}

}  // namespace coppice::program
