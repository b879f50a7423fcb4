#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=60
"""The KUnit suites of the driver (kernel/tests/) and of fencewatch, each case as a test of its own.

Loading tessera_kunit.ko and fencewatch_kunit.ko runs them; what they say is in the kernel's log. (What debugfs has of it lacks the cases on 7.3.)
"""

import re
import sys

from guest import Guest

CASE = re.compile(r"^\s*(not ok|ok) \d+ (\w+)(?: # SKIP (.*))?$")
# autorun: of 7.3; before, there is no such parameter, and it is ignored
RUN = "modprobe kunit enable=1 autorun=1 && modprobe tessera_kunit && modprobe fencewatch_kunit && dmesg | sed 's/^\\[[^]]*\\] //'"


def cases(text):
    """(verdict, name, reason to skip, what was said before) of every case; suites' own lines are left out."""
    said = []
    for line in text.splitlines():
        m = CASE.match(line)
        if not m:
            if line.strip().startswith("#"):
                said.append(line.strip())
            continue
        if "_test_" in m.group(2):
            yield m.group(1), m.group(2), m.group(3), said
        said = []


def main():
    with Guest(load=False) as g:
        result = g.run(RUN, timeout=60)
    print("KTAP version 1")
    text = result.stdout.decode(errors="replace")
    found = list(cases(text))
    for number, (verdict, name, skip, said) in enumerate(found, 1):
        for line in said:
            print(line)
        suite, _, what = name.partition("_test_")
        print(f"{verdict} {number} - KUnit {suite}: {what.replace('_', ' ')}" + (f" # SKIP {skip}" if skip else ""))
    print(f"1..{len(found)}")
    if result.status:
        sys.exit(f"the unit tests cannot be run: {result.stderr.decode(errors='replace').strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
