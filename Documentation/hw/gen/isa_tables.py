# SPDX-License-Identifier: MIT
"""The instruction set as Markdown. Every function returns lines."""

from isa_description import ORDERS
from tables import cell, head, paragraphs, row

LETTERS = "abcd"
ORDER_TEXT = {"lt": "a's selector is below b's", "eq": "a's selector is b's", "gt": "a's selector is above b's"}


def _range(bits):
    low, width = bits
    return str(low) if width == 1 else f"{low + width - 1}:{low}"


def header(description):
    lines = head("Bits", "Field", "Meaning")
    for field in sorted(description.isa.header, key=lambda field: field.bits[0]):
        more = f" See `{field.values}`." if field.values else ""
        lines.append(row(_range(field.bits), f"`{field.name}`", cell(field.doc) + more))
    return lines


def values(_description, item):
    lines = paragraphs(item.doc) + head("Value", f"`{item.name}`", "Meaning")
    return lines + [row(str(value.value), f"`{value.name}`", cell(value.doc)) for value in item.values]


def constants(description):
    lines = head("Index", "Constant")
    return lines + [row(f"`{nibble:#x}0` to `{nibble:#x}f`", str(constant))
                    for nibble, constant in sorted(description.isa.constants.items(), key=lambda item: item[1])]


def _tag(item):
    """The tag of a format as eight characters, bit 7 first."""
    names = {}
    for part in item.parts:
        low, width = part.bits
        if low < 8:
            for bit in range(low, low + width):
                names[bit] = "p" if part.what == "position" else "h" if part.index in (3, 6) and "CONST" in item.name \
                    and part.bits[0] == 3 else "i"
    if item.last is not None or item.name == "CONSTS":
        names[6] = "S"
    return "".join(str(item.match >> bit & 1) if item.mask >> bit & 1 else names.get(bit, "?")
                   for bit in range(7, -1, -1))


def formats(description):
    lines = head("Tag, bits 7:0", "Format", "Holds", "Bits of the quadword")
    for item in description.isa.formats:
        parts = []
        for part in item.parts:
            name = {"tuple": f"tuple {part.index}", "constant": f"constant {part.index}" if item.name == "CONSTS"
                    else "the constant"}.get(part.what, part.what.upper() if part.what[0] == "m" else part.what)
            parts.append(f"{_range(part.bits)} {name} {_range(part.at)}")
        lines.append(row(f"`{_tag(item)}`", f"`{item.name}`", cell(item.doc), ", ".join(parts)))
    return lines


def layouts(description):
    lines = head("Tuples", "Quadwords", "Constants")
    for layout in sorted(description.isa.layouts, key=lambda layout: layout.tuples):
        found = [item for name in layout.formats for item in description.isa.formats if item.name == name]
        first = int(any(part.what == "constant" for item in found for part in item.parts))
        counts = [first] + [position.constant + 2 for position in
                            sorted(description.isa.positions, key=lambda position: position.constant)
                            if position.tuples == layout.tuples]
        lines.append(row(str(layout.tuples), ", ".join(f"`{name}`" for name in layout.formats),
                          ", ".join(str(count) for count in counts)))
    return lines


def positions(description):
    lines = head("Position", "Tuples", "Constants")
    for item in sorted(description.isa.positions, key=lambda item: item.value):
        lines.append(row(f"`{item.value:#x}`", str(item.tuples), f"{item.constant} and {item.constant + 1}"))
    return lines


def relations(description):
    """How two constants are relative, rows with the same meaning together."""
    lines = head("M1", "M2", "First", "Second")
    rows = {}
    for item in description.isa.relations:
        key = (item.m2 is not None, item.first, item.second)
        rows.setdefault(key, []).append(item)
    for (several, first, second), items in rows.items():
        m1 = "7" if several else ", ".join(str(item.m1) for item in items)
        m2 = ", ".join(str(item.m2) for item in items) if several else "any"
        lines.append(row(m1, m2, f"`{first}`", f"`{second}`"))
    return lines


def modes(description):
    lines = head("Mode", "Port 2", "Port 3", "Possible in")
    text = {"write": "write", "write-lo": "write low half", "write-hi": "write high half"}
    for item in description.isa.modes:
        port2 = f"{text[item.slot2]} of FMA" if item.slot2 in text else item.slot2
        port3 = f"{text[item.slot3]} of {item.source.upper()}" if item.slot3 in text else item.slot3
        places = {"first": "the first tuple", "other": "later tuples"}
        lines.append(row(str(item.number), port2, port3, ", ".join(places[place] for place in item.places)))
    return lines


