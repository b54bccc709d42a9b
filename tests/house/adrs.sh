#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# adrs.sh ROOT: the records in docs/adr are numbered 0001, 0002, ... without gaps and duplicates,
# each begins with its number, and every reference to docs/adr/NNNN names one that exists.
set -euo pipefail
cd "$1"
export LC_ALL=C.UTF-8
bad=0
complain() {
    printf '%s\n' "$*"
    bad=1
}

shopt -s nullglob
records=(docs/adr/*)
[[ ${#records[@]} -ne 0 ]] || complain 'docs/adr: no record'
last=0
last_record=
for record in "${records[@]}"; do
    if [[ ! $record =~ ^docs/adr/([0-9]{4})-[^/]+\.md$ ]]; then
        complain "$record: has no number; name it NNNN-words.md"
        continue
    fi
    number=$((10#${BASH_REMATCH[1]}))
    if [[ $number -eq $last ]]; then
        complain "$record: ${BASH_REMATCH[1]} is taken by $last_record"
    elif [[ $number -ne $((last + 1)) ]]; then
        complain "$record: there is no $(printf '%04d' $((last + 1)))"
    fi
    [[ $(head -n 1 "$record") == "# $number. "* ]] ||
        complain "$record: the first line must begin with \"# $number. \""
    last=$number
    last_record=$record
done

# The house's own rules name records that must not exist.
while IFS=: read -r file line reference; do
    found=("$reference"-*)
    [[ ${#found[@]} -ne 0 ]] || complain "${file#./}:$line: $reference does not exist"
done < <(grep -rInoE 'docs/adr/[0-9]{4}' . --exclude-dir=build --exclude-dir=.git \
    --exclude-dir=.cache --exclude-dir=house || true)
exit "$bad"
