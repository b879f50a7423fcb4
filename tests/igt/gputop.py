#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=400
"""IGT's gputop, as it is, reads the driver's fdinfo: who uses which engines, how much, and how much memory.

TSR_IGT is what share.sh made.
"""

import os
import re
import sys

import variant
from guest import Guest
from tap import Tap

SHARE = os.environ["TSR_IGT"]
ENGINES = ["bin", "render", "compute", "copy"]
# While gputop looks, somebody copies; busy engines show between two looks at the same client.
COMMAND = "(while :; do copy >/dev/null; done) & load=$!; /mnt/run gputop -d 1 -n 12; status=$?; kill $load; exit $status"
CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# PID, memory, resident memory, the share of each engine followed by a bar, name
CLIENT = re.compile(r"^\s*(\d+)\s+(\d+)([BKMG]?)\s+(\d+)([BKMG]?) \|(.*)\|\s*(\S+)\s*$")
UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def clients(text):
    """[(memory, resident, [percent of each engine], name)] of all looks."""
    found = []
    for line in CONTROL.sub("", text).splitlines():
        m = CLIENT.match(line)
        if m:
            shares = [float(s) for s in re.findall(r"(\d+(?:\.\d+)?)%", m[6])]
            found.append((int(m[2]) * UNITS[m[3]], int(m[4]) * UNITS[m[5]], shares, m[7]))
    return found


def check(tap, text):
    seen = [c for c in clients(text) if c[3] == "copy"]
    with tap.test("[SYS9] gputop lists the engines and the client"):
        tap.ok(re.search(r"PID +MEM +RSS +" + " +".join(ENGINES) + r" +NAME", CONTROL.sub("", text)), "engines")
        tap.ok(seen, f"clients {clients(text)}")
    with tap.test("[SYS9] its share of the copy engine, and of no other"):
        tap.ok(all(len(c[2]) == len(ENGINES) for c in seen), "a share of each engine")
        tap.ok(any(c[2][3] > 0 for c in seen), f"the copy engine is never busy: {seen}")
        tap.ok(all(c[2][3] <= 100 and not any(c[2][:3]) for c in seen), f"{seen}")
    with tap.test("[SYS9] its memory, of which some is resident"):
        tap.ok(any(c[0] >= c[1] > 0 for c in seen), f"{seen}")


def main():
    tap = Tap()
    if not os.path.exists(os.path.join(SHARE, "tests", "gputop")):
        with tap.test("[SYS9] gputop lists the engines and the client"):
            tap.skip("this IGT comes without its tool gputop")
        return tap.finish()
    with Guest(share=SHARE) as guest:
        done = guest.run(COMMAND, 200)
        text = done.stdout.decode(errors="replace")
        with tap.test("[SYS9] gputop ends well, and the kernel has nothing to say"):
            tap.eq(done.status, 0, "status")
            tap.eq(variant.trouble(guest.console()), [], "the kernel says")
        check(tap, text)
        tap.note(CONTROL.sub("", text)[-600:])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
