#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recovery contract's table, its rules and its page agree (userspace/contract, Documentation/guide/contract.md)."""

import os
import re
import sys

TOP = os.environ["TSR_TOP"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from tap import Tap  # noqa: E402

tap = Tap()


def text(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


def table(path):
    return [line.split("\t") for line in text(path).splitlines() if line and not line.startswith("#")]


# Long texts are split into several strings.
source = re.sub(r'"\n\s*"', "", text("userspace/contract/rules.c"))
columns = re.findall(r'^\t\[[A-Z]+\] = \{ "(\w+)"', source, re.M)
head, *rows = table("userspace/contract/rows.tsv")

with tap.test("each row of rows.tsv has a cell for each column"):
    tap.eq(head, ["row", "job", "script"] + columns + ["text"], "the head")
    tap.eq([row[0] for row in rows if len(row) != len(head) or not all(row)], [], "rows with missing cells")
    tap.eq(len({row[0] for row in rows}), len(rows), "names of rows")
    tap.eq([row[0] for row in rows for cell in row if cell.startswith("any") and not re.match(r"any: \w.{9,}", cell)], [],
           "rows with \"any\" and no reason")

with tap.test("every kind of injected fault is in a row"):
    with open(os.path.join(TOP, "Documentation", "hw", "inject.xml"), encoding="utf-8") as f:
        block = re.search(r'<enum name="INJECTION".*?</enum>', f.read(), re.S).group()
    names = [name.lower().replace("_", "-") for name in re.findall(r'<value name="(\w+)"', block)]
    scripts = " ".join(row[2] for row in rows)
    tap.ok(len(names) >= 22, names)
    tap.eq([name for name in names if not re.search(rf"(?<![\w-]){name}(?![\w-])", scripts)], [], "kinds in no row")

with tap.test("shown.tsv names rows, columns and mutants that there are, and cells that say something"):
    known = {row[0]: dict(zip(head, row)) for row in rows}
    wrong = [cell for cell in table("userspace/contract/shown.tsv")
             if len(cell) != 3 or known.get(cell[0], {}).get(cell[1], "-") == "-" or
             not os.path.exists(os.path.join(TOP, "tests", "mutants", cell[2] + ".patch"))]
    tap.eq(wrong, [], "lines without a meaning")

with tap.test("the page has the rules of the program, and columns name no others"):
    found = re.findall(r'\{ "(R\d\.\d)", "((?:[^"\\]|\\.)*)",\s+(UAPI )?"((?:[^"\\]|\\.)*)", (true|false) \}', source)
    found += [(i, t, "", "UAPI", p) for i, t, p in re.findall(r'\{ "(R\d\.\d)", "((?:[^"\\]|\\.)*)",\s+UAPI, (true|false) \}', source)]
    page = text("Documentation/guide/contract.md")
    for rule, words, _, _, proposed in found:
        words = words.replace('\\"', '"') + (" *Proposed.*" if proposed == "true" else "")
        tap.ok(f"| {rule} | {words} |" in page, f"{rule} is another one in contract.md")
    tap.eq(sorted(set(re.findall(r"^\| (R\d\.\d) ", page, re.M))), sorted(rule for rule, *_ in found), "rules")
    used = set(re.findall(r"R\d\.\d", source[source.index("column_info"):]))
    tap.eq(used, {rule for rule, *_ in found}, "rules of columns")

sys.exit(tap.finish())
