#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layering.sh ROOT [TABLE]: the #include lines of ROOT/include/eddy and ROOT/src obey rooms.txt.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
table=$(readlink -f "${2:-$here/rooms.txt}")
cd "$1"

find include/eddy src -type f \( -name '*.hpp' -o -name '*.hpp.in' -o -name '*.cpp' \) -print0 |
    sort -z |
    xargs -0 awk -v table="$table" '
function complain(message) {
    printf "%s:%d: %s\n", FILENAME, FNR, message
    bad = 1
}

function allow(key, names,    i, n, list) {
    n = split(names, list, " ")
    for (i = 1; i <= n; i++) allowed[key, list[i]] = 1
}

function read_table(    line, key, names) {
    while ((getline line < table) > 0) {
        if (line ~ /^#/ || line ~ /^ *$/) continue
        key = line; sub(/ *:.*/, "", key)
        names = line; sub(/^[^:]*: */, "", names)
        if (key ~ /^room /) { sub(/^room /, "", key); rooms[key] = 1; allow(key, names) }
        else if (key ~ /^file /) { sub(/^file /, "", key); allow(key, names) }
        else if (key == "private") allow("private", names)
        else if (key == "banned") allow("banned", names)
        else { print table ": cannot read: " line; bad = 1 }
    }
}

# Where the current file lives: `public` or not, `room` ("" for an umbrella header), `path` in it.
function locate(    rest, parts, n) {
    public = FILENAME ~ /^include\//
    rest = FILENAME
    sub(public ? "^include/eddy/" : "^src/", "", rest)
    n = split(rest, parts, "/")
    room = n > 1 ? parts[1] : ""
    path = rest
    if (room != "" && !(room in rooms)) complain("the room " room " is not in rooms.txt")
    if (room == "" && !public) complain("a source file outside the rooms")
    if (public && (("private", room) in allowed))
        complain("the room " room " is private: nothing of it belongs under include/")
}

BEGIN { read_table() }
FNR == 1 { locate() }

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    target = $0
    sub(/^[^<"]*[<"]/, "", target)
    sub(/[>"].*$/, "", target)
    quoted = $0 ~ /include[ \t]*"/

    if (public && (("banned", target) in allowed)) {
        complain("<" target "> is banned from the headers that users include")
        next
    }
    if (target ~ /\.\.\//) { complain("\"" target "\": name the room instead of ../"); next }

    of_eddy = sub(/^eddy\//, "", target)
    n = split(target, parts, "/")
    if (n == 1) {
        if (of_eddy && room != "") complain("<eddy/" target "> is for users; name the rooms")
        next
    }
    wanted = parts[1]
    if (!(wanted in rooms)) {
        if (of_eddy || quoted) complain("\"" target "\" is in no room of rooms.txt")
        next
    }
    if (public && (("private", wanted) in allowed)) {
        complain("the room " wanted " is private: include it only from src/")
        next
    }
    if (room == "" || wanted == room) next
    if (!((room, wanted) in allowed) && !((path, wanted) in allowed))
        complain(room " may not include " wanted)
}

END { exit bad }
'
