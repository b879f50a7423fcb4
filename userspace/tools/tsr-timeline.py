#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tsr-timeline: one timeline of guest scheduler, fences and GPU units, for Perfetto (ui.perfetto.dev) or chrome://tracing.

    tsr-timeline [-o OUT.json] GUEST [DEVICE]

GUEST is what tsr-timeline-record has written in the guest, DEVICE what QEMU has written meanwhile with
-msg timestamp=on -trace 'tessera_gpu_*' -trace tessera_read -D DEVICE. `make timeline CMD=...` does all of it.

All events are put on the GPU's clock: the guest's by the pairs of clocks that the recorder notes, the device's by the
reads of GPU.TIMESTAMP it logs. Status 0, 1 when a file holds nothing that can be used, 2 for bad usage.
"""

import argparse
import json
import re
import sys

# processes of the timeline
GPU, QUEUES, JOBS, TASKS = 1, 2, 3, 4
CLASSES = ("bin", "render", "compute", "copy")
STATES = ("DISABLED", "IDLE", "READY", "RUNNING", "BLOCKED", "SUSPENDED", "FAULTED")

FTRACE = re.compile(r"^\s*(?P<task>.+)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+\S+\s+(?P<time>\d+\.\d+): (?P<name>\w+): "
                    r"(?P<args>.*)$")
LOG = re.compile(r"^\d+@(?P<time>\d+\.\d+):(?P<name>tessera_\w+) (?P<dev>[^:]*): (?P<args>.*)$")
CLOCK = re.compile(r'"(\w+)": *(\d+)')


class Unusable(Exception):
    """A file without what a timeline needs."""


def nanoseconds(seconds):
    """'12.345678' as an integer."""
    whole, _, part = seconds.partition(".")
    return int(whole) * 10**9 + int(part.ljust(9, "0")[:9])


def arguments(text):
    """{'seqno': '3'} of 'seqno=3 ...'; of 'a:b' too, as the scheduler's events have them."""
    return dict(re.findall(r"(\w+)[=:]\s*([^\s,]+)", text))


class Timeline:
    """Events in the format of Chrome's traces, in GPU time."""

    def __init__(self):
        self.events = []
        self.names = set()

    def name(self, pid, text, tid=None):
        """What a process or a thread is called."""
        if (pid, tid) in self.names:
            return
        self.names.add((pid, tid))
        kind = "process_name" if tid is None else "thread_name"
        self.events.append({"ph": "M", "name": kind, "pid": pid, "tid": tid or 0, "ts": 0, "args": {"name": text}})

    def add(self, phase, pid, tid, when, name, **more):
        """An event at `when`, GPU nanoseconds."""
        self.events.append(dict(ph=phase, pid=pid, tid=tid, ns=when, name=name, **more))

    def span(self, pid, tid, begin, end, name, **args):
        self.add("X", pid, tid, begin, name, dur=max(end - begin, 0) / 1000, args=args)

    def instant(self, pid, tid, when, name, **args):
        self.add("i", pid, tid, when, name, s="t", args=args)

    def write(self, file):
        first = min((e["ns"] for e in self.events if "ns" in e), default=0)
        for e in self.events:
            if "ns" in e:
                e["ts"] = (e.pop("ns") - first) / 1000
        self.events.sort(key=lambda e: (e["ph"] != "M", e["ts"]))
        json.dump({"displayTimeUnit": "ns", "otherData": {"clock": "GPU.TIMESTAMP", "first_ns": first},
                   "traceEvents": self.events}, file)
        file.write("\n")


