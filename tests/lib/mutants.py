#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=3600
"""Build broken drivers and see that each is noticed (`make check-mutants`).

    mutants.py ['PATTERN ...']      which of them; without one what TSR_MUTANTS says, or all

A mutant is a patch of tests/mutants (Documentation/develop/broken-drivers.md) that gives the driver one mistake. It is built,
loaded in a guest of its own in the place of the driver, and the program named in its head runs under the device's
contract checker, on the machine it asks for. "Noticed by: WHAT, PROGRAM": WHAT is

    CHECK_KIND      a report of the checker
    suite           a test that fails, or a program that does not end
    kernel          the kernel's log complains; these mutants need a kernel that looks (VARIANT=debug)
    race            KCSAN complains; these need the kernel that has it (VARIANT=race)
    static          tests/lib/PROGRAM.sh refuses the driver's text; nothing is built
    fuzz            make check-fuzz-kernel, which builds it by itself; skipped here
    table           a cell of the recovery contract turns red; `make check-contract` tries these

"none" is the driver as it is: the programs of the others must pass and nothing be reported, for a
test that always fails would catch every mutant. Prints KTAP.
"""

import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "qemu-device", "vm")]
import variant  # noqa: E402
from guest import Guest, GuestError  # noqa: E402
from run import Test, grouped, guest_options, guest_source, run_program  # noqa: E402
from tap import Tap  # noqa: E402

TOP = os.environ["TSR_TOP"]
BUILD = os.environ["TSR_BUILD"]
# modprobe brings what the driver needs, then the mutant takes its place; nodes appear a moment later.
LOAD = ("modprobe drm; modprobe tessera && rmmod tessera && insmod /mnt/tessera.ko {} || exit; "
        "n=0; while [ ! -e /dev/dri/renderD128 ] && [ $n -lt 50 ]; do n=$((n + 1)); usleep 20000; done")
LIMIT = 120             # seconds for the programs of one mutant, on an idle host

HEAD = re.compile(r"^Noticed by: (\w+), (\w+)$", re.M)


def museum():
    """{name: (what it must be caught by, the program that runs)} of all patches."""
    found = {}
    for path in sorted(glob.glob(os.path.join(TOP, "tests", "mutants", "*.patch"))):
        with open(path) as f:
            found[os.path.basename(path)[:-len(".patch")]] = HEAD.search(f.read()).groups()
    return found


# Kernels that it takes to notice something; the rest any can.
LOOKS = {"kernel": "debug", "race": "race"}
# Mutants that another target tries.
APART = {"fuzz": "make check-fuzz-kernel", "table": "make check-contract"}


def tried_here(mutants):
    """Those of the mutants that this kernel can notice, and no other target tries."""
    return {name: m for name, m in mutants.items()
            if m[0] not in APART and LOOKS.get(m[0]) in (None, os.environ.get("TSR_VARIANT"))}


def build(name):
    """Path of the module with that mistake."""
    out = subprocess.run(["bash", f"{TOP}/qemu-device/vm/module.sh", os.environ["TSR_KDIR"]],
                         stdout=subprocess.PIPE, text=True, check=True,
                         env=dict(os.environ, MUTANT="" if name == "none" else name))
    return out.stdout.strip()


