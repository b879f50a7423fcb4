#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=240
"""A snapshot with dispatches in flight: the machine is saved while two queues are in the middle of programs; a new QEMU process loads
it, and the guest program (compute_checkpoint.c) finds every result right.

That the queues were in that state is read from their registers while the machine stands still.
"""

import os
import sys
import tempfile

from guest import Guest, GuestError
from snapshot import Slots, wait_for


def save(state, seconds):
    """Boot, start programs that take about that long, save the machine. Returns (problem or None, states of the slots)."""
    with Guest() as guest:
        slots = Slots(guest)
        guest.run(f"mkdir /tmp/h; compute_checkpoint hold /tmp/h {seconds} >/tmp/h/log 2>&1 & true")
        if not wait_for(guest, "/tmp/h/armed", 60):
            return "the work was not started: " + guest.run("cat /tmp/h/log").stdout.decode(), []
        guest.qmp("stop")
        states = slots.states()
        guest.save(state)
        guest.kill()
    return None, states


def restore(state):
    """Load the state into a new process and let the work go on. Returns the program's output."""
    with Guest(incoming=f"file:{state}") as guest:
        guest.wait_restored()
        guest.run("touch /tmp/h/go")
        command = "n=0; while pidof compute_checkpoint >/dev/null && [ $n -lt 9000 ]; do usleep 10000; n=$((n + 1)); done; cat /tmp/h/log"
        return guest.run(command, timeout=150).stdout.decode(errors="replace")


def in_programs(states):
    """Both queues have begun their job and are on an engine or wait for one."""
    return sum(name in ("READY", "RUNNING") and in_call for name, in_call in states) == 2


def main():
    print("KTAP version 1")
    with tempfile.TemporaryDirectory(prefix="snapshot-", dir=os.environ.get("TSR_BUILD")) as directory:
        state = os.path.join(directory, "state")
        output, states, problem = "", [], None
        try:
            # on a host so busy that the programs were over too soon, again with longer ones
            for seconds in (3, 10, 30):
                problem, states = save(state, seconds)
                if problem or in_programs(states):
                    break
            if not problem:
                output = restore(state)
        except GuestError as error:
            problem = str(error)
    shown = ", ".join(f"{n} {s}" for n, (s, _) in enumerate(states) if s != "DISABLED")
    for line in (f"queues at the snapshot: {shown}\n{problem or ''}\n{output}").splitlines():
        print("# " + line)
    lines = output.splitlines()
    right = not problem and any(line.startswith("1..") for line in lines) and \
        not any(line.startswith(("not ok", "Bail")) for line in lines)
    middle = in_programs(states)
    print(f"{'ok' if middle else 'not ok'} 1 - the machine is saved in the middle of two dispatches")
    print(f"{'ok' if right else 'not ok'} 2 - [SYS8] a new QEMU process goes on to the right result")
    print("1..2")
    return 0 if middle and right else 1


if __name__ == "__main__":
    sys.exit(main())
