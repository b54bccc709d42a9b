#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# selftest.sh: extract.sh takes what it can compile and refuses every other block, and gather.sh puts
# blocks together.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
extract=$here/extract.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# try TEXT: with the line breaks of printf.
try() {
    printf -- "$1" >chapter.md
    "$extract" out chapter.md 2>err
}
takes() { try "$1" || { echo "refuses '$1': $(cat err)"; exit 1; }; }
refuses() {
    if try "$1"; then
        echo "takes '$1'"
        exit 1
    fi
    grep -q "^chapter.md:[0-9]*: $2" err || { echo "says '$(cat err)' of '$1'"; exit 1; }
}

takes 'text\n\n<!-- prints: 5 -->\n```cpp\nint main() {}\n```\n\n    g++ hello.cpp\n'
[[ $(cat out/chapter-1.cpp) == "int main() {}" && $(cat out/chapter-1.prints) == 5 ]]
takes '```cpp\n// ~~~\n    int indented;\n```\n'
refuses '```\nint x;\n```\n' 'a block that is not compiled'
refuses '```c++\nint x;\n```\n' 'a block that is not compiled'
refuses '```cpp title\nint x;\n```\n' 'a block that is not compiled'
refuses '~~~\nint x;\n~~~\n' 'a block that is not compiled'
refuses '- item\n\n  ```cpp\n  int x;\n  ```\n' 'a block that is not compiled'
refuses 'text\n\n    int x;\n' 'code that is not compiled'
refuses '```cpp\nint x;\n' 'the block of line 1 has no end'
refuses '<!-- prints: 5 -->\ntext\n' 'no block follows the mark prints'

takes '<!-- inside: void f() -->\n```cpp\n#include <a>\ng();\n```\n<!-- needs: b -->\n```cpp\nint x;\n```\n'
"$here/gather.sh" out sources
[[ $(cat sources/fragments.cpp) == '// Made by gather.sh.
#include <eddy/eddy.hpp>
#include <a>
#if __has_include(<b>)
#endif
using namespace std::chrono_literals;
namespace chapter_1 {
void f() {
g();
}
}  // namespace chapter_1
#if __has_include(<b>)
namespace chapter_2 {
int x;
}  // namespace chapter_2
#endif' ]]
takes '<!-- prints: 5 -->\n```cpp\nint main() {\n    f();\n}\n```\n'
"$here/gather.sh" out sources
grep -q '    return 0;' sources/programs.cpp
grep -q '"chapter-1")) return chapter_1::main();' sources/programs.cpp
