#!/usr/bin/env bash
# shellcheck disable=SC2317,SC2016  # the tests are called by their names; awk's $ is not the shell's
# Which strategy is the fastest: auto, explain, crossover, rules. How to run it: lib.sh.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

test_auto_says_what_it_became() {
    run predict --cluster ethernet-10g --gpus 64 --bytes '1 kB,100 MB' --strategy auto --engine closed-form --format csv
    exits 0
    holds "short: recursive doubling, long: halving-doubling; both were asked for as auto" awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { short = $at["strategy"] == "recursive-doubling" && $at["strategy_requested"] == "auto" }
        NR == 3 { long = $at["strategy"] == "halving-doubling" && $at["strategy_requested"] == "auto" }
        END { exit !(short && long) }' out
}

test_auto_takes_what_explain_puts_first_and_simulates_the_same() {
    run explain --cluster ethernet-10g --gpus 7,8 --bytes '64 KiB,4 MiB' --format csv
    exits 0
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["place"] == 1 { print $at["strategy"] }' out >first
    cp out explained
    run predict --cluster ethernet-10g --gpus 7,8 --bytes '64 KiB,4 MiB' --strategy auto --format csv
    exits 0
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { print $at["strategy"] }' out >taken
    holds "auto takes the first place" diff first taken
    holds "parts add up to the time" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        /"/ { next }  # commas in a name
        NR > 1 && $at["seconds"] != "" {
            sum = $at["wire_s"] + $at["latency_s"] + $at["overhead_s"] + $at["sums_s"]
            if ((sum - $at["seconds"])^2 > (1e-5 * $at["seconds"])^2) exit 1
            n++
        } END { exit n < 20 }' explained
}

test_explain_of_a_scenario_takes_its_gradients_on_its_greatest_count() {
    run explain firecaffe-googlenet
    exits 0
    prints "All-reduce of 53.51 MB of float32 on 128 GPUs of titan"
    prints "why:"
    prints "By size, on 128 GPUs"
    prints "By GPUs, for 53.51 MB"
    prints "n/a: needs nodes of several GPUs with ranks in a row, or group=N"
}

test_crossover_is_a_map_without_gaps_and_a_figure() {
    run crossover --cluster ethernet-10g --gpus 2..64 --bytes '1 kB,10 MB' -o out.d --figures svg --format csv
    exits 0
    says "wrote crossover.csv, crossover.svg to out.d"
    holds "the file is what is printed" cmp out out.d/crossover.csv
    holds "the figure is one" grep -q "</svg>" out.d/crossover.svg
    holds "reigns of each count follow each other from 1 kB to 10 MB" awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["kind"] == "fastest" {
            g = $at["gpus"]
            if ((g in end ? end[g] + 4 : 1000) != $at["from_bytes"]) exit 1
            end[g] = $at["to_bytes"]
        }
        END { n = 0; for (g in end) { n++; if (end[g] != 10000000) exit 1 } exit n != 6 }' out
    run crossover --cluster ethernet-10g --gpus 8
    exits 0
    prints "Where parameter server, tree and ring meet"
}

test_rules_for_open_mpi_have_its_form() {
    run rules open-mpi --cluster ethernet-10g --gpus 1,4,8 -o allreduce.rules
    exits 0
    prints_nothing
    says "rules to allreduce.rules"
    holds "one collective, number 2, two numbers of ranks, each with as many sizes as it says" awk '
        /^#/ { next } { sub(/ *#.*/, ""); line[++n] = $0 }
        END {
            if (line[1] != 1 || line[2] != 2 || line[3] != 2 || line[4] != 4) exit 1
            at = 4
            for (k = 0; k < 2; k++) {
                sizes = line[at + 1]; before = -1
                for (i = 1; i <= sizes; i++) {
                    split(line[at + 1 + i], f, " ")
                    if (f[1] <= before || f[2] !~ /^[346]$/ || f[3] != 0 || f[4] != 0) exit 1
                    before = f[1]
                }
                at += sizes + 2
            }
            exit at - 1 != n
        }' allreduce.rules
}

test_rules_for_nccl_have_its_columns() {
    run rules nccl --cluster ethernet-10g --gpus 8
    exits 0
    holds "ten columns, ring or tree, from 0 to the end" awk -F, '
        /^#/ { next }
        { if (NF != 10 || $1 != "allreduce" || $2 != (n++ ? last + 1 : 0) || $4 !~ /^(ring|tree)$/ || $8 != 8) exit 1
          last = $3 }
        END { exit last != 4294967295 }' out
    prints "# no counterpart: 8 ranks"
}

test_what_closed_forms_do_not_know_is_said() {
    run explain --cluster ethernet-10g --gpus 8 --bytes '1 MB' --set 'cluster.fabric.backplane=1 GB/s'
    exits 0
    prints "nothing can be compared: "
    run predict --cluster ethernet-10g --gpus 8 --bytes '1 MB' --set 'cluster.fabric.backplane=1 GB/s' --strategy auto
    exits 0
    prints "auto compares closed forms, and the closed forms know no backplane; name a strategy"
    refuses "closed forms know" crossover --cluster ethernet-10g --gpus 8 --set 'cluster.fabric.backplane=1 GB/s'
    refuses "closed forms know" rules nccl --cluster ethernet-10g --gpus 8 --set 'cluster.fabric.backplane=1 GB/s'
}

test_wrong_words_are_answered() {
    refuses "expected one of open-mpi, nccl" rules openmpi --cluster ethernet-10g --gpus 8
    says "did you mean 'open-mpi'?"
    refuses "expected open-mpi or nccl" rules
    refuses "no scenario" explain
    refuses "did you mean 'ring'?" explain --cluster ethernet-10g --gpus 8 --strategy rnig
    refuses "two or more GPUs" crossover --cluster ethernet-10g --gpus 1
    refuses "two or more GPUs" rules open-mpi --cluster ethernet-10g --gpus 1
}

run_tests "$@"
