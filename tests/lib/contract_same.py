#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=3600
"""The recovery contract's table is the same on each machine, and each time it is run on one (`make check-contract-same`).

    contract_same.py [MACHINE ...]

Each machine of MACHINES runs all rows TSR_RUNS times, or 3 times. No cell may be violated, and all cells but the times must be those
of the first run. Prints KTAP.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "qemu-device", "vm")]
from guest import Guest  # noqa: E402
from tap import Tap  # noqa: E402

DEVICE = "inject-window=on,vram=32M"
KERNEL = "tessera.job_timeout_ms=1000 tessera.job_limit_ms=60000"
LIMIT = 900
# Programs that use the processors and the GPU all the time. What they do while the GPU is away is not looked at.
LOAD = "(while :; do hello; square; done) >/dev/null 2>&1 & (while :; do :; done) & "
MACHINES = {
    "plain": ({}, ""),
    "iommu": ({"iommu": True}, ""),
    "two-devices": ({"devices": 2}, ""),
    "load": ({}, LOAD),
}
TIME = re.compile(r"\s+\d+\.\d[?!]?\s*$")


def table(guest, load):
    """(status, lines of the two tables without times, violations) of one run."""
    result = guest.run(f"{load}drm-contract --destructive; status=$?; kill $(jobs -p) 2>/dev/null; exit $status", LIMIT)
    lines = result.stdout.decode(errors="replace").splitlines()
    cells = [TIME.sub("", line) for line in lines if re.match(r"[a-z][\w-]* +\S", line)]
    return result.status, cells, [line for line in lines if " violated: row " in line]


def main():
    tap, first = Tap(), None
    runs = int(os.environ.get("TSR_RUNS") or 3)
    for name in sys.argv[1:] or os.environ.get("TSR_MACHINES", "").split() or MACHINES:
        options, load = MACHINES[name]
        with Guest(device_args=DEVICE, kernel_args=KERNEL, **options) as guest:
            for run in range(1, runs + 1):
                with tap.test(f"the contract on machine {name}, run {run}"):
                    status, cells, violated = table(guest, load)
                    print("\n".join(f"# {line}" for line in cells), flush=True)
                    tap.eq((status, violated), (0, []), "status and violations")
                    tap.ok(len(cells) > 70, f"lines: {len(cells)}")
                    first = first or cells
                    tap.eq([pair for pair in zip(first, cells) if pair[0] != pair[1]], [], "lines that differ")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
