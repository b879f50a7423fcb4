#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make timeline`: run a command in a guest and make a timeline of what scheduler, fences and GPU did meanwhile.

    timeline.py --out FILE.json [options of guest.py] -- COMMAND

Perfetto (ui.perfetto.dev) and chrome://tracing show the file. The status is the command's.
"""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest as runner  # noqa: E402

TRACE = ["-msg", "timestamp=on", "-trace", "tessera_gpu_*", "-trace", "tessera_read", "-D"]


def record(guest, command, out, device_log, stdout=runner.write_through(1), stderr=runner.write_through(2), needed=True):
    """Run the command in a guest that has been given TRACE and device_log; write the timeline, which is empty when the
    GPU had nothing to do: an error if it is needed. The command's status."""
    status = guest.run(f"tsr-timeline-record /tmp/trace sh -c {runner.shlex.quote(command)}", stdout=stdout, stderr=stderr).status
    with tempfile.NamedTemporaryFile("wb", prefix="tessera-trace-") as trace:
        trace.write(guest.run("cat /tmp/trace").stdout)
        trace.flush()
        tool = os.path.join(runner.TOP, "userspace", "tools", "tsr-timeline.py")
        subprocess.run(["/usr/bin/python3", "-B", tool, "-o", out, trace.name, device_log], check=needed)
    return status


def main():
    p = argparse.ArgumentParser(description="A timeline of what a command in a guest does.")
    p.add_argument("--out", required=True, help="the timeline, JSON")
    args, rest = p.parse_known_args()
    options = runner.parse(rest)
    with tempfile.TemporaryDirectory(prefix="tessera-timeline-") as d:
        log = os.path.join(d, "device")
        options.qemu_args = runner.shlex.split(options.qemu_args or "") + TRACE + [log]
        try:
            with runner.guest_from(options) as guest:
                status = record(guest, " ".join(options.command), args.out, log)
            print(f"tessera: the timeline is in {args.out}; ui.perfetto.dev opens it", file=sys.stderr)
            return status
        except runner.GuestError as e:
            print(f"tessera: error: {e}", file=sys.stderr)
            return 125


if __name__ == "__main__":
    sys.exit(main())
