# SPDX-License-Identifier: MIT
"""C programs that the generator's tests compile against what was generated, and the cases they run."""

import random

KERNEL_TYPES = """\
#ifndef LINUX_TYPES_H
#define LINUX_TYPES_H
#define NULL ((void *)0)
typedef _Bool bool;
#define true 1
#define false 0
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed int int32_t;
typedef signed long long int64_t;
#endif
"""

HEAD = """\
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tsr_regs.h"
#include "tsr_packets.h"
#include "tsr_desc.h"

"""

DESC_PACKETS = HEAD + """\
int main(void)
{
	for (unsigned int op = 0; op < 256; op++) {
		const struct tsr_desc_packet *p = tsr_desc_packets[op];

		if (!p)
			continue;
		printf("%s %u %u %u %" PRIx64, p->name, p->opcode, p->min_qwords, p->max_qwords, p->ring_only);
		for (unsigned int q = 0; q < p->max_qwords; q++)
			printf(" %" PRIx64, tsr_desc_mbz(p, q));
		printf("\\n");
		for (unsigned int f = 0; f < p->num_fields; f++)
			printf("%s.%s %u %u %u\\n", p->name, p->fields[f].name, p->fields[f].qword, p->fields[f].lo,
			       p->fields[f].hi);
	}
	return 0;
}
"""

REGISTER_LOOKUP = HEAD + """\
int main(void)
{
	for (uint32_t offset = 0; offset < %d; offset += 4) {
		uint32_t instance, index;
		bool upper;
		const struct tsr_desc_reg *reg = tsr_desc_reg_at(offset, &instance, &index, &upper);

		if (reg)
			printf("%%s.%%s %%u %%u %%d\\n", reg->block->name, reg->name, instance, index, upper);
		else
			printf("-\\n");
	}
	return 0;
}
"""

TOO_LARGE = HEAD + """\
int main(void)
{
	uint64_t p[4];
	struct tsr_mixed v = { 0 };

	v.%(member)s = %(value)s;
	tsr_pack_mixed(p, &v);
	printf("%%016" PRIx64 " %%016" PRIx64 " %%016" PRIx64 " %%016" PRIx64 "\\n", p[0], p[1], p[2], p[3]);
	return 0;
}
"""

BY_HAND = HEAD + """\
#define ROW(name, number, error, word) { #name, number, #error, #word },
static const struct { const char *name; int number; const char *error, *word; } rows[] = { TSR_MODE__TABLE(ROW) };

int main(void)
{
	uint64_t qwords[2] = { 0x0000000000000ab5, 0xdeadbeef12345678 };
	const struct tsr_desc_enum *mode = tsr_desc_find_enum("MODE");

	printf("%x %x %x\\n", TSR_REG_ONE_WIDE, TSR_REG_ONE_LIST(3), TSR_REG_B_W(5, 2));
	printf("%d %x %d %x\\n", TSR_B__COUNT, TSR_B__STRIDE, TSR_B_W__COUNT, TSR_B_W__STRIDE);
	printf("%llx %llx %d\\n", TSR_ONE_WIDE__RESET, TSR_ONE_WIDE_TOP__MASK, TSR_ONE_WIDE_TOP__SHIFT);
	printf("%x %llx %d\\n", TSR_B_R_F__MASK, TSR_BIG, TSR_MODE_ON);
	printf("%llx %llx\\n", TSR_FLAG_A, TSR_FLAG_Z);
	printf("%llx %d %d\\n", TSR_PAIR_RIGHT__MASK, TSR_PAIR_RIGHT__QWORD, TSR_PAIR__QWORDS);
	printf("%s %d %s %s\\n", rows[1].name, rows[1].number, rows[1].error, rows[1].word);
	printf("%s %d\\n", tsr_desc_value_name(mode, 9), tsr_desc_value_name(mode, 1) == NULL);
	for (int f = 0; f < 2; f++)
		printf("%" PRIx64 "\\n", tsr_desc_field_get(&tsr_desc_structs[0].fields[f], qwords));
	printf("%d %d\\n", TSR_QUEUE_COUNTER_SOME_THINGS, TSR_GLOBAL_COUNTER_ALL_THINGS);
	for (uint32_t c = 0; c < tsr_desc_num_counters; c++)
		printf("%s %s %u %d\\n", tsr_desc_counters[c].name, tsr_desc_counters[c].unit,
		       tsr_desc_counters[c].id, tsr_desc_counters[c].global);
	printf("%x %x %d %d %d\\n", tsr_desc_packets[0x7f]->classes, tsr_desc_packets[0x80]->classes,
	       tsr_desc_packets[0x7f]->level, tsr_desc_packets[0xff]->level, tsr_desc_packets[0x81]->refused);
	printf("%d %d %d\\n", (int)tsr_desc_packets[0x81]->fields[0].min,
	       (int)tsr_desc_packets[0x81]->fields[0].max, tsr_desc_packets[0x80]->fields[0].max == UINT64_MAX);
	printf("%d %d\\n", tsr_desc_packets[0x7f]->batch == TSR_DESC_ENGINE,
	       tsr_desc_find_enum("NOTHING") == NULL);
	return 0;
}
"""

BY_HAND_OUTPUT = [
    "8 28 1590",
    "6 100 3 8",
    "1122334455667788 f000000000000000 60",
    "f0 123456789 9",
    "1 10000000000",
    "ffffffff00000000 1 2",
    "ON 9 EIO nine",
    "ON 1",
    "ab",
    "deadbeef00000000",
    "0 7",
    "some-things things 0 0",
    "all-things things 7 1",
    "9 9 1 2 1",
    "2 6 1",
    "1 1",
]


