// Runs jobs each in a process of its own, several side by side, and brings their results back. Only one SimGrid engine
// can live in a process, and a process a point keeps a sweep parallel, its memory bounded and its points independent.
//
//   parent ── fork ──▶ child: job.run() ── bytes through a pipe ──▶ parent: results[i]
//
// The parent never touches SimGrid. A job must not depend on threads of the parent, and what it changes in memory is
// lost with the child; only the bytes that it returns come back.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace coppice {

struct IsolatedJob {
    std::string label;  // what is attempted, for errors: "simulate tree on 32 GPUs"
    std::function<std::string()> run;
};

struct IsolateOptions {
    unsigned parallel = 0;  // children at a time; 0: as many as there are cores
    std::function<void(std::size_t done, std::size_t total)> progress;
};

// The jobs' results, in the order of the jobs. If one fails the others are killed, and then thrown is
//   UserError          what the job itself threw as one
//   EnvironmentError   another exception, out of memory, a child that was killed or crashed: names the job's label
//   Interrupted        SIGINT or SIGTERM came meanwhile
std::vector<std::string> run_isolated(const std::vector<IsolatedJob>& jobs, const IsolateOptions& options = {});

}  // namespace coppice
