#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_report_test.py ROOT: what benchmarks/report makes of arguments, and of results that were made up."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "benchmarks" / "report"))

import check  # noqa: E402 (its folder comes first)
import measuring  # noqa: E402
import options  # noqa: E402
import page  # noqa: E402
import results  # noqa: E402
import tables  # noqa: E402
import targets  # noqa: E402
from check import Outcome  # noqa: E402


def target(limit, kind="ratio_max", **more):
    return targets.Target(**{"suite": "timer", "case": "1M", "subject": "eddy_epoll", "metric": "set_ns", "kind": kind,
                             "limit": limit, **more})


def silently(function, *arguments):
    """The return value, and what was printed."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        value = function(*arguments)
    return value, printed.getvalue()


class MadeUpResults(unittest.TestCase):
    """Results as --json writes them, in a file that goes away."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "results.json"

    def line(self, subject, metric, value, ratio, suite="timer", case="1M"):
        with open(self.file, "a", encoding="utf-8") as out:
            out.write(json.dumps({"suite": suite, "case": case, "subject": subject, "metric": metric, "value": value,
                                  "ratio_to_raw": ratio}) + "\n")

    def reference(self):
        """The reference, which differs from itself by 2 %."""
        self.line("raw_heap", "set_ns", 100, 1)
        self.line("raw_heap_again", "set_ns", 101, 1.01)
        self.line("raw_heap_again", "set_ns_q1", 99, 0.99)
        self.line("raw_heap_again", "set_ns_q3", 102, 1.02)

    def judge(self, *wanted):
        return check.judge(results.read(self.file), wanted)

    def passes(self, *wanted):
        return silently(check.show, self.judge(*wanted))[0]

    def outcome(self, wanted):
        return self.judge(wanted)[0].outcome


