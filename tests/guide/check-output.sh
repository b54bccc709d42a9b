#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-output.sh EXPECTED PROGRAM [ARGUMENT...]: the program ends with 0 and prints the contents of
# the file EXPECTED.
set -euo pipefail

actual=$("${@:2}")
[[ $actual == "$(cat "$1")" ]] || {
    printf 'expected:\n%s\nprinted:\n%s\n' "$(cat "$1")" "$actual"
    exit 1
}
