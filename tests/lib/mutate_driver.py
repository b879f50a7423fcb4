#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Break random lines of the driver and count how many the guest suite notices (`make mutate-driver N=12`).

    mutate_driver.py --count N [--seed S] [--only 'PATTERN ...'] [--programs 'NAME ...'] --dir DIR

As mutate.py does for the model: one operator, constant or condition of one line of kernel/*.c at a time; what does not compile
or compiles to the same code does not count, nor what equivalent.txt lists. Each mutant takes the driver's place in a guest, the programs run one after the
other, and it is killed by the first that fails or does not end, or when the kernel's log complains, the device's contract checker
reports something, or the driver does not load or unload. Files that kernel/tests/ has suites for meet those before. Programs that belong to the mutated file come first. When the others
noticed nothing, those that want parameters of the module have them, and at last those that need a machine of their own; both count
only if the driver as it is passes there. Lines that only speak (trace_, drm_dbg ...) are left out.

The guest stays up for one mutant after the other, as long as it is not hurt (the kernel complains, something hangs, the driver does
not go). What notices a mutant in a guest that others have been in counts only if the driver as it is then does well there;
otherwise the mutant is judged again in a new guest. While one is judged the next is built.

A program that puts the machine to sleep, and a host script (tests/guest/NAME.py), have a guest of their own each time, whose
initramfs has the mutant in the driver's place.
"""

import collections
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "qemu-device", "vm")]
import equivalent  # noqa: E402
import mutate_kunit  # noqa: E402
import mutate_initrd  # noqa: E402
import variant  # noqa: E402
from guest import Guest, GuestError  # noqa: E402
from mutate import arguments, chosen, copy_checkout, count, with_mutant  # noqa: E402
from mutate_kunit import UnitTests  # noqa: E402
from run import Test, guest_options  # noqa: E402

TOP = os.environ["TSR_TOP"]
KDIR = os.environ.get("KDIR", "")
DRIVER = "kernel"
SPEAKS = re.compile(r"\b(trace_|drm_(dbg|warn|err|info)|dev_info|seq_p|might_|lockdep_|MODULE_|MODULE_PARM)")
# What every mutant meets, in one guest: they are quick and do well on this machine.
USUAL = ("ioctl_common ioctl_query ioctl_vm ioctl_vm_bind ioctl_bo ioctl_queue ioctl_submit ioctl_heap ioctl_perfmon isolation_ids "
         "isolation_culprits syncobjs memory rings engines prime lib_objects lib_syncs commands_bad compute_faults gfx_heap observe isolation "
         "copy checked ioctl_promises gpu_top leaks").split()
# A job that waits for a program on a busy host must not count as a hang; programs about hangs say what they want.
PATIENT = "tessera.job_timeout_ms=30000"
MACHINE = {"devices": 1, "iommu": False, "smp": 1, "mem": 1024, "kernel_args": "", "load": False,
           "device_args": "vram=64M,copy-engines=2,inject-window=on,check=on"}
FITS = {"vram=32M", *MACHINE["device_args"].split(",")}     # what a program may ask for and still run there
# Which of them belong to a file most (the others follow), and after | what wants parameters or a guest of its own.
NEAR = {
    "as": "memory rings ioctl_perfmon | hotplug small_gpu ladder", "bind": "ioctl_vm_bind ioctl_promises memory | hotplug madvise iommu",
    "bind_ioctl": "ioctl_vm_bind | recovery hotplug", "check": "checked leaks memory | pairs",
    "debugfs": "observe gpu_top drm_core", "device": "ioctl_query | small_gpu hotplug suspend", "drv": "ioctl_common drm_core | hotplug",
    "dump": "| dump", "fault": "compute_faults isolation | dump recovery", "fdinfo": "observe gpu_top drm_core | madvise",
    "fence": "syncobjs rings ioctl_submit | hang hotplug recovery",
    "gem": "ioctl_bo prime memory observe drm_core | iommu madvise hotplug suspend", "gem_ioctl": "ioctl_bo | madvise",
    "heap": "ioctl_heap gfx_heap | ladder hotplug", "inject": "observe | inject", "irq": "gfx_heap compute_faults | inject hotplug suspend ladder",
    "local": "ioctl_bo memory copy | madvise hotplug lib_photo", "mmu": "memory ioctl_vm_bind rings | small_gpu iommu",
    "pci": "| hotplug recovery pci_errors", "perfmon": "ioctl_perfmon | hotplug", "pm": "| suspend runtime_pm", "query": "ioctl_query | small_gpu recovery",
    "queue": "ioctl_queue isolation rings | small_gpu recovery dump hotplug", "queue_hw": "ioctl_queue rings | hang recovery suspend",
    "queue_ioctl": "ioctl_queue isolation_ids drm_core | recovery",
    "reset": "isolation_culprits | hang recovery suspend ladder inject runtime_pm hotplug pci_errors",
    "sched": "rings ioctl_submit | hang recovery", "shrinker": "ioctl_bo | madvise hotplug", "submit": "ioctl_submit | commands recovery hotplug",
    "sync": "syncobjs ioctl_submit lib_syncs", "timestamp": "ioctl_query | suspend", "uapi": "ioctl_common | hotplug",
    "vm": "ioctl_vm memory ioctl_vm_bind | small_gpu dump hotplug recovery",
}
# The directory that the guest mounts does not survive the machine's sleep (9p over virtio), so the driver comes in the initramfs.
SLEEPS = {"suspend"}
took = {}               # program: seconds of its first run, with the driver as it is
LIMIT = 120             # seconds until the driver has loaded or unloaded, on an idle host
LEFT_LIMIT = 10         # until a driver that has been noticed has unloaded; else the guest goes with it
# The driver takes the place of the guest's own, so that programs which load it again get it; nodes appear a moment later.
LOAD = ("[ ! -e /mnt/{0} ] || cp /mnt/{0}/tessera.ko /lib/modules/$(uname -r)/extra/ && modprobe drm && modprobe tessera {1} || exit; "
        "n=0; while [ ! -e /dev/dri/renderD128 ] && [ $n -lt 50 ]; do n=$((n + 1)); usleep 20000; done")

READ_DUMPS = "for d in /sys/class/devcoredump/*/data; do [ ! -e $d ] || echo 1 >$d; done"      # of the programs before
FAILED = re.compile(r"^(?:#.*\n)?not ok .*", re.M)      # with what it said before

