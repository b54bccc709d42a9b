#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what ctest ran: summarize.py REPORT CASES SLOW CODE PATTERN

REPORT is ctest's JUnit report. A test "ROOM: SUITE" in it stands for the cases in
CASES/ROOM/SUITE.jsonl (run_suite.py). SLOW lists the tests that may take more than 5 s, with their
reasons. CODE is ctest's exit code: a ctest that failed for no counted reason counts as one failure.

Remarks for people go to standard error; standard output is "PASSED FAILED".
"""

import json
import os
import re
import sys
import xml.etree.ElementTree

SLOW_S = 5.0


def say(words):
    print(words, file=sys.stderr)


def rows(report, cases):
    """(name, outcome, seconds) of each case."""
    if not os.path.exists(report):
        return
    for test in xml.etree.ElementTree.parse(report).iter("testcase"):
        name, seconds = test.get("name"), float(test.get("time") or 0)
        outcome = {"run": "passed", "fail": "failed"}.get(test.get("status"), "skipped")
        room, _, suite = name.partition(": ")
        path = os.path.join(cases, room, suite.replace("/", "+") + ".jsonl")
        if suite and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    row = json.loads(line)
                    yield row["case"], row["outcome"], row["seconds"]
        else:
            yield name, outcome, seconds


def reasons(path):
    """The regular expressions of the tests that may be slow."""
    with open(path, encoding="utf-8") as file:
        lines = (line.split("#")[0].strip() for line in file)
        return [re.compile(line) for line in lines if line]


def main():
    report, cases, slow, code, pattern = sys.argv[1:]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    skipped, failed, without_reason = [], [], []
    allowed = reasons(slow)
    for name, outcome, seconds in rows(report, cases):
        counts[outcome] += 1
        if outcome == "skipped":
            skipped.append(name)
        if outcome == "failed":
            failed.append(name)
        if seconds > SLOW_S and not any(reason.search(name) for reason in allowed):
            without_reason.append(f"{name} ({seconds:.1f} s)")
    if code != "0" and not counts["failed"]:
        if not any(counts.values()):
            say(f"no test matches '{pattern}'" if pattern else "no test was run")
        counts["failed"] += 1
    for title, names in (
        ("skipped", skipped),
        (f"slower than {SLOW_S:g} s, without a reason in {os.path.basename(slow)}", without_reason),
        ("failed", failed),
    ):
        if names:
            say(f"{len(names)} {title}:")
            for name in names:
                say(f"    {name}")
    print(counts["passed"], counts["failed"])


if __name__ == "__main__":
    main()
