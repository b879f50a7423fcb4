# SPDX-License-Identifier: MIT
"""The generated tables inside the *.md pages of Documentation/hw/.

A page says where a table goes with two lines of their own,

    <!-- generated: KIND NAME... -->
    <!-- end generated -->

and everything between them is generated. KIND is one of those in KINDS below; most take the names of what they
show. rewrite() brings the tables up to date, check() complains about those that are not, about parts of the
description that no page shows, and about names in the programming guide that the description does not have.
"""

import os
import re

import isa_tables
import names
import output
import tables
import xmltree

BEGIN = re.compile(r"^<!-- generated: (?P<what>[A-Za-z0-9_ -]+?) -->$")
END = "<!-- end generated -->"
FENCE = re.compile(r"^\s*(```|~~~)")

# KIND: (list of the description that NAMEs are looked up in, or None when it takes no name; function)
KINDS = {
    "map": (None, tables.block_map),
    "consts": (None, tables.consts),
    "counters": (None, tables.counters),
    "packets": (None, tables.packets),
    "registers": ("blocks", tables.registers),
    "packet": ("packets", tables.packet),
    "enum": ("enums", tables.enum),
    "bitset": ("bitsets", tables.bitset),
    "struct": ("structs", tables.struct),
}

# Kinds of tables of the instruction set, if there is one.
ISA_KINDS = {
    "isa-header": (None, isa_tables.header),
    "isa-values": ("values", isa_tables.values),
    "isa-constants": (None, isa_tables.constants),
    "isa-formats": (None, isa_tables.formats),
    "isa-layouts": (None, isa_tables.layouts),
    "isa-positions": (None, isa_tables.positions),
    "isa-relations": (None, isa_tables.relations),
    "isa-modes": (None, isa_tables.modes),
    "isa-modifiers": (None, isa_tables.modifiers),
    "isa-immediates": (None, isa_tables.immediates),
    "isa-extensions": (None, isa_tables.extensions),
    "isa-unknown": (None, isa_tables.unknown),
    "instructions": ("groups", isa_tables.instructions),
}


def _kinds(description):
    return {**KINDS, **ISA_KINDS} if description.isa else KINDS


def _items(description, kind):
    """What NAMEs of a kind are looked up in."""
    where = _kinds(description)[kind][0]
    return getattr(description.isa if kind in ISA_KINDS else description, where) if where else ()


class Place:
    """Where in a page something is, for messages."""

    def __init__(self, file, line):
        self.file = file
        self.line = line


def _table(description, what, place, complaints):
    """The lines of one generated table, and the (kind, name) pairs it shows."""
    kind, *names = what.split()
    kinds = _kinds(description)
    if kind not in kinds:
        complaints.add(place, f"no table of kind \"{kind}\"; there are {', '.join(kinds)}")
        return [], set()
    where, function = kinds[kind]
    if where is None:
        if names:
            complaints.add(place, f"a table of kind \"{kind}\" takes no name")
        return function(description), {(kind, None)}
    if not names:
        complaints.add(place, f"a table of kind \"{kind}\" needs a name")
    lines = []
    for name in names:
        item = next((item for item in _items(description, kind) if item.name == name), None)
        if item is None:
            complaints.add(place, f"the description has no {kind} \"{name}\"")
            continue
        lines += ([""] if lines else []) + function(description, item)
    return lines, {(kind, name) for name in names}


def _pages(directory):
    """Every *.md file below the directory, in a stable order."""
    for base, folders, files in os.walk(os.path.normpath(directory)):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".md"):
                yield os.path.join(base, name)


def _render(description, path, complaints):
    """Returns (old text, new text, [(line, what) of stale tables], shown) for a page."""
    with open(path, encoding="utf-8") as stream:
        old = stream.read()
    lines, out, stale, shown = old.split("\n"), [], [], set()
    index, fenced = 0, False
    while index < len(lines):
        line = lines[index]
        out.append(line)
        index += 1
        fenced ^= bool(FENCE.match(line))
        begin = None if fenced else BEGIN.match(line)
        if not begin:
            if not fenced and line == END:
                complaints.add(Place(path, index), "the end of a generated table that does not begin")
            continue
        place = Place(path, index)
        end = next((i for i in range(index, len(lines)) if lines[i] == END or BEGIN.match(lines[i])), None)
        if end is None or lines[end] != END:
            complaints.add(place, f"the generated table \"{begin.group('what')}\" has no line {END}")
            continue
        fresh, parts = _table(description, begin.group("what"), place, complaints)
        shown |= parts
        fresh = [""] + fresh + [""]
        if fresh != lines[index:end]:
            stale.append((place, begin.group("what")))
        out += fresh + [END]
        index = end + 1
    return old, "\n".join(out), stale, shown


def rewrite(description, directory):
    """Bring every generated table of the directory's pages up to date."""
    complaints = xmltree.Complaints()
    fresh = {}
    for path in _pages(directory):
        fresh[path] = _render(description, path, complaints)[1]
    complaints.raise_if_any()
    for path, text in fresh.items():
        output.write_if_changed(path, text)


def _check_names(description, directory, complaints):
    """Names in the pages of the directory itself, those of the programming guide."""
    known = names.Names(description)
    for path in _pages(directory):
        if os.path.dirname(path) != os.path.normpath(directory):
            continue
        fenced = False
        with open(path, encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                fenced ^= bool(FENCE.match(line))
                for name in () if fenced else known.wrong(line):
                    complaints.add(Place(path, number), f"the description has nothing called {name}")


def check(description, directory):
    """Complain about every stale table, about what no page shows, and about names that do not exist."""
    complaints = xmltree.Complaints()
    shown = set()
    for path in _pages(directory):
        _old, _new, stale, parts = _render(description, path, complaints)
        shown |= parts
        for place, what in stale:
            complaints.add(place, f"the generated table \"{what}\" is stale: run "
                                  "Documentation/hw/gen/generate.py --docs")
    for kind, (where, _function) in _kinds(description).items():
        for item in _items(description, kind):
            if (kind, item.name) not in shown:
                complaints.add(item, f"no page shows {kind} {item.name}: add a line "
                                     f"<!-- generated: {kind} {item.name} -->")
        if where is None and (kind, None) not in shown:
            complaints.add(Place(directory, 0), f"no page shows <!-- generated: {kind} -->")
    _check_names(description, directory, complaints)
    complaints.raise_if_any()