# What noticed a driver: a program or None, and what that said.
Notice = collections.namedtuple("Notice", "test said")


def short(path):
    """A file of the driver as in NEAR."""
    return os.path.basename(path)[len("tessera_"):-2]


def programs(path):
    """(those of the usual guest, the others) for a file of the driver, in the order to run."""
    near, _, own = NEAR.get(short(path), "").partition("|")
    return list(dict.fromkeys(near.split() + USUAL)), own.split()


def build(tree, kdir):
    """Path of the tree's module, None if it does not build."""
    done = subprocess.run(["bash", f"{tree}/qemu-device/vm/module.sh"] +
                          ([kdir] if kdir else []), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, TSR_TOP=tree))
    return done.stdout.strip() if not done.returncode else None


def read(path):
    with open(path, "rb") as f:
        return f.read()


def code(module):
    """A fingerprint of what a module does, without what tells of lines and times."""
    digest = hashlib.sha256()
    with tempfile.NamedTemporaryFile(suffix=".ko") as f:
        f.write(module)
        f.flush()
        for section in ".text", ".rodata", ".data", ".init.text", ".exit.text":
            said = subprocess.run(["objdump", "-s", "-r", "-j", section, f.name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            digest.update(said.stdout.split(b"\n", 3)[-1])
    return digest.hexdigest()


def own_machine(test):
    """The machine a program asks for, with the contract checker unless it does without; the driver comes later."""
    options = guest_options(test)
    if "check=" not in options["device_args"]:
        options["device_args"] = f"{options['device_args']},check=on".lstrip(",")
    return dict(options, kernel_args="", load=False)


def fits(machine):
    """Whether the usual guest will do instead."""
    return dict(machine, device_args=MACHINE["device_args"]) == MACHINE and set(machine["device_args"].split(",")) <= FITS


def parameters(kernel_args):
    """Those of the module, which modprobe would take from the kernel's command line."""
    words = [word.partition("tessera.") for word in f"{PATIENT} {variant.current().kernel_args} {kernel_args}".split()]
    return " ".join(name for before, found, name in words if found and not before)


def test_of(name):
    """A guest program, or a host script."""
    paths = [f"{TOP}/tests/guest/{name}.{suffix}" for suffix in ("c", "py")]
    return Test(next(path for path in paths if os.path.exists(path)), "guest/")


def tests_of(names):
    return [test_of(name) for name in names]


class House:
    """A guest in which one driver lives after the other, each a directory below the one that the guest mounts."""

    def __init__(self, directory, machine):
        self.options = dict(machine, share=directory)
        self.guest, self.used = None, False     # used: a mutant has been here

    def leave(self):
        """The guest is not fit for another driver."""
        if self.guest:
            self.guest.stop()
        self.guest, self.used = None, False

    def enter(self):
        if not self.guest:
            self.guest = Guest(**self.options)
            self.guest.start()
        self.seen = len(self.guest.console())

    def trouble(self):
        """What the kernel has complained of since the driver came, the first line; "" if it is content."""
        return (variant.trouble(self.guest.console()[self.seen:]) + [""])[0].strip()

    def meets(self, test):
        """What is wrong with a program's run, "" if nothing. It may take ten times what it took first."""
        start = time.monotonic()
        result = self.guest.run(f"{READ_DUMPS}; TSR_QUICK=1 exec {test.name} 2>&1", min(test.timeout(), 30 + 10 * took.get(test.name, 60)))
        took.setdefault(test.name, time.monotonic() - start)
        failed = FAILED.search(result.stdout.decode(errors="replace"))
        if failed or result.status:
            return failed[0].replace("\n", "; ") if failed else f"status {result.status}"
        return self.trouble() or (self.guest.driver_bugs() + [""])[0]

    def visit(self, driver, tests, kernel_args=""):
        """The Notice of a driver that comes, meets some programs and goes; None if nothing is wrong. The guest is as it was, or gone."""
        test = None
        try:
            self.enter()
            self.used |= driver != "good"
            if self.guest.run(LOAD.format(driver, parameters(kernel_args)), LIMIT).status:
                return Notice(None, f"modprobe: {self.trouble()}")
            for test in tests:
                said = self.meets(test)
                if said:
                    self.clear(LEFT_LIMIT)
                    return Notice(test, said)
            said = self.clear(LIMIT)
            return Notice(None, said) if said else None
        except GuestError as e:
            said = (self.guest and self.trouble()) or str(e).splitlines()[0]
            self.leave()
            return Notice(test, said)

    def clear(self, limit):
        """The driver goes; what is wrong then, "" if nothing. A guest that is not as it was is given up."""
        try:
            said = "rmmod" if self.guest.run(variant.UNLOAD, limit).status else ""
        except GuestError:
            said = "rmmod"
        said = self.trouble() or said or (self.guest.driver_bugs() + [""])[0] if self.guest.alive() else "the guest is gone"
        if said:
            self.leave()
        return said


class Fresh:
    """Guests that begin with one driver and end with it; none has been used before."""

    used = False

    def __init__(self, directory, machine):
        self.directory, self.machine = directory, machine

    def leave(self):
        """There is nothing to leave."""

    def compared(self, test, kernel_args):
        """What a mutant is noticed by, if the driver as it is does well at that moment: scripts wait for a time that may be short."""
        found = self.visit("mutant", [test], kernel_args)
        return found if found and not self.visit("good", [test], kernel_args) else None

    def visit(self, driver, tests, kernel_args=""):
        """As House.visit(), of one program or script."""
        test = tests[0]
        initrd = mutate_initrd.with_driver(os.path.join(self.directory, driver, "tessera.ko"), os.environ["TSR_INITRD"],
                                           os.path.join(self.directory, f"{driver}.cpio"))
        if test.path.endswith(".py"):
            said = mutate_initrd.script(test, initrd)
            return Notice(test, said) if said else None
        house = House(None, dict(self.machine, initrd=initrd))
        try:
            return house.visit(driver, tests, kernel_args)
        finally:
            house.leave()


class Drivers:
    """The driver as it is and a mutant, and the guest they live in."""

    def __init__(self, tree, directory):
        self.tree, self.share = tree, os.path.join(directory, "drivers")
        self.building = threading.Lock()
        module = build(tree, KDIR)
        if not module:
            sys.exit("tessera: error: the driver does not build")
        module = read(module)
        self.move_in(module, "good")
        self.code = code(module)
        self.house = House(self.share, MACHINE)
        self.unit_tests, self.unit_fine = UnitTests(directory), False
        self.fine = {}          # program not of the usual ones: whether it passes with the driver as it is

    def move_in(self, module, name):
        """Put a module's bytes where the guest finds them."""
        os.makedirs(os.path.join(self.share, name), exist_ok=True)
        with open(os.path.join(self.share, name, "tessera.ko"), "wb") as f:
            f.write(module)

    def made(self, mutant):
        """A mutant's module, None if it is no mutant."""
        module = self.built(mutant, KDIR, read)
        return module if module and code(module) != self.code else None

    def built(self, mutant, kdir, use):
        """What use() makes of the path of a mutant's module, None if it does not build."""
        def make():
            module = build(self.tree, kdir)
            return use(module) if module else None
        with self.building:
            return with_mutant(self.tree, mutant, make)

    def told(self, tests, kernel_args=""):
        """The Notice of the mutant in the usual guest, if it is the mutant's fault."""
        used = self.house.used
        found = self.house.visit("mutant", tests, kernel_args)
        if found and used:
            again = [found.test] if found.test else []
            if self.house.guest and not self.house.visit("good", again, kernel_args):
                return found
            self.house.leave()
            found = self.house.visit("mutant", again, kernel_args) or self.house.visit("mutant", tests, kernel_args)
        return found

    def alone(self, test):
        """The Notice of a program that wants parameters, or a machine of its own."""
        machine = own_machine(test)
        if test.path.endswith(".py") or test.name in SLEEPS:
            fresh = Fresh(self.share, machine)
            return self.noticed(fresh, test, lambda kernel_args: fresh.compared(test, kernel_args))
        if fits(machine):
            return self.noticed(self.house, test, lambda kernel_args: self.told([test], kernel_args))
        house = House(self.share, machine)
        try:
            return self.noticed(house, test, lambda kernel_args: house.visit("mutant", [test], kernel_args))
        finally:
            house.leave()

    def passes(self, house, test, kernel_args):
        """Whether a program passes with the driver as it is; a guest that mutants have been in is not believed when it fails."""
        used = house.used
        if not house.visit("good", [test], kernel_args):
            return True
        house.leave()
        return used and not house.visit("good", [test], kernel_args)

    def noticed(self, house, test, meets):
        """What meets() says, if the program passes in the house with the driver as it is."""
        kernel_args = guest_options(test)["kernel_args"]
        if test.name not in self.fine:
            self.fine[test.name] = self.passes(house, test, kernel_args)
            if not self.fine[test.name]:
                print(f"# {test.name} cannot be used: it does not pass with the driver as it is", flush=True)
        return meets(kernel_args) if self.fine[test.name] else None

    def judge(self, mutant, module, usual, own):
        """Who notices a mutant, "" if nobody."""
        if short(mutant.path) in mutate_kunit.FILES:
            said = self.unit(mutant)
            if said:
                return f"KUnit: {said}"
        self.move_in(module, "mutant")
        found = self.told(tests_of(usual))
        for test in tests_of(own):
            found = found or self.alone(test)
        return f"{found.test.name if found.test else 'the driver'}: {found.said}" if found else ""

    def unit(self, mutant):
        """What the KUnit suites say of a mutant, "" if nothing."""
        kernel = self.unit_tests.kernel()
        if not self.unit_fine:
            with self.building:
                said = self.unit_tests.notice(build(self.tree, kernel))
            if said:
                sys.exit(f"tessera: error: the driver without any mutation is noticed by KUnit: {said}")
            self.unit_fine = True
        return self.built(mutant, kernel, self.unit_tests.notice)

    def leave(self):
        self.house.leave()
        self.unit_tests.leave()


def ahead(make, things):
    """(thing, what make(thing) returns); the next is made meanwhile."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        before = None
        for thing in things:
            future = pool.submit(make, thing)
            if before:
                yield before[0], before[1].result()
            before = thing, future
        if before:
            yield before[0], before[1].result()


def main():
    p = arguments("Count the mutants of the driver that the guest suite kills.", 12)
    p.add_argument("--programs", default="", help="what has to notice them, in the usual guest; instead of those that belong to the file")
    args = p.parse_args()
    os.environ.pop("TSR_TROUBLE", None)     # its kernels complain on purpose
    tree = os.path.join(args.dir, "tree")
    copy_checkout(tree)
    # what is built meanwhile, for other tests of this checkout, must not change who judges
    os.environ["TSR_INITRD"] = shutil.copy(os.environ["TSR_INITRD"], args.dir)
    paths = [os.path.join(DRIVER, n) for n in os.listdir(os.path.join(tree, DRIVER)) if n.endswith(".c")]
    mutants = [m for m in chosen(tree, paths, DRIVER, args.only, args.seed) if not SPEAKS.search(m.new)]
    drivers = Drivers(tree, args.dir)
    found = drivers.house.visit("good", tests_of(args.programs.split() or USUAL))
    if found:
        drivers.leave()
        sys.exit(f"tessera: error: the driver without any mutation is noticed by {found.test and found.test.name}: {found.said}")
    print(f"# seed {args.seed}", flush=True)
    known = equivalent.List(tree)

    def made(mutant):
        return None if known.reason(mutant) else drivers.made(mutant)

    def judged():
        for mutant, module in ahead(made, mutants):
            usual, own = (args.programs.split(), []) if args.programs else programs(mutant.path)
            yield mutant, known.reason(mutant) or (module and drivers.judge(mutant, module, usual, own))

    try:
        return count(judged(), args.count)
    finally:
        drivers.leave()


if __name__ == "__main__":
    sys.exit(main())
