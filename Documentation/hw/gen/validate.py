# SPDX-License-Identifier: MIT
"""What must hold between the elements of a description: no two things in one place, no name twice, no
reference to nothing, no value that does not fit. Every rule complains with the file and line of the later
offender and names the other one.
"""

import description as d

QWORD_BITS = 64
MAX_QWORDS = 255                # the length field of a packet header has eight bits
MAX_OPCODE = 255

# Field names become C and C++ structure members in lower case.
KEYWORDS = frozenset("""
    alignas alignof and asm auto bitand bitor bool break case catch char class compl const constexpr continue
    default delete do double else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not operator or private protected public register restrict return short
    signed sizeof static struct switch template this throw true try typedef typeid typename union unsigned
    using virtual void volatile while xor none qwords
""".split())


def check(description, complaints):
    """Complain about everything that is wrong with the description as a whole."""
    _names(description, complaints)
    for enum in description.enums:
        _enum(enum, complaints)
    for bitset in description.bitsets:
        _bitset(bitset, complaints)
    for block in description.blocks:
        _block(block, description, complaints)
    _block_map(description, complaints)
    for packet in description.packets:
        _packet(packet, description, complaints)
    for struct in description.structs:
        _struct(struct, description, complaints)
    for key in ("major", "minor"):
        const = description.find("consts", f"VERSION_{key.upper()}")
        if const and const.value != getattr(description, key):
            complaints.add(const, f"VERSION_{key.upper()} is {const.value}, <tessera {key}=> says "
                                  f"{getattr(description, key)}")
    _unique(description.packets, "opcode", "packet", complaints, shown=hex)
    for scope in d.SCOPES:
        _unique([counter for counter in description.counters if counter.scope == scope], "id",
                f"{scope} counter", complaints)


def _unique(items, key, what, complaints, shown=str):
    """No two items share the attribute `key`."""
    seen = {}
    for item in items:
        value = getattr(item, key)
        if value in seen:
            other = seen[value]
            complaints.add(item, f"{what} {item.name}: {key} {shown(value)} is already used by "
                                 f"{other.name} ({other.file}:{other.line})")
        seen.setdefault(value, item)


def _names(description, complaints):
    for kind, what in (("consts", "const"), ("enums", "enum"), ("bitsets", "bitset"), ("blocks", "block"),
                       ("packets", "packet"), ("structs", "struct"), ("counters", "counter")):
        _unique(getattr(description, kind), "name", what, complaints)
    # C keeps struct and enum tags in one name space: packet FENCE and enum FENCE would clash.
    tags = {enum.name: enum for enum in description.enums}
    for packet in description.packets:
        if packet.name in tags:
            complaints.add(packet, f"packet {packet.name} and the enum of that name "
                                   f"({tags[packet.name].file}:{tags[packet.name].line}) would share a C tag")


def _enum(enum, complaints):
    _unique(enum.values, "name", f"enum {enum.name}: value", complaints)
    _unique(enum.values, "value", f"enum {enum.name}: value", complaints)
    if not enum.values:
        complaints.add(enum, f"enum {enum.name} has no values")
    limit = 31 if enum.bits is None else min(enum.bits, 31)
    for value in enum.values:
        if value.value >> limit:
            complaints.add(value, f"enum {enum.name}: {value.name} = {value.value:#x} does not fit {limit} bits")
    keys = {tuple(value.extra) for value in enum.values}
    if len(keys) > 1:
        complaints.add(enum, f"enum {enum.name}: its values do not all have the same attributes")


def _bitset(bitset, complaints):
    _unique(bitset.values, "name", f"bitset {bitset.name}: bit", complaints)
    _unique(bitset.values, "pos", f"bitset {bitset.name}: bit", complaints)
    for bit in bitset.values:
        if bit.pos >= QWORD_BITS:
            complaints.add(bit, f"bitset {bitset.name}: {bit.name} is at bit {bit.pos}, beyond 63")


