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
OPTIONS = ("-Db_coverage=true", "-Dc_args=-fno-early-inlining -fno-inline-functions-called-once -Wno-maybe-uninitialized",
           "-Db_asneeded=false")


def fingerprint(tree):
    """Of all sources that programs are made of."""
    digest = hashlib.sha256(" ".join(OPTIONS).encode())
    for directory, subdirectories, names in os.walk(tree):
        subdirectories.sort()
        for name in sorted(n for n in names if n.endswith((".c", ".h"))):
            with open(os.path.join(directory, name), "rb") as f:
                digest.update(name.encode() + b"\0" + hashlib.sha256(f.read()).digest())
    return digest.hexdigest()[:16]


def lines(counters, tree):
    """(source below tree, its lines with code, those that ran) of each .gcda file below a directory, for each source it is made of."""
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
            name = os.path.relpath(os.path.realpath(os.path.join(record["current_working_directory"], entry["file"])), tree)
            yield (name, {line["line_number"] for line in entry["lines"]},
                   {line["line_number"] for line in entry["lines"] if line["count"]})


def collect(build, tree, within):
    """{"known": {source: lines with code}, "ran": {DIRECTORY/PROGRAM: {source: lines that ran}}} of the sources below within."""
    def one(program):
        name = "/".join(program.split("/")[-2:])
        counters = os.path.join(build.directory, "counters", name)
        shutil.rmtree(counters, ignore_errors=True)
        subprocess.run([program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=dict(build.env, GCOV_PREFIX=counters))
        known, ran = collections.defaultdict(set), collections.defaultdict(set)
        for source, has, did in lines(counters, tree):
            if source.startswith(within):
                known[source] |= has
                ran[source] |= did
        shutil.rmtree(counters, ignore_errors=True)
        return name, known, ran

    made = {"known": collections.defaultdict(set), "ran": {}}
    with concurrent.futures.ThreadPoolExecutor(build.jobs) as pool:
        for name, known, ran in pool.map(one, build.programs()):
            made["ran"][name] = ran
            for source, numbers in known.items():
                made["known"][source] |= numbers
    return made


class Reach:
    """The lines of each program. They come from programs that count (build), once for a state of the sources."""

    def __init__(self, build, tree, within):
        kept = os.path.join(build.directory, f"reach-{fingerprint(tree)}.json")
        if not os.path.exists(kept):
            for name in (n for n in os.listdir(build.directory) if n.startswith("reach-")):
                os.remove(os.path.join(build.directory, name))
            build.whole(everything=True)
            with open(f"{kept}.new", "w") as f:
                json.dump(collect(build, tree, within), f, default=sorted)
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
