#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check tests/lib/equivalent.txt: each entry is a mutant that can be made, of a line that stands in its file as often as the
entry says."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from equivalent import LIST, entries  # noqa: E402
from mutate import places  # noqa: E402


def problem(tree, entry):
    """What is wrong with an entry, "" if nothing is."""
    path = os.path.join(tree, entry.path)
    if not os.path.exists(path):
        return f"{entry.path} does not exist"
    with open(path) as f:
        stands = sum(line.strip() == entry.old for line in f)
    if stands != entry.times:
        return f"'{entry.old}' stands {stands} times in {entry.path}, {entry.times} expected"
    if not any((m.old.strip(), m.new.strip()) == (entry.old, entry.new) for m in places(tree, entry.path)):
        return f"'{entry.new}' is no mutant of '{entry.old}'"
    return ""


def main():
    tree, seen, problems = os.getcwd(), set(), []
    try:
        for entry in entries():
            said = problem(tree, entry)
            if not said and entry[:3] in seen:
                said = "is listed twice"
            seen.add(entry[:3])
            if said:
                problems.append(f"{os.path.relpath(LIST)}:{entry.line}: {said}")
    except ValueError as e:
        problems.append(str(e))
    print("\n".join(problems) if problems else f"{len(seen)} entries")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
