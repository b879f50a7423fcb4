#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1800
"""Debian's GL programs on the GPU's own screen: what they draw is seen by QEMU's screendump.

TSR_MESA_SHARE is what userspace/mesa/share.sh made with MESA_PACKAGES='kmscube weston'."""

import os
import re
import shutil
import sys
import tempfile
import time

import variant
from guest import Guest
from tap import Tap

tap = Tap()
SHARE = os.environ["TSR_MESA_SHARE"]
GRAY = (128, 128, 128)
WAIT = 300      # seconds for a picture to come on a loaded host; Mesa compiles shaders meanwhile

# kmscube ends when its standard input does; a seat is had without a daemon and without a console.
START = """export LIBSEAT_BACKEND=builtin SEATD_VTBOUND=0 WAYLAND_DISPLAY=wayland-1
[ -e /tmp/in ] || {{ mkfifo /tmp/in; sleep 100000 >/tmp/in & }}
timeout 600 /mnt/debian {command} </tmp/in >/tmp/{name}.log 2>&1 & echo $! >/tmp/{name}.pid"""


class Picture:
    """QEMU's screendump."""

    def __init__(self, guest, directory):
        self.path = os.path.join(directory, "screen.ppm")
        guest.qmp("screendump", filename=self.path, device="gpu0", head=0)
        with open(self.path, "rb") as f:
            _, size, _, self.pixels = f.read().split(b"\n", 3)
        self.width, self.height = (int(n) for n in size.split())

    def at(self, x, y):
        """A pixel, by parts of the width and height."""
        i = 3 * (int(y * (self.height - 1)) * self.width + int(x * (self.width - 1)))
        return tuple(self.pixels[i:i + 3])

    def colors(self):
        return len({self.pixels[i:i + 3] for i in range(0, len(self.pixels), 3)})

    def keep(self, name):
        """The last one that was taken, to be looked at: beside the results."""
        path = os.path.join(os.environ["TSR_BUILD"], "results-mesa", f"screen-{name}.ppm")
        shutil.copyfile(self.path, path)
        tap.note(f"{path}: corners {self.at(0, 0)} {self.at(1, 1)}, middle {self.at(0.5, 0.5)}, {self.colors()} colors")


def start(guest, name, command):
    guest.run(START.format(name=name, command=command))


def stop(guest, name):
    """End it, see it gone, and say what it had to say, without lists of extensions."""
    said = guest.run(f"p=$(cat /tmp/{name}.pid); kill $p; n=0; while [ -d /proc/$p ] && [ $n -lt 60 ]; do sleep 0.5; n=$((n + 1)); done; "
                     f"cat /tmp/{name}.log", 120).stdout.decode(errors="replace")
    return re.sub(r"( *\b(GL|EGL)_[A-Za-z0-9_]+)+", " ...", said)


def wait_for(guest, directory, good):
    """The first picture that is good, or the last one."""
    end = time.monotonic() + WAIT * variant.current().slow
    while True:
        picture = Picture(guest, directory)
        if good(picture) or time.monotonic() > end:
            return picture
        time.sleep(0.5)


def is_cube(picture):
    corners = {picture.at(x, y) for x in (0, 1) for y in (0, 1)}
    return corners == {GRAY} and picture.at(0.5, 0.5) != GRAY and picture.colors() > 1000


def cube(guest, directory, options):
    with tap.test(f"kmscube {options}".strip()):
        start(guest, "kmscube", f"kmscube {options}")
        first = wait_for(guest, directory, is_cube)
        second = wait_for(guest, directory, lambda p: p.pixels != first.pixels)
        said = stop(guest, "kmscube")
        tap.ok('renderer: "Tessera"' in said, "the renderer")
        tap.ok(is_cube(first), "a cube in the middle of a gray screen")
        tap.ok(is_cube(second) and first.pixels != second.pixels, "it turns")
        if not is_cube(first) or not is_cube(second):
            second.keep("kmscube" + options)
            tap.note(said[-2000:])


def start_weston(guest, options="", more=""):
    """With options of /mnt/debian, and more of weston's."""
    guest.run("mkdir -p -m 1777 /tmp/.X11-unix")
    start(guest, "weston", f"{options}weston --backend=drm --renderer=gl --continue-without-input --idle-time=0 {more}")
    guest.run(f"n=0; while [ $n -lt {WAIT} ] && [ ! -S /mnt/root/run/wayland-1 ]; do sleep 1; n=$((n + 1)); done", 2 * WAIT)


def weston(guest, directory):
    with tap.test("weston shows a client's dma-bufs with GL"):
        start_weston(guest)
        empty = wait_for(guest, directory, lambda p: p.colors() < 1000)
        start(guest, "client", "weston-simple-dmabuf-egl")
        shown = wait_for(guest, directory, lambda p: p.colors() > 10000)
        tap.ok(empty.colors() < 1000 and shown.colors() > 10000, f"the client's square: {empty.colors()}, {shown.colors()} colors")
        said = stop(guest, "client") + stop(guest, "weston")
        tap.ok("GL renderer" in said and "Tessera" in said, "the renderer")
        if shown.colors() <= 10000:
            shown.keep("weston")
            tap.note(said[-3000:])


def main():
    missing = [p for p in ("kmscube", "weston") if not os.path.exists(os.path.join(SHARE, "root", "usr", "bin", p))]
    if missing:
        with tap.test("GL programs on the GPU's own screen"):
            tap.skip(f"the archive has no {missing[0]}")
        return tap.finish()
    with tempfile.TemporaryDirectory(prefix="tessera-screen-") as directory, \
            Guest(device_args="heads=1", share=SHARE, boot_limit=900) as guest:
        cube(guest, directory, "")
        cube(guest, directory, "-A")
        weston(guest, directory)
        with tap.test("the kernel has nothing to say"):
            said = guest.run("dmesg | grep -E 'WARNING:|BUG:|Oops|blocked for more|rcu.*stall|tessera.*([Ee]rror|[Ff]ault|timed out|hang|reset|ban)'")
            tap.eq(said.stdout.decode(), "")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
