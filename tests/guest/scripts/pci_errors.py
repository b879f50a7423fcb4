#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=240
"""PCI reports errors of the device while queues work: QEMU's monitor injects them, the kernel's error recovery (AER) takes the driver
through error_detected, slot_reset and resume, and the guest program (pci_errors_load.c) finds that every fence came, with the right error, and
that its queues go on."""

import os
import sys
import time

import variant
from guest import Guest, GuestError
from snapshot import wait_for

# PCI's own hotplug, with which root ports report that the link is up again after the reset of a slot.
NATIVE = "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"

# name, error as QEMU calls it, whether the link is frozen and the slot reset, seconds until all is over, QEMU's arguments, lines of the
# kernel's log that must be there
CASES = (
    ("a non-fatal error costs nothing", "COMP_TIME", False, 2, NATIVE, ("channel state 1", "has recovered from the error")),
    ("[SYS7] a fatal error resets the slot, innocents go on", "DLP", True, 4, NATIVE,
     ("channel state 2", "Root Port link has been reset (0)", "has recovered from the error")),
    ("[SYS7] the slot's reset fails, told or not told of it the driver helps itself", "DLP", True, 14, "",
     ("channel state 2", "AER: device recovery failed", "reset of the PCI function")),
)


def inject(guest, error, frozen, seconds):
    """Start the load, inject the error in the middle of it. Returns (status, output, log)."""
    guest.run("rm -rf /tmp/e; mkdir /tmp/e; dmesg -c >/dev/null; "
              f"pci_errors_load {'frozen' if frozen else 'fine'} /tmp/e >/tmp/e/log 2>&1 & true")
    if not wait_for(guest, "/tmp/e/armed", 20):
        raise GuestError("the work was not started: " + guest.run("cat /tmp/e/log").stdout.decode())
    said = guest.hmp(f"pcie_aer_inject_error gpu0 {error}")
    if "OK" not in said:
        raise GuestError(f"QEMU does not inject {error}: {said}")
    time.sleep(seconds + 2 * (variant.current().slow - 1))
    guest.run("touch /tmp/e/go")
    done = guest.run("n=0; while pidof pci_errors_load >/dev/null && [ $n -lt 3000 ]; do usleep 10000; n=$((n + 1)); done; "
                     "cat /tmp/e/log; grep -q '^all right' /tmp/e/log", timeout=120)
    return done.status, done.stdout.decode(errors="replace"), guest.run("dmesg").stdout.decode(errors="replace")


def no_aer():
    """Why a kernel of our own cannot run this: without PCI_MMCONFIG it has no extended configuration space, and leaves errors to
    the firmware. The stock kernel has it."""
    if not os.environ.get("TSR_VARIANT"):
        return ""
    with Guest() as guest:
        found = guest.run("ls /sys/bus/pci_express/drivers/aer/*:*")
    return "" if found.status == 0 else "the root ports have no AER in this kernel (no PCI_MMCONFIG)"


def main():
    print("KTAP version 1")
    failed = 0
    try:
        reason = no_aer()
        if reason:
            print(f"1..0 # SKIP {reason}")
            return 0
        for number, (what, error, frozen, seconds, qemu_args, lines) in enumerate(CASES, 1):
            # the job that waits meanwhile, on a slow kernel for longer, is not to count as a hang
            kernel_args = "" if frozen else variant.PATIENT
            with Guest(device_args="vram=32M", qemu_args=qemu_args, kernel_args=kernel_args) as guest:
                status, output, log = inject(guest, error, frozen, seconds)
            missing = [line for line in lines if line not in log]
            good = status == 0 and not missing
            failed += not good
            for line in output.splitlines() + [f"not in the log: {line}" for line in missing] + ([] if good else log.splitlines()[-30:]):
                print("# " + line)
            print(f"{'ok' if good else 'not ok'} {number} - {what}")
    except GuestError as problem:
        for line in str(problem).splitlines():
            print("# " + line)
        failed += 1
    print(f"1..{len(CASES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
