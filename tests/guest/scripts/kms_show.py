#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""tsr-show as somebody sees it who looks at the machine: cubes in front of their background, which turn, and what it says in the end."""

import os
import re
import sys
import tempfile

import variant
from guest import Guest
from tap import Tap

FRAMES = 120
BACKGROUND = (25.5, 25.5, 51)   # of 255; halves may go either way
tap = Tap()


def dump(guest, directory):
    """QEMU's screendump as a list of pixels of three bytes."""
    path = os.path.join(directory, "screen.ppm")
    guest.qmp("screendump", filename=path, device="gpu0", head=0)
    with open(path, "rb") as f:
        pixels = f.read().split(b"\n", 3)[3]
    return [pixels[n:n + 3] for n in range(0, len(pixels), 3)]


def is_background(pixel):
    return all(abs(a - b) <= 0.5 for a, b in zip(pixel, BACKGROUND))


def shown(guest, directory):
    """A picture of the cubes: much background, many colors."""
    for _ in range(100 * variant.current().slow):
        pixels = dump(guest, directory)
        back = sum(map(is_background, pixels))
        if back > len(pixels) // 20 and len(set(pixels)) > 500:
            return pixels
    return None


def show(guest, directory):
    with tap.test("[DISP1] tsr-show draws cubes on the screen, and they turn"):
        guest.run(f"(tsr-show --frames {FRAMES} >/tmp/said 2>&1; echo $? >/tmp/status) </dev/null >/dev/null 2>&1 &")
        first = shown(guest, directory)
        tap.ok(first, "cubes are seen")
        other = guest.run("tsr-show --frames 1")
        second = shown(guest, directory)
        tap.ok(second and second != first, "the picture changes")
        tap.eq(other.status, 1)
        tap.ok(b"another program has the screen" in other.stderr, f"a second one says why not: {other.stderr}")
        done = guest.run("while [ ! -s /tmp/status ]; do sleep 0.2; done; cat /tmp/status /tmp/said", timeout=200)
        said = done.stdout.decode()
        tap.ok(re.fullmatch(rf"0\ntsr-show: {FRAMES} pictures of \d+ x \d+, one for \d+\.\d\d vertical blanks\n", said), said)


def usage(guest):
    with tap.test("tsr-show says what it does not understand"):
        for wrong in ("--frames 0", "--frames x", "more"):
            tap.eq(guest.run(f"tsr-show {wrong}").status, 2)
        tap.eq(guest.run("tsr-show --screen /dev/null").status, 1)


with tempfile.TemporaryDirectory(prefix="tessera-show-") as d:
    with Guest(device_args="heads=1", smp=2, kernel_args="fbcon=map:99") as g:
        usage(g)
        show(g, d)

sys.exit(tap.finish())
