// The engine "sim" (common/step/engine.hpp): each job is played by SimGrid in a process of its own (only one
// SimGrid engine can live in a process), several at a time; results come back in the order of the jobs, so nothing
// depends on how many run at once.
#pragma once

#include "common/step/engine.hpp"

#include <string>

namespace coppice {

// parallel: processes at a time; 0: one per core. Shows progress on stderr where that is a terminal and the work is
// long.
Engine simulation_engine(int parallel);

std::string simulation_engine_name();  // "sim (SimGrid version 3.32)"

}  // namespace coppice
