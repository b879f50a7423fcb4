#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=600
"""The work of evict_many.c gives the same sums with 512 MiB of local memory, with 64 MiB, and with 64 MiB if the machine is
saved in the middle of it and goes on in another QEMU."""

import os
import re
import sys
import tempfile

from guest import Guest
from tap import Tap

tap = Tap()


def numbers(text):
    """(the sums, evictions) that evict_many has printed."""
    found = re.search(r"^evictions (\d+)$", text, re.M)
    return re.findall(r"^sum \d [0-9a-f]{16}$", text, re.M), int(found[1]) if found else None


def run(vram):
    with Guest(device_args=f"vram={vram}", smp=2) as guest:
        return numbers(guest.run("evict_many sums 2>&1", timeout=300).stdout.decode(errors="replace"))


def saved_in_the_middle(state, options):
    """The output of a run that was interrupted by a snapshot, and whether it had begun and not ended then."""
    with Guest(**options) as guest:
        guest.run("mkdir /tmp/h; evict_many sums /tmp/h/middle >/tmp/h/log 2>&1 & true")
        wait = "n=0; while [ ! -e /tmp/h/middle ] && [ $n -lt 6000 ]; do usleep 10000; n=$((n + 1)); done; "
        middle = guest.run(wait + "[ -e /tmp/h/middle ] && ! grep -q sum /tmp/h/log", timeout=200).status == 0
        guest.qmp("stop")
        guest.save(state)
        guest.kill()
    with Guest(incoming=f"file:{state}", **options) as guest:
        guest.wait_restored()
        command = "n=0; while pidof evict_many >/dev/null && [ $n -lt 9000 ]; do usleep 10000; n=$((n + 1)); done; cat /tmp/h/log"
        return guest.run(command, timeout=300).stdout.decode(errors="replace"), middle


with tap.test("[MEM7] 64 MiB of local memory give the sums of 512 MiB"):
    enough, none = run("512M")
    tap.eq(len(enough), 4, "sums")
    tap.eq(none, 0, "evictions with enough memory")
    little, some = run("64M")
    tap.eq(little, enough, "sums")
    tap.ok(some, "there are evictions with little memory")
    print(f"# {some} evictions")

with tap.test("[MEM7] also if the machine is saved and restored in the middle"):
    with tempfile.TemporaryDirectory(prefix="evict-", dir=os.environ.get("TSR_BUILD")) as directory:
        text, begun = saved_in_the_middle(os.path.join(directory, "state"), {"device_args": "vram=64M", "smp": 2})
    tap.ok(begun, "the snapshot was taken in the middle")
    tap.eq(numbers(text)[0], enough, "sums")
    tap.ok(numbers(text)[1], "there are evictions")

sys.exit(tap.finish())
