# shellcheck shell=bash
# For ./demo and ./test: names each step, and says which one failed. To be sourced.
step_name="start"

step() {
    step_name=$1
    printf '\n== %s\n' "$step_name" >&2
}

step_failed() {
    local code=$1
    if [ "$code" -ne 0 ]; then
        printf '\n%s: failed at: %s (exit code %d)\n' "$(basename "$0")" "$step_name" "$code" >&2
    fi
}
trap 'step_failed $?' EXIT

# Under `sudo ./demo` in a user's clone: what is built shall be the user's, so only the installation runs as root.
# Called after it, with the script and its arguments.
go_on_as_owner() {
    if [ "$(id -u)" -eq 0 ] && [ "${SUDO_UID:-0}" -ne 0 ] && [ "$(stat -c %u "$(dirname "$1")")" = "$SUDO_UID" ]; then
        exec sudo -u "#$SUDO_UID" -H --preserve-env=CI "$@"
    fi
}

# As many compilers at a time as there are cores, but no more than 2 GB of memory for each allow.
parallel_jobs() {
    local cores memory_kb by_memory
    cores=$(nproc)
    memory_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
    by_memory=$((memory_kb / 2000000))
    if [ "$by_memory" -lt 1 ]; then by_memory=1; fi
    echo $((cores < by_memory ? cores : by_memory))
}

# CMake reads this when it configures for the first time.
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}; fi
