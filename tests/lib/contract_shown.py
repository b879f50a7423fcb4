#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=3600
"""Which cells of the recovery contract a mutant of the driver turns red (userspace/contract/shown.tsv).

    contract_shown.py [--update] [MUTANT ...]

Without --update every cell that shown.tsv claims is tried again, or those of the mutants named, and one that stays green
fails. With it, each mutant runs the rows that MUTANTS below names, and shown.tsv gets what was found. Prints KTAP.
`make check-contract` calls it.
"""

import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "qemu-device", "vm")]
from guest import Guest  # noqa: E402
from mutants import LOAD, build  # noqa: E402
from tap import Tap  # noqa: E402

TOP = os.environ["TSR_TOP"]
BUILD = os.environ["TSR_BUILD"]
SHOWN = os.path.join(TOP, "userspace", "contract", "shown.tsv")
DEVICE = "inject-window=on,vram=32M"
PARAMETERS = "job_timeout_ms=1000 job_limit_ms=60000"
LIMIT = 600
VIOLATED = re.compile(r"^R\d+\.\d+ violated: row (\S+), column (\S+): ", re.M)

# Patterns of the rows that each mutant is tried with. "*" takes two minutes.
MUTANTS = {
    "error_lost": "*",
    "ban_warns": "*",
    "innocent_blamed": "hang-stop-stuck reset-* pci-reset gone",
    "context_refused": "endless hang-queue fence-lost bus",
    "rerun": "reset-* pci-reset hang-stop-stuck",
    "destroy_early": "destroyed",
    "event_first": "given-up gone-for-good nothing-helps",
    "master_kept": "given-up gone-for-good",
    "rebind_fails": "given-up",
    "time_lost": "hang-stop-stuck reset-* pci-reset",
    "progress_unseen": "hang-* reset-late",
    "blame_oldest": "hang-* endless",
}


def run(name, patterns):
    """Violated cells as a set of (row, column), with the driver that has this mistake."""
    aside = os.path.join(BUILD, "contract", name)
    os.makedirs(aside, exist_ok=True)
    shutil.copy(build(name), os.path.join(aside, "tessera.ko"))
    found = set()
    with Guest(device_args=DEVICE, load=False, share=aside) as guest:
        loaded = guest.run(LOAD.format(PARAMETERS), 60)
        if loaded.status:
            raise AssertionError(f"the module does not load: {loaded.stderr.decode(errors='replace')}")
        for pattern in patterns.split():
            result = guest.run(f"drm-contract --destructive --row '{pattern}'", LIMIT)
            text = result.stdout.decode(errors="replace")
            print("\n".join(f"# {line}" for line in text.splitlines()), flush=True)
            found |= set(VIOLATED.findall(text))
    return found


def read_shown():
    with open(SHOWN) as f:
        return [tuple(line.rstrip("\n").split("\t")) for line in f if not line.startswith("#")]


def write_shown(cells):
    with open(SHOWN) as f:
        head = [line for line in f if line.startswith("#")]
    with open(SHOWN + ".new", "w") as f:
        f.writelines(head + ["\t".join(cell) + "\n" for cell in sorted(cells)])
    os.rename(SHOWN + ".new", SHOWN)


def update(tap, names):
    for name in names:
        with tap.test(f"mutant {name} turns cells of the contract red"):
            found = run(name, MUTANTS[name])
            tap.ok(found, "no cell is red")
            kept = [cell for cell in read_shown() if cell[2] != name]
            write_shown(kept + [(row, column, name) for row, column in found])


def check(tap, names):
    for name in names:
        claimed = {(row, column) for row, column, mutant in read_shown() if mutant == name}
        with tap.test(f"mutant {name} turns {len(claimed)} cells of the contract red"):
            rows = " ".join(sorted({row for row, _ in claimed}))
            tap.eq(sorted(claimed - run(name, rows)), [], "cells that stay green")


def main():
    words = sys.argv[1:]
    names = [w for w in words if w != "--update"] or os.environ.get("TSR_MUTANTS", "").split()
    tap = Tap()
    if "--update" in words:
        update(tap, names or MUTANTS)
    else:
        check(tap, names or sorted({cell[2] for cell in read_shown()}))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
