#!/usr/bin/env bash
# shellcheck disable=SC2317  # the tests are called by their names
# What the program says: help, version, and bad input, each with its exit code. How to run it: lib.sh.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

predict=(predict firecaffe-nin --engine closed-form)

test_help_of_each_command_has_an_example() {
    run --help
    exits 0
    prints "Usage: coppice COMMAND"
    prints "Example:"
    prints "Exit codes:"
    cp out overview
    for command in predict explain crossover rules compare list show check fit figure; do
        holds "coppice --help names $command" grep -qE "^  $command " overview
        run "$command" --help
        exits 0
        prints "Usage: coppice $command"
        prints "Examples:"
        holds "an example begins with coppice $command" grep -qE "^ +coppice $command" out
        [ -s err ] && complain "help goes to stdout only"
    done
}

test_version() {
    run --version
    exits 0
    holds "'coppice 0.1.0' or the like" grep -qxE 'coppice [0-9]+\.[0-9]+\.[0-9]+.*' out
}

test_no_command_or_argument() {
    run
    exits 2
    refuses "expected a scenario" predict
    says "usage: coppice predict SCENARIO"
    refuses "expected a kind of figure" figure
    refuses "expected a CSV file of records" figure speedup
}

test_unknown_names_are_answered_with_near_ones() {
    refuses "found 'predct', expected a command" predct
    says "did you mean 'predict'?"
    refuses "found '--form', expected an option of coppice predict" "${predict[@]}" --form csv
    says "did you mean '--format'?"
    refuses "--engine: found 'simm', expected one of sim, closed-form" predict firecaffe-nin --engine simm
    says "did you mean 'sim'?"
    refuses "--format: found 'cvs', expected one of table, csv, jsonl" "${predict[@]}" --format cvs
    says "did you mean 'csv'?"
    refuses "--figures: found 'pfd', expected a file format for figures" "${predict[@]}" --figures pfd
    says "did you mean 'pdf'"
    refuses "firecafe-nin: found no such scenario" predict firecafe-nin
    says "did you mean 'firecaffe-nin'?"
    refuses "network.use: found 'googelnet', expected the name of one of coppice's models" \
        "${predict[@]}" --set network.use=googelnet
    says "did you mean 'googlenet'?"
    refuses "cluster.use: found 'titn', expected the name of one of coppice's clusters" \
        "${predict[@]}" --set cluster.use=titn
    says "did you mean 'titan'?"
    refuses "--strategy: sweep.strategies: found 'tre', expected the name of a strategy" "${predict[@]}" --strategy tre
    says "did you mean 'tree'?"
    refuses "found 'speedupp', expected a kind of figure" figure speedupp records.csv
    says "did you mean 'speedup'?"
    refuses "found 'modles', expected something to list" list modles
    says "did you mean 'models'?"
    refuses "found 'resnet5', expected the name of one of coppice's models" show model resnet5
    says "did you mean 'resnet50'"
}

test_unknown_key_on_the_command_line_and_in_a_file() {
    refuses "--set: cluster.link.bandwith: found an unknown key" "${predict[@]}" --set 'cluster.link.bandwith=1 GB/s'
    says "did you mean 'bandwidth'?"
    refuses "--set: found 'nonsense', expected KEY=VALUE" "${predict[@]}" --set nonsense
    sed 's/^scaling = /scalling = /' "$source_dir/scenarios/papers/firecaffe-nin.toml" >mine.toml
    line=$(grep -n '^scalling' mine.toml | cut -d: -f1)
    refuses "mine.toml:$line:" predict ./mine.toml
    says "training.scalling: found an unknown key"
    says "did you mean 'scaling'?"
}

test_a_rate_without_unit_or_with_a_wrong_one() {
    local rate=cluster.link.bandwidth
    refuses "$rate: found the number 10, expected a bandwidth such as '10 Gbps' or '1.25 GB/s'" \
        "${predict[@]}" --set $rate=10
    says "a unit is needed: '10 Gbps' (1.25 GB/s (10 Gbps)) or '10 GB/s' (10 GB/s (80 Gbps))?"
    refuses "$rate: found '10 GB', expected a bandwidth" "${predict[@]}" --set "$rate=10 GB"
    says "'10 GB/s'?"
    refuses "$rate: found '10 gbps', expected a bandwidth" "${predict[@]}" --set "$rate=10 gbps"
    says "upper and lower case differ (b is a bit, B a byte): '10 GBps' or '10 Gbps'?"
    refuses "$rate: found '10 parsec'" "${predict[@]}" --set "$rate=10 parsec"
    refuses "found '3 GB/s', expected a duration" "${predict[@]}" --set "cluster.link.latency=3 GB/s"
}

