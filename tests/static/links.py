#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that relative links in tracked Markdown files lead to files that exist, and anchors to headings; and that the pages
which code, tests and scripts name exist."""

import os
import re
import sys

sys.path.insert(0, "qemu-device/build")
import tree  # noqa: E402

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PAGE = re.compile(r"\b(?:Documentation|qemu-device/model|tests)/(?:[a-z0-9_-]+/)*[A-Za-z0-9_-]+\.md\b")
NOT = (".md", ".png", ".bin")
CODE = re.compile(r"```(?:.|\n)*?```|^(?: {4}|\t).*$|`[^`\n]*`", re.M)


def anchors(path):
    """The anchors that GitHub-like renderers give the headings of a file."""
    with open(path) as f:
        headings = re.findall(r"^#+ +(.*?) *$", f.read(), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def named_pages():
    """Pages that other files name by their path."""
    for path in tree.files():
        if path.endswith(NOT):
            continue
        with open(path, encoding="utf-8", errors="replace") as f:
            for number, line in enumerate(f, 1):
                yield from (f"{path}:{number}: there is no {page}" for page in PAGE.findall(line) if not os.path.exists(page))


def main():
    problems = []
    for path in tree.files("*.md"):
        with open(path) as f:
            text = CODE.sub(lambda m: "\n" * m.group().count("\n"), f.read())
        for m in LINK.finditer(text):
            target, _, anchor = m.group(1).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            full = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            line = text.count("\n", 0, m.start()) + 1
            if not os.path.exists(full):
                problems.append(f"{path}:{line}: {m.group(1)} leads nowhere")
            elif anchor and full.endswith(".md") and anchor not in anchors(full):
                problems.append(f"{path}:{line}: {full} has no heading #{anchor}")
    problems += named_pages()
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
