#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=180
"""tsr-inspect, tsr-inject and tsr-perf in a guest: they say what is so, and refuse what cannot be."""

import re
import sys

from guest import Guest
from tap import Tap

tap = Tap()

# One queue that waits at a gate, one that has faulted. Both can be seen for eight seconds.
SCENE = """queue waits
queue faulty class=copy
job gate queue=waits takes=8s
job wild queue=faulty fault
error wild EFAULT
sleep 6s
"""


def say(g, command):
    done = g.run(command, 60)
    return done.status, done.stdout.decode(), done.stderr.decode()


def figures(text):
    """{'cycles': 12} of tsr-perf's lines."""
    return {name: int(value) for value, name in re.findall(r"^ *(\d+)  (\S+)", text, re.M)}


with Guest(devices=2, device_args=["inject-window=on", ""], kernel_args="tessera.job_timeout_ms=30000") as g:
    with tap.test("[SYS5] tsr-inspect shows queues, rings and faults of a machine at work"):
        g.run(f"cat >/tmp/scene <<'END'\n{SCENE}END\n(tsr-sync -q /tmp/scene >/tmp/said 2>&1; echo $? >/tmp/status) &")
        # A busy host takes a while to get there.
        g.run("until [ -e /tmp/status ] || { tsr-inspect queues | grep -q blocked && tsr-inspect faults | grep -q 'a write of'; }; do :; done", 60)
        status, out, err = say(g, "tsr-inspect")
        tap.eq((status, err), (0, ""), "status and complaints")
        tap.eq(len(re.findall(r"^0000:\S+ queues$", out, re.M)), 2, "devices")
        tap.ok(re.search(r"blocked .* [1-9]\d* bytes on the ring, 0 of 1 jobs done", out), out)
        tap.ok(re.search(r"faulted|last error", out), out)
        tap.ok("CALL" in out and "FENCE" in out, "what is on the ring")
        tap.ok(re.search(r"a write of queue \d+ at 0x7f0000000000: nothing is mapped there", out), out)
        status, out, _ = say(g, "tsr-inspect vms memory")
        tap.ok(status == 0 and "queues" not in out and re.search(r"^0000:\S+ vms$", out, re.M), out)
        say(g, "while [ ! -e /tmp/status ]; do usleep 100000; done")
        tap.eq(say(g, "cat /tmp/status /tmp/said")[1].strip(), "0", "the scene itself")

    with tap.test("tsr-inspect: one device, bad usage"):
        bus = say(g, "tsr-inspect device")[1].split()[0]
        out = say(g, f"tsr-inspect -d {bus} device")[1]
        tap.eq(re.findall(r"^(0000:\S+) device$", out, re.M), [bus])
        tap.eq(say(g, "tsr-inspect -d 0000:77:00.0")[0], 1, "status without such a device")
        for usage in ("tsr-inspect nonsense", "tsr-inspect -w 0", "tsr-inspect --frob"):
            tap.eq(say(g, usage)[0], 2, usage)

    with tap.test("[SYS7] tsr-inject hands rules over, tells what was refused and how often each has fired"):
        tap.eq(say(g, "tsr-inject 'copy-corrupt times=2' 'irq-late delay=1ms'"), (0, "", ""))
        out = say(g, "tsr-inject")[1]
        tap.ok("rules 2" in out and "COPY_CORRUPT 0" in out, out)
        status, _, err = say(g, "tsr-inject 'hang sideways=3'")
        tap.eq(status, 1)
        tap.ok("refuses 'hang sideways=3'" in err, err)
        tap.eq(say(g, "tsr-inject --clear")[0], 0)
        tap.ok("rules 0" in say(g, "tsr-inject")[1], "rules after --clear")
        tap.eq(say(g, "tsr-inject -d 0000:77:00.0 hang")[0], 2, "status without such a device")

    with tap.test("[SYS5] tsr-perf counts a program's jobs, and passes its status on"):
        # 96 rows, 128 columns, groups of 16 by 16
        status, out, err = say(g, "tsr-perf -o /tmp/figures -e shader-groups,fences,cycles compute sgemm")
        got = figures(say(g, "cat /tmp/figures")[1])
        tap.eq((status, got["shader-groups"], got["jobs"]), (0, 48, 1), "status, groups, jobs")
        tap.ok(got["cycles"] > 10000, got)
        tap.eq(list(got), ["shader-groups", "fences", "cycles", "jobs"], "what is printed")
        tap.eq(say(g, "tsr-perf sh -c 'exit 7'")[0], 7, "status")
        status, _, err = say(g, "tsr-perf -e tlb-misses sh -c 'hello && hello' >/dev/null")
        tap.eq((status, figures(err)["jobs"]), (0, 2), "jobs of two children")
        tap.eq(say(g, "tsr-perf -e nonsense hello")[0], 2, "status of a counter there is not")
        tap.eq(say(g, "tsr-perf")[0], 2, "status without a program")
        tap.ok("tlb-misses" in say(g, "tsr-perf -l")[1], "the list")

sys.exit(tap.finish())
