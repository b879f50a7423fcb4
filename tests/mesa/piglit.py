#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1500
"""Programs of piglit's on the device in their own process, by way of Mesa.

piglit.txt has a command a line, and after " # " why it is known to fail. TSR_PIGLIT, patterns of names ("fbo-*",
"spec/glsl-1.10/*.shader_test"), asks for others, which are all to pass.
"""

import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys

from tap import Tap

TOP = os.environ["TSR_TOP"]
MESA = os.environ["TSR_MESA"]
HERE = os.path.join(TOP, "tests", "mesa")
TSR_HOST = os.path.join(os.environ["TSR_BUILD"], "userspace", "bin", "tsr-host")
RESULT = re.compile(r'^PIGLIT: (\{"result".*\})\s*$', re.M)
LIMIT = 120     # seconds for a program

tap = Tap()


def listed():
    """(command, why it fails or "") of piglit.txt."""
    with open(os.path.join(HERE, "piglit.txt")) as f:
        for line in f:
            command, _, reason = line.strip().partition(" # ")
            if command and not command.startswith("#"):
                yield command, reason


def asked_for(piglit, patterns):
    names = sorted(os.listdir(os.path.join(piglit, "bin")))
    tests = os.path.join(piglit, "tests")
    for pattern in patterns:
        if pattern.endswith(".shader_test"):
            for path in sorted(glob.glob(os.path.join(tests, pattern), recursive=True)):
                yield os.path.relpath(path, tests), ""
        else:
            for name in fnmatch.filter(names, pattern):
                yield name, ""


def run(piglit, command):
    """What became of a command: "pass", "fail", "skip", "crash" ..., and what it printed."""
    words = command.split()
    if words[0].endswith(".shader_test"):
        words = ["shader_runner", os.path.join(piglit, "tests", words[0])]
    words[0] = os.path.join(piglit, "bin", words[0])
    environment = dict(os.environ, PIGLIT_PLATFORM="surfaceless_egl", PIGLIT_SOURCE_DIR=piglit,
                       LD_LIBRARY_PATH=os.path.join(piglit, "lib"), MESA_SHADER_CACHE_DISABLE="1", TSR_HOST_THREADS="1")
    try:
        done = subprocess.run([TSR_HOST, os.path.join(MESA, "tsr-mesa"), *words, "-auto", "-fbo"], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "timeout", ""
    text = done.stdout.decode(errors="replace")
    found = RESULT.findall(text)
    if done.returncode < 0 or not found:
        return "crash", f"{text}\nstatus {done.returncode}"
    return json.loads(found[-1])["result"], text


def judge(command, reason, result, text):
    with tap.test(f"piglit: {command}"):
        if result == "skip":
            tap.skip("what it tests is not offered")
        if reason and result == "pass":
            tap.fail(f"it is said to fail ({reason}) and does not")
        elif reason:
            tap.skip(f"{result}: {reason}")
        elif result not in ("pass", "warn"):
            tap.fail(result)
            tap.note(text[-1500:])


def main():
    directory = subprocess.run(["bash", os.path.join(HERE, "piglit.sh")], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    patterns = os.environ.get("TSR_PIGLIT", "").split()
    commands = list(asked_for(directory, patterns) if patterns else listed())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (command, reason), (result, text) in zip(commands, pool.map(lambda c: run(directory, c[0]), commands)):
            judge(command, reason, result, text)
    return tap.finish()


sys.exit(main())
