#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What fencewatch and the submission backend "engine" cost: the rate of pipelined empty jobs with and without them (`make bench SUBMITS=1`).

    submits.py [--pairs N] [--driver tessera.ko]

The guest has one processor that counts instructions instead of time, so a busy host does not matter. With --pairs it has two processors and
the host's clock, and both sides of a comparison are measured N times by turns. Prints "NAME VALUE UNIT" lines: the medians of both sides, and
median and extremes of the quotients. --driver compares another build of the driver, in its backend "slot".
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "qemu-device", "vm")]
from guest import Guest, GuestError  # noqa: E402
from repeatable import Repeatable  # noqa: E402

WAIT = "n=0; while [ ! -e /dev/dri/renderD128 ] && [ $n -lt 250 ]; do n=$((n + 1)); usleep 20000; done; "
MEASURE = "latency pipelined; status=$?; "
DRIVER = "rmmod tessera; {} || exit; " + WAIT + MEASURE + "rmmod tessera && modprobe tessera || exit; " + WAIT
# name: (a side, what it is compared with), shell commands that leave the guest as it was
PAIRS = {
    "fencewatch": ("modprobe fencewatch || exit; " + MEASURE + "rmmod fencewatch; ", MEASURE),
    "engine": (DRIVER.format("modprobe tessera sched=engine"), DRIVER.format("modprobe tessera")),
    "other_driver": (DRIVER.format("insmod /mnt/tessera.ko"), DRIVER.format("modprobe tessera")),
}


def rates(done):
    """Submits in a second that a command's calls of latency have reached."""
    words = done.stdout.decode().split()
    if done.status or set(words[::3]) != {"pipelined_submits"}:
        raise GuestError(f"latency ended with status {done.status}: {done.stderr.decode(errors='replace')}")
    return [float(word) for word in words[1::3]]


def show(name, pairs):
    quotients = sorted(one / other for one, other in pairs)
    print(f"submits_{name} {statistics.median(one for one, _ in pairs):.0f} 1/s")
    print(f"submits_{name}_without {statistics.median(other for _, other in pairs):.0f} 1/s")
    print(f"submits_{name}_ratio {statistics.median(quotients):.3f} ({quotients[0]:.3f} to {quotients[-1]:.3f})", flush=True)


def by_instructions(names, share):
    command = "".join(side for name in names for side in PAIRS[name]) + "exit $status"
    with Repeatable(command, share=share) as guest:
        found = iter(rates(guest.finish_command(600)))
    for name in names:
        show(name, [(next(found), next(found))])


def by_time(names, share, pairs):
    with Guest(smp=2, share=share) as guest:
        for name in names:
            show(name, [[rates(guest.run(side + "exit $status", 120))[0] for side in PAIRS[name]] for _ in range(pairs)])


def main(argv):
    p = argparse.ArgumentParser(description="Measure what fencewatch and the submission backend cost.")
    p.add_argument("--pairs", type=int, default=0, help="measure by the host's clock, so many times")
    p.add_argument("--driver", help="another build of tessera.ko for the guest's kernel")
    args = p.parse_args(argv)
    names = [name for name in PAIRS if name != "other_driver" or args.driver]
    with tempfile.TemporaryDirectory(prefix="tessera-submits-") as share:
        if args.driver:
            shutil.copy(args.driver, os.path.join(share, "tessera.ko"))
        if args.pairs:
            by_time(names, share if args.driver else None, args.pairs)
        else:
            by_instructions(names, share if args.driver else None)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