def _reference(item, what, width, description, complaints):
    """enum= and bitset= name something, and everything in it fits the bits there are."""
    if item.enum and item.bitset:
        complaints.add(item, f"{what} has both enum= and bitset=")
    if item.enum:
        enum = description.find("enums", item.enum)
        if enum is None:
            complaints.add(item, f"{what}: there is no enum {item.enum}")
        else:
            biggest = max((value.value for value in enum.values), default=0)
            if biggest >> width:
                complaints.add(item, f"{what}: {width} bits cannot hold {biggest:#x} of enum {item.enum}")
    if item.bitset:
        bitset = description.find("bitsets", item.bitset)
        if bitset is None:
            complaints.add(item, f"{what}: there is no bitset {item.bitset}")
        elif max((bit.pos for bit in bitset.values), default=0) >= width:
            complaints.add(item, f"{what}: {width} bits cannot hold every bit of bitset {item.bitset}")


def _field(field, what, width, description, complaints):
    """One field of something `width` bits wide."""
    if field.hi >= width:
        complaints.add(field, f"{what}: bits {field.hi}:{field.lo} lie outside the {width} bits there are")
    if field.type == "bool" and field.width != 1:
        complaints.add(field, f"{what}: a bool has one bit, not {field.width}")
    if field.type == "int" and field.width < 2:
        complaints.add(field, f"{what}: an int needs a sign and at least one more bit")
    if field.type != "uint" and (field.enum or field.bitset):
        complaints.add(field, f"{what}: type {field.type} cannot have enum= or bitset=")
    if field.align < 1 or field.align & (field.align - 1):
        complaints.add(field, f"{what}: align {field.align} is not a power of two")
    elif field.align.bit_length() - 1 > field.hi:
        complaints.add(field, f"{what}: align {field.align} leaves no bits")
    most = field.mask if field.in_place else field.mask >> field.lo
    if field.min > (most if field.max is None else field.max) or (field.max or 0) > most:
        complaints.add(field, f"{what}: min {field.min:#x} and max {field.max or most:#x} do not fit "
                              f"{field.width} bits")
    if (field.min or field.max is not None) and (field.type in ("int", "bool") or field.enum or field.bitset):
        complaints.add(field, f"{what}: min= and max= are for plain unsigned numbers and addresses")
    _reference(field, what, field.width, description, complaints)


def _overlaps(fields, what, complaints):
    for index, field in enumerate(fields):
        for other in fields[:index]:
            if field.qword == other.qword and field.mask & other.mask:
                complaints.add(field, f"{what}: field {field.name} (bits {field.hi}:{field.lo}) overlaps "
                                      f"{other.name} (bits {other.hi}:{other.lo}, line {other.line})")


def _register(register, block, description, complaints):
    what = f"register {block.name}.{register.name}"
    if register.width not in (32, 64):
        complaints.add(register, f"{what}: width {register.width} is neither 32 nor 64")
        return
    size = register.width // 8
    if register.offset % size or register.stride % size or block.offset % size or block.stride % size:
        complaints.add(register, f"{what}: a {register.width}-bit register must stand on multiples of {size}")
    if register.count is not None and (register.count < 1 or register.stride < size):
        complaints.add(register, f"{what}: count {register.count}, stride {register.stride:#x} overlap")
    if register.reset is not None and register.reset >> register.width:
        complaints.add(register, f"{what}: reset {register.reset:#x} does not fit {register.width} bits")
    limit = block.stride if block.count is not None else block.size
    if limit and register.end > limit:
        complaints.add(register, f"{what}: ends at {register.end:#x}, the block ends at {limit:#x}")
    for field in register.fields:
        if field.qword:
            complaints.add(field, f"{what}: field {field.name}: registers have no qwords")
        _field(field, f"{what}: field {field.name}", register.width, description, complaints)
    _overlaps(register.fields, what, complaints)
    _unique(register.fields, "name", f"{what}: field", complaints)
    _reference(register, what, register.width, description, complaints)


