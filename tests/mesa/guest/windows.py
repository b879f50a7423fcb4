#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=2400
"""Programs with windows on weston in a guest: each one draws, on Wayland and on X11.

With TSR_WINDOWS=rates it prints a table instead: pictures a second of each program, with server and program on the GPU and with both
on llvmpipe in the same guest. TSR_MESA_SHARE is what userspace/mesa/share.sh made with
MESA_PACKAGES='coreutils weston xwayland mesa-utils-bin'."""

import os
import re
import statistics
import sys
import tempfile
import time

import variant
from guest import Guest
from tap import Tap

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import screen  # noqa: E402

tap = Tap()
# llvmpipe's compiler wants a processor that it knows by name.
PROCESSOR = "-cpu Haswell-noTSX"
GEARS = r"= ([\d.]+) FPS"
# The programs that print a rate: a command, and the pattern of what it prints.
PROGRAMS = {
    "weston-simple-egl": ("weston-simple-egl -b", r"seconds: ([\d.]+) fps"),
    "es2gears_wayland": ("es2gears_wayland.x86_64-linux-gnu", GEARS),
    "es2gears_x11": ("es2gears_x11.x86_64-linux-gnu", GEARS),
    "glxgears": ("glxgears.x86_64-linux-gnu", GEARS),
}
COLUMNS = {"Tessera": "", "llvmpipe": "--software "}
ROUNDS = 3          # rates a program prints that count, after the first one
LIMIT = 150         # seconds for these
# Pixels that differ at least when a window came, and from one picture in it to another. The clock of weston's panel has fewer.
WINDOW = 20000
MOVES = 1000


def rates_of(guest, pattern):
    """What the program has printed so far."""
    said = guest.run("cat /tmp/client.log").stdout.decode(errors="replace")
    return [float(r) for r in re.findall(pattern, said)]


def start_program(guest, name, options=""):
    screen.start(guest, "client", f"{options}env DISPLAY=:0 vblank_mode=0 stdbuf -oL {PROGRAMS[name][0]}")


def running(guest):
    return guest.run("[ -d /proc/$(cat /tmp/client.pid) ]").status == 0


def rate(guest, column, name):
    """The median of the rates that a program prints; none are a failure."""
    start_program(guest, name, COLUMNS[column])
    rates, end = [], time.monotonic() + LIMIT * variant.current().slow
    while len(rates) <= ROUNDS and time.monotonic() < end and running(guest):
        time.sleep(2)
        rates = rates_of(guest, PROGRAMS[name][1])
    said = screen.stop(guest, "client")
    if len(rates) > ROUNDS:
        return statistics.median(rates[1:])
    tap.fail(f"{name} prints no rates on {column}: {rates} {said[-1500:]}")
    return 0.0


def table(guest):
    found = {}
    for column, options in COLUMNS.items():
        screen.start_weston(guest, options, "--xwayland")
        for name in PROGRAMS:
            found[column, name] = rate(guest, column, name)
        screen.stop(guest, "weston")
    tap.note(f"{'program':20}" + "".join(f" {column:>9}" for column in COLUMNS))
    for name in PROGRAMS:
        tap.note(f"{name:20}" + "".join(f" {found[column, name]:9.2f}" for column in COLUMNS))


def changed(a, b):
    """How many pixels differ."""
    return sum(a.pixels[i:i + 3] != b.pixels[i:i + 3] for i in range(0, len(a.pixels), 3))


def desktop(guest, directory):
    """The desktop, once it is there and has stopped to fade in."""
    before = screen.Picture(guest, directory)
    for _ in range(100):
        time.sleep(1)
        picture = screen.Picture(guest, directory)
        if picture.colors() > 1 and changed(picture, before) < MOVES:
            break
        before = picture
    return picture


def shown(guest, directory, name):
    with tap.test(f"{name} on weston"):
        empty = desktop(guest, directory)
        start_program(guest, name)
        first = screen.wait_for(guest, directory, lambda p: changed(p, empty) > WINDOW)
        second = screen.wait_for(guest, directory, lambda p: changed(p, first) > MOVES)
        new, moved = changed(first, empty), changed(second, first)
        tap.ok(new > WINDOW, f"its window is seen: {new} pixels")
        tap.ok(moved > MOVES, f"its picture moves: {moved} pixels")
        said = screen.stop(guest, "client")
        if moved <= MOVES:
            second.keep(name)
            tap.note(said[-2000:])


def pictures(guest):
    with tempfile.TemporaryDirectory(prefix="tessera-windows-") as directory:
        screen.start_weston(guest, more="--xwayland")
        for name in PROGRAMS:
            shown(guest, directory, name)
        with tap.test("weston runs on the GPU"):
            tap.ok("Tessera" in screen.stop(guest, "weston"), "the renderer")


def main():
    if not os.path.exists(os.path.join(screen.SHARE, "root", "usr", "bin", "es2gears_wayland.x86_64-linux-gnu")):
        with tap.test("programs with windows in a guest"):
            tap.skip("the archive has no es2gears_wayland")
        return tap.finish()
    with Guest(device_args="heads=1", share=screen.SHARE, mem=2048, qemu_args=PROCESSOR, boot_limit=900) as guest:
        if os.environ.get("TSR_WINDOWS") == "rates":
            with tap.test("rates of programs with windows in a guest"):
                table(guest)
        else:
            pictures(guest)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
