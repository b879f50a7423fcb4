#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run one test suite: print KTAP, then "N passed, N failed, N skipped".

    run.py --suite NAME --results FILE [--only 'PATTERN ...'] [--shard I/N] [--jobs N] [--label L] PROGRAM ...
    run.py --suite guest ... --guest-bin DIR PROGRAM.c|.sh|.py ...

Each PROGRAM prints KTAP itself; its lines appear indented as subtests, then one line for the program. What
is counted are the programs' own tests; a program that crashes, runs out of time or prints an inconsistent
KTAP counts as one more failure. The same text goes to the results file, for `make coverage`, and a JUnit file
(junit.py) beside it, with the extension .xml.

--shard I/N runs the I-th of N parts of the suite, which are about equally long. All parts together are the suite.

Status: 0 nothing failed, 1 a test or a program failed, 2 bad usage, 3 only the infrastructure failed: a program is
not there, or a guest did not boot.

A source file given beside its program (PROGRAM=SOURCE) is searched for "test: NAME=value" settings.
"""

import argparse
import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "qemu-device", "vm")]
import junit  # noqa: E402
import limits  # noqa: E402
import variant  # noqa: E402
from guest import Guest, GuestError  # noqa: E402
from ktap import Counts, Program  # noqa: E402

ENGINE = " tessera.sched=engine tessera.sched_slots=8 tessera.sched_depth=16"
TIMEOUT = 120       # seconds for a program that does not ask for more
SETTINGS = re.compile(r"\btest:((?:\s+[A-Z_]+=[^\s*]+)+)")


class Test:
    """One test program and what it asked for."""

    def __init__(self, argument, label):
        self.path, _, source = argument.partition("=")
        self.source = source or self.path
        base = os.path.basename(self.path)
        self.name = base.rsplit(".", 1)[0] if base.endswith((".c", ".sh", ".py")) else base
        self.label = label + self.name
        self.in_guest = False
        self.settings = {}
        if os.path.exists(self.source):
            with open(self.source, errors="replace") as f:
                head = "".join(line for _, line in zip(range(40), f))
            for group in SETTINGS.findall(head):
                for word in group.split():
                    key, _, value = word.partition("=")
                    self.settings[key] = value

    def timeout(self):
        """Seconds the program may take, see limits.py; more with LONG=1."""
        return float(self.settings.get("TIMEOUT", TIMEOUT)) * (10 if os.environ.get("LONG") else 1)


def guest_source(name):
    """The source of a guest's test program, in whatever folder of tests/guest it is."""
    return glob.glob(os.path.join(HERE, "..", "guest", "*", f"{name}.c"))[0]


class Durations:
    """How long each program took when it last ran, kept in a file: what takes longest begins first."""

    def __init__(self, path):
        self.path, self.known = path, {}
        try:
            with open(path) as f:
                self.known = dict(json.load(f))
        except (OSError, TypeError, ValueError):
            pass                    # the first run, or a file of something else: no order is wrong

    def of(self, test):
        """Seconds; of one that never ran, a part of what it may take."""
        return self.known.get(test.label, float(test.settings.get("TIMEOUT", TIMEOUT)) / 20)

    def keep(self, new):
        aside = f"{self.path}.{os.getpid()}"
        with open(aside, "w") as f:
            json.dump({**self.known, **new}, f, indent=1, sort_keys=True)
        os.rename(aside, self.path)


class Report:
    """Prints and keeps the suite's KTAP and counts."""

    def __init__(self, path, total, suite):
        self.seconds = {}           # of each program
        self.broken = self.failures = 0     # programs that could not run, and others that failed
        self.junit = junit.Document(suite)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.path, self.aside = path, f"{path}.{os.getpid()}"
        self.file = open(self.aside, "w")
        self.counts = Counts()
        self.number = 0
        self.lock = threading.Lock()
        self.emit("KTAP version 1")
        self.emit(f"1..{total}")

    def emit(self, line):
        print(line, flush=True)
        self.file.write(line + "\n")

    def program(self, test, text, problems, seconds):
        """A program is over: its text as subtests, its own line, what was wrong with it as a whole."""
        with self.lock:
            self._program(test, text, problems, seconds)

    def _program(self, test, text, problems, seconds):
        parsed = Program(text)
        problems = problems + parsed.problems
        counts = parsed.counts()
        if any(isinstance(problem, junit.Broken) for problem in problems):
            problems = [problem for problem in problems if isinstance(problem, junit.Broken)]
            self.broken += 1
        elif problems or counts.failed:
            self.failures += 1
        self.junit.program(test.label, parsed.results, problems, text, seconds)
        for line in text.splitlines():
            self.emit("    " + line)
        if problems and not counts.failed:
            counts.failed += 1
        for problem in problems:
            for line in problem.splitlines():
                self.emit("# " + line)
        self.number += 1
        self.seconds[test.label] = round(seconds, 1)
        self.emit(f"{'not ok' if counts.failed else 'ok'} {self.number} - {test.label} # {seconds:.1f} s")
        self.counts.add(counts)

    def finish(self):
        self.file.close()
        os.rename(self.aside, self.path)
        self.junit.write(os.path.splitext(self.path)[0] + ".xml")
        if self.broken:
            print(f"# the infrastructure failed for {self.broken} programs", flush=True)
        print(self.counts, flush=True)
        return 1 if self.failures else 3 if self.broken else 0


