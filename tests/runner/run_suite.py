#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs cases of one GoogleTest suite in one process, and survives what they do to it.

A case that crashes, hangs or ends the process is named and failed, and the cases behind it run in a
new process. If the process fails after its last case (a leak that the sanitizer finds at the end),
each case that passed runs once more alone, to find those that fail. The results go to a file, a line
per case, which summarize.py counts; the output of the failed cases goes to standard output.
"""

import argparse
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time

MARK = re.compile(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?)(?:,| |$)")
OUTCOMES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
# What GoogleTest ends with when a case has failed. The sanitizers are told to end with another code.
SOME_CASE_FAILED = 1
OUTPUT_MAX = 1 << 20  # characters that are kept of one case


class Process:
    """A run of the program over some cases, read line by line."""

    def __init__(self, program, cases):
        self.process = subprocess.Popen(
            [program, "--gtest_color=no", "--gtest_filter=" + ":".join(cases)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.pending = b""

    def line(self, deadline):
        """The next line, "" at the end of the output, None behind the deadline."""
        while True:
            left = deadline - time.monotonic()
            if left < 0:
                return None
            if b"\n" in self.pending or len(self.pending) > OUTPUT_MAX:
                break
            if not self.selector.select(left):
                continue
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                rest, self.pending = self.pending, b""
                return rest.decode(errors="replace")
            self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        return line.decode(errors="replace") + "\n"

    def end(self, deadline):
        """Waits for the exit code; None if the process does not end in time."""
        try:
            return self.process.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def how_it_ended(code):
    if code is None:
        return "did not end"
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended the process with exit code {code}"


class Output:
    """What a case has printed: the first part, and the last one if there is too much."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.first, self.last = "", ""

    def append(self, text):
        if len(self.first) < OUTPUT_MAX:
            self.first += text
        else:
            self.last = (self.last + text)[-OUTPUT_MAX:]

    def text(self):
        return self.first + self.last


class Suite:
    def __init__(self, program, limit_s):
        self.program = program
        self.limit_s = limit_s
        self.results = {}  # case -> {"outcome", "seconds", "output"}
        self.current = None

    def record(self, case, outcome, seconds, output):
        self.results[case] = {"outcome": outcome, "seconds": round(seconds, 3), "output": output}

    def run(self, cases):
        """Runs the cases in as many processes as it takes. Returns the last exit code."""
        left = list(cases)
        code = 0
        while left:
            code = self.run_once(left)
            done = [case for case in left if case in self.results]
            if not done:  # the process did not even begin the first case
                self.record(left[0], "failed", 0, f"the program {how_it_ended(code)} before the case\n")
            left = [case for case in left if case not in self.results]
        return code

    def run_once(self, cases):
        self.current = process = Process(self.program, cases)
        case, output, finished = None, Output(), []
        began = time.monotonic()
        while True:
            line = process.line(began + self.limit_s)
            if line is None:  # nothing can be said about the cases behind it: they get a new process
                process.kill()
                if case is not None:
                    output.append(f"{case} hangs: no end within {self.limit_s} s\n")
                    self.record(case, "failed", self.limit_s, output.text())
                return None
            if line == "":
                break
            mark = MARK.search(line)
            word = mark.group(1) if mark else None
            if word == "RUN" and case is None and mark.group(2) in cases:
                case, began = mark.group(2), time.monotonic()
                output.clear()
            output.append(line)
            if word in OUTCOMES and mark.group(2) == case:
                self.record(case, OUTCOMES[word], time.monotonic() - began, output.text())
                finished.append(case)
                case = None
                output.clear()
        code = process.end(began + self.limit_s)
        if code is None:
            process.kill()
        if case is not None:
            output.append(f"{case} {how_it_ended(code)}\n")
            self.record(case, "failed", time.monotonic() - began, output.text())
        elif code != 0 and not (code == SOME_CASE_FAILED and self.failed_among(finished)):
            self.blame([one for one in finished if one not in self.failed_among(finished)], code, output)
        return code

    def failed_among(self, cases):
        return [case for case in cases if self.results[case]["outcome"] == "failed"]

    def blame(self, passed, code, output):
        """The process failed and no case of it explains that: finds the cases that fail alone."""
        if len(passed) == 1:
            output.append(f"{passed[0]} passed, then {how_it_ended(code)}\n")
            self.record(passed[0], "failed", 0, output.text())
            return
        for case in passed:
            self.run_once([case])
        if passed and not self.failed_among(passed):
            output.append(f"together the cases pass, then the process {how_it_ended(code)}\n")
            self.record(passed[-1], "failed", 0, output.text())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=120, help="seconds for one case")
    parser.add_argument("--results", help="the file for the results")
    parser.add_argument("program")
    parser.add_argument("suite")
    parser.add_argument("cases", nargs="+", help="names of cases, without the suite")
    arguments = parser.parse_args()

    suite = Suite(arguments.program, arguments.limit)
    names = [f"{arguments.suite}.{case}" for case in arguments.cases]

    def interrupted(*_):
        if suite.current:
            suite.current.kill()
        sys.exit(130)

    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    suite.run(names)

    failed = [name for name in names if suite.results[name]["outcome"] == "failed"]
    for name in failed:
        print(suite.results[name]["output"], end="")
    if arguments.results:
        os.makedirs(os.path.dirname(arguments.results), exist_ok=True)
        with open(arguments.results, "w", encoding="utf-8") as file:
            for name in names:
                result = suite.results[name]
                row = {"case": name, "outcome": result["outcome"], "seconds": result["seconds"]}
                file.write(json.dumps(row) + "\n")
    print(f"{len(names)} cases, {len(failed)} failed" + "".join(f"\n    {name}" for name in failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
