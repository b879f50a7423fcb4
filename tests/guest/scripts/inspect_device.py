#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=240
"""The way of Documentation/start/debugging.md, on a machine at work: registers, page tables, rings and streams are read through
QEMU's monitor while it stands still, and tsr-decode makes sense of every word of them.

What the driver has written is thus seen by two that share no code with it: the decoder, and a walk through the page tables
written here from Documentation/hw/memory.md. checkpoint.c has a queue that waits for a semaphore with one job, and one with a
hundred.
"""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from guest import TOP, Guest
from tap import Tap

USERSPACE = os.path.join(os.environ["TSR_BUILD"], "userspace")
DEVICE = "vram=64M"
tap = Tap()


def constant(name):
    """A constant of the hardware description."""
    for page in ("registers", "packets", "mmu"):
        root = ElementTree.parse(os.path.join(TOP, f"Documentation/hw/{page}.xml")).getroot()
        for const in root.findall("const"):
            if const.get("name") == name:
                return int(const.get("value"), 0)
    raise KeyError(name)


def decode(data, *options):
    """What tsr-decode finds: the list of its JSON, and its exit status."""
    done = subprocess.run([os.path.join(USERSPACE, "bin", "tsr-decode"), "--json", *options, "-"], input=data,
                          capture_output=True, check=False,
                          env=dict(os.environ, LD_LIBRARY_PATH=os.path.join(USERSPACE, "lib")))
    if not done.stdout:
        raise RuntimeError(done.stderr.decode())
    return json.loads(done.stdout), done.returncode


class Device:
    """Registers and memory of a machine; made while it runs, to be used when it stands still."""

    def __init__(self, guest):
        self.guest = guest
        command = "for d in /sys/bus/pci/devices/*; do [ $(cat $d/device) != 0x7e55 ] || head -n 3 $d/resource; done"
        lines = guest.run(command).stdout.split(b"\n")
        self.bar, self.local = int(lines[0].split()[0], 0), int(lines[2].split()[0], 0)

    def registers(self, offset, words):
        """name → (value, fields) of a piece of the register BAR, and whether all of it made sense."""
        text = self.guest.hmp(f"xp /{words}wx {self.bar + offset:#x}")
        items, status = decode(text.encode(), "--regs", "--base", hex(self.bar))
        return {item["name"]: (int(item["value"], 0), item["fields"]) for item in items}, status == 0

    def read(self, address, size):
        """Bytes of physical memory."""
        text = self.guest.hmp(f"xp /{size // 8}gx {address:#x}")
        words = [word for line in text.splitlines() for word in line.split(":")[1].split()]
        return b"".join(int(word, 16).to_bytes(8, "little") for word in words)

    def translate(self, root, levels, va, permission):
        """The physical address of a GPU address, by the walk of memory.md."""
        entry = root
        for level in reversed(range(levels)):
            table = (entry & 0xffffffffff000) + (self.local if entry & 0x40 else 0)
            entry = int.from_bytes(self.read(table + 8 * (va >> (12 + 9 * level) & 511), 8), "little")
            if not entry & 1:
                raise RuntimeError(f"{va:#x} is not mapped (level {level})")
            if entry & 2:
                break
        if not entry & permission:
            raise RuntimeError(f"{va:#x} does not allow the access: entry {entry:#x}")
        inside = (1 << (12 + 9 * level)) - 1
        base = (entry & 0xffffffffff000 & ~inside) + (self.local if entry & 0x40 else 0)
        return base + (va & inside)

    def fetch(self, root, levels, va, size):
        """Bytes that the command processor would fetch."""
        data = b""
        while len(data) < size:
            piece = min(size - len(data), 4096 - (va + len(data)) % 4096)
            data += self.read(self.translate(root, levels, va + len(data), 0x10), piece)
        return data


