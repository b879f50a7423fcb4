#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which lines and branches of the driver, and of the DRM it stands on, the guest suite reaches (VARIANT=cover).

    gcov.py --dumps DIR                      the tables; KTAP: the driver's share is above the bars
    gcov.py --dumps DIR --holes [FILE ...]   the driver's lines that nothing reached, and branches never taken
    gcov.py --dumps DIR --page FILE          put the tables into the page

Every guest of a cover kernel hands over its counters before it is switched off: guest.py has gather.py do it
when TSR_COVER names a directory. Each hand-over is a .tar of .gcda files there, called as in the guest's debugfs: by the
absolute name of the object. What they say is added up; counters of an object that has been compiled anew since
are left out, so programs may run in several goes.
"""

import argparse
import collections
import filecmp
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

from tap import Tap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINES, BRANCHES = 90, 70        # percent of the driver that must be reached

# Rows of the second table in their order: (title, source below the kernel's tree).
STANDS_ON = (
    ("the scheduler", r"drivers/gpu/drm/scheduler/.*\.c"),
    ("GPU address spaces", r"drivers/gpu/drm/drm_gpuvm\.c"),
    ("locking of many objects", r"drivers/gpu/drm/drm_exec\.c"),
    ("sync objects", r"drivers/gpu/drm/drm_syncobj\.c"),
    ("GEM objects in shmem", r"drivers/gpu/drm/drm_gem_shmem_helper\.c"),
    ("GEM, PRIME, files, devices, ranges", r"drivers/gpu/drm/drm_(?:gem|prime|file|drv|mm)\.c"),
    ("dma-buf and fences", r"drivers/dma-buf/.*\.c"),
)


# ---- from counters to lines ------------------------------------------------------------------------


def stamp(data):
    """What of a .gcda or .gcno file says from which compilation it is: both have it in the same place."""
    return data[8:12]


def tool_for(data):
    """The gcov of the compiler that wrote the file: its version reads "B22*" for 12.2, A being 0 to 9."""
    version = data[7:3:-1].decode()
    return f"gcov-{10 * (ord(version[0]) - ord('A')) + int(version[1])}"


class Source:
    """What is known of one source file."""

    def __init__(self):
        self.lines = collections.Counter()      # number: how often it ran
        self.branches = {}                      # (function, line, index): how often it was taken

    def reached(self):
        return sum(1 for n in self.lines.values() if n)

    def taken(self):
        return sum(1 for n in self.branches.values() if n)


def unpack(dumps, directory):
    """One subdirectory per dump with its counters, and beside each the notes of its compilation. Counters of another
    compilation than the one that lies on the disk now are left out; (subdirectories, how many files were)."""
    found, stale = [], 0
    for name in sorted(n for n in os.listdir(dumps) if n.endswith(".tar")):
        out = os.path.join(directory, name[:-4])
        with tarfile.open(os.path.join(dumps, name)) as tar:
            for member in tar.getmembers():
                stale += member.isfile() and not keep(out, member.name.lstrip("."), tar.extractfile(member).read())
        if os.path.isdir(out):
            found.append(out)
    return found, stale


def keep(out, name, data):
    """Put one file of counters with its notes below directory out; False when they do not belong together."""
    notes = name[:-5] + ".gcno"
    if not os.path.exists(notes):
        return False
    with open(notes, "rb") as f:
        if stamp(f.read(12)) != stamp(data):
            return False
    path = out + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return True


def any_file(directory):
    """The first bytes of some file below it."""
    path, _, names = next(entry for entry in os.walk(directory) if entry[2])
    with open(os.path.join(path, names[0]), "rb") as f:
        return f.read(12)


def merge(directories):
    """The sum of the counters in all of them, as a directory."""
    total = directories[0]
    tool = tool_for(any_file(total))
    for number, other in enumerate(directories[1:]):
        out = f"{directories[0]}.sum{number}"
        done = subprocess.run([tool.replace("gcov-", "gcov-tool-"), "merge", "-o", out, total, other], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"tessera: error: the counters of two guests cannot be added:\n{done.stdout}")
        total = out
    return total


def read(directory):
    """{source: Source} of all counters below directory."""
    sources = collections.defaultdict(Source)
    tool = tool_for(any_file(directory))
    for path, _, names in os.walk(directory):
        for name in sorted(n for n in names if n.endswith(".gcda")):
            gcda = os.path.join(path, name)
            gcno = gcda[len(directory):-5] + ".gcno"
            os.symlink(gcno, gcda[:-5] + ".gcno")
            add_object(sources, gcda, tool)
    return sources


def add_object(sources, gcda, tool):
    """Add what one object's counters say to the sources it was made of."""
    done = subprocess.run([tool, "--json-format", "--branch-probabilities", "--stdout", gcda], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"tessera: error: {tool} cannot read {gcda}: {done.stderr}")
    for text in done.stdout.splitlines():
        record = json.loads(text)
        for entry in record["files"]:
            name = os.path.normpath(os.path.join(record["current_working_directory"], entry["file"]))
            for line in entry["lines"]:
                sources[name].lines[line["line_number"]] += line["count"]
                for index, branch in enumerate(line["branches"]):
                    key = line.get("function_name", ""), line["line_number"], index
                    sources[name].branches[key] = sources[name].branches.get(key, 0) + branch["count"]


