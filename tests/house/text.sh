#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# text.sh leftovers|whitespace|columns|machine-paths ROOT: what must not stand in our files.
set -euo pipefail
what=$1
cd "$2"
export LC_ALL=C.UTF-8  # columns are characters, not bytes

# Our files, NUL-separated, whose names match one of the given patterns. Not what was built, and not
# the house's own rules, which have to name what they forbid.
ours() {
    local pattern tests=()
    for pattern in "$@"; do tests+=(-o -name "$pattern"); done
    find . \( -path ./build -o -path ./.git -o -path ./.cache -o -path ./tests/house \) -prune \
        -o -type f \( "${tests[@]:1}" \) -print0 | sort -z
}

cpp=('*.hpp' '*.cpp' '*.hpp.in' '*.h')
all=('*')

# reject MESSAGE GREP_ARGUMENT...: fails, naming the places, if anything on stdin's files matches.
reject() {
    local message=$1 found
    shift
    found=$(xargs -0 --no-run-if-empty grep -InHE "$@" /dev/null || true)
    [[ -n $found ]] || return 0
    printf '%s\n' "$found" | sed "s|^\./||; s|\$|    <- $message|"
    return 1
}

case $what in
leftovers) ours "${cpp[@]}" '*.cmake' '*.sh' '*.txt' '*.pml' |
    reject 'do it or drop it' '(^|[^A-Za-z])(FIXME|XXX|TODO)([^A-Za-z]|$)' ;;
whitespace) ours "${all[@]}" | reject 'white space at the end of a line, or a tab' \
    -e '[[:space:]]$' -e $'\t' ;;
columns) ours "${cpp[@]}" | reject 'more than 100 columns' '^.{101}' ;;
machine-paths) ours "${all[@]}" |
    reject "a path of somebody's machine" '(^|[^A-Za-z0-9_./~}-])/(home|root|work)/' ;;
*)
    echo "unknown check: $what" >&2
    exit 2
    ;;
esac
