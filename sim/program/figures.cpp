#include "sim/program/figures.hpp"

#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/scenario/data_files.hpp"
#include "sim/program/held_signals.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

extern char** environ;

namespace coppice::program {

namespace fs = std::filesystem;

const std::vector<FigureKind>& figure_kinds() {
    static const std::vector<FigureKind> kinds{
        {"speedup", "speedup against GPUs, with the ideal line and the published points"},
        {"step-time", "the step split into compute, exposed communication and update"},
        {"communication", "time to communicate the gradients against GPUs (FireCaffe's comparison of server and tree)"},
    };
    return kinds;
}

const std::vector<std::string>& figure_formats() {
    static const std::vector<std::string> formats{"pdf", "svg", "png"};
    return formats;
}

FigureRequest figure_request(const std::string& format_option, const std::vector<std::string>& kinds,
                             const std::vector<std::string>& formats) {
    std::vector<std::string> known{"all"};
    for (const FigureKind& kind : figure_kinds()) known.push_back(kind.name);
    FigureRequest request;
    for (const std::string& kind : kinds) {
        if (std::find(known.begin(), known.end(), kind) == known.end())
            throw UserError(
                {{"command line", 0, 0}, "", "'" + kind + "'", "a kind of figure", did_you_mean(kind, known)});
        if (kind == "all")
            request.kinds.assign(known.begin() + 1, known.end());
        else if (std::find(request.kinds.begin(), request.kinds.end(), kind) == request.kinds.end())
            request.kinds.push_back(kind);
    }
    for (const std::string& format : formats) {
        if (std::find(figure_formats().begin(), figure_formats().end(), format) == figure_formats().end())
            throw UserError({{format_option, 0, 0},
                             "",
                             "'" + format + "'",
                             "a file format for figures",
                             did_you_mean(format, figure_formats())});
        request.formats.push_back(format);
    }
    return request;
}

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

struct Drawing {
    std::string kind;
    std::string format;
    std::int64_t batch = 0;  // the global one (strong scaling), or the batch per GPU (weak)
    bool weak = false;
    fs::path target;
    std::string strategies;  // separated by spaces: their names have none
    std::string title;
};

fs::path draw_one(const fs::path& csv, const Drawing& drawing, const HeldSignals& signals) {
    const fs::path plots = data_folder() / "plots";
    const fs::path aside = fmt::format("{}.part-{}", drawing.target.string(), ::getpid());
    std::error_code ignored;
    try {
        run_gnuplot({"gnuplot", "-c", (plots / (drawing.kind + ".gp")).string(), csv.string(), aside.string(),
                     drawing.format, drawing.strategies, std::to_string(drawing.batch),
                     drawing.weak ? "weak" : "strong", drawing.title, plots.string()},
                    drawing.target.string(), signals);
        if (fs::file_size(aside, ignored) == 0 || ignored)
            throw EnvironmentError(fmt::format("draw {}", drawing.target.string()),
                                   "gnuplot wrote nothing (is the disk full?)");
    } catch (...) {
        fs::remove(aside, ignored);
        throw;
    }
    std::error_code error;
    fs::rename(aside, drawing.target, error);
    if (error) {
        fs::remove(aside, ignored);
        throw EnvironmentError(fmt::format("write '{}'", drawing.target.string()), error.message());
    }
    return drawing.target;
}

}  // namespace

namespace {

// One figure compares strategies, everything else being equal.
void check_comparable(const fs::path& csv, const Record& first, const Record& other) {
    const auto same = [&](const char* field, const std::string& a, const std::string& b) {
        if (a != b)
            throw UserError({{csv.string()},
                             field,
                             fmt::format("both '{}' and '{}'", a, b),
                             "records that differ in strategy, GPUs and batch only",
                             "draw each from a file of its own"});
    };
    same("model", first.model, other.model);
    same("cluster", first.cluster, other.cluster);
    same("engine", first.engine, other.engine);
    same("scaling", first.scaling, other.scaling);
    same("gradient_type", first.gradient_type, other.gradient_type);
    same("scenario_hash", first.scenario_hash, other.scenario_hash);
}

}  // namespace

std::vector<fs::path> draw_figures(const fs::path& csv, const std::vector<Record>& records,
                                   const FigureRequest& request, const fs::path& folder) {
    const Record* first = nullptr;
    std::vector<std::string> strategies;
    std::set<std::int64_t> batches;
    bool weak = false;
    std::string title;
    for (const Record& record : records) {
        if (record.status != "ok") continue;
        if (!first) first = &record;
        check_comparable(csv, *first, record);
        if (std::find(strategies.begin(), strategies.end(), record.strategy) == strategies.end())
            strategies.push_back(record.strategy);
        weak = record.scaling == "weak";
        batches.insert(weak ? record.batch_per_gpu : record.global_batch);
        title = fmt::format("{} on {}", record.model, record.cluster);
    }
    if (strategies.empty()) throw UserError({{csv.string()}, "", "no record with status ok", "something to draw", ""});
    std::vector<fs::path> drawn;
    const HeldSignals signals;
    for (const std::string& kind : request.kinds) {
        for (const std::int64_t batch : batches) {
            const std::string name = batches.size() > 1 ? fmt::format("{}-batch{}", kind, batch) : kind;
            for (const std::string& format : request.formats) {
                const fs::path target = folder / fmt::format("{}.{}", name, format);
                drawn.push_back(draw_one(fs::absolute(csv),
                                         {kind, format, batch, weak, fs::absolute(target),
                                          fmt::format("{}", fmt::join(strategies, " ")), title},
                                         signals));
            }
        }
    }
    return drawn;
}

}  // namespace coppice::program
