# SPDX-License-Identifier: MIT
"""A QEMU whose processor stands still and whose GPU shows a picture: the test is the driver, by QEMU's qtest protocol."""

import base64
import os
import re
import select
import socket
import struct
import subprocess
import time

TOP = os.environ["TSR_TOP"]
WIDTH, HEIGHT = 320, 200
NSEC_PER_SEC = 1000000000
BAR0, PICTURE, TABLES, VA = 0xE0000000, 0x1000000, 0x2000000, 0x40000000


class Registers:
    """The offsets that the test needs, from the generated header."""

    def __init__(self):
        script = os.path.join(TOP, "qemu-device/build/host/headers.sh")
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

    def __init__(self, qemu, directory, *args, env=None):
        path = os.path.join(directory, "qtest")
        self.process = subprocess.Popen(
            [qemu, "-L", os.path.join(os.path.dirname(qemu), "share"), "-M", "q35", "-m", "128", "-nodefaults", "-accel", "qtest",
             "-qtest-log", "none", "-qtest", f"unix:{path},server=on,wait=off", *args], env=env)
        self.qtest = Socket(path)

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


R = Registers()


def noise(seed, width=WIDTH, height=HEIGHT):
    """A picture: XRGB8888, X 0."""
    pixels, value = bytearray(), seed
    for _ in range(width * height):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
        pixels += struct.pack("<I", value >> 7 & 0xFFFFFF)
    return bytes(pixels)


def set_up(m, width=WIDTH, height=HEIGHT):
    """BARs, an address space 0 with the picture in it, a mode of 60 Hz. Gives STATUS. Once more: another mode."""
    h_total, v_total = width + 80, height + 50
    m.config(0x10, BAR0)
    m.config(0x04, 0x6)
    valid, leaf, read = R("PTE_VALID__MASK"), R("PTE_LEAF__MASK"), R("PTE_READ__MASK")
    level, index = TABLES, [VA >> shift & 511 for shift in (39, 30, 21)]
    for n in index:
        m.memory(level + 8 * n, struct.pack("<Q", level + 4096 | valid))
        level += 4096
    pages = range((4 * width * height + 4095) // 4096)
    m.memory(level, b"".join(struct.pack("<Q", PICTURE + 4096 * n | valid | leaf | read) for n in pages))
    m.write(R("AS__OFFSET") + R("AS_BASE__OFFSET"), TABLES | R("AS_BASE_VALID__MASK"))
    m.write(R("AS__OFFSET") + R("AS_COMMAND__OFFSET"), R("INV_OP_ALL"))
    head = R("DISPLAY__OFFSET")
    m.write(head + R("DISPLAY_MODE_H__OFFSET"), width | h_total << 16)
    m.write(head + R("DISPLAY_MODE_V__OFFSET"), height | v_total << 16)
    m.write(head + R("DISPLAY_MODE_CLOCK__OFFSET"), h_total * v_total * 60 // 1000)
    plane = head + R("DISPLAY_PLANE_ADDR__OFFSET")
    conversion = R("PIXEL_FORMAT_RGBA8_UNORM") << R("CONVERSION_FORMAT__SHIFT") | R("COMPONENT_ORDER_BGR1")
    for n, value in enumerate((VA, 0, conversion, 4 * width, 0xFFFF << 16, 0, width | height << 16, 0)):
        m.write(plane + 4 * n, value)
    m.write(head + R("DISPLAY_COMMIT__OFFSET"), R("DISPLAY_COMMIT_LATCH__MASK"))
    m.command("clock_step", NSEC_PER_SEC // 50)
    return m.read(head + R("DISPLAY_STATUS__OFFSET"))


def preferred(m):
    """The size in the first detailed timing of the monitor's EDID."""
    base = R("DISPLAY__OFFSET") + R("DISPLAY_EDID__OFFSET")
    edid = b"".join(struct.pack("<I", m.read(base + 4 * n)) for n in range(32))
    return edid[56] | (edid[58] & 0xF0) << 4, edid[59] | (edid[61] & 0xF0) << 4