class Queue:
    """An enabled slot: its registers, its ring's packets, and the streams they call."""

    def __init__(self, device, slot, levels):
        registers, self.sound = device.registers(0x10000 + 0x400 * slot, 128)
        prefix = f"QUEUE[{slot}]."
        self.fields = {name[len(prefix):]: fields for name, (_value, fields) in registers.items()}
        value = {name[len(prefix):]: value for name, (value, _fields) in registers.items()}
        self.state = self.fields["STATE"]["STATE"]
        if self.state == "DISABLED":
            return
        spaces = self.fields["ADDRESS_SPACES"]
        roots = [device.registers(0x8000 + 0x40 * n, 16)[0][f"AS[{n}].BASE"][0]
                 for n in (spaces["RING_AS"], spaces["USER_AS"])]
        ring = device.fetch(roots[0], levels, value["RING_BASE"], 1 << self.fields["CONFIG"]["RING_LOG2"])
        engine = self.fields["CONFIG"]["CLASS"]
        self.ring, status = decode(ring, "--ring", "--base", hex(value["RING_BASE"]), "--rptr", str(value["RPTR"]),
                                   "--wptr", str(value["WPTR"]), "--class", engine)
        self.sound &= status == 0
        self.streams = []
        for packet in self.ring:
            if packet["name"] == "CALL":
                va, size = int(packet["fields"]["ADDR"], 0), packet["fields"]["SIZE"]
                stream, status = decode(device.fetch(roots[1], levels, va, size), "--base", hex(va), "--class", engine)
                self.streams.append([item["name"] for item in stream])
                self.sound &= status == 0


def inspect(device):
    """Look at everything; the queues that are enabled."""
    with tap.test("registers of the device make sense"):
        registers, sound = device.registers(0, 64)
        tap.ok(sound, "no error in the registers of GPU")
        tap.eq(registers["GPU.MAGIC"][0], constant("MAGIC"))
        tap.eq(registers["GPU.LOCAL_SIZE"][0], 64 << 20)
    levels = registers["GPU.VA"][1]["LEVELS"]
    queues = []
    with tap.test("every word of every ring and of the streams it calls makes sense"):
        for slot in range(registers["GPU.SLOTS"][1]["QUEUES"]):
            queue = Queue(device, slot, levels)
            tap.ok(queue.sound, f"no error in slot {slot}")
            if queue.state != "DISABLED":
                queues.append(queue)
    return queues


with Guest(device_args=DEVICE) as machine:
    machine.run("mkdir /tmp/h; checkpoint hold /tmp/h 2 >/tmp/h/log 2>&1 & true")
    wait = "n=0; while [ ! -e /tmp/h/armed ] && [ $n -lt 6000 ]; do usleep 10000; n=$((n + 1)); done; [ -e /tmp/h/armed ]"
    armed = machine.run(wait).status == 0
    if not armed:
        tap.note(machine.run("cat /tmp/h/log").stdout.decode())
    seen = Device(machine)
    machine.qmp("stop")
    found = inspect(seen)
    blocked = [queue for queue in found if queue.state == "BLOCKED"]
    with tap.test("[SYS6] the waiting queues hold calls of the streams that user space wrote, and fences"):
        tap.ok(armed, "the work was started")
        tap.eq(sorted(len(queue.streams) for queue in blocked), [1, 100], "jobs of the waiting queues")
        for queue in blocked:
            names = {packet["name"] for packet in queue.ring}
            tap.ok({"CALL", "FENCE"} <= names, f"packets {sorted(names)}")
            tap.ok(not names & {"WAIT", "COPY_LINEAR", "SIGNAL"}, "no user packet stands in a ring")
            expected = ["WAIT", "COPY_LINEAR"] if len(queue.streams) == 1 else ["WAIT", "SIGNAL"]
            tap.eq([stream for stream in queue.streams if stream[:2] != expected], [], "streams unlike those written")
    with tap.test("fences of a ring write ascending values"):
        for queue in found:
            values = [int(p["fields"]["VALUE"], 0) for p in queue.ring if p["name"] == "FENCE" and p["fields"]["IRQ"]]
            tap.ok(values == sorted(set(values)), f"values {values}")
    machine.qmp("cont")
    machine.run("touch /tmp/h/go")
    with tap.test("the machine goes on as if nobody had looked"):
        machine.run("n=0; while pidof checkpoint >/dev/null && [ $n -lt 6000 ]; do usleep 10000; n=$((n + 1)); done")
        log = machine.run("cat /tmp/h/log").stdout.decode()
        tap.ok("not ok" not in log and "\n1.." in log, log)
sys.exit(tap.finish())
