#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=900
"""Run IGT's generic tests in a guest (`make check-igt`) and compare what they say with the expectations beside this file.

    igt.py [PROGRAM[@SUBTEST-PATTERN] ...]

TSR_IGT is what share.sh made. Without a PROGRAM those that TSR_IGT_PROGRAMS names are run, or all of programs.txt, and with
TSR_IGT_LONG those of programs-long.txt, too, which take hours on a busy host. The expectations have the format of the kernel's drivers/gpu/drm/ci:

    tessera-fails.txt    PROGRAM@SUBTEST,Fail     runs and fails; that it passes is news, so the run fails then
    tessera-skips.txt    pattern                  is not run
    tessera-clock.txt    pattern                  is run on a machine whose clock counts instructions (CLOCK)

TSR_IGT_XFAILS names another directory, with tessera-none-fails.txt and tessera-none-skips.txt as that job of drm-ci has them.

A test that skips itself is skipped with the reason it gives. Whatever the kernel complains of fails the test it happened in.
"""

import fnmatch
import os
import re
import sys
import time

import variant
from guest import Guest, GuestError
from tap import Tap

HERE = os.path.dirname(os.path.abspath(__file__))
# For what asserts that things happen within so much time, however busy this host is: an instruction is 1 ns, and the GPU does at
# once what it does. A guest's second of work takes ten of the host's, one of waiting nothing.
CONTRACT = "drm_contract"       # see contract.sh
CLOCK = ["-icount", "shift=0,sleep=off", "-rtc", "clock=vm"]
# Tests that remove the device. Meanwhile one program shows pictures and one allocates more LOCAL memory than exists. Both
# restart as soon as the device is back.
SHOWN = "core_hotunplug", "device_reset"
SHOW = ("(while :; do tsr-show --frames 1000000; sleep 1; done) </dev/null >/tmp/show 2>&1 & "
        "(while :; do evict_mixed; sleep 1; done) </dev/null >/tmp/pressure 2>&1 &")
# Somebody has looked at the monitors, as a console or a compositor would have: not every program does.
PROBE = "for s in /sys/class/drm/card*-*/status; do [ ! -e $s ] || echo detect >$s; done"
TOGETHER = 8            # subtests in one go; by the clock that counts instructions, where they may take minutes, one
LIMIT = 600             # seconds for a go, on a fast kernel
NO_SUBTESTS = 79        # IGT's exit status of --list-subtests then
SKIPPED = 77            # and of a test without subtests that does not run
BEGIN = re.compile(r"^Starting subtest: (\S+)$")
END = re.compile(r"^Subtest (\S+): (SUCCESS|FAIL|SKIP|CRASH)\b")
REASON = re.compile(r"^Test requirement: (.*)|^(No dynamic tests executed)")
RESULTS = {"SUCCESS": "Pass", "FAIL": "Fail", "SKIP": "Skip", "CRASH": "Crash"}


def lines_of(name, folder=HERE):
    """What a file of this directory lists, without comments."""
    with open(os.path.join(folder, name)) as f:
        return [line.strip() for line in f if line.strip() and not line.startswith("#")]


class Expectations:
    def __init__(self):
        other = os.environ.get("TSR_IGT_XFAILS")
        where = (other, "tessera-none") if other else (HERE, "tessera")
        self.fails = dict(line.split(",") for line in lines_of(f"{where[1]}-fails.txt", where[0]))
        self.skips = [re.compile(line) for line in lines_of(f"{where[1]}-skips.txt", where[0])]
        self.clock = [re.compile(line) for line in lines_of("tessera-clock.txt")]

    def skipped(self, name):
        return any(p.fullmatch(name) for p in self.skips)

    def clocked(self, name):
        return any(p.fullmatch(name) for p in self.clock)


def reason_of(lines):
    """Why something was skipped; "" where it does not say."""
    reasons = [m.group(1) or m.group(2) for m in map(REASON.match, lines) if m]
    return reasons[-1] if reasons else ""


def results_of(lines):
    """{subtest: (result, lines of output)} of those that came to their end. The lines before the first belong to it."""
    found, said = {}, []
    for line in lines:
        said.append(line)
        m = END.match(line)
        if m:
            found[m.group(1)] = RESULTS[m.group(2)], said
            said = []
    return found


def machine(program, clocked):
    """What Guest() is to be told for a program. What is about mode setting has the screens for itself."""
    if program == CONTRACT:
        return {"device_args": "vram=32M,inject-window=on", "smp": 2,
                "kernel_args": "fbcon=map:99 tessera.job_timeout_ms=1000 tessera.job_limit_ms=60000"}
    two = program in ("kms_multipipe_modeset", "kms_display_modes", "kms_lease", "kms_setmode")
    heads = 2 if two else int(program.startswith("kms_") or program in SHOWN)
    return {"device_args": f"vram=64M,heads={heads}" + (",deterministic=on" if clocked else ""), "smp": 1 if clocked else 2,
            "accel": "tcg" if clocked else "auto", "qemu_args": CLOCK if clocked else [],
            "kernel_args": "fbcon=map:99"}


