#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=400
"""fencewatch (kernel/fencewatch) reports each breach that bad_fence.ko (tests/fencewatch) commits, and nothing else."""

import os
import re
import sys

import variant
from guest import Guest
from tap import Tap

FILE = "/sys/kernel/debug/fencewatch"
LIMIT = "/sys/module/fencewatch/parameters/pending_ms"
ACT = "/sys/kernel/debug/bad_fence/act"
LOAD = ("modprobe fencewatch pending_ms=1000 reports_per_second=1000 "
        "sections=drm_sched_run_job_work,bad_fence_section,drm_sched_job_timedout")
UNLOAD = "rmmod bad_fence; rmmod fencewatch"
QUICK = bool(os.environ.get("TSR_QUICK"))
CORRECT = 20000 if QUICK else 1000000
UNLOADS = 5 if QUICK else 200
SWITCHES = 100 if QUICK else 5000
# Programs that make the driver's fences, most of them in empty jobs.
PROGRAMS = "hello square syncobjs dmabuf_fences" + " 'latency pipelined'" * (1 if QUICK else 9)
# Tries of 50 ms to see a report that takes time: the rule's limit is 1.25 s, on an idle host.
TRIES = 200 * variant.current().slow

# act, rule, what the report says; reports of sections have no context
FENCE = r"driver bad_fence context [1-9]\d* seqno "
SECTION = r"driver bad_fence context (?:0|[1-9]\d*) seqno [01]: in bad_fence_section: "
BREACHES = (
    ("never_signalled", "NEVER_SIGNALLED",
     FENCE + r"1: awaited for 1\d\d\d ms by sh\[\d+\]; last sign of life of the context: 1\d\d\d ms ago"),
    ("destroyed_pending", "DESTROYED_PENDING",
     FENCE + r"1: gone \d+ us after it was initialized, awaited by sh\[\d+\], not signalled"),
    ("out_of_order", "OUT_OF_ORDER", FENCE + r"1: seqno 2 of the context signalled \d+ us before it"),
    ("seqno_backwards", "SEQNO_BACKWARDS", FENCE + r"4: the fence before it has seqno 5"),
    ("freed_alive", "FREED_ALIVE", FENCE + r"1: freed by \w+\+\S+ \[bad_fence\] with 1 references, release\(\) is release \[bad_fence\]"),
    ("freed_in_grace_period", "FREED_IN_GRACE_PERIOD",
     FENCE + r"1: freed by \w+\+.*, release\(\) is release \[bad_fence\]"),
    ("freed_large", "FREED_IN_GRACE_PERIOD",
     FENCE + r"1: freed by \w+\+.*, release\(\) is large_release \[bad_fence\]"),
    ("error_late", "ERROR_LATE", FENCE + r"1: error changed from 0 to -5 after it signalled"),
    ("error_odd", "ERROR_ODD", FENCE + r"1: signals with error 5, which is not a negative errno"),
    ("allocates_while_signalling", "ALLOCATES_WHILE_SIGNALLING",
     SECTION + r"kmalloc with GFP_KERNEL: .*\ballocate \[bad_fence\] < bad_fence_section"),
    ("waits_while_signalling", "WAITS_WHILE_SIGNALLING",
     SECTION + r"waits for a fence: .*\bwait \[bad_fence\] < bad_fence_section"),
    ("resv_while_signalling", "RESV_WHILE_SIGNALLING",
     SECTION + r"locks a dma_resv or another ww_mutex: .*\block_resv \[bad_fence\] < bad_fence_section"),
)


def commit(act, rule):
    """A shell command that commits a breach and prints the report's file, then the log. All but one are seen at once."""
    wait = ""
    if act == "never_signalled":
        wait = (f"n=0; while grep -q 'rule {rule} 0' {FILE} && [ $n -lt {TRIES} ]; "
                f"do n=$((n + 1)); usleep 50000; done; usleep 600000; ")
    return f"echo reset >{FILE}; dmesg -c >/dev/null; echo {act} >{ACT} || exit; {wait}cat {FILE}; echo ---; dmesg"


def rules(text):
    """{rule: reports} of those with reports."""
    return {name: int(n) for name, n in re.findall(r"^rule (\w+) (\d+)$", text, re.M) if n != "0"}


def run(guest, command, timeout=120):
    """The command's standard output, which must succeed."""
    result = guest.run(command, timeout)
    if result.status:
        raise AssertionError(f"status {result.status}: {command}: {result.stderr.decode(errors='replace')[-500:]}")
    return result.stdout.decode(errors="replace")


