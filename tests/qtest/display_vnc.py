#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=60
"""A picture of the display controller as a viewer gets it: a client of the RFB protocol (RFC 6143), written for this test,
reads it from QEMU's VNC server, compares every pixel, and makes the window another size, which the guest's monitor follows.
"""

import os
import struct
import subprocess
import sys
import tempfile
import time

from still import HEIGHT, PICTURE, WIDTH, Machine, R, Socket, noise, preferred, set_up
from tap import Tap

tap = Tap()
QEMU = os.environ["TSR_QEMU"]


class Viewer:
    """An RFB client: raw rectangles of 32 bits a pixel, and the desktop's size."""

    RAW, DESKTOP_SIZE, EXTENDED_DESKTOP_SIZE = 0, -223, -308

    def __init__(self, path):
        self.s = Socket(path)
        assert self.s.take(12).startswith(b"RFB 003."), "a VNC server"
        self.s.send(b"RFB 003.008\n")
        assert 1 in self.s.take(self.s.take(1)[0]), "no authentication"
        self.s.send(b"\1")
        assert self.s.unpack("I") == (0,), "SecurityResult"
        self.s.send(b"\1")
        self.size = self.s.unpack("HH")
        self.s.take(16)
        self.s.take(self.s.unpack("I")[0])
        # 32 bits, depth 24, little-endian, true color, red at 16
        self.s.send(struct.pack(">B3xBBBBHHHBBB3x", 0, 32, 24, 0, 1, 255, 255, 255, 16, 8, 0))
        codes = (self.RAW, self.DESKTOP_SIZE, self.EXTENDED_DESKTOP_SIZE)
        self.s.send(struct.pack(">BxH", 2, len(codes)) + b"".join(struct.pack(">i", c) for c in codes))
        self.screen = bytearray(4 * self.size[0] * self.size[1])

    def ask(self, incremental):
        self.s.send(struct.pack(">BBHHHH", 3, incremental, 0, 0, *self.size))

    def resize(self, width, height):
        """SetDesktopSize, with one screen."""
        self.s.send(struct.pack(">BxHHBxIHHHHI", 251, width, height, 1, 0, 0, 0, width, height, 0))

    def update(self):
        """One message of the server's."""
        kind = self.s.take(1)[0]
        if kind == 2:
            return
        assert kind == 0, f"message {kind}"
        for _ in range(self.s.unpack("xH")[0]):
            x, y, width, height, code = self.s.unpack("HHHHi")
            if code == self.RAW:
                for row in range(height):
                    at = 4 * ((y + row) * self.size[0] + x)
                    self.screen[at:at + 4 * width] = self.s.take(4 * width)
                continue
            if code == self.EXTENDED_DESKTOP_SIZE:
                self.s.take(3 + self.s.take(1)[0] * 16)
            if (width, height) != self.size:
                self.size = (width, height)
                self.screen = bytearray(4 * width * height)

    def pixels(self):
        """Without the byte that means nothing."""
        screen = bytearray(self.screen)
        screen[3::4] = bytes(len(screen) // 4)
        return bytes(screen)

    def sees(self, want, seconds=20):
        until = time.monotonic() + seconds
        self.ask(0)
        while self.s.ready(max(0, until - time.monotonic())):
            self.update()
            if self.pixels() == want:
                return True
            self.ask(1)
        return False


answer = subprocess.run([QEMU, "-help"], capture_output=True, text=True, check=False).stdout
if "-vnc" not in answer:
    with tap.test("[DISP1] a viewer by VNC"):
        tap.skip("this QEMU is built without VNC")
    sys.exit(tap.finish())

with tempfile.TemporaryDirectory(prefix="tessera-vnc-") as directory:
    vnc = os.path.join(directory, "vnc")
    machine = Machine(QEMU, directory, "-display", "none", "-vnc", f"unix:{vnc}", "-device", "tessera,id=gpu,addr=4,heads=1,threads=2")
    with tap.test("[DISP1] a viewer by VNC sees the scan-out, pixel by pixel"):
        picture = noise(1)
        machine.memory(PICTURE, picture)
        tap.eq(set_up(machine) & 5, 1, "STATUS")
        viewer = Viewer(vnc)
        tap.ok(viewer.sees(picture), "the picture")
        tap.eq(viewer.size, (WIDTH, HEIGHT), "size")
        changed = noise(2)
        tap.ok(not viewer.sees(changed, 1), "not another one")
        machine.memory(PICTURE, changed)
        tap.ok(viewer.sees(changed), "what was drawn meanwhile")
    with tap.test("[DISP1] the monitor is as large as the viewer's window"):
        tap.eq(preferred(machine), (1280, 800), "before")
        viewer.resize(1024, 600)
        for _ in range(200):
            if preferred(machine) == (1024, 600):
                break
            time.sleep(0.05)
        tap.eq(preferred(machine), (1024, 600), "after")
        tap.ok(machine.read(R("IRQ__OFFSET") + 5 * R("IRQ__STRIDE")) & 4, "HOTPLUG")
        tap.ok(viewer.sees(changed), "the picture is still there")
    tap.eq(machine.quit() in (0, -15), True, "QEMU's end")

sys.exit(tap.finish())
