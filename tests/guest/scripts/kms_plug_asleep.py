#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""Monitors that are plugged in and unplugged while the device cannot report it: it sleeps, or is being reset."""

import sys
import time

import variant
from guest import Guest
from tap import Tap

tap = Tap()
SLOW = variant.current().slow
PCI = "/sys/bus/pci/drivers/tessera/0*"
STATUS = "cat /sys/class/drm/card*-Virtual-1/status"


def wait(guest, command, want, seconds):
    """Wait until a command says what it should. Also return how long that took."""
    begin = time.monotonic()
    while True:
        said = guest.run(command).stdout.decode().strip()
        took = time.monotonic() - begin
        if said == want or took > seconds * SLOW:
            return said, took
        time.sleep(0.1)


def plug(guest, value):
    guest.qmp("qom-set", path="gpu0", property="connected[0]", value=value)


def control(guest, value):
    guest.run(f"for f in {PCI}/power/control; do echo {value} >$f; done")


def blank(guest):
    """The console is off: it keeps no device awake, and its commits look for no interrupts that were lost."""
    guest.run("[ -e /sys/class/graphics/fb0/blank ] && echo 4 >/sys/class/graphics/fb0/blank")


def asleep(guest):
    """The console hears of a monitor at some time after it was plugged in, and switches its head on: blank it again."""
    control(guest, "auto")
    said = ""
    for _ in range(8):
        blank(guest)
        said = wait(guest, f"cat {PCI}/power/runtime_status", "suspended", 5)[0]
        if said == "suspended":
            break
    tap.eq(said, "suspended")


def awake_for(guest, seconds):
    """Milliseconds for which a device that is asleep is awake in so many seconds."""
    active = f"cat {PCI}/power/runtime_active_time"
    asleep(guest)
    before = int(guest.run(active).stdout)
    time.sleep(seconds)
    return int(guest.run(active).stdout) - before


def sees(guest, value, seconds):
    want = "connected" if value else "disconnected"
    said, took = wait(guest, STATUS, want, seconds)
    tap.eq(said, want)
    tap.ok(took <= seconds * SLOW, f"{want} after {took:.1f} s, at most {seconds} s")


def while_asleep(guest):
    for value in (False, True):
        asleep(guest)
        plug(guest, value)
        sees(guest, value, 10)
    # Looking for monitors does not keep the device awake. The second time the console has heard of the last one.
    awake = min(awake_for(guest, 20), awake_for(guest, 20))
    tap.ok(awake < 5000 * SLOW, f"awake for {awake} ms of 20 s, twice")


def at_wakeup(guest):
    for value in (False, True):
        asleep(guest)
        plug(guest, value)
        control(guest, "on")
        sees(guest, value, 1)


def interrupt_lost(guest, reset):
    """The message about the monitor is lost, as it is when the device is reset before it can be sent."""
    for value in (False, True):
        blank(guest)
        control(guest, "on")
        time.sleep(1)
        guest.qmp("qom-set", path="gpu0", property="inject", value="irq-lost vector=5 times=always")
        plug(guest, value)
        time.sleep(1)
        want = "disconnected" if value else "connected"
        tap.eq(wait(guest, STATUS, want, 1)[0], want)
        guest.qmp("qom-set", path="gpu0", property="inject", value="clear")
        tap.eq(guest.run(reset).status, 0)
        sees(guest, value, 3)


with Guest(device_args="heads=1,check=off,inject-window=on") as g:
    with tap.test("a monitor that comes and goes while the device sleeps is noticed within ten seconds"):
        while_asleep(g)
    with tap.test("a monitor that came and went while the device slept is noticed at once when it wakes up"):
        at_wakeup(g)
    with tap.test("a monitor that comes and goes around a reset of the function is noticed after it"):
        interrupt_lost(g, f"for f in {PCI}/reset; do echo 1 >$f; done")
    with tap.test("a monitor that comes and goes around a reset of the device is noticed after it"):
        interrupt_lost(g, "for f in /sys/kernel/debug/dri/*/reset; do echo device >$f; break; done")

sys.exit(tap.finish())
