#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make scenario`: run a scenario of tsr-sync in a guest with two GPUs.

    scenario.py --scenario NAME|FILE [--html FILE] [--trace FILE] [options of guest.py]

The scenario is one that tsr-sync has, or a file. Status and table are those of tsr-sync.
"""

import argparse
import os
import shlex
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest as runner  # noqa: E402

# A job that hangs is noticed after a second; priorities show where there is one engine.
DEVICE, KERNEL = "inject-window=on,copy-engines=1", "tessera.job_timeout_ms=1000"


def put_scenario(guest, path):
    """A file of the host, in the guest."""
    with open(path, encoding="utf-8") as f:
        guest.run(f"printf %s {shlex.quote(f.read())} >/tmp/scenario.sync")
    return "/tmp/scenario.sync"


def take(guest, inside, path):
    """What the scenario has written becomes a file of the host."""
    with open(path + ".new", "wb") as f:
        f.write(guest.run(f"cat {inside}").stdout)
    os.rename(path + ".new", path)
    print(f"tessera: {path}", file=sys.stderr)


def run_and_take(options, command, results):
    """Run command(guest) in a guest. A table or page comes with status 0 or 1: take results, {file there: file here, or None}."""
    try:
        with runner.guest_from(options) as guest:
            status = guest.run(command(guest), options.timeout, runner.write_through(1), runner.write_through(2)).status
            for there, here in results.items():
                if here and status in (0, 1):
                    take(guest, there, here)
        return status
    except (runner.GuestError, OSError) as e:
        print(f"tessera: error: {e}", file=sys.stderr)
        return 125


def main():
    p = argparse.ArgumentParser(description="Run a scenario of tsr-sync in a guest with two GPUs.")
    p.add_argument("--scenario", required=True, help="name of a scenario, or a file")
    p.add_argument("--html", help="where the page goes")
    p.add_argument("--trace", help="where the trace for Perfetto goes")
    args, rest = p.parse_known_args()
    options = runner.parse(["--devices", "2", "--device-args", DEVICE, "--kernel-args", KERNEL] + rest + ["--", "tsr-sync"])

    def command(guest):
        given = args.scenario
        name = put_scenario(guest, given) if os.path.exists(given) else shlex.quote(given)
        return f"tsr-sync --html /tmp/scenario.html --trace /tmp/scenario.json {name}"

    return run_and_take(options, command, {"/tmp/scenario.html": args.html, "/tmp/scenario.json": args.trace})


if __name__ == "__main__":
    sys.exit(main())
