#!/usr/bin/env bash
# shellcheck disable=SC2317,SC2016  # the tests are called by their names; awk's $ is not the shell's
# coppice fit: logs and probes as people have them, to clusters that can be used. How to run it: lib.sh.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

# nccl_log RANKS FIRST_BYTES MICROSECONDS...: a log of all_reduce_perf, sizes doubling.
nccl_log() {
    local ranks=$1 bytes=$2
    shift 2
    awk -v ranks="$ranks" 'BEGIN {
        for (r = 0; r < ranks; r++) printf "#  Rank %2d Group  0 Pid %d on host device %d GPU\n", r, 100 + r, r
        print "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong" }'
    for us in "$@"; do
        awk -v n="$bytes" -v t="$us" -v p="$ranks" 'BEGIN {
            a = n / t / 1000; f = 2 * (p - 1) / p
            printf "%d %d float sum -1 %s %.2f %.2f 0 %s %.2f %.2f 0\n", n, n / 4, t, a, a * f, 2 * t, a / 2, a * f / 2 }'
        bytes=$((2 * bytes))
    done
}
# 100 us + n / 1 GB/s on 4 ranks, 1 kB to 1.024 MB.
four_ranks() { nccl_log 4 1000 101.0 102.0 104.0 108.0 116.0 132.0 164.0 228.0 356.0 612.0 1124.0; }
# 64 B to 1 MiB between two hosts, 50 us + n / 100 MB/s.
osu() { # TEST
    printf '# OSU MPI %s Test v5.8\n# Size  Latency (us)\n' "$1"
    awk 'BEGIN { for (n = 64; n <= 1048576; n *= 2) printf "%d %.2f\n", n, 50 + n / 100 }'
}
# o = 2 us, alpha = 48 us, 100 MB/s each way, half of it both ways at once; sums 4 GB/s, updates 2 GB/s.
probe() {
    awk '
        function record(what, n, s, senders) {
            printf "{\"schema\":\"coppice.probe/1\",\"what\":\"%s\",\"bytes\":%d,\"senders\":%d,\"segment_bytes\":61440,", what, n, senders
            printf "\"segments_in_flight\":8,\"seconds\":%.9g,\"low_s\":%.9g,\"high_s\":%.9g,\"min_s\":%.9g,\"max_s\":%.9g,", s, s, s, s, s
            printf "\"repetitions\":9,\"stop\":\"interval\",\"from\":\"a\",\"to\":\"b\",\"mpi\":\"MPI\",\"version\":\"0\"}\n" }
        BEGIN { for (n = 64; n <= 16777216; n *= 4) {
                    record("one-way", n, 50e-6 + n / 1e8, 1)
                    record("both-ways", n, 50e-6 + n / 0.5e8, 4)
                    record("incast", n, 100e-6 + 3 * n / 1e8, 3) }
                record("overhead", 4, 2e-6, 1)
                record("sum", 16777216, 16777216 / 4e9, 0)
                record("update", 16777216, 16777216 / 2e9, 0) }'
}

test_a_log_is_fitted_on_the_screen_without_anything_else() {
    four_ranks >four.log
    run fit four.log
    exits 0
    prints "all-reduce on 4 ranks (its list of devices): nccl-tests all_reduce_perf, out-of-place times: four.log"
    holds "100 us and 1 GB/s" grep -qE '^ +0 B +100 us +1 GB/s \(8 Gbps\)$' out
    prints "11 of 11 sizes; errors: mean 0.00 %"
    [ -s err ] && complain "there is nothing to warn of"
    run fit four.log --in-place
    holds "twice the times" grep -qE '^ +0 B +200 us +500 MB/s' out
}

