# SPDX-License-Identifier: MIT
"""The instruction set as Python objects.

Goes in: the roots of the files whose root element is <isa>. Comes out: an Isa holding the parts of a clause, the
modifiers and the instructions. Whatever can be judged by looking at one element is judged here, the rest in
isa_validate.py. The schema is explained in Documentation/develop/recipes.md.
"""

import os
import re
from dataclasses import dataclass, field as member
from typing import Dict, List, Optional, Tuple

from description import Item
from reader import Reader

UNIT_BITS = {"fma": 23, "add": 20}
ORDERS = ("lt", "eq", "gt")         # of the selectors of sources 0 and 1
HOLE = "-"                          # in a <set>: bit patterns that are not defined
STAGING = ("read", "write", "both")
ACTIONS = ("idle", "read", "write", "write-lo", "write-hi")
PLACES = ("first", "other")

# Per element: attributes that must be there, attributes that may be.
ATTRIBUTES = {
    "isa": ((), ()),
    "header": (("name", "bits"), ("values",)),
    "values": (("name",), ()),
    "value": (("name", "value"), ()),
    "constant-select": (("nibble", "constant"), ()),
    "format": (("name", "mask", "match"), ("last",)),
    "part": (("to", "bits", "at"), ()),
    "layout": (("tuples", "formats"), ()),
    "position": (("value", "tuples", "constant"), ()),
    "relation": (("m1", "first", "second"), ("m2",)),
    "mode": (("number", "slot2", "slot3", "tuples"), ("from",)),
    "modifier": (("family", "values"), ()),
    "instruction": (("unit", "name"), ("message", "message-of", "staging", "words", "last", "result", "pair",
                                       "semantics", "unknown-of", "only")),
    "source": (("bits",), ("allow",)),
    "immediate": (("name",), ("bits",)),     # bits: inside an instruction
    "default": (("modifier", "value"), ()),
    "encoding": (("mask", "match"), ()),
    "set": (("modifiers",), ("bits", "order")),
    "extension": (("name", "unit", "mask", "match"), ()),
}

Bits = Tuple[int, int]              # lowest bit, width


@dataclass
class HeaderField(Item):
    bits: Bits = (0, 1)
    values: Optional[str] = None


@dataclass
class Value(Item):
    value: int = 0


@dataclass
class Values(Item):
    values: List[Value] = member(default_factory=list)


@dataclass
class Part(Item):
    """Bits of a quadword and where they go. what: "tuple", "constant", "header", "m1", "m2", "position"."""
    what: str = "header"
    index: int = 0
    bits: Bits = (0, 1)
    at: Bits = (0, 1)


@dataclass
class Format(Item):
    mask: int = 0
    match: int = 0
    last: Optional[int] = None
    parts: List[Part] = member(default_factory=list)


@dataclass
class Layout(Item):
    tuples: int = 1
    formats: List[str] = member(default_factory=list)


@dataclass
class Position(Item):
    value: int = 0
    tuples: int = 1
    constant: int = 0


@dataclass
class Relation(Item):
    m1: int = 0
    m2: Optional[int] = None
    first: str = "NONE"
    second: str = "NONE"


@dataclass
class Mode(Item):
    number: int = 0
    slot2: str = "idle"
    slot3: str = "idle"
    source: Optional[str] = None    # unit whose result port 3 writes
    places: List[str] = member(default_factory=list)


@dataclass
class Family(Item):
    """A kind of modifier; lane0, lane1, … are modifiers of the family lane."""
    values: List[str] = member(default_factory=list)

    @property
    def flag(self):
        return len(self.values) == 2 and self.values[0] == "none"


@dataclass
class Immediate(Item):
    pass


@dataclass
class Source(Item):
    bits: Bits = (0, 3)
    allow: int = 0xff               # bit n: selector n


@dataclass
class ImmediateField(Item):
    bits: Bits = (0, 1)


