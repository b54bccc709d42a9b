# SPDX-License-Identifier: Apache-2.0
"""Runs the driver (benchmarks/measure), and prints its tables as they become complete."""
import json
import math
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import time

import options
import results
import table
import tables

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRIVER = ROOT / "build" / "bench" / "bench" / "eddy_bench"


class Failed(Exception):
    """The driver could not go on."""


class Progress:
    """Shows the work in progress: one line on stderr that is overwritten on a terminal; elsewhere a line for each
    new phase only, so that logs stay short."""

    def __init__(self):
        self._terminal = sys.stderr.isatty()
        self._phase = ""

    def phase(self, name):
        self._phase = name
        if self._terminal:
            self.step("")
        else:
            print(name, file=sys.stderr, flush=True)

    def step(self, what):
        if self._terminal:
            columns = shutil.get_terminal_size((80, 24)).columns - 1  # a line that wraps cannot be overwritten
            print(f"\r\033[K{self._phase}  {what}"[:columns + 4], end="", file=sys.stderr, flush=True)

    def clear(self):
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class Run:
    """Collects the results from the lines of the driver."""

    def __init__(self, progress):
        self.results = results.Results()
        self.took = {}
        self._progress = progress
        self._references = {}
        self._to_print = list(tables.TABLES)

    def take(self, line):
        """Takes one line. Raises Failed or Misuse if the driver says so."""
        if "phase" in line:
            self._progress.phase(line["phase"])
        elif "step" in line:
            self._progress.step(line["step"])
        elif "complete" in line:
            self._progress.clear()
            self._to_print = [t for t in self._to_print if not table.show(self.results, t)]
            sys.stdout.flush()
        elif "took" in line:
            self.took[line["took"]] = line["seconds"]
        elif "failed" in line:
            raise (options.Misuse if line["misuse"] else Failed)(line["failed"])
        else:
            self.results.add(self._measurement(line))

    def _measurement(self, line):
        m = results.Measurement(line["suite"], line["case"], line["subject"], line["metric"],
                                **{key: line[key] for key in ("missing", "text", "curve") if key in line})
        values = line.get("rounds", [])
        # The first subject is the reference. A ratio is formed within a round, where the machine's mood is the same.
        reference = self._references.setdefault((m.suite, m.case, m.metric), values)
        m.value = results.Summary.of(values)
        m.ratio = results.Summary.of(value / other for value, other in zip(values, reference)
                                     if value is not None and other is not None and other > 0)
        return m


def _arguments(chosen):
    arguments = ["--quick"] if chosen.quick else []
    arguments += ["--before", chosen.before] if chosen.before else []
    for name, values in (("--subject", chosen.subjects), ("--case", chosen.cases)):
        for value in values:
            arguments += [name, value]
    return arguments + chosen.suites


def _raise_on(number, _frame):
    raise SystemExit(128 + number)


def _lines_of(arguments):
    """Yields what the driver prints. The driver gets a process group of its own: whatever happens, neither it nor
    one of its children is left behind."""
    driver = subprocess.Popen([DRIVER, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              process_group=0, encoding="utf-8", errors="replace")
    try:
        for line in driver.stdout:
            yield json.loads(line)
        os.waitid(os.P_PID, driver.pid, os.WEXITED | os.WNOWAIT)
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    if driver.returncode:
        raise Failed(f"{DRIVER.name} ended with status {driver.returncode}")


def _read(file, pattern):
    try:
        found = re.search(pattern, pathlib.Path(file).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else ""


def _facts(chosen, seconds):
    """The machine and the run, for the report."""
    cpuinfo = "/proc/cpuinfo"
    cache = _read("/sys/devices/system/cpu/cpu0/cache/index2/size", r"^(\d+)K")
    facts = {"cores": str(len(os.sched_getaffinity(0))),
             "processor": _read(cpuinfo, r"^model name\s*: (.*)").replace("(R)", ""),
             "virtual": "yes" if _read(cpuinfo, r"^flags.*\b(hypervisor)\b") else "",
             "cache_kib": cache, "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}"}
    for name, text in facts.items():
        yield results.Measurement("run", "machine", name, "name", text=text)
    yield results.Measurement("run", "machine", "arguments", "name", text=" ".join(_arguments(chosen)))
    yield results.Measurement("run", "machine", "duration", "seconds", results.Summary(*[seconds] * 3))


def measure(chosen):
    """Runs the suites. Returns the results; raises Failed or Misuse."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _raise_on)
    progress = Progress()
    run = Run(progress)
    begin = time.monotonic()
    lines = _lines_of(_arguments(chosen))
    try:
        for line in lines:
            run.take(line)
    finally:
        lines.close()
        progress.clear()
    if all(m.suite == "run" for m in run.results):
        raise options.Misuse("no case's name begins like that")
    seconds = math.floor(time.monotonic() - begin)
    took = ", ".join(f"{suite} {each}" for suite, each in run.took.items())
    print(f"\nmeasured in {seconds} s ({took})")
    for fact in _facts(chosen, seconds):
        run.results.add(fact)
    return run.results
