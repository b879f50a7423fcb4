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

/* Further ASTC blocks (with floats): every mode, and every partition of 2, 3 and 4 parts. */
#define SOUP_MODES 2048
#define SOUP_SEEDS (3 * 1024)
#define SOUP_LISTED (SOUP_MODES + SOUP_SEEDS)

enum soup_kind { SOUP_ANY, SOUP_SIGNED, SOUP_ETC, SOUP_EAC, SOUP_BC6H, SOUP_BC7, SOUP_ASTC };

/* The type of a decoded texel. */
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
	SOUP_ASTC_SIZE(4, 4), SOUP_ASTC_SIZE(5, 4), SOUP_ASTC_SIZE(5, 5), SOUP_ASTC_SIZE(6, 5),
	SOUP_ASTC_SIZE(6, 6), SOUP_ASTC_SIZE(8, 5), SOUP_ASTC_SIZE(8, 6), SOUP_ASTC_SIZE(8, 8),
	SOUP_ASTC_SIZE(10, 5), SOUP_ASTC_SIZE(10, 6), SOUP_ASTC_SIZE(10, 8), SOUP_ASTC_SIZE(10, 10),
	SOUP_ASTC_SIZE(12, 10), SOUP_ASTC_SIZE(12, 12),
	{ "etc2_rgb8", 1, 8, 4, 4, SOUP_ETC, SOUP_BYTES, false },
	{ "etc2_rgb8a1", 19, 8, 4, 4, SOUP_ETC, SOUP_BYTES, false },
	{ "etc2_rgba8", 3, 16, 4, 4, SOUP_EAC, SOUP_BYTES, false },
	{ "eac_r11", 2, 8, 4, 4, SOUP_EAC, SOUP_FLOATS, false },
	{ "eac_r11_signed", 17, 8, 4, 4, SOUP_EAC, SOUP_FLOATS, false },
	{ "eac_rg11", 4, 16, 4, 4, SOUP_EAC, SOUP_FLOATS, false },
	{ "eac_rg11_signed", 18, 16, 4, 4, SOUP_EAC, SOUP_FLOATS, false },
};

#define SOUP_FORMATS (sizeof(soup_formats) / sizeof(soup_formats[0]))

/* A format by its name; NULL: there is none. */
static inline const struct soup_format *soup_find(const char *name)
{
	for (unsigned int i = 0; i < SOUP_FORMATS; i++) {
		if (!strcmp(soup_formats[i].name, name))
			return &soup_formats[i];
	}
	return NULL;
}

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
	/* in the H mode the order of the two colors counts: equal ones */
	if (n % 4 == 1 && n / 16 % 4 == 1) {
		uint32_t r = block[0] >> 3 & 15, g = (block[0] & 7) << 1 | (block[1] >> 4 & 1);
		uint32_t b = (block[1] & 8) | (block[1] & 3) << 1 | block[2] >> 7;

		block[2] = (uint8_t)((block[2] & 0x80) | r << 3 | g >> 1);
		block[3] = (uint8_t)((block[3] & 7) | (g & 1) << 7 | b << 3);
	}
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

/* @count bits from @low on. */
static inline unsigned int soup_get(const uint8_t *block, unsigned int low, unsigned int count)
{
	unsigned int value = 0;

	for (unsigned int i = 0; i < count; i++)
		value |= (block[(low + i) / 8] >> (low + i) % 8 & 1u) << i;
	return value;
}

static inline void soup_set(uint8_t *block, unsigned int low, unsigned int count,
			    unsigned int value)
{
	for (unsigned int i = 0; i < count; i++) {
		uint8_t bit = (uint8_t)(1 << (low + i) % 8);

		block[(low + i) / 8] &= (uint8_t)~bit;
		block[(low + i) / 8] |= value >> i & 1 ? bit : 0;
	}
}

/* Bits of the weights of an ASTC block, whether there are two planes; 0: the mode is an error. */
static inline unsigned int soup_astc_mode(const struct soup_format *f, unsigned int mode,
					  bool *dual)
{
	/* bits of five numbers, times 3, of ranges 2 3 4 5 6 8 10 12 16 20 24 32 */
	static const uint8_t size[12] = { 15, 24, 30, 35, 39, 45, 50, 54, 60, 65, 69, 75 };
	unsigned int a = mode >> 5 & 3, b = mode >> 7 & 3, w, h, n, bits, high = mode >> 9 & 1;
	unsigned int r = (mode & 3 ? mode & 3 : mode >> 2 & 3) * 2 + (mode >> 4 & 1);

	*dual = mode >> 10 & 1;
	if (mode & 3) {
		unsigned int kind = mode >> 2 & 3;

		w = kind == 0 ? b + 4 : kind == 1 ? b + 8 : kind == 3 && b > 1 ? b : a + 2;
		h = kind < 2 || (kind == 3 && b > 1) ? a + 2 : kind == 2 ? b + 8 : b + 6;
	} else if (b == 2) {
		w = a + 6;
		h = (mode >> 9 & 3) + 6;
		*dual = false;
		high = 0;
	} else if (b == 3) {
		w = a ? 10 : 6;
		h = 16 - w;
		r = a > 1 ? 0 : r;
	} else {
		w = b ? a + 2 : 12;
		h = b ? 12 : a + 2;
	}
	n = w * h * (1 + *dual);
	if (r < 2 || n > 64 || w > f->w || h > f->h)
		return 0;
	bits = (n * size[r - 2 + 6 * high] + 14) / 15;
	return bits < 24 || bits > 96 ? 0 : bits;
}

