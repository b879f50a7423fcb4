#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=600
"""RenderDoc records a frame of a program on the in-process device. What it recorded, drawn again by the device, is the
picture that llvmpipe draws of it. RenderDoc is in Debian 12, and no more in 13."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

from tap import Tap
from windows import colors, off, read_xwd

TOP = os.environ["TSR_TOP"]
MESA = os.environ["TSR_MESA"]
WINDOW = os.path.join(TOP, "tests", "mesa", "window")
DEVICE = [os.path.join(os.environ["TSR_BUILD"], "userspace", "bin", "tsr-host"), os.path.join(MESA, "tsr-mesa")]
SOFTWARE = ["env", "LIBGL_ALWAYS_SOFTWARE=1"]
SIDE = "300"
LIMIT = 120
PROGRAMS = "renderdoccmd", "es2gears_x11", "Xvfb"


class Screen:
    """An X server, and what it shows."""

    def __init__(self, directory):
        self.file = os.path.join(directory, "Xvfb_screen0")
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-fbdir", directory,
                                        "-nolisten", "tcp"], pass_fds=[write], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as f:
            self.name = ":" + f.readline().strip()

    def picture(self, command, environment):
        """What a program shows when it shows something twice."""
        program = subprocess.Popen(command, env=dict(environment, DISPLAY=self.name), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end, picture, before = time.monotonic() + LIMIT, None, None
        while time.monotonic() < end and program.poll() is None:
            before, picture = picture, read_xwd(self.file)
            if before and colors(picture) > 16 and off(before, picture) == 0:
                break
            time.sleep(1)
        program.kill()
        program.wait()
        return picture

    def stop(self):
        self.server.kill()
        self.server.wait()


def preloads(directory):
    libraries = []
    for name in ("still", "trigger"):
        libraries.append(os.path.join(directory, f"{name}.so"))
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", libraries[-1], os.path.join(WINDOW, f"{name}.c")], check=True)
    return " ".join(libraries)


def main():
    tap = Tap()
    subprocess.run(["bash", os.path.join(TOP, "qemu-device/build/host/setup.sh"), "xvfb"], stdout=subprocess.DEVNULL, check=True)
    with tap.test("RenderDoc records a frame and draws it again"), tempfile.TemporaryDirectory(prefix="tessera-renderdoc-") as directory:
        absent = [name for name in PROGRAMS if not shutil.which(name)]
        if absent:
            tap.skip(f"there is no {absent[0]}: apt-get install renderdoc mesa-utils")
        screen = Screen(directory)
        environment = dict(os.environ, HOME=directory, MESA_SHADER_CACHE_DISABLE="1")
        recording = os.path.join(directory, "it_frame5.rdc")
        try:
            screen.picture([*DEVICE, "renderdoccmd", "capture", "-w", "-c", os.path.join(directory, "it"), "es2gears_x11"],
                           dict(environment, LD_PRELOAD=preloads(directory)))
            tap.ok(os.path.exists(recording), "nothing was recorded")
            replay = ["renderdoccmd", "replay", "-w", SIDE, "-h", SIDE, recording]
            ours, theirs = (screen.picture([*prefix, *replay], environment) for prefix in (DEVICE, SOFTWARE))
            differ = off(ours, theirs)
            tap.note(f"{colors(ours)} colors, {100 * differ:.2f} % of the pixels differ")
            tap.ok(colors(ours) > 16 and differ < 0.01, "the pictures differ")
        finally:
            screen.stop()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