class Check(MadeUpResults):
    def test_a_ratio_that_is_reached_passes(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", 114, 1.14)
        self.assertEqual(self.outcome(target(1.15)), Outcome.OK)
        self.assertTrue(self.passes(target(1.15)))

    def test_a_ratio_that_is_missed_by_more_than_the_noise_fails(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", 118, 1.18)
        self.assertEqual(self.outcome(target(1.15)), Outcome.MISSED)
        self.assertFalse(self.passes(target(1.15)))

    def test_a_ratio_that_the_other_build_misses_too_does_not_fail(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", 118, 1.18)
        self.line("eddy_epoll_before", "set_ns", 119, 1.19)
        self.assertEqual(self.outcome(target(1.15)), Outcome.MISSED_BEFORE)
        self.assertEqual(self.judge(target(1.15))[0].before, 1.19)
        self.assertTrue(self.passes(target(1.15)))

    def test_a_ratio_that_the_other_build_reaches_fails(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", 118, 1.18)
        self.line("eddy_epoll_before", "set_ns", 116, 1.16)
        self.assertEqual(self.outcome(target(1.15)), Outcome.MISSED)
        self.assertFalse(self.passes(target(1.15)))

    def test_a_ratio_that_is_missed_by_less_than_the_noise_passes(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", 117, 1.17)
        verdict = self.judge(target(1.15))[0]
        self.assertEqual(verdict.outcome, Outcome.OK)
        self.assertEqual(verdict.measured, 1.17)
        self.assertAlmostEqual(verdict.noise, 0.02)

    def test_one_missed_target_among_many_fails(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", 118, 1.18)
        self.assertFalse(self.passes(target(2), target(1.15), target(3)))

    def test_a_value_that_must_be_at_least_something_fails_below_it(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", 60, 0.6)
        self.assertEqual(self.outcome(target(0.7, "ratio_min")), Outcome.MISSED)
        self.assertEqual(self.outcome(target(0.61, "ratio_min")), Outcome.OK)

    def test_a_ratio_to_a_peer_is_that_of_the_values(self):
        self.reference()
        self.line("libev", "set_ns", 200, 2)
        self.line("eddy_epoll", "set_ns", 150, 1.5)
        self.assertEqual(self.judge(target(0.8, peer="libev"))[0].measured, 0.75)
        self.assertEqual(self.outcome(target(0.8, peer="libev")), Outcome.OK)
        self.assertEqual(self.outcome(target(0.7, peer="libev")), Outcome.MISSED)

    def test_the_other_build_is_compared_with_its_own_peer(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", 120, 1.2)
        self.line("eddy_epoll_before", "set_ns", 150, 1.5)
        self.line("eddy_uring", "set_ns", 100, 1)
        self.line("eddy_uring_before", "set_ns", 100, 1)
        self.line("eddy_uring_before", "cancel_ns", 1, 1)
        self.assertEqual(self.judge(target(1.1, peer="eddy_uring"))[0].before, 1.5)

    def test_nothing_may_be_below_zero_whatever_the_noise(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", -0.001, -0.00001)
        self.assertEqual(self.outcome(target(0, "value_min")), Outcome.MISSED)

    def test_a_subject_that_could_not_run_fails(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", None, None)
        self.assertEqual(self.outcome(target(1.15)), Outcome.NOT_THERE)
        self.assertFalse(self.passes(target(1.15)))

    def test_what_was_not_measured_is_no_failure_but_nothing_at_all_is(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", 100, 1)
        other = target(1, suite="churn")
        self.assertEqual(self.outcome(other), Outcome.NOT_MEASURED)
        self.assertTrue(self.passes(other, target(1.15)))
        self.assertFalse(self.passes(other))

    def test_a_line_names_the_target_its_limit_and_what_became_of_it(self):
        self.reference()
        self.line("eddy_epoll", "set_ns", 118, 1.18)
        self.line("eddy_epoll_before", "set_ns", 119, 1.19)
        printed = silently(check.show, self.judge(target(1.15)))[1].splitlines()
        self.assertEqual(printed[-2].split(), ["timer", "1M", "eddy_epoll", "set_ns", "<=", "1.15", "1.18", "2.0%",
                                               "missed,", "as", "before", "(before:", "1.19)"])
        self.assertEqual(printed[-1], "1 of 1 targets: 0 reached, 0 missed, and 1 by both builds")

    def test_something_else_than_results_is_refused(self):
        self.file.write_text("not what --json writes\n", encoding="utf-8")
        self.assertRaises(results.NoResults, results.read, self.file)
        self.assertRaises(results.NoResults, results.read, self.file.with_name("nowhere"))


class Targets(unittest.TestCase):
    def test_have_names_of_their_own(self):
        names = [t.name() for t in targets.load()]
        self.assertTrue(names)
        self.assertEqual(len(names), len(set(names)))

    def test_are_about_values_that_are_measured(self):
        measured = {(t.suite, c.case, c.metric) for t in tables.TABLES for c in t.columns}
        for t in targets.load():
            self.assertIn((t.suite, t.case, t.metric), measured)
            self.assertIn(t.suite, options.SUITES)

    def test_need_one_limit(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('[[target]]\nsuite = "a"\ncase = "b"\nsubject = "c"\nmetric = "d"\n')
            file.flush()
            self.assertRaises(ValueError, targets.load, file.name)


class Options(unittest.TestCase):
    def misuse(self, *arguments):
        with self.assertRaises(options.Misuse) as caught:
            options.parse(arguments)
        return str(caught.exception)

    def test_stand_between_suites_in_any_order(self):
        chosen = options.parse(["timer", "--quick", "post", "--subject", "eddy", "timer", "--subject", "libev"])
        self.assertEqual(chosen.suites, ["timer", "post"])
        self.assertEqual(chosen.subjects, ["eddy", "libev"])
        self.assertTrue(chosen.quick)

    def test_without_suites_all_are_measured(self):
        self.assertEqual(options.parse(["--quick"]).suites, options.SUITES)

    def test_to_read_a_file_is_to_check_it(self):
        chosen = options.parse(["--from", "file"])
        self.assertEqual((chosen.read, chosen.check), ("file", True))
        self.assertFalse(options.parse(["--report", "file"]).check)

    def test_mistakes_are_named(self):
        self.assertEqual(self.misuse("--nonsense"), "unknown argument '--nonsense'")
        self.assertEqual(self.misuse("nonsense"), "unknown argument 'nonsense'")
        self.assertEqual(self.misuse("--sub", "eddy"), "unknown argument '--sub'")
        self.assertEqual(self.misuse("--json"), "--json needs a value")
        self.assertEqual(self.misuse("--json", ""), "--json needs a value")
        self.assertEqual(self.misuse("--case", "--quick"), "--case needs a value")
        self.assertEqual(self.misuse("--before", "/nowhere"), "'/nowhere' is no build of the bench preset: "
                         "libeddy.so and bench/ have to be there")


class LinesOfTheDriver(unittest.TestCase):
    class NoProgress:
        def phase(self, name): pass
        def step(self, what): pass
        def clear(self): pass

    def take(self, *lines):
        run = measuring.Run(self.NoProgress())
        printed = silently(lambda: [run.take(line) for line in lines])[1]
        return run.results, printed

    def rounds(self, subject, *values):
        return {"suite": "timer", "case": "1M", "subject": subject, "metric": "set_ns", "rounds": list(values)}

    def test_ratios_are_formed_within_a_round(self):
        found, _ = self.take(self.rounds("raw_heap", 10, 20, 40), self.rounds("eddy_epoll", 11, 24, None))
        m = found.find("timer", "1M", "eddy_epoll", "set_ns")
        self.assertAlmostEqual(m.value.median, 17.5)
        self.assertAlmostEqual(m.ratio.median, 1.15)
        self.assertAlmostEqual(m.ratio.spread(), 0.025)

    def test_a_table_is_printed_once_when_it_is_complete(self):
        missing = {key: value for key, value in self.rounds("libuv").items() if key != "rounds"}
        _, printed = self.take(self.rounds("raw_heap", 10), missing | {"missing": "not built"},
                               {"complete": True}, {"complete": True})
        self.assertEqual(printed.splitlines()[2:], [
            "           set",
            "               ns  ratio     ±",
            "raw_heap     10.0  1.000 0.000",
            "libuv         n/a",
            "n/a: libuv (not built)"])

    def test_what_is_written_is_read_again(self):
        found, _ = self.take(self.rounds("raw_heap", 10, 20, 40), self.rounds("eddy_epoll", 11, 24, None))
        found.add(results.Measurement("share", "watches", "eddy_epoll", "window", curve=[75.0, 74.5]))
        found.add(results.Measurement("run", "machine", "cores", "name", text="2"))
        with tempfile.NamedTemporaryFile("w") as file:
            results.write(found, file.name)
            again = results.read(file.name)
        self.assertEqual([m.name() for m in again], [m.name() for m in found])
        self.assertEqual(again.find("timer", "1M", "eddy_epoll", "set_ns").value.q3, 20.75)
        self.assertEqual(again.find("share", "watches", "eddy_epoll", "window").curve, [75.0, 74.5])
        self.assertEqual(again.text("run", "machine", "cores", "name"), "2")


class Page(MadeUpResults):
    def write(self):
        return page.text(results.read(self.file))

    def whole_run(self, value):
        """Every value of every table, for every subject that the targets name."""
        subjects = {"raw_heap", *(name for t in targets.load() for name in (t.subject, t.peer) if name)}
        for t in tables.TABLES:
            for c in t.columns:
                for subject in sorted(subjects, reverse=True):
                    self.line(subject, c.metric, value, value, t.suite, c.case)

    def test_stays_short_however_many_targets_are_missed(self):
        self.whole_run(2.5)
        written = self.write()
        self.assertLessEqual(written.count("\n"), 150)
        self.assertIn("more | | | |", written)
        self.assertTrue(all(len(line) <= 120 for line in written.splitlines() if not line.startswith("|")))

    def test_gives_the_reason_of_a_missed_target(self):
        self.line("raw_heap", "push_back_ns", 10, 1, case="100k")
        self.line("eddy_epoll", "push_back_ns", 16, 1.6, case="100k")
        written = self.write()
        self.assertIn("0 of 1 targets are reached (98 were not measured).", written)
        self.assertIn("| pushing back a timer, to the bare heap | 1.15 | 1.600 | the size of a timer", written)

    def test_leaves_out_what_was_not_measured(self):
        self.reference()
        written = self.write()
        self.assertNotIn("a signal to oneself", written)
        self.assertIn("Not measured in this run.", written)

    def test_knows_reasons_only_of_targets_that_exist(self):
        names = {t.name() for t in targets.load()}
        for name in page.reasons():
            self.assertIn(name, names)


if __name__ == "__main__":
    unittest.main()