test_a_rate_of_zero_or_less() {
    refuses "found '-1 GB/s', expected a bandwidth above zero" "${predict[@]}" --set 'cluster.link.bandwidth=-1 GB/s'
    refuses "found '0 GB/s', expected a bandwidth above zero" "${predict[@]}" --set 'cluster.link.bandwidth=0 GB/s'
    refuses "found '1e999 GB/s', expected a bandwidth" "${predict[@]}" --set 'cluster.link.bandwidth=1e999 GB/s'
    refuses "found 'nan GB/s', expected a bandwidth" "${predict[@]}" --set 'cluster.link.bandwidth=nan GB/s'
}

test_gpu_counts_that_cannot_be() {
    refuses "0 is not between 1 and 1024 GPUs" "${predict[@]}" --gpus 0
    refuses "2000 is not between 1 and 1024 GPUs" "${predict[@]}" --gpus 2000
    refuses "the range is empty" "${predict[@]}" --gpus 8..4
    refuses "'abc' is no whole number" "${predict[@]}" --gpus abc
    refuses "after ':' stands *FACTOR (2 or more) or +STEP (1 or more)" "${predict[@]}" --gpus '1..8:*1'
    refuses "--gpus: sweep.gpus: found ''" "${predict[@]}" --gpus ''
    refuses "--gpus: sweep.gpus: found '1,,2'" "${predict[@]}" --gpus 1,,2
    refuses "--jobs: found -1" "${predict[@]}" --jobs -1
}

test_all_reduces_alone_that_cannot_be() {
    local alone=(predict --cluster ethernet-10g --gpus 2)
    refuses "found no scenario, expected --cluster FILE|NAME, or a scenario" predict --bytes '1 MiB' --gpus 2
    refuses "found no scenario, expected --gpus LIST, or a scenario" predict --cluster ethernet-10g
    refuses "--cluster: cluster.use: found 'ethernet-11g'" predict --cluster ethernet-11g --gpus 2
    says "did you mean 'ethernet-10g'"
    refuses "--bytes: found '1000', expected an amount of data" "${alone[@]}" --bytes 1000
    refuses "--bytes: found 10 bytes, expected a multiple of the 4 bytes of a float32" "${alone[@]}" --bytes '10 B'
    says "8 or 12"
    refuses "--type: found 'float23', expected one of float32" "${alone[@]}" --type float23
    says "did you mean 'float32'"
    refuses "--type: found 'float16' without --bytes" "${predict[@]}" --type float16
    refuses "--set: sweep: found an unknown key" "${alone[@]}" --set sweep.gpus=8
    refuses "--strategy: found 'tre', expected the name of a strategy" "${alone[@]}" --strategy tre
    refuses "--gpus: found '8..4'" predict --cluster ethernet-10g --gpus 8..4
}

test_a_batch_smaller_than_the_number_of_gpus() {
    refuses "training.global_batch: found the number 4, expected at least one sample for each of 8 GPUs" \
        "${predict[@]}" --gpus 1..8 --set training.global_batch=4
}

test_a_file_that_is_not_toml_is_refused_with_line_and_column() {
    printf 'schema = 1\nname = = 3\n' >bad.toml
    refuses "bad.toml:2:8: found text that is not TOML" predict ./bad.toml
    refuses "bad.toml:2:8: found text that is not TOML" check bad.toml
    head -c 3000 /dev/urandom >random.toml
    refuses "random.toml:" predict ./random.toml
    : >empty.toml
    refuses "empty.toml" predict ./empty.toml
}

test_a_directory_and_a_missing_file_in_place_of_a_file() {
    mkdir folder folder.toml
    refuses "folder: found a directory" predict folder
    refuses "folder.toml: found a directory" predict ./folder.toml
    refuses "missing.toml: found no such file" predict ./missing.toml
    refuses "folder: found a directory" figure speedup folder
    refuses "missing.csv" figure speedup missing.csv
    refuses "folder" check folder
}

test_records_that_are_not_records() {
    echo 'a,b' >other.csv
    refuses "other.csv:1: schema: found no such column" figure speedup other.csv
}

run_tests "$@"
