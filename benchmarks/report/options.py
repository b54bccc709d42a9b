# SPDX-License-Identifier: Apache-2.0
"""The arguments of ./bench."""
import argparse
import pathlib

SUITES = ["echo", "spin", "post", "timer", "churn", "pollset", "spawn", "signal", "share", "memory", "await", "grpc",
          "compile", "growth"]

USAGE = """\
usage: ./bench [--quick] [--json FILE] [--check] [--from FILE] [--report FILE]
               [--subject NAME]... [--case NAME]... [--before DIR] [SUITE...]

Measures eddy, the bare kernel interface and other event libraries side by side.

  SUITE         echo, spin, post, timer, churn, pollset, spawn, signal, share,
                memory, await, grpc, compile, growth; none: all of them
  --quick       fewer rounds: all suites in under three minutes
  --json FILE   writes one line per value, and a picture next to it (.svg)
  --check       then compares with the targets (benchmarks/report/targets.toml);
                exit code 3: a target is missed by more than the noise
  --before DIR  measures eddy's rows once more, as `_before`, with another build
                (a copy of build/bench)
  --from FILE   checks what --json wrote earlier, and measures nothing; with
                --json OTHER, writes the lines and the picture there again
  --report FILE writes docs/performance.md and its pictures from what --json
                wrote earlier, and measures nothing
  --subject     only subjects whose names begin so (and the reference, always)
  --case        only cases whose names begin so, such as 50x64B
"""


class Misuse(Exception):
    """A sentence for the user, about the arguments."""


def _value(text):
    if not text or text.startswith("-"):
        raise argparse.ArgumentTypeError("no value")
    return text


def _build_in(folder):
    """The programs of a build find the library of this one, where theirs is missing."""
    build = pathlib.Path(folder).resolve()
    if not (build / "libeddy.so").exists() or not (build / "bench").exists():
        raise Misuse(f"'{folder}' is no build of the bench preset: libeddy.so and bench/ have to be there")
    return str(build)


def _parser():
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for flag in ("quick", "check"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--help", "-h", action="store_true")
    for name in ("json", "before", "from", "report"):
        parser.add_argument(f"--{name}", type=_value)
    for name, many in (("subject", "subjects"), ("case", "cases")):
        parser.add_argument(f"--{name}", dest=many, type=_value, action="append", default=[])
    parser.add_argument("suites", nargs="*")
    return parser


def parse(arguments):
    """The options, with `read` for the file that --from or --report reads. Raises Misuse."""
    try:
        chosen, unknown = _parser().parse_known_intermixed_args(arguments)
    except argparse.ArgumentError as error:
        raise Misuse(f"{error.argument_name} needs a value") from error
    unknown += [suite for suite in chosen.suites if suite not in SUITES]
    if unknown:
        raise Misuse(f"unknown argument '{unknown[0]}'")
    chosen.read = getattr(chosen, "from")
    if chosen.read and chosen.report:
        raise Misuse("--from and --report do not go together: both name the file to read")
    chosen.check = chosen.check or bool(chosen.read)
    chosen.read = chosen.read or chosen.report
    chosen.suites = list(dict.fromkeys(chosen.suites)) or SUITES
    chosen.before = _build_in(chosen.before) if chosen.before else None
    return chosen
