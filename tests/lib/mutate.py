#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Break random lines of the model and count how many the model's tests notice (`make mutate N=20`).

    mutate.py --count N [--seed S] [--only PATTERN] --dir DIR

Works on a copy of the checkout in DIR. Each mutant changes one operator, constant or condition of one line
in qemu-device/model; one that does not compile, or compiles to the same code, is not counted. A mutant is
killed when a test of tests/model (under ASan and UBSan) fails or runs into its time limit. Survivors are
listed with their line; below 90 % killed the tests are not good enough, and the status is 1.
"""

import argparse
import fnmatch
import os
import random
import re
import subprocess
import sys
import time

TOP = os.environ.get("TSR_TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENOUGH = 0.9
MODEL = "qemu-device/model"
# (what, by what): each occurrence of the first in a line is a place for a mutant.
MUTATIONS = [(r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
             (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" << ", " >> "), (r" >> ", " << "),
             (r" & ", " | "), (r" \| ", " & "), (r" \+= ", " -= "), (r" \|= ", " &= "), (r"\b0\b(?!x)", "1"), (r"\b1\b", "2"),
             (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"if \(!", "if ("), (r"if \((?!!)", "if (!"),
             (r"\bbreak;", ";"), (r"\bcontinue;", ";"), (r"\+\+", "--")]
NOT_CODE = re.compile(r"^\s*(//|/\*|\*|#)|^\s*assert|tsr_trace|static_assert|_Static_assert")


def places(path):
    """Every mutation possible in a file: (line number, new line). Only bodies of functions are looked at."""
    with open(path) as f:
        lines = f.read().split("\n")
    inside = False
    for number, line in enumerate(lines):
        if line.startswith("{"):
            inside = True
        elif line.startswith("}"):
            inside = False
        if not inside or NOT_CODE.search(line):
            continue
        code = line.split("/*")[0]
        for what, by in MUTATIONS:
            for m in re.finditer(what, code):
                yield number, line[:m.start()] + by + line[m.end():]


def sources(tree, pattern):
    """The model's sources whose name, or path below qemu-device/model, is like the pattern; headers with code in them too."""
    found = []
    for directory, _, names in os.walk(os.path.join(tree, MODEL)):
        for path in (os.path.relpath(os.path.join(directory, n), tree) for n in names if n.endswith((".c", ".h"))):
            if fnmatch.fnmatch(os.path.basename(path), pattern) or fnmatch.fnmatch(os.path.relpath(path, MODEL), pattern):
                found.append(path)
    return sorted(found)


def run(tree, *words):
    """The exit status and output of make in the tree."""
    done = subprocess.run(["make", "-s", "-C", tree] + list(words), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, env=dict(os.environ, TSR_TOP=tree))
    return done.returncode, done.stdout + done.stderr


def verdict(tree, baseline):
    """Build and test one mutant: "killed", "survived" or "not counted"."""
    status, out = run(tree, "mutate-build")
    if status:
        return "not counted"
    if objects(tree) == baseline:
        return "not counted"
    status, out = run(tree, "mutate-test")
    return "killed" if status else "survived"


def objects(tree):
    """A fingerprint of the code the model compiles to."""
    status, out = run(tree, "mutate-code")
    return out if not status else None


def mutate_one(tree, path, number, new, check):
    """(the old line, what check() says while the new one is in its place)."""
    full = os.path.join(tree, path)
    with open(full) as f:
        text = f.read()
    lines = text.split("\n")
    old, lines[number] = lines[number], new
    try:
        with open(full, "w") as f:
            f.write("\n".join(lines))
        return old, check()
    finally:
        with open(full, "w") as f:
            f.write(text)


def main():
    p = argparse.ArgumentParser(description="Count the mutants that the model's tests kill.")
    p.add_argument("--count", type=int, default=20, help="mutants")
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--only", default="*", help="files to mutate: a shell pattern for names, or paths as shader/*.c")
    p.add_argument("--dir", required=True, help="where to work")
    args = p.parse_args()
    tree = os.path.join(args.dir, "tree")
    os.makedirs(tree, exist_ok=True)
    subprocess.run(["rsync", "-r", "--checksum", "--delete", "--exclude=.git", TOP + "/", tree + "/"], check=True)
    status, out = run(tree, "mutate-build")
    if not status:
        status, out = run(tree, "mutate-test")
    if status:
        sys.exit(f"tessera: error: the tests fail without any mutation:\n{out[-2000:]}")
    baseline = objects(tree)
    random.seed(args.seed)
    print(f"# seed {args.seed}")
    all_places = [(path, number, new) for path in sources(tree, args.only)
                  for number, new in places(os.path.join(tree, path))]
    random.shuffle(all_places)
    counts = {"killed": 0, "survived": 0, "not counted": 0}
    for path, number, new in all_places:
        if counts["killed"] + counts["survived"] >= args.count:
            break
        old, result = mutate_one(tree, path, number, new, lambda: verdict(tree, baseline))
        counts[result] += 1
        if result == "survived":
            print(f"survived {path}:{number + 1}\n  - {old.strip()}\n  + {new.strip()}", flush=True)
    total = counts["killed"] + counts["survived"]
    print(f"killed {counts['killed']} of {total} mutants ({counts['not counted']} did not count)")
    return 0 if total and counts["killed"] >= ENOUGH * total else 1


if __name__ == "__main__":
    sys.exit(main())
