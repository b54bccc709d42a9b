#!/usr/bin/env bash
# check-http-server.sh PROGRAM: the server of the guide answers, and SIGTERM ends it with a grace
# period, on each engine. A shell that is no terminal's starts it with SIGINT ignored.
set -euo pipefail
program=$1
scratch=$(mktemp -d)
server=
cleanup() {
    [[ -z $server ]] || kill -KILL "$server" 2>/dev/null || true
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
has_said_where() { [[ $(wc -l <"$scratch/log") -ge 1 ]] && grep -q '^listening' "$scratch/log"; }
start() {
    "$program" 127.0.0.1:0 2>"$scratch/log" &
    server=$!
    eventually has_said_where
    port=$(sed -n 's/^listening on 127.0.0.1://p' "$scratch/log")
}
ends_well() {
    local status=0
    wait "$server" || status=$?
    server=
    [[ $status -eq 0 ]] || fail "status $status: $(cat "$scratch/log")"
    [[ $(wc -l <"$scratch/log") -eq 1 ]] || fail "it says: $(cat "$scratch/log")"
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
