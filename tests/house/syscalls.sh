#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# syscalls.sh ROOT [LIST]: under ROOT/include and ROOT/src, only ROOT/src/kernel makes the calls in
# syscalls.txt and those with a global name that is not listed there as free. The words of that list
# stand nowhere.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
list=$(readlink -f "${2:-$here/syscalls.txt}")
cd "$1"

find include src -type f \( -name '*.hpp' -o -name '*.hpp.in' -o -name '*.cpp' \) \
    -print0 | sort -z |
    xargs -0 awk -v list="$list" '
function read_list(    line, words, n, i) {
    while ((getline line < list) > 0) {
        if (line ~ /^#/ || line ~ /^ *$/) continue
        n = split(line, words, " ")
        if (words[1] == "prefix") {
            prefixes[words[2]] = ""
            for (i = 4; i <= n; i++) prefixes[words[2]] = prefixes[words[2]] " " words[i]
        } else if (words[1] == "word") {
            instead[words[2]] = words[3]
        } else {
            kinds[words[2]] = words[1]
        }
    }
}

function starts_with(text, beginning) { return substr(text, 1, length(beginning)) == beginning }

# The line without string literals and comments; `in_comment` lives on to the next line.
function code_of(line) {
    if (in_comment) {
        if (!sub(/^.*\*\//, "", line)) return ""
        in_comment = 0
    }
    gsub(/\\./, "", line)
    gsub(/"[^"]*"/, "\"\"", line)
    sub(/\/\/.*/, "", line)
    gsub(/\/\*([^*]|\*[^\/])*\*\//, " ", line)
    if (sub(/\/\*.*/, "", line)) in_comment = 1
    return line
}

function tolerated(name,    prefix, places, n, i) {
    for (prefix in prefixes) {
        if (!starts_with(name, prefix)) continue
        n = split(prefixes[prefix], places, " ")
        for (i = 1; i <= n; i++) if (starts_with(FILENAME, places[i])) return 1
        return 0
    }
    return 1
}

function check(name, global, unqualified) {
    if (!global && !unqualified) return
    if (kinds[name] == "any" || (global && kinds[name] != "free") || !tolerated(name)) {
        printf "%s:%d: calls %s: only src/kernel makes system calls\n", FILENAME, FNR, name
        bad = 1
    }
}

function check_words(line,    word, at) {
    for (word in instead) {
        at = index(line, word)
        if (!at || substr(line, at + length(word), 1) ~ /[A-Za-z0-9_]/) continue
        if (at > 1 && substr(line, at - 1, 1) ~ /[A-Za-z0-9_]/) continue
        printf "%s:%d: names %s, which makes calls that nobody counts: use %s\n", FILENAME, FNR, word, instead[word]
        bad = 1
    }
}

BEGIN { read_list() }
FNR == 1 { in_comment = 0 }
{
    rest = code_of($0)
    check_words(rest)
    if (FILENAME ~ /^src\/kernel\//) next
    before = ""
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
        before = before substr(rest, 1, RSTART - 1)
        name = substr(rest, RSTART, RLENGTH)
        called = name
        sub(/[ \t]*\($/, "", called)
        check(called, before ~ /(^|[^A-Za-z0-9_>])::$/, before !~ /(::|\.|->)$/)
        before = before name
        rest = substr(rest, RSTART + RLENGTH)
    }
}
END { exit bad }
'
