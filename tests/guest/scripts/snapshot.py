#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""A snapshot under load: the machine is saved while queues are blocked on a semaphore, a ring is full behind a wait and a copy is
half done; a new QEMU process loads it, and the guest program (checkpoint.c) finds every result right.

That the device was in that state is read from its registers while the machine stands still, through QEMU's monitor.
"""

import os
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from guest import TOP, Guest, GuestError

DEVICE = "vram=64M"


class Slots:
    """The queue slots of a device, seen from the monitor of a stopped machine."""

    def __init__(self, guest):
        description = ElementTree.parse(os.path.join(TOP, "Documentation/hw/registers.xml")).getroot()
        block = description.find("block[@name='QUEUE']")
        state = block.find("reg[@name='STATE']")
        self.guest = guest
        self.base = int(block.get("offset"), 0) + int(state.get("offset"), 0)
        self.stride = int(block.get("stride"), 0)
        self.count = int(block.get("count"), 0)
        self.fields = {f.get("name"): [int(bit) for bit in f.get("bits").split(":")] for f in state.findall("field")}
        self.names = {int(v.get("value"), 0): v.get("name")
                      for v in description.find("enum[@name='QUEUE_STATE']").findall("value")}
        command = "for d in /sys/bus/pci/devices/*; do [ $(cat $d/device) != 0x7e55 ] || head -n 1 $d/resource; done"
        self.bar = int(guest.run(command).stdout.split()[0], 0)

    def field(self, word, name):
        high, low = self.fields[name]
        return word >> low & (1 << (high - low + 1)) - 1

    def states(self):
        """(state's name, IN_CALL) of each slot."""
        result = []
        for slot in range(self.count):
            text = self.guest.hmp(f"xp /1wx {self.bar + self.base + slot * self.stride:#x}")
            word = int(text.split(":")[1], 16)
            result.append((self.names[self.field(word, "STATE")], self.field(word, "IN_CALL")))
        return result


def wait_for(guest, path, seconds):
    """Wait until a file exists in the guest; whether it came."""
    command = f"n=0; while [ ! -e {path} ] && [ $n -lt {seconds * 100} ]; do usleep 10000; n=$((n + 1)); done; [ -e {path} ]"
    return guest.run(command, timeout=seconds + 30).status == 0


def save(state, program, seconds, **options):
    """Boot a guest with these options, start what of the program takes about that long, save the machine.

    Returns (problem or None, states of the slots)."""
    with Guest(**options) as guest:
        slots = Slots(guest)
        guest.run(f"mkdir /tmp/h; {program} hold /tmp/h {seconds} >/tmp/h/log 2>&1 & true")
        if not wait_for(guest, "/tmp/h/armed", 60):
            return "the work was not started: " + guest.run("cat /tmp/h/log").stdout.decode(), []
        guest.qmp("stop")
        states = slots.states()
        guest.save(state)
        guest.kill()
    return None, states


def restore(state, program, **options):
    """Load the state into a new process and let the work go on. Returns the program's output."""
    with Guest(incoming=f"file:{state}", **options) as guest:
        guest.wait_restored()
        guest.run("touch /tmp/h/go")
        command = f"n=0; while pidof {program} >/dev/null && [ $n -lt 9000 ]; do usleep 10000; n=$((n + 1)); done; cat /tmp/h/log"
        return guest.run(command, timeout=150).stdout.decode(errors="replace")


def shown(states):
    """The slots in use as one line of a test's output."""
    return ", ".join(f"{n} {s}" for n, (s, _) in enumerate(states) if s != "DISABLED")


def all_right(output):
    """Whether the program's KTAP output says that all its tests passed."""
    lines = output.splitlines()
    return any(line.startswith("1..") for line in lines) and not any(line.startswith(("not ok", "Bail")) for line in lines)


def half_done(states):
    """Two queues are blocked and a third is in the middle of its job, on an engine or waiting for one."""
    return [s for s, _ in states].count("BLOCKED") == 2 and \
        any(s in ("READY", "RUNNING") and in_call for s, in_call in states)


def attempt(state):
    """Save and restore; on a host so busy that the copies were over too soon, again with longer ones."""
    for seconds in (2, 8, 30):
        problem, states = save(state, "checkpoint", seconds, device_args=DEVICE)
        if problem or half_done(states):
            break
    print(f"# queues at the snapshot: {shown(states)}")
    return problem, half_done(states)


def main():
    print("KTAP version 1")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="snapshot-", dir=os.environ.get("TSR_BUILD")) as directory:
        state = os.path.join(directory, "state")
        output, middle, size = "", False, 0
        try:
            problem, middle = attempt(state)
            if not problem:
                size = os.path.getsize(state)
                output = restore(state, "checkpoint", device_args=DEVICE)
        except GuestError as error:
            problem = str(error)
    for line in ((problem or "") + "\n" + output).splitlines():
        print("# " + line)
    right = not problem and all_right(output)
    print(f"# {size >> 20} MiB of state, {time.monotonic() - start:.1f} s")
    print(f"{'ok' if middle else 'not ok'} 1 - the machine is saved with blocked queues and a copy half done")
    print(f"{'ok' if right else 'not ok'} 2 - [SYS8] a new QEMU process goes on to the right result")
    print("1..2")
    return 0 if middle and right else 1


if __name__ == "__main__":
    sys.exit(main())
