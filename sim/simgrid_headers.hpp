// SimGrid's headers in the order in which they compile: version.h relies on what s4u.hpp brings. For .cpp files only.
#pragma once

#include <simgrid/s4u.hpp>

// Not in the block above, or clang-format would sort it first.
#include <simgrid/version.h>
