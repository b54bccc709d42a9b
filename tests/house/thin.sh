#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# thin.sh ROOT COMPILER [FLAG...]: no header under ROOT/include brings along a system header that
# rooms.txt calls banned, through whatever other headers.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
cd "$1"
compiler=$2
shift 2
flags=("$@")
pattern=$(sed -n 's/^banned: *//p' "$here/rooms.txt" | xargs | tr ' ' '|')

# brought HEADER...: those of them that come with these.
brought() {
    printf '#include <%s>\n' "${@#include/}" |
        "$compiler" -std=c++20 -M -x c++ -Iinclude "${flags[@]}" - | tr -s ' \\' '\n' |
        sed -nE "s:^/.*/($pattern)\$:\1:p" | sort -u
}

# The bridges are for other vocabularies, whose headers are what they are.
mapfile -t headers < <(find include -type f -name '*.hpp' -not -path '*/bridge/*' | sort)
[[ -z $(brought "${headers[@]}") ]] && exit
for header in "${headers[@]}"; do
    for slow in $(brought "$header"); do
        printf '%s: brings <%s> along\n' "$header" "$slow"
    done
done
exit 1
