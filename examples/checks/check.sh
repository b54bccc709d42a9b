# SPDX-License-Identifier: Apache-2.0
# Sourced by the checks of the examples. Makes a scratch directory, and starts servers with a pipe
# as their input, so that closing the pipe ends them in good order.
set -euo pipefail
scratch=$(mktemp -d)
server=
port=
declare -A inputs=()  # of each server, by process
engines="epoll poll io_uring"

cleanup() {
    local process
    for process in "${!inputs[@]}"; do
        kill -KILL "$process" 2>/dev/null || true
    done
    rm -rf "$scratch"
}
trap cleanup EXIT

fail() {
    echo "failed: $*" >&2
    exit 1
}

# eventually COMMAND...: repeats it until it succeeds, for at most half a minute.
eventually() {
    local i
    for ((i = 0; i < 600; i++)); do
        "$@" && return
        sleep 0.05
    done
    fail "never true: $*"
}

# start PROGRAM ARGUMENT...: starts a server in the background; sets `server` and `port`.
start() {
    local out="$scratch/server.${#inputs[@]}" input
    rm -f "$scratch/input"
    mkfifo "$scratch/input"
    : >"$out"  # before the server: the redirection below happens in the background
    (
        for input in "${inputs[@]}"; do exec {input}>&-; done
        exec "$@"
    ) <"$scratch/input" >>"$out" &
    server=$!
    exec {input}>"$scratch/input"
    inputs[$server]=$input
    eventually grep -q '^engine' "$out"
    port=$(sed -n 's/^port //p' "$out")
}

# has_ended PROCESS: also true for a zombie.
has_ended() { ! kill -0 "$1" 2>/dev/null || grep -qs '^State:.Z' "/proc/$1/status"; }

# stop [SERVER]: closes its input, which must end it in good order. The default is the last server.
stop() {
    local which=${1:-$server} input
    input=${inputs[$which]}
    exec {input}>&-
    eventually has_ended "$which"
    wait "$which" || fail "a server ended with status $?"
}

# refuses STATUS PATTERN COMMAND...: it must end with STATUS and print a line that matches PATTERN.
refuses() {
    local status=0 expected=$1 pattern=$2
    shift 2
    timeout 30 "$@" >/dev/null 2>"$scratch/err" </dev/null || status=$?
    [[ $status -eq $expected ]] || fail "status $status instead of $expected: $*"
    grep -q "$pattern" "$scratch/err" || fail "'$(cat "$scratch/err")' does not say $pattern: $*"
}

# All engines are checked. io_uring is left out only where no loop can have it, as the example
# echo_coroutine shows if its input has ended.
if ! : | EDDY_ENGINE=io_uring timeout 30 "$(dirname "$1")/echo_coroutine" 0 >/dev/null 2>"$scratch/err"; then
    echo "io_uring is left out: $(cat "$scratch/err")"
    engines="epoll poll best"
fi