def _block(block, description, complaints):
    if block.count is not None and (block.count < 1 or block.stride < 4):
        complaints.add(block, f"block {block.name}: count {block.count} needs a stride of at least 4")
    if block.count is None and block.stride:
        complaints.add(block, f"block {block.name}: a stride without a count")
    _unique(block.registers, "name", f"block {block.name}: register", complaints)
    taken = {}
    for register in block.registers:
        _register(register, block, description, complaints)
        for index in range(register.count or 1):
            start = register.offset + index * register.stride
            for word in range(start, start + register.width // 8, 4):
                other = taken.setdefault(word, register)
                if other is not register:
                    complaints.add(register, f"block {block.name}: register {register.name} overlaps "
                                             f"{other.name} (line {other.line}) at {word:#x}")


def _block_map(description, complaints):
    """Blocks do not overlap, and stay inside the register BAR where its size is described."""
    ordered = sorted(description.blocks, key=lambda block: block.offset)
    for before, after in zip(ordered, ordered[1:]):
        if before.end > after.offset:
            complaints.add(after, f"block {after.name} at {after.offset:#x} overlaps {before.name}, which "
                                  f"ends at {before.end:#x} ({before.file}:{before.line})")
    size = description.find("consts", "REGISTERS_SIZE")
    for block in description.blocks:
        if size and block.end > size.value:
            complaints.add(block, f"block {block.name} ends at {block.end:#x}, beyond REGISTERS_SIZE "
                                  f"{size.value:#x}")


def _packet_shape(packet, description, complaints):
    what = f"packet {packet.name}"
    if packet.opcode > MAX_OPCODE:
        complaints.add(packet, f"{what}: opcode {packet.opcode:#x} does not fit eight bits")
    if not 1 <= packet.qwords <= packet.max_qwords <= MAX_QWORDS:
        complaints.add(packet, f"{what}: lengths {packet.qwords}..{packet.max_qwords} must lie in 1..{MAX_QWORDS}")
    if packet.tail and not packet.variable:
        complaints.add(packet, f"{what}: tail= needs max_qwords=")
    known = description.find("enums", d.CLASS_ENUM)
    for name in packet.classes or ():
        if known is None or all(value.name != name for value in known.values):
            complaints.add(packet, f"{what}: \"{name}\" is not a value of enum {d.CLASS_ENUM}")


def _packet(packet, description, complaints):
    _packet_shape(packet, description, complaints)
    what = f"packet {packet.name}"
    for field in packet.fields:
        name = f"{what}: field {field.name}"
        if field.qword >= packet.max_qwords:
            complaints.add(field, f"{name}: qword {field.qword} of a packet of {packet.max_qwords}")
        if field.qword == 0 and field.lo < 16:
            complaints.add(field, f"{name}: bits 15:0 of the header are opcode and length")
        if field.name.lower() in KEYWORDS:
            complaints.add(field, f"{name}: \"{field.name.lower()}\" cannot be a C or C++ member")
        if field.access:
            complaints.add(field, f"{name}: access= belongs to registers")
        if field.level == "ring" and field.qword:
            complaints.add(field, f"{name}: level= is for fields of the header qword")
        if packet.tail and field.qword >= packet.qwords:
            complaints.add(field, f"{name}: lies in the packet's free payload")
        _field(field, name, QWORD_BITS, description, complaints)
    _overlaps(packet.fields, what, complaints)
    _unique(packet.fields, "name", f"{what}: field", complaints)


def _struct(struct, description, complaints):
    what = f"struct {struct.name}"
    if struct.qwords < 1:
        complaints.add(struct, f"{what}: has no qwords")
    for field in struct.fields:
        if field.qword >= struct.qwords:
            complaints.add(field, f"{what}: field {field.name}: qword {field.qword} of {struct.qwords}")
        _field(field, f"{what}: field {field.name}", QWORD_BITS, description, complaints)
    _overlaps(struct.fields, what, complaints)
    _unique(struct.fields, "name", f"{what}: field", complaints)