def each_breach(tap, guest):
    for act, rule, pattern in BREACHES:
        with tap.test(f"{act} gives one report of {rule}"):
            state, _, log = run(guest, commit(act, rule)).partition("---\n")
            tap.eq(rules(state), {rule: 1}, "rules with reports")
            lines = [line for line in log.splitlines() if "fencewatch: " in line]
            tap.eq(len(lines), 1, "reports in the log")
            tap.ok(re.search(f"fencewatch: {rule} {pattern}", log), f"{pattern!r} in:\n{log}")
            tap.ok(re.search(rf"^driver bad_fence fences \d+ {rule} 1$", state, re.M), f"the driver's line in:\n{state}")
            if act == "never_signalled":
                pending = re.search(r"^pending bad_fence context \d+ seqno 1 awaited \d+ ms by sh\[\d+\]$", state, re.M)
                tap.ok(pending, f"the pending fence in:\n{state}")
                run(guest, f"echo heal >{ACT}")


def silence(tap, guest):
    with tap.test(f"{CORRECT} fences in correct use, on two processors, give no report and none is missed"):
        half = f"echo correct {CORRECT // 2} >{ACT}"
        state = run(guest, f"echo reset >{FILE}; {half} & {half} || exit; wait $! || exit; cat {FILE}", 1200)
        tap.eq(rules(state), {}, "rules with reports")
        counters = dict(re.findall(r"([a-z-]+) (\d+)", state.splitlines()[0]))
        tap.ok(int(counters["fences"]) >= CORRECT, f"fences: {counters}")
        tap.eq((counters["not-watched"], counters["without-context"]), ("0", "0"), "not watched, without context")
        tap.ok(re.search(r"^section bad_fence_section on calls [1-9]\d+ missed 0$", state, re.M), f"calls:\n{state}")
        tap.note(state.splitlines()[0])
    with tap.test(f"{CORRECT} fences of the driver's tests give no report"):
        # On a busy host a job may take longer than the limit that the breaches need.
        run(guest, f"echo 60000 >{LIMIT}")
        count = f"sed -n 's/^fences \\([0-9]*\\).*/\\1/p' {FILE}"
        state = run(guest, f"echo reset >{FILE}; while [ $({count}) -lt {CORRECT} ]; do for p in {PROGRAMS}; do "
                           f"$p >/tmp/said || {{ tail /tmp/said >&2; exit 1; }}; done; done; cat {FILE}", 1800)
        run(guest, f"echo 1000 >{LIMIT}")
        tap.eq(rules(state), {}, "rules with reports")
        tap.ok(int(state.split()[1]) >= CORRECT, f"fences:\n{state}")
        tap.note(state.splitlines()[0])
        for name in ("tessera", "drm_sched"):
            tap.ok(re.search(rf"^driver {name} fences [1-9]\d*$", state, re.M), f"fences of {name} in:\n{state}")
        tap.ok(re.search(r"^section drm_sched_run_job_work on calls [1-9]", state, re.M), f"calls:\n{state}")


def interfaces(tap, guest):
    with tap.test("a report is a trace event, too"):
        trace = "/sys/kernel/tracing"
        text = run(guest, f"echo 1 >{trace}/events/fencewatch/enable; echo error_odd >{ACT}; cat {trace}/trace; "
                          f"echo 0 >{trace}/events/fencewatch/enable")
        found = re.findall(r"fencewatch_report: rule=ERROR_ODD driver=bad_fence context=\d+ seqno=1 signals with", text)
        tap.eq(len(found), 1, f"events in:\n{text}")
    with tap.test("the module makes a report on request"):
        state, _, log = run(guest, f"echo reset >{FILE}; dmesg -c >/dev/null; echo test >{FILE}; cat {FILE}; "
                                   f"echo ---; dmesg").partition("---\n")
        tap.eq(rules(state), {"ERROR_ODD": 1}, "rules with reports")
        tap.ok(re.search(r"fencewatch: ERROR_ODD driver fencewatch context \d+ seqno 1: signals with error 5,", log), log)
    with tap.test("a word that the file does not know is an error"):
        tap.ok(guest.run(f"echo forget >{FILE}").status, "the status is not 0")
    with tap.test("reports are limited in the log and not in the counters"):
        run(guest, f"{UNLOAD}; modprobe fencewatch reports_per_second=2 && modprobe bad_fence")
        state, _, log = run(guest, f"dmesg -c >/dev/null; for i in 1 2 3 4 5 6 7 8; do echo error_odd >{ACT}; done; "
                                   f"cat {FILE}; echo ---; dmesg").partition("---\n")
        tap.eq(rules(state), {"ERROR_ODD": 8}, "rules with reports")
        tap.ok(2 <= log.count("fencewatch: ERROR_ODD") < 8, f"fewer lines in:\n{log}")
    with tap.test("excused drivers and functions are not reported"):
        run(guest, f"{UNLOAD}; modprobe fencewatch unordered=bad_fence typesafe=bad_fence slow=bad_fence "
                   f"pending_ms=100 allow=wait,allocate sections=bad_fence_section && modprobe bad_fence")
        acts = ("out_of_order seqno_backwards freed_in_grace_period waits_while_signalling "
                "allocates_while_signalling never_signalled")
        state = run(guest, f"for a in {acts}; do echo $a >{ACT} || exit; done; sleep 1; echo heal >{ACT}; cat {FILE}")
        tap.eq(rules(state), {}, "rules with reports")


