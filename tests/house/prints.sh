#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# prints.sh ROOT [LIST]: nothing under ROOT/include, ROOT/src and ROOT/adapters prints by itself or names a
# standard stream, so that the report handler gets every line. prints.txt has the exceptions.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
list=$(readlink -f "${2:-$here/prints.txt}")
cd "$1"

roots=(include src)
[[ ! -d adapters ]] || roots+=(adapters)
find "${roots[@]}" -type f \( -name '*.hpp' -o -name '*.hpp.in' -o -name '*.cpp' \) -not -path 'adapters/*/tests/*' -print0 |
    sort -z |
    xargs -0 awk -v list="$list" '
function read_list(    line, words) {
    while ((getline line < list) > 0) {
        if (line ~ /^#/ || line ~ /^ *$/) continue
        if (line !~ /^[^ ]+ [^ ]+ +# ./) {
            printf "%s: a line without a reason: %s\n", list, line
            bad = 1
        }
        split(line, words, " ")
        exempt[words[1], words[2]] = 1
    }
}

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

BEGIN {
    read_list()
    # What prints if it is called, and what need only be named.
    n = split("printf vprintf fprintf vfprintf dprintf vdprintf puts putchar putc fputs fputc fwrite " \
        "perror psignal psiginfo syslog vsyslog gpr_log println", words, " ")
    for (i = 1; i <= n; i++) calls[words[i]] = 1
    n = split("cout cerr clog wcout wcerr wclog stdout stderr STDOUT_FILENO STDERR_FILENO", words, " ")
    for (i = 1; i <= n; i++) streams[words[i]] = 1
}
FNR == 1 { in_comment = 0 }
{
    rest = code_of($0)
    before = ""
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
        before = before substr(rest, 1, RSTART - 1)
        name = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        called = rest ~ /^[ \t]*\(/ && before !~ /(\.|->)$/
        if (((name in calls && called) || name in streams) && !((FILENAME, name) in exempt)) {
            printf "%s:%d: %s: only the report function prints (<eddy/base/report.hpp>)\n", FILENAME, FNR, name
            bad = 1
        }
        before = before name
    }
}
END { exit bad }
'
