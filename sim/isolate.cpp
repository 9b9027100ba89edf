#include "sim/isolate.hpp"

#include "common/diag/error.hpp"
#include "sim/byte_stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace coppice {

namespace {

// The first byte that a child writes.
enum class Outcome : char { Result = 'r', UserError = 'u', OtherError = 'e' };

std::string error_text() {
    return std::strerror(errno);
}

volatile std::sig_atomic_t g_signal = 0;
void note_signal(int signal) {
    g_signal = signal;
}

// While it lives SIGINT and SIGTERM are only noted, and only delivered inside ppoll(mask_while_polling), so that none
// is lost between a look at the note and the wait. A signal that was ignored before (nohup) stays so.
class SignalGuard {
public:
    SignalGuard() {
        g_signal = 0;
        sigset_t block;
        sigemptyset(&block);
        for (std::size_t i = 0; i < kSignals.size(); ++i) {
            sigaddset(&block, kSignals[i]);
            struct sigaction noting = {};
            noting.sa_handler = note_signal;
            sigaction(kSignals[i], &noting, &before_[i]);
            if (before_[i].sa_handler == SIG_IGN) sigaction(kSignals[i], &before_[i], nullptr);
        }
        pthread_sigmask(SIG_BLOCK, &block, &mask_before_);
    }
    ~SignalGuard() {
        for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
        pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    }
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;

    // In a child: signals kill it as they would kill any process.
    void release_in_child() const {
        for (std::size_t i = 0; i < kSignals.size(); ++i) {
            if (before_[i].sa_handler != SIG_IGN) std::signal(kSignals[i], SIG_DFL);
        }
        pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    }
    const sigset_t& mask_while_polling() const { return mask_before_; }
    int noted() const { return g_signal; }

private:
    static constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};
    std::array<struct sigaction, 2> before_{};
    sigset_t mask_before_{};
};

void write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) ::_exit(1);  // nobody reads: the parent is gone or gives up
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void put_user_error(ByteWriter& writer, const UserErrorParts& parts) {
    writer.put_text(parts.where.file);
    writer.put(parts.where.line);
    writer.put(parts.where.column);
    for (const std::string& text : {parts.key, parts.found, parts.expected, parts.hint}) writer.put_text(text);
}

UserError get_user_error(ByteReader reader) {
    UserErrorParts parts;
    parts.where.file = reader.get_text();
    parts.where.line = reader.get<int>();
    parts.where.column = reader.get<int>();
    for (std::string* text : {&parts.key, &parts.found, &parts.expected, &parts.hint}) *text = reader.get_text();
    return UserError(std::move(parts));
}

[[noreturn]] void be_child(const IsolatedJob& job, int pipe) {
    const auto say = [pipe](Outcome outcome, std::string_view text) {
        const char first = static_cast<char>(outcome);
        write_all(pipe, {&first, 1});
        write_all(pipe, text);
    };
    try {
        say(Outcome::Result, job.run());
    } catch (const UserError& error) {
        ByteWriter writer;
        put_user_error(writer, error.parts());
        say(Outcome::UserError, writer.take());
    } catch (const std::bad_alloc&) {
        say(Outcome::OtherError, "out of memory");
    } catch (const std::exception& error) {
        say(Outcome::OtherError, error.what());
    } catch (...) {
        say(Outcome::OtherError, "an exception of unknown type");
    }
    std::fflush(nullptr);
    ::_exit(0);  // no destructors and no atexit of the parent's
}

class Children {
public:
    Children(const std::vector<IsolatedJob>& jobs, const SignalGuard& signals) : jobs_(jobs), signals_(signals) {}
    ~Children() {
        for (const Child& child : running_) ::kill(child.pid, SIGKILL);
        for (const Child& child : running_) {
            reap(child.pid);
            ::close(child.pipe);
        }
    }
    Children(const Children&) = delete;
    Children& operator=(const Children&) = delete;

    std::size_t running() const { return running_.size(); }

