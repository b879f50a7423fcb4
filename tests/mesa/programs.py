#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""GL programs of our own on the device in their own process, by way of Mesa: each checks the pixels it gets.

"tsr-host: OPTIONS" in a program's first comment is what it wants of the device, "debug: WORDS" is TESSERA_DEBUG instead of
sync, "says: PATTERN" what must be in its output then."""

import glob
import os
import re
import subprocess
import sys
import tempfile

from ktap import Program
from tap import Tap

TOP = os.environ["TSR_TOP"]
MESA = os.environ.get("TSR_MESA", "")      # not for who imports this
HERE = os.path.join(TOP, "tests", "mesa")
TSR_HOST = os.path.join(os.environ["TSR_BUILD"], "userspace", "bin", "tsr-host")
LIBRARY = "gl"

tap = None      # of who runs or imports this


def build(name, directory):
    """The program, or None with the compiler's complaint noted."""
    out = os.path.join(directory, name)
    done = subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", out, os.path.join(HERE, name + ".c"),
                           os.path.join(HERE, LIBRARY + ".c"), "-lEGL", "-lGLESv2", "-lgbm", "-lm"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        tap.fail(done.stdout)
        return None
    return out


def asked(name, pattern):
    """What the program's first comment asks for, or ""."""
    with open(os.path.join(HERE, name + ".c")) as f:
        wanted = re.search(pattern, f.read(1000), re.M)
    return wanted.group(1) if wanted else ""


def options(name):
    """What the program wants of tsr-host."""
    return asked(name, r"tsr-host: (--.*?)[ .]*(\*/)?$").split()


def names():
    """Our programs."""
    return sorted(n for n in (os.path.basename(path)[:-2] for path in glob.glob(os.path.join(HERE, "*.c"))) if n != LIBRARY)


def judge_output(status, text, says):
    """What a program printed: KTAP without a failed case, and the pattern."""
    if status == 77:
        tap.skip(text.strip().splitlines()[-1].partition("SKIP ")[2])
    parsed = Program(text)
    bad = [r.name for r in parsed.results if r.status == "failed"]
    if status or bad or not parsed.results:
        tap.fail(f"status {status}")
        tap.note(text[-4000:])
    if not re.search(says, text):
        tap.fail(f"it does not say: {says}")
        tap.note(text[-4000:])
    tap.note(f"{len(parsed.results)} cases")


def debug_of(name):
    """TESSERA_DEBUG of the program, and the pattern that its output then has."""
    return asked(name, r"debug: (\S+)") or "sync", asked(name, r"says: (.*?)( *\*/)?$")


def judge(name, directory):
    program = build(name, directory)
    if not program:
        return
    debug, says = debug_of(name)
    done = subprocess.run([TSR_HOST, *options(name), os.path.join(MESA, "tsr-mesa"), program], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=250,
                          env=dict(os.environ, MESA_SHADER_CACHE_DISABLE="1", TESSERA_DEBUG=debug))
    judge_output(done.returncode, done.stdout.decode(errors="replace"), says)


def main():
    with tempfile.TemporaryDirectory(prefix="tessera-gl-") as out:
        for name in names():
            with tap.test(f"GL: {name}"):
                judge(name, out)
    return tap.finish()


if __name__ == "__main__":
    tap = Tap()
    sys.exit(main())
