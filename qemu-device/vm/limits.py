# SPDX-License-Identifier: MIT
"""Limits for programs that may run on a busy machine: they are slow there, not broken.

A program has used up its limit when one of these holds:

* it has used that much processor time (on each of the processors it may use),
* it has had that much wall time and used less than a tenth of it: it waits for something that does not happen,
* it has had ten times as much wall time.
"""

import os
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
WALL = 10           # the bound on wall time, in limits
IDLE = 0.1          # a program that uses less of a processor than this waits


def parents_and_times():
    """{pid: (parent, seconds)} of all processes; seconds include those of children that were waited for."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue            # it has ended meanwhile
        found[int(entry)] = int(fields[1]), sum(map(int, fields[11:15])) / TICKS
    return found


def processor_time(pid):
    """Seconds of processor time of a process and its descendants."""
    table = parents_and_times()
    children = {}
    for child, (parent, _) in table.items():
        children.setdefault(parent, []).append(child)
    total, todo = 0.0, [pid]
    while todo:
        one = todo.pop()
        total += table.get(one, (0, 0.0))[1]
        todo += children.get(one, [])
    return total


class Limit:
    """A limit of so many seconds for a process and its descendants, from now on.

    Reading processor times costs milliseconds, so they are read at most twice a second.
    """

    def __init__(self, seconds, pid, processors=None):
        self.seconds, self.pid = seconds, pid
        self.processors = processors or min(4, os.cpu_count())
        self.start = self.looked = time.monotonic()
        self.used_before = processor_time(pid)
        self.used = 0.0

    def expired(self):
        """Why the program has used up its limit, or None."""
        now = time.monotonic()
        wall = now - self.start
        if wall < self.seconds and now - self.looked < 0.5:
            return None
        if now - self.looked >= 0.5:
            self.looked = now
            self.used = max(self.used, processor_time(self.pid) - self.used_before)
        if self.used >= self.seconds * self.processors:
            return f"within {self.seconds:.0f} s of processor time"
        if wall >= self.seconds and self.used < IDLE * wall:
            return f"within {self.seconds:.0f} s, and waits"
        if wall >= WALL * self.seconds:
            return f"within {WALL * self.seconds:.0f} s"
        return None

    def slice(self):
        """Seconds after which to look again."""
        return max(0.05, min(0.5, self.start + self.seconds - time.monotonic()))


def communicate(process, seconds):
    """Popen.communicate() within a limit: (output, None), or (b"", why it expired). The process then still runs."""
    limit = Limit(seconds, process.pid)
    while True:
        try:
            return process.communicate(timeout=limit.slice())[0], None
        except subprocess.TimeoutExpired:
            why = limit.expired()
            if why:
                return b"", why
