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

from guest import GuestError
from snapshot import all_right, restore, save, shown


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
                problem, states = save(state, "compute_checkpoint", seconds)
                if problem or in_programs(states):
                    break
            if not problem:
                output = restore(state, "compute_checkpoint")
        except GuestError as error:
            problem = str(error)
    for line in (f"queues at the snapshot: {shown(states)}\n{problem or ''}\n{output}").splitlines():
        print("# " + line)
    right = not problem and all_right(output)
    middle = in_programs(states)
    print(f"{'ok' if middle else 'not ok'} 1 - the machine is saved in the middle of two dispatches")
    print(f"{'ok' if right else 'not ok'} 2 - [SYS8] a new QEMU process goes on to the right result")
    print("1..2")
    return 0 if middle and right else 1


if __name__ == "__main__":
    sys.exit(main())
