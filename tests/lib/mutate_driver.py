#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Break random lines of the driver and count how many the guest suite notices (`make mutate-driver N=12`).

    mutate_driver.py --count N [--seed S] [--only PATTERN] --dir DIR

As mutate.py does for the model: one operator, constant or condition of one line of kernel/*.c at a time; what does not compile
or compiles to the same code does not count. Each mutant takes the driver's place in a guest, the programs run one after the
other, and it is killed when one of them fails or does not end, the kernel's log complains, the device's contract checker
reports something, or the driver does not load or unload. Lines that only speak (trace_, drm_dbg and so on) are left out.
"""

import argparse
import fnmatch
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutants  # noqa: E402
from guest import GuestError  # noqa: E402
from mutate import ENOUGH, mutate_one, places  # noqa: E402

TOP = os.environ["TSR_TOP"]
DRIVER = "kernel"
SPEAKS = re.compile(r"\b(trace_|drm_(dbg|warn|err|info)|dev_info|seq_p|might_|lockdep_|MODULE_|MODULE_PARM|TESSERA_MUTANT)")
# The quick ones first; each does well in a guest with the devices below.
PROGRAMS = ("ioctl_common ioctl_query ioctl_vm ioctl_vm_bind ioctl_bo ioctl_queue ioctl_submit ioctl_heap ioctl_perfmon "
            "ioctl_promises syncobjs memory observe commands checked prime dump inject hang recovery leaks").split()
DEVICE = "vram=64M,copy-engines=2,inject-window=on,check=on"
PARAMETERS = "job_timeout_ms=2000 job_limit_ms=4000"


def sources(tree, pattern):
    return sorted(os.path.join(DRIVER, n) for n in os.listdir(os.path.join(tree, DRIVER))
                  if n.endswith(".c") and fnmatch.fnmatch(n, pattern))


def build(tree):
    """Path of the tree's module, None if it does not build."""
    done = subprocess.run(["bash", f"{tree}/tests/guest/runner/module.sh"] +
                          [os.environ[n] for n in ("KDIR",) if os.environ.get(n)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, TSR_TOP=tree))
    return done.stdout.strip() if not done.returncode else None


def code(module):
    """A fingerprint of what a module does, without what tells of lines and times."""
    digest = hashlib.sha256()
    for section in ".text", ".rodata", ".data", ".init.text", ".exit.text":
        digest.update(subprocess.run(["objdump", "-s", "-r", "-j", section, module], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL).stdout.split(b"\n", 3)[-1])
    return digest.hexdigest()


def noticed(module, aside, programs):
    """Who notices this driver, a line of text; None if nobody does."""
    os.makedirs(aside, exist_ok=True)
    shutil.copy(module, os.path.join(aside, "tessera.ko"))
    try:
        caught = mutants.catch(os.path.join(aside, "tessera.ko"), " ".join(programs), device_args=DEVICE,
                               parameters=PARAMETERS, first=True)
    except GuestError as e:
        return str(e).splitlines()[0]
    return "; ".join(f"{kind}: {what}" for kind, what in sorted(caught.items())) or None


def verdict(tree, work, programs, baseline):
    module = build(tree)
    if not module or code(module) == baseline:
        return None, None
    return True, noticed(module, work, programs)


def arguments():
    p = argparse.ArgumentParser(description="Count the mutants of the driver that the guest suite kills.")
    p.add_argument("--count", type=int, default=12, help="mutants")
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--only", default="*", help="files to mutate: a shell pattern for names")
    p.add_argument("--programs", default=" ".join(PROGRAMS), help="what has to notice them")
    p.add_argument("--dir", required=True, help="where to work")
    return p.parse_args()


def main():
    args = arguments()
    os.environ.pop("TSR_TROUBLE", None)
    tree, work, programs = os.path.join(args.dir, "tree"), os.path.join(args.dir, "module"), args.programs.split()
    os.makedirs(tree, exist_ok=True)
    subprocess.run(["rsync", "-r", "--checksum", "--delete", "--exclude=.git", TOP + "/", tree + "/"], check=True)
    module = build(tree)
    who = noticed(module, work, programs) if module else "the compiler"
    if who:
        sys.exit(f"tessera: error: the driver without any mutation is noticed by {who}")
    baseline = code(module)
    random.seed(args.seed)
    print(f"# seed {args.seed}", flush=True)
    all_places = [(path, number, new) for path in sources(tree, args.only)
                  for number, new in places(os.path.join(tree, path)) if not SPEAKS.search(new)]
    random.shuffle(all_places)
    killed = survived = other = 0
    for path, number, new in all_places:
        if killed + survived >= args.count:
            break
        old, (counts, who) = mutate_one(tree, path, number, new, lambda: verdict(tree, work, programs, baseline))
        other += not counts
        killed += bool(counts and who)
        survived += bool(counts and not who)
        if counts:
            print(f"{'killed' if who else 'survived'} {path}:{number + 1}\n  - {old.strip()}\n  + {new.strip()}"
                  + (f"\n  {who}" if who else ""), flush=True)
    print(f"killed {killed} of {killed + survived} mutants ({other} did not count)")
    return 0 if killed + survived and killed >= ENOUGH * (killed + survived) else 1


if __name__ == "__main__":
    sys.exit(main())
