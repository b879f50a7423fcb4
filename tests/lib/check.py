#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make check`: run the suites one after the other and add up their last lines.

    check.py SUITE ... [--optional SUITE ...]      runs `make check-SUITE` for each

A suite that could not run gets a JUnit file, as the others have one from run.py.

With a clock (TSR_CHECK_MINUTES) no optional suite begins after that many minutes; it counts as skipped, with the
reason. fuzz-short gets the time that is left for it, between FUZZ_LEAST and FUZZ_MOST seconds. A suite whose last line is not "N passed, N failed, N skipped" (because something did not build) counts as
one failure. The last line is the sum; the status is 1 when anything failed.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time

import junit
from ktap import Counts

PROGRAM = re.compile(r"^(?:not )?ok \d+ - (\S+) # (\d+\.\d) s$")     # a program's own line, see run.py
RESULTS = os.environ.get("TSR_RESULTS") or os.path.join(os.environ["TSR_BUILD"], "results")
SLOWEST = 20
FUZZ_LEAST, FUZZ_MOST = 120, 600
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


class Clock:
    """Minutes since the checks began, how many there are, and how long each suite took when it last ran."""

    def __init__(self):
        self.start = time.monotonic()
        self.limit = 60 * float(os.environ.get("TSR_CHECK_MINUTES") or "inf")
        self.path = os.path.join(os.environ["TSR_BUILD"], "suite-seconds.json")
        try:
            with open(self.path) as f:
                self.known = dict(json.load(f))
        except (OSError, TypeError, ValueError):
            self.known = {}

    def left(self):
        """Seconds in which an optional suite may still begin."""
        return self.limit - (time.monotonic() - self.start)

    def fuzz_seconds(self, later):
        """What fuzzing gets, when the suites in later come after it."""
        left = self.left() - sum(self.known.get(suite, 0) for suite in later)
        return int(max(FUZZ_LEAST, min(FUZZ_MOST, left)))

    def keep(self, suite, seconds):
        self.known[suite] = round(seconds)
        with open(f"{self.path}.{os.getpid()}", "w") as f:
            json.dump(self.known, f)
        os.rename(f"{self.path}.{os.getpid()}", self.path)


def run_suite(suite, seconds, *variables):
    """Run one suite with its output passed on as it comes; its Counts. Adds each program's time to seconds."""
    print(f"# check-{suite}", flush=True)
    process = subprocess.Popen(["make", f"check-{suite}", *variables], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               text=True, errors="replace")
    last, tail = "", collections.deque(maxlen=100)
    for line in process.stdout:
        tail.append(line.rstrip("\n"))
        if last:
            print(last, flush=True)
        last = line.rstrip("\n")
        program = PROGRAM.match(last)
        if program:
            seconds[program[1]] = float(program[2])
    process.wait()
    m = SUMMARY.match(last)
    if not m:
        if last:
            print(last)
        print(f"not ok - check-{suite} could not run (see above)", flush=True)
        junit.write_broken(os.path.join(RESULTS, f"{suite}.xml"), suite, f"check-{suite} could not run", "\n".join(tail))
        return Counts(failed=1)
    counts = Counts(*map(int, m.groups()))
    print(f"# check-{suite}: {counts}", flush=True)
    if process.returncode and not counts.failed:
        counts.failed = 1
    return counts


def run_timed(suite, clock, seconds, *variables):
    """run_suite(), and say how long it took."""
    start = time.monotonic()
    counts = run_suite(suite, seconds, *variables)
    took = time.monotonic() - start
    print(f"# check-{suite} took {took:.0f} s", flush=True)
    clock.keep(suite, took)
    return counts


def run_optional(suites, clock, seconds):
    """Run those for which there is time; the Counts of all."""
    total = Counts()
    for i, suite in enumerate(suites):
        if clock.left() <= 0:
            print(f"ok - check-{suite} # SKIP minute {clock.limit / 60:.0f} has passed", flush=True)
            total.add(Counts(skipped=1))
            continue
        variables = [f"SECONDS={clock.fuzz_seconds(suites[i + 1:])}"] if suite == "fuzz-short" else []
        total.add(run_timed(suite, clock, seconds, *variables))
    return total


def main():
    words = sys.argv[1:]
    split = words.index("--optional") if "--optional" in words else len(words)
    clock, total, seconds = Clock(), Counts(), {}
    shutil.rmtree(RESULTS, ignore_errors=True)
    for suite in words[:split]:
        total.add(run_timed(suite, clock, seconds))
    total.add(run_optional(words[split + 1:], clock, seconds))
    print("# the slowest programs:")
    for label in sorted(seconds, key=seconds.get, reverse=True)[:SLOWEST]:
        print(f"# {seconds[label]:7.1f} s  {label}")
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
