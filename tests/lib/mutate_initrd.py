# SPDX-License-Identifier: MIT
"""A mutant of the driver in the guest's initramfs, for what boots guests of its own (mutate_driver.py)."""

import os
import re
import subprocess
import sys
import tempfile

from run import kernel_said, run_process

TOP = os.environ["TSR_TOP"]
FAILED = re.compile(r"^not ok .*", re.M)

sys.path.insert(0, os.path.join(TOP, "qemu-device/vm"))
from initramfs import Archive, read  # noqa: E402


def with_driver(module, initrd, out):
    """Write to out what initrd holds, with a module in the driver's place: the kernel unpacks one archive after the other."""
    release = subprocess.run(["/sbin/modinfo", "-F", "vermagic", module], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[0]
    archive = Archive()
    archive.file(f"lib/modules/{release}/extra/tessera.ko", read(module), 0o644)
    archive.write(out)
    own = read(out)
    with open(out, "wb") as f:
        f.write(read(initrd))
        f.write(own)
    return out


def script(test, initrd):
    """What is wrong with a host script's run, "" if nothing."""
    with tempfile.NamedTemporaryFile("r", prefix="tessera-trouble-") as complaints:
        env = dict(os.environ, TSR_INITRD=initrd, TSR_CHECK="1", TSR_TROUBLE=complaints.name,
                   PYTHONPATH=os.path.join(TOP, "tests/lib"))
        text, problems, _ = run_process(test, env)
        problems += kernel_said(complaints.read().splitlines())
    failed = FAILED.search(text)
    return failed[0] if failed else problems[0].replace("\n", "; ") if problems else ""