/* True if a block is not an error as a whole. */
static inline bool soup_astc_good(const struct soup_format *f, const uint8_t block[16])
{
	unsigned int p = soup_get(block, 11, 2) + 1, cem = soup_get(block, 23, 6), values = 0;
	unsigned int extra = p > 1 && cem & 3 ? 3 * p - 4 : 0, bits, room;
	bool dual;

	bits = soup_astc_mode(f, soup_get(block, 0, 11), &dual);
	if (!bits || (dual && p == 4))
		return false;
	if (extra)
		cem |= soup_get(block, 128 - bits - extra, extra) << 6;
	for (unsigned int i = 0; i < p; i++)
		values += p == 1 ? soup_get(block, 15, 2) * 2 + 2 : cem & 3
			? ((cem & 3) - 1 + (cem >> (2 + i) & 1)) * 2 + 2 : (cem >> 4) * 2 + 2;
	room = 128 - bits - extra - 2 * dual - (p == 1 ? 17 : 29);
	return values <= 18 && bits + extra + 2 * dual + (p == 1 ? 17 : 29) <= 128 &&
	       room >= (13 * values + 4) / 5;
}

/* A block of one color: all in order, or one thing wrong. */
static inline void soup_astc_void(unsigned int n, uint8_t block[16])
{
	soup_set(block, 0, 9, 0x1fc);
	soup_set(block, 9, 3, n % 8 == 1 ? 7 : n % 8 == 2 ? n / 8 % 3 * 2 : 6);
	if (n % 3 == 0)
		memset(block + 2, 0xff, 6);
	if (n % 3 == 0)
		soup_set(block, 12, 4, 15);
	for (unsigned int i = 0; n % 3 == 1 && i < 2; i++) {
		unsigned int low = soup_random() % 8191;

		soup_set(block, 12 + 26 * i, 13, low);
		soup_set(block, 25 + 26 * i, 13, low + 1 - (n % 7 == i));
	}
	if (n % 16 == 4)
		memset(block + 8, 0xff, 8);
}

/* One in ten is any block, one of one color, the others are no errors as a whole. */
static inline void soup_astc(const struct soup_format *f, unsigned int n, uint8_t block[16])
{
	if (n % 10 == 9)
		return;
	if (n % 10 == 8) {
		soup_astc_void(n / 10, block);
		return;
	}
	do {
		unsigned int kind = soup_random();

		soup_fill_half(block);
		soup_fill_half(block + 8);
		soup_set(block, 11, 2, n % 4);
		if (n % 4 && kind % 2)
			soup_set(block, 23, 2, 0);
	} while (!soup_astc_good(f, block));
}

/* Every mode, then every partition; what else there is makes a block that is good, if any does. */
static inline void soup_astc_listed(const struct soup_format *f, unsigned int n, uint8_t block[16])
{
	for (unsigned int tries = 0; tries < 1000; tries++) {
		soup_fill_half(block);
		soup_fill_half(block + 8);
		if (n < SOUP_MODES) {
			soup_set(block, 0, 11, n);
			soup_set(block, 11, 2, tries / 2 % 2);
		} else {
			soup_set(block, 11, 2, 1 + (n - SOUP_MODES) / 1024);
			soup_set(block, 13, 10, (n - SOUP_MODES) % 1024);
		}
		/* endpoints that take little room, of one kind */
		if (tries % 2)
			soup_set(block, n < SOUP_MODES && tries / 2 % 2 == 0 ? 13 : 23, 6, 0);
		if (soup_astc_good(f, block))
			return;
	}
}

/* Block number @n of @format. */
static inline void soup_block(const struct soup_format *format, unsigned int n, uint8_t block[16])
{
	/* the same blocks in all kinds of ASTC */
	soup_state = (uint64_t)(format->kind == SOUP_ASTC ? 22 : format->number) << 40 |
		     (uint64_t)format->w << 36 |
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
	if (format->kind == SOUP_ASTC && n < SOUP_BLOCKS)
		soup_astc(format, n, block);
	else if (format->kind == SOUP_ASTC)
		soup_astc_listed(format, n - SOUP_BLOCKS, block);
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
