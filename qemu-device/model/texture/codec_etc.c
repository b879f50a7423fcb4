/* SPDX-License-Identifier: MIT */
/*
 * ETC2 and EAC. Words are big-endian; texels are numbered down the columns.
 */
#include "codec.h"

static uint64_t big_endian(const uint8_t *block)
{
	return __builtin_bswap64(tsr_block_word(block));
}

/* @bits bits of @word, from bit @low on. */
static unsigned int field(uint64_t word, unsigned int low, unsigned int bits)
{
	return (unsigned int)(word >> low) & ((1u << bits) - 1);
}

static int clamp(int x, int low, int high)
{
	return x < low ? low : x > high ? high : x;
}

/* ---- Color ----------------------------------------------------------------------------------- */

/* Modifiers of indices 0 and 1; those of 2 and 3 are the same below zero. */
static const uint8_t modifiers[8][2] = {
	{ 2, 8 }, { 5, 17 }, { 9, 29 }, { 13, 42 },
	{ 18, 60 }, { 24, 80 }, { 33, 106 }, { 47, 183 },
};

static const uint8_t distances[8] = { 3, 6, 11, 16, 23, 32, 41, 64 };

/* A color with @add added to all its components. */
static void shade(const uint8_t base[3], int add, uint8_t to[4])
{
	for (unsigned int c = 0; c < 3; c++)
		to[c] = (uint8_t)clamp(base[c] + add, 0, 255);
	to[3] = 255;
}

/* Four bits three times in 8 bits each. */
static void expand_444(unsigned int r, unsigned int g, unsigned int b, uint8_t to[3])
{
	to[0] = (uint8_t)(r * 17);
	to[1] = (uint8_t)(g * 17);
	to[2] = (uint8_t)(b * 17);
}

/* Index of texel @i, which is number 4 * column + row. */
static unsigned int index_of(uint64_t word, unsigned int i)
{
	return field(word, 16 + i, 1) << 1 | field(word, i, 1);
}

/* All texels from one palette. @holes: index 2 is transparent. */
static void paint(uint64_t word, uint8_t palette[4][4], bool holes, uint8_t to[16][4])
{
	if (holes)
		memset(palette[2], 0, 4);
	for (unsigned int i = 0; i < 16; i++)
		memcpy(to[i % 4 * 4 + i / 4], palette[index_of(word, i)], 4);
}

static void decode_t(uint64_t word, bool holes, uint8_t to[16][4])
{
	int distance = distances[field(word, 34, 2) << 1 | field(word, 32, 1)];
	uint8_t base[2][3], palette[4][4];

	expand_444(field(word, 59, 2) << 2 | field(word, 56, 2), field(word, 52, 4),
		   field(word, 48, 4), base[0]);
	expand_444(field(word, 44, 4), field(word, 40, 4), field(word, 36, 4), base[1]);
	shade(base[0], 0, palette[0]);
	shade(base[1], distance, palette[1]);
	shade(base[1], 0, palette[2]);
	shade(base[1], -distance, palette[3]);
	paint(word, palette, holes, to);
}

static void decode_h(uint64_t word, bool holes, uint8_t to[16][4])
{
	uint8_t base[2][3], palette[4][4];
	int distance;

	expand_444(field(word, 59, 4), field(word, 56, 3) << 1 | field(word, 52, 1),
		   field(word, 51, 1) << 3 | field(word, 47, 3), base[0]);
	expand_444(field(word, 43, 4), field(word, 39, 4), field(word, 35, 4), base[1]);
	/* the order of the two colors is one more bit */
	distance = distances[field(word, 34, 1) << 2 | field(word, 32, 1) << 1 |
			     (memcmp(base[0], base[1], 3) >= 0)];
	shade(base[0], distance, palette[0]);
	shade(base[0], -distance, palette[1]);
	shade(base[1], distance, palette[2]);
	shade(base[1], -distance, palette[3]);
	paint(word, palette, holes, to);
}

static int expand_6(unsigned int x)
{
	return (int)(x << 2 | x >> 4);
}

static int expand_7(unsigned int x)
{
	return (int)(x << 1 | x >> 6);
}

/* Colors at the corner and at the ends of the first row and column, and a plane between them. */
static void decode_planar(uint64_t word, uint8_t to[16][4])
{
	const int corner[3] = {
		expand_6(field(word, 57, 6)),
		expand_7(field(word, 56, 1) << 6 | field(word, 49, 6)),
		expand_6(field(word, 48, 1) << 5 | field(word, 43, 2) << 3 | field(word, 39, 3)),
	};
	const int right[3] = {
		expand_6(field(word, 34, 5) << 1 | field(word, 32, 1)),
		expand_7(field(word, 25, 7)), expand_6(field(word, 19, 6)),
	};
	const int below[3] = {
		expand_6(field(word, 13, 6)), expand_7(field(word, 6, 7)),
		expand_6(field(word, 0, 6)),
	};

	for (int i = 0; i < 16; i++) {
		for (unsigned int c = 0; c < 3; c++) {
			int sum = i % 4 * (right[c] - corner[c]) + i / 4 * (below[c] - corner[c]) +
				  4 * corner[c] + 2;

			to[i][c] = (uint8_t)clamp(sum >> 2, 0, 255);
		}
		to[i][3] = 255;
	}
}

