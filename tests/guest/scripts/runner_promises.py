#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=240
"""What make guest and qemu-device/vm/guest.py promise: output, status, and clear errors when a guest fails."""

import os
import subprocess
import sys
import tempfile

import kvm
import variant
from guest import Guest, GuestError
from tap import Tap

tap = Tap()
os.environ.pop("TSR_TROUBLE", None)       # its kernels crash on purpose


def error_of(function):
    """The text of the GuestError that a call ends with."""
    try:
        function()
    except GuestError as e:
        return str(e)
    return "no error"


with Guest(devices=0) as g:
    with tap.test("[SYS8] a guest boots with the accelerator that was chosen"):
        tap.ok(g.accel in ("kvm", "tcg"), f"accelerator {g.accel}: {g.accel_reason}")
        tap.eq(g.run("cat /proc/sys/kernel/ostype").stdout, b"Linux\n")
    with tap.test("the exit status comes back, also a signal's"):
        tap.eq(g.run("exit 7").status, 7)
        tap.eq(g.run("kill -9 $$").status, 128 + 9)
    with tap.test("standard output and standard error are apart and unchanged"):
        r = g.run("printf 'a\\r\\n\\000\\377b'; printf 'c\\n\\n' >&2")
        tap.eq((r.stdout, r.stderr), (b"a\r\n\0\xffb", b"c\n\n"))
    with tap.test("megabytes of output arrive whole"):
        r = g.run("head -c 3000000 /dev/urandom >/tmp/x; cat /tmp/x; md5sum </tmp/x >&2")
        tap.eq(len(r.stdout), 3000000)
        want = subprocess.run(["md5sum"], input=r.stdout, capture_output=True, check=True).stdout
        tap.eq(r.stderr, want)
    with tap.test("a command with quotes and several lines is run as it is"):
        tap.eq(g.run("x='a  \"b\"'\necho \"$x\" | sed 's/a/\\\\/'").stdout, b"\\  \"b\"\n")
    with tap.test("a hang is an error that shows the console"):
        text = error_of(lambda: g.run("echo the last words >/dev/console; sleep 1000", timeout=2))
        tap.ok(f"did not end within {2 * variant.current().slow} s" in text, text)
        tap.ok("the last words" in text, text)



class OldText(Guest):
    """A guest that ends like one of whose kernel text TCG has executed what was replaced, the first time it boots."""

    boots = 0

    def _wait_ready(self, limit):
        super()._wait_ready(limit)
        self.boots += 1
        if self.boots == 1:
            self.run("echo 'Oops: int3: 0000 [#1] SMP' >/dev/console")
            self._fail("the guest's kernel panicked")


with tap.test("a guest whose kernel ran into text that was replaced is booted again, if it has several processors"):
    with tempfile.NamedTemporaryFile("r") as complaints:
        os.environ["TSR_TROUBLE"] = complaints.name
        with OldText(devices=0, smp=2, accel="tcg") as g:
            tap.eq((g.boots, g.run("true").status), (2, 0))
        del os.environ["TSR_TROUBLE"]
        tap.eq(complaints.read(), "", "complaints of the first boot")
    text = error_of(OldText(devices=0, accel="tcg").start)
    tap.ok(text.startswith("the guest's kernel panicked"), text)

with Guest(devices=0, share=True) as g:
    with tap.test("the checkout is mounted at /mnt when asked for"):
        tap.eq(g.run("cat /mnt/tests/guest/scripts/runner_promises.py | wc -c").stdout.strip(),
               str(os.path.getsize(os.path.abspath(__file__))).encode())
    with tap.test("a kernel panic is an error that shows the panic"):
        text = error_of(lambda: g.run("echo c >/proc/sysrq-trigger", timeout=30))
        tap.ok(text.startswith("the guest's kernel panicked"), text)
        tap.ok("sysrq triggered crash" in text, text)



def programs(command):
    """Of these programs those that the guest of `make guest CMD=...` would have."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith("TSR_")}
    said = subprocess.run(["make", "-s", "-C", os.environ["TSR_TOP"], "guest-env"], stdout=subprocess.PIPE, text=True,
                          env=dict(environment, TSR_CMD=command), check=True).stdout
    initrd = next(line.partition("=")[2] for line in said.splitlines() if line.startswith("TSR_INITRD="))
    with open(initrd, "rb") as f:
        archive = f.read()
    return [n for n in ("ioctl_query", "ioctl_bo", "tsr-run", "tsr-info") if f"usr/bin/{n}\0".encode() in archive]


with tap.test("a guest has the tools, and of the test programs those that its command names"):
    tap.eq(programs("true"), ["tsr-info"])
    tap.eq(programs("cd /tmp; ioctl_query -v 2>&1 | tail -1"), ["ioctl_query", "tsr-info"])
    tap.eq(programs("tsr-run --help"), ["tsr-run", "tsr-info"])

with tap.test("a kernel that does not come up is an error within the limit"):
    # three seconds of processor time whatever the kernel, or ten times that; its init only sleeps
    args = "rdinit=/bin/busybox -- sleep 1000"
    text = error_of(Guest(devices=0, kernel_args=args, boot_limit=3 / variant.current().slow).start)
    tap.ok(text.startswith("the guest did not get ready within 3"), text)
with tap.test("a kernel file that is not there is named"):
    tap.eq(error_of(lambda: Guest(kernel="/nowhere/bzImage")), "there is no kernel /nowhere/bzImage")

with tap.test("a guest that KVM cannot run is started again with TCG"):
    # A wrapper stands in for a QEMU whose KVM does not work: it ends at once when asked for KVM.
    with tempfile.TemporaryDirectory() as d:
        fake = os.path.join(d, "qemu-system-x86_64")
        with open(fake, "w") as f:
            f.write(f'#!/bin/sh\ncase "$*" in *"-accel kvm"*) exit 1;; esac\nexec "{os.environ["TSR_QEMU"]}" "$@"\n')
        os.chmod(fake, 0o755)
        tap.eq(kvm.probe(fake)[0], False)
        os.environ["TESSERA_CACHE"] = d
        kvm.remember(True, "the test says so")
        guest = Guest(devices=0)
        tap.eq(guest.accel, "kvm")
        guest.env["TSR_QEMU"] = fake
        with guest:
            tap.eq((guest.accel, guest.run("echo up").stdout), ("tcg", b"up\n"))
        tap.eq(kvm.choose("auto", fake)[0], "tcg", "what is remembered")

sys.exit(tap.finish())
