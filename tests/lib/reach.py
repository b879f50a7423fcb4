# SPDX-License-Identifier: MIT
"""Which programs run which lines of the model: mutate.py asks only those that run a mutant's line."""

import bisect
import collections
import concurrent.futures
import hashlib
import json
import os
import shutil
import subprocess

# Little is inlined, so that each line is found where it stands. What counts is linked in last, and calls a malloc() of the library's.
FLAGS = "--coverage -fno-early-inlining -fno-inline-functions-called-once -Wl,--no-as-needed"


def fingerprint(tree):
    """Of all sources that programs are made of."""
    digest = hashlib.sha256(FLAGS.encode())
    for directory, subdirectories, names in os.walk(tree):
        subdirectories.sort()
        for name in sorted(n for n in names if n.endswith((".c", ".h", ".mk"))):
            with open(os.path.join(directory, name), "rb") as f:
                digest.update(name.encode() + b"\0" + hashlib.sha256(f.read()).digest())
    return digest.hexdigest()[:16]


def lines(counters, tree):
    """[(source below tree, its lines that ran, those that did not)] of the .gcda files below a directory."""
    found = []
    for directory, _, names in os.walk(counters):
        for name in (n for n in names if n.endswith(".gcda")):
            notes = os.path.join(directory, name)[len(counters):-len("gcda")] + "gcno"
            os.symlink(notes, os.path.join(directory, name[:-len("gcda")] + "gcno"))
            found.append(os.path.join(directory, name))
    said = subprocess.run(["gcov", "--json-format", "--stdout", *found], cwd=tree, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout if found else b""
    for record in map(json.loads, said.splitlines()):
        for entry in record["files"]:
            name = os.path.relpath(os.path.join(record["current_working_directory"], entry["file"]), tree)
            ran = {line["line_number"] for line in entry["lines"] if line["count"]}
            yield name, ran, {line["line_number"] for line in entry["lines"]} - ran


def collect(build, tree, within):
    """{"known": {source: lines with code}, "ran": {DIRECTORY/PROGRAM: {source: lines that ran}}} of the sources below within."""
    known = collections.defaultdict(set)

    def one(program):
        name = "/".join(program.split("/")[-2:])
        counters = os.path.join(build.directory, "counters", name)
        shutil.rmtree(counters, ignore_errors=True)
        subprocess.run([program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=dict(build.env, GCOV_PREFIX=counters))
        ran = collections.defaultdict(set)
        for source, done, left in lines(counters, tree):
            if source.startswith(within):
                ran[source] |= done
                known[source] |= done | left
        shutil.rmtree(counters, ignore_errors=True)
        return name, {source: sorted(numbers) for source, numbers in ran.items()}

    with concurrent.futures.ThreadPoolExecutor(build.jobs) as pool:
        ran = dict(pool.map(one, build.programs(("model", "numeric", "draw"))))
    return {"known": {source: sorted(numbers) for source, numbers in known.items()}, "ran": ran}


class Reach:
    """The lines of each program. They come from programs that count (build), once for a state of the sources."""

    def __init__(self, build, tree, within):
        kept = os.path.join(build.directory, f"reach-{fingerprint(tree)}.json")
        if not os.path.exists(kept):
            for name in (n for n in os.listdir(build.directory) if n.startswith("reach-")):
                os.remove(os.path.join(build.directory, name))
            build.whole("mutate")
            with open(f"{kept}.new", "w") as f:
                json.dump(collect(build, tree, within), f)
            os.rename(f"{kept}.new", kept)
        with open(kept) as f:
            found = json.load(f)
        self.known = found["known"]
        self.ran = {program: {name: set(numbers) for name, numbers in of.items()} for program, of in found["ran"].items()}

    def programs(self, path, number):
        """Names of those that run a line, counted from 1; of a line without code of its own, the lines with code around it.
        A program that handed over no counters runs all of them."""
        known = self.known.get(path, [])
        at = bisect.bisect_left(known, number)
        near = known[at:at + 1] if known[at:at + 1] == [number] else known[max(at - 1, 0):at + 1]
        return {program for program, of in self.ran.items() if not of or of.get(path, set()).intersection(near)}
