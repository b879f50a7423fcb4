#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=2400
"""Debian's glmark2-es2-drm on the GPU's own screen in a guest: no scene fails, and those with a check of their own pass it.

With TSR_GLMARK2=rates it prints a table instead: pictures a second of each scene, 800 by 600, on the GPU and by llvmpipe in
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
COMMAND = "glmark2-es2-drm --winsys-options drm-device=/dev/dri/card0"
# llvmpipe's compiler wants a processor that it knows by name.
PROCESSOR = "-cpu Haswell-noTSX"


def run(guest, options, scene, software=False):
    """What glmark2 prints of a scene."""
    done = guest.run(f"/mnt/debian {'--software ' if software else ''}{COMMAND} {options} -b '{scene}' 2>&1", LIMIT)
    return done.status, done.stdout.decode(errors="replace")


def validate(guest):
    for scene in SCENES:
        with tap.test(f"glmark2-es2-drm -b '{scene}'"):
            status, said = run(guest, "--validate", scene)
            verdict = re.search(r"Validation: (.*)", said)
            tap.eq(status, 0, "status")
            tap.ok(re.search(r"GL_RENDERER: +Tessera", said), "the renderer")
            tap.ok(verdict and verdict.group(1).strip() in ("Success", "Unknown"), "the scene is drawn, and passes its own check")
            if not verdict or "Success" not in verdict.group(1) and "Unknown" not in verdict.group(1):
                tap.note(said[-3000:])


def rates(guest):
    """A table of pictures a second; what a scene is given, it takes without its first, which compiles shaders."""
    sums = [0.0, 0.0]
    tap.note(f"{'scene':72} {'Tessera':>8} {'llvmpipe':>9}")
    for scene in SCENES:
        found = [re.search(r"FPS: ([\d.]+) FrameTime: ([\d.]+)", run(guest, "-s 800x600", f"{scene}:duration=3", s)[1])
                 for s in (False, True)]
        fps = [1000 / float(f.group(2)) if f and float(f.group(2)) else 0.0 for f in found]
        tap.ok(fps[0] > 0, f"{scene} runs")
        sums = [a + b for a, b in zip(sums, fps)]
        tap.note(f"{scene:72} {fps[0]:8.2f} {fps[1]:9.2f}")
    tap.note(f"{'mean':72} {sums[0] / len(SCENES):8.2f} {sums[1] / len(SCENES):9.2f}")


def main():
    if not os.path.exists(os.path.join(SHARE, "root", "usr", "bin", "glmark2-es2-drm")):
        with tap.test("glmark2 on the GPU's own screen"):
            tap.skip("the archive has no glmark2-es2-drm")
        return tap.finish()
    with Guest(device_args="heads=1", share=SHARE, mem=2048, qemu_args=PROCESSOR, boot_limit=900) as guest:
        if os.environ.get("TSR_GLMARK2") == "rates":
            with tap.test("rates of glmark2's scenes in a guest"):
                rates(guest)
        else:
            validate(guest)
    return tap.finish()


sys.exit(main())
