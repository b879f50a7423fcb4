/* SPDX-License-Identifier: MIT */
/*
 * BC1 to BC5: endpoints and an index for each texel. Words are little-endian, texel 0 has the
 * lowest bits of its indices.
 */
#include "codec.h"

/* ---- Color: BC1, and the second half of BC2 and BC3 ------------------------------------------ */

/* A color of 5, 6 and 5 bits in 8 bits each, opaque. */
static void expand_565(uint32_t packed, uint8_t color[4])
{
	uint32_t r = packed >> 11, g = packed >> 5 & 63, b = packed & 31;

	color[0] = (uint8_t)(r << 3 | r >> 2);
	color[1] = (uint8_t)(g << 2 | g >> 4);
	color[2] = (uint8_t)(b << 3 | b >> 2);
	color[3] = 255;
}

/* Four colors; @punch: if the first one is not the larger, three and one that is transparent. */
static void color_palette(uint64_t word, bool punch, uint8_t color[4][4])
{
	uint32_t c0 = word & 0xffff, c1 = word >> 16 & 0xffff;
	bool three = punch && c0 <= c1;

	expand_565(c0, color[0]);
	expand_565(c1, color[1]);
	for (unsigned int c = 0; c < 3; c++) {
		unsigned int a = color[0][c], b = color[1][c];

		color[2][c] = (uint8_t)(three ? (a + b) / 2 : (2 * a + b) / 3);
		color[3][c] = (uint8_t)(three ? 0 : (a + 2 * b) / 3);
	}
	color[2][3] = 255;
	color[3][3] = three ? 0 : 255;
}

static void decode_color(const uint8_t *block, bool punch, uint8_t to[16][4])
{
	uint64_t word = tsr_block_word(block);
	uint8_t color[4][4];

	color_palette(word, punch, color);
	for (unsigned int i = 0; i < 16; i++)
		memcpy(to[i], color[word >> (32 + 2 * i) & 3], 4);
}

void tsr_block_bc1(const uint8_t *block, union tsr_block_texels *to)
{
	decode_color(block, true, to->byte);
}

void tsr_block_bc2(const uint8_t *block, union tsr_block_texels *to)
{
	uint64_t alpha = tsr_block_word(block);

	decode_color(block + 8, false, to->byte);
	for (unsigned int i = 0; i < 16; i++)
		to->byte[i][3] = (uint8_t)((alpha >> 4 * i & 15) * 17);
}

/* ---- One component: alpha of BC3, BC4, BC5 --------------------------------------------------- */

/*
 * The eight values of endpoints @a and @b, 7 times each, or 5 times if @a is not the larger one
 * (@five): then the last two are the ends of the scale, @low and @high.
 */
static void scale_palette(int a, int b, bool five, int low, int high, int value[8])
{
	int steps = five ? 5 : 7;

	value[0] = a * steps;
	value[1] = b * steps;
	for (int i = 1; i < steps; i++)
		value[1 + i] = (steps - i) * a + i * b;
	if (five) {
		value[6] = low * steps;
		value[7] = high * steps;
	}
}

void tsr_block_bc3(const uint8_t *block, union tsr_block_texels *to)
{
	uint64_t word = tsr_block_word(block);
	bool five = block[0] <= block[1];
	int value[8];

	scale_palette(block[0], block[1], five, 0, 255, value);
	for (unsigned int i = 0; i < 8; i++)
		value[i] /= five ? 5 : 7;
	decode_color(block + 8, false, to->byte);
	for (unsigned int i = 0; i < 16; i++)
		to->byte[i][3] = (uint8_t)value[word >> (16 + 3 * i) & 7];
}

/* Component @c of all texels. The values are exact quotients, rounded once. */
static void decode_component(const uint8_t *block, bool is_signed, unsigned int c,
			     float to[16][4])
{
	uint64_t word = tsr_block_word(block);
	int a = is_signed ? (int8_t)block[0] : block[0];
	int b = is_signed ? (int8_t)block[1] : block[1];
	int one = is_signed ? 127 : 255;
	bool five = a <= b;
	float number[8];
	int value[8];

	/* there are two ways to write -1 */
	a = a < -one ? -one : a;
	b = b < -one ? -one : b;
	scale_palette(a, b, five, is_signed ? -one : 0, one, value);
	for (unsigned int i = 0; i < 8; i++)
		number[i] = (float)value[i] / (float)(one * (five ? 5 : 7));
	for (unsigned int i = 0; i < 16; i++)
		to[i][c] = number[word >> (16 + 3 * i) & 7];
}

void tsr_block_bc4(const uint8_t *block, union tsr_block_texels *to)
{
	tsr_block_clear(to);
	decode_component(block, false, 0, to->number);
}

void tsr_block_bc4_signed(const uint8_t *block, union tsr_block_texels *to)
{
	tsr_block_clear(to);
	decode_component(block, true, 0, to->number);
}

void tsr_block_bc5(const uint8_t *block, union tsr_block_texels *to)
{
	tsr_block_clear(to);
	decode_component(block, false, 0, to->number);
	decode_component(block + 8, false, 1, to->number);
}

void tsr_block_bc5_signed(const uint8_t *block, union tsr_block_texels *to)
{
	tsr_block_clear(to);
	decode_component(block, true, 0, to->number);
	decode_component(block + 8, true, 1, to->number);
}
