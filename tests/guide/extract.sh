#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# extract.sh DIRECTORY CHAPTER...: writes the code blocks of the chapters as DIRECTORY/CHAPTER-N.cpp.
# A comment `<!-- MARK: TEXT -->` above a block becomes the file CHAPTER-N.MARK, which contains the
# text: `prints` is the output of the program; gather.sh reads `inside` and `needs`. Fails at a block
# that it would not write: one in another language or without one, of other marks, indented, or never
# closed. (Commands for a prompt begin with `$ ` or `g++`.)
set -euo pipefail

directory=$1
shift
mkdir -p "$directory.new"
rm -f "$directory.new"/*
for chapter in "$@"; do
    awk -v out="$directory.new/$(basename "$chapter" .md)" '
        function refuse(why) {
            print FILENAME ":" FNR ": " why > "/dev/stderr"
            refused = 1
            exit 1
        }
        inside && /^```$/ { inside = 0; next }
        inside { print > file; next }
        match($0, /^<!-- (prints|inside|needs): /) && / -->$/ {
            mark = substr($0, 6, RLENGTH - 7)
            marks[mark] = substr($0, RLENGTH + 1, length($0) - RLENGTH - 4)
            next
        }
        /^```cpp$/ {
            inside = FNR; n++; file = out "-" n ".cpp"; printf "" > file
            for (mark in marks) print marks[mark] > (out "-" n "." mark)
            split("", marks)
            next
        }
        /^[[:space:]]*(```|~~~)/ { refuse("a block that is not compiled: " $0) }
        /^(    |\t)/ && before == "" && !/^    (\$|g\+\+) / { refuse("code that is not compiled: " $0) }
        { before = $0 }
        END {
            if (!refused && inside) refuse("the block of line " inside " has no end")
            for (mark in marks) if (!refused) refuse("no block follows the mark " mark)
        }
    ' "$chapter"
done
# Files that did not change keep their time, so that nothing is compiled again for nothing.
mkdir -p "$directory"
for old in "$directory"/*; do
    [[ -e $directory.new/$(basename "$old") ]] || rm -f "$old"
done
for new in "$directory.new"/*; do
    cmp -s "$new" "$directory/$(basename "$new")" || cp "$new" "$directory/"
done
