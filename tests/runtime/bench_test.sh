#!/usr/bin/env bash
# coppice-run bench from outside: help, wrong input, results in three formats, files, and what happens when a rank dies,
# hangs or differs. Usage: bench_test.sh COPPICE_RUN MPIRUN SOURCE_DIR
set -uo pipefail
. "$(dirname "$0")/lib.sh"

# Help, once and not once a rank.
ranks 0 2 --help
times out "Usage: mpirun" 1
ranks 0 2 bench --help
times out "Usage: mpirun" 1
says out "--segment"
ranks 0 1 --version
says out "coppice-run "

# Wrong input: exit 2, one message however many ranks, with what would have been right.
ranks 2 2 bnech
times err "did you mean 'bench'" 1
ranks 2 2 bench --strategy rign
times err "did you mean 'ring'" 1
ranks 2 1 bench --bytes 1000000
says err "--bytes"
ranks 2 1 bench --bytes '10 B'
says err "a multiple of the 4 bytes of a float32"
ranks 2 1 bench --type float23
says err "did you mean 'float32'"
# Times of a log have nothing to execute.
ranks 0 2 bench --strategy measured --no-mpi --bytes '1 KiB'
says out "measured times have no schedule to execute"
# A schedule from a file, for just its number of workers.
ring4="msccl(file=$source/scenarios/schedules/ring4.xml)"
ranks 0 4 bench --strategy "$ring4" --no-mpi --bytes '64 KiB, 4 B' --repetitions 3 --cluster ethernet-10g
says out "$ring4"
says out "# wrong elements: 0 OK"
ranks 0 2 bench --strategy "$ring4" --no-mpi --bytes '1 KiB'
says out "the file is for 4 GPUs"
ranks 2 2 bench --strategy 'msccl(file=nowhere.xml)' --bytes '1 KiB'
times err "nowhere.xml" 1
ranks 2 1 bench --timeout 0
says err "--timeout"
ranks 2 2 bench --workers 3
says err "no more workers than the 2 ranks"
ranks 2 1 bench no-such-scenario
says err "no such scenario"

# A table: a row a strategy and size, n/a with its reason, MPI's own beside them.
ranks 0 2 bench --bytes '0 B, 4 KiB, 100 kB' --strategy 'ring,tree,ps,ps(placement=dedicated)' --repetitions 3
says out "# wrong elements: 0 OK"
times out " MPI_Allreduce " 3
times out "3 ranks; there are 2" 3
ranks 0 1 bench --bytes '4 KiB' --repetitions 1 --warmup 0
says out " ring "

ranks 0 2 bench --bytes '4 KiB' --only-mpi --format csv
[ "$(grep -c '^coppice.record' "$work/out")" = 1 ] || fail "--only-mpi has other rows"
ranks 2 2 bench --only-mpi --no-mpi
says err "one of them"

# A server takes a rank; with --workers the rest stand by.
ranks 0 3 bench --bytes '4 KiB' --strategy 'ps(placement=dedicated)' --no-mpi --format csv
times out MPI_Allreduce 0
says out "measurement,mpi,model=|grad=fp32:4096|mode=all-reduce|strategy=ps(placement=dedicated)|gpus=2|servers=1|batch=0"
ranks 0 4 bench --bytes '64 KiB' --strategy 'ring,ps(placement=dedicated)' --workers 2 --repetitions 3 --segment '1 KiB'
says out "# wrong elements: 0 OK"

# Types, predictions, files.
for type in float64 int32; do
    ranks 0 2 bench --bytes '80 kB' --type $type --strategy ps,tree,ring --repetitions 2 --cluster ethernet-10g \
        --format jsonl -o "$work/$type"
    times out '"kind":"measurement"' 4
    times out '"kind":"prediction"' 3
    times out '"check":"passed"' 4
    cmp -s "$work/out" "$work/$type/records.jsonl" || fail "standard output and records.jsonl differ"
    [ -s "$work/$type/records.csv" ] && [ -s "$work/$type/context.json" ] || fail "files are missing in $type"
done
ranks 0 2 bench firecaffe-nin --strategy ring --bytes '40 kB' --repetitions 2
says out "predicted: closed form for cluster titan"

finish
