#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=400
"""The loop of a driver developer: change a source file, build the module, see it in a fresh guest.

Works on a copy of kernel/ and the runner, which keeps its build directory from run to run, as a checkout does.
"""

import os
import random
import subprocess
import sys

from guest import Guest
from tap import Tap

TOP = os.environ["TSR_TOP"]
COPY = os.path.join(os.environ["TSR_BUILD"], "edit")
SOURCE = os.path.join(COPY, "kernel", "tessera_drv.c")
PARTS = ["kernel", "qemu-device/build", "qemu-device/vm", "Documentation/hw"]

tap = Tap()


def copy_checkout():
    for part in PARTS:
        os.makedirs(os.path.join(COPY, part), exist_ok=True)
        subprocess.run(["rsync", "-r", "--checksum", "--delete", f"{TOP}/{part}/", f"{COPY}/{part}/"], check=True)


def script(name, *args):
    """Run one of the runner's scripts of the copy; the last line it prints."""
    done = subprocess.run(["bash", os.path.join(COPY, "qemu-device/vm", name), *args], stdout=subprocess.PIPE,
                          text=True)
    return done.returncode, done.stdout.strip().split("\n")[-1]


def guest_with(module):
    """A guest that loads this module."""
    kernel = script("kernel.sh")[1]
    with open(os.path.join(kernel, "release")) as f:
        release = f.read().strip()
    initrd = os.path.join(COPY, "initramfs.cpio")
    subprocess.run(["/usr/bin/python3", "-B", os.path.join(COPY, "qemu-device/vm/initramfs.py"), "--out", initrd,
                    "--busybox", script("busybox.sh")[1], "--modules", f"{kernel}/lib/modules/{release}",
                    "--module", module], check=True)
    return Guest(kernel=f"{kernel}/vmlinuz", initrd=initrd)


copy_checkout()
with open(SOURCE) as f:
    text = f.read()
word = f"edited {random.getrandbits(48):x}"

with tap.test("[SYS9] a changed driver is rebuilt and is the one that runs in the next guest"):
    with open(SOURCE, "w") as f:
        f.write(text + f'MODULE_INFO(edited, "{word}");\n')
    status, module = script("module.sh")
    tap.eq(status, 0, "status of the build")
    info = subprocess.run(["/sbin/modinfo", "-F", "edited", module], capture_output=True, text=True, check=True)
    tap.eq(info.stdout.strip(), word)
    with guest_with(module) as guest:
        tap.eq(guest.run("grep -c '^tessera ' /proc/modules").stdout, b"1\n")
        tap.eq(guest.run(f"grep -c '{word}' /lib/modules/$(uname -r)/extra/tessera.ko").stdout, b"1\n")

with tap.test("a driver that does not compile is an error, and no old module is taken for it"):
    with open(SOURCE, "w") as f:
        f.write(text + "this is no C\n")
    status, printed = script("module.sh")
    tap.eq((status, printed), (1, ""))

with tap.test("back to the old text, it builds again"):
    with open(SOURCE, "w") as f:
        f.write(text)
    tap.eq(script("module.sh")[0], 0)

sys.exit(tap.finish())
