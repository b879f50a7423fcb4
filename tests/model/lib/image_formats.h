/* SPDX-License-Identifier: MIT */
/* Every pixel format, written from the numbers of Mali v7: its fields, lowest bits first. */
#ifndef TSR_IMAGE_FORMATS_H
#define TSR_IMAGE_FORMATS_H

#include <stdlib.h>
#include <string.h>

/*
 * A format: kind n unsigned and s signed normalized, u and i integers, f floats, h floats without
 * sign, e shared exponent, x 16.16. Fields: a component's letter, or - for bits of nobody, and its
 * size.
 */
static const struct format {
	unsigned int number;
	char kind;
	const char *fields;
} formats[] = {
	{ 5, 'n', "r4a4" }, { 6, 'n', "a4r4" }, { 24, 'n', "r8a8" }, { 25, 'n', "a8r8" },
	{ 26, 'n', "a8" }, { 64, 'n', "r5g6b5" }, { 65, 'n', "r5g5b5a1" },
	{ 66, 'n', "a1b5g5r5" }, { 67, 'n', "r10g10b10a2" }, { 68, 'n', "a2b10g10r10" },
	{ 69, 's', "r10g10b10a2" }, { 70, 's', "a2b10g10r10" }, { 71, 'u', "r10g10b10a2" },
	{ 72, 'u', "a2b10g10r10" }, { 73, 'i', "r10g10b10a2" }, { 74, 'i', "a2b10g10r10" },
	{ 75, 'n', "r16" }, { 76, 'n', "r32" }, { 77, 'n', "r24-8" }, { 78, 'n', "-8r24" },
	{ 79, 'u', "-32g8-24" }, { 80, 'u', "-24g8-32" }, { 81, 'x', "r32" },
	{ 82, 'x', "r32g32" }, { 83, 'x', "r32g32b32" }, { 84, 'x', "r32g32b32a32" },
	{ 85, 'u', "-24g8" }, { 86, 'u', "g8-24" }, { 87, 'f', "r32-32" }, { 88, 'f', "-32r32" },
	{ 89, 'h', "r11g11b10" }, { 90, 'h', "b10g11r11" }, { 91, 'e', "r9g9b9a5" },
	{ 92, 'e', "a5b9g9r9" }, { 93, 'u', "g8" },
	{ 99, 's', "r8" }, { 100, 's', "r16" }, { 101, 's', "r32" }, { 106, 's', "r4g4" },
	{ 107, 's', "r8g8" }, { 108, 's', "r16g16" }, { 109, 's', "r32g32" },
	{ 115, 's', "r8g8b8" }, { 116, 's', "r16g16b16" }, { 117, 's', "r32g32b32" },
	{ 121, 's', "r2g2b2a2" }, { 122, 's', "r4g4b4a4" }, { 123, 's', "r8g8b8a8" },
	{ 124, 's', "r16g16b16a16" }, { 125, 's', "r32g32b32a32" },
	{ 131, 'u', "r8" }, { 132, 'u', "r16" }, { 133, 'u', "r32" }, { 138, 'u', "r4g4" },
	{ 139, 'u', "r8g8" }, { 140, 'u', "r16g16" }, { 141, 'u', "r32g32" },
	{ 147, 'u', "r8g8b8" }, { 148, 'u', "r16g16b16" }, { 149, 'u', "r32g32b32" },
	{ 153, 'u', "r2g2b2a2" }, { 154, 'u', "r4g4b4a4" }, { 155, 'u', "r8g8b8a8" },
	{ 156, 'u', "r16g16b16a16" }, { 157, 'u', "r32g32b32a32" },
	{ 163, 'n', "r8" }, { 164, 'n', "r16" }, { 165, 'n', "r32" }, { 167, 'f', "r32" },
	{ 170, 'n', "r4g4" }, { 171, 'n', "r8g8" }, { 172, 'n', "r16g16" },
	{ 173, 'n', "r32g32" }, { 175, 'f', "r32g32" }, { 179, 'n', "r8g8b8" },
	{ 180, 'n', "r16g16b16" }, { 181, 'n', "r32g32b32" }, { 183, 'f', "r32g32b32" },
	{ 185, 'n', "r2g2b2a2" }, { 186, 'n', "r4g4b4a4" }, { 187, 'n', "r8g8b8a8" },
	{ 188, 'n', "r16g16b16a16" }, { 189, 'n', "r32g32b32a32" }, { 191, 'f', "r32g32b32a32" },
	{ 195, 'i', "r8" }, { 196, 'i', "r16" }, { 197, 'i', "r32" }, { 199, 'f', "r16" },
	{ 202, 'i', "r4g4" }, { 203, 'i', "r8g8" }, { 204, 'i', "r16g16" },
	{ 205, 'i', "r32g32" }, { 207, 'f', "r16g16" }, { 211, 'i', "r8g8b8" },
	{ 212, 'i', "r16g16b16" }, { 213, 'i', "r32g32b32" }, { 215, 'f', "r16g16b16" },
	{ 217, 'i', "r2g2b2a2" }, { 218, 'i', "r4g4b4a4" }, { 219, 'i', "r8g8b8a8" },
	{ 220, 'i', "r16g16b16a16" }, { 221, 'i', "r32g32b32a32" }, { 223, 'f', "r16g16b16a16" },
	{ 231, 'f', "r32" }, { 239, 'f', "r32g32" }, { 247, 'f', "r32g32b32" },
	{ 255, 'f', "r32g32b32a32" },
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* A format's fields as numbers. */
struct layout {
	unsigned int bytes;
	unsigned int lo[4], bits[4];	/* of r, g, b, a; 0 bits: not there */
};

static struct layout parse(const struct format *f)
{
	struct layout l = { 0 };
	unsigned int at = 0;

	for (const char *p = f->fields; *p; ) {
		const char *where = strchr("rgba", *p++);
		unsigned int n = strtoul(p, (char **)&p, 10);

		if (where) {
			l.lo[where - "rgba"] = at;
			l.bits[where - "rgba"] = n;
		}
		at += n;
	}
	l.bytes = at / 8;
	return l;
}

/* Alignment: that of components that make up the texel and are 8, 16 or 32 bits; else a load's. */
static unsigned int alignment(const struct format *f)
{
	const unsigned int bytes = parse(f).bytes, load = bytes % 4 == 0 ? 4 : bytes % 2 ? 1 : 2;
	const unsigned int first = strtoul(f->fields + 1, NULL, 10);

	if (first != 8 && first != 16 && first != 32)
		return load;
	for (const char *p = f->fields; *p;) {
		p++;
		if (strtoul(p, (char **)&p, 10) != first)
			return load;
	}
	return first / 8;
}

#endif
