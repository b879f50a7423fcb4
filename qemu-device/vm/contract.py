#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make contract`: run the recovery contract (drm-contract) in a guest.

    contract.py [--driver NAME] [--row PATTERN] [--html FILE] [options of guest.py]

Status and table are those of drm-contract.
"""

import argparse
import os
import shlex
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest as runner  # noqa: E402
from scenario import run_and_take  # noqa: E402

# A job that hangs is noticed after a second. One that makes progress may take as long as a row.
DEVICE, KERNEL = "inject-window=on,vram=32M", "tessera.job_timeout_ms=1000 tessera.job_limit_ms=60000"


def main():
    p = argparse.ArgumentParser(description="Run the recovery contract in a guest.")
    p.add_argument("--driver", default="tessera", help="tessera, vgem or sw_sync")
    p.add_argument("--row", default="*", help="shell pattern of rows")
    p.add_argument("--html", help="where the page goes")
    args, rest = p.parse_known_args()
    options = runner.parse(["--device-args", DEVICE, "--kernel-args", KERNEL] + rest + ["--", "drm-contract"])
    command = (f"modprobe {shlex.quote(args.driver)} 2>/dev/null; drm-contract --driver {shlex.quote(args.driver)} "
               f"--row {shlex.quote(args.row)} --destructive --html /tmp/contract.html")
    return run_and_take(options, lambda guest: command, {"/tmp/contract.html": args.html})


if __name__ == "__main__":
    sys.exit(main())
