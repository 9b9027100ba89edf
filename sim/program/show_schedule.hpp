// A schedule so that a person can follow it.
#pragma once

#include "common/schedule/schedule.hpp"
#include "common/schedule/verifier.hpp"

#include <optional>
#include <string>

namespace coppice::program {

// What it is and what was proved; then phase by phase, round by round, what each rank (or only that one) does on each
// of its lanes.
std::string schedule_text(const Schedule& schedule, const Verdict& proof, std::optional<Rank> only);

// A digraph for Graphviz's dot: ranks from left to right, rounds from top to bottom, an arrow a message; solid where it
// is added, dashed where it replaces. COPPICE_CHECK: no receive from any rank.
std::string schedule_dot(const Schedule& schedule);

}  // namespace coppice::program