def run_host(test):
    """Run a host program; (output, problems, seconds). stderr goes where stdout goes."""
    with tempfile.NamedTemporaryFile("r", prefix="tessera-trouble-") as complaints:
        text, problems, seconds = run_process(test, dict(os.environ, TSR_TROUBLE=complaints.name))
        problems += kernel_said(complaints.read().splitlines())
    return text, problems, seconds


def run_process(test, env):
    """What run_host() returns, without what the kernels of its guests said."""
    start = time.monotonic()
    limit = test.timeout() * variant.current().slow
    command = [test.path]
    if test.path.endswith(".py"):
        command = ["/usr/bin/python3", "-B", test.path]
    elif test.path.endswith(".sh"):
        command = ["/bin/bash", test.path]
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True, env=env)
    except OSError as e:
        return "", [junit.Broken(f"{test.label} cannot be run: {e}")], 0.0
    problems = []
    output, expired = limits.communicate(process, limit)
    if expired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        problems.append(f"{test.label} did not end {expired}")
    text = output.decode(errors="replace")
    if not problems and process.returncode < 0:
        problems.append(f"{test.label} was killed by signal {-process.returncode}")
    elif not problems and process.returncode and "\nnot ok" not in "\n" + text:
        problems.append(f"{test.label} ended with status {process.returncode}")
    return text, problems, time.monotonic() - start


def guest_options(test):
    """What a program asks of the machine, as arguments of Guest; programs with equal ones share a boot."""
    s = test.settings
    # The driver's other submission backend: for the programs of ENGINE_PROGRAMS (tests.mk), or with SCHED=engine for all.
    backend = ENGINE if os.environ.get("SCHED") == "engine" or test.label.startswith("guest-engine/") else ""
    if "tessera.sched=" in s.get("KERNEL_ARGS", ""):
        backend = ""
    return {"devices": int(s.get("DEVICES", 1)), "iommu": s.get("IOMMU", "0") == "1", "smp": int(s.get("SMP", 1)),
            "mem": int(s.get("MEM", 1024)), "device_args": s.get("DEVICE_ARGS", ""),
            "kernel_args": (s.get("KERNEL_ARGS", "").replace(";", " ") + backend).strip(), "load": s.get("LOAD", "1") == "1"}


def grouped(tests):
    """Lists of the tests that want the same machine; a group shares a boot."""
    groups = {}
    for test in tests:
        groups.setdefault(repr(sorted(guest_options(test).items())), []).append(test)
    return sorted(groups.values(), key=len, reverse=True)


def run_group(tests, report):
    """Run the programs of one group in a guest; one that dies is booted again."""
    guest = None
    try:
        for test in tests:
            guest = one_in_guest(test, guest, report)
        if variant.current().leaks:
            end_of_guest(tests, guest, report)
    finally:
        if guest:
            guest.stop()


def end_of_guest(tests, guest, report):
    """What the last guest of a group says when the driver goes, as one more program."""
    start = time.monotonic()
    test = Test(f"after-{tests[0].name}", "guest/")
    try:
        if guest and guest.alive():
            text, problems = variant.last_words(guest)
        else:
            text, problems = "KTAP version 1\n1..0 # SKIP the last guest of this group is gone", []
    except GuestError as e:
        text, problems = "", [f"the guest failed while the driver was unloaded: {e}"]
    report.program(test, text, problems, time.monotonic() - start)


def kernel_said(lines):
    """The problems list for lines of a kernel's log, or what its devices say of the driver."""
    return ["the kernel's log, or a device's, has:\n" + "\n".join(lines[:10])] if lines else []


def device_said(lines):
    """The problems list for reports of the contract checker (Documentation/hw/debug-unit.md)."""
    return ["the device reports:\n" + "\n".join(lines[:10])] if lines else []


def run_all(host, guest, report, jobs, durations):
    """Host programs and groups of guest programs, some at a time, what takes longest first, reported as they end."""
    def run_one(test):
        report.program(test, *run_host(test))

    work = [(durations.of(test), run_one, test) for test in host]
    work += [(sum(map(durations.of, group)), lambda tests: run_group(tests, report), group) for group in grouped(guest)]
    work.sort(key=lambda w: w[0], reverse=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(run, what) for _, run, what in work]:
            future.result()


# Assertion of QEMU 10.0 that fails now and then on a busy host while the guest resets a function again and again. A
# processor looks up a memory section in a newer map than the one that it knows. The device is not involved.
QEMU_RACE = "iotlb_to_section: Assertion"


def run_program(guest, test, command, sink=None, limit=None):
    """Run a program's command, its output to sink, if given, as it comes; a Result. The guest may not be alive
    afterwards."""
    limit = limit or test.timeout()
    if test.settings.get("CONSOLE") != "1":
        return guest.run(command, limit, sink, sink)
    result = guest.run_on_console(command, limit)
    if sink:
        sink(result.stdout)
    return result


