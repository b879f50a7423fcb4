#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""Every demo and the tools that need a device, under tsr-host: they judge their own results."""

import os
import subprocess
import sys
import tempfile

from tap import Tap

TOP = os.environ["TSR_TOP"]
USERSPACE = os.path.join(os.environ["TSR_BUILD"], "userspace")
BIN = os.path.join(USERSPACE, "bin")
PHOTO = os.path.join(TOP, "userspace", "demos", "photo", "photo.png")

# (what it is, command, what it says)
DEMOS = (
    ("[SYS8] tsr-info", "tsr-info", "Tessera 1.1"),
    ("[SYS8] hello", "hello", "ff332211"),
    ("[SYS8] square", "square", "16129"),
    ("[SYS8] triangle", "triangle", "the middle is 63 65 127"),
    ("[SYS8] photo, which is two processes", f"photo {PHOTO} photo-out.png", "bit-equal to the CPU reference"),
    ("[SYS8] all demos of compute", f"compute all -i {PHOTO}", "prefix: bit-equal"),
    ("[SYS8] all demos of graphics", "graphics all", "mandelbrot"),
    ("[SYS6] tsr-sync, where no kernel is needed", "--timeout 1000 sh -c 'tsr-sync -q never && tsr-sync -q guilty && tsr-sync -q line'", ""),
    ("[SYS5] tsr-perf counts the jobs of the device in the process", "tsr-perf -e shader-groups compute sgemm", "48  shader-groups"),
    ("[SYS8] tsr-view", f"tsr-view -s 160x120 -o view.png {TOP}/userspace/tools/tsr-view/models/house.obj", ""),
)

tap = Tap()


def run(command, directory, **environment):
    return subprocess.run(f"tsr-host {command}", shell=True, cwd=directory, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}",
                                   LD_LIBRARY_PATH=os.path.join(USERSPACE, "lib"), **environment))


with tempfile.TemporaryDirectory(prefix="tessera-host-") as out:
    for name, command, says in DEMOS:
        with tap.test(name):
            done = run(command, out)
            tap.eq(done.returncode, 0, "status")
            tap.ok(says in done.stdout, f"it says '{says}'")
            if done.returncode:
                tap.note(done.stdout)

    with tap.test("the nodes are characters' devices, and the only ones"):
        done = run("python3 -c 'import os, stat; print(sorted(os.listdir(\"/dev/dri\")), "
                   "[(stat.S_ISCHR(s.st_mode), os.major(s.st_rdev), os.minor(s.st_rdev)) "
                   "for s in map(os.stat, (\"/dev/dri/card0\", \"/dev/dri/renderD128\"))])'", out)
        tap.eq(done.stdout.strip(), "['by-path', 'card0', 'renderD128'] [(True, 226, 0), (True, 226, 128)]")

    with tap.test("local memory, threads and cores are as asked for"):
        done = run("--vram 32M --cores 2 --threads 1 tsr-info", out)
        tap.ok("local memory 32768 KiB" in done.stdout or "local memory 32 MiB" in done.stdout, done.stdout)
        tap.ok("shader cores 2," in done.stdout, done.stdout)

    with tap.test("bad usage is told: status 2"):
        for command in ("", "--nothing true", "--vram", "--library /nowhere true"):
            done = run(command, out)
            tap.eq(done.returncode, 2, f"status of '{command}'")
        tap.eq(run("--help", out).returncode, 0, "status of --help")
        tap.eq(run("--version", out).returncode, 0, "status of --version")

sys.exit(tap.finish())
