#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# expect_mistake.sh SOURCE COMPILER [FLAG...]: compiling SOURCE fails, and the compiler says the words
# in its first line, `// says: WORDS`, as the text of an assertion that failed, and hides them among
# no more than two other errors, and behind no name that users do not write. With -DCORRECTED the
# same source compiles, so that nothing else can be the reason. A source called gcc_... is one that
# g++ translates wrongly: it sees that when it optimises, and reports a call that must not be made.
set -euo pipefail
source=$1
shift
words=$(sed -n '1s|^// says: ||p' "$source")
[[ -n $words ]] || { echo "$source: the first line names no words"; exit 1; }

as=(-fsyntax-only)
error='static.* assert'
if [[ ${source##*/} == gcc_* ]]; then
    as=(-O1 -S -o /dev/null)
    error='error: call to .* declared with attribute error'
fi

if ! output=$("$@" -DCORRECTED "${as[@]}" "$source" 2>&1); then
    printf 'does not compile with -DCORRECTED either:\n%s\n' "$output"
    exit 1
fi
if output=$("$@" "${as[@]}" "$source" 2>&1); then
    echo "compiles, although it is wrong"
    exit 1
fi
if ! grep -q "$error.*$words" <<<"$output"; then
    printf 'does not say "%s":\n%s\n' "$words" "$output"
    exit 1
fi
if grep -E '\b(with_)?builtin::' <<<"${output%%"$words"*}"; then
    echo "names an inline namespace, which nobody writes, before it says \"$words\""
    exit 1
fi
errors=$(grep -c 'error:' <<<"$output")
if [[ $errors -gt 3 ]]; then
    printf '%s errors for one mistake:\n%s\n' "$errors" "$output"
    exit 1
fi
