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

# Faults that meet binds, which no column shows: tests/guest/recovery/endings.c has them.
OF_BINDS = ["inv-stuck"]

with tap.test("every kind of injected fault is in a row"):
    with open(os.path.join(TOP, "Documentation", "hw", "inject.xml"), encoding="utf-8") as f:
        block = re.search(r'<enum name="INJECTION".*?</enum>', f.read(), re.S).group()
    names = [name.lower().replace("_", "-") for name in re.findall(r'<value name="(\w+)"', block)]
    scripts = " ".join(row[2] for row in rows)
    tap.ok(len(names) >= 22, names)
    tap.eq([name for name in names if name not in OF_BINDS and not re.search(rf"(?<![\w-]){name}(?![\w-])", scripts)], [], "kinds in no row")

cells = {(row[0], column) for row in rows for column, value in zip(head, row) if column in columns and value != "-"}
lines = table("userspace/contract/shown.tsv")
shown = {(line[0], column): line[1] for line in lines for column in line[-1].split()}

with tap.test("shown.tsv names rows, columns and mutants that there are, and cells that say something"):
    tap.eq([line for line in lines if len(line) != 3], [], "lines without three parts")
    tap.eq(sorted(set(shown) - cells), [], "cells without a meaning")
    tap.eq(len({tuple(line[:2]) for line in lines}), len(lines), "lines for a row and a mutant")
    mutants = {line[1] for line in lines}
    tap.eq([m for m in mutants if not os.path.exists(os.path.join(TOP, "tests", "mutants", m + ".patch"))], [], "unknown mutants")
    heads = {f[:-len(".patch")]: text(os.path.join("tests/mutants", f)) for f in os.listdir(os.path.join(TOP, "tests/mutants"))
             if f.endswith(".patch")}
    tap.eq([m for m, h in heads.items() if "\nNoticed by: table, " in h and m not in mutants], [], "mutants that no cell notices")

with tap.test("each row and each column was turned red by a mutant, and at least three quarters of the cells"):
    tap.eq([row[0] for row in rows if row[0] not in {row for row, _ in shown}], [], "rows that nothing turned red")
    tap.eq([c for c in columns if c not in {column for _, column in shown}], [], "columns that nothing turned red")
    print(f"# {len(shown)} of {len(cells)} cells were turned red")
    tap.ok(4 * len(shown) >= 3 * len(cells), f"{len(shown)} of {len(cells)} cells")

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