/* Two halves with a color and modifiers each. */
static void decode_halves(uint64_t word, uint8_t base[2][3], bool holes, uint8_t to[16][4])
{
	bool flip = field(word, 32, 1);
	uint8_t palette[2][4][4];

	for (unsigned int half = 0; half < 2; half++) {
		const uint8_t *m = modifiers[field(word, half ? 34 : 37, 3)];

		shade(base[half], holes ? 0 : m[0], palette[half][0]);
		shade(base[half], m[1], palette[half][1]);
		shade(base[half], -m[0], palette[half][2]);
		shade(base[half], -m[1], palette[half][3]);
		if (holes)
			memset(palette[half][2], 0, 4);
	}
	for (unsigned int i = 0; i < 16; i++) {
		unsigned int half = flip ? i % 4 / 2 : i / 8;

		memcpy(to[i % 4 * 4 + i / 4], palette[half][index_of(word, i)], 4);
	}
}

/* A color block. @punch: bit 33 says that it is opaque, not that it has differences. */
static void decode_color(const uint8_t *block, bool punch, uint8_t to[16][4])
{
	uint64_t word = big_endian(block);
	bool bit = field(word, 33, 1), holes = punch && !bit;
	uint8_t base[2][3];

	if (!punch && !bit) {
		expand_444(field(word, 60, 4), field(word, 52, 4), field(word, 44, 4), base[0]);
		expand_444(field(word, 56, 4), field(word, 48, 4), field(word, 40, 4), base[1]);
		decode_halves(word, base, holes, to);
		return;
	}
	for (unsigned int c = 0; c < 3; c++) {
		int first = (int)field(word, 59 - 8 * c, 5);
		int second = first + (int)(field(word, 56 - 8 * c, 3) ^ 4) - 4;

		/* a difference that leads nowhere chooses another mode */
		if (second < 0 || second > 31) {
			if (c == 0)
				decode_t(word, holes, to);
			else if (c == 1)
				decode_h(word, holes, to);
			else
				decode_planar(word, to);
			return;
		}
		base[0][c] = (uint8_t)(first << 3 | first >> 2);
		base[1][c] = (uint8_t)(second << 3 | second >> 2);
	}
	decode_halves(word, base, holes, to);
}

/* ---- One component --------------------------------------------------------------------------- */

/* Modifiers of indices 0 to 3. Those of 4 to 7 are -1 minus these. */
static const int8_t component_modifiers[16][4] = {
	{ -3, -6, -9, -15 }, { -3, -7, -10, -13 }, { -2, -5, -8, -13 }, { -2, -4, -6, -13 },
	{ -3, -6, -8, -12 }, { -3, -7, -9, -11 }, { -4, -7, -8, -11 }, { -3, -5, -8, -11 },
	{ -2, -6, -8, -10 }, { -2, -5, -8, -10 }, { -2, -4, -8, -10 }, { -2, -5, -7, -10 },
	{ -3, -4, -7, -10 }, { -1, -2, -3, -10 }, { -4, -6, -8, -9 }, { -3, -5, -7, -9 },
};

/* The eight modifiers of a block. */
static void find_modifiers(uint64_t word, int modifier[8])
{
	const int8_t *m = component_modifiers[field(word, 48, 4)];

	for (unsigned int i = 0; i < 4; i++) {
		modifier[i] = m[i];
		modifier[4 + i] = -1 - m[i];
	}
}

/* The index of a texel, by its number in rows. */
static unsigned int component_index(uint64_t word, unsigned int i)
{
	return field(word, 45 - 3 * (i % 4 * 4 + i / 4), 3);
}

static void decode_alpha(const uint8_t *block, uint8_t to[16][4])
{
	uint64_t word = big_endian(block);
	int modifier[8];

	find_modifiers(word, modifier);
	for (unsigned int i = 0; i < 16; i++)
		to[i][3] = (uint8_t)clamp(block[0] + modifier[component_index(word, i)] *
					  (int)field(word, 52, 4), 0, 255);
}

/* Component @c of all texels, 11-bit. */
static void decode_component(const uint8_t *block, bool is_signed, unsigned int c,
			     float to[16][4])
{
	uint64_t word = big_endian(block);
	int factor = (int)field(word, 52, 4) * 8;
	int base = is_signed ? clamp((int8_t)block[0], -127, 127) * 8 : block[0] * 8 + 4;
	int low = is_signed ? -1023 : 0, high = is_signed ? 1023 : 2047;
	float number[8];
	int modifier[8];

	find_modifiers(word, modifier);
	for (unsigned int i = 0; i < 8; i++)
		number[i] = (float)clamp(base + modifier[i] * (factor ? factor : 1), low, high) /
			    (float)high;
	for (unsigned int i = 0; i < 16; i++)
		to[i][c] = number[component_index(word, i)];
}

/* ---- Formats --------------------------------------------------------------------------------- */

void tsr_block_etc2_rgb8(const uint8_t *block, union tsr_block_texels *to)
{
	decode_color(block, false, to->byte);
}

void tsr_block_etc2_rgb8a1(const uint8_t *block, union tsr_block_texels *to)
{
	decode_color(block, true, to->byte);
}

void tsr_block_etc2_rgba8(const uint8_t *block, union tsr_block_texels *to)
{
	decode_color(block + 8, false, to->byte);
	decode_alpha(block, to->byte);
}

void tsr_block_eac_r11(const uint8_t *block, union tsr_block_texels *to)
{
	tsr_block_clear(to);
	decode_component(block, false, 0, to->number);
}

void tsr_block_eac_r11_signed(const uint8_t *block, union tsr_block_texels *to)
{
	tsr_block_clear(to);
	decode_component(block, true, 0, to->number);
}

void tsr_block_eac_rg11(const uint8_t *block, union tsr_block_texels *to)
{
	tsr_block_clear(to);
	decode_component(block, false, 0, to->number);
	decode_component(block + 8, false, 1, to->number);
}

void tsr_block_eac_rg11_signed(const uint8_t *block, union tsr_block_texels *to)
{
	tsr_block_clear(to);
	decode_component(block, true, 0, to->number);
	decode_component(block + 8, true, 1, to->number);
}
