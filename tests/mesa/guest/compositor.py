#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1800
"""A compositor survives the faults of other clients: drm-contract runs rows of the recovery contract beside weston and a client that draws.

After each row weston and its client are the same processes, the picture is there, and it moves. The row itself must be as the contract
says, with weston as one more user of the GPU. TSR_MESA_SHARE is what userspace/mesa/share.sh made with MESA_PACKAGES=weston."""

import os
import sys
import tempfile

import variant
from guest import Guest
from tap import Tap

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import screen  # noqa: E402

DEVICE = "heads=1,vram=64M,inject-window=on"
KERNEL = "tessera.job_timeout_ms=1000 tessera.job_limit_ms=60000"
# Faults of one queue cost nobody else anything. After the others the device was reset, and jobs of the compositor may be lost.
ROWS = "endless", "bad-address", "hang-queue", "killed", "hang-stop-stuck", "reset-device", "reset-function"
LIMIT = 300
PROGRAMS = "weston", "client"
COLORS = 10000          # of a picture with the client's square

tap = Tap()


def running(guest):
    """The numbers of the processes that still run; "timeout" has started each."""
    found = {}
    for name in PROGRAMS:
        done = guest.run(f"p=$(cat /tmp/{name}.pid); [ -d /proc/$p ] && pgrep -P $p | head -n 1")
        found[name] = done.stdout.decode().strip()
    return found


def check_row(guest, directory, row, before):
    with tap.test(f"weston, its client and the picture survive {row}"):
        done = guest.run(f"drm-contract --destructive --row {row} 2>&1", LIMIT * variant.current().slow)
        said = done.stdout.decode(errors="replace")
        tap.eq([line for line in said.splitlines() if " violated: " in line], [], "violated rules")
        tap.eq(done.status, 0, "the row's status")
        tap.eq(running(guest), before, "processes")
        first = screen.wait_for(guest, directory, lambda p: p.colors() > COLORS)
        second = screen.wait_for(guest, directory, lambda p: p.pixels != first.pixels)
        tap.ok(first.colors() > COLORS, f"the picture has {first.colors()} colors")
        tap.ok(second.pixels != first.pixels, "the picture moves")


def main():
    if not os.path.exists(os.path.join(screen.SHARE, "root", "usr", "bin", "weston")):
        with tap.test("a compositor survives faults of others"):
            tap.skip("the archive has no weston")
        return tap.finish()
    with tempfile.TemporaryDirectory(prefix="tessera-compositor-") as directory, \
            Guest(device_args=DEVICE, kernel_args=KERNEL, share=screen.SHARE, boot_limit=900) as guest:
        with tap.test("weston shows its client"):
            screen.start_weston(guest)
            screen.start(guest, "client", "weston-simple-dmabuf-egl")
            shown = screen.wait_for(guest, directory, lambda p: p.colors() > COLORS)
            tap.ok(shown.colors() > COLORS, f"{shown.colors()} colors")
        before = running(guest)
        tap.ok(all(before.values()), f"processes: {before}")
        for row in ROWS:
            check_row(guest, directory, row, before)
        said = screen.stop(guest, "client") + screen.stop(guest, "weston")
        tap.note(said[-2000:])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
