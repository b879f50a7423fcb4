#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make sched`: run loads of tsr-load under different ways to schedule them, in guests that repeat themselves.

    sched_lab.py --load NAME,... [--policy rr,fifo,fair] [--depth 1,4] [--backend engine,slot] [--json FILE] [--html FILE]
                 [--base FILE] [--mock] [options of guest.py]

One guest boots for each combination. Status 0: all expectations of the loads hold and nothing differs from --base. 1: not so.
"""

import argparse
import collections
import concurrent.futures
import glob
import itertools
import json
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest as runner  # noqa: E402
import sched_report as report  # noqa: E402
from initramfs import Archive, read  # noqa: E402
from repeatable import Repeatable  # noqa: E402

TOP = runner.TOP
LOADS = os.path.join(TOP, "userspace", "tools", "tsr-load")
POLICIES = ("rr", "fifo", "fair")
PAIRS = """normal-normal normal-low high-normal high-low half-half half-half-low half-high-half low-hog heavy heavy-first very-heavy""".split()
MANY = "clients-2 clients-3 clients-7 clients-13 clients-31".split()
REAL = "compositor encoders tiny-huge charged".split()
GROUPS = {"pairs": PAIRS, "many": MANY, "in-tree": PAIRS + MANY, "real": REAL, "all": PAIRS + MANY + REAL}
LIMIT = 3600        # seconds of this host for one guest

Setup = collections.namedtuple("Setup", "backend policy depth slots timeslice delay")


class Absent(Exception):
    """The guest's kernel or device lacks what a combination needs."""


# ---- what is asked for ----


def words(text):
    return [w for w in text.replace(",", " ").split() if w]


def find_loads(text):
    """Names of loads and their files, for names, groups and files."""
    found = {}
    for word in words(text):
        for name in GROUPS.get(word, [word]):
            path = name if os.path.exists(name) else os.path.join(LOADS, name + ".load")
            if not os.path.exists(path):
                known = sorted(os.path.basename(p)[:-5] for p in glob.glob(os.path.join(LOADS, "*.load")))
                raise SystemExit(f"tessera: error: there is no load {name}; there are {' '.join(known)}, the groups "
                                 f"{' '.join(GROUPS)}, and files")
            found[os.path.basename(path).split(".")[0]] = path
    return found


def choose(text, known, what):
    for word in words(text):
        if word not in known:
            raise SystemExit(f"tessera: error: {what}={word}: expected {', '.join(known)}")
    return words(text)


def numbers(text, least, most, what):
    for word in words(text):
        if not word.isdigit() or not least <= int(word) <= most:
            raise SystemExit(f"tessera: error: {what}={word}: expected a number from {least} to {most}")
    return [int(w) for w in words(text)]


def setups(args):
    """All combinations. The backend "slot" leaves drm_sched nothing to decide, so it is one of them."""
    found = []
    for s in itertools.product(choose(args.backend, ("engine", "slot"), "BACKEND"), choose(args.policy, POLICIES, "POLICY"),
                               numbers(args.depth, 1, 64, "DEPTH"), numbers(args.slots, 1, 8, "SLOTS"),
                               numbers(args.timeslice, 0, 1 << 30, "TIMESLICE"), numbers(args.delay, 0, 10**7, "DELAY")):
        s = Setup(*s)
        if s.backend == "slot":
            s = Setup("slot", "fifo", 1, 1, 0, s.delay)
        if s not in found:
            found.append(s)
    return found


# ---- one guest ----

guests = set()                  # guests of all threads
ending = threading.Event()      # no guest may start any more


