#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-http-server.sh PROGRAM: the server of the guide answers, and SIGTERM ends it with a grace
# period, on each engine. A shell that is no terminal's starts it with SIGINT ignored.
set -euo pipefail
program=$1
scratch=$(mktemp -d)
server=
lasting=()  # servers that are left to their grace period, at the end
cleanup() {
    local process
    for process in $server "${lasting[@]}"; do
        kill -KILL "$process" 2>/dev/null || true
    done
    rm -rf "$scratch"
}
trap cleanup EXIT

fail() {
    echo "failed on ${EDDY_ENGINE}: $*" >&2
    exit 1
}
# eventually COMMAND...: until it succeeds, for half a minute.
eventually() {
    local i
    for ((i = 0; i < 600; i++)); do
        "$@" && return
        sleep 0.05
    done
    fail "never true: $*"
}
# The program may write the line in pieces.
has_said_where() { [[ $(wc -l <"$log") -ge 1 ]] && grep -q '^listening' "$log"; }
start() {
    log="$scratch/log.$EDDY_ENGINE"
    "$program" 127.0.0.1:0 2>"$log" &
    server=$!
    eventually has_said_where
    port=$(sed -n 's/^listening on 127.0.0.1://p' "$log")
}
ends_well() {
    local status=0
    wait "$server" || status=$?
    server=
    [[ $status -eq 0 ]] || fail "status $status: $(cat "$log")"
    [[ $(wc -l <"$log") -eq 1 ]] || fail "it says: $(cat "$log")"
}
# ask FD PATH: a request on an open connection is answered with its path.
ask() {
    local line body
    printf 'GET %s HTTP/1.1\r\n\r\n' "$2" >&"$1"
    read -r -t 20 line <&"$1" || fail "no answer"
    [[ $line == $'HTTP/1.1 200 OK\r' ]] || fail "the answer is '$line'"
    read -r -t 20 line <&"$1"
    read -r -t 20 line <&"$1"
    read -r -t 20 -N "${#2}" body <&"$1"
    [[ $body == "$2" ]] || fail "the body is '$body'"
}
refused() { ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

for EDDY_ENGINE in epoll poll best; do
    export EDDY_ENGINE
    start
    kill -TERM "$server"
    ends_well

    start
    exec {peer}<>"/dev/tcp/127.0.0.1/$port"
    ask "$peer" /before
    kill -INT "$server"  # ignored, and so it stays
    ask "$peer" /still
    kill -TERM "$server"
    eventually refused
    ask "$peer" /within-the-grace-period
    exec {peer}>&-
    ends_well

    start
    exec {peer}<>"/dev/tcp/127.0.0.1/$port"
    ask "$peer" /before
    kill -TERM "$server"
    eventually refused
    kill -TERM "$server"  # whoever is left is stopped now
    ends_well
    exec {peer}>&-
done

# Whoever is there for longer than the grace period is stopped at its end. The servers of all engines
# wait together.
began=$SECONDS
for EDDY_ENGINE in epoll poll best; do
    start
    exec {peer}<>"/dev/tcp/127.0.0.1/$port"
    ask "$peer" /before
    kill -TERM "$server"
    lasting+=("$server")
done
for EDDY_ENGINE in epoll poll best; do
    server=${lasting[0]}
    lasting=("${lasting[@]:1}")
    log="$scratch/log.$EDDY_ENGINE"
    ends_well
    [[ $((SECONDS - began)) -ge 4 ]] || fail "it ended before its grace period"
done
