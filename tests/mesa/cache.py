#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""The disk cache: a program's second run compiles nothing, and another build of the driver uses nothing of it.

Mesa counts the look-ups of a process: every GLSL program and every variant of a shader is one. The first run may find
what it has stored itself."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import programs
from ktap import Program
from tap import Tap

tap = programs.tap = Tap()
PROGRAMS = ("es3", "stages", "texture")


class Cache:
    """Runs a program with a cache of its own."""

    def __init__(self, name, directory):
        self.program = programs.build(name, directory)
        self.options = programs.options(name)
        self.directory = os.path.join(directory, "cache-" + name)

    def run(self, mesa, **more):
        """(hits, misses); the program's own checks have to hold as without a cache."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MESA_SHADER_CACHE")}
        environment.update(MESA_SHADER_CACHE_DIR=self.directory, MESA_SHADER_CACHE_SHOW_STATS="1", **more)
        os.makedirs(self.directory, exist_ok=True)
        done = subprocess.run([programs.TSR_HOST, *self.options, os.path.join(mesa, "tsr-mesa"), self.program], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=250)
        text = done.stdout.decode(errors="replace")
        bad = [r.name for r in Program(text).results if r.status == "failed"]
        counts = re.search(r"disk shader cache: *hits = (\d+), misses = (\d+)", text)
        if done.returncode or bad or not counts:
            tap.fail(f"status {done.returncode}, {bad}")
            tap.note(text[-3000:])
            return 0, 0
        return int(counts.group(1)), int(counts.group(2))

    def files(self):
        """The entries, for a run with MESA_DISK_CACHE_MULTI_FILE; beside them is an index of the same size for all."""
        found = [os.path.join(d, n) for d, _, names in os.walk(self.directory) for n in names]
        return {path for path in found if os.path.basename(path) not in ("index", "marker")}

    def damage(self):
        """Change bytes in the middle of each file."""
        for directory, _, names in os.walk(self.directory):
            for name in (n for n in names if n.endswith(".db")):
                with open(os.path.join(directory, name), "r+b") as f:
                    f.seek(os.path.getsize(f.name) // 2)
                    f.write(b"\xa5" * 64)


def other_build(directory):
    """A copy of Mesa with the driver under another build-id, which is what a new build changes."""
    mesa = os.path.join(directory, "mesa")
    shutil.copytree(programs.MESA, mesa, symlinks=True)
    library = next(os.path.join(mesa, "lib", n) for n in os.listdir(os.path.join(mesa, "lib")) if n.startswith("libgallium"))
    notes = subprocess.run(["readelf", "-n", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    build = bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))
    with open(library, "rb") as f:
        data = f.read()
    if data.count(build) != 1:
        raise ValueError(f"the build-id is {data.count(build)} times in {library}")
    os.unlink(library)
    with open(library, "wb") as f:
        f.write(data.replace(build, bytes(b ^ 0xff for b in build)))
    os.chmod(library, 0o755)
    return mesa


def judge(name, directory, other):
    cache = Cache(name, directory)
    if not cache.program:
        return
    with tap.test(f"{name}: the second run compiles nothing"):
        _, cold = cache.run(programs.MESA)
        hits, misses = cache.run(programs.MESA)
        tap.ok(cold > 0, "the first run compiles")
        tap.ok(hits > 0, "the second run finds something")
        tap.eq(misses, 0, "misses")
    with tap.test(f"{name}: a damaged cache costs a compilation and nothing else"):
        cache.damage()
        _, misses = cache.run(programs.MESA)
        tap.ok(misses > 0, "something was damaged")
    with tap.test(f"{name}: another build of the driver stores all again, under other names"):
        cache.directory += "-files"
        cache.run(programs.MESA, MESA_DISK_CACHE_MULTI_FILE="1")
        first = cache.files()
        cache.run(other, MESA_DISK_CACHE_MULTI_FILE="1")
        tap.ok(first, "the first build stores something")
        tap.eq(len(cache.files() - first), len(first), "entries of the other build")


def main():
    with tempfile.TemporaryDirectory(prefix="tessera-cache-") as directory:
        other = other_build(directory)
        for name in PROGRAMS:
            judge(name, directory, other)
    return tap.finish()


sys.exit(main())