class GuestClock:
    """CLOCK_MONOTONIC of the guest in GPU time: a line through the pairs that the recorder noted."""

    def __init__(self, lines):
        pairs = [dict(CLOCK.findall(line)) for line in lines if line.startswith("# clock ")]
        self.pairs = [(int(p["cpu_ns"]), int(p["gpu_ticks"]) * 10**9 // int(p["timestamp_hz"])) for p in pairs
                      if int(p.get("timestamp_hz", 0)) and "gpu_ticks" in p and "cpu_ns" in p]
        if not self.pairs:
            raise Unusable("the guest's file names no clocks")

    def gpu(self, cpu):
        (c0, g0), (c1, g1) = self.pairs[0], self.pairs[-1]
        return g0 + (cpu - c0) * (g1 - g0) // (c1 - c0) if c1 > c0 else g0 + cpu - c0


def read_guest(timeline, lines):
    """What the driver, the scheduler and fences did."""
    clock = GuestClock(lines)
    events = []
    for line in lines:
        m = FTRACE.match(line)
        if m:
            events.append((clock.gpu(nanoseconds(m["time"])), m))
    if not events:
        raise Unusable("the guest's file holds no event")
    jobs, queued, waits, emitted = {}, {}, {}, None
    timeline.name(JOBS, "jobs of the driver")
    timeline.name(TASKS, "tasks of the guest")
    for when, m in events:
        args, name, tid = arguments(m["args"]), m["name"], int(m["pid"])
        timeline.name(TASKS, m["task"].strip(), tid)
        if name == "tessera_job_queue":
            queued.setdefault(args["cmd_va"], []).append(when)
        elif name == "tessera_fence_emit":
            emitted = (args["context"], args["seqno"])
        elif name == "tessera_job_run" and emitted and emitted[1] == args["seqno"]:
            waiting = queued.get(args["cmd_va"])
            jobs[emitted] = (int(args["slot"]), when, waiting.pop(0) if waiting else when)
        elif name == "tessera_fence_signal":
            finish_job(timeline, jobs.pop((args["context"], args["seqno"]), None), when, args)
        elif name == "dma_fence_wait_start":
            waits[tid] = (when, args)
        elif name == "dma_fence_wait_end" and tid in waits:
            begin, what = waits.pop(tid)
            timeline.span(TASKS, tid, begin, when, "dma_fence_wait", **what)
        if name not in ("dma_fence_wait_start", "dma_fence_wait_end"):
            timeline.instant(TASKS, tid, when, name, **args)


def finish_job(timeline, job, when, args):
    """A job's fence has signalled: its time before the ring, and on it."""
    if not job:
        return
    slot, run, queued = job
    timeline.name(JOBS, f"queue {slot}", slot)
    seqno = args["seqno"]
    if queued < run:
        timeline.span(JOBS, slot, queued, run, f"job {seqno} waits", seqno=int(seqno))
    timeline.span(JOBS, slot, run, when, f"job {seqno}", seqno=int(seqno), error=int(args["error"]))


def device_offset(matches):
    """What to take from the log's clock for GPU time: the least delay between a read of TIMESTAMP and its line."""
    high, offsets = None, []
    for m in matches:
        read = re.match(r"0x\w+ GPU\.TIMESTAMP\.(lo|hi) -> 0x(\w+)", m["args"]) if m["name"] == "tessera_read" else None
        if read and read[1] == "hi":
            high = int(read[2], 16)
        elif read and high is not None:
            offsets.append(nanoseconds(m["time"]) - (high << 32 | int(read[2], 16)))
    if not offsets:
        raise Unusable("the device's file has no read of GPU.TIMESTAMP")
    return min(offsets)


class Device:
    """What the GPU's units did."""

    def __init__(self, timeline):
        self.timeline = timeline
        self.slices, self.states = {}, {}
        timeline.name(GPU, "engines of the GPU")
        timeline.name(QUEUES, "queues of the GPU")

    def event(self, when, name, text):
        numbers = [int(n, 0) for n in re.findall(r"\b(0x[0-9a-f]+|\d+)\b", text)]
        if name == "slice_begin":
            self.slices[numbers[0]] = (when, numbers[1], numbers[2])
        elif name == "slice_end":
            self.slice_end(when, *numbers[:3])
        elif name == "state":
            self.state(when, *numbers[:3])
        elif name in ("doorbell", "event", "command_done", "fault", "watchdog"):
            self.timeline.name(QUEUES, f"queue {numbers[0]}", numbers[0])
            self.timeline.instant(QUEUES, numbers[0], when, name, text=text, numbers=numbers)
        elif name in ("interrupt", "invalidate", "reset", "inject", "check"):
            self.timeline.name(GPU, "device", 1000)
            self.timeline.instant(GPU, 1000, when, name, text=text, numbers=numbers)

    def slice_end(self, when, queue, reason, cycles):
        if queue not in self.slices:
            return
        begin, engine_class, engine = self.slices.pop(queue)
        tid = engine_class * 16 + engine
        self.timeline.name(GPU, f"{CLASSES[engine_class]} {engine}", tid)
        self.timeline.span(GPU, tid, begin, when, f"queue {queue}", queue=queue, cycles=cycles, reason=reason)

    def state(self, when, queue, _, state):
        if queue in self.states:
            begin, was = self.states[queue]
            if STATES[was] not in ("DISABLED", "IDLE"):
                self.timeline.name(QUEUES, f"queue {queue}", queue)
                self.timeline.span(QUEUES, queue, begin, when, STATES[was])
        self.states[queue] = (when, state)


def read_device(timeline, lines):
    matches = [m for m in map(LOG.match, lines) if m]
    offset = device_offset(matches)
    device = Device(timeline)
    for m in matches:
        if m["name"].startswith("tessera_gpu_"):
            device.event(nanoseconds(m["time"]) - offset, m["name"][len("tessera_gpu_"):], m["args"])


def main():
    p = argparse.ArgumentParser(description="One timeline of guest scheduler, fences and GPU units, for Perfetto.")
    p.add_argument("--version", action="version", version="tsr-timeline 1.0.0")
    p.add_argument("-o", metavar="OUT", default="-", help="the timeline, JSON (standard output)")
    p.add_argument("guest", help="what tsr-timeline-record has written")
    p.add_argument("device", nargs="?", help="what QEMU has written")
    args = p.parse_args()
    timeline = Timeline()
    try:
        for path, read in (args.guest, read_guest), (args.device, read_device):
            if path:
                with open(path, errors="replace") as f:
                    read(timeline, f.read().splitlines())
    except (OSError, Unusable) as e:
        print(f"tsr-timeline: {e}", file=sys.stderr)
        return 1
    if args.o == "-":
        timeline.write(sys.stdout)
    else:
        with open(args.o, "w") as f:
            timeline.write(f)
    return 0


if __name__ == "__main__":
    sys.exit(main())