def limits(tap, guest):
    with tap.test("a table that is too small is refused"):
        tap.ok(guest.run(f"{UNLOAD}; modprobe fencewatch fences=63").status, "the status is not 0")
    with tap.test("a small table is used again, and says how many fences it had no room for"):
        run(guest, "modprobe fencewatch fences=64 && modprobe bad_fence")
        state = run(guest, f"echo correct 5000 >{ACT} || exit; cat {FILE}")
        tap.eq(rules(state), {}, "rules with reports")
        counters = dict(re.findall(r"([a-z-]+) (\d+)", state.splitlines()[0]))
        # Contexts are an eighth of it, and containers have none.
        tap.eq(counters["not-watched"], "0", "not watched")
        tap.ok(int(counters["fences"]) >= 5000, f"fences: {counters}")


def machine(tap, guest):
    """A kernel that loads fencewatch replaces its own instructions. A machine that cannot do that fails here first."""
    with tap.test(f"the machine switches a static key {SWITCHES} times while all processors run the branch"):
        run(guest, f"modprobe static_key switches={SWITCHES} && rmmod static_key", 1200)


def unloads(tap, guest):
    with tap.test(f"it is unloaded and loaded {UNLOADS} times while fences are in use"):
        loop = (f"n=0; while [ $n -lt {UNLOADS} ]; do rmmod fencewatch && modprobe fencewatch "
                f"sections=bad_fence_section,drm_sched_run_job_work || exit; n=$((n + 1)); done")
        work = (f"while [ ! -e /tmp/over ]; do echo correct 500 >{ACT} && hello >/dev/null && echo done >>/tmp/rounds; "
                f"usleep 5000; done")
        state = run(guest, f"rm -f /tmp/over; : >/tmp/rounds; ({work}) & ({loop}); ret=$?; touch /tmp/over; wait; "
                           f"cat {FILE}; grep -c done /tmp/rounds; exit $ret", 1200)
        tap.eq(rules(state), {}, "rules with reports")
        rounds = int(state.splitlines()[-1])
        tap.ok(rounds >= UNLOADS, f"rounds of work: {rounds}")
        tap.note(f"{rounds} rounds of 500 fences and a program")


def complaints(tap, guest, where):
    with tap.test(f"the kernel's log {where} is free of complaints"):
        log = run(guest, "dmesg")
        tap.eq([line for line in variant.trouble(log + guest.console()) if "fencewatch: " not in line], [], "lines")


def main():
    tap = Tap()
    for name in ("TSR_TROUBLE", "TSR_FENCEWATCH"):      # what it finds is asked for
        os.environ.pop(name, None)
    with Guest(smp=2) as guest:
        run(guest, "dmesg -n 1")                         # the console is for what is not
        run(guest, f"{LOAD} && modprobe bad_fence")
        with tap.test("all events, functions and sections are watched"):
            state = run(guest, f"cat {FILE}")
            off = re.findall(r"^(?:event|probe|section) .* off.*$", state, re.M)
            # One of the two names of a function that was renamed.
            tap.eq([line for line in off if "dma_fence_enable_" not in line], [], "off")
            tap.ok(len(off) <= 1, f"off: {off}")
        each_breach(tap, guest)
        silence(tap, guest)
        interfaces(tap, guest)
        limits(tap, guest)
        complaints(tap, guest, "of all that")
    # Each load and unload replaces instructions that both processors execute. QEMU with a thread for each processor
    # makes an oops "int3" of that now and then, with static_key.ko alone as well.
    with Guest(smp=2, one_thread=True) as guest:
        run(guest, "dmesg -n 1; modprobe fencewatch && modprobe bad_fence")
        machine(tap, guest)
        unloads(tap, guest)
        complaints(tap, guest, "after the unloads")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
