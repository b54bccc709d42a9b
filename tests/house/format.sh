#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# format.sh ROOT: our C++ looks as clang-format 19 makes it. Other versions disagree in details, so
# without that one there is no verdict (exit 77: skipped).
set -euo pipefail
cd "$1"

for clang_format in clang-format-19 clang-format none; do
    [[ $clang_format != none ]] || { echo "skipped: no clang-format 19 here"; exit 77; }
    command -v "$clang_format" >/dev/null || continue
    [[ $("$clang_format" --version) != *"version 19."* ]] || break
done

{ find include src tests examples benchmarks adapters -type f \( -name '*.hpp' -o -name '*.cpp' \) -print0 \
    2>/dev/null || true; } | sort -z |
    xargs -0 --no-run-if-empty "$clang_format" --style=file --dry-run -Werror ||
    { echo "run scripts/format"; exit 1; }
