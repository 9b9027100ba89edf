#!/usr/bin/env bash
# tools/emulated-cluster: hosts of their own, links of the rate asked for, real messages over them, nothing left behind.
# Usage: emulated_cluster_test.sh COPPICE_RUN MPIRUN SOURCE_DIR
set -uo pipefail
. "$(dirname "$0")/lib.sh"
tool=$source/tools/emulated-cluster
[ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
for needed in ip tc nsenter unshare awk; do command -v "$needed" >/dev/null || skip "no $needed (Debian: iproute2, util-linux)"; done
unshare --net --uts --ipc --mount true 2>/dev/null || skip "this machine does not let root make namespaces"
unshare --net sh -c 'ip link add name br0 type bridge && ip link add name v0 type veth peer name v1 &&
    tc qdisc add dev v0 root tbf rate 1mbit burst 8000 limit 100k' 2>/dev/null || skip "this kernel has no bridge, veth or tbf"

export COPPICE_EMULATED_ROOT=$work/clusters
a=t$$a
b=t$$b
cleanup() {
    "$tool" down --all >/dev/null 2>&1
    rm -rf "$work"
}
it() { # EXPECTED_EXIT ARGUMENTS...
    local expected=$1
    shift
    ends "$expected" "$tool" "$@"
}

it 0 --help
says out "Usage: emulated-cluster up"
it 2 upp
says err "expected up, exec, status or down"
it 2 up --rate 100mbps
says err "a rate in kbit, mbit or gbit"
it 2 up --nodes 0
it 2 up --name 'a b'
it 2 exec --name nobody -- true
says err "a cluster that is up"
it 2 down --name nobody

# A failure in the middle of up (a bucket that tc refuses) leaves nothing.
it 3 up --name "$a" --nodes 2 --rate 0mbit
[ ! -e "$COPPICE_EMULATED_ROOT/$a" ] || fail "a failed up left $(ls "$COPPICE_EMULATED_ROOT/$a")"

it 0 up --name "$a" --nodes 3 --rate 100mbit
it 2 up --name "$a" --nodes 3
it 0 exec --name "$a" --quiet -- hostname
[ "$(cat "$work/out")" = h0 ] || fail "the first host is called $(cat "$work/out")"
it 0 exec --name "$a" --on 2 --quiet -- hostname
[ "$(cat "$work/out")" = h2 ] || fail "the third host is called $(cat "$work/out")"
it 7 exec --name "$a" --quiet -- sh -c 'exit 7'
it 2 exec --name "$a" --on h3 -- true
says err "h0 to h2"

# mpirun starts its processes on all of them.
it 0 exec --name "$a" --quiet -- "$mpirun" -np 3 hostname
[ "$(sort "$work/out" | tr '\n' ' ')" = "h0 h1 h2 " ] || fail "mpirun -np 3 hostname says: $(tr '\n' ' ' <"$work/out")"

# 1 MB in a parameter server on 3 hosts: 2 x 2 messages of 1 MB through one link of 12.5 MB/s, 0.32 s each way at least;
# and they went over the link (in 2 repetitions and 1 of warm-up 6 MB each way at h0), with right sums.
it 0 exec --name "$a" -- "$mpirun" -np 3 "$run" bench --strategy ps --bytes '1 MB' --no-mpi -r 2 --warmup 1 --format csv
says out ',passed,0'
seconds=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "allreduce_s") column = i } NR == 2 { print $column }' "$work/out")
awk -v s="$seconds" 'BEGIN { exit !(s >= 0.32 && s < 1) }' || fail "4 MB through 100 Mbit/s took $seconds s"
sent=$(sed -n 's/^emulated-cluster: h0 sent \([0-9.]*\) MB, received \([0-9.]*\) MB.*/\1 \2/p' "$work/err")
awk -v pair="$sent" 'BEGIN { split(pair, mb, " "); exit !(mb[1] > 6 && mb[1] < 8 && mb[2] > 6 && mb[2] < 8) }' ||
    fail "h0 sent and received '$sent' MB instead of a little more than 6 each"

# A second one at the same time, with the same addresses, is another network.
it 0 up --name "$b" --nodes 2 --rate 50mbit
it 0 exec --name "$b" --quiet -- "$mpirun" -np 2 hostname
it 0 status
says out "cluster '$a': 3 hosts, 100mbit"
says out "cluster '$b': 2 hosts, 50mbit"

# down ends what runs there.
"$tool" exec --name "$b" --on 1 --quiet -- sleep 1000 &
sleep 1
it 0 status --name "$b"
says out "processes 1"
it 0 down --name "$b"
wait %1
[ ! -e "$COPPICE_EMULATED_ROOT/$b" ] || fail "down left $(ls "$COPPICE_EMULATED_ROOT/$b")"
it 0 down --all
it 0 status
says out "no cluster is up"
if grep -q "$COPPICE_EMULATED_ROOT" /proc/mounts; then fail "down left mounts: $(grep "$COPPICE_EMULATED_ROOT" /proc/mounts)"; fi

# Interrupted while it is being made: nothing either.
setsid "$tool" up --name "$a" --nodes 32 >"$work/out" 2>"$work/err" &
pid=$!
sleep 0.5
kill -TERM $pid
wait $pid
[ ! -e "$COPPICE_EMULATED_ROOT/$a" ] || fail "an interrupted up left $(ls "$COPPICE_EMULATED_ROOT/$a")"

finish
