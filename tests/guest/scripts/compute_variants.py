#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=400
"""The same programs on other devices: one, two and eight worker threads, one to eight cores, messages answered early or as late as
allowed, other SIMD paths, code checked each time it is executed, behind an IOMMU. The pictures of the demos, byte for byte, and the tests
of compute_basics.c and compute_views.c come out the same on all.
"""

import sys

from guest import Guest, GuestError

# what the device is, and further arguments of Guest()
VARIANTS = (
    ("cores=1,threads=1", {}),
    ("cores=2,threads=2,debug=late", {}),
    ("cores=8,threads=8,debug=sse2:strict", {}),
    ("cores=3,threads=0,debug=late", {"iommu": True}),
)
PICTURES = ("convolve.png", "equalise.png", "mandelbrot.png")


def run(device_args, options):
    """The sums of the pictures on one device, or None; and what the programs said."""
    with Guest(device_args=device_args, **options) as guest:
        demos = guest.run("cd /tmp && compute all && sha256sum " + " ".join(PICTURES), timeout=120)
        tests = guest.run("compute_basics; compute_views", timeout=120)
    said = (demos.stdout + demos.stderr + tests.stdout).decode(errors="replace")
    lines = said.splitlines()
    good = demos.status == 0 and sum(line.startswith("1..") for line in lines) == 2 and \
        not any(line.startswith(("not ok", "Bail")) for line in lines)
    return [line for line in lines if line.endswith(".png") and len(line.split()[0]) == 64] if good else None, said


def main():
    print("KTAP version 1")
    first, failed = None, 0
    for number, (device_args, options) in enumerate(VARIANTS, 1):
        try:
            sums, said = run(device_args, options)
        except GuestError as error:
            sums, said = None, str(error)
        first = first or sums
        right = sums is not None and len(sums) == len(PICTURES) and sums == first
        if not right:
            failed += 1
            print("\n".join("# " + line for line in said.splitlines() if not line.startswith("ok ")))
        where = " behind an IOMMU" if options.get("iommu") else ""
        print(f"{'ok' if right else 'not ok'} {number} - [CS3] programs on {device_args}{where}", flush=True)
    print(f"1..{len(VARIANTS)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
