// Where coppice finds its own scenarios, clusters, models and plot scripts.
#pragma once

#include "common/diag/error.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace coppice {

// COPPICE_DATA_DIR if set; else <program>/../share/coppice (installed); else the nearest folder above the program that
// has scenarios/models (a build tree inside the source tree). EnvironmentError if there is none.
std::filesystem::path data_folder();

// Kinds: "clusters", "models", "papers", "examples": the folders below scenarios/.
std::vector<std::string> data_names(const std::string& kind);  // without ".toml", sorted

// What `use = "NAME"` means: a path if it has a '/' or ends in ".toml" (relative to `beside`), else a built-in of this
// kind. UserError at `where` with the nearest names if there is no such built-in.
std::filesystem::path find_data(const std::string& kind, const std::string& name, const std::filesystem::path& beside,
                                const SourceLocation& where, const std::string& key);

}  // namespace coppice