test_what_is_written_predicts_on_its_number_of_ranks() {
    four_ranks >four.log
    run fit four.log --base ethernet-10g -o mine.toml
    exits 0
    says "wrote mine.toml"
    run check mine.toml
    exits 0
    prints "a cluster, mine"
    run show cluster ./mine.toml
    prints "all-reduce on 4 ranks, 1 kB to 1.024 MB"
    prints "11 of 11 sizes, errors: mean 0.00 %"
    # 102,228,128 B of gradients are far more than 1 MB; in a network of 250,000 parameters they are 1 MB: 1.1 ms.
    run predict resnet50-weak --set cluster.use=./mine.toml -e closed-form -s measured --gpus 2,4
    exits 0
    prints "n/a: the measured all-reduce tells of 4 ranks only"
    prints "n/a: 102.2 MB would be an extrapolation: the largest measured size is 1.024 MB"
    run predict resnet50-weak --set cluster.use=./mine.toml -s measured,ring --gpus 4
    exits 0
    prints "n/a: 102.2 MB would be an extrapolation"
    sed -i 's/^largest = .*/largest = "1 GB"/' mine.toml
    run predict resnet50-weak --set cluster.use=./mine.toml -e closed-form -s measured --gpus 4 --format csv
    exits 0
    holds "100 us + 102.228128 MB / 1 GB/s" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { t = $at["exposed_comm_s"]; exit !(t > 0.102327 && t < 0.102329) }' out
    run predict resnet50-weak --set cluster.use=./mine.toml -s measured --gpus 4
    exits 0
    prints "n/a: measured times have no schedule to simulate; use --engine closed-form"
    # 512 kB: 100 us + 512 us.
    run predict --cluster mine.toml --bytes "512 kB" --gpus 4,8 -s measured -e closed-form --format csv
    exits 0
    holds "612 us on 4 ranks, n/a on 8" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { t = $at["allreduce_s"]; four = t > 0.0006119 && t < 0.0006121 }
        NR == 3 { exit !(four && $at["status"] == "n/a") }' out
    run list strategies
    prints "without a schedule"
    holds "measured stands there" grep -qE '^  measured ' out
}

test_logs_of_several_numbers_of_ranks_and_one_after_the_other() {
    four_ranks >four.log
    nccl_log 8 1000 201.0 202.0 204.0 208.0 >eight.log
    run fit four.log eight.log --base ethernet-10g -o both.toml
    exits 0
    run fit eight.log --base ethernet-10g -o first.toml
    run fit four.log --base first.toml -o second.toml --name both
    exits 0
    for file in both.toml second.toml; do
        run show cluster "./$file"
        prints "all-reduce on 4 ranks"
        prints "all-reduce on 8 ranks"
    done
    # The same number of ranks again replaces what was there.
    run fit eight.log --in-place --base second.toml -o third.toml
    holds "two entries" test "$(grep -c '^\[\[collectives\]\]' third.toml)" -eq 2
}

test_the_same_input_gives_the_same_file() {
    four_ranks >four.log
    run fit four.log --base ethernet-10g -o a.toml
    cp a.toml first
    run fit four.log --base ethernet-10g -o a.toml
    same a.toml first
}

test_left_out_sizes_are_named() {
    nccl_log 4 1000 101.0 102.0 104.0 500.0 116.0 132.0 164.0 228.0 356.0 612.0 1124.0 >slow.log
    run fit slow.log
    exits 0
    says "warning: left out: 8,000 B in 500 us (not monotone within 5 %; fitted 108 us, -78.4 %)"
    prints "10 of 11 sizes"
    { four_ranks && echo '2048000 512000 float sum -1 2148.0 0.95 1.43 3 2148.0 0.95 1.43 0'; } >wrong.log
    run fit wrong.log
    exits 0
    says "wrong.log:17: row of 2048000 B left out: 3 wrong elements"
}

test_a_number_of_ranks_that_the_log_does_not_tell_is_asked_for() {
    osu "Allreduce Latency" >osu.log
    refuses "osu.log: found no number of ranks (a log of the OSU benchmarks does not tell it), expected --ranks N" \
        fit osu.log
    run fit osu.log --ranks 64
    exits 0
    prints "all-reduce on 64 ranks (--ranks): osu_allreduce"
    four_ranks >four.log
    refuses "--ranks: found 8, expected 4, which its list of devices of four.log tells" fit four.log --ranks 8
    refuses "--ranks: found 1, expected at least 2 ranks" fit osu.log --ranks 1
}

test_osu_latency_is_a_link() {
    osu "Latency" >latency.log
    run fit latency.log --base ethernet-10g -o mine.toml
    exits 0
    says "the overhead is 0"
    run show cluster ./mine.toml
    prints "link.bandwidth            100 MB/s (800 Mbps)"
    prints "link.latency              50 us"
    prints "link.overhead             0 s"
    refuses "--ranks: found logs of osu_latency" fit latency.log --ranks 2
    osu "Bandwidth" >bw.log
    refuses "bw.log:1: found a log of the OSU test 'Bandwidth', expected one of osu_allreduce" fit bw.log
}

