# SPDX-License-Identifier: MIT
"""Read KTAP: the results a test program printed, and whether the whole is consistent."""

import re

RESULT = re.compile(r"^\s*(not )?ok\b\s*(\d+)?\s*(?:-\s*)?(.*)$")
PLAN = re.compile(r"^\s*1\.\.(\d+)\s*(?:#\s*SKIP\b\s*(.*))?$", re.I)
SKIP = re.compile(r"\s#\s*SKIP\b\s*(.*)$", re.I)
LEDGER_ID = re.compile(r"\[([A-Z]+[0-9]+(?:\s*,\s*[A-Z]+[0-9]+)*)\]")


class Counts:
    """Passed, failed and skipped tests."""

    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class Result:
    """One result line. status is "passed", "failed" or "skipped"."""

    def __init__(self, status, name, reason):
        self.status, self.name, self.reason = status, name, reason

    def ids(self):
        """The ledger IDs the description cites."""
        return [i.strip() for group in LEDGER_ID.findall(self.name) for i in group.split(",")]


def parse_result(line):
    """The Result of a line, or None."""
    m = RESULT.match(line)
    if not m:
        return None
    name = m.group(3)
    skip = SKIP.search(name)
    if skip:
        name = name[:skip.start()]
    if skip and not m.group(1):
        return Result("skipped", name.strip(), skip.group(1).strip())
    return Result("failed" if m.group(1) else "passed", name.strip(), "")


def by_program(lines):
    """(program, its tests' Results) of a suite: tests are indented and come before their program's own line."""
    pending = []
    for line in lines:
        result = parse_result(line)
        if result is None:
            continue
        if line.startswith("    "):
            pending.append(result)
            continue
        yield result.name.split(" #")[0], pending
        pending = []


class Program:
    """What one test program printed at its own (outermost) level."""

    def __init__(self, text):
        self.results, self.problems = [], []
        plan = whole_skip = None
        numbers = []
        for line in text.splitlines():
            if line[:1].isspace():
                continue            # a subtest's line: its parent's line counts
            m = PLAN.match(line)
            if m and plan is None:
                plan, whole_skip = int(m.group(1)), m.group(2)
                continue
            result = parse_result(line) if line.startswith(("ok", "not ok")) else None
            if result:
                self.results.append(result)
                number = RESULT.match(line).group(2)
                numbers.append(int(number) if number else len(self.results))
                if result.status == "skipped" and not result.reason:
                    self.problems.append(f"test {number} is skipped without a reason")
        if whole_skip is not None:
            self.results = [Result("skipped", "everything", whole_skip)]
            return
        if plan is None:
            self.problems.append("there is no plan line (1..N): the program did not come to its end")
        elif plan != len(self.results):
            self.problems.append(f"the plan says {plan} tests, {len(self.results)} reported")
        elif plan == 0:
            self.problems.append("the plan says no tests")
        elif numbers != list(range(1, plan + 1)):
            self.problems.append("the test numbers are not 1, 2, 3 ...")

    def counts(self):
        c = Counts()
        for r in self.results:
            setattr(c, r.status, getattr(c, r.status) + 1)
        return c