def modifiers(description):
    lines = head("Modifier", "Values, from 0 up", "Meaning")
    for family in description.isa.families:
        names = [name for name in description.isa.modifiers
                 if description.isa.family_of(name) is family and name != family.name]
        shown = f"`{family.name}`" + (f" ({', '.join(names)})" if names else "")
        lines.append(row(shown, " ".join(family.values), cell(family.doc)))
    return lines


def immediates(description):
    lines = head("Immediate", "Meaning")
    return lines + [row(f"`{item.name}`", cell(item.doc)) for item in description.isa.immediates]


def extensions(description):
    lines = head("Unit", "Words", "Extension", "For")
    for item in description.isa.extensions:
        lines.append(row(item.unit.upper(), f"word & `{item.mask:#x}` = `{item.match:#x}`", f"`{item.name}`",
                          cell(item.doc)))
    return lines


def unknown(description):
    """Instructions and modifier values without public semantics."""
    lines = head("Unit", "Instruction", "What is not public")
    for item in description.isa.instructions:
        what = "" if item.defined else "everything"
        if item.unknown_of:
            what = ", ".join(f"{modifier} {value}" for modifier, value in item.unknown_of)
        if what:
            lines.append(row(item.unit.upper(), f"`{item.name}`", what))
    return lines


def _sources(item):
    out = []
    for letter, source in zip(LETTERS, item.sources):
        forbidden = [selector for selector in range(8) if not source.allow >> selector & 1]
        if len(forbidden) == 7:
            limits = f" (always {next(s for s in range(8) if s not in forbidden)})"
        else:
            limits = f" (not {', '.join(str(selector) for selector in forbidden)})" if forbidden else ""
        out.append(f"{letter} {_range(source.bits)}{limits}")
    return out


def _set(part):
    """One set of an encoding in a few words."""
    where = ", ".join(_range(bits) for bits in part.bits)
    names = " ".join(f"`{name}`" for name in part.modifiers)
    order = "" if part.orders == ORDERS else \
        " if " + " or ".join(ORDER_TEXT[order] for order in ORDERS if order in part.orders)
    if not part.bits:
        return f"{names} {' '.join(part.rows[0])}{order}"
    if len(part.modifiers) == 1 and sorted(part.rows) == list(range(len(part.rows))):
        rows = ", ".join(part.rows[key][0] for key in sorted(part.rows))
    else:
        rows = ", ".join(f"{key} {' '.join(part.rows[key])}" for key in sorted(part.rows))
    return f"{where} {names}{order}: {rows}"


def _encoding(item, encoding):
    digits = 6 if item.unit == "fma" else 5
    fields = [f"word & `{encoding.mask:#0{digits + 2}x}` = `{encoding.match:#0{digits + 2}x}`"]
    fields += _sources(item)
    fields += [f"{_range(field.bits)} `{field.name}`" for field in item.immediates]
    fields += [_set(part) for part in encoding.sets]
    return "* " + "; ".join(fields)


def _properties(item):
    """What the encodings do not show."""
    notes = []
    if item.message:
        kinds = [f"message `{item.message}`"] + [f"`{kind}` with {condition.replace('=', ' ')}"
                                                 for condition, kind in item.message_of.items()]
        notes.append(", ".join(kinds))
    if item.staging:
        words = {"format": "as many staging words as the format needs", "count": "staging words as described"}
        verb = {"read": "reads", "write": "writes", "both": "reads and writes"}[item.staging]
        count = words.get(item.words, f"{item.words} staging word{'s' if item.words != '1' else ''}")
        notes.append(f"{verb} {count}")
    if item.last:
        notes.append("in the last tuple of its clause only")
    if item.pair:
        notes.append(f"pair `{item.pair}`")
    if not item.result:
        notes.append("no result")
    if item.only:
        notes.append(f"emitted for {item.only} only")
    text = ", ".join(notes)
    return [text[0].upper() + text[1:] + ".", ""] if notes else []


def instructions(description, group):
    lines = []
    for item in description.isa.instructions:
        if item.group != group.name:
            continue
        lines += [f"#### {item.unit.upper()} `{item.name}`", ""] + paragraphs(item.doc) + _properties(item)
        lines += [_encoding(item, encoding) for encoding in item.encodings] + [""]
    while lines and not lines[-1]:
        lines.pop()
    return lines
