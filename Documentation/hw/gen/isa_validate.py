# SPDX-License-Identifier: MIT
"""What needs more than one element of the instruction set to be judged."""

from isa_description import ORDERS, UNIT_BITS

QUAD_BITS = 128
TUPLE_BITS = 78
HEADER_BITS = 45
PLACES = {"tuple": TUPLE_BITS, "header": HEADER_BITS, "constant": 64, "m1": 4, "m2": 4, "position": 4}


def check(isa, complaints):
    for kind in (isa.header, isa.values, isa.formats, isa.families, isa.immediates):
        _unique(kind, complaints)
    _clause(isa, complaints)
    for family in isa.families:
        if len(family.values) < 2 or len(set(family.values)) != len(family.values):
            complaints.add(family, f"modifier {family.name}: fewer than two values, or one twice")
        if "none" in family.values[1:]:
            complaints.add(family, f"modifier {family.name}: none is always the first value")
    seen = {}
    for item in isa.instructions:
        other = seen.setdefault(item.symbol, item)
        if other is not item:
            complaints.add(item, f"{item.name} is described twice (line {other.line})")
        _instruction(isa, item, complaints)
    for extension in isa.extensions:
        for item in isa.instructions:
            if item.unit == extension.unit and any(
                    (encoding.match ^ extension.match) & encoding.mask & extension.mask == 0
                    for encoding in item.encodings):
                complaints.add(extension, f"extension {extension.name}: {item.name} ({item.file}:{item.line}) has "
                                          "words in it")
    used = {isa.family_of(name).name for name in isa.modifiers if isa.family_of(name)}
    for family in isa.families:
        if family.name not in used:
            complaints.add(family, f"modifier {family.name}: no instruction has it")


def _unique(items, complaints):
    seen = {}
    for item in items:
        other = seen.setdefault(item.name, item)
        if other is not item:
            complaints.add(item, f"{item.name} is described twice (line {other.line})")


# -- clauses ----------------------------------------------------------------------------------------


def _clause(isa, complaints):
    claimed = 0
    for field in isa.header:
        mask = _mask(field.bits)
        if claimed & mask or mask >> HEADER_BITS:
            complaints.add(field, f"header {field.name}: overlaps another field or ends beyond bit {HEADER_BITS - 1}")
        if field.values and not isa.find_values(field.values):
            complaints.add(field, f"header {field.name}: there are no values {field.values}")
        claimed |= mask
    tags = {}
    for item in isa.formats:
        _format(item, complaints)
        for tag in range(256):
            if tag & item.mask == item.match and tags.setdefault(tag, item) is not item:
                complaints.add(item, f"format {item.name}: tag {tag:#04x} is {tags[tag].name}'s as well")
                break
    for layout in isa.layouts:
        _layout(isa, layout, complaints)
    pcrel = isa.find_values("PCREL")
    kinds = {value.name for value in pcrel.values} if pcrel else set()
    for relation in isa.relations:
        if not {relation.first, relation.second} <= kinds:
            complaints.add(relation, f"relation {relation.m1}: first= and second= are values of PCREL")
    for mode in isa.modes:
        if not 0 < mode.number < 32:
            complaints.add(mode, f"mode {mode.number}: not in 1..31")
        if mode.slot3.startswith("write") != (mode.source is not None):
            complaints.add(mode, f"mode {mode.number}: from= belongs to modes in which port 3 writes")


def _mask(bits):
    return ((1 << bits[1]) - 1) << bits[0]


def _format(item, complaints):
    if item.match & ~item.mask or item.mask > 0xff:
        complaints.add(item, f"format {item.name}: match has bits outside the mask, or the tag more than 8 bits")
    claimed = item.mask
    for part in item.parts:
        mask = _mask(part.bits)
        if claimed & mask or mask >> QUAD_BITS:
            complaints.add(part, f"format {item.name}: bits of a part overlap others or lie beyond the quadword")
        if part.bits[1] != part.at[1] or _mask(part.at) >> PLACES[part.what]:
            complaints.add(part, f"format {item.name}: bits= and at= differ in width, or at= is too high")
        claimed |= mask


