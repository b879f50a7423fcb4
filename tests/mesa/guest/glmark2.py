#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=2400
"""Debian's glmark2-es2-drm on the GPU's own screen in a guest: no scene fails, and those with a check of their own pass it.

With TSR_GLMARK2=rates it prints a table instead: pictures a second of each scene, 800 by 608, on the GPU and by llvmpipe in
the same guest, and the two scores. TSR_MESA_SHARE is what userspace/mesa/share.sh made with glmark2-es2-drm among its packages."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from guest import Guest  # noqa: E402
from glmark2 import SCENES  # noqa: E402
from tap import Tap  # noqa: E402

tap = Tap()
SHARE = os.environ["TSR_MESA_SHARE"]
LIMIT = 600         # seconds for a scene, on a host that has other things to do
# llvmpipe's compiler wants a processor that it knows by name.
PROCESSOR = "-cpu Haswell-noTSX"
# The table's columns: an option of /mnt/debian.
COLUMNS = {"Tessera": "", "llvmpipe": "--software"}


def run(guest, options, scene, mesa=""):
    """What glmark2 prints of a scene."""
    done = guest.run(f"/mnt/debian {mesa} glmark2-es2-drm --winsys-options drm-device=/dev/dri/card0 {options} -b '{scene}' 2>&1", LIMIT)
    return done.status, done.stdout.decode(errors="replace")


def verdict(said):
    """What a scene's own check comes to: Success, Unknown (it has none), Failure; None: it did not come so far."""
    found = re.search(r"Validation: (\w+)", said)
    return found and found.group(1)


def validate(guest):
    """Checks are made for 800 by 600 pixels, which no screen can have here: where they fail, they must fail on llvmpipe, too."""
    for scene in SCENES:
        with tap.test(f"glmark2-es2-drm -b '{scene}'"):
            status, said = run(guest, "--validate", scene)
            tap.ok(re.search(r"GL_RENDERER: +Tessera", said) and "Surface Size:   800x608" in said, "the renderer, and the screen's size")
            if status == 0 and verdict(said) in ("Success", "Unknown"):
                continue
            if verdict(said) != "Failure" or verdict(run(guest, "--validate", scene, "--software")[1]) != "Failure":
                tap.fail(said[-3000:])


def edid():
    """Of a monitor that has 800 by 608 pixels, at 60 Hz, and nothing else: glmark2 makes no window on a screen of just 800 by 600."""
    mode = bytes((0xA0, 0x0F, 0x20, 0x00, 0x31, 0x60, 0x14, 0x20, 40, 128, 0x14, 0, 0, 0, 0, 0, 0, 0x1E))
    nothing = bytes((0, 0, 0, 0x10)) + bytes(14)
    block = bytes((0, *[255] * 6, 0)) + b"\x52\x4d" + bytes(6) + bytes((1, 30, 1, 3, 0x80, 0, 0, 120, 0x0A)) + bytes(13) + \
        b"\1" * 16 + mode + 3 * nothing + b"\0"
    return block + bytes((-sum(block) % 256,))


def small_screen(guest):
    """glmark2 takes the largest mode there is."""
    with open(os.path.join(SHARE, "edid"), "wb") as f:
        f.write(edid())
    guest.run("for f in /sys/kernel/debug/dri/*/*/edid_override; do cat /mnt/edid >$f; done")


def rate(guest, renderer, scene):
    """Pictures a second."""
    said = run(guest, "", f"{scene}:duration=3", COLUMNS[renderer])[1]
    found = re.search(r"FrameTime: ([\d.]+)", said)
    good = found and float(found.group(1)) and re.search(f"GL_RENDERER: +.*{renderer}", said)
    tap.ok(good, f"{scene} runs on {renderer}")
    if not good:
        tap.note(said[-1000:])
    return 1000 / float(found.group(1)) if good else 0.0


def rates(guest):
    """A table of pictures a second, with the mean of each column, which is glmark2's score."""
    sums = [0.0] * len(COLUMNS)
    tap.note(f"{'scene':90}" + "".join(f" {name:>9}" for name in COLUMNS))
    for scene in SCENES:
        fps = [rate(guest, name, scene) for name in COLUMNS]
        sums = [a + b for a, b in zip(sums, fps)]
        tap.note(f"{scene:90}" + "".join(f" {n:9.2f}" for n in fps))
    tap.note(f"{'mean':90}" + "".join(f" {n / len(SCENES):9.2f}" for n in sums))


def main():
    if not os.path.exists(os.path.join(SHARE, "root", "usr", "bin", "glmark2-es2-drm")):
        with tap.test("glmark2 on the GPU's own screen"):
            tap.skip("the archive has no glmark2-es2-drm")
        return tap.finish()
    with Guest(device_args="heads=1", share=SHARE, mem=2048, qemu_args=PROCESSOR, boot_limit=900) as guest:
        small_screen(guest)
        if os.environ.get("TSR_GLMARK2") == "rates":
            with tap.test("rates of glmark2's scenes in a guest"):
                rates(guest)
        else:
            validate(guest)
    return tap.finish()


sys.exit(main())
