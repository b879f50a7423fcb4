# SPDX-License-Identifier: MIT
"""The hardware description as Python objects.

Goes in: the XML files of one directory. Comes out: a Description holding constants, enums, bitsets, register
blocks, packets, structs and counters. Whatever can be judged by looking at one element (its attributes, its
numbers, its name) is judged here; what needs two or more elements (overlaps, duplicates, references) is in
validate.py. The schema itself is explained in Documentation/develop/recipes.md.
"""

import os
import re
from dataclasses import dataclass, field as member
from typing import Dict, List, Optional

import xmltree
from reader import Reader

NAME = re.compile(r"^[A-Z][A-Z0-9_]*$")
VALUE_NAME = re.compile(r"^[A-Z0-9][A-Z0-9_]*$")
COUNTER_NAME = re.compile(r"^[a-z][a-z0-9-]*$")
ACCESS = ("ro", "wo", "rw", "w1c", "w1s")
TYPES = ("uint", "int", "bool", "va", "pa")
LEVELS = ("any", "ring", "user", "list")
BATCHES = ("engine", "cp")
SCOPES = ("queue", "global")

# The engine classes packets may be limited to are the values of this enum.
CLASS_ENUM = "ENGINE_CLASS"

# Per element: attributes that must be there, attributes that may be. Anything else is a typing mistake.
ATTRIBUTES = {
    "tessera": ((), ("major", "minor")),
    "const": (("name", "value"), ("unit", "users")),
    "enum": (("name",), ("bits", "users")),
    "bitset": (("name",), ()),
    "bit": (("name", "pos"), ()),
    "block": (("name", "offset"), ("count", "stride", "size", "title")),
    "reg": (("name", "offset"), ("width", "access", "reset", "count", "stride", "enum", "bitset")),
    "packet": (("name", "opcode", "qwords"),
               ("max_qwords", "level", "class", "batch", "refused", "tail")),
    "struct": (("name", "qwords"), ()),
    "field": (("name", "bits"),
              ("qword", "type", "enum", "bitset", "align", "min", "max", "access", "level")),
    "counter": (("id", "name", "unit", "scope"), ()),
}


@dataclass
class Item:
    """What every described thing has: a name, its documentation, and where it stands."""
    name: str
    doc: str
    file: str
    line: int


@dataclass
class Const(Item):
    value: int = 0
    text: str = "0"             # as written, so that 0x1000 stays hexadecimal in the header
    users: bool = False         # programs need it, too: tsr_enums.h


@dataclass
class Value(Item):
    value: int = 0
    extra: Dict[str, str] = member(default_factory=dict)    # attributes beyond name and value


@dataclass
class Enum(Item):
    bits: Optional[int] = None
    values: List[Value] = member(default_factory=list)
    users: bool = False         # programs need it, too: tsr_enums.h


@dataclass
class Bit(Item):
    pos: int = 0


@dataclass
class Bitset(Item):
    values: List[Bit] = member(default_factory=list)


@dataclass
class Field(Item):
    qword: int = 0
    lo: int = 0
    hi: int = 0
    type: str = "uint"
    enum: Optional[str] = None
    bitset: Optional[str] = None
    align: int = 1              # what the value must be a multiple of (addresses: in bytes)
    min: int = 0
    max: Optional[int] = None   # None: whatever fits
    access: Optional[str] = None
    level: str = "any"          # "ring": must be zero in user streams

    @property
    def width(self):
        return self.hi - self.lo + 1

    @property
    def mask(self):
        """The field's bits inside its register or qword."""
        return ((1 << self.width) - 1) << self.lo

    @property
    def in_place(self):
        """An address field holds bits hi:lo of the address itself, so its value is not shifted."""
        return self.type in ("va", "pa")


@dataclass
class Register(Item):
    offset: int = 0
    width: int = 32
    access: str = "rw"
    reset: Optional[int] = 0    # None: from the device's configuration
    count: Optional[int] = None
    stride: int = 0
    enum: Optional[str] = None
    bitset: Optional[str] = None
    fields: List[Field] = member(default_factory=list)

    @property
    def end(self):
        return self.offset + self.stride * ((self.count or 1) - 1) + self.width // 8


@dataclass
class Block(Item):
    offset: int = 0
    count: Optional[int] = None
    stride: int = 0
    size: Optional[int] = None
    title: str = ""
    registers: List[Register] = member(default_factory=list)

    @property
    def extent(self):
        """Bytes one instance of the block occupies."""
        if self.count is not None:
            return self.stride
        return self.size or max([register.end for register in self.registers], default=0)

    @property
    def end(self):
        return self.offset + self.extent * (self.count or 1)


