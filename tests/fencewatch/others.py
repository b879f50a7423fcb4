#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1800
"""What fencewatch says about other drivers under IGT's programs for them (`make check-fencewatch`).

    others.py [DRIVER ...]

TSR_IGT is what tests/igt/share.sh made. Each driver runs its programs in a guest without our device. kernel/fencewatch/README.md publishes
what is found; a report that it does not know fails. A driver that the kernel lacks is skipped. Prints KTAP.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(TOP, "tests", "lib"), os.path.join(TOP, "qemu-device", "vm")]
from guest import Guest  # noqa: E402
from tap import Tap  # noqa: E402

FILE = "/sys/kernel/debug/fencewatch"
LIMIT = 900
SHOWN = ("core_auth", "dumb_buffer", "kms_addfb_basic", "kms_atomic", "kms_flip_event_leak", "kms_prop_blob", "kms_vblank")
# IGT cannot load the module again, which is not installed in the guest.
VGEM = ("vgem_basic --run-subtest '*,!unload'", "vgem_slow")
# (module, arguments of QEMU, what makes IGT use it, programs)
DRIVERS = {
    "virtio_gpu": ("virtio-gpu", ["-device", "virtio-gpu-pci"], "IGT_FORCE_DRIVER=virtio_gpu", SHOWN),
    "vkms": ("vkms", [], "IGT_FORCE_DRIVER=vkms", SHOWN),
    "vgem": ("vgem", [], "IGT_FORCE_DRIVER=vgem", VGEM),
    "sw_sync": ("", [], "", ("sw_sync",)),
}


def published():
    """{driver: {rule: reports}} of the README's table."""
    with open(os.path.join(TOP, "kernel", "fencewatch", "README.md"), encoding="utf-8") as f:
        rows = re.findall(r"^\| `(\w+)` \| [^|]*\| [\d,]+ \| ([^|]*) \|$", f.read(), re.M)
    return {driver: set(re.findall(r"`([A-Z_]+)`", said)) for driver, said in rows}


def unpack(directory, module):
    """The module and those that it needs, without compression, in the order in which they are loaded."""
    around = os.path.dirname(os.environ["TSR_KERNEL"]), os.path.join(os.environ["TSR_KDIR"], "root")    # Debian's, one of ours
    for path in (path for top in around for path in glob.glob(os.path.join(top, "**", "modules.dep"), recursive=True)):
        with open(path) as f:
            lines = dict(line.rstrip("\n").split(":") for line in f)
        found = [p for p in lines if re.fullmatch(rf"{re.escape(module)}\.ko(\.\w+)?", os.path.basename(p))]
        if found:
            names = list(reversed(lines[found[0]].split())) + found
            return [decompressed(directory, os.path.join(os.path.dirname(path), name)) for name in names]
    return None


def decompressed(directory, path):
    name = os.path.basename(path).partition(".ko")[0] + ".ko"
    with open(os.path.join(directory, name), "wb") as out:
        if path.endswith(".xz"):
            subprocess.run(["xz", "-dc", path], stdout=out, check=True)
        else:
            with open(path, "rb") as f:
                shutil.copyfileobj(f, out)
    return name


def watch(tap, driver, share):
    module, arguments, force, programs = DRIVERS[driver]
    with tap.test(f"what fencewatch says about {driver}"):
        names = unpack(share, module) if module else []
        if names is None:
            tap.skip(f"the kernel has no {module}")
        with Guest(devices=0, load=False, share=share, qemu_args=arguments, mem=1536, boot_limit=300) as guest:
            load = "".join(f"insmod /mnt/{name}; " for name in names)
            said = guest.run(f"dmesg -n 1; modprobe drm_kms_helper; modprobe fencewatch; {load}ls /dev/dri", 60)
            print("\n".join(f"# {line}" for line in (said.stdout + said.stderr).decode().splitlines()), flush=True)
            if driver == "sw_sync" and guest.run("[ -e /sys/kernel/debug/sync/sw_sync ]").status:
                tap.skip("the kernel has no sw_sync")
            total = 0
            for program in programs:
                done = guest.run(f"cd /tmp; {force} /mnt/run {program} 2>&1", LIMIT).stdout.decode(errors="replace")
                passed = len(re.findall(r"^Subtest .*: SUCCESS", done, re.M))
                total += passed
                print(f"# {program}: {passed} subtests, {done.splitlines()[-1:]}", flush=True)
            if not total:
                tap.skip(f"IGT does not find {driver}, or skips all")
            state = guest.run(f"cat {FILE}").stdout.decode()
            log = guest.run("dmesg | grep fencewatch:").stdout.decode()
        print("\n".join(f"# {line}" for line in state.splitlines() if line.startswith(("fences", "driver"))), flush=True)
        print("\n".join(f"# {line}" for line in log.splitlines()[:20]), flush=True)
        rules = {name for name, count in re.findall(r"^rule (\w+) (\d+)$", state, re.M) if count != "0"}
        tap.ok(re.search(r"^fences [1-9]", state, re.M), "no fence was seen")
        tap.eq(rules - published().get(driver, set()), set(), "reports that the README does not have")


def main():
    tap = Tap()
    for driver in sys.argv[1:] or os.environ.get("DRIVERS", "").split() or DRIVERS:
        with tempfile.TemporaryDirectory(prefix="tessera-fencewatch-") as share:
            subprocess.run(["cp", "-rl", os.path.join(os.environ["TSR_IGT"], "."), share], check=True)
            watch(tap, driver, share)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
