#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# commands.sh options|install ROOT: the commands at the root say clearly what is wrong.
set -euo pipefail
what=$1
root=$2

# says CODE WORDS COMMAND...: the command exits with CODE and says WORDS.
says() {
    local expected=$1 words=$2 output code=0
    shift 2
    output=$("$@" 2>&1 </dev/null) || code=$?
    [[ $code -eq $expected ]] || {
        printf '%s: exit %s, not %s. It said:\n%s\n' "$*" "$code" "$expected" "$output"
        exit 1
    }
    [[ $output == *"$words"* ]] || {
        printf '%s: expected "%s". It said:\n%s\n' "$*" "$words" "$output"
        exit 1
    }
}

# Runs what stands on stdin as somebody who cannot become root.
unprivileged() {
    local become=()
    [[ $EUID -ne 0 ]] || become=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    "${become[@]}" bash -c 'sudo() { return 1; }; eval "$1"' bash "$1"
}

case $what in
options)
    says 2 'unknown option --nonsense. See ./test --help' "$root/test" --nonsense
    says 2 'do not go together' "$root/test" --long --clang
    says 2 'one PATTERN only' "$root/test" one two
    says 2 'do not go together' "$root/test" --long --stdexec "$root"
    says 2 '--stdexec needs the directory of a checkout' "$root/test" --stdexec
    says 2 "$root has no stdexec/execution.hpp" "$root/test" --stdexec "$root"
    says 2 '/nowhere has no stdexec/execution.hpp' "$root/test" --stdexec /nowhere SomePattern
    says 0 './test --sanitize' "$root/test" --help
    says 0 './run --serve PORT' "$root/run" --help
    says 0 './bench --quick' "$root/bench" --help
    says 0 './bench --check' "$root/bench" --help
    says 2 'unknown option --nonsense' "$root/scripts/try-in-bare-debian" --nonsense
    ;;
install)
    script=$(cat "$root/scripts/install.sh")
    says 1 'apt-get install --no-install-recommends eddy-no-such-package' \
        unprivileged "$script; packages_odd=eddy-no-such-package; need odd"
    says 0 'nothing was missing' \
        unprivileged "$script; packages_odd='bash coreutils'; need odd; echo nothing was missing"
    says 0 'went on' unprivileged \
        "$script; packages_odd=; packages_odd_optional=eddy-no-such-package; need odd; echo went on"
    ;;
*)
    echo "no such check: $what" >&2
    exit 2
    ;;
esac