def pack_cases(reference, rounds):
    """(packet, values, length) for every packet, several times."""
    cases = []
    for packet in reference.packets:
        for _ in range(rounds):
            length = random.randint(packet.least, packet.most)
            cases.append((packet, {field.name: field.random() for field in packet.fields}, length))
    return cases


def literal(value):
    if value < 0:
        return f"(-{-value - 1}LL - 1)"
    return f"{value}ULL" if value > 0x7fffffff else str(value)


def pack_program(cases):
    """Packs each case into poisoned memory and prints the qwords; what lies behind must stay."""
    lines = [HEAD, "static void show(const uint64_t *p, unsigned int n)", "{",
             "\tfor (unsigned int i = 0; i < n; i++)",
             "\t\tprintf(\"%016\" PRIx64 \"%s\", p[i], i + 1 < n ? \" \" : \"\\n\");",
             "\tif (p[n] != 0xa5a5a5a5a5a5a5a5)", "\t\tprintf(\"wrote behind the packet\\n\");", "}", ""]
    for index, (packet, values, length) in enumerate(cases):
        name = packet.name.lower()
        lines += [f"static void case_{index}(void)", "{",
                  f"\tstruct tsr_{name} v = {{ 0 }};", "\tuint64_t p[257];", "",
                  "\tmemset(p, 0xa5, sizeof(p));"]
        lines += [f"\tv.{key.lower()} = {literal(value)};" for key, value in values.items()]
        if packet.most != packet.least:
            lines.append(f"\tv.qwords = {0 if length == packet.least else length};")
        lines += [f"\ttsr_pack_{name}(p, &v);", f"\tshow(p, {length});", "}", ""]
    lines += ["int main(void)", "{"] + [f"\tcase_{index}();" for index in range(len(cases))]
    return "\n".join(lines + ["\treturn 0;", "}", ""])


def unpack_cases(reference, rounds):
    """(packet, qwords) with noise in every bit but opcode and length."""
    cases = []
    for packet in reference.packets:
        for _ in range(rounds if packet.fields else 0):
            qwords = [random.choice((random.getrandbits(64), 0, 2**64 - 1)) for _ in range(packet.most)]
            length = random.randint(packet.least, packet.most)
            qwords[0] = qwords[0] // 65536 * 65536 + packet.opcode + 256 * length
            cases.append((packet, qwords))
    return cases


def unpack_program(cases):
    """Unpacks each case and prints the fields in the order of the description."""
    lines = [HEAD]
    for index, (packet, qwords) in enumerate(cases):
        name = packet.name.lower()
        length = qwords[0] // 256 % 256
        words = ", ".join(f"{qword:#x}ULL" for qword in qwords[:length])
        lines += [f"static void case_{index}(void)", "{", f"\tstatic const uint64_t p[] = {{ {words} }};",
                  f"\tstruct tsr_{name} v;", "", f"\ttsr_unpack_{name}(p, &v);"]
        for field in packet.fields:
            end = "\\n" if field is packet.fields[-1] else " "
            kind = "PRId64" if field.kind == "int" else "PRIu64"
            cast = "int64_t" if field.kind == "int" else "uint64_t"
            lines.append(f"\tprintf(\"%\" {kind} \"{end}\", ({cast})v.{field.name.lower()});")
        lines += ["}", ""]
    lines += ["int main(void)", "{"] + [f"\tcase_{index}();" for index in range(len(cases))]
    return "\n".join(lines + ["\treturn 0;", "}", ""])


def register_program(registers):
    """Prints the offset that each register's macro gives."""
    lines = [HEAD, "int main(void)", "{"]
    for block, name, instance, index, _offset, _width, reg, owner in registers:
        arguments = ([str(instance)] if owner.get("count") else []) + ([str(index)] if reg.get("count") else [])
        call = f"({', '.join(arguments)})" if arguments else ""
        lines.append(f"\tprintf(\"0x%x\\n\", TSR_REG_{block}_{name}{call});")
    return "\n".join(lines + ["\treturn 0;", "}", ""])


def mask_program(reference):
    """A program that prints masks, shifts and enum values, and what it should print."""
    lines, expected = [HEAD, "int main(void)", "{"], []

    def field(prefix, element):
        high, _, low = element.get("bits").partition(":")
        low = int(low or high)
        mask = sum(1 << bit for bit in range(low, int(high) + 1))
        symbol = f"{prefix}_{element.get('name')}"
        lines.append(f"\tprintf(\"{symbol} %llx %d\\n\", (unsigned long long){symbol}__MASK, {symbol}__SHIFT);")
        expected.append(f"{symbol} {mask:x} {low}")

    for block in reference.each("block"):
        for reg in block.iter("reg"):
            for element in reg.iter("field"):
                field(f"TSR_{block.get('name')}_{reg.get('name')}", element)
    for struct in reference.each("struct"):
        for element in struct.iter("field"):
            field(f"TSR_{struct.get('name')}", element)
    for enum, values in reference.enums.items():
        for name, value in values.items():
            lines.append(f"\t{{ enum tsr_{enum.lower()} e = TSR_{enum}_{name}; printf(\"%d\\n\", (int)e); }}")
            expected.append(str(value))
    return "\n".join(lines + ["\treturn 0;", "}", ""]), expected
