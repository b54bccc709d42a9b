#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# spdx.sh ROOT: every source, script and build file under ROOT names its licence in its first lines.
set -euo pipefail
cd "$1"
missing=$(find . -name build -prune -o -name .git -prune -o -type f \( -name '*.hpp' -o -name '*.hpp.in' -o -name '*.cpp' \
    -o -name '*.sh' -o -name '*.py' -o -name '*.cmake' -o -name CMakeLists.txt \) -print0 |
    xargs -0 --no-run-if-empty awk '
        FNR == 1 { if (file != "" && !named) print file; file = FILENAME; named = 0 }
        FNR <= 6 && /SPDX-License-Identifier: Apache-2\.0/ { named = 1 }
        END { if (file != "" && !named) print file }' | sort)
[[ -z $missing ]] && exit
printf '%s: the first lines need "SPDX-License-Identifier: Apache-2.0"\n' $missing
exit 1
