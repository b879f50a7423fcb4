#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Break random lines of the driver and count how many the guest suite notices (`make mutate-driver N=12`).

    mutate_driver.py --count N [--seed S] [--only 'PATTERN ...'] [--programs 'NAME ...'] --dir DIR

As mutate.py does for the model: one operator, constant or condition of one line of kernel/*.c at a time; what does not compile
or compiles to the same code does not count. Each mutant takes the driver's place in a guest, the programs run one after the
other, and it is killed by the first that fails or does not end, or when the kernel's log complains, the device's contract checker
reports something, or the driver does not load or unload. Programs that belong to the mutated file come first; those of them that
need a machine of their own have it when the others noticed nothing. Lines that only speak (trace_, drm_dbg ...) are left out.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys

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
    "queue_ioctl": "ioctl_queue isolation_ids", "reset": "isolation_culprits | hang recovery ladder inject suspend", "sched": "rings ioctl_submit | hang recovery",
    "shrinker": "ioctl_bo | madvise", "submit": "ioctl_submit | commands", "sync": "syncobjs ioctl_submit lib_syncs", "timestamp": "ioctl_query | suspend",
    "uapi": "ioctl_common", "vm": "ioctl_vm memory ioctl_vm_bind",
}
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


def meets(guest, tests):
    """Who notices the driver in a guest that runs, "" if nobody does."""
    for test in tests:
        result = guest.run(f"TSR_QUICK=1 exec {test.name} 2>&1", test.timeout())
        failed = [line for line in result.stdout.decode(errors="replace").splitlines() if line.startswith("not ok")]
        if failed or result.status:
            return f"{test.name}: {failed[0] if failed else f'status {result.status}'}"
        said = complaints(guest)
        if said:
            return f"{test.name}: {said}"
    return "rmmod" if guest.run(variant.UNLOAD, LIMIT).status else complaints(guest)


def noticed(directory, tests, options):
    """The same for the driver in a directory and a guest that has to boot."""
    guest = Guest(**dict(options, load=False, share=directory))
    test = None
    try:
        guest.start()
        if guest.run(LOAD.format(parameters(guest)), LIMIT).status:
            return "insmod"
        return meets(guest, tests)
    except GuestError as e:
        return str(e).splitlines()[0]
    finally:
        guest.stop()


def own_machine(test):
    """The machine a program asks for, with the contract checker unless it does without."""
    options = guest_options(test)
    if "check=" not in options["device_args"]:
        options["device_args"] = f"{options['device_args']},check=on".lstrip(",")
    return options


def notice(directory, usual, own):
    """Who notices the driver: in the usual guest, then in those of their own."""
    def tests(names):
        return [Test(f"{TOP}/tests/guest/{name}.c", "guest/") for name in names]

    who = noticed(directory, tests(usual), MACHINE) if usual else ""
    for test in tests(own):
        who = who or noticed(directory, [test], own_machine(test))
    return who


def main():
    p = arguments("Count the mutants of the driver that the guest suite kills.", 12)
    p.add_argument("--programs", default="", help="what has to notice them, in the usual guest; instead of those that belong to the file")
    args = p.parse_args()
    os.environ.pop("TSR_TROUBLE", None)     # its kernels complain on purpose
    tree, aside = os.path.join(args.dir, "tree"), os.path.join(args.dir, "module")
    copy_checkout(tree)
    os.makedirs(aside, exist_ok=True)
    paths = [os.path.join(DRIVER, n) for n in os.listdir(os.path.join(tree, DRIVER)) if n.endswith(".c")]
    mutants = [m for m in chosen(tree, paths, DRIVER, args.only, args.seed) if not SPEAKS.search(m.new)]

    def meet(module, usual, own):
        shutil.copy(module, os.path.join(aside, "tessera.ko"))
        return notice(aside, usual, own)

    def wanted(path):
        return (args.programs.split(), []) if args.programs else programs(path)

    def judge(mutant):
        module = build(tree)
        return meet(module, *wanted(mutant.path)) if module and code(module) != baseline else None

    module = build(tree)
    if not module:
        sys.exit("tessera: error: the driver does not build")
    baseline = code(module)
    own = dict.fromkeys(name for path in {m.path for m in mutants[:args.count]} for name in wanted(path)[1])
    who = meet(module, args.programs.split() or USUAL, own)
    if who:
        sys.exit(f"tessera: error: the driver without any mutation is noticed by {who}")
    print(f"# seed {args.seed}", flush=True)
    return count(mutants, args.count, lambda mutant: with_mutant(tree, mutant, lambda: judge(mutant)))


if __name__ == "__main__":
    sys.exit(main())
