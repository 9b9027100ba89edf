#!/usr/bin/env bash
# A sample of bench/validate-emulated: 3 emulated hosts, calibrated, all-reduces and training steps held against their
# predictions. Two minutes. The limits are wide: a machine that does other things shall not fail it, a model that is
# wrong by half shall. What is reached on a quiet machine is in docs/validation.md.
# Usage: validation_sample_test.sh COPPICE_RUN MPIRUN SOURCE_DIR
set -uo pipefail
. "$(dirname "$0")/lib.sh"
build=$(realpath "$(dirname "$run")/..")
[ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
for needed in ip tc nsenter unshare awk; do command -v "$needed" >/dev/null || skip "no $needed (Debian: iproute2, util-linux)"; done
unshare --net sh -c 'ip link add name br0 type bridge && ip link add name v0 type veth peer name v1 &&
    tc qdisc add dev v0 root tbf rate 1mbit burst 8000 limit 100k' 2>/dev/null || skip "this kernel has no bridge, veth or tbf"
[ -x "$build/sim/coppice" ] || skip "$build/sim/coppice is not built"
grep -q '^COPPICE_SANITIZE:STRING=.' "$build/CMakeCache.txt" && skip "sanitizers make the processor what is measured"

export COPPICE_EMULATED_ROOT=$work/clusters
cleanup() {
    "$source/tools/emulated-cluster" down --all >/dev/null 2>&1
    rm -rf "$work"
}
timeout 280 "$source/bench/validate-emulated" --quick --sizes '256 KiB,1 MiB' --limits '20 60' --build "$build" \
    --out "$work/validation" >"$work/out" 2>"$work/err"
code=$?
[ "$code" = 0 ] || fail "exit code $code of bench/validate-emulated"
# What the limits look at is there: 12 all-reduces (2 sizes, 2 numbers of hosts, 3 strategies), 9 steps (1 to 3 hosts).
count() { awk 'NR > 1' "$1" 2>/dev/null | wc -l; }
[ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && $at["group_index"] == 1' \
    "$work/validation/200mbit/comparison/comparison.csv" | wc -l)" -ge 12 ] || fail "fewer than 12 all-reduces compared"
[ "$(count "$work/validation/200mbit/comparison-firecaffe-nin/comparison.csv")" -ge 9 ] || fail "fewer than 9 steps compared"
finish