def driver_sources(sources):
    """{name below kernel/: Source}: module.sh compiles a copy of that directory."""
    found = {}
    for name in sources:
        m = re.search(r"/module-[0-9a-f]{8}/kernel/(tessera_\w+\.[ch])$", name)
        if m:
            found[m.group(1)] = sources[name] if isinstance(sources, dict) else name
    return found


def kernel_sources(sources, pattern):
    """{name below the kernel's tree: Source} of those that match."""
    found = {}
    for name, source in sources.items():
        m = re.search(rf"/({pattern})$", name)
        if m and "/module-" not in name:
            found[m.group(1)] = source
    return found


# ---- tables ----------------------------------------------------------------------------------------


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "–"


def sums(sources):
    """(lines reached, lines, branches taken, branches) of some sources together."""
    return tuple(sum(column) for column in zip((0, 0, 0, 0), *(
        (s.reached(), len(s.lines), s.taken(), len(s.branches)) for s in sources)))


def row(title, numbers):
    reached, lines, taken, branches = numbers
    return f"| {title} | {reached} | {lines} | {share(reached, lines)} | {taken} | {branches} | {share(taken, branches)} |"


def table(first, rows):
    head = f"| {first} | lines reached | of | | branches taken | of | |"
    return "\n".join([head, "|---|---:|---:|---:|---:|---:|---:|"] + rows)


def tables(sources):
    """The tables of the driver and of what it stands on, as Markdown."""
    driver = driver_sources(sources)
    rows = [row(name, sums([s])) for name, s in sorted(driver.items()) if s.lines]
    rows.append(row("**all of the driver**", sums(driver.values())))
    below = []
    for title, pattern in STANDS_ON:
        files = kernel_sources(sources, pattern)
        below += [row(name, sums([s])) for name, s in sorted(files.items())]
        if len(files) > 1:
            below.append(row(f"*{title}*", sums(files.values())))
    return table("`kernel/`", rows), table("Linux", below)


