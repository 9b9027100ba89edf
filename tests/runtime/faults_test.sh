#!/usr/bin/env bash
# What goes wrong while ranks run: a rank is killed, hangs, is interrupted, differs from the others; the disk is full. In
# each case all ranks are gone soon, the exit code is not zero, rank and operation are named, and the records written so
# far are whole. Usage: faults_test.sh COPPICE_RUN MPIRUN SOURCE_DIR
set -uo pipefail
. "$(dirname "$0")/lib.sh"

# Standard output is full.
if [ -w /dev/full ]; then
    ends 3 "$mpirun" -np 2 sh -c "exec '$run' bench --bytes '4 KiB' >/dev/full"
    says err "standard output"
fi

# Ranks that were started differently do not start.
ends 2 "$mpirun" -np 1 "$run" bench --bytes '4 KiB' : -np 1 "$run" bench --bytes '8 KiB'
says err "rank 1: list of sizes is 8192 here, but rank 0 has list of sizes 4096"
sed 's/^seed.*//; $ a seed = 7' "$source/scenarios/examples/resnet50-weak.toml" >"$work/other.toml"
small="--gpus 2 --strategy ring --set workload.shrink=1000"
# shellcheck disable=SC2086
ends 2 "$mpirun" -np 1 "$run" step resnet50-weak $small : -np 1 "$run" step resnet50-weak $small --set seed=7
says err "rank 1: scenario is resnet50-weak"
ends 2 "$mpirun" -np 1 "$run" bench --bytes '4 KiB' --segment '1 KiB' : -np 1 "$run" bench --bytes '4 KiB'
says err "rank 1: segment is"

# As many fields in each line of records.csv as in the header; whole objects in records.jsonl, which is written after it
# and may be a row behind. (Nothing in these records has a comma in it.)
whole() { # FOLDER LEAST
    local lines objects
    lines=$(awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { print bad ? -1 : NR - 1 }' "$1/records.csv")
    [ "$lines" -ge "$2" ] || fail "$1/records.csv has $lines whole records, not $2 or more"
    objects=$(grep -c '^{.*}$' "$1/records.jsonl")
    [ "$objects" = "$(wc -l <"$1/records.jsonl")" ] || fail "$1/records.jsonl has lines that are no objects"
    [ $((lines - objects)) -le 1 ] && [ "$objects" -le "$lines" ] || fail "$lines records in one file, $objects in the other"
    [ -z "$(find "$1" -name '*.part*')" ] || fail "a partial file was left: $(ls "$1")"
}

# A folder without room for all rows. Where root can make one: a file system of its own, seen by this run only.
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
    mkdir "$work/full"
    ends 3 unshare --mount sh -c "mount -t tmpfs -o size=64k none '$work/full' || exit 99
        '$mpirun' -np 2 '$run' bench --strategy ring --no-mpi -r 1 --warmup 0 --bytes '1 KiB..1 MiB,3 KiB..3 MiB,5 KiB..5 MiB,\
7 KiB..7 MiB,9 KiB..9 MiB,11 KiB..11 MiB' -o '$work/full/out'
        code=\$?
        cp -r '$work/full/out' '$work/saved'
        exit \$code"
    says err "No space left on device"
    [ -d "$work/saved" ] && whole "$work/saved" 5
fi

# A run that would last for hours, and something happens to rank 1 while it is under way.
start() { # TIMEOUT: sets job and victims
    rm -rf "$work/records"
    "$mpirun" -np 3 "$run" bench --strategy ring,tree --no-mpi --bytes '4 KiB,64 MiB' --repetitions "$repetitions" --timeout "$1" \
        -o "$work/records" >"$work/out" 2>"$work/err" &
    job=$!
    for _ in $(seq 100); do
        victims=$(pgrep -P "$job" | sort -n) # the ranks are mpirun's children
        [ "$(echo "$victims" | wc -l)" = 3 ] && break
        sleep 0.1
    done
    for _ in $(seq 300); do # two short rows, and then a long one
        [ -e "$work/records/records.csv" ] && [ "$(wc -l <"$work/records/records.csv")" -ge 3 ] && break
        sleep 0.1
    done
    sleep 0.5
}
over() { # WHAT MOST_SECONDS: sets code
    local begin left=0 pid elapsed
    begin=$(date +%s)
    wait "$job"
    code=$?
    elapsed=$(($(date +%s) - begin))
    sleep 1
    for pid in $victims; do # a zombie that nobody has buried is gone, too
        grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$pid/status" 2>/dev/null && left=$((left + 1))
    done
    [ "$code" != 0 ] || fail "$1: exit code 0"
    [ "$elapsed" -le "$2" ] || fail "$1: took $elapsed s"
    [ "$left" = 0 ] || fail "$1: $left ranks are left"
    whole "$work/records" 2
}
second() { echo "$victims" | sed -n 2p; }
# So many of the short rows take a second or two, of the long ones minutes.
repetitions=1000

start 10
kill -KILL "$(second)"
over "a rank is killed" 20
says err "rank 1"

start 2
kill -STOP "$(second)"
over "a rank hangs" 20
# Between repetitions it is the barrier that is named, in one the operations (mpi_executor_test.cpp provokes those).
grep -qE "on rank [02] of 3: (nothing has been completed for 2 s|not done after 2 s)" "$work/err" || fail "names no rank"
[ "$code" = 3 ] || fail "a rank that hangs should be exit code 3, not $code"

# Ctrl-C: mpirun hands it on.
start 10
kill -INT "$job"
over "interrupted" 20
grep -qE "interrupted" "$work/err" || fail "does not say that it was interrupted"

# One rank is told to end (by a batch system, say): it takes the others with it.
start 10
kill -TERM "$(second)"
over "one rank is told to end" 20
grep -qE "rank 1( of 3)?: .*interrupted|interrupted by signal 15" "$work/err" || fail "does not name the rank that was told to end"
finish
