# SPDX-License-Identifier: MIT
"""Find out whether KVM is worth using on this host.

/dev/kvm can be there and still be useless (a nested hypervisor that emulates every instruction), so a
small guest is timed: no operating system, only a counting loop in a firmware image that then leaves
through isa-debug-exit. The answer is remembered until the host boots again.
"""

import os
import struct
import subprocess
import tempfile

import host

LOOPS = 50_000_000      # 25-50 ms on hardware that runs guest code natively
LIMIT = 2.0             # seconds
EXIT_VALUE = 0x2a


def loop_image():
    """64 KiB of firmware: the reset vector jumps to a loop that counts down and exits QEMU."""
    code = b"\x66\xb9" + struct.pack("<I", LOOPS)       # mov ecx, LOOPS
    code += b"\x66\x49" + b"\x75\xfc"                   # again: dec ecx; jnz again
    code += b"\xba\x01\x05" + b"\xb0" + bytes([EXIT_VALUE]) + b"\xee"   # mov dx, 0x501; mov al, 42; out dx, al
    code += b"\xf4"                                     # hlt
    image = bytearray(code.ljust(1 << 16, b"\xf4"))
    image[0xfff0:0xfff3] = b"\xe9" + struct.pack("<H", (0 - 0xfff3) & 0xffff)   # jmp to the start
    return bytes(image)


def remember(usable, reason):
    host.remember("kvm", f"{'yes' if usable else 'no'} {reason}")


def remember_useless(reason):
    remember(False, reason)


def probe(qemu):
    """(usable, reason): run the loop under KVM."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False, "no access to /dev/kvm" if os.path.exists("/dev/kvm") else "no /dev/kvm"
    with tempfile.NamedTemporaryFile(suffix=".bin") as image:
        image.write(loop_image())
        image.flush()
        args = [qemu, "-nodefaults", "-no-user-config", "-display", "none", "-M", "q35", "-accel", "kvm", "-cpu",
                "host", "-m", "64", "-bios", image.name, "-device", "isa-debug-exit,iobase=0x501,iosize=2"]
        try:
            done = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return False, "KVM is there but emulates: a counting loop ran into its time limit"
    if done.returncode != (EXIT_VALUE << 1 | 1):
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return False, "KVM does not work: " + (said[-1] if said else f"QEMU's status {done.returncode}")
    return True, "KVM works here"


def choose(wanted, qemu):
    """("kvm" or "tcg", why). wanted: "auto" decides, "kvm" and "tcg" are obeyed."""
    if wanted != "auto":
        return wanted, "asked for"
    known = host.recall("kvm")
    if known:
        answer, _, reason = known.partition(" ")
        return ("kvm" if answer == "yes" else "tcg"), reason
    usable, reason = probe(qemu)
    remember(usable, reason)
    return ("kvm" if usable else "tcg"), reason
