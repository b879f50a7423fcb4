#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=60
"""A picture of the display controller as a viewer gets it: a client of the RFB protocol (RFC 6143), written for this test,
reads it from QEMU's VNC server, compares every pixel, and makes the window another size, which the guest's monitor follows.

The test is the driver, by QEMU's qtest protocol: the processor stands still.
"""

import base64
import os
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time

from tap import Tap

tap = Tap()
QEMU, SHARE, TOP = (os.environ[n] for n in ("TSR_QEMU", "TSR_QEMU_SHARE", "TSR_TOP"))
WIDTH, HEIGHT, H_TOTAL, V_TOTAL, CLOCK_KHZ = 320, 200, 400, 250, 6000
BAR0, PICTURE, TABLES, VA = 0xE0000000, 0x1000000, 0x2000000, 0x40000000


class Registers:
    """The offsets that the test needs, from the generated header."""

    def __init__(self):
        script = os.path.join(TOP, "qemu-device/build/headers.sh")
        directory = subprocess.run(["bash", script], capture_output=True, text=True, check=True).stdout.strip()
        with open(os.path.join(directory, "tsr_regs.h"), encoding="utf-8") as f:
            self.text = f.read()

    def __call__(self, name):
        match = re.search(rf"#define TSR_{name}\s+(0x[0-9a-fA-F]+|\d+)|\bTSR_{name} = (0x[0-9a-fA-F]+|\d+)", self.text)
        return int(match[1] or match[2], 0)


class Socket:
    """A unix socket, read by lines or by bytes."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        for _ in range(500):
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.02)
        self.left = bytearray()

    def send(self, data):
        self.socket.sendall(data)

    def more(self):
        data = self.socket.recv(1 << 20)
        assert data, "the server hangs up"
        self.left += data

    def take(self, size):
        while len(self.left) < size:
            self.more()
        data = bytes(self.left[:size])
        del self.left[:size]
        return data

    def line(self):
        while b"\n" not in self.left:
            self.more()
        return self.take(self.left.index(b"\n") + 1)

    def ready(self, seconds):
        return bool(self.left or select.select([self.socket], [], [], seconds)[0])

    def unpack(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))


class Machine:
    """A QEMU whose processor stands still, and which the test drives."""

    def __init__(self, directory, *args):
        self.paths = {n: os.path.join(directory, n) for n in ("qtest", "vnc")}
        self.process = subprocess.Popen(
            [QEMU, "-L", SHARE, "-M", "q35", "-m", "128", "-nodefaults", "-accel", "qtest", "-display", "none",
             "-qtest-log", "none", "-qtest", f"unix:{self.paths['qtest']},server=on,wait=off", "-vnc", f"unix:{self.paths['vnc']}", *args])
        self.qtest = Socket(self.paths["qtest"])

    def command(self, *words):
        self.qtest.send((" ".join(w if isinstance(w, str) else hex(w) for w in words) + "\n").encode())
        while True:
            answer = self.qtest.line().split()
            if answer[0] == b"OK":
                return answer[1:]
            assert answer[0] == b"IRQ", answer

    def config(self, offset, value):
        self.command("outl", 0xCF8, 0x80000000 | 4 << 11 | offset)
        self.command("outl", 0xCFC, value)

    def write(self, reg, value):
        self.command("writel", BAR0 + reg, value)

    def read(self, reg):
        return int(self.command("readl", BAR0 + reg)[0], 0)

    def memory(self, addr, data):
        for at in range(0, len(data), 4096):
            part = data[at:at + 4096]
            self.command("b64write", addr + at, len(part), base64.b64encode(part).decode())

    def quit(self):
        self.process.terminate()
        return self.process.wait(20)


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


R = Registers()


def noise(seed):
    """A picture: XRGB8888, X 0."""
    pixels, value = bytearray(), seed
    for _ in range(WIDTH * HEIGHT):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
        pixels += struct.pack("<I", value >> 7 & 0xFFFFFF)
    return bytes(pixels)


def set_up(m):
    """BARs, an address space 0 with the picture in it, a mode."""
    m.config(0x10, BAR0)
    m.config(0x04, 0x6)
    valid, leaf, read = R("PTE_VALID__MASK"), R("PTE_LEAF__MASK"), R("PTE_READ__MASK")
    level, index = TABLES, [VA >> shift & 511 for shift in (39, 30, 21)]
    for n in index:
        m.memory(level + 8 * n, struct.pack("<Q", level + 4096 | valid))
        level += 4096
    pages = range((4 * WIDTH * HEIGHT + 4095) // 4096)
    m.memory(level, b"".join(struct.pack("<Q", PICTURE + 4096 * n | valid | leaf | read) for n in pages))
    m.write(R("AS__OFFSET") + R("AS_BASE__OFFSET"), TABLES | R("AS_BASE_VALID__MASK"))
    m.write(R("AS__OFFSET") + R("AS_COMMAND__OFFSET"), R("INV_OP_ALL"))
    head = R("DISPLAY__OFFSET")
    m.write(head + R("DISPLAY_MODE_H__OFFSET"), WIDTH | H_TOTAL << 16)
    m.write(head + R("DISPLAY_MODE_V__OFFSET"), HEIGHT | V_TOTAL << 16)
    m.write(head + R("DISPLAY_MODE_CLOCK__OFFSET"), CLOCK_KHZ)
    plane = head + R("DISPLAY_PLANE_ADDR__OFFSET")
    conversion = R("PIXEL_FORMAT_RGBA8_UNORM") << R("CONVERSION_FORMAT__SHIFT") | R("COMPONENT_ORDER_BGR1")
    for n, value in enumerate((VA, 0, conversion, 4 * WIDTH, 0xFFFF << 16, 0, WIDTH | HEIGHT << 16, 0)):
        m.write(plane + 4 * n, value)
    m.write(head + R("DISPLAY_COMMIT__OFFSET"), R("DISPLAY_COMMIT_LATCH__MASK"))
    return m.read(head + R("DISPLAY_STATUS__OFFSET"))


def preferred(m):
    """The size in the first detailed timing of the monitor's EDID."""
    base = R("DISPLAY__OFFSET") + R("DISPLAY_EDID__OFFSET")
    edid = b"".join(struct.pack("<I", m.read(base + 4 * n)) for n in range(32))
    return edid[56] | (edid[58] & 0xF0) << 4, edid[59] | (edid[61] & 0xF0) << 4


answer = subprocess.run([QEMU, "-help"], capture_output=True, text=True, check=False).stdout
if "-vnc" not in answer:
    with tap.test("[DISP1] a viewer by VNC"):
        tap.skip("this QEMU is built without VNC")
    sys.exit(tap.finish())

with tempfile.TemporaryDirectory(prefix="tessera-vnc-") as directory:
    machine = Machine(directory, "-device", "tessera,id=gpu,addr=4,heads=1,threads=2")
    with tap.test("[DISP1] a viewer by VNC sees the scan-out, pixel by pixel"):
        picture = noise(1)
        machine.memory(PICTURE, picture)
        tap.eq(set_up(machine) & 5, 1, "STATUS")
        viewer = Viewer(machine.paths["vnc"])
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
