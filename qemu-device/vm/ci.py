#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make ci`: what a CI job wants of a guest: boot it, load the driver, run a command, fail on anything bad, keep what tells why.

    ci.py --out DIR [options of guest.py] -- COMMAND

DIR gets console.txt, output.txt (of the command), timeline.json (for Perfetto), and for each device core dump dump-N and
dump-N.txt, which is the same decoded. The status is the command's; 1 when the command was content but the kernel complained (BUG,
WARNING, a hung task ...) or the device did about its driver; 125 when the guest itself failed.
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest as runner  # noqa: E402
import timeline  # noqa: E402
import variant  # noqa: E402

DUMPS_MAX = 16


def both(fd, file):
    """A sink that writes to a descriptor and to a file."""
    write = runner.write_through(fd)

    def sink(data):
        write(data)
        file.write(data)
    return sink


def keep(out, name, data):
    with open(os.path.join(out, name), "wb") as f:
        f.write(data)


# The driver hands a dump over a moment after the job's fence has signalled.
FIND_DUMP = """for wait in 1 1 1; do
    set -- /sys/class/devcoredump/devcd*/data
    [ ! -e "$1" ] || { echo "$1"; break; }
    sleep $wait
done"""


def take_dumps(guest, out, failed):
    """All core dumps there are, for which a command that has failed is given time; how many."""
    for n in range(DUMPS_MAX):
        find = FIND_DUMP if failed and not n else "ls -d /sys/class/devcoredump/devcd*/data 2>/dev/null | head -n 1"
        path = guest.run(find).stdout.decode().strip()
        if not path:
            return n
        keep(out, f"dump-{n}", guest.run(f"cat {path}").stdout)
        keep(out, f"dump-{n}.txt", guest.run(f"tsr-decode --dump {path}; echo 1 >{path}; sleep 1").stdout)
    return DUMPS_MAX


def run(options, out, log):
    """The status, and what was bad as lines."""
    with runner.guest_from(options) as guest, open(os.path.join(out, "output.txt"), "wb") as said:
        try:
            status = timeline.record(guest, " ".join(options.command), os.path.join(out, "timeline.json"), log,
                                     both(1, said), both(2, said), needed=False)
            dumps = take_dumps(guest, out, status != 0)
            bad = variant.trouble(guest.console()) + guest.driver_bugs()
        finally:
            keep(out, "console.txt", guest.console().encode())
    if dumps:
        print(f"tessera: {dumps} device core dump(s) in {out}", file=sys.stderr)
    return status, bad


def main():
    p = argparse.ArgumentParser(description="Run a command in a guest, as a CI job wants it.")
    p.add_argument("--out", required=True, help="directory for what is kept")
    args, rest = p.parse_known_args()
    options = runner.parse(rest)
    os.makedirs(args.out, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tessera-ci-") as d:
        log = os.path.join(d, "device")
        options.qemu_args = runner.shlex.split(options.qemu_args or "") + timeline.TRACE + [log]
        try:
            status, bad = run(options, args.out, log)
        except runner.GuestError as e:
            print(f"tessera: error: {e}", file=sys.stderr)
            return 125
    for line in bad[:20]:
        print(f"tessera: bad: {line}", file=sys.stderr)
    return status or bool(bad)


if __name__ == "__main__":
    sys.exit(main())
