#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check how pages, comments and commit subjects are written (rules.py).

    check.py pages              README.md and all of Documentation/, without generated tables
    check.py comments           comments of product code and tests
    check.py subjects [RANGE]   commit subjects, by default of the last 50 commits
    check.py --message FILE     one commit message, for the commit-msg hook
    check.py --why PAGE         the sentences that count against a page's shares

Prints one line per problem. Status 1 means that there is one."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../../qemu-device/build")]
import rules  # noqa: E402
import tree  # noqa: E402

PAGES = ("README.md", "tests/README.md", "kernel/fencewatch/README.md", "qemu-device/model/README.md", "Documentation/*.md")
SOURCES = ("*.c", "*.h", "*.py", "*.sh", "*.sync", "*.mk", "*Makefile", "*Kbuild", "*meson.build", "qemu-device/vm/init")
# Copied or generated text, and the planted sentences of the self-test.
NOT = re.compile(r"^tests/(vectors|fuzz/corpus|tools/(decode|asm))/|^tests/static/words/")
# Pages that a program writes as a whole.
MADE = re.compile(r"^Documentation/(status/)?(driver/|driver-)?coverage\.md$")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def check_pages():
    problems = []
    for path in tree.files(*PAGES):
        if not MADE.match(path):
            problems += [f"{path}:{line}: {p}" if line else f"{path}: {p}" for line, p in rules.check_page(read(path))]
    return problems


def check_comments():
    problems = []
    for path in tree.files(*SOURCES):
        if NOT.match(path):
            continue
        for line, text in rules.comments(path, read(path)):
            problems += [f"{path}:{line}: {p}" for p in rules.check_comment(text)]
    return problems


def check_subjects(revisions):
    if not os.path.exists(".git"):
        return []       # a tarball has no commits
    out = subprocess.run(["git", "log", "--no-merges", "--format=%h %s", *revisions], capture_output=True, text=True,
                         check=False).stdout
    problems = []
    for line in out.splitlines():
        commit, _, subject = line.partition(" ")
        problems += [f"{commit} {subject}: {p}" for p in rules.check_subject(subject)]
    return problems


def check_message(path):
    lines = [line for line in read(path).splitlines() if not line.startswith("#")]
    problems = list(rules.check_subject(lines[0] if lines else ""))
    if len(lines) > 1 and lines[1].strip():
        problems.append("the second line is not blank")
    return problems


def main(arguments):
    what = arguments[0] if arguments else ""
    if what == "pages":
        problems = check_pages()
    elif what == "comments":
        problems = check_comments()
    elif what == "subjects":
        problems = check_subjects(arguments[1:] or ["-50"])
    elif what == "--message":
        problems = check_message(arguments[1])
    elif what == "--why":
        print("\n".join(f"{arguments[1]}:{n}: {s}" for n, s in rules.listing(read(arguments[1]))))
        problems = [f"{arguments[1]}:{n}: {s}" for n, s in rules.check_page(read(arguments[1]))]
    else:
        print(__doc__, file=sys.stderr)
        return 2
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
