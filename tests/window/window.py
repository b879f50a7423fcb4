#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=180
"""QEMU's own windows, GTK's and SDL's, on an X server without a screen (Xvfb): somebody who looks at that sees the picture of
the display controller, pixel by pixel, and the guest's monitor is as large as GTK's window.

TSR_WINDOW_QEMU is QEMU with its modules for windows (gui.sh). What the X server shows is in a file, as xwd writes it.
"""

import os
import struct
import subprocess
import sys
import tempfile
import time

from still import HEIGHT, PICTURE, WIDTH, Machine, noise, preferred, set_up
from tap import Tap

PATIENCE = 60
SCREEN = (1024, 768)
tap = Tap()


def wait(what):
    """What something says once it says something, or does not in time."""
    until = time.monotonic() + PATIENCE
    while True:
        said = what()
        if said or time.monotonic() > until:
            return said
        time.sleep(0.2)


class Display:
    """An X server of our own."""

    def __init__(self, directory):
        self.frame = os.path.join(directory, "Xvfb_screen0")
        ours, theirs = os.pipe()
        self.process = subprocess.Popen(["Xvfb", "-displayfd", str(theirs), "-screen", "0", "%dx%dx24" % SCREEN, "-fbdir", directory,
                                         "-nolisten", "tcp"], pass_fds=[theirs], stderr=subprocess.DEVNULL)
        os.close(theirs)
        with os.fdopen(ours) as f:
            self.name = ":" + f.readline().strip()

    def rows(self):
        """What is seen: a string of 32-bit pixels for each row, without the byte that means nothing."""
        with open(self.frame, "rb") as f:
            data = f.read()
        header = struct.unpack(">25I", data[:100])
        size, width, height, order, bits, pitch, colors = (header[n] for n in (0, 4, 5, 7, 11, 12, 19))
        assert (width, height) == SCREEN and bits == 32, "an XWD file of 32 bits a pixel"
        pixels = bytearray(data[size + 12 * colors:][:pitch * height])
        if order:
            pixels[0::4], pixels[1::4], pixels[2::4], pixels[3::4] = (pixels[n::4] for n in (3, 2, 1, 0))
        pixels[3::4] = bytes(len(pixels) // 4)
        return [bytes(pixels[y * pitch:y * pitch + 4 * width]) for y in range(height)]

    def find(self, picture, width):
        """Where a picture is, whole: x, y; None if it is nowhere."""
        want = [picture[at:at + 4 * width] for at in range(0, len(picture), 4 * width)]
        rows = self.rows()
        for y in range(SCREEN[1] - len(want) + 1):
            x = rows[y].find(want[0])
            if x >= 0 and all(rows[y + n][x:x + 4 * width] == row for n, row in enumerate(want)):
                return x // 4, y
        return None

    def sees(self, picture, width):
        return wait(lambda: self.find(picture, width))

    def quit(self):
        self.process.terminate()
        self.process.wait()


def start(kind, display, directory):
    # no GL: what SDL and GTK find there is no matter of ours
    env = dict(os.environ, DISPLAY=display.name, SDL_RENDER_DRIVER="software", GDK_BACKEND="x11", NO_AT_BRIDGE="1",
               XDG_RUNTIME_DIR=directory)
    return Machine(os.environ["TSR_WINDOW_QEMU"], directory, "-display", kind,
                   "-device", "tessera,id=gpu,addr=4,heads=1,threads=2", env=env)


def shows(machine, display, width, height):
    """A mode and a picture, and then another one."""
    pictures = [noise(n, width, height) for n in (1, 2)]
    machine.memory(PICTURE, pictures[0])
    tap.eq(set_up(machine, width, height) & 5, 1, "STATUS")
    tap.ok(display.sees(pictures[0], width), "the picture")
    tap.ok(not display.find(pictures[1], width), "not another one")
    machine.memory(PICTURE, pictures[1])
    tap.ok(display.sees(pictures[1], width), "what was drawn meanwhile")


def sdl(machine, display):
    """Its window is as large as the picture."""
    shows(machine, display, WIDTH, HEIGHT)


def gtk(machine, display):
    """Its window has a size, which the guest is told, and pictures of another one are scaled to it."""
    set_up(machine)
    size = wait(lambda: preferred(machine) != (1280, 800) and preferred(machine))
    tap.ok(size, "the monitor is as large as the window")
    if size:
        shows(machine, display, *size)


for kind, name, look in (("gtk", "GTK", gtk), ("sdl", "SDL", sdl)):
    with tap.test(f"[DISP1] a window of {name}'s shows the scan-out, pixel by pixel"), \
            tempfile.TemporaryDirectory(prefix="tessera-window-") as d:
        screen = Display(d)
        qemu = start(kind, screen, d)
        try:
            look(qemu, screen)
            tap.eq(qemu.quit() in (0, -15), True, "QEMU's end")
        finally:
            qemu.process.kill()
            screen.quit()

sys.exit(tap.finish())