def one_in_guest(test, guest, report, again=True):
    """Run one program; the guest to go on with, or None when it is not usable any more. Once again if QEMU_RACE ended it."""
    start = time.monotonic()
    output, problems, booting = bytearray(), [], True
    try:
        if guest and not guest.alive():
            guest.stop()            # the program before did that and has been reported
            guest = None
        if guest is None:
            guest = Guest(**guest_options(test)).start()
            if guest.run(variant.current().looks).status:
                raise GuestError(f"the guest's kernel does not look for mistakes: {variant.current().looks}")
        booting = False
        seen = len(guest.console())
        quick = "" if os.environ.get("LONG") else "TSR_QUICK=1 "
        if variant.current().slow > 4:
            quick += "TSR_SLOW=1 "
        result = run_program(guest, test, f"{quick}exec {test.name} 2>&1", output.extend)
        if result.status and b"\nnot ok" not in b"\n" + output:
            problems.append(f"{test.label} ended with status {result.status}")
        said = guest.console()[seen:]
        if problems or result.status or variant.trouble(said):
            keep_log(test, said)
        if guest.alive():
            problems += device_said(guest.driver_bugs())
        if variant.trouble(said):
            problems += kernel_said(variant.trouble(said))
            guest.stop()            # lockdep and KASAN have said their only word; the next program gets a new guest
            guest = None
    except GuestError as e:
        if guest:
            guest.stop()
        if again and QEMU_RACE in str(e):
            print(f"# {test.label} once more: QEMU has stumbled over a memory map that changed", flush=True)
            return one_in_guest(test, None, report, again=False)
        if booting:
            problems.append(junit.Broken(f"no guest for {test.label}: {e}"))
        else:
            problems.append(f"the guest failed while {test.label} ran: {e}")
        guest = None
    report.program(test, output.decode(errors="replace").replace("\r\n", "\n"), problems, time.monotonic() - start)
    return guest


def keep_log(test, text):
    """What the kernel said while a program ran that failed, for who wants to know all of it."""
    path = os.path.join(os.environ.get("TSR_BUILD", "/tmp"), "log", test.label.replace("/", "-") + ".console")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    print(f"# the whole log is {path}", flush=True)


def named(word, suite):
    """The Test of an argument, [LABEL:]PROGRAM[=SOURCE]."""
    label, colon, rest = word.partition(":")
    if not colon:
        label, rest = suite, word
    test = Test(rest, label + "/")
    test.in_guest = label in ("guest", "guest-engine", "debug")
    return test


def wanted(test, patterns):
    return not patterns or any(fnmatch.fnmatch(test.name, p) for p in patterns)


def shard_argument(text):
    """(I, N) of "I/N"."""
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if not match or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is not I/N with I from 1 to N")
    return int(match[1]), int(match[2])


def in_shard(tests, index, count):
    """The tests of one shard. It depends on their names and limits only, so all machines divide them alike."""
    load, chosen = [0.0] * count, []
    for test in sorted(tests, key=lambda t: (-t.timeout(), t.label)):
        least = load.index(min(load))
        load[least] += test.timeout()
        if least == index - 1:
            chosen.append(test)
    return chosen


def nothing_to_run(args, there):
    """A suite without a test is not a success: it shows as skipped, a wrong name as failed."""
    if there:
        print(f"KTAP version 1\n1..1\nok 1 - {args.suite} # SKIP no test is in this shard")
        print(Counts(skipped=1))
        return 0
    if args.only:
        print(f"tessera: error: no test of suite {args.suite} matches '{args.only}'", file=sys.stderr)
        return 2
    print(f"KTAP version 1\n1..1\nok 1 - {args.suite} # SKIP there is no test in it")
    print(Counts(skipped=1))
    return 0


def main():
    p = argparse.ArgumentParser(description="Run one test suite.")
    p.add_argument("--suite", required=True)
    p.add_argument("--results", required=True, help="file that keeps the suite's KTAP")
    p.add_argument("--only", default="", help="names of the programs to run, shell patterns")
    p.add_argument("--shard", type=shard_argument, help="I/N: one of N parts")
    p.add_argument("--jobs", type=int, default=1, help="programs or guests at a time")
    p.add_argument("programs", nargs="*", help="[LABEL:]PROGRAM[=SOURCE]; LABEL guest or debug: runs in a guest")
    args = p.parse_args()
    tests = [test for test in map(lambda word: named(word, args.suite), args.programs) if wanted(test, args.only.split())]
    there = bool(tests)
    if args.shard:
        tests = in_shard(tests, *args.shard)
    if not tests:
        return nothing_to_run(args, there)
    host = [test for test in tests if not test.in_guest]
    guest = [test for test in tests if test.in_guest]
    ends = len(grouped(guest)) if variant.current().leaks else 0
    report = Report(args.results, len(tests) + ends, args.suite)
    durations = Durations(os.path.join(os.environ.get("TSR_BUILD", "/tmp"), "durations.json"))
    run_all(host, guest, report, args.jobs, durations)
    durations.keep(report.seconds)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