def _layout(isa, layout, complaints):
    """The formats of a layout bring every bit of every tuple exactly once."""
    got = {}
    for name in layout.formats:
        item = next((item for item in isa.formats if item.name == name), None)
        if item is None:
            complaints.add(layout, f"layout {layout.tuples}: there is no format {name}")
            continue
        if (item.last is not None) != (name == layout.formats[-1]) or item.last not in (None, layout.tuples - 1):
            complaints.add(layout, f"layout {layout.tuples}: {name} is the wrong place to end")
        for part in item.parts:
            key = (part.what, part.index)
            if got.get(key, 0) & _mask(part.at):
                complaints.add(layout, f"layout {layout.tuples}: {part.what} {part.index} has bits twice")
            got[key] = got.get(key, 0) | _mask(part.at)
    for index in range(layout.tuples):
        if got.get(("tuple", index)) != (1 << TUPLE_BITS) - 1:
            complaints.add(layout, f"layout {layout.tuples}: tuple {index} is not complete")
    if got.get(("header", 0)) != (1 << HEADER_BITS) - 1:
        complaints.add(layout, f"layout {layout.tuples}: the header is not complete")


# -- instructions -----------------------------------------------------------------------------------


def _instruction(isa, item, complaints):
    what = f"{item.unit} {item.name}"
    if not item.encodings:
        complaints.add(item, f"{what}: has no encoding")
    if not item.doc:
        complaints.add(item, f"{what}: what does it do?")
    messages = isa.find_values("MESSAGE")
    for message in [item.message] + list(item.message_of.values()):
        if message and (messages is None or all(value.name != message for value in messages.values)):
            complaints.add(item, f"{what}: there is no message {message}")
    known = {immediate.name for immediate in isa.immediates}
    for immediate in item.immediates:
        if immediate.name not in known:
            complaints.add(immediate, f"{what}: there is no immediate {immediate.name}")
    if item.staging and item.words not in ("format", "count") and not (item.words.isdigit() and item.words != "0"):
        complaints.add(item, f"{what}: words=\"{item.words}\" is neither a number nor format nor count")
    for name in item.modifiers:
        if isa.family_of(name) is None:
            complaints.add(item, f"{what}: there is no modifier {name}")
            return
    for name, value in list(item.defaults.items()) + item.unknown_of:
        if name not in item.modifiers or value not in isa.family_of(name).values:
            complaints.add(item, f"{what}: {name} {value} is none of its modifiers or values")
    for encoding in item.encodings:
        _encoding(isa, item, encoding, f"{what} {encoding.match:#x}", complaints)


def _encoding(isa, item, encoding, what, complaints):
    full = (1 << UNIT_BITS[item.unit]) - 1
    if encoding.match & ~encoding.mask or encoding.mask & ~full:
        complaints.add(encoding, f"{what}: match has bits outside the mask, or the mask is too wide")
    claimed = encoding.mask
    for source in item.sources:
        mask = _mask(source.bits)
        if claimed & mask and claimed & mask != mask:
            complaints.add(source, f"{what}: a source overlaps something")
        claimed |= mask
    fields = [(immediate.bits, immediate) for immediate in item.immediates]
    seen = set()
    for part in encoding.sets:
        key = tuple(part.bits)
        if key not in seen:
            fields += [(bits, part) for bits in part.bits]
        seen.add(key)
    for bits, owner in fields:
        if claimed & _mask(bits):
            complaints.add(owner, f"{what}: bits {bits[0] + bits[1] - 1}:{bits[0]} overlap others")
        claimed |= _mask(bits)
    if claimed != full:
        complaints.add(encoding, f"{what}: nothing is said about bits {full & ~claimed:#x}")
    for order in ORDERS:
        named = [name for part in encoding.sets if order in part.orders for name in part.modifiers]
        if len(named) != len(set(named)):
            complaints.add(encoding, f"{what}: a modifier is in two sets")
    missing = set(item.modifiers) - {name for part in encoding.sets for name in part.modifiers}
    if missing:
        complaints.add(encoding, f"{what}: nothing says the value of {', '.join(sorted(missing))}")
    for part in encoding.sets:
        _set(isa, part, what, complaints)


def _set(isa, part, what, complaints):
    if not part.rows or max(part.rows) >> part.width:
        complaints.add(part, f"{what}: more rows than {part.width} bits can choose, or none")
    seen = {}
    for key, row in part.rows.items():
        if seen.setdefault(row, key) != key:
            complaints.add(part, f"{what}: {' '.join(row)} has two encodings")
        for name, value in zip(part.modifiers, row):
            if value not in isa.family_of(name).values:
                complaints.add(part, f"{what}: modifier {name} has no value {value}")
