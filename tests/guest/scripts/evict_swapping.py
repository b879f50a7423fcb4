#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=600
"""evict_swap.c in a small machine with swap space: evicted BOs are swapped out, and nobody is killed for lack of memory."""

import os
import sys
import tempfile

from guest import Guest
from tap import Tap

tap = Tap()
SWAP = 1 << 30

with tempfile.NamedTemporaryFile(prefix="swap-", dir=os.environ.get("TSR_BUILD")) as disk:
    os.truncate(disk.name, SWAP)
    args = ["-drive", f"if=none,id=swap,file={disk.name},format=raw,cache=unsafe",
            "-device", "virtio-blk-pci,drive=swap,serial=swap"]
    with Guest(device_args="vram=32M", mem=256, smp=2, qemu_args=args) as g:
        with tap.test("[MEM7] a guest with 256 MiB and swap space survives 512 MiB of evicted BOs"):
            done = g.run("evict_swap 2>&1", timeout=500)
            text = done.stdout.decode(errors="replace")
            tap.eq(done.status, 0)
            tap.ok("# SKIP" not in text, "nothing is skipped for lack of swap space")
            tap.ok("Out of memory" not in g.console(), "nobody is killed")
            lines = text.splitlines() + (g.console().splitlines()[-60:] if done.status else [])
            for line in lines:
                print("# " + line)

sys.exit(tap.finish())
