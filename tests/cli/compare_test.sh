#!/usr/bin/env bash
# The whole way, fit, predict --bytes, compare: from a probe's records to an error. The measurements are made up here.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

probe_records() { # bandwidth (bytes/s), latency (s): exact times of one-way messages
    local bytes
    for bytes in 4 1024 4096 16384 65536 262144 1048576 4194304; do
        awk -v n="$bytes" -v b="$1" -v a="$2" 'BEGIN {
            t = a + n / b
            printf "{\"schema\":\"coppice.probe/1\",\"what\":\"one-way\",\"bytes\":%d,\"senders\":1,\"segment_bytes\":61440,\"segments_in_flight\":8,", n
            printf "\"seconds\":%.12g,\"low_s\":%.12g,\"high_s\":%.12g,\"min_s\":%.12g,\"max_s\":%.12g,\"repetitions\":6,", t, t, t, t, t
            printf "\"stop\":\"interval\",\"from\":\"a\",\"to\":\"b\",\"mpi\":\"test\",\"version\":\"test\"}\n" }'
    done
}

test_a_probe_becomes_a_cluster_file_with_its_figures() {
    probe_records 25e6 100e-6 >probe.jsonl
    run fit probe.jsonl --base ethernet-10g --name mine -o mine.toml
    exits 0
    prints "25 MB/s (200 Mbps)"
    prints "100 us"
    run check mine.toml
    exits 0
    prints "a cluster, mine"
    # 2 workers' tree: 2 (100 us + 1 MB / 25 MB/s) = 80.2 ms, and a sum on the base's device of microseconds.
    run predict --cluster mine.toml --bytes '1 MB' --strategy tree --gpus 2 --engine closed-form --format csv -o result
    exits 0
    prints "all-reduce"
    grep -q ',0\.0802' result/records.csv || complain "no 80.2 ms in $(tail -n 1 result/records.csv)"
}

# Measurements of what is predicted, twice as long or as given.
measurements() { # FACTOR
    run predict --cluster ethernet-10g --bytes '1 MB,4 MB' --strategy ring,tree --gpus 2,4 --engine closed-form -o predicted
    exits 0
    awk -F, -v OFS=, -v factor="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; print; next }
        { $at["kind"] = "measurement"; $at["engine"] = "mpi"; $at["cluster"] = ""; $at["allreduce_s"] *= factor; print }' \
        predicted/records.csv >measured.csv
}

test_compare_says_how_far_off_it_is() {
    measurements 2
    run compare predicted measured.csv
    exits 0
    prints "ethernet-10g, closed-form"
    prints "-50.0 %"
    prints "order of strategies: 4 of 4 pairs kept"
    run compare predicted measured.csv --limit-median 49
    exits 4
    says "more than --limit-median 49"
    run compare predicted measured.csv --limit-median 51 --limit-p95 51
    exits 0
    run compare predicted measured.csv --format csv -o result
    exits 0
    cmp -s result/comparison.csv <("$coppice" compare predicted measured.csv --format csv 2>/dev/null) ||
        complain "the file is not what standard output has"
}

test_compare_refuses_what_cannot_be_joined() {
    measurements 1
    run compare measured.csv measured.csv
    exits 2
    says "no prediction to hold against them"
    run predict --cluster ethernet-10g --bytes '2 MB' --strategy ring --gpus 2 --engine closed-form -o other
    run compare other measured.csv
    exits 2
    says "as no prediction has it"
    run compare predicted nowhere.csv
    exits 2
    says "nowhere.csv"
    run compare predicted measured.csv --min-time 5
    exits 2
    says "--min-time"
}

run_tests "$@"
