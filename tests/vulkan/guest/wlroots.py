#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1800
"""A wlroots compositor that draws with Vulkan on the GPU's own screen: cage, with vkcube.

vkcube shares its images as dma-bufs. The compositor imports them, samples them and draws to the buffers that the screen
shows. The layer of tests/vulkan/layer stops vkcube after a frame. QEMU's screendump must then be that frame.
TSR_VULKAN_SHARE is what userspace/mesa/share_vulkan.sh made, with an OpenGL driver or without one."""

import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from guest import Guest  # noqa: E402
import pictures  # noqa: E402
import screen  # noqa: E402
import variant  # noqa: E402

tap = screen.tap
SHARE = screen.SHARE
WITH_GBM = os.path.exists(os.path.join(SHARE, "root/usr/lib/tessera-mesa"))
CLIENT = "vkcube --wsi wayland --suppress_popups --c 60 --width {0} --height {1}"
FRAME = 20
DRAWN = 0.002       # the part of the pixels that may be off by more than rounding
MODIFIER = "0x810000000000001" if WITH_GBM else "0x0"   # of the screen's buffer: tiles, or rows


def start(guest, size):
    client = f"env {screen.LAYER} TSR_PICTURE_FRAME={FRAME} {CLIENT.format(*size)}"
    guest.run(f"rm -f /mnt/out/picture.ppm; timeout 900 /mnt/debian --cage {client} </dev/null >/tmp/said 2>&1 & echo $! >/tmp/pid")


def shown_like(guest, directory, drawn):
    """The part of the screen's pixels that are not those of a picture, at best, and the largest difference."""
    end = time.monotonic() + 60 * variant.current().slow
    while True:
        part, most = pictures.compare(drawn, screen.dump(guest, directory))
        if part <= DRAWN or time.monotonic() > end:
            return part, most
        time.sleep(0.5)


def judge(guest, directory):
    size = screen.dump(guest, directory)[:2]
    start(guest, size)
    drawn = screen.wait_for(guest, os.path.join(SHARE, "out", "picture.ppm"))
    part, most = shown_like(guest, directory, drawn) if drawn else (1, 255)
    drivers = guest.run("for p in /proc/[0-9]*; do [ \"$(cat $p/comm)\" != cage ] || grep -o 'libvulkan_[a-z]*' $p/maps; done 2>/dev/null | sort -u").stdout.decode().split()
    buffers = guest.run("cat /sys/kernel/debug/dri/0/framebuffer").stdout.decode()
    said = screen.stop(guest)
    tap.ok(drawn and pictures.colors(drawn) > 2, "vkcube draws more than a background")
    tap.ok(part <= DRAWN, f"{100 * part:.2f} % of the screen's pixels are not those that vkcube has drawn")
    tap.eq(drivers, ["libvulkan_tessera"], "Vulkan drivers in the compositor")
    tap.ok(f"modifier={MODIFIER}\n" in buffers and "allocated by = cage" in buffers, f"the compositor shows buffers with modifier {MODIFIER}")
    tap.note(f"{size[0]} x {size[1]}, {100 * part:.3f} % of the pixels are off by more than {pictures.NEAR}, at most by {most}")
    if tap.bad:
        tap.note(buffers + said[:8000])


def main():
    with tempfile.TemporaryDirectory(prefix="tessera-wlroots-") as directory, \
            Guest(device_args="heads=1", share=SHARE, boot_limit=900) as guest:
        pictures.build_layer(os.path.join(SHARE, "out"), "/mnt")
        with tap.test(f"Vulkan: cage draws vkcube, buffers by {'GBM' if WITH_GBM else 'the kernel'}"):
            judge(guest, directory)
        with tap.test("Vulkan: cage, the kernel has nothing to say"):
            tap.eq(guest.run(f"dmesg | grep -E '{screen.COMPLAINTS}'").stdout.decode(), "")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
