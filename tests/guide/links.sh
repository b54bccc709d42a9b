#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# links.sh DIRECTORY: the guide's README names every chapter by its title, each chapter leads to the
# one before it and to the next, and every link to a file here leads to one.
set -euo pipefail
cd "$1"
title() { sed -n '1s/^# //p' "$1"; }
status=0
need() {  # need FILE TEXT
    grep -qF -- "$2" "$1" || { echo "$1 has no $2"; status=1; }
}

before=
for chapter in [0-9]*.md; do
    need README.md "[$(title "$chapter")]($chapter)"
    need "$chapter" "(README.md)"
    if [[ -n $before ]]; then
        need "$before" "Next: [$(title "$chapter")]($chapter)"
        need "$chapter" "Before: [$(title "$before")]($before)"
    fi
    before=$chapter
done
for target in $(grep -oh ']([^) ]*\.md)' ./*.md | sed 's/^](//;s/)$//' | sort -u); do
    [[ -e $target ]] || { echo "there is no $target"; status=1; }
done
exit "$status"
