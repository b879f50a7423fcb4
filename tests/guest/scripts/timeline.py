#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=240
"""A timeline of guest and GPU: it can be loaded, everything is in it, and on its one clock causes come before effects."""

import json
import os
import sys
import tempfile

from guest import TOP, Guest
from tap import Tap

sys.path.insert(0, os.path.join(TOP, "tests", "guest", "runner"))
import timeline  # noqa: E402

# us: a log's line is written after its event, by a thread that a busy host may stop in between: rarely for long
SLACK = 10000
tap = Tap()


def fence_opcode():
    """FENCE's opcode, from the description."""
    import xml.etree.ElementTree as tree
    root = tree.parse(os.path.join(TOP, "Documentation", "hw", "packets.xml")).getroot()
    return int(next(p for p in root.iter("packet") if p.get("name") == "FENCE").get("opcode"), 0)


def of(events, phase, pid, name=None):
    return [e for e in events if e["ph"] == phase and e["pid"] == pid and (name is None or e["name"] == name)]


def job_slices(events, slot):
    """(begin, end, seqno) of the jobs of a slot, in order."""
    jobs = [e for e in of(events, "X", 3) if e["tid"] == slot and "waits" not in e["name"]]
    return [(e["ts"], e["ts"] + e["dur"], e["args"]["seqno"]) for e in jobs]


def check_order(events):
    """Each job: doorbell and engine after the driver put it on its ring, its fence value before its fence signals."""
    checked, late = 0, []
    fences = [e for e in of(events, "i", 2, "event") if e["args"]["numbers"][1] == fence_opcode()]
    slots = {e["tid"] for e in of(events, "X", 3)}
    for slot in slots:
        values = {}         # a slot may have been two queues', so a number may come twice
        for e in fences:
            if e["tid"] == slot:
                values.setdefault(e["args"]["numbers"][3], []).append(e["ts"])
        for begin, end, seqno in job_slices(events, slot):
            if not values.get(seqno):
                continue
            written = values[seqno].pop(0)
            checked += 1
            what = f"slot {slot} job {seqno}: on the ring from {begin} to {end}, fence value at {written}"
            tap.ok(begin - SLACK <= written <= end + 100 * SLACK, what)
            if written > end + SLACK:
                late.append(what)
    tap.ok(len(late) <= 1, f"one line may be late: {late}")
    tap.ok(checked >= 3, f"{checked} jobs with their fence values")
    return checked


with tempfile.TemporaryDirectory() as d:
    out, log = os.path.join(d, "timeline.json"), os.path.join(d, "device")
    with Guest(qemu_args=timeline.TRACE + [log]) as g:
        with tap.test("[SYS9] a command is recorded, its status passed on"):
            tap.eq(timeline.record(g, "photo /usr/share/tessera/photo.png /tmp/o.png >/dev/null; compute prefix; exit 3", out,
                                   log), 3)
    with tap.test("[SYS9] the timeline can be loaded and has what Perfetto asks for"):
        with open(out) as f:
            loaded = json.load(f)
        events = loaded["traceEvents"]
        for e in events:
            if not {"ph", "pid", "tid", "ts", "name"} <= set(e) or e["ts"] < 0 or (e["ph"] == "X") != ("dur" in e):
                tap.fail(f"event {e}")
                break
        times = [e["ts"] for e in events if e["ph"] != "M"]
        tap.eq(times, sorted(times), "order")
    with tap.test("[SYS9] engines, queues, jobs and tasks have their tracks"):
        names = {(e["pid"], e["args"]["name"]) for e in events if e["ph"] == "M"}
        for want in (1, "engines of the GPU"), (1, "compute 0"), (2, "queue 0"), (3, "queue 0"), (4, "photo"), (4, "compute"):
            tap.ok(want in names, f"{want} in {sorted(names)}")
        tap.ok(of(events, "X", 1) and of(events, "i", 2, "doorbell") and of(events, "i", 1, "interrupt"), "device events")
        tap.ok(of(events, "i", 4, "tessera_job_run"), "the driver's events")
        # newer kernels say drm_sched_job_queue
        tap.ok(any(e["name"].startswith("drm_sched_job") for e in of(events, "i", 4)), "the scheduler's events")
        tap.ok(any(e["name"].startswith("dma_fence") for e in events), "fence events")
    with tap.test("[SYS9] causes come before effects on the one clock"):
        check_order(events)
    with tap.test("[SYS9] files that are no traces are refused"):
        tool = os.path.join(TOP, "userspace", "tools", "tsr-timeline.py")
        for text in "", "# clock nothing\n":
            path = os.path.join(d, "bad")
            with open(path, "w") as f:
                f.write(text)
            status = os.spawnlp(os.P_WAIT, "python3", "python3", "-B", tool, "-o", os.path.join(d, "no.json"), path)
            tap.eq(status, 1, "status")
sys.exit(tap.finish())
