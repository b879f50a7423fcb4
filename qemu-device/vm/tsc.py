# SPDX-License-Identifier: MIT
"""The rate of this machine's time-stamp counter, which is also that of a guest under TCG.

A kernel measures it at boot against the emulated timer; on a busy host that goes wrong by whole factors,
and from then on the guest's clocks, sleeps and timeouts run that much too fast or too slow. Told the rate
(tsc_early_khz=), it does not measure.
"""

import ctypes
import functools
import mmap
import platform
import time

import host

READ_TSC = b"\x0f\x31" b"\x48\xc1\xe2\x20" b"\x48\x09\xd0" b"\xc3"     # rdtsc; shl rdx, 32; or rax, rdx; ret


def counter():
    """A function that reads the counter, or None on another kind of processor."""
    if platform.machine() != "x86_64":
        return None
    try:
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except (OSError, PermissionError):
        return None
    code.write(READ_TSC)
    function = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    function.code = code        # lives as long as the function
    return function


def sample(read):
    """(counter, nanoseconds) taken together: of several tries the one that took least time."""
    tries = []
    for _ in range(20):
        before = time.monotonic_ns()
        ticks = read()
        after = time.monotonic_ns()
        tries.append((after - before, ticks, (before + after) // 2))
    _, ticks, now = min(tries)
    return ticks, now


def measure():
    """Ticks per millisecond, or None where they cannot be had. Takes 50 ms; being preempted does no harm."""
    read = counter()
    if read is None:
        return None
    ticks, start = sample(read)
    time.sleep(0.05)
    more_ticks, end = sample(read)
    return round((more_ticks - ticks) * 1_000_000 / (end - start))


@functools.cache
def khz():
    """The same, measured once for each boot of the host."""
    known = host.recall("tsc")
    if known is None:
        known = str(measure() or "")
        host.remember("tsc", known)
    return int(known) if known else None


if __name__ == "__main__":
    print(khz())
