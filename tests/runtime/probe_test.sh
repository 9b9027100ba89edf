#!/usr/bin/env bash
# coppice-run probe from outside: help, wrong input, table and records. Usage: probe_test.sh COPPICE_RUN MPIRUN SOURCE_DIR
set -uo pipefail
run=$1
mpirun=$2
if [ -z "$mpirun" ] || [ ! -x "$mpirun" ]; then
    echo "skipped: no mpirun was found (Debian: openmpi-bin)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
    failures=$((failures + 1))
    echo "FAILED: $*" >&2
    sed 's/^/    out: /' "$work/out" | head -20 >&2
    sed 's/^/    err: /' "$work/err" | head -20 >&2
}
ranks() { # EXPECTED_EXIT RANKS ARGUMENTS...
    local expected=$1 np=$2 code
    shift 2
    timeout 100 "$mpirun" -np "$np" "$run" probe "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" = "$expected" ] || fail "exit code $code instead of $expected: -np $np probe $*"
}
says() { grep -qF -- "$2" "$work/$1" || fail "$1 does not say: $2"; }

ranks 0 2 --help
says out "--precision"
ranks 2 1
says err "at least 2 ranks"
ranks 2 2 --bytes '10 B'
says err "multiples of 4 bytes"
ranks 2 2 --precision 0
says err "--precision"
ranks 2 2 --bites 4
says err "did you mean '--bytes'"

quick=(--bytes '4 B,64 KiB' --most-time 0.05)
ranks 0 2 "${quick[@]}"
for what in one-way both-ways overhead sum update; do says out "$what"; done
ranks 0 3 "${quick[@]}" --segment '16 KiB' --format jsonl -o "$work/probe.jsonl"
says out '"what":"incast"'
says out '"senders":2'
says out '"segment_bytes":16384'
cmp -s "$work/out" "$work/probe.jsonl" || fail "the file is not what standard output has"
# Every record says why it was repeated no more.
stops=$(grep -cE '"stop":"(interval|limit)"' "$work/out")
[ "$stops" = "$(wc -l <"$work/out")" ] || fail "$stops records say why they ended"
ranks 3 2 "${quick[@]}" -o "$work/no-such-folder/probe.jsonl"
says err "no-such-folder"

[ "$failures" = 0 ] || exit 1
echo "all passed"
