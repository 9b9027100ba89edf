// A cluster as the text of a cluster file, which read_cluster reads back (docs/scenario-files.md has the keys). What
// `coppice fit` writes.
//
// Every quantity reads back as the same double; relative errors of a fit are rounded to seven digits. A rate that
// follows from the memory bandwidth unless told is left out where it does.
#pragma once

#include "common/cluster/cluster.hpp"

#include <string>

namespace coppice {

// `comment`: lines for the top of the file; "# " is put before each.
std::string cluster_toml(const Cluster& cluster, const std::string& comment);

}  // namespace coppice
