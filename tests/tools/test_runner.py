#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The runner of a suite: limits of its programs, shards, JUnit files and statuses; the clock of `make check`; and the
statuses for `git bisect run`."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
import xml.etree.ElementTree as xml
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(TOP, "tests", "lib"), os.path.join(TOP, "qemu-device", "vm")]
import judge            # noqa: E402
import junit            # noqa: E402
import ktap_unittest    # noqa: E402
import limits           # noqa: E402
import run              # noqa: E402


class Limits(unittest.TestCase):
    """Limit.expired() on a clock and a process that the test moves."""

    def expired(self, seconds, wall, used, processors=2):
        with mock.patch.object(limits, "processor_time", side_effect=[5.0, 5.0 + used]), \
                mock.patch.object(limits.time, "monotonic", side_effect=[100.0, 100.0 + wall]):
            return limits.Limit(seconds, 1, processors).expired()

    def test_a_program_within_its_limit_goes_on(self):
        self.assertIsNone(self.expired(10, 9, 9))

    def test_a_busy_machine_is_slow_and_not_broken(self):
        self.assertIsNone(self.expired(10, 60, 12))

    def test_processor_time_is_the_limit(self):
        self.assertIn("processor time", self.expired(10, 15, 20))
        self.assertIsNone(self.expired(10, 15, 20, processors=4))

    def test_a_program_that_only_waits_expires_after_its_limit(self):
        self.assertIn("waits", self.expired(10, 10, 0.5))

    def test_wall_time_is_bounded(self):
        self.assertEqual(self.expired(10, 100, 15), "within 100 s")

    def test_time_of_descendants_counts(self):
        burn = "while :; do timeout 0.1 sh -c 'while :; do :; done'; done"
        process = subprocess.Popen(["sh", "-c", f"sh -c \"{burn}\"; :"], start_new_session=True)
        try:
            limit = limits.Limit(2, process.pid, 1)
            why = None
            while not why:
                limits.time.sleep(limit.slice())
                why = limit.expired()
            self.assertIn("processor time", why)
        finally:
            os.killpg(process.pid, 9)
            process.wait()

    def test_communicate_returns_output_or_the_reason(self):
        with subprocess.Popen(["echo", "done"], stdout=subprocess.PIPE) as process:
            self.assertEqual(limits.communicate(process, 60), (b"done\n", None))
        with subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE) as process:
            self.assertIn("waits", limits.communicate(process, 0.2)[1])
            process.kill()


SUITES = """
check-one: ; @echo "1 passed, 0 failed, 0 skipped"
check-fuzz-short: ; @echo "# seconds $(SECONDS)"; echo "2 passed, 0 failed, 0 skipped"
check-slow: ; @sleep 1.3; echo "3 passed, 0 failed, 0 skipped"
check-late: ; @echo "4 passed, 1 failed, 0 skipped"
"""


def outside_make():
    """The environment without what `make check` exports: TSR_RESULTS is a directory that check.py empties."""
    return {n: v for n, v in os.environ.items() if n not in ("MAKEFLAGS", "MAKELEVEL", "TSR_RESULTS")}


class Clock(unittest.TestCase):
    def check(self, minutes, *suites):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "Makefile"), "w") as f:
                f.write(SUITES)
            environment = outside_make()
            done = subprocess.run([sys.executable, os.path.join(TOP, "tests", "lib", "check.py"), *suites], cwd=directory, text=True,
                                  stdout=subprocess.PIPE, env={**environment, "TSR_BUILD": directory, "TSR_CHECK_MINUTES": minutes})
            return done.returncode, done.stdout

    def test_an_optional_suite_that_comes_too_late_is_a_skip_with_its_reason(self):
        status, text = self.check("0.02", "one", "--optional", "slow", "late")
        self.assertEqual((status, text.splitlines()[-1]), (0, "4 passed, 0 failed, 1 skipped"))
        self.assertIn("check-late # SKIP", text)

    def test_required_suites_have_no_clock(self):
        status, text = self.check("0.0001", "slow", "late", "--optional", "one")
        self.assertEqual((status, text.splitlines()[-1]), (1, "7 passed, 1 failed, 1 skipped"))

    def test_without_a_clock_everything_runs(self):
        self.assertEqual(self.check("", "one", "--optional", "slow")[1].splitlines()[-1], "4 passed, 0 failed, 0 skipped")

    def test_fuzzing_gets_what_is_left_between_two_and_ten_minutes(self):
        for minutes, seconds in (("1", 120), ("60", 600), ("5", 299)):
            self.assertRegex(self.check(minutes, "--optional", "fuzz-short")[1], f"# seconds ({seconds}|{seconds + 1})\n")


