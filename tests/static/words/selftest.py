#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plant sentences that break each rule, and sentences that break none. Prints what the rules miss or invent."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check  # noqa: E402
import rules  # noqa: E402

GOOD = "The driver resets the queue.\n" * 20
JOINED = "The queue is full; the thread waits.\n"
LONG = "The driver " + "really\n" * 25 + "resets the queue.\n"
DASH = "The queue is full – the thread waits.\n"
COLON = "The queue is full: the driver waits.\n"
# One example of each phrase of the dictionary, in its order.
PHRASES = ["push words", "group memory", "attribute space", "the ladder", "a rung", "mistakes on purpose", "coloured",
           "the machine room", "the museum", "the testbench", "a stopping point", "the wind-down", "the job behind it",
           "a word of 32 bits"]
PAGE_PHRASES = ["a bundle", "it goes on", "nobody waits", "at hand", "begins anew", "the queue runs dry"]

# (text of a page, part of the expected complaint or None)
PAGES = [
    (GOOD, None),
    ("A word of 32 bits holds the count.", "of 32 bits"),
    ("A word of `32` bits. A 32-bit word holds the count.", None),
    ("Push words are in a buffer.", "push constants"),
    ("The behaviour is `behaviour`.", "behaviour"),
    ("The code says `behaviour`.", None),
    ("```\nbehaviour; of 32 bits\n```\n", None),
    ("    behaviour in an indented example\n", None),
    ("<!-- generated: enum X -->\nbehaviour\n<!-- end generated -->", None),
    ("The job behind it waits.", "after"),
    ("The device is behind an IOMMU.", None),
    ("Whoever holds the lock waits.", "name the actor"),
    ("The queue runs. What is left stays.", "name the actor"),
    ("The queue runs; whatever is left stays.", "name the actor"),
    ("What does the driver do?", None),
    ("- Who waits is woken.", "name the actor"),
    ("word " * 30, "wrap at 100"),
    ("| " + "cell " * 30 + " |", None),
    ("    " + "code " * 30, None),
    (JOINED * 2 + GOOD, None),
    (JOINED * 3 + GOOD, "join clauses"),
    (DASH * 3 + GOOD, "join clauses"),
    (COLON * 3 + GOOD, "join clauses"),
    ("Run this command: " + GOOD, None),
    ("- one part of a list;\n- the next part of it;\n" * 3 + GOOD, None),
    (LONG * 3 + GOOD, "more than 25 words"),
    (LONG * 2 + GOOD, None),
]
COMMENTS = [
    ("t.c", "/* The queue is full. */", None),
    ("t.c", "int a; /* and what is left */", "fragment"),
    ("t.c", "/** ... or not */", "fragment"),
    ("t.c", "/* … continues */", "fragment"),
    ("t.c", "/*\n * Of the job.\n */", "fragment"),
    ("t.c", "/* The same for reads. */", "fragment"),
    ("t.c", "// Whether it runs.", "fragment"),
    ("t.c", "/* those above */", "fragment"),
    ("t.c", "/* it waits */", "fragment"),
    ("t.c", "/* Often used. */", None),
    ("t.c", "/* original */", None),
    ("t.c", "puts(\"/* and */\");", None),
    ("t.c", "/* a word of 32 bits */", "of 32 bits"),
    ("t.c", "/* Who waits is woken. */", "name the actor"),
    ("t.c", "/* the ladder of resets */", "reset escalation"),
    ("t.py", "x = 1\n# and more\n", "fragment"),
    ("t.py", "x = 1\n# A list.\n# and more\n", None),
    ("t.sh", "#!/bin/bash\n# The list.\n", None),
]
SUBJECTS = [
    ("model/mmu: reject leaf entries above the VA limit", None),
    ("ci: pass the mirror to the guest", None),
    ("kernel: process faults in order", None),
    ("Merge branch 'x'", None),
    ("what is purged was not shown since", "area"),
    ("kernel: what is purged was not shown", "imperative"),
    ("kernel: fixed a leak", "imperative"),
    ("kernel: adding a queue", "imperative"),
    ("kernel: adds a queue", "imperative"),
    ("kernel: rename the ladder", "reset escalation"),
    ("kernel: reject bad sizes.", "full stop"),
    ("kernel: " + "reject " * 12, "columns"),
]


def compare(what, problems, wanted):
    text = "\n".join(problems)
    if (wanted is None and problems) or (wanted is not None and wanted not in text):
        yield f"{what!r}: found {problems}, expected {wanted or 'nothing'}"


def glossary():
    """The glossary defines what is said instead, and stays short."""
    with open(os.path.join(check.HERE, "../../../Documentation/develop/glossary.md"), encoding="utf-8") as f:
        text = f.read()
    for better in ("push constants", "shared memory", "stage I/O memory", "reset escalation", "mutant", "debug unit",
                   "preemption point", "drain", "warp group"):
        if better not in text:
            yield f"the glossary does not define '{better}'"
    rows = sum(line.startswith("| ") and not line.startswith("| Word ") for line in text.splitlines())
    if rows > 50:
        yield f"the glossary has {rows} rows, 50 are allowed"


def main():
    wrong = []
    for text, wanted in PAGES:
        wrong += compare(text[:60], [p for _, p in rules.check_page(text)], wanted)
    for name, text, wanted in COMMENTS:
        found = [p for _, c in rules.comments(name, text) for p in rules.check_comment(c)]
        wrong += compare(text, found, wanted)
    for subject, wanted in SUBJECTS:
        wrong += compare(subject, list(rules.check_subject(subject)), wanted)
    for phrases, words, dictionary in ((PHRASES, rules.WORDS, rules.DICTIONARY),
                                       (PHRASES + PAGE_PHRASES, {**rules.WORDS, **rules.PAGE_WORDS}, rules.PAGE_DICTIONARY)):
        found = [[better for _, _, better in rules.wrong_words(text, dictionary)] for text in phrases]
        if found != [[better] for better in words.values()]:
            wrong.append(f"phrases of the dictionary: found {found}")
    wrong += glossary()
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
