#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check tests/lib/equivalent.txt: each entry is a mutant that can be made, of a line that stands once in its function."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from equivalent import LIST, entries, function  # noqa: E402
from mutate import places  # noqa: E402


def problem(tree, entry):
    """What is wrong with an entry, "" if nothing is."""
    path = os.path.join(tree, entry.path)
    if not os.path.exists(path):
        return f"{entry.path} does not exist"
    with open(path) as f:
        lines = f.read().split("\n")
    stands = [n for n, line in enumerate(lines) if line.strip() == entry.old and function(lines, n) == entry.function]
    if len(stands) != 1:
        return f"'{entry.old}' stands {len(stands)} times in {entry.function}() of {entry.path}, once is expected"
    if not any(m.number == stands[0] and m.new.strip() == entry.new for m in places(tree, entry.path)):
        return f"'{entry.new}' is no mutant of '{entry.old}'"
    return ""


def main():
    tree, seen, problems = os.getcwd(), set(), []
    try:
        for entry in entries():
            said = problem(tree, entry)
            if not said and entry[:4] in seen:
                said = "is listed twice"
            seen.add(entry[:4])
            if said:
                problems.append(f"{os.path.relpath(LIST)}:{entry.line}: {said}")
    except ValueError as e:
        problems.append(str(e))
    print("\n".join(problems) if problems else f"{len(seen)} entries")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
