#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh PROGRAM: discover.cmake, run_suite.py and summarize.py tell the truth about PROGRAM, which is
# accidents.cpp.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
program=$(readlink -f "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# expect NAME GOT WANTED
expect() {
    [[ $2 == "$3" ]] || { printf '%s: got\n%s\ninstead of\n%s\n' "$1" "$2" "$3"; exit 1; }
}

# run SUITE CASE...: its output is in $dir/output, its exit code in $code.
run() {
    code=0
    "$here/run_suite.py" --limit 2 --results "$dir/cases/room/$1.jsonl" "$program" "$@" >"$dir/output" || code=$?
}

outcomes() { sed -E 's/.*"case": "[^.]*\.([^"]*)", "outcome": "([^"]*)".*/\1 \2/' "$dir/cases/room/$1.jsonl"; }

run Accident Before Crashes Between Exits Hangs Fails Skipped Last
expect "the exit code" "$code" 1
expect "the outcomes" "$(outcomes Accident)" 'Before passed
Crashes failed
Between passed
Exits failed
Hangs failed
Fails failed
Skipped skipped
Last passed'
for words in 'Accident.Crashes was ended by SIGABRT' 'Accident.Exits ended the process with exit code 3' \
    'Accident.Hangs hangs: no end within 2' 'on purpose'; do
    grep -qF "$words" "$dir/output" || { cat "$dir/output"; echo "nothing says: $words"; exit 1; }
done

run AtTheEnd Innocent Guilty Fails InnocentToo GuiltyToo
expect "the outcomes of AtTheEnd with two guilty cases" "$(outcomes AtTheEnd)" 'Innocent passed
Guilty failed
Fails failed
InnocentToo passed
GuiltyToo failed'

run AtTheEnd Innocent Guilty InnocentToo
expect "the outcomes of AtTheEnd" "$(outcomes AtTheEnd)" 'Innocent passed
Guilty failed
InnocentToo passed'

run Talk WithoutEnd
expect "the outcome of Talk" "$(outcomes Talk)" 'WithoutEnd failed'
grep -qF 'Talk.WithoutEnd hangs: no end within 2' "$dir/output" || { echo "nothing says that Talk hangs"; exit 1; }
size=$(wc -c <"$dir/output")
((size < 5000000)) || { echo "$size bytes were kept of what hangs"; exit 1; }

run Accident Before Last
expect "the exit code of cases that pass" "$code" 0

# Suites count by their cases, other tests as themselves, and an unexplained failure of ctest as one.
cat >"$dir/report.xml" <<'END'
<testsuite><testcase name="room: AtTheEnd" time="0.1" status="fail"/>
<testcase name="House.Slow" time="9" status="run"/></testsuite>
END
echo 'House.Fast # a reason' >"$dir/slow.txt"
expect "the count" "$("$here/summarize.py" "$dir/report.xml" "$dir/cases" "$dir/slow.txt" 8 "" 2>"$dir/said")" "3 1"
grep -q 'House.Slow (9.0 s)' "$dir/said" || { cat "$dir/said"; echo "the slow test is not named"; exit 1; }
expect "the count of nothing" "$("$here/summarize.py" "$dir/none.xml" "$dir/cases" "$dir/slow.txt" 8 x 2>/dev/null)" "0 1"

# A pattern chooses cases inside a suite. ctest is asked as ./test asks it.
mkdir "$dir/chosen"
cat >"$dir/chosen/CTestTestfile.cmake" <<END
set(program "$program")
set(room room)
set(tier "")
set(runner "$here/run_suite.py")
set(results "$dir/chosen/cases/room")
include("$here/discover.cmake")
END

# choose PATTERN: runs the cases that match; `code` is that of ctest, `counts` are PASSED FAILED, and
# $dir/said has what is said for people.
choose() {
    local report=$dir/chosen/report.xml cases=$dir/chosen/cases
    code=0
    rm -rf "$report" "$cases"
    EDDY_TEST_PATTERN=$1 ctest --test-dir "$dir/chosen" --no-tests=error -R "($1)|^[a-z_]+: " \
        --output-junit "$report" >"$dir/output" 2>&1 || code=$?
    counts=$("$here/summarize.py" "$report" "$cases" "$dir/slow.txt" "$code" "$1" 2>"$dir/said")
}
ran() { cat "$dir"/chosen/cases/room/*.jsonl | sed -E 's/.*"case": "([^"]*)".*/\1/'; }

choose 'Accident\.(Before|Last)'
expect "the cases of two suites that a pattern chooses" "$(ran)" 'Accident.Before
Accident.Last'
expect "the count of two chosen cases" "$counts" "2 0"
choose 'e$'
expect "the cases of one suite that end in e" "$(ran)" 'Accident.Before'
choose 'Innocent|Skipped'
expect "the cases of two suites" "$(ran)" 'Accident.Skipped
AtTheEnd.Innocent
AtTheEnd.InnocentToo'
expect "the count of cases of which one is skipped" "$counts" "2 0"
choose 'Fails'
expect "the count of cases that fail" "$counts" "0 2"
choose 'Accident\.B'
expect "the cases whose names begin with B" "$(ran)" 'Accident.Before
Accident.Between'

choose 'Nothing.Is.Called.So'
[[ $code -ne 0 ]] || { cat "$dir/output"; echo "a pattern that matches nothing is no error"; exit 1; }
expect "the count of a pattern that matches nothing" "$counts" "0 1"
grep -qF "no test matches 'Nothing.Is.Called.So'" "$dir/said" || {
    cat "$dir/said"
    echo "nothing says that no test matches"
    exit 1
}
