#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=3600
"""The guest suite as kernel selftests (`make check-kselftest`).

`make export TO=kernel-tree` puts them below tools/testing/selftests of a Linux tree. There they are built and installed by the
tree's own make; in guests of ours each is run by run_kselftest.sh, and then the program that the guest suite runs: both
have to say the same of the same tests. SELFTESTS='PATTERN ...' chooses some.
"""

import fnmatch
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "..", "qemu-device", "vm")]
from guest import Guest, GuestError  # noqa: E402
from run import Test, grouped, guest_options, guest_source, run_program  # noqa: E402
from tap import Tap  # noqa: E402

TOP = os.environ["TSR_TOP"]
BUILD = os.environ["TSR_BUILD"]
COLLECTION = "drivers/gpu/tessera"
INSTALLED = os.path.join(BUILD, "kselftest")
OBJECTS = os.path.join(BUILD, "kernel-tree", "selftests")
# A result of either, in its own words: kselftest.h has the reason of a skip, and our name, behind SKIP.
RESULT = re.compile(r"^(not )?ok \d+ (?:- )?(# SKIP )?(.*)$")


def output_of(command, **options):
    """What a command prints; its end is shown when it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode:
        for line in done.stdout.splitlines()[-30:]:
            print(f"# {line}")
        raise RuntimeError(f"{' '.join(command)} ends with status {done.returncode}")
    return done.stdout


def install():
    """Build the selftests in the tree and install them; the collection's names as the tree lists them."""
    script = os.path.join(TOP, "qemu-device/build/kernel-tree/kernel_tree.sh")
    tree = subprocess.run([script], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    jobs = f"-j{os.cpu_count()}"
    output_of(["make", "-C", tree, f"O={OBJECTS}", jobs, "headers"])
    said = output_of(["make", "-C", os.path.join(tree, "tools/testing/selftests"), f"O={OBJECTS}", f"TARGETS={COLLECTION}",
                      f"KSFT_INSTALL_PATH={INSTALLED}", jobs, "install"])
    for line in said.splitlines():
        if "warning" in line:
            raise RuntimeError(f"the selftests build with a warning: {line}")
    with open(os.path.join(INSTALLED, "kselftest-list.txt")) as f:
        return [line.strip().partition(":")[2] for line in f]


def results(text):
    """[(passed, skipped or failed, name)] of the lines of KTAP in text."""
    found = []
    for m in filter(None, map(RESULT.match, text.splitlines())):
        name, _, reason = m[3].partition(" # SKIP ")
        if m[2]:
            name, _, reason = m[3].partition(": ") if ": " in m[3] else (m[3], "", "")
        found.append(("failed" if m[1] else "skipped" if m[2] or reason else "passed", name))
    return found


def run_both(guests, test):
    """What run_kselftest.sh does with the program, and what that says by itself."""
    # After a sleep of the machine nothing is heard of its 9p server: no program may stand in a directory of that then.
    place = "/tmp/selftests" if test.settings.get("CONSOLE") == "1" else "/mnt"
    run = run_program(guests.one(test), test, f"[ -e {place} ] || cp -r /mnt {place}; "
                      "set -o pipefail; "         # it opens /dev/stdout again, which a port does not allow
                      f"TSR_QUICK=1 {place}/run_kselftest.sh -t {COLLECTION}:{test.name} 2>&1 | cat")
    # A moment later: works give back what the first had, and until then reclaim finds that first. A program that fills
    # all memory (madvise) begins in a new guest, since under load a moment is too short and it is killed.
    if "MEM" in test.settings:
        guests.stop()
    return run, run_program(guests.one(test), test, f"cd /; sleep 2; TSR_QUICK=1 {test.name} 2>&1")


def run_group(group):
    """The outputs of both, or what the guest died of, of tests that share a guest."""
    guests, outputs = Guests(), []
    try:
        for test in group:
            try:
                outputs.append(run_both(guests, test))
            except GuestError as e:
                outputs.append(e)
    finally:
        guests.stop()
    return outputs


def compare(tap, test, output):
    """Hold both against one another."""
    if isinstance(output, GuestError):
        tap.ok(False, f"the guest failed: {output}")
        return
    run, alone = output
    text = run.stdout.decode(errors="replace")
    inner = "\n".join(line[2:] for line in text.splitlines() if line.startswith("# "))
    selftest = results(inner)
    said = alone.stdout.decode(errors="replace")
    suite = results(said)
    verdict = f"ok 1 selftests: {COLLECTION}: {test.name}"
    tap.eq(run.status, 0, "status of run_kselftest.sh")
    tap.ok(verdict in text.splitlines(), f"run_kselftest.sh does not say '{verdict}'")
    tap.eq(alone.status, 0, "status of the guest suite's program")
    tap.ok(len(suite) > 0, "the guest suite's program says nothing")
    for mine, theirs in zip(selftest, suite):
        if mine[0] != theirs[0] or not (mine[1] == theirs[1] or mine[0] == "skipped" and theirs[1].startswith(mine[1])):
            tap.eq(mine, theirs, "a selftest, and the same test of the guest suite")
    tap.eq(len(selftest), len(suite), "tests of the program")
    for who, text, found in ("selftest", inner, selftest), ("suite", said, suite):
        for line in text.splitlines() if tap.bad or "failed" in [word for word, _ in found] else ():
            print(f"# {who}: {line}")


class Guests:
    """One guest at a time, booted again when it is gone."""

    def __init__(self):
        self.guest = None

    def one(self, test):
        if self.guest is None or not self.guest.alive():
            self.stop()
            self.guest = Guest(**dict(guest_options(test), share=INSTALLED)).start()
        return self.guest

    def stop(self):
        if self.guest:
            self.guest.stop()
        self.guest = None


def main():
    tap = Tap()
    patterns = os.environ.get("SELFTESTS", "").split() or ["*"]
    names = []
    with tap.test("[SYS11] the selftests build in a kernel tree without a warning, and are installed"):
        names = install()
        tap.ok(len(names) > 0, "nothing is in the list")
    tests = [Test(guest_source(name), "guest/") for name in names
             if any(fnmatch.fnmatch(name, p) for p in patterns)]
    groups, compared = grouped(tests), []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for group, outputs in zip(groups, pool.map(run_group, groups)):
            for test, output in zip(group, outputs):
                with tap.test(f"[SYS11] {test.name} says the same by run_kselftest.sh as in the guest suite"):
                    compare(tap, test, output)
                    compared.append(test.name)
    if patterns == ["*"]:
        with tap.test("[SYS11] all selftests say the same by run_kselftest.sh as in the guest suite"):
            tap.eq(sorted(compared), sorted(names), "selftests that were compared")
            tap.eq(tap.failed, 0, "failed comparisons")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
