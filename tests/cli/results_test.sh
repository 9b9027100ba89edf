#!/usr/bin/env bash
# shellcheck disable=SC2317,SC2016  # the tests are called by their names; awk's $ is not the shell's
# What the program computes and writes. How to run it: lib.sh.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

predict=(predict firecaffe-nin --engine closed-form)

test_gpu_counts_in_each_form_are_echoed() {
    local form expected
    while IFS='|' read -r form expected; do
        run "${predict[@]}" --gpus "$form" --strategy tree
        exits 0
        holds "$form is $expected" grep -qxF "  GPUs      $expected" out
    done <<'FORMS'
8|8
1,2,4,7|1, 2, 4, 7
4,2,2,1|1, 2, 4
1..16|1, 2, 4, 8, 16
3..20|3, 6, 12
1..81:*3|1, 3, 9, 27, 81
1..8:+3,5|1, 4, 5, 7
1..24:+1|1, 2, 3, ..., 24 (24 counts)
FORMS
}

test_seven_gpus_share_a_batch_of_1024() {
    run "${predict[@]}" --gpus 7 --strategy tree --set training.global_batch=1024 --format csv
    exits 0
    holds "the largest share is 147" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { exit !($at["gpus"] == 7 && $at["global_batch"] == 1024 && $at["batch_per_gpu"] == 147) }' out
}

test_the_table_marks_the_points_that_served_to_fit() {
    run "${predict[@]}"
    exits 0
    holds "the fitted point has its asterisk" grep -qE '^ +128 .* 39 \* ' out
    holds "a checked point has none" grep -qE '^ +32 .* 23 +[-+]' out
    prints "* served to fit the cluster's constants; the other published values did not"
}

