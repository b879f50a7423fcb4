#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No include of the model climbs, by the table in the model's README; and no base name occurs twice."""

import os
import re
import sys

MODEL = "qemu-device/model/"
problems = []


def rows():
    """{folder, or a file that is not in its folder's row: its row}, from the table "Who may include whom"."""
    with open(MODEL + "README.md") as f:
        table = f.read().partition("### Who may include whom")[2].partition("\n###")[0]
    return {folder.replace("(top)", ""): int(row) for row, folders in re.findall(r"^\| (\d+) \| (.*) \|$", table, re.M)
            for folder in re.findall(r"`([^`]+)`", folders)}


def row_of(path, table):
    return table.get(path, table.get(os.path.dirname(path), 0))


def resolve(name, directory, files):
    """The file of the model that an include names, or None: a generated or system header."""
    for path in (os.path.join(directory, name), name, os.path.join("include", name)):
        if path in files:
            return path
    return None


def main():
    files = {os.path.relpath(os.path.join(folder, name), MODEL) for folder, _, names in os.walk(MODEL) for name in names
             if name.endswith((".c", ".h"))}
    table = rows()
    seen = {}
    for path in sorted(files):
        directory, base = os.path.split(path)
        if directory not in table:
            problems.append(f"{MODEL}{path}: the table of layers has no row for {directory}/")
            continue
        if base in seen:
            problems.append(f"{MODEL}{path}: there is a {seen[base]} already")
        seen[base] = path
        with open(MODEL + path) as f:
            text = f.read()
        for match in re.finditer(r'^\s*#\s*include "([^"]+)"', text, re.M):
            target = resolve(match[1], directory, files)
            if target and row_of(target, table) < row_of(path, table):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{MODEL}{path}:{line}: {target} is in a row above {directory or 'the top folder'}/")
    print("\n".join(problems))
    return 1 if problems or len(table) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
