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
};

#define SOUP_FORMATS (sizeof(soup_formats) / sizeof(soup_formats[0]))

/* ---- Random bits ----------------------------------------------------------------------------- */

static uint64_t soup_state;

static inline uint32_t soup_random(void)
{
	soup_state = soup_state * 6364136223846793005u + 1442695040888963407u;
	return soup_state >> 32;
}

static inline void soup_fill(uint8_t block[16])
{
	for (unsigned int i = 0; i < 16; i++)
		block[i] = (uint8_t)soup_random();
}

/* Block number @n of @format. */
static inline void soup_block(const struct soup_format *format, unsigned int n, uint8_t block[16])
{
	soup_state = (uint64_t)format->number << 40 | (uint64_t)format->w << 36 |
		     (uint64_t)format->h << 32 | n;
	soup_random();
	soup_fill(block);
	for (unsigned int half = 0; half < 16; half += 8) {
		/* equal endpoints; -128, which is as good as -127 */
		if (format->kind == SOUP_ANY && n % 16 == 1)
			memcpy(block + half + 2, block + half, 2);
		if ((format->kind == SOUP_ANY || format->kind == SOUP_SIGNED) && n % 16 == 2)
			block[half + 1] = block[half];
		if (format->kind == SOUP_SIGNED && n % 8 == 3)
			block[half + n / 8 % 2] = 0x80 + n / 16 % 2;
	}
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