@dataclass
class Set(Item):
    """Bits that say the values of one or more modifiers; no bits: the encoding implies the values."""
    modifiers: List[str] = member(default_factory=list)
    bits: List[Bits] = member(default_factory=list)         # most significant first
    orders: Tuple[str, ...] = ORDERS
    rows: Dict[int, Tuple[str, ...]] = member(default_factory=dict)

    @property
    def width(self):
        return sum(width for _low, width in self.bits)


@dataclass
class Encoding(Item):
    mask: int = 0
    match: int = 0
    sets: List[Set] = member(default_factory=list)


@dataclass
class Instruction(Item):
    unit: str = "fma"
    sources: List[Source] = member(default_factory=list)
    immediates: List[ImmediateField] = member(default_factory=list)
    defaults: Dict[str, str] = member(default_factory=dict)
    encodings: List[Encoding] = member(default_factory=list)
    message: Optional[str] = None
    message_of: Dict[str, str] = member(default_factory=dict)   # "seg=ubo": message type then
    staging: Optional[str] = None
    words: str = "0"                # number, "format" or "count"
    last: bool = False
    result: bool = True
    pair: Optional[str] = None
    defined: bool = True
    unknown_of: List[Tuple[str, str]] = member(default_factory=list)    # modifier values that are not public
    only: Optional[str] = None

    @property
    def modifiers(self):
        """Every modifier, in the order of their first appearance."""
        names = []
        for encoding in self.encodings:
            for part in encoding.sets:
                names += [name for name in part.modifiers if name not in names]
        return names

    @property
    def group(self):
        """The file it is in, without its extension: what pages call it by."""
        return os.path.splitext(os.path.basename(self.file))[0]

    @property
    def symbol(self):
        return f"TSR_OP_{self.unit.upper()}_{self.name.upper().replace('.', '_')}"


@dataclass
class Extension(Item):
    """Words set aside: no instruction may use them, and no other use is made of them."""
    unit: str = "add"
    mask: int = 0
    match: int = 0


@dataclass
class Isa:
    files: List[str] = member(default_factory=list)
    header: List[HeaderField] = member(default_factory=list)
    values: List[Values] = member(default_factory=list)
    constants: Dict[int, int] = member(default_factory=dict)    # FAU nibble: constant
    formats: List[Format] = member(default_factory=list)
    layouts: List[Layout] = member(default_factory=list)
    positions: List[Position] = member(default_factory=list)
    relations: List[Relation] = member(default_factory=list)
    modes: List[Mode] = member(default_factory=list)
    families: List[Family] = member(default_factory=list)
    immediates: List[Immediate] = member(default_factory=list)
    instructions: List[Instruction] = member(default_factory=list)
    extensions: List[Extension] = member(default_factory=list)

    @property
    def groups(self):
        """The files that hold instructions, which pages show one by one."""
        stems = sorted({item.group for item in self.instructions})
        return [Item(name=stem, doc="", file=stem + ".xml", line=1) for stem in stems]

    def find_values(self, name):
        return next((item for item in self.values if item.name == name), None)

    def family_of(self, modifier):
        """The family of a modifier: its name without the number of a source at its end."""
        stem = re.sub(r"[0-3]$", "", modifier)
        return next((item for item in self.families if item.name in (modifier, stem)), None)

    @property
    def modifiers(self):
        """Every modifier of every instruction, sorted by family and number."""
        names = {name for item in self.instructions for name in item.modifiers}
        order = [family.name for family in self.families]
        key = lambda name: (order.index(self.family_of(name).name) if self.family_of(name) else 0, name)
        return sorted(names, key=key)


