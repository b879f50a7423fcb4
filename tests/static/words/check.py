#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check how pages, comments and commit subjects are written (rules.py).

    check.py pages              README.md and all of Documentation/, without generated tables
    check.py comments           comments of product code and tests
    check.py subjects [RANGE]   commit subjects, by default of the last 50 commits
    check.py --message FILE     one commit message, for the commit-msg hook
    check.py --why PAGE         the sentences that count against a page's shares
    check.py --counts           the lines for pending.txt, as they should be now

pending.txt lists what has not been rewritten. Each line there is a page, or a folder with the number of its comments
that break a rule. A page or folder that meets the rules must be removed from the list, and a folder's number may not
grow. Prints one line per problem. Status 1 means that there is one."""

import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../../qemu-device/build")]
import rules  # noqa: E402
import tree  # noqa: E402

PENDING = os.path.join(HERE, "pending.txt")
PAGES = ("README.md", "tests/README.md", "kernel/fencewatch/README.md", "qemu-device/model/README.md", "Documentation/*.md")
SOURCES = ("*.c", "*.h", "*.py", "*.sh", "*.sync", "*.mk", "*Makefile", "*Kbuild", "*meson.build", "qemu-device/vm/init")
# Copied or generated text, and the planted sentences of the self-test.
NOT = re.compile(r"^tests/(vectors|fuzz/corpus|tools/(decode|asm))/|^tests/static/words/")
# Pages that a program writes as a whole.
MADE = re.compile(r"^Documentation/(status/)?(driver/|driver-)?coverage\.md$")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def pending():
    """{page or folder: number of problems it may have, None for a page}"""
    found = {}
    for line in read(PENDING).splitlines():
        if line.strip() and not line.startswith("#"):
            path, _, count = line.partition(" ")
            found[path] = int(count) if count else None
    return found


def page_problems():
    for path in tree.files(*PAGES):
        if not MADE.match(path):
            yield path, list(rules.check_page(read(path)))


def folder(path):
    """What a line of the list stands for: two levels, and three below the model."""
    parts = os.path.dirname(path).split("/")
    return "/".join(parts[:3 if parts[:2] == ["qemu-device", "model"] else 2]) or "."


def comment_problems():
    """{folder: problems}"""
    found = collections.defaultdict(list)
    for path in tree.files(*SOURCES):
        if NOT.match(path):
            continue
        problems = found[folder(path)]
        for line, text in rules.comments(path, read(path)):
            problems += [f"{path}:{line}: {p}" for p in rules.check_comment(text)]
    return found


def judge_pages(found, waiting):
    """Problems of {page: [(line, problem)]}, where the pages of waiting may have some."""
    problems = []
    for path, these in sorted(found.items()):
        if path not in waiting:
            problems += [f"{path}:{line}: {p}" if line else f"{path}: {p}" for line, p in these]
        elif not these:
            problems.append(f"{path} meets the rules: remove it from tests/static/words/pending.txt")
    return problems + [f"tests/static/words/pending.txt lists {p}, which does not exist"
                       for p in sorted(set(waiting) - set(found))]


def judge_comments(found, limits):
    """Problems of {folder: [problem]}, where the folders of limits may have so many."""
    problems = []
    for path, these in sorted(found.items()):
        if not these and path in limits:
            problems.append(f"{path} meets the rules: remove it from tests/static/words/pending.txt")
        elif len(these) > limits.get(path, 0):
            problems += [f"{path}: {len(these)} comments break a rule, {limits.get(path, 0)} may"] + these
    return problems + [f"tests/static/words/pending.txt lists {p}, which has no comments"
                       for p in sorted(set(limits) - set(found))]


def check_pages():
    waiting = {p for p, n in pending().items() if n is None}
    found = dict(page_problems())
    problems = judge_pages(found, waiting)
    if waiting and not problems:
        print(f"not rewritten yet: {len(waiting)} of {len(found)} pages:")
        print("\n".join(sorted(waiting)))
    return problems


def check_comments():
    limits = {p: n for p, n in pending().items() if n is not None}
    found = comment_problems()
    problems = judge_comments(found, limits)
    if not problems:
        print(f"{sum(map(len, found.values()))} comments in {len(limits)} of {len(found)} folders still break a rule")
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


def counts():
    for path, found in page_problems():
        if found:
            yield path
    for path, these in sorted(comment_problems().items()):
        if these:
            yield f"{path} {len(these)}"


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
    elif what == "--counts":
        print("\n".join(counts()))
        return 0
    else:
        print(__doc__, file=sys.stderr)
        return 2
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
