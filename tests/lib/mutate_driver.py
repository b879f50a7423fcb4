#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Break random lines of the driver and count how many the guest suite notices (`make mutate-driver N=12`).

    mutate_driver.py --count N [--seed S] [--only 'PATTERN ...'] [--programs 'NAME ...'] --dir DIR

As mutate.py does for the model: one operator, constant or condition of one line of kernel/*.c at a time; what does not compile
or compiles to the same code does not count. Each mutant takes the driver's place in a guest, the programs run one after the
other, and it is killed by the first that fails or does not end, or when the kernel's log complains, the device's contract checker
reports something, or the driver does not load or unload. Programs that belong to the mutated file come first; those of them that
need a machine of their own have it when the others noticed nothing (and count if the driver as it is passes there). Lines that only speak (trace_, drm_dbg ...) are left out.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import variant  # noqa: E402
from guest import Guest, GuestError  # noqa: E402
from mutants import LOAD, parameters  # noqa: E402
from mutate import arguments, chosen, copy_checkout, count, with_mutant  # noqa: E402
from run import Test, guest_options  # noqa: E402

TOP = os.environ["TSR_TOP"]
DRIVER = "kernel"
SPEAKS = re.compile(r"\b(trace_|drm_(dbg|warn|err|info)|dev_info|seq_p|might_|lockdep_|MODULE_|MODULE_PARM|TESSERA_MUTANT)")
# What every mutant meets, in one guest: they are quick and do well on this machine.
USUAL = ("ioctl_common ioctl_query ioctl_vm ioctl_vm_bind ioctl_bo ioctl_queue ioctl_submit ioctl_heap ioctl_perfmon isolation_ids "
         "isolation_culprits syncobjs memory rings engines prime lib_objects lib_syncs commands_bad compute_faults gfx_heap observe isolation "
         "copy checked ioctl_promises gpu_top leaks").split()
MACHINE = {"device_args": "vram=64M,copy-engines=2,inject-window=on,check=on"}
# Which of them belong to a file most (the others follow), and after them what has a guest of its own.
NEAR = {
    "as": "memory rings", "bind": "ioctl_vm_bind ioctl_promises memory", "bind_ioctl": "ioctl_vm_bind", "check": "checked leaks memory",
    "debugfs": "observe gpu_top", "device": "ioctl_query | small_gpu hotplug suspend", "drv": "ioctl_common | hotplug",
    "dump": "| dump", "fault": "compute_faults isolation | dump recovery", "fdinfo": "observe gpu_top",
    "fence": "syncobjs rings ioctl_submit | hang hotplug", "gem": "ioctl_bo prime memory observe | iommu madvise suspend",
    "gem_ioctl": "ioctl_bo | madvise", "heap": "ioctl_heap gfx_heap", "inject": "observe | inject", "irq": "gfx_heap compute_faults | inject suspend",
    "local": "ioctl_bo memory copy | madvise lib_photo", "mmu": "memory ioctl_vm_bind rings | small_gpu iommu", "pci": "| hotplug recovery",
    "perfmon": "ioctl_perfmon", "pm": "| suspend runtime_pm", "query": "ioctl_query | small_gpu recovery",
    "queue": "ioctl_queue isolation rings | small_gpu recovery dump", "queue_hw": "ioctl_queue rings | hang recovery suspend",
    "queue_ioctl": "ioctl_queue isolation_ids", "reset": "isolation_culprits | hang recovery suspend ladder", "sched": "rings ioctl_submit | hang recovery",
    "shrinker": "ioctl_bo | madvise", "submit": "ioctl_submit | commands", "sync": "syncobjs ioctl_submit lib_syncs", "timestamp": "ioctl_query | suspend",
    "uapi": "ioctl_common", "vm": "ioctl_vm memory ioctl_vm_bind",
}
took = {}               # program: seconds of its first run, with the driver as it is
LIMIT = 120             # seconds until the driver has loaded or unloaded, on an idle host


def programs(path):
    """(those of the usual guest, those with a guest of their own) for a file of the driver, in the order to run."""
    near, _, own = NEAR.get(os.path.basename(path)[len("tessera_"):-2], "").partition("|")
    return list(dict.fromkeys(near.split() + USUAL)), own.split()


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


def complaints(guest):
    """What the kernel or the contract checker say, the first line; "" if they are content."""
    said = variant.trouble(guest.console()) + (guest.driver_bugs() if guest.alive() else [])
    return said[0].strip() if said else ""


def meets(guest, test):
    """Who notices the driver while a program runs in a guest, "" if nobody does. A program may take ten times what it took first."""
    start = time.monotonic()
    try:
        result = guest.run(f"TSR_QUICK=1 exec {test.name} 2>&1", min(test.timeout(), 30 + 10 * took.get(test.name, 60)))
    except GuestError as e:
        return f"{test.name}: {str(e).splitlines()[0]}"
    took.setdefault(test.name, time.monotonic() - start)
    failed = [line for line in result.stdout.decode(errors="replace").splitlines() if line.startswith("not ok")]
    said = failed[0] if failed else f"status {result.status}" if result.status else complaints(guest)
    return f"{test.name}: {said}" if said else ""


def noticed(directory, tests, options):
    """The same for the driver in a directory, a guest that boots, and some programs: loading and unloading counts, too."""
    guest = Guest(**dict(options, load=False, share=directory))
    try:
        guest.start()
        if guest.run(LOAD.format(parameters(guest)), LIMIT).status:
            return "insmod"
        for test in tests:
            who = meets(guest, test)
            if who:
                return who
        if guest.alive() and guest.run(variant.UNLOAD, LIMIT).status:
            return "rmmod"
        return complaints(guest)
    except GuestError as e:
        return f"the guest: {str(e).splitlines()[0]}"
    finally:
        guest.stop()


def own_machine(test):
    """The machine a program asks for, with the contract checker unless it does without."""
    options = guest_options(test)
    if "check=" not in options["device_args"]:
        options["device_args"] = f"{options['device_args']},check=on".lstrip(",")
    return options


def tests_of(names):
    return [Test(f"{TOP}/tests/guest/{name}.c", "guest/") for name in names]


class Drivers:
    """The driver as it is and a mutant, each in a directory that guests mount."""

    def __init__(self, tree, directory):
        self.tree = tree
        self.good, self.mutant = (os.path.join(directory, name) for name in ("good", "mutant"))
        module = self.made(self.good)
        if not module:
            sys.exit("tessera: error: the driver does not build")
        self.code = code(module)
        self.fine = {}          # program with a guest of its own: whether it passes with the driver as it is

    def made(self, directory):
        """The tree's module, put into a directory; None if it does not build."""
        module = build(self.tree)
        if not module:
            return None
        os.makedirs(directory, exist_ok=True)
        return shutil.copy(module, os.path.join(directory, "tessera.ko"))

    def alone(self, test):
        """Who notices the mutant in the guest that a program asks for; a program that fails without any mutation says nothing."""
        who = noticed(self.mutant, [test], own_machine(test))
        if who and test.name not in self.fine:
            self.fine[test.name] = not noticed(self.good, [test], own_machine(test))
        return who if who and self.fine[test.name] else ""

    def judge(self, usual, own):
        """Who notices what the tree has now, "" if nobody, None if it is no mutant."""
        module = self.made(self.mutant)
        if not module or code(module) == self.code:
            return None
        who = noticed(self.mutant, tests_of(usual), MACHINE)
        for test in tests_of(own):
            who = who or self.alone(test)
        return who


def main():
    p = arguments("Count the mutants of the driver that the guest suite kills.", 12)
    p.add_argument("--programs", default="", help="what has to notice them, in the usual guest; instead of those that belong to the file")
    args = p.parse_args()
    os.environ.pop("TSR_TROUBLE", None)     # its kernels complain on purpose
    tree = os.path.join(args.dir, "tree")
    copy_checkout(tree)
    paths = [os.path.join(DRIVER, n) for n in os.listdir(os.path.join(tree, DRIVER)) if n.endswith(".c")]
    mutants = [m for m in chosen(tree, paths, DRIVER, args.only, args.seed) if not SPEAKS.search(m.new)]
    drivers = Drivers(tree, args.dir)
    who = noticed(drivers.good, tests_of(args.programs.split() or USUAL), MACHINE)
    if who:
        sys.exit(f"tessera: error: the driver without any mutation is noticed by {who}")
    print(f"# seed {args.seed}", flush=True)

    def judge(mutant):
        usual, own = (args.programs.split(), []) if args.programs else programs(mutant.path)
        return with_mutant(tree, mutant, lambda: drivers.judge(usual, own))

    return count(mutants, args.count, judge)


if __name__ == "__main__":
    sys.exit(main())
