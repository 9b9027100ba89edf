# For ./demo and ./test: names each step, and says which one failed. To be sourced.
step_name="start"

step() {
    step_name=$1
    printf '\n== %s\n' "$step_name" >&2
}

step_failed() {
    local code=$1
    if [ "$code" -ne 0 ]; then printf '\n%s: failed at: %s (exit code %d)\n' "$(basename "$0")" "$step_name" "$code" >&2; fi
}
trap 'step_failed $?' EXIT

# As many compilers at a time as there are cores, but no more than 2 GB of memory for each allow.
parallel_jobs() {
    local cores memory_kb by_memory
    cores=$(nproc)
    memory_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
    by_memory=$((memory_kb / 2000000))
    [ "$by_memory" -lt 1 ] && by_memory=1
    echo $((cores < by_memory ? cores : by_memory))
}
