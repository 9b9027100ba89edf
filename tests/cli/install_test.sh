#!/usr/bin/env bash
# shellcheck disable=SC2317  # the tests are called by their names
# An installed coppice works without its source tree. How to run it: lib.sh.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

test_an_installed_program_finds_its_files() {
    local build prefix
    build=$(dirname "$(dirname "$coppice")")
    prefix=$scratch/prefix
    holds "cmake --install" cmake --install "$build" --prefix "$prefix"
    [ -x "$prefix/bin/coppice" ] || { complain "no bin/coppice"; return; }
    for file in scenarios/papers/firecaffe-nin.toml scenarios/models/nin.toml plots/speedup.gp plots/style.gp; do
        [ -f "$prefix/share/coppice/$file" ] || complain "no share/coppice/$file"
    done
    command_line="the installed coppice predict, from /"
    code=0
    (cd / && "$prefix/bin/coppice" predict firecaffe-nin --gpus 1,2 --engine closed-form \
        -o "$scratch/results") >out 2>err </dev/null || code=$?
    exits 0
    [ -s results/records.csv ] || complain "no records"
    [ -s results/speedup-batch256.pdf ] || complain "no figure"
    # Nothing of it came from the source tree: no path of it in what was written.
    if grep -rqF "$source_dir" results/records.csv results/scenario.toml err; then
        complain "the source tree was read"
    fi
    (cd / && "$prefix/bin/coppice" list scenarios) >out 2>err || complain "list scenarios fails"
    prints firecaffe-googlenet
}

run_tests "$@"
