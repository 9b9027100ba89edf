# What the scripts of this folder share; each sources it with its own arguments: COPPICE_RUN MPIRUN SOURCE_DIR.
# What a script runs leaves its output in $work/out and $work/err.
run=$1
mpirun=$2
source=$3
failures=0
work=""

skip() {
    echo "skipped: $*"
    exit 77
}
[ -n "$mpirun" ] && [ -x "$mpirun" ] || skip "no mpirun was found (Debian: openmpi-bin)"

work=$(mktemp -d)
cleanup() { rm -rf "$work"; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export COPPICE_DATA_DIR=$source

fail() {
    failures=$((failures + 1))
    echo "FAILED: $*" >&2
    sed 's/^/    out: /' "$work/out" | head -20 >&2
    sed 's/^/    err: /' "$work/err" | head -20 >&2
}
# ends EXPECTED_EXIT COMMAND...
ends() {
    local expected=$1 code
    shift
    timeout 100 "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" = "$expected" ] || fail "exit code $code instead of $expected: $*"
}
# ranks EXPECTED_EXIT RANKS ARGUMENTS...
ranks() {
    local expected=$1 np=$2
    shift 2
    ends "$expected" "$mpirun" -np "$np" "$run" "$@"
}
says() { grep -qF -- "$2" "$work/$1" || fail "$1 does not say: $2"; }
times() { # FILE TEXT COUNT
    local count
    count=$(grep -cF -- "$2" "$work/$1")
    [ "$count" = "$3" ] || fail "$1 says $count times, not $3 times: $2"
}
finish() {
    [ "$failures" = 0 ] || exit 1
    echo "all passed"
}
