#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1800
"""make fuzz-kernel finds a bug behind calls that depend on each other, makes the program shorter, and writes it as C."""

import os
import subprocess
import sys
import tempfile

from tap import Tap

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.environ["TSR_TOP"]
SECONDS = 600


def fuzz(out, *options):
    return subprocess.run([sys.executable, os.path.join(HERE, "fuzz_kernel.py"), "--out", out, "--seed", "1", "--first",
                           *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def found(out):
    """{name: directory} of what was found."""
    where = os.path.join(out, "found")
    return {name: os.path.join(where, name) for name in (os.listdir(where) if os.path.isdir(where) else [])}


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as aside:
        out = os.path.join(aside, "planted")
        with tap.test("a bug behind five calls is found in ten minutes"):
            done = fuzz(out, "--seconds", str(SECONDS), "--mutant", "fuzz_planted")
            if done.returncode != 1 or not found(out):
                tap.fail(done.stdout)
        for name, where in found(out).items():
            with open(os.path.join(where, "program")) as f:
                calls = [line.split()[0] for line in f]
            with tap.test("the shortened program has the calls that it needs, and few others"):
                needed = {"perfmon_create", "submit", "perfmon_read"}
                if not needed <= set(calls) or len(calls) > 9:
                    tap.fail(f"{name}: {calls}")
            with tap.test("the program as C compiles"):
                build = subprocess.run(["cc", "-fsyntax-only", "-Wall", f"-I{TOP}/tests/guest/lib", f"-I{TOP}/tests/lib",
                                        f"-I{TOP}/kernel/include/uapi", f"-I{os.environ['TSR_BUILD']}/include", "-I/usr/include/libdrm",
                                        os.path.join(where, "repro.c")],
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                if build.returncode:
                    tap.fail(build.stdout)
        out = os.path.join(aside, "driver")
        with tap.test("a minute of fuzzing finds nothing in the driver"):
            done = fuzz(out, "--seconds", "60")
            if done.returncode:
                tap.fail(done.stdout)
        with tap.test("the corpus has grown meanwhile"):
            tap.note(f"{len(os.listdir(os.path.join(out, 'corpus')))} programs")
            if len(os.listdir(os.path.join(out, "corpus"))) < 20:
                tap.fail(done.stdout)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
