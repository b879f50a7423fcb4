# SPDX-License-Identifier: MIT
"""Names in the prose: what a page calls by a name of hardware must exist in the description.

Looked at are words with an underscore between capitals (RING_BASE) and chains with dots (GPU.VERSION.MAJOR,
IRQ[JOB].MASK); other words in capitals could be anything.
"""

import re

WORD = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*"
PART = WORD + r"(?:\[[^\]\s]*\])?"
CHAIN = re.compile(rf"(?<![A-Za-z0-9_./\-]){PART}(?:\.{PART})*(?![A-Za-z0-9_(]|-[a-z]|\.[a-z])")
INDEX = re.compile(r"\[[^\]]*\]")


class Names:
    """Everything the description names, and what is inside what."""

    def __init__(self, description):
        self.inside = {}
        self.single = set()
        for kind in ("consts", "counters"):
            self.single |= {item.name for item in getattr(description, kind)}
        for item in description.enums + description.bitsets:
            self._add(item.name, item.values)
        for item in description.packets + description.structs:
            self._add(item.name, item.fields)
        for block in description.blocks:
            self._add(block.name, block.registers)
            for register in block.registers:
                self._add(register.name, register.fields)

        if description.isa:
            self._isa(description.isa)

    def _isa(self, isa):
        self.single |= {item.name for item in isa.header + isa.formats + isa.extensions}
        for item in isa.values:
            self._add(item.name, item.values)
        for item in isa.instructions:
            self.single.add(item.name.split(".")[0])

    def _add(self, name, children):
        self.single |= {name} | {child.name for child in children}
        self.inside.setdefault(name, set()).update(child.name for child in children)

    def wrong(self, text):
        """The names in a line of prose that the description does not know."""
        for match in CHAIN.finditer(text):
            parts = [INDEX.sub("", part) for part in match.group().split(".")]
            if len(parts) == 1 and ("_" not in parts[0] or parts[0].startswith("TSR_")):
                continue
            known = parts[0] in self.single
            for outer, inner in zip(parts, parts[1:]):
                known &= inner in self.inside.get(outer, ())
            if not known:
                yield match.group()
