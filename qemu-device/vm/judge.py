#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""judge.py [options of guest.py] -- COMMAND: run a command in a guest, with a status as `git bisect run` wants it.

0 the command succeeded; 1 it failed or did not end, or the guest died meanwhile; 125 no guest came up; 255 wrong usage.
bisect.sh builds the kernel and calls this."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest as runner  # noqa: E402

GOOD, BAD, UNTESTABLE, ABORT = 0, 1, 125, 255


def judge(guest, command, timeout):
    """The status of a command in a guest that has not been started. The guest's death counts only once it runs."""
    try:
        guest.start()
    except runner.GuestError as e:
        print(f"tessera: no guest with this kernel: {e}", file=sys.stderr)
        return UNTESTABLE
    try:
        status = guest.run(command, timeout, runner.write_through(1), runner.write_through(2)).status
    except runner.GuestError as e:
        print(f"tessera: the command did not end: {e}", file=sys.stderr)
        return BAD
    finally:
        guest.stop()
    return BAD if status else GOOD


def main(argv):
    try:
        options = runner.parse(argv)
        guest = runner.guest_from(options)
    except SystemExit as e:
        return ABORT if e.code else GOOD
    except runner.GuestError as e:
        print(f"tessera: error: {e}", file=sys.stderr)
        return ABORT
    return judge(guest, " ".join(options.command), options.timeout)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