def build_module(what, *more):
    """Path of a module that sched_modules.sh builds for the guest's kernel."""
    kdir = os.environ.get("TSR_KDIR")
    if not kdir:
        raise SystemExit("tessera: error: modules of drm_sched need the kernel's build directory (KDIR=)")
    script = os.path.join(TOP, "qemu-device", "vm", "sched_modules.sh")
    done = subprocess.run(["bash", script, what, kdir, *more], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout.strip()


def stock_module_name(kernel_release):
    return f"lib/modules/{kernel_release}/kernel/drivers/gpu/drm/scheduler/gpu-sched.ko"


def command(setup, names, mock):
    """The guest's script. Nothing is written to the host before all is over."""
    loads = " ".join(shlex.quote(f"/lib/loads/{n}.load") for n in names)
    lines = ["cd /tmp"]
    if setup.policy == "fair" and setup.backend == "engine":
        lines.append("grep -q drm_sched_entity_stats /proc/kallsyms || { echo 'this kernel has no policy FAIR' >&2; exit 77; }")
    lines += [f"tsr-load -q --json /tmp/sched.json {loads} 2>/tmp/says", "status=$?"]
    if mock:
        lines += [f"dmesg -n 1; dmesg -c >/dev/null; insmod /lib/drm_sched_mock.ko suite={report.MOCK_SUITES[setup.depth]} 2>/dev/null",
                  "dmesg >/tmp/mock"]
    lines += ["cat /tmp/says >&2; cat /tmp/sched.json", "echo ---", "cat /tmp/mock 2>/dev/null", "exit $status"]
    return "\n".join(lines) + "\n"


def write_initrd(path, setup, loads, mock, scheduler):
    """The guest's initramfs, and behind it what this run adds. The kernel unpacks both, and the later file of a name counts."""
    archive = Archive()
    archive.file("lib/sched", command(setup, loads, mock).encode())
    for name, file in loads.items():
        archive.file(f"lib/loads/{name}.load", read(file), 0o644)
    if mock:
        archive.file("lib/drm_sched_mock.ko", read(mock), 0o644)
    if scheduler:
        release = subprocess.run(["/sbin/modinfo", "-F", "vermagic", scheduler], capture_output=True, text=True, check=True)
        archive.file(stock_module_name(release.stdout.split()[0]), read(scheduler), 0o644)
    archive.write(path + ".more")
    with open(path, "wb") as f:
        f.write(read(runner.environment()["TSR_INITRD"]))
        f.write(read(path + ".more"))
    os.unlink(path + ".more")


def kernel_args(setup):
    args = [f"gpu_sched.sched_policy={POLICIES.index(setup.policy)}", f"tessera.sched={setup.backend}"]
    if setup.backend == "engine":
        args += [f"tessera.sched_slots={setup.slots}", f"tessera.sched_depth={setup.depth}"]
        if setup.timeslice:
            args.append(f"tessera.sched_timeslice={setup.timeslice}")
    return " ".join(args)


def device_args(setup):
    args = ["copy-engines=1"]
    if setup.delay:
        args.append(f"inject=irq-late:vector=0:times=always:delay={setup.delay}us")
    return ",".join(args)


def make_guest(setup, options, initrd, seed):
    common = {"initrd": initrd, "mem": options.mem, "console": sys.stderr if options.console else None}
    more_kernel = f"{kernel_args(setup)} {options.kernel_args}".strip()
    more_device = ",".join(a for a in (device_args(setup), options.device_args) if a)
    if seed is not None:
        return Repeatable("sh /lib/sched", seed, device_args=more_device, kernel_args=more_kernel, **common)
    return runner.Guest(device_args=more_device, kernel_args=more_kernel, accel=options.accel, smp=options.smp, **common)


def run_guest(guest, args, options):
    """The result of the guest's script. end_guests() can end it from another thread."""
    guests.add(guest)
    try:
        with guest as g:
            if ending.is_set():
                raise runner.GuestError("interrupted")
            if args.realtime:
                g.start_command("sh /lib/sched")
            return g.finish_command(options.timeout if options.timeout != runner.RUN_LIMIT else LIMIT)
    finally:
        guests.discard(guest)


def end_guests():
    ending.set()
    for guest in list(guests):
        if guest.alive():
            guest.kill()


def run_setup(setup, args, options, loads, modules):
    """The figures of one combination, as a dictionary."""
    with tempfile.TemporaryDirectory(prefix="tessera-sched-") as d:
        initrd = os.path.join(d, "initrd")
        write_initrd(initrd, setup, loads, modules["mock"] if report.has_mock(setup) else None, modules["scheduler"])
        done = run_guest(make_guest(setup, options, initrd, None if args.realtime else args.seed), args, options)
    said = done.stderr.decode(errors="replace").strip()
    if done.status == 77:
        raise Absent(said)
    if done.status not in (0, 1) or not done.stdout.startswith(b"{"):
        raise runner.GuestError(f"tsr-load ended with status {done.status}: {said or 'it wrote nothing'}")
    figures, _, mock = done.stdout.decode().partition("\n---\n")
    run = json.loads(figures)
    run.update(setup=setup._asdict(), mock=report.parse_mock(mock))
    if run["backend"] != setup.backend or setup.backend == "engine" and run["policy"] not in (setup.policy, "unknown"):
        raise runner.GuestError(f"the guest runs with {run['backend']} and {run['policy']}, not {setup.backend} and {setup.policy}")
    return run


def run_times(setup, args, options, loads, modules):
    """One run, or with --realtime the medians of several."""
    runs = [run_setup(setup, args, options, loads, modules) for _ in range(args.realtime or 1)]
    return report.median_of(runs, statistics.median) if len(runs) > 1 else runs[0]


# ---- all of them ----


def run_all(args, options, loads):
    modules = {"mock": build_module("mock") if args.mock else None,
               "scheduler": build_module("scheduler", args.scheduler) if args.scheduler else None}
    def run(setup):
        try:
            return run_times(setup, args, options, loads, modules)
        except Absent as e:
            print(f"tessera: {report.setup_name(setup._asdict())} skipped: {e}", file=sys.stderr)
            return None

    # A signal reaches the main thread. It ends the guests there, and those of other threads by end_guests().
    with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
        try:
            runs = list(filter(None, (map if args.jobs == 1 else pool.map)(run, setups(args))))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_guests()
            raise
    return {"tessera_sched": 1, "seed": args.seed, "realtime": args.realtime, "runs": runs}


def write_file(path, text):
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.rename(path + ".new", path)
    print(f"tessera: {path}", file=sys.stderr)


def read_base(path):
    try:
        with open(path, encoding="utf-8") as f:
            base = json.load(f)
    except (OSError, ValueError) as e:
        raise SystemExit(f"tessera: error: {path}: {e}") from e
    if base.get("tessera_sched") != 1:
        raise SystemExit(f"tessera: error: {path}: expected a file that make sched JSON= has written")
    return base


def parse(argv):
    p = argparse.ArgumentParser(description="Run loads of tsr-load under different ways to schedule them.")
    p.add_argument("--load", required=True, help="names, groups (pairs many in-tree real all), files")
    p.add_argument("--policy", default="fifo", help="rr, fifo, fair (default fifo)")
    p.add_argument("--depth", default="1", help="jobs of a queue on its ring (default 1)")
    p.add_argument("--slots", default="1", help="slots of an engine class (default 1)")
    p.add_argument("--backend", default="engine", help="engine, slot (default engine)")
    p.add_argument("--timeslice", default="0", help="cycles of a time slice (default 0: the device's)")
    p.add_argument("--delay", default="0", help="us by which each interrupt of a job is late (default 0)")
    p.add_argument("--seed", type=int, default=1, help="of the device's choices and the guest's random numbers")
    p.add_argument("--realtime", type=int, default=0, metavar="N", help="by the host's clock, medians of N runs; not repeatable")
    p.add_argument("--scheduler", help="patch for the kernel's drivers/gpu/drm/scheduler")
    p.add_argument("--mock", action="store_true", help="run the kernel's own tests of drm_sched as well, and compare")
    p.add_argument("--json", help="where the figures go")
    p.add_argument("--html", help="where the page goes")
    p.add_argument("--base", help="file of --json to compare with")
    p.add_argument("--tolerance", type=float, default=2, help="percent that a figure may differ from --base (default 2)")
    p.add_argument("--jobs", type=int, default=1, help="guests at a time (default 1)")
    args, rest = p.parse_known_args(argv)
    return args, runner.parse(rest + ["--", "tsr-load"])


def main(argv):
    args, options = parse(argv)
    loads = find_loads(args.load)
    base = read_base(args.base) if args.base else None
    setups(args)
    try:
        runner.environment()
        results = run_all(args, options, loads)
    except (runner.GuestError, OSError) as e:
        print(f"tessera: error: {e}", file=sys.stderr)
        return 125
    moved = report.compare(base, results, args.tolerance) if base else []
    print(report.table(results))
    if args.mock:
        print(report.mock_table(results))
    for line in moved + report.failures(results):
        print(line)
    if args.json:
        write_file(args.json, json.dumps(results, indent=1) + "\n")
    if args.html:
        write_file(args.html, report.page(results, moved))
    return 1 if moved or report.failures(results) or not results["runs"] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
