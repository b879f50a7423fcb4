#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the patch series in the directory that is named: every patch is in the file "series" once, numbers are
consecutive, each patch has an SPDX line, a subject and a message, git can parse it, and hunks quote little of
the patched source. Prints one line per problem and exits with status 1 if it finds one."""

import os
import re
import subprocess
import sys

COLUMNS = 75        # of the message, as git mails it
SUBJECT = 72
CONTEXT = 2         # lines on each side of a hunk
NAME = re.compile(r"(\d{4})-[a-z0-9]+(-[a-z0-9]+)*\.patch$")
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def check_series(names, files):
    for name in sorted(set(files) - set(names)):
        yield f"{name}: series does not name it"
    for name in sorted(set(names) - set(files)):
        yield f"series: there is no patch {name}"
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"series: {name} is named more than once"
    for number, name in enumerate(names, 1):
        match = NAME.match(name)
        if not match:
            yield f"series: {name} is not NNNN-subject.patch"
        elif int(match[1]) != number:
            yield f"series: {name} is number {number}"


def check_header(lines):
    """Lines of the file before the one that ends the message."""
    if not lines or lines[0] != "SPDX-License-Identifier: MIT":
        yield "the first line is not the SPDX line with MIT"
    if len(lines) < 2 or not re.match(r"Subject: [a-z][\w/+-]*: \S", lines[1]):
        yield "the second line is not 'Subject: area: summary'"
    elif len(lines[1]) - len("Subject: ") > SUBJECT:
        yield f"the subject has more than {SUBJECT} columns"
    if len(lines) < 4 or lines[2] != "" or len(" ".join(lines[3:]).split()) < 10:
        yield "no message that says what and why follows the subject after an empty line"
    for line in lines[3:]:
        if len(line) > COLUMNS:
            yield f"more than {COLUMNS} columns: {line}"


def hunks(lines):
    """(heading, lines) of each hunk."""
    position = 0
    while position < len(lines):
        heading = lines[position]
        position += 1
        match = HUNK.match(heading)
        if not match:
            continue
        old, new, body = int(match[1] or 1), int(match[2] or 1), []
        while (old > 0 or new > 0) and position < len(lines):
            line = lines[position]
            old -= line[:1] != "+"
            new -= line[:1] != "-"
            body.append(line)
            position += 1
        yield heading, body


def check_hunks(lines):
    found = False
    for heading, body in hunks(lines):
        found = True
        quoted = 0
        longest = 0
        for line in body:
            quoted = quoted + 1 if line[:1] == " " else 0
            longest = max(longest, quoted)
        outside = next((i for i, line in enumerate(body) if line[:1] != " "), len(body))
        trailing = next((i for i, line in enumerate(reversed(body)) if line[:1] != " "), len(body))
        if max(outside, trailing) > CONTEXT or longest > 2 * CONTEXT:
            yield f"more than {CONTEXT} lines of context on a side: {heading}"
    if not found:
        yield "no hunk"


def check_patch(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    if "---" not in lines:
        yield "no line '---' ends the message"
        return
    end = lines.index("---")
    yield from check_header(lines[:end])
    yield from check_hunks(lines[end:])
    parsed = subprocess.run(["git", "apply", "--numstat", os.path.abspath(path)], capture_output=True, text=True,
                            cwd="/", check=False)
    if parsed.returncode:
        yield f"git cannot parse it: {parsed.stderr.strip()}"


def main():
    directory = sys.argv[1]
    with open(os.path.join(directory, "series"), encoding="utf-8") as f:
        names = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    files = [name for name in os.listdir(directory) if name.endswith(".patch")]
    problems = list(check_series(names, files))
    for name in sorted(files):
        problems += [f"{name}: {problem}" for problem in check_patch(os.path.join(directory, name))]
    if not names:
        problems.append("series names no patch")
    print("\n".join(problems) if problems else f"{len(names)} patches")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
