# SPDX-License-Identifier: MIT
"""How large the guest suite is, by what its tests are about: a table for `make coverage` to put into its page."""

import re

from ktap import by_program

# Kinds of tests, recognized by the name of the test or of its program. The first match counts.
KINDS = (
    ("stress of pairs", r"pair-\w+-\w+:", r"guest/pairs$", 21),
    ("isolation: others do not notice", r"\[SYS4\]|another file|others are exact|of its own|starve", r"guest/isolation", 40),
    ("negative: a call or a stream is refused, with the right error",
     r"fails with E[A-Z0-9]+$|\brefuse[sd]\b|must have a zero tail|pointer of .* are checked|\bis refused precisely",
     r"guest/commands_bad$", 250),
    ("reset, unplug, sleep and faults", r"\[SYS7\]|\breset|unplug|unbound|fault",
     r"guest/(?:hang|hotplug|recovery|ladder|inject|faults_load|suspend|dump|compute_hang|compute_unplug|compute_faults|"
     r"lib_unplug|pci_errors_load)$|guest-script/pci_errors$", 60),
    ("functional", r"", r"", 150),
)
NOT_COUNTED = "the kernel log is free of warnings"


def kind_of(program, name):
    """The index in KINDS of a test of a program."""
    for index, (_, in_name, in_program, _) in enumerate(KINDS):
        if re.search(in_name, name) or (in_program and re.search(in_program, program)):
            return index
    raise ValueError(name)


def count(lines):
    """Tests of each kind in the KTAP of the guest suite that ran and passed."""
    counts = [0] * len(KINDS)
    for program, results in by_program(lines):
        for r in results:
            if r.status == "passed" and r.name != NOT_COUNTED:
                counts[kind_of(program, r.name)] += 1
    return counts


def section(path):
    """Markdown about the results in a file."""
    with open(path, errors="replace") as f:
        counts = count(f.read().splitlines())
    rows = [f"| {title} | {n} | {want} |" for (title, _, _, want), n in zip(KINDS, counts)]
    return "\n".join(["## How large the guest suite is", "",
                      "Tests in the guest that ran and passed, each counted once.", "",
                      "| what it is about | tests | aim |", "|---|---:|---:|", *rows,
                      f"| all | {sum(counts)} | {sum(k[3] for k in KINDS)} |", ""])
