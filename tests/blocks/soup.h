/* SPDX-License-Identifier: MIT */
/*
 * Compressed blocks to try decoders on: a long row of them for each format, the same everywhere.
 * Most are made so that each mode of the format turns up often, also those that are errors.
 */
#ifndef TESTS_BLOCKS_SOUP_H
#define TESTS_BLOCKS_SOUP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SOUP_BLOCKS 4096		/* of a format that are looked at */
#define SOUP_GROUP 128			/* of them have a digest together */

enum soup_kind { SOUP_ANY, SOUP_SIGNED, SOUP_ETC, SOUP_EAC, SOUP_BC6H, SOUP_BC7, SOUP_ASTC };

/* What a texel is decoded to. */
enum soup_texel { SOUP_BYTES, SOUP_FLOATS };

struct soup_format {
	const char *name;
	uint8_t number;			/* enum tsr_pixel_format */
	uint8_t bytes;			/* of a block */
	uint8_t w, h;
	enum soup_kind kind;
	enum soup_texel texel;
	bool srgb;			/* of ASTC, where it changes more than the curve */
};

#define SOUP_ASTC_SIZE(w, h) \
	{ "astc_" #w "x" #h, 22, 16, w, h, SOUP_ASTC, SOUP_FLOATS, false }, \
	{ "astc_" #w "x" #h "_narrow", 62, 16, w, h, SOUP_ASTC, SOUP_BYTES, false }, \
	{ "astc_" #w "x" #h "_srgb", 22, 16, w, h, SOUP_ASTC, SOUP_BYTES, true }

static const struct soup_format soup_formats[] = {
	{ "bc1", 7, 8, 4, 4, SOUP_ANY, SOUP_BYTES, false },
	{ "bc2", 8, 16, 4, 4, SOUP_ANY, SOUP_BYTES, false },
	{ "bc3", 9, 16, 4, 4, SOUP_ANY, SOUP_BYTES, false },
	{ "bc4", 10, 8, 4, 4, SOUP_ANY, SOUP_FLOATS, false },
	{ "bc4_signed", 11, 8, 4, 4, SOUP_SIGNED, SOUP_FLOATS, false },
	{ "bc5", 12, 16, 4, 4, SOUP_ANY, SOUP_FLOATS, false },
	{ "bc5_signed", 13, 16, 4, 4, SOUP_SIGNED, SOUP_FLOATS, false },
	{ "bc6h", 14, 16, 4, 4, SOUP_BC6H, SOUP_FLOATS, false },
	{ "bc6h_signed", 15, 16, 4, 4, SOUP_BC6H, SOUP_FLOATS, false },
	{ "bc7", 16, 16, 4, 4, SOUP_BC7, SOUP_BYTES, false },
	{ "etc2_rgb8", 1, 8, 4, 4, SOUP_ETC, SOUP_BYTES, false },
	{ "etc2_rgb8a1", 19, 8, 4, 4, SOUP_ETC, SOUP_BYTES, false },
	{ "etc2_rgba8", 3, 16, 4, 4, SOUP_EAC, SOUP_BYTES, false },
	{ "eac_r11", 2, 8, 4, 4, SOUP_EAC, SOUP_FLOATS, false },
	{ "eac_r11_signed", 17, 8, 4, 4, SOUP_EAC, SOUP_FLOATS, false },
	{ "eac_rg11", 4, 16, 4, 4, SOUP_EAC, SOUP_FLOATS, false },
	{ "eac_rg11_signed", 18, 16, 4, 4, SOUP_EAC, SOUP_FLOATS, false },
};

#define SOUP_FORMATS (sizeof(soup_formats) / sizeof(soup_formats[0]))

/* ---- Random bits ----------------------------------------------------------------------------- */

static uint64_t soup_state;

static inline uint32_t soup_random(void)
{
	soup_state = soup_state * 6364136223846793005u + 1442695040888963407u;
	return soup_state >> 32;
}

static inline void soup_fill_half(uint8_t block[8])
{
	for (unsigned int i = 0; i < 8; i++)
		block[i] = (uint8_t)soup_random();
}

/* The first component whose difference leads out of its range; 3: none does. */
static inline unsigned int soup_etc_overflow(const uint8_t *block)
{
	for (unsigned int c = 0; c < 3; c++) {
		int sum = (block[c] >> 3) + (block[c] & 3) - (block[c] & 4);

		if (sum < 0 || sum > 31)
			return c;
	}
	return 3;
}

/* Half a block of ETC2: every fourth one of each mode that overflows choose. */
static inline void soup_etc(unsigned int n, uint8_t *block)
{
	while (n % 4 != soup_etc_overflow(block))
		soup_fill_half(block);
	if (n % 4 != 3 && n / 4 % 4)
		block[3] |= 2;
}

/* Half a block of EAC: the ends of the scale, and a multiplier of 0. */
static inline void soup_eac(unsigned int n, uint8_t *block)
{
	static const uint8_t bases[] = { 0, 0x7f, 0x80, 0x81, 0xff };

	if (n % 8 == 1)
		block[0] = bases[n / 8 % 5];
	if (n % 8 == 2)
		block[1] &= 0x0f;
}

/* Every mode, those that are reserved too, and all partitions, one after the other. */
static inline void soup_bptc(const struct soup_format *format, unsigned int n, uint8_t block[16])
{
	unsigned int mode = n % 9, partition = n / 9 % 64;

	if (format->kind == SOUP_BC6H) {
		block[0] = (uint8_t)((block[0] & ~31u) | n % 32);
		/* in the modes that have them they are bits 77 to 81 */
		if (n % 4 != 3)
			block[9] = (uint8_t)((block[9] & 31) | n / 32 << 5);
		if (n % 4 != 3)
			block[10] = (uint8_t)((block[10] & ~3u) | (n / 32 >> 3 & 3));
		/* the ends of the scale */
		if (n / 32 % 8 == 1)
			memset(block + 1 + n / 256 % 3, n / 512 % 2 ? 0xff : 0, 2);
		return;
	}
	block[0] = (uint8_t)(mode == 8 ? 0 : ((block[0] & ~1u) | 1) << mode);
	if (mode == 1 || mode == 3 || mode == 7 || mode == 2 || mode == 0) {
		uint32_t head = (uint32_t)block[0] | (uint32_t)block[1] << 8;

		head &= ~(63u << (mode + 1));
		head |= partition << (mode + 1);
		block[0] = (uint8_t)head;
		block[1] = (uint8_t)(head >> 8);
	}
}

/* Block number @n of @format. */
static inline void soup_block(const struct soup_format *format, unsigned int n, uint8_t block[16])
{
	soup_state = (uint64_t)format->number << 40 | (uint64_t)format->w << 36 |
		     (uint64_t)format->h << 32 | n;
	soup_random();
	soup_fill_half(block);
	soup_fill_half(block + 8);
	for (unsigned int half = 0; half < 16; half += 8) {
		/* equal endpoints; -128, which is as good as -127 */
		if (format->kind == SOUP_ANY && n % 16 == 1)
			memcpy(block + half + 2, block + half, 2);
		if ((format->kind == SOUP_ANY || format->kind == SOUP_SIGNED) && n % 16 == 2)
			block[half + 1] = block[half];
		if (format->kind == SOUP_SIGNED && n % 8 == 3)
			block[half + n / 8 % 2] = 0x80 + n / 16 % 2;
		if (format->kind == SOUP_EAC)
			soup_eac(n + half, block + half);
	}
	if (format->kind == SOUP_BC6H || format->kind == SOUP_BC7)
		soup_bptc(format, n, block);
	if (format->kind == SOUP_ETC)
		soup_etc(n, block);
	if (format->number == 3)
		soup_etc(n, block + 8);
}

/* FNV-1a. */
#define SOUP_DIGEST 0xcbf29ce484222325u

static inline uint64_t soup_digest(uint64_t digest, const void *bytes, unsigned int n)
{
	const uint8_t *p = bytes;

	for (unsigned int i = 0; i < n; i++)
		digest = (digest ^ p[i]) * 0x100000001b3u;
	return digest;
}

#endif