@dataclass
class Packet(Item):
    opcode: int = 0
    qwords: int = 1
    max_qwords: int = 1
    level: str = "any"
    classes: Optional[List[str]] = None     # None: every class
    batch: Optional[str] = None
    refused: bool = False
    tail: Optional[str] = None              # "data": qwords beyond the shortest length are free payload
    fields: List[Field] = member(default_factory=list)

    @property
    def variable(self):
        return self.max_qwords != self.qwords

    @property
    def described_qwords(self):
        """Qwords about whose bits something is said; those after them are free payload."""
        return self.qwords if self.tail == "data" else self.max_qwords

    def mbz(self, qword):
        """Bits of that qword that must be zero: those no field claims (opcode and length aside)."""
        claimed = 0xffff if qword == 0 else 0
        for field in self.fields:
            if field.qword == qword:
                claimed |= field.mask
        if qword >= self.described_qwords:
            return 0
        return ~claimed & 0xffffffffffffffff


@dataclass
class Struct(Item):
    qwords: int = 1
    fields: List[Field] = member(default_factory=list)


@dataclass
class Counter(Item):
    id: int = 0
    unit: str = ""
    scope: str = "queue"


@dataclass
class Description:
    major: int = 0
    minor: int = 0
    files: List[str] = member(default_factory=list)
    consts: List[Const] = member(default_factory=list)
    enums: List[Enum] = member(default_factory=list)
    bitsets: List[Bitset] = member(default_factory=list)
    blocks: List[Block] = member(default_factory=list)
    packets: List[Packet] = member(default_factory=list)
    structs: List[Struct] = member(default_factory=list)
    counters: List[Counter] = member(default_factory=list)
    isa: Optional[object] = None        # isa_description.Isa, when there are <isa> files

    def find(self, kind, name):
        """The item called `name` in the list `kind` ("enums", "packets", …), or None."""
        return next((item for item in getattr(self, kind) if item.name == name), None)


