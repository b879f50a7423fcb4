#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults under load (tests/guest/recovery/faults_load.c) in a machine that depends on the host as little as QEMU can: `make replay SEED=S`.

    replay.py [--faults N] [--seed S] [--twice]

One processor that counts instructions instead of time, a GPU without threads of its own (deterministic=on), random numbers from the seed,
a clock that begins in 2026, and a command that is there from the start: the same faults meet the same processes, in the same order and with
the same outcome. What the GPU does is exact; when the processor is interrupted QEMU decides to within microseconds, unless it records.
--twice runs it twice and compares what happened.
"""

import argparse
import re
import sys

from guest import GuestError, write_through
from repeatable import Repeatable

LIMIT = 7200        # seconds of this host for one run

def run(faults, seed, show):
    """One run; (status of the program, what it and the kernel have said)."""
    said = bytearray()
    # An instruction is 8 ns, so that the guest's idea of a second is about one of ours.
    with Repeatable(f"TSR_VERBOSE=1 faults_load {faults} {seed}", seed, shift=3, device_args="vram=32M,inject-window=on",
                    kernel_args="tessera.job_timeout_ms=1000 tessera.job_limit_ms=60000") as guest:
        def take(data):
            said.extend(data)
            if show:
                write_through(1)(data)
        status = guest.finish_command(LIMIT, take, take).status
    return status, said.decode(errors="replace")


def happened(text):
    """The faults and their outcome, without how long things took."""
    lines = [line for line in text.splitlines() if re.match(r"# fault|ok |not ok |# process", line)]
    return [re.sub(r", \d+ ms", "", line) for line in lines]


def differ(first, again):
    """The first line in which two runs differ, of both; None: they do not."""
    for a, b in zip(first + ["(its end)"], again + ["(its end)"]):
        if a != b:
            return f"first at\n# {a}\n# {b}"
    return None


def main():
    p = argparse.ArgumentParser(description="Faults under load from a seed, as exactly as QEMU repeats itself without recording.")
    p.add_argument("--faults", type=int, default=120)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--twice", action="store_true", help="run it twice, compare")
    args = p.parse_args()
    try:
        status, first = run(args.faults, args.seed, True)
        if args.twice:
            difference = differ(happened(first), happened(run(args.faults, args.seed, False)[1]))
            print(f"# the second run is {'another, ' + difference if difference else 'the same'}")
            status = status or difference is not None
    except GuestError as e:
        print(f"tessera: error: {e}", file=sys.stderr)
        return 125
    return status


if __name__ == "__main__":
    sys.exit(main())
