#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make Documentation/status/coverage.md: ledger ID -> status -> tests, from what the tests printed.

    coverage.py --results DIR [--also FILE ...] --out FILE      write FILE from DIR/*.ktap and the other files
    coverage.py --results DIR [--also FILE ...] --compare FILE  KTAP: FILE claims nothing that these results do not show
    coverage.py --check-ids                   only check tests/ledger.ids and the IDs in test sources

A row's primary test, named by hand in tests/ledger.ids, is the one that asserts the row's behaviour: the row is "guest"
when that passed in the guest suite, "model" when it passed on the host, "partial: REASON" when tests/ledger.ids states a
reason, else "missing". Rows for which nobody has named one yet have the status of all tests that cite them. A row
with a failing test is "failing". A row whose primary test is in one of LONG_SUITES is "check-all" when that passed. `make check` does
not run these suites, so --also names their last results; without them the page's own claim stays. Tests that were skipped prove nothing and are listed with their reason. At the end stands how large the
guest suite is (sizes.py).
"""

import argparse
import glob
import os
import re
import sys

import sizes
from ktap import LEDGER_ID, by_program

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Directories of primary tests that only make check-all runs: the suite whose results have them.
LONG_SUITES = {"tree": "kselftest"}
# Brackets in test sources that look like a ledger ID.
CITED = re.compile(r'"\[([A-Z]+[0-9]+(?:, ?[A-Z]+[0-9]+)*)\]')


class Entry:
    """A line of tests/ledger.ids: ID [= DIRECTORY/PROGRAM: DESCRIPTION |] [REASON]."""

    def __init__(self, section, line):
        self.section = section
        self.name, _, rest = line.partition(" ")
        self.primary, self.partial = "", rest.strip()
        if self.partial.startswith("= "):
            self.primary, _, self.partial = (part.strip() for part in rest.strip()[2:].partition(" |"))

    def source(self):
        """(directory, program, description) of the primary test."""
        place, _, description = self.primary.partition(": ")
        directory, _, program = place.partition("/")
        return directory, program, description

    def suite(self):
        """The suite that only make check-all runs, if the primary test is in one."""
        return LONG_SUITES.get(self.source()[0])


def read_ids():
    """Entries in the order of the file."""
    rows, section = [], ""
    with open(os.path.join(TOP, "tests", "ledger.ids")) as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("# ") and " - " in line:
                section = line[2:]
            elif line and not line.startswith("#"):
                rows.append(Entry(section, line))
    return rows


class Row:
    """What the tests say about one ID."""

    def __init__(self):
        self.passed, self.failed, self.skipped = [], [], []

    def status(self, entry):
        proofs = [t for t in self.passed if is_primary(t, entry)] if entry.primary else self.passed
        if self.failed:
            return "failing"
        if not proofs:
            return "missing"
        if entry.partial:
            return f"partial: {entry.partial}"
        if entry.suite():
            return "check-all"
        return "guest" if any(t.startswith("guest") for t in proofs) else "model"


def is_primary(test, entry):
    """Whether the result "LABEL/PROGRAM: DESCRIPTION" is of the entry's primary test; labels say how it was built."""
    label, _, rest = test.partition("/")
    directory, program, description = entry.source()
    return label.split("-")[0] == directory and rest == f"{program}: {description}"


def read_results(directory, rows):
    """Fill rows {id: Row} from the suites' KTAP; the names of IDs nobody knows."""
    unknown = set()
    suites = [n for n in sorted(os.listdir(directory)) if n.endswith(".ktap")] if os.path.isdir(directory) else []
    for suite in suites:
        with open(os.path.join(directory, suite), errors="replace") as f:
            read_suite(f.read().splitlines(), rows, unknown)
    return suites, unknown


def read_also(paths, ids, rows, page):
    """Read the results of suites that only make check-all runs. A row of a suite without results keeps what the page
    says of it; the names of IDs nobody knows."""
    unknown, ran = set(), set()
    for path in paths:
        if os.path.exists(path):
            ran.add(os.path.splitext(os.path.basename(path))[0])
            with open(path, errors="replace") as f:
                read_suite(f.read().splitlines(), rows, unknown)
    stated = claims(page) if os.path.exists(page) else {}
    for entry in ids:
        claim = stated.get(entry.name, "missing").split(":")[0]
        if entry.suite() and entry.suite() not in ran and claim in ("check-all", "partial"):
            rows[entry.name].passed.append(entry.primary)
            print(f"# {entry.name} is said to be {claim}; make check-{entry.suite()} has not been run here")
    return unknown


def read_suite(lines, rows, unknown):
    """The results of one suite."""
    for program, results in by_program(lines):
        for r in results:
            for name in r.ids():
                if name in rows:
                    getattr(rows[name], r.status).append(f"{program}: {LEDGER_ID.sub('', r.name).strip()}")
                else:
                    unknown.add(name)


def table(ids, rows):
    """The document's text."""
    out = ["# Coverage", "",
           "<!-- SPDX-License-Identifier: MIT; generated by `make coverage` from the output of `make check` -->", "",
           "Each row names the primary test of a [requirement](requirements.md), which alone decides its status. `make",
           "coverage` writes the page from the results of `make check`.", "", "| Status | Meaning |", "|---|---|",
           "| guest | asserted through the driver in a booted guest |",
           "| model | asserted on the host, by the model library or qtest |",
           "| check-all | asserted by the last run of a suite that only `make check-all` runs |",
           "| partial | asserted in part, with the reason |", "| missing | no test asserts it yet |", ""]
    section = None
    for entry in ids:
        if entry.section != section:
            out += ["", f"## {entry.section}", "", "| ID | Status | Primary test |", "|---|---|---|"]
            section = entry.section
        row = rows[entry.name]
        tests = sorted(set(row.passed + row.failed))
        shown = [clean(t) for t in tests if is_primary(t, entry)] if entry.primary else [clean(t) for t in tests[:1]]
        out.append(f"| {entry.name} | {row.status(entry)} | {'<br>'.join(shown)} |")
    return "\n".join(out).replace("\n\n\n", "\n\n") + "\n"


# The section that tests/lib/gcov.py writes into the same page.
DRIVER = re.compile(r"<!-- begin driver -->.*?<!-- end driver -->\n", re.S)


def driver_section(path):
    """The section about lines of the driver of the page as it is, which another run has measured."""
    if not os.path.exists(path):
        return ""
    with open(path) as f:
        found = DRIVER.search(f.read())
    return "\n" + found.group() if found else ""


def clean(text):
    return text.replace("|", "\\|")


def check_ids():
    """Duplicates in the list, primary tests that are not there, and IDs in test sources that are not in it; lines to
    complain with."""
    entries = read_ids()
    ids = [entry.name for entry in entries]
    problems = [f"tests/ledger.ids: {n} appears twice" for n in sorted({n for n in ids if ids.count(n) > 1})]
    problems += [f"tests/ledger.ids: {e.name}: no test of {e.primary!r} cites it" for e in entries if not is_there(e)]
    for directory, _, names in os.walk(os.path.join(TOP, "tests")):
        for name in names:
            if not name.endswith((".c", ".h", ".py", ".sh")):
                continue
            path = os.path.join(directory, name)
            with open(path, errors="replace") as f:
                for number, line in enumerate(f, 1):
                    for group in CITED.findall(line):
                        problems += [f"{os.path.relpath(path, TOP)}:{number}: there is no ledger row {i.strip()}"
                                     for i in group.split(",") if i.strip() not in ids]
    return problems


def is_there(entry):
    """Whether the source of the entry's primary test, if it has one, has a test of that name which cites the row."""
    directory, program, description = entry.source()
    if not entry.primary:
        return True
    for suffix in (".c", ".py", ".sh"):
        where = os.path.join(TOP, "tests", directory)
        for path in glob.glob(os.path.join(where, program + suffix)) + glob.glob(os.path.join(where, "*", program + suffix)):
            with open(path, errors="replace") as f:
                text = re.sub(r'"\s*"', "", f.read())
            return any(f"[{entry.name}]" in line for line in re.findall(rf'"[^"\n]*{re.escape(description)}"', text))
    return False


def claims(path):
    """{id: status} as a coverage document states it."""
    with open(path) as f:
        return dict(m.groups() for m in re.finditer(r"^\| ([A-Z]+[0-9]+) \| ([^|]*?) \|", f.read(), re.M))


def compare(ids, rows, path):
    """Print KTAP: the document against this run; the exit status."""
    if not os.path.exists(path):
        print(f"ok 1 - coverage # SKIP there is no {path} yet\n1..1\n0 passed, 0 failed, 1 skipped")
        return 0
    order = ["missing", "model", "partial", "check-all", "guest"]
    worse, better = [], []
    stated = claims(path)
    for entry in ids:
        name = entry.name
        now, then = rows[name].status(entry).split(":")[0], stated.get(name, "missing").split(":")[0]
        if now == "failing" or (then in order and order.index(now) < order.index(then)):
            skipped = "; skipped: " + ", ".join(rows[name].skipped) if rows[name].skipped else ""
            worse.append(f"{name} is said to be {then}, this run shows {now}{skipped}")
        elif now != then:
            better.append(f"{name} is said to be {then}, this run shows {now}: make coverage would update it")
    for line in worse + better:
        print(f"# {line}")
    print(f"{'not ok' if worse else 'ok'} 1 - Documentation/status/coverage.md claims nothing that this run did not show")
    print(f"1..1\n{0 if worse else 1} passed, {1 if worse else 0} failed, 0 skipped")
    return 1 if worse else 0


def main():
    p = argparse.ArgumentParser(description="Make Documentation/status/coverage.md from test results.")
    p.add_argument("--results", help="directory of the suites' KTAP")
    p.add_argument("--also", action="append", default=[], metavar="FILE", help="KTAP of a suite that only make check-all runs")
    p.add_argument("--out", help="file to write")
    p.add_argument("--compare", help="file to compare with")
    p.add_argument("--check-ids", action="store_true")
    args = p.parse_args()
    if args.check_ids:
        problems = check_ids()
        print("\n".join(problems))
        return 1 if problems else 0
    ids = read_ids()
    rows = {entry.name: Row() for entry in ids}
    if args.compare:
        print("KTAP version 1")
    suites, unknown = read_results(args.results, rows)
    unknown |= read_also(args.also, ids, rows, args.compare or args.out)
    if "guest.ktap" not in suites or "model.ktap" not in suites:
        print(f"tessera: error: no results of a whole run in {args.results}; run make check first", file=sys.stderr)
        return 1
    for name in sorted(unknown):
        print(f"tessera: warning: a test cites {name}, which is not in tests/ledger.ids", file=sys.stderr)
    if args.compare:
        return compare(ids, rows, args.compare)
    driver = driver_section(args.out)
    with open(args.out + ".new", "w") as f:
        f.write(table(ids, rows) + "\n" + sizes.section(os.path.join(args.results, "guest.ktap")) + driver)
    os.rename(args.out + ".new", args.out)
    counts = {}
    for entry in ids:
        status = rows[entry.name].status(entry).split(":")[0]
        counts[status] = counts.get(status, 0) + 1
    print(", ".join(f"{n} {s}" for s, n in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
