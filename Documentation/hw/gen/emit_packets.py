# SPDX-License-Identifier: MIT
"""tsr_packets.h: one structure, one packer and one unpacker per packet and per structure in memory."""

import ctext

TITLE = "Tessera: packets of rings and command streams"

NOTES = """\
For every packet: TSR_OP_<NAME>, TSR_<NAME>_QWORDS (its shortest length), struct tsr_<name> with one member
per field, tsr_pack_<name>() and tsr_unpack_<name>().

A packet is a sequence of 64-bit words, little-endian in memory. The functions work on words in the
processor's own order: a big-endian machine converts each word when it stores or loads it. `p` points to as
many words as the packet is long. Packing writes every word, reserved bits as zero; a value too large for
its field is cut to it and, in user space built without NDEBUG, stops the program. Alignment and meaning are
not looked at: the device is the judge of those. Unpacking reads what the
length in the header covers, ignores reserved bits and the opcode, and gives zero for fields beyond the
length. Members that hold an address hold the address itself, whatever its alignment in the packet.

A packet of variable length has the member `qwords`, its length; 0 stands for the shortest.

Structures in memory (COMPUTE_STATE and the like) have the same, without an opcode.
"""

PRELUDE = """\
#ifdef __KERNEL__
#define TSR_PACK_ASSERT(condition) ((void)0)
#else
#include <assert.h>
#define TSR_PACK_ASSERT(condition) assert(condition)
#endif

/* Header fields that every packet has. */
#define TSR_HEADER_OPCODE__MASK				0x00000000000000ffULL
#define TSR_HEADER_OPCODE__SHIFT			0
#define TSR_HEADER_LENGTH__MASK				0x000000000000ff00ULL
#define TSR_HEADER_LENGTH__SHIFT			8
#define TSR_HEADER_FLAGS__MASK				0x00000000ffff0000ULL
#define TSR_HEADER_FLAGS__SHIFT				16

/* The opcode in a packet's first word. */
static inline uint8_t tsr_packet_opcode(uint64_t header)
{
	return (uint8_t)(header & 0xff);
}

/* The length in qwords in a packet's first word. */
static inline uint8_t tsr_packet_qwords(uint64_t header)
{
	return (uint8_t)((header >> 8) & 0xff);
}
""".splitlines() + [""]


def _type(field):
    if field.type == "bool":
        return "bool"
    prefix = "int" if field.type == "int" else "uint"
    return f"{prefix}{64 if field.width > 32 or field.in_place else 32}_t"


def _member(field):
    return field.name.lower()


def _variable(packet):
    """Whether it is a packet of variable length; structures in memory never are."""
    return getattr(packet, "variable", False)


def _struct(packet):
    lines = ctext.comment(packet.doc) + [f"struct tsr_{packet.name.lower()} {{"]
    if _variable(packet):
        lines += ctext.comment(f"length in qwords, {packet.qwords} to {packet.max_qwords}; 0 means "
                               f"{packet.qwords}", "\t") + ["\tuint32_t qwords;"]
    for field in packet.fields:
        about = field.doc
        if field.enum:
            about += f"{' ' if about else ''}(enum tsr_{field.enum.lower()})"
        if field.align > 1:
            about += f"{' ' if about else ''}(a multiple of {field.align})"
        lines += ctext.comment(about, "\t") + [f"\t{_type(field)} {_member(field)};"]
    if not _variable(packet) and not packet.fields:
        lines += ["\t/* the packet has no fields; C wants a member */", "\tuint8_t none;"]
    return lines + ["};", ""]


def _limit(field):
    """The condition under which a member's value can be packed, or None when every value can."""
    value = f"v->{_member(field)}"
    if field.type == "bool":
        return None
    if field.in_place:
        loose = field.mask ^ 0xffffffffffffffff
        return f"!({value} & {ctext.unsigned(loose, 64)})" if loose else None
    if field.type == "int":
        if field.width in (32, 64):
            return None
        top = 1 << (field.width - 1)
        suffix = "LL" if field.width > 32 else ""
        return f"{value} >= -{top}{suffix} && {value} <= {top - 1}{suffix}"
    bits = 64 if field.width > 32 else 32
    loose = ((1 << field.width) - 1) ^ ((1 << bits) - 1)
    return f"!({value} & {ctext.unsigned(loose, bits)})" if loose else None


def _packed(field):
    """The field's contribution to its qword, an expression."""
    value = f"(uint64_t)v->{_member(field)}"
    if field.in_place:
        return value if field.width == 64 else f"({value} & {ctext.unsigned(field.mask, 64)})"
    masked = value if field.width == 64 or field.type == "bool" else \
        f"({value} & {ctext.unsigned((1 << field.width) - 1, 64)})"
    return f"({masked} << {field.lo})" if field.lo else masked


