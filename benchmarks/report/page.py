# SPDX-License-Identifier: Apache-2.0
"""Writes docs/performance.md: performance.md.in with the figures of one run."""
import dataclasses
import math
import pathlib
import re
import textwrap
import tomllib

import check
import tables
import targets

HERE = pathlib.Path(__file__).parent
MISSED_MAX = 30  # rows: the page has at most 150 lines
NOT_MEASURED = "n/a"
NO_ROWS = "Not measured in this run."


class Figure(float):
    """A number that prints with three significant digits, unless told otherwise."""

    def __format__(self, spec):
        if math.isnan(self):
            return NOT_MEASURED
        if spec:
            return super().__format__(spec)
        size = abs(self)
        return super().__format__(",.0f" if size >= 100 else ".1f" if size >= 10 else ".2f" if size >= 1 else ".3f")


class Lookup(dict):
    """The parts of the template that have names, such as `value[post wake eddy_epoll wake_p50_ns]`."""

    def __init__(self, find):
        super().__init__()
        self._find = find

    def __missing__(self, name):
        return self._find(*name.split(" "))


@dataclasses.dataclass(frozen=True)
class Column:
    title: str
    suite: str
    case: str
    metric: str
    spec: str = ""
    ratio: bool = False
    divisor: float = 1

    def cell(self, results, subject):
        found = results.find(self.suite, self.case, subject, self.metric)
        summary = (found.ratio if self.ratio else found.value) if found else None
        return format(Figure(summary.median / self.divisor if summary else math.nan), self.spec)


def _echo(title, case):
    return Column(title, "echo", case, tables.ECHO_CPU, ".2f", ratio=True)


# The rows and columns of each table of the page.
TABLES = {
    "echo": ([("bare epoll loop", "raw_epoll"), ("bare io_uring loop", "raw_uring"), ("libev", "libev"),
              ("libevent", "libevent"), ("libuv", "libuv"), ("asio", "asio"), ("asio, coroutines", "asio_coro"),
              ("**eddy, epoll**, operations", "eddy_epoll"), ("senders", "eddy_sender_epoll"),
              ("coroutines", "eddy_coro_epoll"), ("coroutines, `incoming`", "eddy_coro_ahead_epoll"),
              ("**eddy, io_uring**, operations", "eddy_uring"), ("senders", "eddy_sender_uring"),
              ("coroutines", "eddy_coro_uring"), ("coroutines, `incoming`", "eddy_coro_ahead_uring")],
             [_echo("1 connection", "1x64Bx1"), _echo("50", "50x64Bx1"), _echo("500", "500x64Bx1"),
              Column("instructions", "echo", "50x64Bx1", "user_instructions_per_request", ",.0f"),
              Column("system calls", "echo", "50x64Bx1", "syscalls_per_request", ".2f")]),
    "posting": ([("bare queue", "raw_queue"), ("libuv", "libuv"), ("libevent", "libevent"), ("libev", "libev"),
                 ("asio", "asio"), ("**eddy** (epoll)", "eddy_epoll"), ("eddy, a callable", "eddy_callable"),
                 ("eddy that spins", "eddy_spin_epoll")],
                [Column("M/s", "post", "1_producer", "mposts_per_s"),
                 Column("to oneself, ns", "post", "self", "self_ns_per_post"),
                 Column("wake, us", "post", "wake", "wake_p50_ns", divisor=1000)]),
    "timers": ([("bare heap", "raw_heap"), ("libuv", "libuv"), ("libevent", "libevent"), ("libev", "libev"),
                ("asio", "asio"), ("**eddy**, `local_timer` (epoll)", "eddy_epoll"),
                ("eddy, `timer`", "eddy_any_thread")],
               [Column("set", "timer", "1M", "set_ns"), Column("cancel", "timer", "1M", "cancel_ns"),
                Column("push back", "timer", "100k", "push_back_ns"),
                Column("earliest", "timer", "lateness", "earliest_us")]),
    "memory": ([("bare epoll loop", "raw_epoll"), ("bare coroutine", "raw_coro"), ("libev", "libev"),
                ("libevent", "libevent"), ("libuv", "libuv"), ("asio", "asio"), ("asio, coroutines", "asio_coro"),
                ("**eddy**, operations", "eddy_epoll"), ("senders", "eddy_sender_epoll"),
                ("coroutines", "eddy_coro_epoll")],
               [Column("heap", "memory", "2000_idle", "heap_bytes_per_connection")]),
}


def _row(cells):
    return f"| {' | '.join(cells)} |"


def _table(results, name):
    """A row per subject that was measured; a table with one column lies on its side."""
    subjects, columns = TABLES[name]
    rows = [[title, *(c.cell(results, subject) for c in columns)] for title, subject in subjects]
    rows = [row for row in rows if any(cell != NOT_MEASURED for cell in row[1:])]
    if not rows:
        return NO_ROWS
    if len(columns) == 1:
        head, body = [title for title, _ in rows], [[cell for _, cell in rows]]
    else:
        head, body = ["", *(c.title for c in columns)], rows
    lines = [_row(head).replace("|  |", "| |"), "|" + "---|" * len(head), *map(_row, body)]
    return "\n".join(lines)


def _value(results, suite, case, subject, metric):
    found = results.find(suite, case, subject, metric)
    return Figure(found.value.median if found else math.nan)


def _ratio(results, suite, case, subject, metric):
    found = results.find(suite, case, subject, metric)
    return Figure(found.ratio.median if found else math.nan)


