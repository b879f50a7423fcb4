# SPDX-License-Identifier: MIT
"""Saved guests, $TESSERA_CACHE/snapshots: what guest.py restores instead of booting.

A snapshot holds a guest that waits in init (tsr.hold) before it has loaded the driver. Its name is a hash of all that
it was made of; a snapshot that is not there, or is of no use, only costs a boot.
"""

import contextlib
import hashlib
import os
import re
import secrets
import time

import host

KEEP = 12               # snapshots that stay, those used last; about 120 MB each


def directory():
    return os.path.join(host.directory(), "snapshots")


def processor():
    """What /proc/cpuinfo calls the first processor."""
    with open("/proc/cpuinfo", "rb") as f:
        return next((line for line in f if line.startswith(b"model name")), b"")


def name(command, base, kernel):
    """The path of the snapshot of a guest. command: QEMU's arguments; of the files among them, base counts by what is
    in it, and the kernel and QEMU (whose directory is named after what it was built from) by path and time. The rate
    of the time-stamp counter is measured anew for each guest and never quite the same: the processor stands for it."""
    digest = hashlib.sha256()
    with open(base, "rb") as f:
        digest.update(f.read())
    for path in (kernel, command[0]):
        digest.update(f"{os.path.realpath(path)} {os.stat(path).st_mtime_ns}\n".encode())
    text = "\0".join("base" if word == base else word for word in command)
    digest.update(re.sub(r"tsc_early_khz=\d+", "", text).encode() + processor())
    return os.path.join(directory(), digest.hexdigest()[:24])


def find(path):
    """Whether there is that snapshot; it counts as used now."""
    try:
        os.utime(path)
    except OSError:
        return False
    return True


def discard(path):
    with contextlib.suppress(OSError):
        os.unlink(path)


def publish(aside, path):
    """Put a finished file under its name and remove those used longest ago."""
    os.rename(aside, path)
    used = []
    for entry in os.scandir(os.path.dirname(path)):
        with contextlib.suppress(OSError):          # somebody else removes them, too
            used.append((entry.stat().st_mtime_ns, entry.path))
    for _, old in sorted(used)[:-KEEP]:
        discard(old)


def time_and_seed():
    """The line that gives a guest what it must not share with others of its snapshot."""
    return f"{time.time_ns()} {secrets.token_hex(32)}\n".encode()
