#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make check`: run the suites one after the other and add up their last lines.

    check.py SUITE ...      runs `make check-SUITE` for each

A suite whose last line is not "N passed, N failed, N skipped" (because something did not build) counts as
one failure. The last line is the sum; the status is 1 when anything failed.
"""

import os
import re
import shutil
import subprocess
import sys
import time

from ktap import Counts

PROGRAM = re.compile(r"^(?:not )?ok \d+ - (\S+) # (\d+\.\d) s$")     # a program's own line, see run.py
SLOWEST = 10
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


def run_suite(suite, seconds):
    """Run one suite with its output passed on as it comes; its Counts. Adds each program's time to seconds."""
    print(f"# check-{suite}", flush=True)
    process = subprocess.Popen(["make", f"check-{suite}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                               errors="replace")
    last = ""
    for line in process.stdout:
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
        return Counts(failed=1)
    counts = Counts(*map(int, m.groups()))
    print(f"# check-{suite}: {counts}", flush=True)
    if process.returncode and not counts.failed:
        counts.failed = 1
    return counts


def main():
    total = Counts()
    shutil.rmtree(os.path.join(os.environ["TSR_BUILD"], "results"), ignore_errors=True)
    seconds = {}
    for suite in sys.argv[1:]:
        start = time.monotonic()
        total.add(run_suite(suite, seconds))
        print(f"# check-{suite} took {time.monotonic() - start:.0f} s", flush=True)
    print("# the slowest programs:")
    for label in sorted(seconds, key=seconds.get, reverse=True)[:SLOWEST]:
        print(f"# {seconds[label]:7.1f} s  {label}")
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
