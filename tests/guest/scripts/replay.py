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
DEBUGFS = "/sys/kernel/debug/dri/0"
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
        self.forget()
        self.guest.qmp("qom-set", path="/machine/peripheral/gpu0", property="capture", value=what)

    def wait(self):
        """Whether the file has come; the property is empty then."""
        for _ in range(100):
            if not self.guest.qmp("qom-get", path="/machine/peripheral/gpu0", property="capture"):
                return os.path.exists(self.path)
            time.sleep(0.05)
        return False


    def forget(self):
        """No file, so that the next one can only be the next job's."""
        if os.path.exists(self.path):
            os.unlink(self.path)

    def ask(self, what):
        """The same as arm() from inside the guest; the status of the write."""
        return self.guest.run(f"echo '{what}' >{DEBUGFS}/capture", 60).status

    def wait_asked(self, count):
        """Whether the file has come, and the guest knows."""
        for _ in range(100):
            text = self.guest.run(f"cat {DEBUGFS}/capture", 60).stdout.decode()
            if text == f"idle\ncaptured {count}\n" and os.path.exists(self.path):
                return True
            time.sleep(0.05)
        return False


def check_replay(path, want):
    for threads in "1", "3":
        got, text = replay(path, "--threads", threads)
        tap.eq(got, 0, f"status of tsr-replay: {text}")
        tap.ok(want in text, f"'{want}' in {text}")


def check(captures, what, command, want, status=0):
    captures.arm(what)
    result = captures.guest.run(command, 300)
    tap.eq(result.status == 0, status == 0, f"status of {command}")
    if not captures.wait():
        tap.fail(f"nothing was captured while {command} ran")
        return
    check_replay(captures.path, want)


def check_asked(captures, what, command, count, want):
    """The same at the guest's request, the `count`th job."""
    captures.forget()
    tap.eq(captures.ask(what), 0)
    tap.eq(captures.guest.run(f"head -n 1 {DEBUGFS}/capture", 60).stdout, b"waiting\n")
    tap.eq(captures.guest.run(command, 300).status, 0)
    if captures.wait_asked(count):
        check_replay(captures.path, want)
    else:
        tap.fail(f"nothing was captured while {command} ran")


with tempfile.TemporaryDirectory() as d, Guest(device_args="inject-window=on") as g:
    with tap.test("[SYS9] the guest cannot ask for what the host has no file for"):
        r = g.run(f"echo next >{DEBUGFS}/capture", 60)
        tap.ok(r.status != 0 and b"not supported" in r.stderr, f"{r.status} {r.stderr}")
    c = Captures(g, os.path.join(d, "job.tsrc"))
    with tap.test("[SYS9] a job of the copy engine"):
        check(c, "next", "copy", "(COPY)")
    with tap.test("[SYS9] a dispatch on the shader cores"):
        check(c, "next", "compute_basics", "(COMPUTE)")
    # a queue takes its slot with its first job: slot 0 is that of the first that bins, 1 of the one that renders
    with tap.test("[SYS9] a frame's binning"):
        check(c, "queue=0", "graphics particles -o /tmp/o.png", "bit for bit")
    with tap.test("[SYS9] its rendering"):
        check(c, "queue=1", "graphics particles -o /tmp/o.png", "bit for bit")
    with tap.test("[SYS9] the next job that faults, among others that do not"):
        check(c, "fault", "compute_faults", "fault ")
    before = int(g.run(f"tail -n 1 {DEBUGFS}/capture", 60).stdout.split()[1])
    with tap.test("[SYS9] a job that the guest asks for"):
        tap.eq(before, 5, "captured so far")
        check_asked(c, "next", "copy", before + 1, "bit for bit")
    with tap.test("[SYS9] a job that faults, which the guest asks for"):
        check_asked(c, "fault", "compute_faults", before + 2, "fault ")
    with tap.test("[SYS9] what the guest asks for in other words is refused, and that it takes nothing back"):
        c.forget()
        tap.eq(c.ask("next"), 0)
        for what in "yesterday", "queue=64", "next " + 60 * "x":
            tap.ok(c.ask(what) != 0, f"{what} was accepted")
        tap.eq(g.run(f"head -n 1 {DEBUGFS}/capture", 60).stdout, b"waiting\n")
        tap.eq(c.ask(""), 0)
        tap.eq(g.run("copy", 300).status, 0)
        tap.eq(g.run(f"cat {DEBUGFS}/capture", 60).stdout, f"idle\ncaptured {before + 2}\n".encode())
        tap.ok(not os.path.exists(c.path), "a job was captured that nobody asked for")
    with tap.test("[SYS9] what cannot be is refused"):
        for name, value in ("capture", "yesterday"), ("capture", "queue=64"):
            try:
                g.qmp("qom-set", path="/machine/peripheral/gpu0", property=name, value=value)
                tap.fail(f"{name}={value} was accepted")
            except GuestError as e:
                tap.ok(value in str(e), str(e))
sys.exit(tap.finish())
