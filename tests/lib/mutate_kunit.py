# SPDX-License-Identifier: MIT
"""The driver's KUnit suites as judges of a mutant (mutate_driver.py).

The stock kernel has no KUnit. A guest with a kernel that has (VARIANT=cover, of which only this is used) is built
and booted when the first mutant asks for it, and stays up.
"""

import os
import re
import shutil
import subprocess

from guest import Guest, GuestError

TOP = os.environ["TSR_TOP"]
FILES = "check device fault heap inject mmu query queue_hw reset shrinker submit sync timestamp uapi".split()        # those that kernel/tests/ has suites for
LIMIT = 60          # seconds for all suites, on an idle host: a mutant may loop
SUITE = re.compile(r"\bok \d+ tessera_\w+$", re.M)
FAILED = re.compile(r"\bnot ok .*")
RUN = "modprobe kunit enable=1; dmesg -c >/dev/null; insmod /mnt/tessera_kunit.ko && dmesg && rmmod tessera_kunit"


class UnitTests:
    def __init__(self, directory):
        self.share = os.path.join(directory, "kunit")
        self.guest = None

    def start(self):
        """Boot the kernel that has KUnit."""
        said = subprocess.run(["make", "-s", "-C", TOP, "guest-env", "VARIANT=cover"], stdout=subprocess.PIPE, text=True, check=True,
                              env={n: v for n, v in os.environ.items() if not n.startswith("TSR_")}).stdout
        self.env = dict(line.split("=", 1) for line in said.splitlines())
        os.makedirs(self.share, exist_ok=True)

    def kernel(self):
        """The build directory of that kernel."""
        if not self.guest:
            self.start()
        return self.env["TSR_KERNEL"].removesuffix("/arch/x86/boot/bzImage")

    def notice(self, module):
        """What the suites beside a module say that fails, "" if nothing."""
        shutil.copy(os.path.join(os.path.dirname(module), "tests", "tessera_kunit.ko"), self.share)
        try:
            if not self.guest:
                self.guest = Guest(devices=0, load=False, share=self.share, kernel=self.env["TSR_KERNEL"], initrd=self.env["TSR_INITRD"])
                self.guest.start()
            result = self.guest.run(RUN, LIMIT)
        except GuestError as e:
            self.leave()
            return str(e).splitlines()[0]
        text = result.stdout.decode(errors="replace")
        failed = FAILED.search(text)
        said = failed[0] if failed else f"status {result.status}" if result.status else "" if SUITE.search(text) else "no suite ran"
        if said:
            self.leave()
        return said

    def leave(self):
        if self.guest:
            self.guest.stop()
        self.guest = None
