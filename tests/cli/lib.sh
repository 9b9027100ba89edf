# shellcheck shell=bash
# For the tests of the command line: runs the program, and says what it should have done. To be sourced by
#
#   bash tests/cli/NAME_test.sh PROGRAM TEST      one test; exit code 0 passed, 1 failed, 77 skipped (with its reason)
#   bash tests/cli/NAME_test.sh PROGRAM           all of the file
#
# A test is a function test_..., in a folder of its own that is removed afterwards.
set -uo pipefail

coppice=$(realpath "$1")
test_file=$(realpath "$0")
# shellcheck disable=SC2034  # for the tests
source_dir=$(realpath "$(dirname "$test_file")/../..")
failures=0
unset COPPICE_DATA_DIR

# run ARGUMENTS: the program, whose output is then in the files out and err, whose exit code is in $code.
run() {
    command_line="coppice $*"
    code=0
    "$coppice" "$@" >out 2>err </dev/null || code=$?
}

complain() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n  %s\n' "${command_line:-}" "$1" >&2
    [ -s err ] && sed 's/^/  stderr: /' err | head -n 20 >&2
}

exits() { # CODE
    [ "$code" -eq "$1" ] || complain "exit code $code, expected $1"
}
says() { # TEXT, on stderr
    grep -qF -e "$1" err || complain "stderr lacks: $1"
}
prints() { # TEXT, on stdout
    grep -qF -e "$1" out || complain "stdout lacks: $1"
}
prints_nothing() {
    [ -s out ] && complain "stdout is not empty: $(head -c 200 out)"
    return 0
}
same() { # FILE FILE
    cmp -s "$1" "$2" || complain "$1 and $2 differ"
}
holds() { # MESSAGE COMMAND...
    local message=$1
    shift
    "$@" >/dev/null 2>&1 || complain "$message"
}
skip() { # REASON
    printf 'SKIPPED: %s\n' "$1" >&2
    exit 77
}

# Bad input, in one line: refuses 'TEXT' ARGUMENTS: exit code 2, TEXT on stderr, nothing on stdout.
refuses() {
    local text=$1
    shift
    run "$@"
    exits 2
    says "$text"
    prints_nothing
}

one_test() { # NAME
    scratch=$(mktemp -d)
    trap 'clean_up; rm -rf "$scratch"' EXIT
    cd "$scratch" || exit 1
    "$1"
    [ "$failures" -eq 0 ]
}
clean_up() { :; } # a test that mounts or starts something says here how to undo it

# At the end of a test file: run_tests "$@"
run_tests() {
    if [ $# -ge 2 ]; then
        (one_test "$2")
        exit
    fi
    local name all_code=0
    while read -r name; do
        code=0
        (one_test "$name") || code=$?
        case $code in
        0) echo "ok      $name" ;;
        77) echo "skipped $name" ;;
        *)
            echo "FAILED  $name"
            all_code=1
            ;;
        esac
    done < <(sed -n 's/^\(test_[a-z0-9_]*\)() {$/\1/p' "$test_file")
    exit "$all_code"
}