class Loader(Reader):
    """Turns elements into objects; complaints go to self.complaints and a harmless default is used."""

    attributes = ATTRIBUTES
    not_a_number = "neither a number nor a constant"

    def __init__(self):
        super().__init__(xmltree.Complaints())
        self.isa_roots = []             # <isa> files are isa_description.py's
        self.description = Description()

    def load(self, directory):
        """Read every *.xml of the directory in sorted order."""
        names = sorted(name for name in os.listdir(directory) if name.endswith(".xml"))
        if not names:
            raise xmltree.DescriptionError(f"{directory}:0: no *.xml here to read the hardware from")
        roots = [xmltree.parse(os.path.join(directory, name), os.path.join(directory, name))
                 for name in names]
        self.isa_roots = [root for root in roots if root.tag == "isa"]
        roots = [root for root in roots if root.tag != "isa"]
        self.description.files = [name for name in names if any(os.path.basename(root.file) == name
                                                                for root in roots)]
        for root in roots:
            self._root(root)
        for root in roots:          # constants first: counts and strides may name them
            for child in root.children:
                if child.tag == "const":
                    self._const(child)
        for root in roots:
            for child in root.children:
                self._top(child)
        return self.description

    def _root(self, root):
        if root.tag != "tessera":
            self.complaints.add(root, f"root element is <{root.tag}>, expected <tessera>")
            return
        self._attributes(root)
        for key in ("major", "minor"):
            number = self._int(root, key, default=getattr(self.description, key))
            previous = getattr(self.description, key)
            if previous and number != previous:
                self.complaints.add(root, f"{key} is {number} here and {previous} in another file")
            setattr(self.description, key, number)

    def _top(self, element):
        makers = {"enum": (self._enum, "enums"), "bitset": (self._bitset, "bitsets"),
                  "block": (self._block, "blocks"), "packet": (self._packet, "packets"),
                  "struct": (self._struct, "structs"), "counter": (self._counter, "counters")}
        if element.tag in makers:
            maker, kind = makers[element.tag]
            getattr(self.description, kind).append(maker(element))
        elif element.tag != "const":
            self.complaints.add(element, f"unknown element <{element.tag}>")

    # -- attributes ---------------------------------------------------------------------------

    def _named(self, element, pattern=NAME):
        """_item() with a name of that form."""
        item = self._item(element, default="UNNAMED")
        if not pattern.match(item["name"]):
            self.complaints.add(element, f"\"{item['name']}\" is not a name of the form {pattern.pattern}")
        return item

    def _begin(self, element, pattern=NAME):
        self._attributes(element)
        return self._named(element, pattern)

    # -- elements -----------------------------------------------------------------------------

    def _const(self, element):
        item = self._begin(element)
        self._children(element)
        value = self._int(element, "value")
        text = element.attrs.get("value", "0")
        if text in self.consts:
            text = str(value)
        self.consts.setdefault(item["name"], value)
        self.description.consts.append(Const(value=value, text=text, users=self._users(element), **item))

    def _users(self, element):
        """Whether programs need it, too."""
        users = element.attrs.get("users", "")
        if users not in ("", "1"):
            self.complaints.add(element, f"users=\"{users}\" is not 1")
        return users == "1"

    def _enum(self, element):
        item = self._begin(element)
        enum = Enum(bits=self._int(element, "bits", default=None), users=self._users(element), **item)
        for child in self._children(element, "value"):
            extra = {key: text for key, text in child.attrs.items() if key not in ("name", "value")}
            if "name" not in child.attrs or "value" not in child.attrs:
                self.complaints.add(child, "<value> needs the attributes name= and value=")
            self._children(child)
            enum.values.append(Value(value=self._int(child, "value"), extra=extra,
                                     **self._named(child, VALUE_NAME)))
        return enum

    def _bitset(self, element):
        bitset = Bitset(**self._begin(element))
        for child in self._children(element, "bit"):
            item = self._begin(child, VALUE_NAME)
            self._children(child)
            bitset.values.append(Bit(pos=self._int(child, "pos"), **item))
        return bitset

    def _field(self, element):
        item = self._begin(element)
        self._children(element)
        field = Field(qword=self._int(element, "qword"), align=self._int(element, "align", default=1),
                      min=self._int(element, "min"), max=self._int(element, "max", default=None),
                      enum=element.attrs.get("enum"), bitset=element.attrs.get("bitset"),
                      access=self._choice(element, "access", ACCESS, None),
                      level=self._choice(element, "level", ("any", "ring"), "any"), **item)
        bits = re.match(r"^(\d+)(?::(\d+))?$", element.attrs.get("bits", "0"))
        if bits:
            field.hi = int(bits.group(1))
            field.lo = int(bits.group(2)) if bits.group(2) else field.hi
        else:
            self.complaints.add(element, f"bits=\"{element.attrs['bits']}\" is neither N nor HIGH:LOW")
        if field.hi < field.lo:
            self.complaints.add(element, f"bits {field.hi}:{field.lo} stand the wrong way round")
            field.hi, field.lo = field.lo, field.hi
        kind = element.attrs.get("type", "uint")
        if kind.startswith("enum:"):
            field.enum, kind = kind[len("enum:"):], "uint"
        if kind == "enum" and field.enum:
            kind = "uint"
        if kind not in TYPES:
            self.complaints.add(element, f"type=\"{kind}\" is not one of {', '.join(TYPES)}, enum:NAME")
            kind = "uint"
        field.type = kind
        return field

    def _register(self, element):
        item = self._begin(element)
        register = Register(offset=self._int(element, "offset"),
                            width=self._int(element, "width", default=32),
                            access=self._choice(element, "access", ACCESS, "rw"),
                            count=self._int(element, "count", default=None),
                            enum=element.attrs.get("enum"), bitset=element.attrs.get("bitset"), **item)
        register.stride = self._int(element, "stride", default=register.width // 8)
        if element.attrs.get("reset") == "cfg":
            register.reset = None
        else:
            register.reset = self._int(element, "reset")
        register.fields = [self._field(child) for child in self._children(element, "field")]
        return register

    def _block(self, element):
        item = self._begin(element)
        block = Block(offset=self._int(element, "offset"),
                      count=self._int(element, "count", default=None),
                      stride=self._int(element, "stride"),
                      size=self._int(element, "size", default=None),
                      title=element.attrs.get("title", ""), **item)
        block.registers = [self._register(child) for child in self._children(element, "reg")]
        return block

    def _packet(self, element):
        item = self._begin(element)
        qwords = self._int(element, "qwords", default=1)
        classes = element.attrs.get("class", "any")
        packet = Packet(opcode=self._int(element, "opcode"), qwords=qwords,
                        max_qwords=self._int(element, "max_qwords", default=qwords),
                        level=self._choice(element, "level", LEVELS, "any"),
                        classes=None if classes == "any" else re.split(r"[|, ]+", classes),
                        batch=self._choice(element, "batch", BATCHES, None),
                        refused=self._choice(element, "refused", ("0", "1"), "0") == "1",
                        tail=self._choice(element, "tail", ("data",), None), **item)
        packet.fields = [self._field(child) for child in self._children(element, "field")]
        return packet

    def _struct(self, element):
        item = self._begin(element)
        struct = Struct(qwords=self._int(element, "qwords", default=1), **item)
        struct.fields = [self._field(child) for child in self._children(element, "field")]
        return struct

    def _counter(self, element):
        item = self._begin(element, COUNTER_NAME)
        self._children(element)
        return Counter(id=self._int(element, "id"), unit=element.attrs.get("unit", ""),
                       scope=self._choice(element, "scope", SCOPES, "queue"), **item)
