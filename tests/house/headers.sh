#!/usr/bin/env bash
# headers.sh ROOT COMPILER [FLAG...]: every header under ROOT/include and ROOT/src compiles as the
# first line of a source file, and a second time in the same one.
set -euo pipefail
cd "$1"
compiler=$2
shift 2

export compiler
check() {
    local header=$1 name=$1 output
    shift
    name=${name#include/}
    name=${name#src/}
    if ! output=$(printf '#include <%s>\n#include <%s>\n' "$name" "$name" |
        "$compiler" -std=c++20 -fsyntax-only -x c++ -Iinclude -Isrc "$@" - 2>&1); then
        printf '%s: does not compile on its own:\n%s\n' "$header" "$output"
        return 1
    fi
}
export -f check

find include src -type f -name '*.hpp' -print0 | sort -z |
    xargs -0 --no-run-if-empty -P 2 -I {} bash -c 'check "$@"' check {} "$@"
