#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1800
"""Unmodified Vulkan programs on the GPU's own screen. What QEMU's screendump sees is lavapipe's picture.

The layer of tests/vulkan/layer stops a program after a frame, which then stays on the screen. lavapipe draws the same
frame on the host. TSR_VULKAN_SHARE is what userspace/mesa/share_vulkan.sh made."""

import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from guest import Guest  # noqa: E402
import pictures  # noqa: E402
import variant  # noqa: E402
from tap import Tap  # noqa: E402

tap = pictures.tap = Tap()
SHARE = os.environ["TSR_VULKAN_SHARE"]
WAIT = 300          # seconds for a picture on a loaded host
COMPLAINTS = "WARNING:|BUG:|Oops|blocked for more|rcu.*stall|tessera.*([Ee]rror|[Ff]ault|timed out|hang|reset|ban)"
LAYER = "VK_ADD_LAYER_PATH=/mnt VK_INSTANCE_LAYERS=VK_LAYER_TESSERA_picture TSR_PICTURE=/mnt/picture.ppm TSR_PICTURE_HOLD=1"
# The program in the guest, lavapipe's on the host, and the frame. weston shows vkcube.
PROGRAMS = {
    "vkcube": ("--weston vkcube --wsi wayland --suppress_popups --c 60 --width {0} --height {1}",
               "vkcube --wsi xcb --suppress_popups --c 60 --width {0} --height {1}", 40),
    "vkmark": ("env LD_PRELOAD=/mnt/picture.so vkmark --winsys display --present-mode fifo -b shading:shading=phong:duration=0.2",
               "vkmark --winsys xcb --size {0}x{1} -b shading:shading=phong:duration=0.2", 5),
}


def start(guest, command, frame):
    guest.run(f"rm -f /mnt/out/picture.ppm; {LAYER} TSR_PICTURE_FRAME={frame} timeout 900 /mnt/debian {command} </dev/null >/tmp/said 2>&1 & echo $! >/tmp/pid")


def stop(guest):
    return guest.run("kill $(cat /tmp/pid); sleep 1; cat /tmp/said", 60).stdout.decode(errors="replace")


def wait_for(guest, path):
    """The program's own picture, or None."""
    end = time.monotonic() + WAIT * variant.current().slow
    while time.monotonic() < end:
        if os.path.exists(path):
            return pictures.read_ppm(path)
        if guest.run("kill -0 $(cat /tmp/pid)").status:
            return None
        time.sleep(1)
    return None


def dump(guest, directory):
    path = os.path.join(directory, "screen.ppm")
    guest.qmp("screendump", filename=path, device="gpu0", head=0)
    with open(path, "rb") as f:
        _, size, _, pixels = f.read().split(b"\n", 3)
    width, height = (int(n) for n in size.split())
    return width, height, pixels


def screen(guest, directory, wanted):
    """The screen when it shows a picture, or as it is in the end."""
    end = time.monotonic() + 60 * variant.current().slow
    while True:
        shown = dump(guest, directory)
        if shown[2] == wanted[2] or time.monotonic() > end:
            return shown
        time.sleep(0.5)


def lavapipe(root, directory, command, frame):
    """lavapipe's picture of the same frame."""
    case = pictures.Case("reference", command, "xcb", frame=frame)
    return pictures.take(case, root, directory, "lavapipe", pictures.SOFTWARE)[0]


def judge(guest, root, directory, name):
    command, reference, frame = PROGRAMS[name]
    start(guest, command.format(*dump(guest, directory)[:2]), frame)
    drawn = wait_for(guest, os.path.join(SHARE, "out", "picture.ppm"))
    shown = screen(guest, directory, drawn) if drawn else None
    said = stop(guest)
    if not drawn:
        tap.fail("the program draws nothing")
        tap.note(said[-3000:])
        return
    wanted = lavapipe(root, directory, reference.format(*drawn[:2]), frame)
    part, most = pictures.compare(wanted, shown)
    tap.ok(pictures.colors(wanted) > 2, "lavapipe draws more than a background")
    tap.ok(shown[2] == drawn[2], "the screen shows the frame that the program has drawn")
    tap.ok(part <= 0.002, f"{100 * part:.2f} % of the screen's pixels are not lavapipe's")
    tap.note(f"{drawn[0]} x {drawn[1]}, {100 * part:.3f} % of the pixels are off by more than {pictures.NEAR}, at most by {most}")
    if part > 0.002 or shown[2] != drawn[2]:
        tap.note(said[-3000:])


def main():
    root, reason = pictures.unpack()
    with tempfile.TemporaryDirectory(prefix="tessera-screen-") as directory, \
            Guest(device_args="heads=1", share=SHARE, boot_limit=900) as guest:
        pictures.build_layer(directory, "/mnt/out")
        pictures.build_layer(os.path.join(SHARE, "out"), "/mnt")
        for name in PROGRAMS:
            with tap.test(f"Vulkan on the GPU's own screen: {name}"):
                if not root:
                    tap.skip(reason)
                judge(guest, root, directory, name)
        with tap.test("Vulkan on the GPU's own screen: the kernel has nothing to say"):
            tap.eq(guest.run(f"dmesg | grep -E '{COMPLAINTS}'").stdout.decode(), "")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
