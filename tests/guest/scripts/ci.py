#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""What CI jobs call: the status, what makes it fail, and what is kept."""

import json
import os
import subprocess
import sys
import tempfile

from guest import TOP
from tap import Tap

tap = Tap()
environment = {k: v for k, v in os.environ.items() if not k.startswith(("TSR_", "MAKE", "MFLAGS", "PYTHON"))}


def job(command, out, **options):
    """Run `make ci`; (status, what it said)."""
    variables = [f"{k.upper()}={v}" for k, v in options.items()]
    done = subprocess.run(["make", "-C", TOP, "ci", f"CMD={command}", f"OUT={out}"] + variables, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment)
    return done.returncode, done.stdout


def read(directory, name):
    with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as f:
        return f.read()


if os.environ.get("TSR_VARIANT") or os.environ.get("KERNEL"):
    with tap.test("CI jobs"):
        tap.skip("it is about the stock kernel")
    sys.exit(tap.finish())

with tempfile.TemporaryDirectory(prefix="tessera-ci-test-") as d:
    with tap.test("a command that succeeds: its output, the console and a timeline are kept"):
        out = os.path.join(d, "good")
        status, said = job("hello", out, devices="1")
        tap.eq(status, 0, "status")
        tap.ok("ff332211" in said, said[-2000:])
        tap.ok("ff332211" in read(out, "output.txt"), "the command's output")
        tap.ok("Linux version" in read(out, "console.txt") or "tessera" in read(out, "console.txt"), "the console")
        names = {e["name"] for e in json.loads(read(out, "timeline.json"))["traceEvents"]}
        tap.ok("doorbell" in names, sorted(names)[:40])
        tap.ok(not [n for n in os.listdir(out) if n.startswith("dump")], "no dump")

    with tap.test("a job that hangs fails the command, and its dump is kept, decoded too"):
        out = os.path.join(d, "hang")
        status, said = job("tsr-inject hang; hello", out, device_args="inject-window=on",
                           kernel_args="tessera.job_timeout_ms=1000")
        tap.ok(status != 0, f"status {status}")
        tap.ok(os.path.getsize(os.path.join(out, "dump-0")) > 1000, "the dump")
        tap.ok("ETIMEDOUT" in read(out, "dump-0.txt") or "110" in read(out, "dump-0.txt"), read(out, "dump-0.txt")[:1500])

    with tap.test("a kernel that complains fails the job, although the command is content"):
        out = os.path.join(d, "splat")
        status, said = job("echo '<2>WARNING: CPU: 0 PID: 1 at nowhere' >/dev/kmsg", out)
        tap.ok(status != 0, f"status {status}")
        tap.ok("tessera: bad: " in said, said[-2000:])

sys.exit(tap.finish())
