#!/usr/bin/env bash
# shellcheck disable=SC2317  # the tests are called by their names
# What the program does when the machine says no: files, disks, pipes, signals. How to run it: lib.sh.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

predict=(predict firecaffe-nin --engine closed-form --gpus "1,2")

# No file but those of a whole run, and none half-written.
no_leftovers() { # FOLDER
    local left
    left=$(find "$1" -name '*.part*' -o -name '.coppice*')
    [ -z "$left" ] || complain "left behind: $left"
}

# Root may read and write everything, so what an ordinary user is refused is tried as one.
as_nobody() { # ARGUMENTS of coppice
    command_line="coppice $* (as nobody)"
    code=0
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=nobody --regid=nogroup --clear-groups "$nobodys_coppice" "$@" >out 2>err </dev/null || code=$?
    else
        "$coppice" "$@" >out 2>err </dev/null || code=$?
    fi
}
# The program and its data where nobody can reach them, whatever the rights of the folders above the build.
prepare_for_nobody() {
    nobodys_coppice=$scratch/bin/coppice
    [ "$(id -u)" -ne 0 ] && return
    command -v setpriv >/dev/null || skip "root may read all, and there is no setpriv to become another user"
    chmod 755 "$scratch"
    mkdir -p bin share/coppice
    cp "$coppice" bin/
    cp -r "$source_dir/scenarios" "$source_dir/plots" share/coppice/
    chmod -R a+rX bin share
    setpriv --reuid=nobody --regid=nogroup --clear-groups test -x "$nobodys_coppice" ||
        skip "another user cannot reach $scratch"
}

test_an_unreadable_file() {
    prepare_for_nobody
    cp "$source_dir/scenarios/papers/firecaffe-nin.toml" secret.toml
    chmod 000 secret.toml
    as_nobody predict "$scratch/secret.toml"
    exits 2
    says "secret.toml: found a file that cannot be read (Permission denied)"
    prints_nothing
}

test_an_unwritable_output_folder() {
    prepare_for_nobody
    mkdir locked
    chmod 555 locked
    as_nobody "${predict[@]}" -o "$scratch/locked"
    exits 3
    says "cannot write into '$scratch/locked': Permission denied"
    as_nobody "${predict[@]}" -o "$scratch/locked/deeper"
    exits 3
    says "cannot make the folder '$scratch/locked/deeper'"
    no_leftovers locked
}

test_a_file_in_place_of_the_output_folder() {
    echo precious >occupied
    run "${predict[@]}" -o occupied
    exits 3
    says "'occupied'"
    holds "the file is as it was" test "$(cat occupied)" = precious
}

test_a_full_disk_leaves_nothing_half_written() {
    [ "$(id -u)" -eq 0 ] || skip "only root can mount a small disk"
    mkdir disk
    mount -t tmpfs -o size=64k none disk 2>/dev/null || skip "mounting a tmpfs is not permitted here"
    clean_up() { umount "$scratch/disk" 2>/dev/null || umount -l "$scratch/disk"; }
    run "${predict[@]}" --figures none -o disk
    exits 0
    cp disk/records.csv before.csv
    head -c 1000000 /dev/zero >disk/filler 2>/dev/null
    run predict firecaffe-nin --engine closed-form --gpus 1..64:+1 --figures none -o disk
    exits 3
    says "No space left on device"
    same disk/records.csv before.csv
    no_leftovers disk
    # Room for the records, but not for the figures.
    umount disk
    run "${predict[@]}" --figures none -o records
    local pages
    pages=$(find records -type f -printf '%s\n' | awk '{ pages += int(($1 + 4095) / 4096) } END { print pages }')
    mount -t tmpfs -o size=$(((pages + 1) * 4))k none disk
    run "${predict[@]}" -o disk
    exits 3
    says "coppice: cannot draw"
    same records/records.csv disk/records.csv
    no_leftovers disk
}

test_a_full_or_closed_standard_output() {
    local format
    [ -w /dev/full ] || skip "no /dev/full"
    for format in table csv jsonl; do
        command_line="coppice predict --format $format >/dev/full"
        code=0
        "$coppice" "${predict[@]}" --format $format >/dev/full 2>err || code=$?
        exits 3
        says "cannot write to standard output: No space left on device"
    done
    command_line="coppice predict >&-"
    code=0
    "$coppice" "${predict[@]}" >&- 2>err || code=$?
    exits 3
    says "cannot write to standard output"
    # A reader that has gone away.
    code=0
    { "$coppice" "${predict[@]}" --format csv 2>err || echo $? >code; } | :
    [ ! -s code ] || [ "$(cat code)" -eq 3 ] || complain "exit code $(cat code) into a closed pipe"
}

test_no_gnuplot() {
    mkdir empty
    command_line="coppice predict -o, without gnuplot"
    code=0
    PATH=$scratch/empty "$coppice" "${predict[@]}" -o here >out 2>err || code=$?
    exits 3
    says "cannot run gnuplot: No such file or directory; Debian: apt-get install gnuplot-nox"
    no_leftovers here
}

test_no_data_folder() {
    mkdir empty
    command_line="COPPICE_DATA_DIR=empty coppice list models"
    code=0
    COPPICE_DATA_DIR=$scratch/empty "$coppice" list models >out 2>err || code=$?
    exits 3
    says "COPPICE_DATA_DIR"
}

# interrupt SIGNAL CODE SECONDS ARGUMENTS: starts coppice, sends it the signal once it has a child process (a simulation
# or gnuplot), and wants it to end with CODE within SECONDS, without its children and without half-written files.
interrupt() {
    local signal=$1 expected=$2 seconds=$3 pid child children started
    shift 3
    rm -rf results
    command_line="coppice $*, then SIG$signal"
    # A shell without job control lets its background processes ignore SIGINT, so that is undone first.
    env --default-signal=INT "$coppice" "$@" -o results >out 2>err </dev/null &
    pid=$!
    until children=$(pgrep -P $pid | tr '\n' ' ') && [ -n "$children" ]; do
        kill -0 $pid 2>/dev/null || { complain "it ended before it could be interrupted"; return; }
        sleep 0.02
    done
    started=$(date +%s%N)
    kill -s "$signal" $pid
    code=0
    wait $pid || code=$?
    exits "$expected"
    says "coppice: interrupted"
    [ $((($(date +%s%N) - started) / 1000000000)) -lt "$seconds" ] || complain "it took more than $seconds s to stop"
    for child in $children; do
        if kill -0 "$child" 2>/dev/null; then complain "child $child lives on"; fi
    done
    no_leftovers results
}

test_interrupted_in_the_middle_of_a_long_simulation() {
    command -v pgrep >/dev/null || skip "no pgrep"
    local long=(predict resnet50-weak --gpus 1..1024 --strategy ring --jobs 2)
    for signal_and_code in "INT 130" "TERM 143"; do
        # shellcheck disable=SC2086  # two words
        interrupt $signal_and_code 5 "${long[@]}"
        prints_nothing
        [ -z "$(ls -A results)" ] || complain "left behind: $(ls -A results)"
    done
}

test_interrupted_while_gnuplot_draws() {
    command -v pgrep >/dev/null || skip "no pgrep"
    interrupt INT 130 20 "${predict[@]}"
    holds "the records are whole" grep -q '^coppice.record' results/records.csv
}

run_tests "$@"
