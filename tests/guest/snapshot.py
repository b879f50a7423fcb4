#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=240
"""A snapshot under load: the machine is saved while one queue is blocked on a semaphore, one ring is full behind a wait and one
copy is half done; a new QEMU process loads it, and the guest program (checkpoint.c) finds every result right."""

import os
import sys
import tempfile
import time

from guest import Guest, GuestError

DEVICE = "vram=64M"


def wait_for(guest, path, seconds):
    """Wait until a file exists in the guest; whether it came."""
    command = f"n=0; while [ ! -e {path} ] && [ $n -lt {seconds * 100} ]; do usleep 10000; n=$((n + 1)); done; [ -e {path} ]"
    return guest.run(command, timeout=seconds + 30).status == 0


def save(state):
    """Boot, start the work, save the machine in the middle of it. Returns an error, or None."""
    with Guest(device_args=DEVICE) as guest:
        guest.run("mkdir /tmp/h; checkpoint hold /tmp/h >/tmp/h/log 2>&1 & true")
        if not wait_for(guest, "/tmp/h/armed", 60):
            return "the work was not started: " + guest.run("cat /tmp/h/log").stdout.decode()
        guest.save(state)
        guest.kill()
    return None


def restore(state):
    """Load the state into a new process and let the work go on. Returns the program's output."""
    with Guest(device_args=DEVICE, incoming=f"file:{state}") as guest:
        guest.wait_restored()
        guest.run("touch /tmp/h/go")
        command = "n=0; while pidof checkpoint >/dev/null && [ $n -lt 6000 ]; do usleep 10000; n=$((n + 1)); done; cat /tmp/h/log"
        return guest.run(command, timeout=120).stdout.decode(errors="replace")


def main():
    print("KTAP version 1")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="snapshot-", dir=os.environ.get("TSR_BUILD")) as directory:
        state = os.path.join(directory, "state")
        output, size = "", 0
        try:
            problem = save(state)
            if not problem:
                size = os.path.getsize(state)
                output = restore(state)
        except GuestError as error:
            problem = str(error)
    for line in ((problem or "") + "\n" + output).splitlines():
        print("# " + line)
    lines = output.splitlines()
    right = not problem and any(line.startswith("1..") for line in lines) and \
        not any(line.startswith(("not ok", "Bail")) for line in lines)
    saved = not problem and size > 1 << 20
    print(f"# {size >> 20} MiB of state, {time.monotonic() - start:.1f} s")
    print(f"{'ok' if saved else 'not ok'} 1 - the machine is saved under load")
    print(f"{'ok' if right else 'not ok'} 2 - [SYS8] a new QEMU process goes on to the right result")
    print("1..2")
    return 0 if saved and right else 1


if __name__ == "__main__":
    sys.exit(main())
