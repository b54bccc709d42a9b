#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-output.sh PROGRAM EXPECTED: the program ends with 0 and prints what the file says.
set -euo pipefail

actual=$("$1")
[[ $actual == "$(cat "$2")" ]] || {
    printf 'expected:\n%s\nprinted:\n%s\n' "$(cat "$2")" "$actual"
    exit 1
}
