// What a run's records must not contain, since it changes from run to run: date, host, build. Kept in a file beside
// them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace coppice {

// One JSON object, indented: program, version, revision, engine, arguments, date (UTC, ISO 8601), host, system,
// processors, build type, compiler, sanitizers; and what the caller adds (name, text).
std::string context_json(const std::string& program, const std::vector<std::string>& arguments,
                         const std::string& engine, const std::vector<std::pair<std::string, std::string>>& more = {});

}  // namespace coppice
