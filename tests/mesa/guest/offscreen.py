#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1800
"""GL programs of our own, and those of piglit's that piglit.txt beside this lists, on the driver of the kernel, all in one guest.

TSR_MESA_SHARE is what userspace/mesa/share.sh made, with what piglit's programs need among its packages."""

import os
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from guest import Guest  # noqa: E402
import piglit  # noqa: E402
import programs as own  # noqa: E402
from tap import Tap  # noqa: E402

tap = piglit.tap = own.tap = Tap()
SHARE = os.environ["TSR_MESA_SHARE"]
PIGLIT = "/usr/lib/x86_64-linux-gnu/piglit"     # in the packages' root, where its programs look for their libraries
SLOW = ("contexts", "fuzz")     # hundreds of shaders to compile
LIMIT = 900         # seconds for a program, on a host that has other things to do


def run(guest, command, **environment):
    """(status, output) of a command in the share."""
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    done = guest.run(f"{variables} {command} 2>&1", LIMIT)
    return done.status, done.stdout.decode(errors="replace")


def run_own(guest, name):
    debug, says = own.debug_of(name)
    own.judge_output(*run(guest, f"/mnt/run {name}", TESSERA_DEBUG=debug, TSR_QUICK="1", MESA_SHADER_CACHE_DISABLE="1"), says)


def install_piglit(commands):
    """What the commands need of piglit, in the root that the guest mounts."""
    source = subprocess.run(["bash", os.path.join(os.path.dirname(HERE), "piglit.sh")], stdout=subprocess.PIPE, text=True,
                            check=True).stdout.strip()
    root = os.path.join(SHARE, "root", PIGLIT.lstrip("/"))
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(os.path.join(source, "lib"), os.path.join(root, "lib"), symlinks=True)
    for words in (piglit.words_of(command, source, "") for command in commands):
        for word in words:
            if word.startswith(source) and not os.path.exists(os.path.join(root, os.path.relpath(word, source))):
                to = os.path.join(root, os.path.relpath(word, source))
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copyfile(word, to)
                shutil.copymode(word, to)


def run_piglit(guest, command):
    words = piglit.words_of(command, PIGLIT, "")
    status, text = run(guest, f"/mnt/debian {' '.join(map(shlex.quote, words))} -auto -fbo", PIGLIT_PLATFORM="surfaceless_egl",
                       PIGLIT_SOURCE_DIR=PIGLIT, MESA_SHADER_CACHE_DISABLE="1")
    piglit.judge(command, "", piglit.result_of(-1 if status > 128 else status, text), text)


def hanging_neighbor(guest):
    """A process whose shader does not end, and one that draws meanwhile."""
    with tap.test("a shader that does not end costs its own process nothing but a context, and others nothing"):
        guest.run("/mnt/run reset >/tmp/reset.log 2>&1 & echo $! >/tmp/reset.pid")
        while guest.run("kill -0 $(cat /tmp/reset.pid)").status == 0:
            own.judge_output(*run(guest, "/mnt/run threads"), "")
        own.judge_output(0, guest.run("cat /tmp/reset.log").stdout.decode(errors="replace"), "")


def main():
    commands = [command for command, _ in piglit.listed("piglit.txt", HERE)]
    install_piglit(commands)
    with Guest(share=SHARE, boot_limit=900) as guest:
        for name in (n for n in own.names() if n not in SLOW):
            with tap.test(f"GL: {name}"):
                run_own(guest, name)
        hanging_neighbor(guest)
        for command in commands:
            run_piglit(guest, command)
    return tap.finish()


sys.exit(main())