class Loader(Reader):
    """Turns elements into objects; complaints are collected and a harmless default is used."""

    attributes = ATTRIBUTES

    def __init__(self, complaints):
        super().__init__(complaints)
        self.isa = Isa()

    def load(self, roots):
        makers = {"header": (self._header, self.isa.header), "values": (self._values, self.isa.values),
                  "format": (self._format, self.isa.formats), "layout": (self._layout, self.isa.layouts),
                  "position": (self._position, self.isa.positions),
                  "relation": (self._relation, self.isa.relations), "mode": (self._mode, self.isa.modes),
                  "modifier": (self._family, self.isa.families),
                  "immediate": (self._immediate, self.isa.immediates),
                  "instruction": (self._instruction, self.isa.instructions),
                  "extension": (self._extension, self.isa.extensions)}
        for root in roots:
            self._attributes(root)
            for child in root.children:
                if child.tag == "constant-select":
                    self._attributes(child)
                    self.isa.constants[self._int(child, "nibble")] = self._int(child, "constant")
                elif child.tag in makers:
                    maker, where = makers[child.tag]
                    self._attributes(child)
                    where.append(maker(child))
                else:
                    self.complaints.add(child, f"unknown element <{child.tag}>")
        order = {"fma": 0, "add": 1}
        self.isa.instructions.sort(key=lambda item: (order[item.unit], item.name))
        return self.isa

    # -- attributes ---------------------------------------------------------------------------

    def _children(self, element, *tags):
        chosen = super()._children(element, *tags)
        for child in chosen:
            self._attributes(child)
        return chosen

    def _bits(self, element, key="bits"):
        """HIGH:LOW or BIT as (lowest, width); several, separated by blanks, as a list."""
        found = []
        for text in element.attrs.get(key, "").split():
            match = re.match(r"^(\d+)(?::(\d+))?$", text)
            high, low = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
            if not match or high < low:
                self.complaints.add(element, f"{key}=\"{text}\" is neither N nor HIGH:LOW")
                high = low = 0
            found.append((low, high - low + 1))
        return found

    def _one(self, element, key="bits"):
        found = self._bits(element, key)
        if len(found) != 1:
            self.complaints.add(element, f"{key}= must be one range of bits")
        return found[0] if found else (0, 1)

    # -- the format of clauses ----------------------------------------------------------------

    def _header(self, element):
        return HeaderField(bits=self._one(element), values=element.attrs.get("values"), **self._item(element))

    def _values(self, element):
        values = [Value(value=self._int(child, "value"), **self._item(child))
                  for child in self._children(element, "value")]
        return Values(values=values, **self._item(element))

    def _part(self, element):
        what, _, index = element.attrs.get("to", "header").partition(" ")
        if what not in ("tuple", "constant", "header", "m1", "m2", "position") or not index.isdigit() and index:
            self.complaints.add(element, f"to=\"{what} {index}\" is no place for bits")
        return Part(what=what, index=int(index or 0), bits=self._one(element), at=self._one(element, "at"),
                    **self._item(element, "to"))

    def _format(self, element):
        return Format(mask=self._int(element, "mask"), match=self._int(element, "match"),
                      last=self._int(element, "last", None),
                      parts=[self._part(child) for child in self._children(element, "part")],
                      **self._item(element))

    def _layout(self, element):
        return Layout(tuples=self._int(element, "tuples"), formats=element.attrs.get("formats", "").split(),
                      **self._item(element, "tuples"))

    def _position(self, element):
        return Position(value=self._int(element, "value"), tuples=self._int(element, "tuples"),
                        constant=self._int(element, "constant"), **self._item(element, "value"))

    def _relation(self, element):
        return Relation(m1=self._int(element, "m1"), m2=self._int(element, "m2", None),
                        first=element.attrs.get("first"), second=element.attrs.get("second"),
                        **self._item(element, "m1"))

    def _mode(self, element):
        places = element.attrs.get("tuples", "").split()
        for place in places:
            if place not in PLACES:
                self.complaints.add(element, f"tuples=\"{place}\" is not one of {', '.join(PLACES)}")
        return Mode(number=self._int(element, "number"), slot2=self._choice(element, "slot2", ACTIONS, "idle"),
                    slot3=self._choice(element, "slot3", ACTIONS, "idle"), places=places,
                    source=self._choice(element, "from", tuple(UNIT_BITS), None), **self._item(element, "number"))

    # -- modifiers and instructions -----------------------------------------------------------

    def _family(self, element):
        return Family(values=element.attrs.get("values", "").split(), **self._item(element, "family"))

    def _immediate(self, element):
        return Immediate(**self._item(element))

    def _source(self, element):
        allow, text = 0, element.attrs.get("allow", "0-7")
        for part in text.split():
            low, _, high = part.partition("-")
            if not low.isdigit() or not (high or low).isdigit() or int(high or low) > 7:
                self.complaints.add(element, f"allow=\"{text}\" is no list of selectors")
                return Source(bits=self._one(element), **self._item(element, "bits"))
            for selector in range(int(low), int(high or low) + 1):
                allow |= 1 << selector
        return Source(bits=self._one(element), allow=allow, **self._item(element, "bits"))

    def _rows(self, element, modifiers):
        """The text of a <set>: rows in order, or "key: row", separated by commas (by blanks for one modifier)."""
        text = " ".join(element.text().split())
        entries = text.split() if len(modifiers) == 1 else [entry.strip() for entry in text.split(",")]
        rows = {}
        for index, entry in enumerate(entries):
            key, colon, rest = entry.partition(":")
            values = tuple((rest if colon else entry).split())
            if colon and not key.isdigit():
                self.complaints.add(element, f"\"{entry}\": what stands before the colon is no number")
                continue
            key = int(key) if colon else index
            if values == (HOLE,):
                continue
            if len(values) != len(modifiers) or key in rows:
                self.complaints.add(element, f"\"{entry}\" must be one value for each of {', '.join(modifiers)}, "
                                             "and no bit pattern may come twice")
            rows[key] = values
        return rows

    def _set(self, element):
        modifiers = element.attrs.get("modifiers", "").split()
        orders = tuple(element.attrs.get("order", " ".join(ORDERS)).split())
        for order in orders:
            if order not in ORDERS:
                self.complaints.add(element, f"order=\"{order}\" is not one of {', '.join(ORDERS)}")
        return Set(modifiers=modifiers, bits=self._bits(element), orders=orders,
                   rows=self._rows(element, modifiers), **self._item(element, "modifiers"))

    def _encoding(self, element):
        return Encoding(mask=self._int(element, "mask"), match=self._int(element, "match"),
                        sets=[self._set(child) for child in self._children(element, "set")],
                        **self._item(element, "match"))

    def _extension(self, element):
        return Extension(unit=self._choice(element, "unit", tuple(UNIT_BITS), "add"),
                         mask=self._int(element, "mask"), match=self._int(element, "match"), **self._item(element))

    def _instruction(self, element):
        item = Instruction(unit=self._choice(element, "unit", tuple(UNIT_BITS), "fma"),
                           message=element.attrs.get("message"),
                           staging=self._choice(element, "staging", STAGING, None),
                           words=element.attrs.get("words", "0"),
                           last=element.attrs.get("last") == "1", result=element.attrs.get("result") != "0",
                           pair=element.attrs.get("pair"), only=element.attrs.get("only"),
                           defined=self._choice(element, "semantics", ("unknown",), None) is None,
                           **self._item(element))
        condition, _, kind = element.attrs.get("message-of", "").partition(":")
        if kind:
            item.message_of[condition] = kind
        item.unknown_of = [tuple(text.split("=")) for text in element.attrs.get("unknown-of", "").split()]
        for child in self._children(element, "source", "immediate", "default", "encoding"):
            if child.tag == "source":
                item.sources.append(self._source(child))
            elif child.tag == "immediate":
                item.immediates.append(ImmediateField(bits=self._one(child), **self._item(child)))
            elif child.tag == "default":
                item.defaults[child.attrs.get("modifier")] = child.attrs.get("value")
            else:
                item.encodings.append(self._encoding(child))
        return item
