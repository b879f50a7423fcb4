# SPDX-License-Identifier: MIT
"""Facts about the host that are found out once and hold until it boots again."""

import os


def directory():
    """$TESSERA_CACHE."""
    return os.environ.get("TESSERA_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tessera")


def path(name):
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip()
    return os.path.join(directory(), f"{name}-{boot}-{os.getuid()}")


def recall(name):
    """What was remembered under this name since the host booted, or None."""
    try:
        with open(path(name)) as f:
            return f.read().strip()
    except OSError:
        return None


def remember(name, text):
    """Keep a line for recall(). A host on which that fails finds the fact out again next time."""
    try:
        where = path(name)
        os.makedirs(os.path.dirname(where), exist_ok=True)
        with open(f"{where}.{os.getpid()}", "w") as f:
            f.write(f"{text}\n")
        os.rename(f"{where}.{os.getpid()}", where)
    except OSError:
        pass
