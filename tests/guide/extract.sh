#!/usr/bin/env bash
# extract.sh DIRECTORY CHAPTER...: writes the code blocks of the chapters as DIRECTORY/CHAPTER-N.cpp,
# and what they print, where that is said, as CHAPTER-N.expected.
set -euo pipefail

directory=$1
shift
mkdir -p "$directory.new"
rm -f "$directory.new"/*
for chapter in "$@"; do
    awk -v out="$directory.new/$(basename "$chapter" .md)" '
        /^<!-- prints: .* -->$/ { expected = $0; gsub(/^<!-- prints: | -->$/, "", expected); next }
        /^```cpp$/ { inside = 1; n++; file = out "-" n ".cpp"; printf "" > file
                     if (expected != "") print expected > (out "-" n ".expected")
                     expected = ""; next }
        /^```$/ { inside = 0; next }
        inside { print > file }
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
