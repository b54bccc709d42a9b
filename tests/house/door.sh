#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# door.sh ROOT [LIST]: the calls of the kernel under ROOT/src are made inside the parentheses of
# once(...), surely(...) or retried(call::..., ...), which count them and let tests fail them.
# LIST, door.txt, says what such a call is.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
list=$(readlink -f "${2:-$here/door.txt}")
cd "$1"

find src -type f \( -name '*.hpp' -o -name '*.cpp' \) -print0 | sort -z |
    xargs -0 awk -v list="$list" '
function read_list(    line, words) {
    while ((getline line < list) > 0) {
        if (line ~ /^#/ || line ~ /^ *$/) continue
        split(line, words, " ")
        if (words[1] != "free" && words[1] != "bare" && words[1] != "prefix" && words[1] != "exempt") {
            printf "%s: what is %s?\n", list, words[1]
            bad = 1
        }
        known[words[1], words[2]] = 1
        if (words[1] == "prefix") prefixes[words[2]] = 1
    }
}

# The line without string literals and comments; `in_comment` lives on to the next line.
function code_of(line) {
    if (in_comment) {
        if (!sub(/^.*\*\//, "", line)) return ""
        in_comment = 0
    }
    sub(/asm[ \t]+volatile/, "asm", line)
    gsub(/\\./, "", line)
    gsub(/"[^"]*"/, "\"\"", line)
    sub(/\/\/.*/, "", line)
    gsub(/\/\*([^*]|\*[^\/])*\*\//, " ", line)
    if (sub(/\/\*.*/, "", line)) in_comment = 1
    return line
}

function is_call(name, plain,    prefix) {
    if (name ~ /^::/ && FILENAME ~ /^src\/kernel\//) return !(("free", plain) in known)
    if ((("bare", plain) in known) || (("bare", name) in known)) return 1
    for (prefix in prefixes) if (index(plain, prefix) == 1) return 1
    return 0
}

function names_call(text) { return text ~ /^[ \t]*(kernel::)?call::/ }

# `depth` counts open parentheses; `door` is the depth inside the outermost door, or 0.
# `maybe`: so does the one that a retried( at the end of the line before has opened.
function look_at(line,    name, plain, rest) {
    if (maybe && names_call(line)) door = maybe
    maybe = 0
    while (match(line, /[A-Za-z_:][A-Za-z0-9_:]*[ \t]*\(|[()]/)) {
        name = substr(line, RSTART, RLENGTH)
        rest = substr(line, RSTART + RLENGTH)
        line = rest
        if (name == ")") {
            depth--
            if (depth < door) door = 0
            continue
        }
        depth++
        sub(/[ \t]*\($/, "", name)
        plain = name
        sub(/.*::/, "", plain)
        if (!door && !exempt && is_call(name, plain)) {
            printf "%s:%d: calls %s past once(): it is not counted, and cannot be made fail\n", FILENAME, FNR, name
            bad = 1
        }
        if (!door && (plain == "once" || plain == "surely" || (plain == "retried" && names_call(rest))))
            door = depth
        maybe = !door && plain == "retried" && rest ~ /^[ \t]*$/ ? depth : 0
    }
}

BEGIN { read_list() }
FNR == 1 {
    in_comment = depth = door = maybe = 0
    exempt = ("exempt", FILENAME) in known
}
/^[ \t]*#[ \t]*(include|define|if|error)/ { next }
{ look_at(code_of($0)) }
END { exit bad }
'
