#!/usr/bin/env bash
# coppice-run probe from outside: help, wrong input, table and records. Usage: probe_test.sh COPPICE_RUN MPIRUN SOURCE_DIR
set -uo pipefail
. "$(dirname "$0")/lib.sh"

ranks 0 2 probe --help
says out "--precision"
ranks 2 1 probe
says err "at least 2 ranks"
ranks 2 2 probe --bytes '10 B'
says err "multiples of 4 bytes"
ranks 2 2 probe --precision 0
says err "--precision"
ranks 2 2 probe --bites 4
says err "did you mean '--bytes'"

quick=(--bytes '4 B,64 KiB' --most-time 0.05)
ranks 0 2 probe "${quick[@]}"
for what in one-way both-ways overhead sum update; do says out "$what"; done
ranks 0 3 probe "${quick[@]}" --segment '16 KiB' --format jsonl -o "$work/probe.jsonl"
says out '"what":"incast"'
says out '"senders":2'
says out '"segment_bytes":16384'
cmp -s "$work/out" "$work/probe.jsonl" || fail "the file is not what standard output has"
# Every record says why it was repeated no more.
stops=$(grep -cE '"stop":"(interval|limit)"' "$work/out")
[ "$stops" = "$(wc -l <"$work/out")" ] || fail "$stops records say why they ended"
ranks 3 2 probe "${quick[@]}" -o "$work/no-such-folder/probe.jsonl"
says err "no-such-folder"

finish
