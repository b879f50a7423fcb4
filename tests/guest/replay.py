#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=400
"""Jobs of the demos are captured in a guest and run again on the host: of all classes, bit for bit; faults too."""

import os
import subprocess
import sys
import tempfile
import time

from guest import Guest, GuestError
from tap import Tap

BUILD = os.environ["TSR_BUILD"]
tap = Tap()


def replay(path, *options):
    """(status, text) of tsr-replay."""
    env = dict(os.environ, LD_LIBRARY_PATH=f"{BUILD}/userspace/lib")
    r = subprocess.run([f"{BUILD}/userspace/bin/tsr-replay", *options, path], env=env, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=300)
    return r.returncode, r.stdout


class Captures:
    """A guest whose device writes jobs to a file."""

    def __init__(self, guest, path):
        self.guest, self.path = guest, path
        guest.qmp("qom-set", path="/machine/peripheral/gpu0", property="capture-file", value=path)

    def arm(self, what):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.guest.qmp("qom-set", path="/machine/peripheral/gpu0", property="capture", value=what)

    def wait(self):
        """Whether the file has come; the property is empty then."""
        for _ in range(100):
            if not self.guest.qmp("qom-get", path="/machine/peripheral/gpu0", property="capture"):
                return os.path.exists(self.path)
            time.sleep(0.05)
        return False


def check(captures, what, command, want, status=0):
    captures.arm(what)
    result = captures.guest.run(command, 300)
    tap.eq(result.status == 0, status == 0, f"status of {command}")
    if not captures.wait():
        tap.fail(f"nothing was captured while {command} ran")
        return
    for threads in "1", "3":
        got, text = replay(captures.path, "--threads", threads)
        tap.eq(got, 0, f"status of tsr-replay: {text}")
        tap.ok(want in text, f"'{want}' in {text}")


with tempfile.TemporaryDirectory() as d, Guest() as g:
    c = Captures(g, os.path.join(d, "job.tsrc"))
    with tap.test("[SYS9] a job of the copy engine"):
        check(c, "next", "copy", "(COPY)")
    with tap.test("[SYS9] a dispatch on the shader cores"):
        check(c, "next", "compute_basics", "(COMPUTE)")
    with tap.test("[SYS9] a frame's binning"):
        check(c, "queue=0", "graphics particles -o /tmp/o.png", "bit for bit")
    with tap.test("[SYS9] its rendering"):
        check(c, "queue=1", "graphics particles -o /tmp/o.png", "bit for bit")
    with tap.test("[SYS9] the next job that faults, among others that do not"):
        check(c, "fault", "compute_faults", "fault ")
    with tap.test("[SYS9] what cannot be is refused"):
        for name, value in ("capture", "yesterday"), ("capture", "queue=64"):
            try:
                g.qmp("qom-set", path="/machine/peripheral/gpu0", property=name, value=value)
                tap.fail(f"{name}={value} was accepted")
            except GuestError as e:
                tap.ok(value in str(e), str(e))
sys.exit(tap.finish())
