#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=240
"""Guests that are restored from a snapshot instead of booted: the same guest, with time and randomness of its own."""

import os
import sys
import tempfile
import time

import saved
from guest import Guest
from tap import Tap

tap = Tap()
CLOCK_SLACK = 5                 # seconds between host and guest, on a loaded host
LOOK = "head -c 32 /dev/urandom; cat /proc/sys/kernel/random/boot_id"


def guest(**options):
    return Guest(accel="tcg", fresh=False, **options)


def snapshots():
    return [os.path.join(saved.directory(), n) for n in os.listdir(saved.directory())]


def seen(g):
    """What two guests of one snapshot must not have in common; the guest's clock is compared with the host's."""
    before = time.time()
    now = float(g.run("date +%s").stdout)
    tap.ok(before - 1 - CLOCK_SLACK <= now <= time.time() + CLOCK_SLACK, f"clock {now}, on the host {before}")
    return g.run(LOOK).stdout


if not os.environ.get("TSR_BASE"):
    with tap.test("guests are restored"):
        tap.skip("guests with this kernel are not saved (VARIANT=, KERNEL=)")
    sys.exit(tap.finish())

cache = tempfile.TemporaryDirectory()
os.environ["TESSERA_CACHE"] = cache.name

with tap.test("the first guest boots and is saved, and goes on"):
    with guest() as g:
        tap.eq((g.restored, len(snapshots())), (False, 1), "restored, snapshots")
        first = seen(g)
        tap.eq(g.run("touch /tmp/mark; tsr-info >/dev/null").status, 0)

with tap.test("[SYS8] the next one is restored, loads the driver and runs a job"):
    with guest() as g:
        tap.eq(g.restored, True, "restored")
        second = seen(g)
        tap.eq(g.run("dmesg | grep -c 'Initialized tessera'").stdout, b"1\n", "times the driver has been loaded")
        tap.eq(g.run("hello >/dev/null; ls /tmp/mark 2>/dev/null").stdout, b"", "what the first has left")
        tap.eq(g.run("hello >/dev/null").status, 0, "status of a job")

with tap.test("two guests of one snapshot have other random numbers"):
    with guest() as g:
        third = seen(g)
    tap.eq(len({first[:32], second[:32], third[:32]}), 3, "different bytes of /dev/urandom")
    tap.eq(len({first[32:], second[32:], third[32:]}), 3, "different boot ids")

with tap.test("another machine is another snapshot"):
    with guest(mem=768) as g:
        tap.eq((g.restored, len(snapshots())), (False, 2), "restored, snapshots")

with tap.test("a snapshot that is damaged costs a boot and nothing else"):
    for path in snapshots():
        os.truncate(path, os.path.getsize(path) // 2)
    with guest() as g:
        tap.eq(g.restored, False, "restored")
        tap.eq(g.run("hello >/dev/null").status, 0, "status of a job")
    tap.eq(len(snapshots()), 1, "snapshots; the damaged one is gone")

with tap.test("fresh guests boot, and are not saved"):
    before = len(snapshots())
    with Guest(accel="tcg") as g:
        tap.eq((g.restored, len(snapshots())), (False, before), "restored, snapshots")

with tap.test("the snapshots used last are kept, others are removed"):
    for i in range(saved.KEEP + 3):
        path = os.path.join(saved.directory(), f"old{i:02}")
        with open(path, "w"):
            pass
        os.utime(path, (i, i))
    with open(os.path.join(saved.directory(), "aside"), "w"):
        pass
    saved.publish(os.path.join(saved.directory(), "aside"), os.path.join(saved.directory(), "newest"))
    names = sorted(os.path.basename(p) for p in snapshots())
    tap.eq(len(names), saved.KEEP)
    tap.ok("newest" in names and "old00" not in names and f"old{saved.KEEP + 2:02}" in names, names)

sys.exit(tap.finish())
