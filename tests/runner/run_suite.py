#!/usr/bin/python3
"""Runs cases of one GoogleTest suite in one process, and survives what they do to it.

A case that crashes, hangs or ends the process is named and failed, and the cases behind it run in a
new process. If the process fails after its last case (a leak that the sanitizer finds at the end),
each case runs once more alone, to find those that fail. The results go to a file, a line per case,
which summarize.py counts; the output of the failed cases goes to standard output.
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
        """The next line, "" at the end of the output, None at the deadline."""
        while b"\n" not in self.pending:
            if not self.selector.select(max(0, deadline - time.monotonic())):
                return None
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                rest, self.pending = self.pending, b""
                return rest.decode(errors="replace")
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
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
        case, output = None, []
        began = time.monotonic()
        while True:
            line = process.line(began + self.limit_s)
            if line is None:  # nothing can be said about the cases behind it: they get a new process
                process.kill()
                if case is not None:
                    output.append(f"{case} hangs: no end within {self.limit_s} s\n")
                    self.record(case, "failed", self.limit_s, "".join(output))
                return None
            if line == "":
                break
            mark = MARK.search(line)
            word = mark.group(1) if mark else None
            if word == "RUN" and case is None and mark.group(2) in cases:
                case, output, began = mark.group(2), [line], time.monotonic()
                continue
            output.append(line)
            if word in OUTCOMES and mark.group(2) == case:
                self.record(case, OUTCOMES[word], time.monotonic() - began, "".join(output))
                case, output = None, []
        code = process.end(began + self.limit_s)
        if code is None:
            process.kill()
        if case is not None:
            output.append(f"{case} {how_it_ended(code)}\n")
            self.record(case, "failed", time.monotonic() - began, "".join(output))
        elif code != 0 and not any(r["outcome"] == "failed" for r in self.results.values()):
            return self.blame(cases, code, "".join(output))
        return code

    def blame(self, cases, code, output):
        """All cases passed and the process failed: finds the ones that fail alone."""
        if len(cases) == 1:
            self.record(cases[0], "failed", 0, f"{output}{cases[0]} passed, then {how_it_ended(code)}\n")
            return code
        for case in cases:
            self.results.pop(case)
            self.run_once([case])
        if not any(r["outcome"] == "failed" for r in self.results.values()):
            words = f"{output}together the cases pass, then the process {how_it_ended(code)}\n"
            self.record(cases[-1], "failed", 0, words)
        return code


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
