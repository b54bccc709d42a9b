#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# umbrella.sh ROOT COMPILER [FLAG...]: <eddy/eddy.hpp> brings along every header under ROOT/include
# that is for users: all but details and the bridges to other vocabularies. Those of the vocabulary
# stand for each other: <eddy/ex/execution.hpp> has what the configured one has.
set -euo pipefail
cd "$1"
compiler=$2
shift 2

brought=$(echo '#include <eddy/eddy.hpp>' |
    "$compiler" -std=c++20 -M -x c++ -Iinclude "$@" - | tr -s ' \\' '\n' |
    sed -nE 's:^include/::p' | sort -u)
missing=$(find include -type f -name '*.hpp' -not -path '*/bridge/*' -not -path '*/detail/*' \
    -not -path 'include/eddy/ex/*' | sed 's:^include/::' | sort | comm -23 - <(echo "$brought"))
[[ -z $missing ]] && exit
printf '<eddy/eddy.hpp> does not include <%s>\n' $missing
exit 1
