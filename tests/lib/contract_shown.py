#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=3600
"""Which cells of the recovery contract a mutant of the driver turns red (userspace/contract/shown.tsv).

    contract_shown.py [--update] [MUTANT[=PATTERN] ...]

Without --update every cell that shown.tsv claims is tried again, or those of the mutants named, and one that stays green
fails. With it, each mutant runs the rows that MUTANTS below names, and shown.tsv gets what was found. PATTERN chooses
among its rows. "none" is the driver as it is, which turns no cell red. Prints KTAP. `make check-contract` calls it.
"""

import fnmatch
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
ROWS = os.path.join(TOP, "userspace", "contract", "rows.tsv")
DEVICE = "inject-window=on,vram=32M"
PARAMETERS = "job_timeout_ms=1000 job_limit_ms=60000"
LIMIT = 600
VIOLATED = re.compile(r"^R\d+\.\d+ violated: row (\S+), column (\S+): ", re.M)

# A device that one row has lost would keep the next one from being tried.
RELOAD = "[ -e /dev/dri/renderD128 ] || { rmmod tessera; insmod /mnt/tessera.ko %s; sleep 1; }; "

# Patterns of the rows that each mutant is tried with. "*" takes two minutes.
MUTANTS = {
    "contract_error_always": "*",
    "contract_state_dirty": "*",
    "contract_close_reported": "*",
    "contract_close_warns": "*",
    "contract_idle_unused": "*",
    "contract_idle_unmapped": "*",
    "contract_signal_early": "*",
    "contract_dump_always": "*",
    "contract_dump_never": "endless bad-* hang-* reset-late reset-stuck nothing-helps mmu-* bus irq-lost-fault fence-lost doorbell-lost",
    "contract_ban_forgotten": "endless bad-* hang-queue hang-stop-late mmu-* bus irq-lost-fault fence-lost doorbell-lost",
    "contract_probe_once": "nothing-helps gone-for-good given-up unbound removed",
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

# With these mutants other cells turn red by chance, so only these columns are recorded.
ALWAYS = {"contract_signal_early": "writes"}


def table(path):
    with open(path) as f:
        return [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]


COLUMNS = table(ROWS)[0][3:-1]


def rows(patterns):
    """The names of the rows that one of the patterns matches, in the order of the table."""
    return [row[0] for row in table(ROWS)[1:] if any(fnmatch.fnmatch(row[0], p) for p in patterns.split())]


def commands(names):
    """One command for all rows, or one for each row if they are few."""
    return ["*"] if len(names) == len(table(ROWS)) - 1 else names


def run(name, names):
    """Violated cells as a set of (row, column), with the driver that has this mistake."""
    aside = os.path.join(BUILD, "contract", name)
    os.makedirs(aside, exist_ok=True)
    shutil.copy(build(name), os.path.join(aside, "tessera.ko"))
    found = set()
    with Guest(device_args=DEVICE, load=False, share=aside) as guest:
        loaded = guest.run(LOAD.format(PARAMETERS), 60)
        if loaded.status:
            raise AssertionError(f"the module does not load: {loaded.stderr.decode(errors='replace')}")
        for pattern in commands(names):
            result = guest.run(RELOAD % PARAMETERS + f"drm-contract --destructive --row '{pattern}'", LIMIT)
            text = result.stdout.decode(errors="replace")
            print("\n".join(f"# {line}" for line in text.splitlines()), flush=True)
            found |= set(VIOLATED.findall(text))
    return found


def read_shown():
    """The cells as a set of (row, column, mutant)."""
    return {(row, column, mutant) for row, mutant, columns in table(SHOWN) for column in columns.split()}


def write_shown(cells):
    lines = {}
    for row, column, mutant in cells:
        lines.setdefault((row, mutant), []).append(column)
    with open(SHOWN) as f:
        head = [line for line in f if line.startswith("#")]
    with open(SHOWN + ".new", "w") as f:
        f.writelines(head)
        for (row, mutant), columns in sorted(lines.items()):
            f.write(f"{row}\t{mutant}\t{' '.join(sorted(columns, key=COLUMNS.index))}\n")
    os.rename(SHOWN + ".new", SHOWN)


def update(tap, name, pattern):
    with tap.test(f"mutant {name} turns cells of the contract red"):
        tried = [row for row in rows(MUTANTS[name]) if fnmatch.fnmatch(row, pattern)]
        found = {cell for cell in run(name, tried) if cell[1] in ALWAYS.get(name, cell[1]).split()}
        tap.ok(found, "no cell is red")
        kept = {cell for cell in read_shown() if cell[2] != name or cell[0] not in tried}
        write_shown(kept | {(row, column, name) for row, column in found})


def check(tap, name, pattern):
    claimed = {(row, column) for row, column, mutant in read_shown()
               if mutant == name and fnmatch.fnmatch(row, pattern)}
    with tap.test(f"mutant {name} turns {len(claimed)} cells of the contract red"):
        found = run(name, rows(" ".join({row for row, _ in claimed}) if name != "none" else pattern))
        tap.eq(sorted(claimed - found), [], "cells that stay green")
        if name == "none":
            tap.eq(sorted(found), [], "cells that are red")


def main():
    os.environ.pop("TSR_TROUBLE", None)     # its kernels complain on purpose
    words = sys.argv[1:]
    names = [w for w in words if w != "--update"] or os.environ.get("TSR_MUTANTS", "").split()
    everything = MUTANTS if "--update" in words else {mutant for _, _, mutant in read_shown()}
    tap = Tap()
    for word in names or sorted(everything):
        name, _, pattern = word.partition("=")
        (update if "--update" in words else check)(tap, name, pattern or "*")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
