#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that relative links in tracked Markdown files lead to files that exist, and anchors to headings."""

import os
import re
import subprocess
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```(?:.|\n)*?```|^(?: {4}|\t).*$|`[^`\n]*`", re.M)


def anchors(path):
    """The anchors that GitHub-like renderers give the headings of a file."""
    with open(path) as f:
        headings = re.findall(r"^#+ +(.*?) *$", f.read(), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def main():
    files = subprocess.run(["git", "ls-files", "-z", "*.md"], capture_output=True, text=True, check=True).stdout
    problems = []
    for path in filter(None, files.split("\0")):
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
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
