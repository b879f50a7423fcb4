#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=600
"""The disk cache of a guest: a program that one guest has run compiles nothing in the next one, which the host's share carries over.

TSR_MESA_SHARE is what userspace/mesa/share.sh made."""

import os
import re
import shutil
import sys

from guest import Guest
from tap import Tap

tap = Tap()
SHARE = os.environ["TSR_MESA_SHARE"]
PROGRAM = "texture"
LIMIT = 250


def look_ups():
    """(hits, misses) of the program's shaders in a guest that was booted for it."""
    with Guest(share=SHARE, boot_limit=900) as guest:
        done = guest.run(f"MESA_SHADER_CACHE_DIR=/mnt/shaders/test MESA_SHADER_CACHE_SHOW_STATS=1 /mnt/run {PROGRAM} 2>&1", LIMIT)
    text = done.stdout.decode(errors="replace")
    counts = re.search(r"disk shader cache: *hits = (\d+), misses = (\d+)", text)
    tap.eq(done.status, 0, f"the status of {PROGRAM}")
    tap.ok(counts, f"statistics of the cache in {text[-1000:]}")
    return (int(counts.group(1)), int(counts.group(2))) if counts else (0, 0)


def main():
    directory = os.path.join(SHARE, "shaders", "test")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    with tap.test("the next guest finds all shaders"):
        first, second = look_ups(), look_ups()
        tap.note(f"hits and misses: {first}, then {second}")
        tap.ok(first[1] > 5, "the first one has compiled")
        tap.ok(second[0] > 5 and second[1] == 0, "the second one has not")
    shutil.rmtree(directory)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
