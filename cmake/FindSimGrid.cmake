# Finds SimGrid (Debian ships a pkg-config file and no CMake config) and defines SimGrid::SimGrid.
#   SimGrid_ROOT or CMAKE_PREFIX_PATH point to an installation elsewhere.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_SimGrid QUIET simgrid)
endif()

find_path(SimGrid_INCLUDE_DIR simgrid/s4u.hpp HINTS ${PC_SimGrid_INCLUDE_DIRS})
find_library(SimGrid_LIBRARY simgrid HINTS ${PC_SimGrid_LIBRARY_DIRS})

if(SimGrid_INCLUDE_DIR AND EXISTS "${SimGrid_INCLUDE_DIR}/simgrid/version.h")
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS "${SimGrid_INCLUDE_DIR}/simgrid/version.h" line
         REGEX "^#define SIMGRID_VERSION_${part} [0-9]+")
    string(REGEX REPLACE "[^0-9]*([0-9]+).*" "\\1" SimGrid_VERSION_${part} "${line}")
  endforeach()
  set(SimGrid_VERSION "${SimGrid_VERSION_MAJOR}.${SimGrid_VERSION_MINOR}.${SimGrid_VERSION_PATCH}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SimGrid
  REQUIRED_VARS SimGrid_LIBRARY SimGrid_INCLUDE_DIR
  VERSION_VAR SimGrid_VERSION
  REASON_FAILURE_MESSAGE "Debian: apt-get install libsimgrid-dev, elsewhere set SimGrid_ROOT")

if(SimGrid_FOUND AND NOT TARGET SimGrid::SimGrid)
  add_library(SimGrid::SimGrid UNKNOWN IMPORTED)
  set_target_properties(SimGrid::SimGrid PROPERTIES
    IMPORTED_LOCATION "${SimGrid_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${SimGrid_INCLUDE_DIR}")
endif()
mark_as_advanced(SimGrid_INCLUDE_DIR SimGrid_LIBRARY)