class Runner:
    """A guest that is booted when it is needed, and booted anew after it died or its kernel has complained."""

    def __init__(self, share):
        self.share, self.guest, self.machine = share, None, None

    def run(self, command, clocked=False):
        """(status, output, what the kernel complained of) of a command below SHARE. clocked: None: on any machine that is there."""
        program = command.split()[0]
        wanted = self.machine if clocked is None and self.guest else (machine(program, clocked), program in SHOWN)
        if wanted != self.machine:
            self.stop()
        if not self.guest:
            self.machine = wanted
            self.guest = Guest(share=self.share, boot_limit=300, **wanted[0]).start()
            self.guest.run(f"modprobe vgem; {PROBE}; {SHOW if wanted[1] else ''}")
        seen = len(self.guest.console())
        try:
            done = self.guest.run(f"cd /tmp && /mnt/run {command} 2>&1", LIMIT * (4 if clocked else 1))
            status, text = done.status, done.stdout.decode(errors="replace")
        except GuestError as e:
            status, text = 255, str(e)
        complaints = variant.trouble(self.guest.console()[seen:])
        if status == 255 or complaints:
            self.stop()
        return status, text, complaints

    def stop(self):
        if self.guest:
            self.guest.stop()
        self.guest = None


def subtests(runner, program, pattern):
    """Names of a program's subtests; nothing if it has none."""
    status, text, _ = runner.run(f"{program} --list-subtests", None)
    if status == NO_SUBTESTS:
        return []
    return fnmatch.filter(re.findall(r"^[\w-]+$", text, re.M), pattern)


def run_simple(runner, tap, expected, program):
    """A program without subtests."""
    status, text, complaints = runner.run(program)
    result = {0: "Pass", SKIPPED: "Skip"}.get(status, "Crash" if status > 128 else "Fail")
    report(tap, expected, program, result, text.splitlines(), complaints)


def run_subtests(runner, tap, expected, program, names, clocked=False):
    """Subtests, some in one go. One that takes the program with it has failed, and another run does those that are left."""
    while names:
        part = names[:1 if clocked else TOGETHER]
        status, text, complaints = runner.run(f"{program} --run-subtest {','.join(part)}", clocked)
        lines = text.splitlines()
        found, shared = results_of(lines), reason_of(lines)
        done = [name for name in part if name in found]
        for name in done:
            report(tap, expected, f"{program}@{name}", *found[name], [], shared)
        names = [name for name in names if name not in done]
        begun = [m.group(1) for m in map(BEGIN.match, lines) if m and m.group(1) in names]
        culprit = begun[-1] if begun else part[0] if not done else None
        if culprit:
            report(tap, expected, f"{program}@{culprit}", "Crash", lines[-40:] + [f"status {status}"], complaints)
            names.remove(culprit)
        elif complaints:
            with tap.test(f"the kernel while igt@{program} ran"):
                tap.fail("\n".join(complaints))


def report(tap, expected, name, result, said, complaints, shared=""):
    """One line of KTAP. @shared: why subtests skip that only follow another one's example."""
    with tap.test(f"igt@{name}"):
        if complaints:
            tap.fail("\n".join(complaints))
        if result == "Skip":
            tap.skip(reason_of(said) or shared or "it does not say why")
        want = expected.fails.get(name, "Pass")
        if result != want:
            tap.note("\n".join(said[-60:]))
            tap.fail(f"{result}, expected {want}")


def programs():
    """What is run when nothing is asked for."""
    return lines_of("programs.txt") + (lines_of("programs-long.txt") if os.environ.get("TSR_IGT_LONG") else [])


def main():
    wanted = sys.argv[1:] or os.environ.get("TSR_IGT_PROGRAMS", "").split() or programs()
    expected, runner, tap = Expectations(), Runner(os.environ["TSR_IGT"]), Tap()
    try:
        for word in wanted:
            begun, (program, _, pattern) = time.monotonic(), word.partition("@")
            names = subtests(runner, program, pattern or "*")
            if names:
                names = [name for name in names if not expected.skipped(f"{program}@{name}")]
                clocked = [name for name in names if expected.clocked(f"{program}@{name}")]
                run_subtests(runner, tap, expected, program, [name for name in names if name not in clocked])
                run_subtests(runner, tap, expected, program, clocked, True)
            else:
                run_simple(runner, tap, expected, program)
            tap.note(f"igt@{word}: {time.monotonic() - begun:.0f} s")
    finally:
        runner.stop()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
