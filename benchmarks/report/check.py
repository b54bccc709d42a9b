# SPDX-License-Identifier: Apache-2.0
"""Compares results with the targets."""
import dataclasses
import enum
import math

import targets


class Outcome(enum.Enum):
    OK = "ok"
    MISSED = "missed"                    # by more than the noise
    MISSED_BEFORE = "missed, as before"  # the other build of --before misses it too
    NOT_THERE = "n/a"                    # the metric was measured, but not, or in vain, for this subject
    NOT_MEASURED = ""                    # the metric was not measured


@dataclasses.dataclass
class Verdict:
    """The outcome of a target."""
    target: targets.Target
    outcome: Outcome = Outcome.NOT_MEASURED
    measured: float = math.nan
    before: float = math.nan  # by the other build; not a number if there is none
    noise: float = 0          # how far the same program differed from itself, as a share

    def fails(self):
        return self.outcome in (Outcome.MISSED, Outcome.NOT_THERE)


def noise_of(results, target):
    """Half of the rounds in which the reference ran twice were within this."""
    rows = results.rows(target.suite, target.case, target.metric)
    again = next((m.ratio for m in rows if m.subject.endswith("_again")), None)
    return max(abs(again.q1 - 1), abs(again.q3 - 1)) if again and again.valid() else 0


def value_of(results, target, build=""):
    """Not a number if there is none. `build`: the suffix of the rows of that build."""
    def row(subject):
        return results.find(target.suite, target.case, subject, target.metric)

    found = row(target.subject + build)
    if not found:
        return math.nan
    if not target.is_ratio():
        return found.value.median
    if not target.peer:
        return found.ratio.median
    peer = row(target.peer + build) or row(target.peer)  # only eddy has other builds
    return found.value.median / peer.value.median if peer and peer.value.median else math.nan


def judge_one(results, target):
    if not results.rows(target.suite, target.case, target.metric):
        return Verdict(target)
    measured = value_of(results, target)
    before = value_of(results, target, "_before")
    noise = noise_of(results, target)
    if math.isnan(measured):
        outcome = Outcome.NOT_THERE
    elif target.reached(measured, noise):
        outcome = Outcome.OK
    elif not math.isnan(before) and not target.reached(before, noise):
        outcome = Outcome.MISSED_BEFORE
    else:
        outcome = Outcome.MISSED
    return Verdict(target, outcome, measured, before, noise)


def judge(results, all_targets):
    return [judge_one(results, target) for target in all_targets]


def show(verdicts):
    """Prints a line for each target that was measured. False: one of them fails, or none was measured."""
    width = max(len(v.target.name()) for v in verdicts)
    print(f"\n{'target':{width}}  {'limit':>9} {'measured':>9} {'noise':>7}")
    measured = [v for v in verdicts if v.outcome is not Outcome.NOT_MEASURED]
    for v in measured:
        before = "" if math.isnan(v.before) else f" (before: {v.before:.4g})"
        print(f"{v.target.name():{width}}  {'<=' if v.target.at_most() else '>='} {v.target.limit:6.4g} "
              f"{v.measured:9.4g} {v.noise * 100:6.1f}%  {v.outcome.value}{before}")
    failed = sum(v.fails() for v in measured)
    as_before = sum(v.outcome is Outcome.MISSED_BEFORE for v in measured)
    print(f"{len(measured)} of {len(verdicts)} targets: {len(measured) - failed - as_before} reached, "
          f"{failed} missed" + (f", and {as_before} by both builds" if as_before else ""))
    return bool(measured) and not failed
