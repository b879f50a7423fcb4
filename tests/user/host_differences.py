#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=120
"""The table of differences in Documentation/guide/in-process.md is true and complete.

A program under tsr-host has a test for each row, of the same name, that shows the difference. A row without a test, a
test without a row, and a difference that is no longer there are errors.
"""

import glob
import os
import subprocess
import sys
import tempfile

from ktap import Program
from tap import Tap

TOP = os.environ["TSR_TOP"]
TSR_HOST = os.path.join(os.environ["TSR_BUILD"], "userspace", "bin", "tsr-host")
SOURCE = f"{TOP}/tests/user/lib/differences.inc"
TITLE = "## Differences from the driver"

tap = Tap()


def rows():
    """First columns of the table below TITLE."""
    with open(f"{TOP}/Documentation/guide/in-process.md", encoding="utf-8") as page:
        part = page.read().partition(f"{TITLE}\n")[2].partition("\n## ")[0]
    return [line.split("|")[1].strip() for line in part.splitlines() if line.startswith("| ") and not line.startswith("| Feature")]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


with tempfile.TemporaryDirectory(prefix="tessera-differences-") as scratch:
    program = os.path.join(scratch, "differences")
    hw = output("bash", f"{TOP}/qemu-device/build/host/headers.sh")
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{TOP}/tests/guest/lib", f"-I{TOP}/tests/lib",
                    f"-I{TOP}/kernel/include/uapi", f"-I{hw}", *output("pkg-config", "--cflags", "libdrm").split(), "-x", "c", SOURCE,
                    *glob.glob(f"{TOP}/tests/guest/lib/gt_*.c"), "-o", program, "-ldrm"], check=True)
    done = subprocess.run([TSR_HOST, "--vram", "16M", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=100)
    shown = Program(done.stdout)

    with tap.test("[SYS8] the program that shows the differences runs to its end"):
        tap.eq(shown.problems, [])
        tap.eq(done.returncode, 0, f"status: {done.stdout}")

    with tap.test("[SYS8] each row of the table has its check, and each check its row"):
        tap.eq(sorted(rows()), sorted(result.name for result in shown.results))

    for result in shown.results:
        with tap.test(f"[SYS8] different as the page says: {result.name}"):
            if result.status == "skipped":
                tap.skip("this machine cannot show it")
            tap.ok(result.status == "passed", result.status)

sys.exit(tap.finish())
