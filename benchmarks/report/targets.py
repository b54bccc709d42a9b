# SPDX-License-Identifier: Apache-2.0
"""The targets of targets.toml."""
import dataclasses
import itertools
import pathlib
import tomllib

FILE = pathlib.Path(__file__).with_name("targets.toml")
KINDS = ("ratio_max", "ratio_min", "value_max", "value_min")


@dataclasses.dataclass(frozen=True)
class Target:
    """A promise about a measured value."""
    suite: str
    case: str
    subject: str
    metric: str
    kind: str
    limit: float
    peer: str = ""  # the subject that a ratio is to; empty: the bare interface

    def at_most(self):
        return self.kind.endswith("_max")

    def is_ratio(self):
        return self.kind.startswith("ratio_")

    def name(self):
        return f"{self.suite} {self.case} {self.subject} {self.metric}" + (f" to {self.peer}" if self.peer else "")

    def reached(self, measured, noise=0):
        """A limit of zero stays zero, whatever the noise."""
        return measured <= self.limit * (1 + noise) if self.at_most() else measured >= self.limit / (1 + noise)


def _expand(entry):
    """One target for each combination of the lists in the entry."""
    kinds = [kind for kind in KINDS if kind in entry]
    known = {"suite", "case", "subject", "metric", "peer", *KINDS}
    if len(kinds) != 1 or not known.issuperset(entry):
        raise ValueError(f"a target needs one limit, and has no other keys than {sorted(known)}: {entry}")
    kind = kinds[0]
    if "peer" in entry and not kind.startswith("ratio_"):
        raise ValueError(f"only ratios have a peer: {entry}")
    lists = [value if isinstance(value, list) else [value]
             for value in (entry["suite"], entry["case"], entry["subject"], entry["metric"], entry.get("peer", "bare"))]
    for suite, case, subject, metric, peer in itertools.product(*lists):
        yield Target(suite, case, subject, metric, kind, entry[kind], "" if peer == "bare" else peer)


def load(file=FILE):
    """All targets, also those that are known to be missed."""
    with open(file, "rb") as toml:
        return [target for entry in tomllib.load(toml)["target"] for target in _expand(entry)]