# What ran is what the result says ran, beside the records as well as in them.
test_the_context_names_the_engine_that_ran() {
    local engine name
    while IFS='|' read -r engine name; do
        run predict firecaffe-nin --engine "$engine" --gpus 2 --strategy tree --figures none -o "$engine"
        exits 0
        holds "the context says $name" grep -qF "\"engine\": \"$name" "$engine/context.json"
    done <<'ENGINES'
sim|sim (SimGrid
closed-form|closed-form (
ENGINES
}

# Keys are those of coppice-run bench (tests/runtime/bench_test.sh wants the same one).
test_all_reduces_alone_have_the_keys_of_measured_ones() {
    local bare=(predict --cluster ethernet-10g --strategy 'ring,ps(placement=dedicated)' --gpus 2..4:+1)
    run "${bare[@]}" --bytes '4 KiB..16 KiB' --format csv -o alone
    exits 0
    holds "a header and 3 counts x 3 sizes x 2 strategies" test "$(wc -l <out)" -eq 19
    prints "simulation,sim,model=|grad=fp32:4096|mode=all-reduce|strategy=ps(placement=dedicated)|gpus=2|servers=1|batch=0"
    same out alone/records.csv
    holds "the cluster is echoed" grep -qF "name = 'ethernet-10g'" alone/cluster.toml
    run predict --cluster alone/cluster.toml --gpus 2 --bytes '4 KiB' --strategy ring --format csv
    exits 0
    holds "and can be used" grep -qF -f <(sed 1d out) alone/records.csv
    run "${bare[@]}" --bytes '4 KiB' --engine closed-form
    exits 0
    holds "a table in the manner of nccl-tests" grep -qE '^ +4096 +1024 +ring +2 +0 +[0-9.]+ us +[0-9.]+ +[0-9.]+$' out
}

test_all_reduces_alone_of_a_scenario() {
    run predict firecaffe-nin --bytes '1 MiB' --gpus 2,4 --strategy ring --format jsonl
    exits 0
    holds "two records" test "$(wc -l <out)" -eq 2
    prints '"scenario":"firecaffe-nin"'
    prints '"cluster":"titan"'
    run predict firecaffe-nin --bytes '1 MiB' --gpus 2 --strategy ring --cluster ethernet-1g --format jsonl -o there
    exits 0
    prints '"cluster":"ethernet-1g"'
    holds "the scenario is echoed" test -s there/scenario.toml
}

test_another_cluster_for_a_scenario() {
    run "${predict[@]}" --gpus 4 --cluster ethernet-10g
    exits 0
    prints "cluster   ethernet-10g:"
    cp out by-option
    run "${predict[@]}" --gpus 4 --set 'cluster={use="ethernet-10g"}'
    same out by-option
}

test_set_takes_numbers_quantities_and_arrays() {
    run "${predict[@]}" --set 'cluster.link.bandwidth=10 Gbps' --gpus 4
    exits 0
    prints "link 1.25 GB/s (10 Gbps)"
    run "${predict[@]}" --set training.global_batch=512 --gpus 4
    exits 0
    prints "global batch 512"
    run "${predict[@]}" --set 'training.global_batch=[128, 2048]' --gpus 4
    exits 0
    prints "global batch 128, 2048"
    run "${predict[@]}" --set 'sweep.strategies=["ring", "ps(placement=dedicated)"]' --set sweep.gpus=1..4
    exits 0
    prints "ps(placement=dedicated)"
}

test_a_faster_link_gives_a_shorter_step() {
    run predict firecaffe-nin -e closed-form -f csv -g 64 -s tree
    cp out slow
    run predict firecaffe-nin -e closed-form -f csv -g 64 -s tree --set 'cluster.link.bandwidth=100 GB/s'
    local step='NR == 1 { for (i = 1; i <= NF; i++) if ($i == "step_s") at = i } NR == 2 { print $at }'
    holds "the step is shorter" awk -v slow="$(awk -F, "$step" slow)" -v fast="$(awk -F, "$step" out)" \
        'BEGIN { exit !(fast < slow) }'
}

test_csv_and_json_lines_have_a_record_a_point() {
    run "${predict[@]}" --gpus 1..8 --strategy ps,tree --format csv
    exits 0
    holds "a header and 2 strategies x 2 batches x 4 counts" test "$(wc -l <out)" -eq 17
    run "${predict[@]}" --gpus 1..8 --strategy ps,tree --format jsonl
    exits 0
    holds "16 lines" test "$(wc -l <out)" -eq 16
    holds "each begins with the schema" test "$(grep -c '^{"schema":"coppice.record/3"' out)" -eq 16
}

test_the_same_command_gives_the_same_bytes() {
    local engine file
    for engine in closed-form sim; do
        for try in 1 2; do
            run predict firecaffe-nin --engine $engine --gpus 1..16 --figures svg -o $engine-$try
            exits 0
            cp out $engine-$try/stdout
        done
        for file in stdout records.csv records.jsonl scenario.toml speedup-batch256.svg step-time-batch1024.svg \
            communication-batch1024.svg; do
            same $engine-1/$file $engine-2/$file
        done
    done
    holds "no path in the figure" test "$(grep -c "$PWD" sim-1/speedup-batch256.svg)" -eq 0
}

test_the_number_of_jobs_does_not_change_a_byte() {
    for jobs in 1 2; do
        run predict firecaffe-nin --gpus 1..32 --format csv --jobs $jobs
        exits 0
        cp out jobs-$jobs
    done
    same jobs-1 jobs-2
}

test_figures_in_three_formats() {
    run "${predict[@]}" --gpus 1..128 --set training.global_batch=1024 -o one
    exits 0
    for kind in speedup step-time communication; do
        holds "$kind.pdf is one" grep -q '^%PDF-' one/$kind.pdf
        holds "$kind.svg is one" grep -q '</svg>' one/$kind.svg
        holds "$kind.png is one" grep -q PNG one/$kind.png
        run figure $kind one/records.csv --format svg -o again
        exits 0
        same one/$kind.svg again/$kind.svg
    done
    holds "the tree's legend" grep -qF '<text>tree</text>' one/speedup.svg
}

test_figures_of_unusual_sweeps() {
    run "${predict[@]}" --gpus 1 --figures svg -o one-gpu
    exits 0
    run "${predict[@]}" --gpus 32 --strategy tree --figures svg -o one-point
    exits 0
    run "${predict[@]}" --gpus 1..24:+1 --figures svg -o many
    exits 0
    run predict resnet50-weak -e closed-form --gpus 1..1024 --figures svg -o weak
    exits 0
    # A comma in a name is quoted in CSV, and gnuplot 5.4 cuts there: records.gp reads it in another way.
    sed -e 's/,tree,tree,/,"tree(a=1,b=2)","tree(a=1,b=2)",/' weak/records.csv >comma.csv
    run figure speedup comma.csv --format svg -o comma
    exits 0
    holds "the whole name" grep -qF 'tree(a=1,b=2)' comma/speedup.svg
    holds "as many points as before" \
        test "$(grep -c gpPt comma/speedup.svg)" -eq "$(grep -c gpPt weak/speedup.svg)"
}

test_a_schedule_is_shown_round_by_round() {
    run show schedule ring --gpus 3
    exits 0
    prints "schedule ring: 3 workers"
    prints "proved    every worker ends with every contribution once"
    prints "12 messages, 12 chunks; 4 at most from one rank; 4 messages in a row"
    prints "reduce-scatter, round 1 of 2"
    holds "rank 0 sends its chunk to 1" grep -qE '^ +0 +0 +send data\[0\] to 1; wait for lane 1$' out
    holds "and adds that of rank 2" grep -qE '^ +1 +recv_reduce data\[2\] from 2$' out
    run show schedule 'ps(placement=dedicated)' --gpus 2 --rank 2
    exits 0
    holds "only the server is shown" grep -qE '^ +2 +0 +recv_reduce data from 0 \(in any order\)$' out
    holds "and nobody else" awk '$2 == "0" && $1 == "0" { exit 1 }' out
    refuses "0 to 3" show schedule ring --rank 4
    refuses "1 to 1024" show schedule ring --gpus 0
    refuses "did you mean 'ring'?" show schedule rnig
    refuses "chosen by cost, which needs a cluster" show schedule auto
    refuses "needs nodes of several GPUs" show schedule hierarchical
    refuses "a strategy that has a schedule" show schedule measured
    refuses "--gpus with a cluster" show cluster titan --gpus 4
    refuses "--set with a schedule" show schedule ring --set a=1
    refuses "all ranks" show schedule ring --format dot --rank 0
    run show schedule hierarchical --gpus 4 --gpus-per-node 2
    exits 0
}

# Every message of the proof is an arrow, and every arrow has nodes that are there.
test_a_schedule_as_a_graph_has_an_arrow_a_message() {
    local strategy messages
    while read -r strategy messages; do
        run show schedule "$strategy" --gpus 4 --format dot
        exits 0
        holds "$strategy: $messages arrows with labels, between known nodes" awk -v expected="$messages" '
            NR == 1 { if ($1 != "digraph") exit 1 }
            /rank=same/ { for (i = 1; i <= NF; i++) { name = $i; sub(/;$/, "", name); node[name] = 1 } }
            /constraint=false/ { n++; if (!($1 in node) || !($3 in node)) exit 1 }
            END { exit n != expected }' out
    done <<'CASES'
ring 24
tree 6
tree(segments=3,shape=chain) 18
ps(servers=all) 24
recursive-doubling 8
CASES
}

# Out as MSCCL's XML, and in again: the same messages, the same simulated time.
test_a_schedule_goes_out_as_msccl_and_comes_back_the_same() {
    local strategy
    for strategy in ring halving-doubling 'tree(segments=3,shape=chain)'; do
        run show schedule "$strategy" --gpus 5 --format msccl
        exits 0
        cp out mine.xml
        run predict --cluster ethernet-10g --gpus 5 --bytes '1 MB' --strategy "$strategy,msccl(file=mine.xml)" --format jsonl
        exits 0
        holds "$strategy: both have the same time, messages and bytes" test 1 = "$(grep -oE '"(allreduce_s|messages|bytes_sent)":[^,]*' out |
            paste - - - | sort -u | wc -l)"
        holds "$strategy: two results" test 2 = "$(grep -c '"status":"ok"' out)"
    done
    run predict --cluster ethernet-10g --gpus 4,5 --bytes '1 MB' --strategy 'msccl(file=mine.xml)'
    exits 0
    prints "n/a: the file is for 5 GPUs"
    run predict --cluster ethernet-10g --gpus 5 --bytes '1 MB' --strategy 'msccl(file=mine.xml)' --engine closed-form
    exits 0
    prints "n/a: an imported schedule has no closed form; use the engine sim"
    run explain --cluster ethernet-10g --gpus 5 --bytes '1 MB' --strategy 'ring,msccl(file=mine.xml)'
    exits 0
    prints "n/a: has no closed form"
    refuses "in any order" show schedule ps --format msccl
    refuses "dedicated servers" show schedule 'ps(placement=dedicated)' --format msccl
    refuses "all ranks" show schedule ring --format msccl --rank 0
    refuses "expected msccl(file=...)" predict --cluster ethernet-10g --gpus 5 --bytes '1 MB' --strategy msccl
    sed -e 's/coll="allreduce"/coll="allgather"/' mine.xml >other.xml
    refuses "other.xml:2:" predict --cluster ethernet-10g --gpus 5 --bytes '1 MB' --strategy 'msccl(file=other.xml)'
    says 'found coll="allgather", expected coll="allreduce"'
    refuses "missing.xml: found a file that cannot be read" \
        predict --cluster ethernet-10g --gpus 5 --bytes '1 MB' --strategy 'msccl(file=missing.xml)'
}

test_list_show_and_check() {
    for kind in models clusters strategies scenarios; do
        run list $kind
        exits 0
    done
    run list models
    prints googlenet
    run show model googlenet
    exits 0
    run show cluster titan
    exits 0
    prints "2.8 GB/s"
    run show strategy ring
    exits 0
    run show scenario firecaffe-nin
    exits 0
    run check "$source_dir/scenarios/papers/firecaffe-nin.toml"
    exits 0
}

run_tests "$@"
