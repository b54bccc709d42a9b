# SPDX-License-Identifier: Apache-2.0
"""The results of a run, in memory and in the files of --json."""
import dataclasses
import json
import math
import statistics

NAN = math.nan


class NoResults(Exception):
    """A sentence for the user, about a file."""


@dataclasses.dataclass(frozen=True)
class Summary:
    """Median and quartiles: robust where a mean would follow every hiccup of the machine."""
    median: float = NAN
    q1: float = NAN
    q3: float = NAN

    @classmethod
    def of(cls, values):
        values = sorted(v for v in values if v is not None and not math.isnan(v))
        if len(values) < 2:
            return cls(*values * 3)
        q1, median, q3 = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, q1, q3)

    def valid(self):
        return not math.isnan(self.median)

    def spread(self):
        """Half the distance between the quartiles."""
        return (self.q3 - self.q1) / 2

    def inverse(self):
        return Summary(1 / self.median, 1 / self.q3, 1 / self.q1)


@dataclasses.dataclass
class Measurement:
    """One metric of one subject: over all rounds, with its ratio to the reference in the same round."""
    suite: str
    case: str
    subject: str
    metric: str
    value: Summary = Summary()
    ratio: Summary = Summary()
    missing: str = ""  # why there is no value
    text: str = ""     # a fact in words instead of a value
    curve: list = dataclasses.field(default_factory=list)  # a value over time instead of one

    def name(self):
        return self.suite, self.case, self.subject, self.metric


class Results:
    """All measurements of a run, in their order."""

    def __init__(self):
        self._all = []
        self._by_name = {}
        self._rows = {}

    def __iter__(self):
        return iter(self._all)

    def __len__(self):
        return len(self._all)

    def add(self, measurement):
        self._all.append(measurement)
        self._by_name.setdefault(measurement.name(), measurement)
        self._rows.setdefault((measurement.suite, measurement.case, measurement.metric), []).append(measurement)

    def find(self, suite, case, subject, metric):
        return self._by_name.get((suite, case, subject, metric))

    def rows(self, suite, case, metric):
        """The measurements of all subjects."""
        return self._rows.get((suite, case, metric), [])

    def text(self, suite, case, subject, metric):
        found = self.find(suite, case, subject, metric)
        return found.text if found else ""


def _number(value):
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _line(m, metric, value, ratio):
    fields = {"suite": m.suite, "case": m.case, "subject": m.subject, "metric": metric,
              "value": _number(value), "ratio_to_raw": _number(ratio)}
    fields |= {key: extra for key in ("missing", "text", "curve") if (extra := getattr(m, key))}
    return json.dumps(fields, separators=(",", ":")) + "\n"


def write(results, file):
    """One line per value. If there were several rounds, the quartiles follow as metrics of their own. The values
    of a subject that could not run are null."""
    with open(file, "w", encoding="utf-8") as out:
        for m in results:
            out.write(_line(m, m.metric, m.value.median, m.ratio.median))
            if m.value.valid() and m.value.q1 != m.value.q3:
                out.write(_line(m, m.metric + "_q1", m.value.q1, m.ratio.q1))
                out.write(_line(m, m.metric + "_q3", m.value.q3, m.ratio.q3))


def _read_line(line):
    try:
        fields = json.loads(line)
        number = {key: NAN if fields[key] is None else float(fields[key]) for key in ("value", "ratio_to_raw")}
        m = Measurement(*(str(fields[key]) for key in ("suite", "case", "subject", "metric")))
    except KeyError as error:
        raise NoResults(f"no {error.args[0]} in: {line}") from error
    except (ValueError, TypeError) as error:
        raise NoResults(f"no result in: {line}") from error
    for key in ("missing", "text", "curve"):
        setattr(m, key, fields.get(key, getattr(m, key)))
    m.value = Summary(*[number["value"]] * 3)
    m.ratio = Summary(*[number["ratio_to_raw"]] * 3)
    return m


def read(file):
    """The results that write() wrote. Raises NoResults."""
    try:
        with open(file, encoding="utf-8") as lines:
            rows = [_read_line(line.rstrip("\n")) for line in lines]
    except (OSError, UnicodeDecodeError) as error:
        raise NoResults(f"cannot read {file}") from error
    results = Results()
    last = None
    for m in rows:
        quartile = m.metric[-2:]
        if last and quartile in ("q1", "q3") and m.name() == (*last.name()[:3], f"{last.metric}_{quartile}"):
            last.value = dataclasses.replace(last.value, **{quartile: m.value.median})
            last.ratio = dataclasses.replace(last.ratio, **{quartile: m.ratio.median})
        else:
            results.add(m)
            last = m
    return results
