#!/usr/bin/env bash
# shellcheck disable=SC2317  # the tests are called by their names
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

test_compare_draws_its_figure() {
    local name
    measurements 1.1
    run compare predicted measured.csv -o result
    exits 0
    says "wrote comparison.csv, comparison.jsonl, comparison.pdf, comparison.svg, comparison.png to result"
    holds "comparison.pdf is one" grep -q '^%PDF-' result/comparison.pdf
    holds "comparison.svg is one" grep -q '</svg>' result/comparison.svg
    holds "comparison.png is one" grep -q PNG result/comparison.png
    for name in 'ethernet-10g, closed-form' 'error: median 9.1 %, p95 9.1 %' ring tree '±10 %' 'measured time (ms)'; do
        holds "$name is in the figure" grep -qF "<text>$name</text>" result/comparison.svg
    done
    holds "8 points are drawn" test "$(points_in result/comparison.svg)" -eq 8
    holds "no path in the figure" test "$(grep -c "$PWD" result/comparison.svg)" -eq 0
    run compare predicted measured.csv -o some --figures svg
    exits 0
    same some/comparison.svg result/comparison.svg
    [ -e some/comparison.pdf ] && complain "a PDF nobody asked for"
    run compare predicted measured.csv -o none --figures none
    exits 0
    says "wrote comparison.csv, comparison.jsonl to none"
    run figure comparison result/comparison.csv --format svg -o again
    exits 0
    same again/comparison.svg result/comparison.svg
}
# Markers of data: those of the legend have a style of their own, and are drawn by its labels.
points_in() { # SVG
    awk '/<g id="coppice_plot_[23]/ { inside = 1 } /<\/g>/ { inside = 0 } inside' "$1" | grep -o 'gpPt[0-9]*' | wc -l
}

test_figures_of_unusual_comparisons() {
    measurements 1.1
    run compare predicted measured.csv --min-time '1 h' --figures svg -o none-counted
    exits 0
    holds "it says so" grep -qF '<text>no point counts</text>' none-counted/comparison.svg
    head -n 2 measured.csv >single.csv
    run compare predicted single.csv --figures svg -o single
    exits 0
    holds "one point" test "$(points_in single/comparison.svg)" -eq 1
    awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i } NR > 1 { $at["allreduce_s"] *= 10 ^ (NR - 4) } 1' \
        measured.csv >decades.csv
    run compare predicted decades.csv --figures svg -o decades
    exits 0
    holds "units at the labels" grep -qF '<text>10 ms</text>' decades/comparison.svg
    holds "none at the axis" grep -qF '<text>measured time</text>' decades/comparison.svg
}

# gnuplot misreads quotes in a CSV file, takes '_' and '^' for indices in text, and words end at spaces.
# shellcheck disable=SC2016  # nothing of it is to be expanded
test_names_survive_in_the_figure() {
    local group='a_1^2 "b", c@d=$e %s `f`' strategy='tree(a=1, "b c")' side
    measurements 1.1
    for side in predicted/records.csv measured.csv; do
        sed -i -e 's/,tree,tree,/,"tree(a=1, ""b c"")","tree(a=1, ""b c"")",/' -e 's/|strategy=tree|/|strategy=other|/' "$side"
    done
    sed -e 's/,ethernet-10g,/,"a_1^2 ""b"", c@d=$e %s `f`",/' predicted/records.csv >other.csv
    run compare predicted measured.csv --predicted 'x "y", z=other.csv' --figures svg -o result
    exits 0
    sed -e 's/&quot;/"/g' -e "s/&#39;/'/g" -e 's/&gt;/>/g' -e 's/&lt;/</g' -e 's/&amp;/\&/g' result/comparison.svg >text
    tr -d '\n' <text | sed 's/<[^>]*>//g; s/[[:space:]][[:space:]]*/ /g' >words
    holds "the strategy's name" grep -qF "$strategy" words
    holds "the group's name" grep -qF "x \"y\", z ($group" words
    holds "8 points in each panel" test "$(points_in result/comparison.svg)" -eq 16
}

test_compare_refuses_what_it_cannot_draw() {
    measurements 1
    refuses "--figures: found 'pfd', expected a file format for figures" compare predicted measured.csv --figures pfd
    says "did you mean 'pdf'"
    refuses "found 'comparisn', expected a kind of figure" figure comparisn result/comparison.csv
    says "did you mean 'comparison'?"
    refuses ", expected 'coppice.comparison/2'" figure comparison predicted/records.csv
    run compare predicted measured.csv --figures none -o result
    { cat result/comparison.csv && sed -n '2s/,"ethernet-10g/,"another/p' result/comparison.csv; } >joined.csv
    refuses "group_index: found 1 for both 'ethernet-10g, closed-form' and 'another, closed-form'" \
        figure comparison joined.csv
    head -n 1 result/comparison.csv >none.csv
    refuses "none.csv: found no point" figure comparison none.csv
}

test_compare_without_gnuplot() {
    measurements 1
    mkdir empty
    PATH=$PWD/empty run compare predicted measured.csv -o result
    exits 3
    says "cannot run gnuplot: No such file or directory"
    prints "order of strategies"
    [ -s result/comparison.csv ] || complain "the points are not there"
    [ -z "$(find result -name 'comparison.p*')" ] || complain "left behind: $(ls result)"
    PATH=$PWD/empty run compare predicted measured.csv -o result --figures none
    exits 0
}

run_tests "$@"