test_a_probe_is_a_link_and_the_rates_of_its_hosts() {
    probe >probe.jsonl
    run fit probe.jsonl --base ethernet-10g --name mine -o cluster.toml
    exits 0
    prints "link, overhead 2 us: coppice-run probe on a, b (MPI): probe.jsonl"
    prints "while the receiver sends as much:"
    holds "twice as long both ways as predicted" grep -qE '^ +both-ways +16,777,216 B +4 .* 2\.00$' out
    holds "incast as predicted" grep -qE '^ +incast +16,777,216 B +3 .* 1\.00$' out
    run show cluster ./cluster.toml
    prints "cluster mine:"
    prints "link.latency              48 us"
    prints "link.overhead             2 us"
    prints "link.both_ways[0]         from 0 B: 50 MB/s (400 Mbps), 48 us"
    prints "link.segment              61.44 kB"
    prints "host.sum_rate             4 GB/s"
    prints "device.sum_rate           300 GB/s"
    run fit probe.jsonl --base ethernet-10g -o cluster.toml --device-is-host
    run show cluster ./cluster.toml
    prints "device.sum_rate           4 GB/s"
    prints "device.update_rate        2 GB/s"
}

test_points_for_machines() {
    four_ranks >four.log
    run fit four.log --format jsonl
    exits 0
    holds "11 points" test "$(wc -l <out)" -eq 11
    prints '{"schema":"coppice.fit/1","subject":"all-reduce","ranks":4,"segment":0,"bytes":1000,"seconds":0.000101,'
}

test_inputs_that_cannot_be() {
    four_ranks >four.log
    probe >probe.jsonl
    osu "Latency" >latency.log
    : >empty.log
    echo "once upon a time" >story.log
    mkdir folder
    refuses "expected measurements" fit
    refuses "empty.log: found an empty file" fit empty.log
    refuses "story.log: found no measurement that coppice knows" fit story.log
    refuses "folder: found a directory" fit folder
    refuses "missing.log: found a file that cannot be read" fit missing.log
    refuses "four.log: found the same file twice" fit four.log four.log
    refuses "probe.jsonl: found records of coppice-run probe, expected the same kind as four.log" fit four.log probe.jsonl
    refuses "latency.log: found a log of osu_latency, expected the same kind as four.log" fit four.log latency.log
    head -n 6 four.log >short.log
    refuses "short.log: found usable times of 1 size, expected at least 3 sizes" fit short.log
    head -c 400 probe.jsonl >cut.jsonl
    refuses "cut.jsonl:2: found no JSON object" fit cut.jsonl
    sed 's/probe.1/probe\/9/' probe.jsonl >newer.jsonl
    refuses "newer.jsonl:1: schema: found 'coppice.probe/9'" fit newer.jsonl
    run predict firecaffe-nin -e closed-form --gpus 2 --format jsonl
    cp out records.jsonl
    refuses "records.jsonl: found records of predictions or of coppice-run bench" fit records.jsonl
    sed 's/ sum / none /' four.log >gather.log
    refuses "gather.log:6: found rows without a reduction" fit gather.log
}

test_options_that_cannot_be() {
    four_ranks >four.log
    probe >probe.jsonl
    refuses "--output: found no --base" fit four.log -o mine.toml
    refuses "--name: found no -o FILE" fit four.log --name mine
    refuses "--name: found 'two words'" fit four.log --base ethernet-10g -o mine.toml --name "two words"
    refuses "did you mean 'ethernet-100g', 'ethernet-10g'" fit four.log --base ethernet-10 -o mine.toml
    refuses "--segments: found '0', expected 'auto' or a number from 1 to 6" fit four.log --segments 0
    refuses "--segments: found 'many'" fit four.log --segments many
    refuses "--tolerance: found -1, expected per cent" fit four.log --tolerance -1
    refuses "--format: found 'tabel', expected one of table, jsonl" fit four.log --format tabel
    refuses "--device-is-host: found logs" fit four.log --device-is-host
    refuses "--ranks: found records of coppice-run probe" fit probe.jsonl --ranks 4
    refuses "--in-place: found records of coppice-run probe" fit probe.jsonl --in-place
    holds "nothing was written" test ! -e mine.toml
}

test_a_file_that_cannot_be_written() {
    four_ranks >four.log
    run fit four.log --base ethernet-10g -o no/such/folder/mine.toml
    exits 3
    says "cannot write 'no/such/folder/mine.toml'"
}

run_tests "$@"
