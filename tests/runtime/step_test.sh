#!/usr/bin/env bash
# coppice-run step from outside: help, wrong input, fewer ranks than the sweep needs, steps of three strategies with
# their speedups, files, and the records' keys. Usage: step_test.sh COPPICE_RUN MPIRUN SOURCE_DIR
set -uo pipefail
. "$(dirname "$0")/lib.sh"

ranks 0 2 step --help
times out "Usage: mpirun" 1
says out "workload.shrink"
ranks 2 2 step
says err "expected a scenario"
ranks 2 2 step firecafe-nin
times err "did you mean 'firecaffe-nin'" 1
ranks 2 2 step firecaffe-nin --gpus 2 --set workload.shrnk=2
says err "did you mean 'shrink'"
ranks 2 2 step firecaffe-nin --gpus 2 --set workload.gradient_type=bf16
says err "a type that coppice-run can sum"
# Fewer ranks than the scenario needs, and than a server beside its workers does.
ranks 2 2 step firecaffe-nin
times err "found 2 ranks, expected at least the 128 that the sweep to 128 GPUs needs" 1
ranks 2 2 step firecaffe-nin --gpus 2 --strategy 'ps(placement=dedicated)'
says err "at least the 3 that ps(placement=dedicated) on 2 GPUs, batch 256 needs"

# NiN a hundredth of its size: 23 ms of compute at batch 256 on one GPU.
small=(firecaffe-nin --set workload.shrink=100 --set training.global_batch=256)
ranks 0 4 step "${small[@]}" --gpus 1..3:+1 --strategy 'ring,tree,ps,ps(placement=dedicated)' -r 3 -o "$work/steps"
says out "compute, update and gradients divided by 100"
says out "# wrong elements: 0 OK"
for file in records.csv records.jsonl context.json scenario.toml; do
    [ -s "$work/steps/$file" ] || fail "no $file"
done
# Every row has a measurement and a prediction of the same point and schedule.
[ "$(grep -c '"kind":"measurement"' "$work/steps/records.jsonl")" = 12 ] || fail "not 12 measurements"
[ "$(sed -n 's/.*"key":"\([^"]*\)".*"schedule_hash":"\([^"]*\)".*/\1 \2/p' "$work/steps/records.jsonl" | sort | uniq -c |
    awk '{ print $1 }' | sort -u)" = 2 ] || fail "measured and predicted records do not pair by key and schedule"
# No step is shorter than what is waited for, and the speedup is the ratio of rates that the record has.
column() { # NAME
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) c = i } NR > 1 && $2 == "measurement" { print $c }' \
        "$work/steps/records.csv"
}
paste <(column step_min_s) <(column compute_s) <(column update_s) <(column samples_per_s) <(column baseline_samples_per_s) \
    <(column speedup) >"$work/columns"
awk '$1 < $2 + $3 { bad = 1 } $6 / ($4 / $5) > 1.000001 || $6 / ($4 / $5) < 0.999999 { bad = 1 } END { exit bad || NR != 12 }' \
    "$work/columns" || fail "a step shorter than its compute and update, or a speedup of something else: $(cat "$work/columns")"

ranks 0 2 step "${small[@]}" --gpus 2 --strategy ring --format csv
says out "measurement,mpi,model=nin|grad=fp32:303808|mode=fused|strategy=ring|gpus=2|servers=0|batch=256"
ranks 0 2 step "${small[@]}" --gpus 2 --strategy measured
says out "has no measured all-reduce"
# A server that sees nothing move while the workers compute (2.2 s) is not at a standstill, however short --timeout is.
ranks 0 2 step "${small[@]}" --set workload.shrink=1 --gpus 1 --strategy 'ps(placement=dedicated)' --repetitions 1 \
    --warmup 0 --timeout 0.5
finish
