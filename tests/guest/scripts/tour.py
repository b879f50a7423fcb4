#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=600
"""The commands of Documentation/start/tour.md, word for word and in their order, and what the page says about them."""

import os
import re
import subprocess
import sys

from guest import TOP
from tap import Tap

# Commands by a part of their text, and patterns of their output.
SAYS = (
    ("CMD=hello", r"^ff332211$"),
    ("tessera_gpu_", r"tessera_gpu_doorbell .*[\s\S]*tessera_gpu_packet .*[\s\S]*tessera_gpu_event "),
    # (?=): the job after the stuck one and the neighbor are of two queues, and signal in either order
    ("SCENARIO=never", r"(?=[\s\S]*the fence of job behind signals: ECANCELED)[\s\S]*the fence of job stuck signals: ETIMEDOUT[\s\S]*job neighbor begins"),
    ("tsr-inject; dmesg", r"HANG 1\n[\s\S]*tessera"),
    ("--dump", r"(?i)error .*ETIMEDOUT|-?110|timed ?out"),
    ("make timeline", r"sgemm: bit-equal"),
    ("tsr-perf", r"\d+  cycles\n[\s\S]*\d+  tlb-misses\n +1  jobs"),
    ("capture=next", r"16129"),
)
FILES = ("/tmp/never.html", "/tmp/timeline.json", "/tmp/tour.tsrc")
tap = Tap()

if os.environ.get("TSR_VARIANT") or os.environ.get("KERNEL"):
    with tap.test("the tour"):
        tap.skip("it is about the stock kernel")
    sys.exit(tap.finish())

with open(os.path.join(TOP, "Documentation", "start", "tour.md"), encoding="utf-8") as f:
    commands = re.findall(r"^    (make .*)$", f.read(), re.M)
environment = {k: v for k, v in os.environ.items() if not k.startswith(("TSR_", "MAKE", "MFLAGS", "PYTHON"))}
for path in FILES:
    if os.path.exists(path):
        os.unlink(path)

for command in commands:
    with tap.test(command):
        done = subprocess.run(command, shell=True, cwd=TOP, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
        tap.eq(done.returncode, 0, "status")
        for key, says in SAYS:
            if key in command:
                tap.ok(re.search(says, done.stdout, re.M), f"{says} in what it says")
        if tap.bad:
            tap.note(done.stdout[-4000:])

with tap.test("the files that the page names are there, and the captured job is as it was"):
    tap.eq([path for path in FILES if not os.path.exists(path)], [], "missing")
    userspace = os.path.join(os.environ["TSR_BUILD"], "userspace")
    done = subprocess.run([os.path.join(userspace, "bin", "tsr-replay"), "/tmp/tour.tsrc"], stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, LD_LIBRARY_PATH=os.path.join(userspace, "lib")))
    tap.eq(done.returncode, 0, done.stdout)

sys.exit(tap.finish())
