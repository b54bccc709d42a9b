#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gather.sh BLOCKS OUT: writes the blocks that extract.sh has put into the directory BLOCKS as two
# sources, since the headers cost more to compile than the blocks. OUT/programs.cpp has the programs
# whose output is known, and its main() runs the one that its argument names. OUT/fragments.cpp has
# all other blocks. Each block has a namespace of its own, behind the headers of all blocks.
#
# Marks: `inside` is the head of the function that contains the block's statements, and `needs` is a
# header without which the block is left out.
set -euo pipefail
blocks=$1
out=$2

# read_mark BLOCK MARK: prints its text, or fails.
read_mark() { cat "$blocks/$1.$2" 2>/dev/null; }

# when_there BLOCK COMMAND...: puts the condition of the block, if it has one, around the output.
when_there() {
    local header
    if header=$(read_mark "$1" needs); then
        echo "#if __has_include(<$header>)"
        "${@:2}"
        echo "#endif"
    else
        "${@:2}"
    fi
}
includes() { grep '^#include' "$blocks/$1.cpp" || true; }
# Only the real main() may end without a return.
body() {
    local head
    echo "namespace ${1//-/_} {"
    if head=$(read_mark "$1" inside); then echo "$head {"; fi
    sed '/^#include/d; /^int main(/,/^}$/s/^}$/    return 0;\n}/' "$blocks/$1.cpp"
    if [[ $head ]]; then echo "}"; fi
    echo "}  // namespace ${1//-/_}"
}
source_of() {
    local block
    echo "// Made by gather.sh."
    echo "#include <eddy/eddy.hpp>"
    for block; do when_there "$block" includes "$block"; done
    echo "using namespace std::chrono_literals;"
    for block; do when_there "$block" body "$block"; done
}
main_of() {
    local block
    echo "int main(int, char** argv) {"
    for block; do
        echo "    if (argv[1] == std::string_view(\"$block\")) return ${block//-/_}::main();"
    done
    echo "    return 2;"
    echo "}"
}

programs=()
fragments=()
while read -r block; do
    if [[ -e $blocks/$block.prints ]]; then
        programs+=("$block")
    else
        fragments+=("$block")
    fi
done < <(find "$blocks" -name '*.cpp' -printf '%f\n' | sed 's/\.cpp$//' | sort -V)

mkdir -p "$out"
{ source_of "${programs[@]}"; main_of "${programs[@]}"; } >"$out/programs.new"
source_of "${fragments[@]}" >"$out/fragments.new"
# A source that did not change keeps its time, so that it is not compiled again for nothing.
for name in programs fragments; do
    if cmp -s "$out/$name.new" "$out/$name.cpp"; then
        rm "$out/$name.new"
    else
        mv "$out/$name.new" "$out/$name.cpp"
    fi
done
