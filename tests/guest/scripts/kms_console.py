#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""What the machine's owner sees: the kernel's text console, byte for byte what the guest reads from its frame buffer; a monitor that
is unplugged and plugged in; a saved machine that goes on with its picture; the device unplugged while it shows one."""

import gzip
import os
import sys
import tempfile
import time

import variant
from guest import Guest
from tap import Tap

tap = Tap()
NATIVE = "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"
STATUS = "cat /sys/class/drm/card*-Virtual-1/status"


def dump(guest, directory):
    """QEMU's screendump: width, height, bytes red, green, blue."""
    path = os.path.join(directory, "screen.ppm")
    guest.qmp("screendump", filename=path, device="gpu0", head=0)
    with open(path, "rb") as f:
        kind, size, _, pixels = f.read().split(b"\n", 3)
    assert kind == b"P6", kind
    return tuple(int(n) for n in size.split()), pixels


def frame_buffer(guest, size):
    """What the guest reads from /dev/fb0, as bytes red, green, blue."""
    data = gzip.decompress(guest.run("gzip -c /dev/fb0").stdout)
    pixels = bytearray(3 * size[0] * size[1])
    for n in range(3):
        pixels[n::3] = data[2 - n::4]
    return bytes(pixels)


def wait(guest, command, want):
    """Wait until a command says what it should."""
    for _ in range(100 * variant.current().slow):
        said = guest.run(command).stdout.decode().strip()
        if said == want:
            break
        time.sleep(0.1)
    return said


def write_text(guest, text):
    guest.run("echo 0 >/sys/class/graphics/fbcon/cursor_blink; printf '\\033[2J\\033[H' >/dev/tty0")
    guest.run(f"printf '{text}' >/dev/tty0")


def same_picture(guest, directory):
    """The console as QEMU shows it is the guest's frame buffer, and is not just black. The kernel tells the device of what it has
    drawn a little later."""
    for _ in range(20 * variant.current().slow):
        size, seen = dump(guest, directory)
        want = frame_buffer(guest, size)
        if seen == want:
            break
    tap.ok(seen == want, "screendump is the frame buffer")
    tap.ok(len(set(seen)) > 1, "there is something to be seen")
    return seen


def console(guest, directory):
    with tap.test("[DISP1] the kernel's text console is seen, byte for byte"):
        write_text(guest, "The quick brown fox jumps over the lazy dog. 0123456789")
        first = same_picture(guest, directory)
        write_text(guest, "The quick brown fox jumps over the lazy cat. 0123456789")
        tap.ok(same_picture(guest, directory) != first, "other text, other picture")


def monitor(guest):
    with tap.test("[DISP1] a monitor that goes and comes"):
        for value, status in ((False, "disconnected"), (True, "connected")) * 2:
            guest.qmp("qom-set", path="gpu0", property="connected[0]", value=value)
            tap.eq(wait(guest, STATUS, status), status)


def snapshot(guest, directory):
    with tap.test("[DISP1] a saved machine goes on with its picture"):
        write_text(guest, "Saved and restored")
        before = same_picture(guest, directory)
        path = os.path.join(directory, "state")
        guest.save(path)
        guest.kill()
        with Guest(device_args="heads=1", incoming=f"file:{path}", qemu_args=NATIVE) as other:
            other.wait_restored()
            tap.ok(same_picture(other, directory) == before, "the same picture")
            write_text(other, "and it goes on")
            tap.ok(same_picture(other, directory) != before, "another picture")
            unplug(other, directory)


def unplug(guest, directory):
    with tap.test("[DISP1] the device is unplugged while its picture is seen"):
        for _ in range(2):
            guest.qmp("device_del", id="gpu0")
            guest.wait_event("DEVICE_DELETED")
            tap.eq(wait(guest, "ls /sys/class/drm | grep -c Virtual", "0"), "0")
            guest.qmp("device_add", driver="tessera", bus="rp0", id="gpu0", heads=1)
            tap.eq(wait(guest, STATUS, "connected"), "connected")
            wait(guest, "[ -e /dev/fb0 ] && echo there", "there")
            write_text(guest, "and back again")
            same_picture(guest, directory)


def colors(pixels):
    return {pixels[n:n + 3] for n in range(0, len(pixels), 3)}


def panic(guest, directory):
    """The kernel's own screen: black and white, while its console writes in grey."""
    with tap.test("[DISP1] the last words of a kernel that dies"):
        if guest.run("[ -e /sys/module/drm/parameters/panic_screen ]").status:
            tap.skip("this kernel has none on a screen (DRM_PANIC)")
        write_text(guest, "This kernel is about to die")
        seen = before = colors(same_picture(guest, directory))
        tap.ok(b"\xff\xff\xff" not in before, f"no white yet: {before}")
        guest.dies = True
        guest.run("(sleep 1; echo c >/proc/sysrq-trigger) >/dev/null 2>&1 &")
        for _ in range(300 * variant.current().slow):
            time.sleep(0.1)
            seen = colors(dump(guest, directory)[1])
            if seen != before:
                break
        tap.eq(seen, {b"\0\0\0", b"\xff\xff\xff"}, "the colors that are seen")


with tempfile.TemporaryDirectory(prefix="tessera-console-") as d:
    with Guest(device_args="heads=1", qemu_args=NATIVE) as g:
        if g.run("[ -e /dev/fb0 ]").status:
            with tap.test("[DISP1] the kernel's text console"):
                tap.skip("this kernel has none on a frame buffer")
            sys.exit(tap.finish())
        console(g, d)
        monitor(g)
        snapshot(g, d)
    with Guest(device_args="heads=1", kernel_args="panic=0") as g:
        panic(g, d)
        g.kill()

sys.exit(tap.finish())