    void start(std::size_t job) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) throw EnvironmentError(jobs_[job].label, "no pipe: " + error_text());
        // What stands in the buffers would be written once more by the child.
        std::cout.flush();
        std::fflush(nullptr);
        const pid_t parent = ::getpid();
        const pid_t pid = ::fork();
        if (pid == 0) {
#ifdef __linux__
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also if the parent dies without a chance to kill
            if (::getppid() != parent) ::_exit(1);
#endif
            signals_.release_in_child();
            ::close(ends[0]);
            be_child(jobs_[job], ends[1]);
        }
        const std::string why = error_text();
        ::close(ends[1]);
        if (pid < 0) {
            ::close(ends[0]);
            throw EnvironmentError(jobs_[job].label, "no process: " + why);
        }
        running_.push_back({pid, ends[0], job, {}});
    }

    // Waits for something to happen and hands each child that has ended to done(job, its bytes).
    template <typename Done>
    void wait(Done done) {
        std::vector<pollfd> polled;
        for (const Child& child : running_) polled.push_back({child.pipe, POLLIN, 0});
        const int ready = ::ppoll(polled.data(), polled.size(), nullptr, &signals_.mask_while_polling());
        if (ready < 0 && errno != EINTR) throw EnvironmentError("wait for simulations", error_text());
        if (ready <= 0) return;
        for (std::size_t i = running_.size(); i-- > 0;) {
            if (polled[i].revents == 0 || !read_some(running_[i])) continue;
            const Child ended = std::move(running_[i]);
            running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
            ::close(ended.pipe);
            check_status(jobs_[ended.job], reap(ended.pid), ended.bytes);
            done(ended.job, ended.bytes);
        }
    }

private:
    struct Child {
        pid_t pid;
        int pipe;
        std::size_t job;
        std::string bytes;
    };

    static int reap(pid_t pid) {
        int status = 0;
        while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        return status;
    }

    // True at the end of the pipe.
    static bool read_some(Child& child) {
        char buffer[1 << 16];
        const ssize_t got = ::read(child.pipe, buffer, sizeof buffer);
        if (got < 0) return errno != EINTR && errno != EAGAIN;
        child.bytes.append(buffer, static_cast<std::size_t>(got));
        return got == 0;
    }

    static void check_status(const IsolatedJob& job, int status, const std::string& bytes) {
        if (WIFSIGNALED(status)) {
            const int signal = WTERMSIG(status);
            // Ctrl-C on a terminal goes to the children too, and theirs may be seen before ours.
            if (signal == SIGINT || signal == SIGTERM) throw Interrupted(signal);
            std::string why = fmt::format("its process was killed by signal {} ({})", signal, ::strsignal(signal));
            if (signal == SIGKILL) why += "; was there too little memory?";
            throw EnvironmentError(job.label, why);
        }
        if (WEXITSTATUS(status) != 0 || bytes.empty()) {
            throw EnvironmentError(job.label,
                                   fmt::format("its process ended early with exit code {}", WEXITSTATUS(status)));
        }
    }

    const std::vector<IsolatedJob>& jobs_;
    const SignalGuard& signals_;
    std::vector<Child> running_;
};

std::string result_of(const IsolatedJob& job, const std::string& bytes) {
    const std::string_view rest = std::string_view(bytes).substr(1);
    switch (static_cast<Outcome>(bytes[0])) {
        case Outcome::Result:
            return std::string(rest);
        case Outcome::UserError:
            throw get_user_error(ByteReader(rest));
        case Outcome::OtherError:
            throw EnvironmentError(job.label, rest);
    }
    COPPICE_CHECK(false, "outcome {} of {}", static_cast<int>(bytes[0]), job.label);
}

}  // namespace

std::vector<std::string> run_isolated(const std::vector<IsolatedJob>& jobs, const IsolateOptions& options) {
    const std::size_t parallel =
        options.parallel > 0 ? options.parallel : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::string> results(jobs.size());
    const SignalGuard signals;
    Children children(jobs, signals);
    std::size_t started = 0;
    std::size_t done = 0;
    while (done < jobs.size()) {
        while (started < jobs.size() && children.running() < parallel) children.start(started++);
        children.wait([&](std::size_t job, const std::string& bytes) {
            results[job] = result_of(jobs[job], bytes);
            ++done;
            if (options.progress) options.progress(done, jobs.size());
        });
        if (signals.noted() != 0) throw Interrupted(signals.noted());
    }
    return results;
}

}  // namespace coppice
