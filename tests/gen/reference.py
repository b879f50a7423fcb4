# SPDX-License-Identifier: MIT
"""A second, independent reading of the hardware description for the generator's tests.

It shares no code with Documentation/hw/gen: it reads the XML with ElementTree and packs packets by arithmetic
on whole numbers, so that a mistake in the generator and one in here would have to agree.
"""

import glob
import os
import random
import xml.etree.ElementTree as ElementTree


def number(text, consts):
    return consts[text] if text in consts else int(text, 0)


class Reference:
    """Packets, registers and enums of a directory of XML files."""

    def __init__(self, directory):
        self.roots = [ElementTree.parse(path).getroot()
                      for path in sorted(glob.glob(os.path.join(directory, "*.xml")))]
        self.consts = {}
        for element in self.each("const"):
            self.consts[element.get("name")] = int(element.get("value"), 0)
        self.enums = {element.get("name"): {value.get("name"): int(value.get("value"), 0)
                                            for value in element} for element in self.each("enum")}
        self.packets = [Packet(element) for element in self.each("packet")]

    def each(self, tag):
        for root in self.roots:
            yield from root.iter(tag)

    def registers(self):
        """Every single register: (block, name, instance, index, offset, width, element, block element)."""
        for block in self.each("block"):
            for instance in range(number(block.get("count", "1"), self.consts)):
                start = int(block.get("offset"), 0) + instance * int(block.get("stride", "0"), 0)
                for reg in block.iter("reg"):
                    width = int(reg.get("width", "32"))
                    for index in range(number(reg.get("count", "1"), self.consts)):
                        offset = start + int(reg.get("offset"), 0)
                        offset += index * int(reg.get("stride", str(width // 8)), 0)
                        yield block.get("name"), reg.get("name"), instance, index, offset, width, reg, block


class Field:
    def __init__(self, element):
        self.name = element.get("name")
        self.qword = int(element.get("qword", "0"))
        high, _, low = element.get("bits").partition(":")
        self.high, self.low = int(high), int(low or high)
        self.size = self.high - self.low + 1
        self.kind = element.get("type", "uint").split(":")[0]
        self.ring = element.get("level") == "ring"

    def random(self):
        """A value the field can hold, often at its limits."""
        choice = random.randrange(4)
        bits = (0, (1 << self.size) - 1, 1 << (self.size - 1), random.getrandbits(self.size))[choice]
        return self.value(bits)

    def value(self, bits):
        """What the field's raw bits mean."""
        if self.kind == "int" and bits >> (self.size - 1):
            return bits - (1 << self.size)
        if self.kind in ("va", "pa"):
            return bits * 2 ** self.low
        return bits

    def bits(self, value):
        """The contribution of a value to its qword."""
        if self.kind in ("va", "pa"):
            return value
        return value % (1 << self.size) * 2 ** self.low


class Packet:
    def __init__(self, element):
        self.name = element.get("name")
        self.opcode = int(element.get("opcode"), 0)
        self.least = int(element.get("qwords"))
        self.most = int(element.get("max_qwords", self.least))
        self.payload = element.get("tail") == "data"
        self.fields = [Field(child) for child in element.iter("field")]

    def pack(self, values, length):
        """The packet's qwords; fields beyond its length are left out."""
        qwords = [self.opcode + 256 * length] + [0] * (length - 1)
        for field in self.fields:
            if field.qword < length:
                qwords[field.qword] += field.bits(values[field.name])
        return qwords

    def unpack(self, qwords):
        """The value of every field; those beyond the packet's length are 0."""
        length = qwords[0] // 256 % 256
        values = {}
        for field in self.fields:
            raw = qwords[field.qword] // 2 ** field.low % 2 ** field.size
            values[field.name] = field.value(raw) if field.qword < length else 0
        return values

    def reserved(self, qword):
        """Bits of a qword that must be zero, found bit by bit."""
        if self.payload and qword >= self.least:
            return 0
        mask = 0
        for bit in range(64):
            used = qword == 0 and bit < 16
            for field in self.fields:
                used |= field.qword == qword and field.low <= bit <= field.high
            mask += 0 if used else 1 << bit
        return mask
