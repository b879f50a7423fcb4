#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the prose for words that have a better one (Documentation/guide/glossary.md). Code, in blocks and between backticks, is
left alone. Prints one line per problem; status 1 when there is one."""

import re
import subprocess
import sys

# Pages for people who come to use it. Documentation/hw has the names of its description.
PAGES = ("README.md", "tests/README.md", "qemu-device/model/README.md", "Documentation/guide/*.md", "Documentation/driver/*.md")
# Lab diaries and generated tables.
NOT = {"Documentation/driver/mutants.md", "Documentation/driver/coverage.md"}
# What it says: what is said instead.
WORDS = {
    r"push[- ]words?": "push constants",
    r"group memory": "shared memory",
    r"ladders?\b": "reset escalation",
    r"rungs?\b": "step of reset escalation",
    r"(faults?|mistakes?) on purpose": "fault injection; mutants",
    r"colou?red|colours?|greys?\b|behaviours?|neighbours?|equalis\w*|normalis\w*|synchronis\w*|initialis\w*|optimis\w*": "American spelling",
    r"machine room": "the plain name of what is meant",
    # of time and of order; in space ("behind an IOMMU") it stays
    r"(?:(?:begins?|begun|comes?|ends?|goes on|jobs?|the one|next|right|runs?|fetched|blocks?|stands?|store|waits?|warning|result|tuple|packets?|sources) )behind"
    r"|behind (?:each|every|all|them|it|this|that|those|syncs|points|the (?:last|first|next|others?|one|end|doorbell))\b"
    r"|\bone behind": "after",
}
CODE = re.compile(r"```(?:.|\n)*?```|^(?: {4}|\t).*$|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", re.M)


def main():
    files = subprocess.run(["git", "ls-files", "-z", *PAGES], capture_output=True, text=True, check=True).stdout.split("\0")
    problems = []
    for path in filter(None, files):
        if path in NOT:
            continue
        with open(path) as f:
            text = CODE.sub(lambda m: "\n" * m.group().count("\n"), f.read())
        for number, line in enumerate(text.split("\n"), 1):
            for word, better in WORDS.items():
                for m in re.finditer(rf"\b(?:{word})", line, re.I):
                    problems.append(f"{path}:{number}: '{m.group()}': say {better}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
