#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headers.sh ROOT COMPILER [FLAG...]: every header under ROOT/include and ROOT/src compiles as the
# first line of a source file, and a second time in the same one; and all that users can include
# compile together.
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

# The bridges are for one vocabulary each.
if ! output=$(find include -type f -name '*.hpp' -not -path '*/bridge/*' | sort |
    sed 's|^include/\(.*\)|#include <\1>|' |
    "$compiler" -std=c++20 -fsyntax-only -x c++ -Iinclude "$@" - 2>&1); then
    printf 'include: the headers do not compile together:\n%s\n' "$output"
    exit 1
fi