PROGRAMS = {
    "good.sh": "echo 'KTAP version 1'; echo 1..2; echo 'ok 1 - first'; echo 'ok 2 - second # SKIP no such thing'",
    "bad.sh": "echo 'KTAP version 1'; echo 1..2; echo 'ok 1 - first'; echo 'not ok 2 - a <b> & \001'",
    "dies.sh": "echo 'KTAP version 1'; echo 'ok 1 - first'; kill -SEGV $$",
    "short.sh": "echo 'KTAP version 1'; echo 1..3; echo 'ok 1 - first'",
}


class Suite(unittest.TestCase):
    """run.py on small programs."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        for name, text in PROGRAMS.items():
            with open(os.path.join(self.directory, name), "w") as f:
                f.write(textwrap.dedent(text) + "\n")

    def suite(self, *names, shard=None):
        """Status, standard output and the JUnit file of a run."""
        results = os.path.join(self.directory, "results", "small.ktap")
        done = subprocess.run([sys.executable, os.path.join(TOP, "tests", "lib", "run.py"), "--suite", "small", "--results", results,
                               *(["--shard", shard] if shard else []), *(os.path.join(self.directory, name) for name in names)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TSR_BUILD": self.directory})
        path = results.replace(".ktap", ".xml")
        return done.returncode, done.stdout, xml.parse(path).getroot() if os.path.exists(path) else None

    def test_passed_failed_and_skipped_tests_in_junit(self):
        status, text, root = self.suite("good.sh", "bad.sh")
        self.assertEqual((status, text.splitlines()[-1]), (1, "2 passed, 1 failed, 1 skipped"))
        suites = {suite.get("name"): suite for suite in root}
        self.assertEqual(sorted(suites), ["small/bad", "small/good"])
        good, bad = suites["small/good"], suites["small/bad"]
        self.assertEqual([good.get(n) for n in ("tests", "failures", "errors", "skipped")], ["2", "0", "0", "1"])
        self.assertEqual(good.find("testcase/skipped").get("message"), "no such thing")
        self.assertIsNone(good.find("system-out"))
        self.assertEqual([bad.get(n) for n in ("tests", "failures", "errors", "skipped")], ["2", "1", "0", "0"])
        self.assertEqual(bad[1].get("name"), "a <b> & ?")
        self.assertIn("not ok 2", bad.find("system-out").text)

    def test_a_program_that_dies_or_stops_early_is_an_error_of_the_program(self):
        for name in ("dies.sh", "short.sh"):
            status, text, root = self.suite(name)
            self.assertEqual((status, text.splitlines()[-1]), (1, "1 passed, 1 failed, 0 skipped"), name)
            self.assertEqual(root.find("testsuite/testcase/error").get("type"), "program")

    def test_a_program_that_is_not_there_is_broken_infrastructure(self):
        status, text, root = self.suite("good.sh", "missing")
        self.assertEqual((status, text.splitlines()[-1]), (3, "1 passed, 1 failed, 1 skipped"))
        self.assertEqual([e.get("type") for e in root.iter("error")], ["infrastructure"])
        self.assertEqual(self.suite("bad.sh", "missing")[0], 1)

    def test_statuses(self):
        self.assertEqual(self.suite("good.sh")[0], 0)
        for shard in ("0/2", "3/2", "1/0", "x", "1", "-1/2", "1/2/3"):
            self.assertEqual(self.suite("good.sh", shard=shard)[0], 2, shard)

    def test_a_shard_without_a_test_is_a_skip(self):
        status, text, _ = self.suite("good.sh", shard="2/2")
        self.assertEqual((status, text.splitlines()[-1]), (0, "0 passed, 0 failed, 1 skipped"))

    def test_shards_run_every_program_once(self):
        ran = [self.suite(*PROGRAMS, shard=f"{i}/3")[1] for i in (1, 2, 3)]
        for name in PROGRAMS:
            self.assertEqual(sum(f"small/{name[:-3]} #" in text for text in ran), 1, name)


class Boot(unittest.TestCase):
    def problems(self, guest):
        """What one_in_guest() reports of a program whose guest fails."""
        report = mock.Mock()
        with mock.patch.object(run, "Guest", return_value=guest):
            run.one_in_guest(run.Test("/nowhere/x.c", "guest/"), None, report)
        return report.program.call_args[0][2]

    def test_a_guest_that_does_not_boot_is_broken_infrastructure(self):
        guest = mock.Mock()
        guest.start.side_effect = run.GuestError("no kernel")
        self.assertIsInstance(self.problems(guest)[0], junit.Broken)

    def test_a_guest_that_dies_during_a_program_is_not(self):
        guest = mock.Mock()
        guest.start.return_value = guest
        guest.run.side_effect = [mock.Mock(status=0), run.GuestError("it is gone")]
        guest.console.return_value = ""
        self.assertNotIsInstance(self.problems(guest)[0], junit.Broken)


class Shards(unittest.TestCase):
    def test_parts_are_disjoint_complete_even_and_independent_of_order(self):
        tests = [run.Test(f"/nowhere/{n}", "x/") for n in range(97)]
        for n, test in enumerate(tests):
            test.settings["TIMEOUT"] = str(10 + n % 7 * 30)
        for count in (1, 2, 5, 97, 120):
            parts = [run.in_shard(tests, i + 1, count) for i in range(count)]
            self.assertEqual(sorted(t.label for part in parts for t in part), sorted(t.label for t in tests))
            self.assertEqual([{t.label for t in run.in_shard(tests[::-1], i + 1, count)} for i in range(count)],
                             [{t.label for t in part} for part in parts])
            loads = [sum(t.timeout() for t in part) for part in parts]
            self.assertLessEqual(max(loads) - min(loads), 190)


class BrokenSuite(unittest.TestCase):
    def test_a_suite_that_does_not_build_has_a_junit_file(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "Makefile"), "w") as f:
                f.write("check-broken: ; @echo 'x.c:1: error'; exit 1\n")
            environment = outside_make()
            done = subprocess.run([sys.executable, os.path.join(TOP, "tests", "lib", "check.py"), "broken"], cwd=directory, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**environment, "TSR_BUILD": directory})
            self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))
            root = xml.parse(os.path.join(directory, "results", "broken.xml")).getroot()
            self.assertEqual(root.find("testsuite/testcase/error").get("type"), "infrastructure")
            self.assertIn("x.c:1: error", root.find("testsuite/system-out").text)


class Judge(unittest.TestCase):
    """judge.py, for `git bisect run`: statuses of kernels that boot, do not boot, or die."""

    def status(self, start=None, run=None):
        guest = mock.Mock()
        guest.start.side_effect = start
        guest.run.side_effect = run if isinstance(run, Exception) else None
        guest.run.return_value = mock.Mock(status=run)
        with mock.patch.object(judge.runner, "guest_from", return_value=guest), mock.patch("sys.stderr"):
            status = judge.main(["--", "test"])
        self.assertEqual(guest.stop.call_count, 0 if start else 1)
        return status

    def test_the_command_decides(self):
        self.assertEqual([self.status(run=n) for n in (0, 1, 7, 125, 255)], [0, 1, 1, 1, 1])

    def test_a_guest_that_dies_under_the_command_is_bad(self):
        self.assertEqual(self.status(run=run.GuestError("panic")), 1)

    def test_a_kernel_that_does_not_boot_is_skipped(self):
        self.assertEqual(self.status(start=run.GuestError("panic")), 125)

    def test_wrong_usage_ends_the_bisection(self):
        with mock.patch("sys.stderr"):
            self.assertEqual([judge.main(a) for a in ([], ["--no-such-option", "x"])], [255, 255])
        script = os.path.join(TOP, "qemu-device", "vm", "bisect.sh")
        with tempfile.TemporaryDirectory() as empty:
            for command in ([script], [script, "true"]):
                self.assertEqual(subprocess.run(command, cwd=empty, stderr=subprocess.DEVNULL).returncode, 255)


if __name__ == "__main__":
    sys.exit(ktap_unittest.main(__name__))
