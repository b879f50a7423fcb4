#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check every file of the tree: SPDX line and licence of its directory, length of files, functions and lines, no
loose ends. Prints one line per problem; status 1 when there is one."""

import re
import sys

sys.path.insert(0, "qemu-device/build")
import tree  # noqa: E402

# The uapi header is one file by its nature, programs include it by one name; vectors are data.
FILE_LINES, FUNCTION_LINES, COLUMNS = 900, 80, 100
USUAL_FUNCTION, USUAL_SHARE = 40, 0.9   # nine of ten functions are not longer than this
LICENCES = [("tests/mutants/", "GPL-2.0-only"), ("kernel/include/uapi/", "(GPL-2.0 WITH Linux-syscall-note) OR MIT"), ("kernel/", "GPL-2.0-only"), ("tests/sched/", "GPL-2.0-only"),
            ("Kbuild", "GPL-2.0-only"), ("qemu-device/pci/", "GPL-2.0-or-later"), ("", "MIT")]
# Files that cannot hold a comment, or are texts of their own.
NO_SPDX = re.compile(r"^LICENSES/|\.(png|md|bin|json|svg)$|^\.(gitignore|gitattributes|editorconfig)$|/debian/package/copyright$|"
                     r"^tests/(fuzz/corpus|vectors)/|^tests/tools/(decode/.*\.txt$|asm/)|^kernel/tree/MAINTAINERS$|"
                     r"^tests/kselftest/settings$")
# Spelled in two parts, or this file would find itself.
LOOSE = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
CONFLICT = re.compile(r"(<{7}|>{7}) ")
SOURCE = re.compile(r"\.(c|h|py|sh)$|(^|/)(Makefile|Kbuild|init)$|\.mk$")


def licence(path):
    return next(name for prefix, name in LICENCES if path.startswith(prefix))


def functions(lines):
    """(first line, length) of each C function: a brace in column 0 opens its body, one in column 0 ends it."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start is not None:
            if line.rstrip() in ("}", "};"):
                yield start, number - start + 1
            start = None


def check_file(path, lengths):
    with open(path, "rb") as f:
        text = f.read().decode("utf-8", errors="replace")
    lines = text.splitlines()
    if not NO_SPDX.search(path):
        found = next((line for line in lines[:3] if "SPDX-License-Identifier:" in line), None)
        if found is None:
            yield f"{path}: no SPDX line at the top"
        elif licence(path) not in found:
            yield f"{path}: the licence should be {licence(path)}"
    for number, line in enumerate(lines, 1):
        if CONFLICT.match(line):
            yield f"{path}:{number}: a conflict of a merge"
    if not SOURCE.search(path):
        return
    for number, line in enumerate(lines, 1):
        if LOOSE.search(line):
            yield f"{path}:{number}: a loose end: {line.strip()}"
        # In kernel/ checkpatch judges: there, messages stay in one piece whatever their length.
        if (path.endswith((".c", ".h")) and not path.startswith("kernel/")
                and len(line.expandtabs(8)) > COLUMNS):
            yield f"{path}:{number}: {len(line.expandtabs(8))} columns, {COLUMNS} are allowed"
    if len(lines) > FILE_LINES and not path.startswith(("kernel/include/uapi/", "tests/vectors/")):
        yield f"{path}: {len(lines)} lines, {FILE_LINES} are allowed"
    if path.endswith(".c"):
        for start, length in functions(lines):
            lengths.append(length)
            if length > FUNCTION_LINES:
                yield f"{path}:{start}: a function of {length} lines, {FUNCTION_LINES} are allowed"


def main():
    files = tree.files()
    problems, lengths = [], []
    for path in files:
        problems += check_file(path, lengths)
    short = sum(1 for n in lengths if n <= USUAL_FUNCTION)
    if lengths and short < USUAL_SHARE * len(lengths):
        problems.append(f"only {short} of {len(lengths)} functions have {USUAL_FUNCTION} lines or less")
    print("\n".join(problems) if problems else f"{len(lengths)} functions, {len(files)} files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