PAGE = """<!-- begin driver -->

## Lines and branches of the driver

The tables count lines and branches of the driver, and of the parts of DRM below it, that run during the guest suite,
the fault sweep and the unit tests. GCOV counted them in {guests} guests with the `cover` kernel. `make check-cover`
repeats it and demands {lines} % of the driver's lines and {branches} % of its branches. `make cover-page` writes this
section. `python3 tests/lib/gcov.py --dumps $BUILD/cover --holes` prints the rest.

The driver is that of commit {commit}.

A branch is a direction of a conditional jump in the compiled code. Half of the branches of a `WARN_ON()`, of a
reference count or of a debug message can only be taken by a broken driver, so 100 % is not an aim. Lines of headers
count where they were compiled into the driver.

### Files of the driver

{driver}

### Files of DRM

A change in one of these files that this table does not reach needs other tests.

{below}

<!-- end driver -->
"""
SECTION = re.compile(r"<!-- begin driver -->.*?<!-- end driver -->\n", re.S)


def put_section(path, text):
    """Put the section into the page, in the place of the one that is there."""
    with open(path) as f:
        page = f.read()
    page = SECTION.sub(lambda m: text, page) if SECTION.search(page) else page.rstrip("\n") + "\n\n" + text
    with open(path + ".new", "w") as f:
        f.write(page)
    os.rename(path + ".new", path)


def commit(sources):
    """The last commit of the driver and its day, and what has changed since its files were counted."""
    out = subprocess.run(["git", "-C", TOP, "log", "-1", "--format=%h (%cs)", "--", "kernel"], stdout=subprocess.PIPE,
                         text=True, check=True)
    changed = []
    for path in sources:
        ours = os.path.join(TOP, "kernel", os.path.basename(path))
        if driver_sources([path]) and not (os.path.exists(ours) and filecmp.cmp(path, ours, shallow=False)):
            changed.append(f"`{os.path.basename(path)}`")
    return out.stdout.strip() + (f", before the last changes of {', '.join(sorted(changed))}" if changed else "")


def ranges(numbers):
    """[1, 2, 3, 7] as "1-3 7"."""
    runs = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def holes(sources, names):
    """Print the driver's lines that did not run, then lines with directions that were never taken."""
    for name, source in sorted(driver_sources(sources).items()):
        if names and name not in names:
            continue
        missed = sorted(n for n, count in source.lines.items() if not count)
        never = sorted({line for (_, line, _), count in source.branches.items() if not count} - set(missed))
        if missed or never:
            print(f"{name}\n  lines: {ranges(missed) or 'all'}\n  branches of: {ranges(never) or 'all'}")


def check(sources):
    """KTAP: whether the driver's share is above the bars."""
    reached, lines, taken, branches = sums(driver_sources(sources).values())
    tap = Tap()
    with tap.test(f"[SYS9] {LINES} % of the driver's lines run: {share(reached, lines)}"):
        tap.ok(lines and 100 * reached >= LINES * lines, "gcov.py --holes lists the others")
    with tap.test(f"[SYS9] {BRANCHES} % of the driver's branches are taken: {share(taken, branches)}"):
        tap.ok(branches and 100 * taken >= BRANCHES * branches, "gcov.py --holes lists the others")
    return tap.finish()


def main():
    p = argparse.ArgumentParser(description="Coverage of the driver by the guest suite.")
    p.add_argument("--dumps", required=True, help="directory that the guests' counters are in")
    p.add_argument("--page", help="file to write")
    p.add_argument("--holes", nargs="*", metavar="FILE", help="print what is not reached, of these files or of all")
    args = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="tessera-gcov-") as directory:
        guests, stale = unpack(args.dumps, directory)
        if not guests:
            sys.exit(f"tessera: error: no guest of a cover kernel has left counters in {args.dumps}")
        if stale:
            print(f"tessera: {stale} files of counters are of another build and not counted", file=sys.stderr)
        sources = read(merge(guests))
    if args.holes is not None:
        holes(sources, args.holes)
        return 0
    driver, below = tables(sources)
    if args.page:
        put_section(args.page, PAGE.format(guests=len(guests), commit=commit(sources), lines=LINES, branches=BRANCHES,
                                           driver=driver, below=below))
        return 0
    print(driver, below, sep="\n\n")
    return check(sources)


if __name__ == "__main__":
    sys.exit(main())
