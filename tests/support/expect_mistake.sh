#!/usr/bin/env bash
# expect_mistake.sh SOURCE COMPILER [FLAG...]: compiling SOURCE fails, and the compiler says the words
# in its first line, `// says: WORDS`, as the text of an assertion that failed, and hides them among
# no more than two other errors. With -DCORRECTED the same source compiles, so that nothing else can
# be the reason.
set -euo pipefail
source=$1
shift
words=$(sed -n '1s|^// says: ||p' "$source")
[[ -n $words ]] || { echo "$source: the first line names no words"; exit 1; }

if ! output=$("$@" -DCORRECTED -fsyntax-only "$source" 2>&1); then
    printf 'does not compile with -DCORRECTED either:\n%s\n' "$output"
    exit 1
fi
if output=$("$@" -fsyntax-only "$source" 2>&1); then
    echo "compiles, although it is wrong"
    exit 1
fi
if ! grep -q "static.* assert.*$words" <<<"$output"; then
    printf 'does not say "%s":\n%s\n' "$words" "$output"
    exit 1
fi
errors=$(grep -c 'error:' <<<"$output")
if [[ $errors -gt 3 ]]; then
    printf '%s errors for one mistake:\n%s\n' "$errors" "$output"
    exit 1
fi