def _word(packet, qword, header):
    """The statement that stores one qword."""
    terms = ([header] if header and qword == 0 else []) + [_packed(field) for field in packet.fields
                                                if field.qword == qword]
    if not terms:
        return [f"p[{qword}] = 0;"]
    lines = [f"p[{qword}] = {terms[0]}"]
    for term in terms[1:]:
        lines[-1] += " |"
        lines.append(f"\t{term}")
    lines[-1] += ";"
    return lines


def _pack(packet):
    name = packet.name.lower()
    upper = packet.name
    lines = [f"static inline void tsr_pack_{name}(uint64_t *p, const struct tsr_{name} *v)", "{"]
    header = f"(TSR_OP_{upper} | (uint64_t)TSR_{upper}_QWORDS << 8)" if hasattr(packet, "opcode") else None
    if _variable(packet):
        lines += [f"\tuint32_t qwords = v->qwords ? v->qwords : TSR_{upper}_QWORDS;", "\tuint32_t i;", "",
                  f"\tTSR_PACK_ASSERT(qwords >= TSR_{upper}_QWORDS && qwords <= TSR_{upper}_MAX_QWORDS);"]
        header = f"(TSR_OP_{upper} | (uint64_t)(qwords & 0xff) << 8)"
    asserts = [f"\tTSR_PACK_ASSERT({limit});" for limit in map(_limit, packet.fields) if limit]
    lines += asserts
    if not packet.fields and not _variable(packet):
        lines.append("\t(void)v;")
    for qword in range(packet.qwords):
        lines += ["\t" + line for line in _word(packet, qword, header)]
    if _variable(packet):
        lines += [f"\tfor (i = TSR_{upper}_QWORDS; i < qwords; i++)", "\t\tp[i] = 0;"]
        for qword in sorted({field.qword for field in packet.fields if field.qword >= packet.qwords}):
            lines.append(f"\tif (qwords > {qword}) {{")
            lines += ["\t\t" + line for line in _word(packet, qword, header)] + ["\t}"]
    return lines + ["}", ""]


def _extracted(field):
    """The member's value from its qword, an expression."""
    word = f"p[{field.qword}]"
    mask = ctext.unsigned((1 << field.width) - 1, 64)
    shifted = f"{word} >> {field.lo}" if field.lo else word
    if field.in_place:
        return word if field.width == 64 else f"{word} & {ctext.unsigned(field.mask, 64)}"
    if field.type == "bool":
        return f"({shifted}) & 1" if field.lo else f"{word} & 1"
    if field.type == "int":
        up = 63 - field.hi
        low = f"(int64_t)({word} << {up})" if up else f"(int64_t){word}"
        return f"({_type(field)})({low} >> {64 - field.width})"
    if field.width == 64:
        return word
    whole = f"({shifted})" if field.lo else word
    return f"({_type(field)})({whole} & {mask})"


def _unpack(packet):
    name = packet.name.lower()
    lines = [f"static inline void tsr_unpack_{name}(const uint64_t *p, struct tsr_{name} *v)", "{"]
    if _variable(packet):
        lines.append("\tv->qwords = tsr_packet_qwords(p[0]);")
    if not packet.fields and not _variable(packet):
        lines += ["\t(void)p;", "\tv->none = 0;"]
    for field in packet.fields:
        value = _extracted(field)
        if field.qword >= packet.qwords:
            zero = "false" if field.type == "bool" else "0"
            value = f"v->qwords > {field.qword} ? {value} : {zero}"
            if field.type == "bool":
                value = f"v->qwords > {field.qword} && ({_extracted(field)})"
        lines.append(f"\tv->{_member(field)} = {value};")
    return lines + ["}", ""]


def emit(description, symbols):
    """The text of tsr_packets.h."""
    body = ctext.comment(NOTES) + [""] + PRELUDE
    body.append("/* Opcodes. */")
    for packet in description.packets:
        body.append(ctext.define(symbols.claim(f"TSR_OP_{packet.name}", packet), f"{packet.opcode:#04x}"))
    body.append("")
    for packet in description.packets:
        body += [ctext.define(symbols.claim(f"TSR_{packet.name}_QWORDS", packet), str(packet.qwords))]
        if packet.variable:
            body.append(ctext.define(symbols.claim(f"TSR_{packet.name}_MAX_QWORDS", packet),
                                     str(packet.max_qwords)))
        body += [""] + _struct(packet) + _pack(packet) + _unpack(packet)
    for struct in description.structs:
        body += _struct(struct) + _pack(struct) + _unpack(struct)
    return ctext.guard("TSR_PACKETS_H", description, TITLE, body)
