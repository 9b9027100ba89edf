#include "sim/isolate.hpp"

#include "common/diag/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <new>

#include <unistd.h>

namespace coppice {
namespace {

std::string message_of(const std::vector<IsolatedJob>& jobs) {
    try {
        run_isolated(jobs);
    } catch (const EnvironmentError& error) {
        return error.what();
    }
    return "no EnvironmentError";
}

TEST(RunIsolated, gives_results_in_the_order_of_the_jobs) {
    std::vector<IsolatedJob> jobs;
    for (int i = 0; i < 20; ++i) {
        // The first take the longest, so they end out of order.
        jobs.push_back({"job", [i] {
                            ::usleep(static_cast<useconds_t>(20 - i) * 1000);
                            return std::to_string(i);
                        }});
    }
    std::vector<std::size_t> progress;
    const std::vector<std::string> results = run_isolated(
        jobs, {.parallel = 3, .progress = [&](std::size_t done, std::size_t) { progress.push_back(done); }});
    for (int i = 0; i < 20; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], std::to_string(i));
    EXPECT_EQ(progress.size(), 20u);
    EXPECT_EQ(progress.back(), 20u);
}

TEST(RunIsolated, of_nothing_is_nothing) {
    EXPECT_TRUE(run_isolated({}).empty());
}

TEST(RunIsolated, brings_back_more_than_a_pipe_holds_and_any_bytes) {
    const std::string big = std::string(3'000'000, 'x') + '\0' + "end";
    EXPECT_EQ(run_isolated({{"big", [&] { return big; }}, {"empty", [] { return std::string(); }}}),
              (std::vector<std::string>{big, ""}));
}

TEST(RunIsolated, keeps_jobs_apart_from_the_parent) {
    int value = 1;
    const auto job = [&] { return std::to_string(++value); };
    EXPECT_EQ(run_isolated({{"a", job}, {"b", job}}), (std::vector<std::string>{"2", "2"}));
    EXPECT_EQ(value, 1);
}

TEST(RunIsolated, runs_no_more_than_parallel_at_a_time) {
    // Six jobs of 50 ms, one at a time: at least 300 ms.
    const std::vector<IsolatedJob> jobs(6, {"sleep", [] {
                                                ::usleep(50'000);
                                                return std::string();
                                            }});
    const auto begin = std::chrono::steady_clock::now();
    run_isolated(jobs, {.parallel = 1, .progress = {}});
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
}

TEST(RunIsolated, writes_what_was_buffered_only_once) {
    ::testing::internal::CaptureStdout();
    std::printf("once ");
    run_isolated({{"a", [] { return std::string(); }}, {"b", [] { return std::string(); }}});
    std::fflush(stdout);
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "once ");
}

TEST(RunIsolated, passes_a_user_error_on_whole) {
    const UserErrorParts parts{{"titan.toml", 3, 12}, "cluster.link", "'x'", "a link", "did you mean 'y'?"};
    try {
        run_isolated({{"simulate", [&]() -> std::string { throw UserError(parts); }}});
        FAIL() << "no UserError";
    } catch (const UserError& error) {
        EXPECT_STREQ(error.what(), UserError(parts).what());
        EXPECT_EQ(error.parts().where.line, 3);
        EXPECT_EQ(error.parts().hint, parts.hint);
    }
}

TEST(RunIsolated, says_which_job_failed_and_why) {
    EXPECT_EQ(message_of({{"simulate ring on 8 GPUs", []() -> std::string { throw std::runtime_error("no luck"); }}}),
              "cannot simulate ring on 8 GPUs: no luck");
    EXPECT_EQ(message_of({{"simulate ring", []() -> std::string { throw std::bad_alloc(); }}}),
              "cannot simulate ring: out of memory");
    EXPECT_EQ(message_of({{"simulate ring", []() -> std::string { ::_exit(7); }}}),
              "cannot simulate ring: its process ended early with exit code 7");
    EXPECT_EQ(message_of({{"simulate ring", []() -> std::string { std::abort(); }}}),
              "cannot simulate ring: its process was killed by signal 6 (Aborted)");
    EXPECT_EQ(message_of({{"simulate ring",
                           []() -> std::string {
                               ::kill(::getpid(), SIGKILL);
                               return "";
                           }}}),
              "cannot simulate ring: its process was killed by signal 9 (Killed); was there too little memory?");
}

// A job that leaves its process id in a file and then sleeps much longer than a test may take.
IsolatedJob sleeper(const std::string& file) {
    return {"sleep", [file] {
                std::ofstream(file + ".part") << ::getpid();
                ::rename((file + ".part").c_str(), file.c_str());
                ::sleep(100);
                return std::string();
            }};
}

void wait_for(const std::string& file) {
    while (::access(file.c_str(), F_OK) != 0) ::usleep(1000);
}

pid_t pid_in(const std::string& file) {
    pid_t pid = 0;
    std::ifstream(file) >> pid;
    return pid;
}

struct PidFile {
    explicit PidFile(const char* name) : path(::testing::TempDir() + name + std::to_string(::getpid())) {}
    ~PidFile() { ::unlink(path.c_str()); }
    std::string path;
};

TEST(RunIsolated, kills_the_other_jobs_when_one_fails) {
    const PidFile file("coppice_isolate_a");
    EXPECT_THROW(run_isolated({sleeper(file.path),
                               {"fail",
                                [&]() -> std::string {
                                    wait_for(file.path);
                                    throw std::runtime_error("no luck");
                                }}},
                              {.parallel = 2, .progress = {}}),
                 EnvironmentError);
    EXPECT_EQ(::kill(pid_in(file.path), 0), -1);
    EXPECT_EQ(errno, ESRCH);
}

TEST(RunIsolated, kills_all_jobs_on_a_signal_and_throws_interrupted) {
    for (const int signal : {SIGINT, SIGTERM}) {
        const PidFile file("coppice_isolate_b");
        const auto begin = std::chrono::steady_clock::now();
        int thrown = 0;
        try {
            run_isolated({sleeper(file.path),
                          {"interrupt",
                           [&, signal]() -> std::string {
                               wait_for(file.path);
                               ::kill(::getppid(), signal);
                               ::sleep(100);
                               return "";
                           }}},
                         {.parallel = 2, .progress = {}});
        } catch (const Interrupted& interrupted) {
            thrown = interrupted.signal();
        }
        EXPECT_EQ(thrown, signal);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
        EXPECT_EQ(::kill(pid_in(file.path), 0), -1);
        EXPECT_EQ(errno, ESRCH);
    }
}

TEST(RunIsolated, leaves_signal_handling_as_it_was) {
    struct sigaction before = {};
    sigaction(SIGINT, nullptr, &before);
    run_isolated({{"a", [] { return std::string(); }}});
    struct sigaction after = {};
    sigaction(SIGINT, nullptr, &after);
    EXPECT_EQ(before.sa_handler, after.sa_handler);
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    EXPECT_EQ(sigismember(&mask, SIGINT), 0);
}

}  // namespace
}  // namespace coppice