def _noise(results, suite, metric):
    """How far the reference's second row is from 1, over all cases."""
    off = sorted(abs(m.ratio.median - 1) * 100 for m in results
                 if m.suite == suite and m.metric == metric and m.subject.endswith("_again") and m.ratio.valid())
    if not off:
        return NOT_MEASURED
    least, most = f"{off[0]:.1f}", f"{off[-1]:.1f}"
    return f"{most} %" if least == most else f"{least} to {most} %"


def _fact(results, name):
    return results.text("run", "machine", name, "name")


def _machine(results):
    cores, cache = _fact(results, "cores"), _fact(results, "cache_kib")
    parts = [f"{cores} cores" + (" of a virtual machine" if _fact(results, "virtual") else "") if cores else "",
             _fact(results, "processor"),
             f"{int(cache) / 1024:g} MiB of second-level cache per core" if cache else "",
             _fact(results, "system"), _fact(results, "compiler")]
    return ", ".join(part for part in parts if part) or "unknown"


def _run(results):
    duration = _value(results, "run", "machine", "duration", "seconds")
    arguments = _fact(results, "arguments").split()
    took = "" if math.isnan(duration) else f"The run took {max(1, round(duration / 60))} minutes."
    return " ".join(filter(None, ["This is a short run (`--quick`)." if "--quick" in arguments else "", took]))


def _allocations(results):
    found = [m.value.median for case in ("1x64Bx1", "50x64Bx1")
             for m in results.rows("echo", case, "allocations_per_request") if m.value.valid()]
    return "No server allocates per request." if found and max(found) < 0.005 else ""


def _limit(target):
    return format(target.limit, ".2f") if target.is_ratio() else format(target.limit, ",g")


def reasons():
    """Why targets are known to be missed, by their names."""
    return tomllib.loads((HERE / "missed.toml").read_text(encoding="utf-8"))


def _missed_rows(missed):
    known_reasons = reasons()
    for v in missed:
        known = known_reasons.get(v.target.name(), {"about": f"`{v.target.name()}`", "reason": "not yet known"})
        measured = format(Figure(v.measured), ".3f" if v.target.is_ratio() and v.measured < 10 else "")
        yield _row([known["about"], _limit(v.target), measured, known["reason"]])


def _missed(verdicts):
    missed = [v for v in verdicts if v.outcome not in (check.Outcome.OK, check.Outcome.NOT_MEASURED)]
    if not missed:
        return "No target is missed."
    more = [f"| {len(missed) - MISSED_MAX} more | | | |"] if len(missed) > MISSED_MAX else []
    return "\n".join(["The missed targets:", "", "| target | limit | measured | reason |", "|---|---|---|---|",
                      *_missed_rows(missed[:MISSED_MAX]), *more])


def _reached(verdicts):
    measured = [v for v in verdicts if v.outcome is not check.Outcome.NOT_MEASURED]
    reached = sum(v.outcome is check.Outcome.OK for v in measured)
    rest = "" if len(measured) == len(verdicts) else f" ({len(verdicts) - len(measured)} were not measured)"
    return f"{reached} of {len(measured)} targets are reached{rest}."


def _wrap(paragraph):
    """Lines of at most 120 columns; those of a list item after the first are indented. Code stays in one piece."""
    code_together = re.sub("`[^`]*`", lambda code: code[0].replace(" ", "\0"), " ".join(paragraph.split()))
    return textwrap.fill(code_together, 120, subsequent_indent="  " if paragraph.startswith("- ") else "",
                         break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def _fill(block, parts):
    """A paragraph, list or table of the template with its figures."""
    lines = [(line, line.format_map(parts)) for line in block.split("\n")]
    if block.startswith("|"):
        lines = [(line, filled) for line, filled in lines if "{" not in line or NOT_MEASURED not in filled]
        lines = lines if len(lines) > 2 else [("", NO_ROWS)]
    filled = "\n".join(filled for _, filled in lines)
    if filled.startswith(("|", "#", "!", "<")) or re.fullmatch(r"\{[^}]*\}", block):
        return filled
    return "\n".join(map(_wrap, re.split(r"\n(?=- )", filled)))


def text(results):
    """The page. Rows of the template whose figures were all not measured are left out."""
    verdicts = check.judge(results, targets.load())
    parts = {
        "value": Lookup(lambda *name: _value(results, *name)), "ratio": Lookup(lambda *name: _ratio(results, *name)),
        "noise": Lookup(lambda *name: _noise(results, *name)), "table": Lookup(lambda name: _table(results, name)),
        "machine": _machine(results), "run": _run(results), "allocations": _allocations(results),
        "reached": _reached(verdicts), "missed": _missed(verdicts),
    }
    blocks = (HERE / "performance.md.in").read_text(encoding="utf-8").strip().split("\n\n")
    return "\n\n".join(filter(None, (_fill(block, parts) for block in blocks))) + "\n"


def write(results, folder):
    """Writes the page and its pictures. Returns their paths."""
    import pictures  # matplotlib takes a while to load, and the text does without

    page = folder / "performance.md"
    page.write_text(text(results), encoding="utf-8")
    drawn = {"performance.svg": pictures.draw_headline, "growth.svg": pictures.draw_growth,
             "share.svg": pictures.draw_shares}
    return [str(page), *(str(folder / name) for name, draw in drawn.items() if draw(results, folder / name))]