def refused(name, script):
    """What the script says against the text of the driver with that mistake, or without one; None if nothing."""
    with tempfile.TemporaryDirectory() as aside:
        shutil.copytree(os.path.join(TOP, "kernel"), os.path.join(aside, "kernel"))
        if name != "none":
            with open(os.path.join(TOP, "tests", "mutants", f"{name}.patch")) as f:
                subprocess.run(["patch", "-d", aside, "-p1", "-F0", "-s", "--force"], stdin=f, check=True)
        done = subprocess.run(["bash", f"{TOP}/tests/lib/{script}.sh", os.path.join(aside, "kernel")],
                              stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip() if done.returncode else None


def run_one(guest, test, caught):
    """Run its program; note what is wrong in caught["suite"]."""
    program = test.name
    try:
        result = run_program(guest, test, f"TSR_QUICK=1 exec {program} 2>&1", limit=LIMIT)
    except GuestError as e:
        caught["suite"] = f"{program}: {str(e).splitlines()[0]}"
        return
    text = result.stdout.decode(errors="replace")
    failed = [line for line in text.splitlines() if line.startswith(("not ok", "Bail out!"))]
    if result.status:
        caught.setdefault("suite", f"{program}: {failed[0] if failed else f'status {result.status}'}")


def machine(test, share):
    """The guest that a program asks for, with the checker and without the driver."""
    options = guest_options(test)
    if "check=" not in options["device_args"]:
        options["device_args"] = f"{options['device_args']},check=on".lstrip(",")
    return Guest(**dict(options, load=False, share=share))


def parameters(guest):
    """What modprobe would take from the kernel's command line and insmod does not."""
    words = [word.partition("tessera.") for word in guest.kernel_args.split()]
    return " ".join(name for before, found, name in words if found and not before)


def catch(module, tests):
    """What notices the driver in file module under tests, which want the same machine: {"suite" or CHECK_KIND or
    "kernel": what it says}."""
    caught = {}
    guest = machine(tests[0], os.path.dirname(module))
    try:
        guest.start()
        loaded = guest.run(LOAD.format(parameters(guest)), 60)
        if loaded.status:
            raise GuestError(f"the module does not load: {loaded.stderr.decode(errors='replace')}")
        for test in tests:
            if guest.alive():
                run_one(guest, test, caught)
        reports = guest.driver_bugs() if guest.alive() else []
        trouble = variant.trouble(guest.console())
    finally:
        guest.stop()
    for line in reports or [said for said in guest.qemu_said.decode(errors="replace").splitlines()
                            if "driver bug " in said]:
        kind, _, what = line.partition("driver bug ")[2].partition(": ")
        caught.setdefault(kind, what)
    if trouble:
        caught["race" if "KCSAN" in trouble[0] else "kernel"] = trouble[0]
    return caught


def check_text(tap, name, script):
    """A mutant that only its text gives away, as a test."""
    said = refused(name, script)
    print(f"# {name}: static: {said}", flush=True)
    tap.ok(said, f"{script}.sh does not notice mutant {name}")
    tap.eq(refused("none", script), None, "what is said of the driver as it is")


def check(tap, name, want, programs):
    """One mutant as a test."""
    source = build(name)
    aside = os.path.join(BUILD, "mutants", name)
    os.makedirs(aside, exist_ok=True)
    shutil.copy(source, os.path.join(aside, "tessera.ko"))
    caught = {}
    for tests in grouped([Test(guest_source(program), "guest/") for program in programs]):
        caught.update(catch(os.path.join(aside, "tessera.ko"), tests))
    for kind, what in sorted(caught.items()):
        print(f"# {name}: {kind}: {what}", flush=True)
    if want:
        tap.ok(want in caught, f"{want} does not notice mutant {name}; noticed by: {', '.join(caught) or 'nothing'}")
    else:
        tap.eq(sorted(caught), [], "what notices the driver as it is")


def main():
    os.environ.pop("TSR_TROUBLE", None)     # its kernels complain on purpose
    patterns = " ".join(sys.argv[1:] or [os.environ.get("TSR_MUTANTS", "")]).split() or ["*"]
    mutants = museum()
    chosen = {n: m for n, m in mutants.items() if any(fnmatch.fnmatch(n, x) for x in patterns)}
    able = tried_here(chosen)
    tap = Tap()
    for name in sorted(chosen.keys() - able.keys()):
        with tap.test(f"[SYS9] mutant {name} is noticed"):
            want = chosen[name][0]
            tap.skip(f"{APART[want]} tries it" if want in APART else f"needs VARIANT={LOOKS[want]}")
    if "none" in patterns or "*" in patterns:
        with tap.test("[SYS9] the driver as it is is not taken for a mutant"):
            check(tap, "none", None, dict.fromkeys(m[1] for m in (able or tried_here(mutants)).values() if m[0] != "static"))
    for name, (want, program) in able.items():
        with tap.test(f"[SYS9] mutant {name} is noticed by {want}"):
            if want == "static":
                check_text(tap, name, program)
            else:
                check(tap, name, want, [program])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
