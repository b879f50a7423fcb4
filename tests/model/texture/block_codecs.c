/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0
 *
 * Decoders of compressed blocks against texels that others have computed (tests/blocks), and
 * against sums of its own over all endpoints and indices.
 */
#include <math.h>
#include <stdlib.h>

#include "../blocks/soup.h"
#include "ktap.h"
#include "texture/codec.h"

/* A format by its name in soup.h, as a texture would have it. */
static const struct soup_format *soup_named(const char *name, struct tsr_format *format)
{
	const struct soup_format *f = soup_find(name);

	return f && tsr_format_find_texture(format, f->number, TSR_COMPONENT_ORDER_RGBA, f->srgb)
		       ? f : NULL;
}

/* The texels of a block as bytes, as the files have them; returns how many bytes. */
static unsigned int decode(const struct soup_format *f, const struct tsr_format *format,
			   const uint8_t *block, uint8_t *to)
{
	const unsigned int size = f->texel == SOUP_BYTES ? 4 : 16, count = f->w * f->h;
	uint16_t astc[144 + 16][4];
	union tsr_block_texels texels;

	ktap_eq(tsr_block_has_bytes(format), f->texel == SOUP_BYTES);
	if (f->kind == SOUP_ASTC)
		tsr_block_astc(block, f->w, f->h, f->srgb, astc);
	else
		tsr_block_texels(format, block, &texels);
	for (unsigned int i = 0; i < count; i += 16) {
		if (f->kind == SOUP_ASTC)
			tsr_block_narrow(format, astc + i, &texels);
		memcpy(to + i * size, &texels, (count - i < 16 ? count - i : 16) * size);
	}
	return count * size;
}

/* Bytes written as hexadecimal digits. */
static unsigned int from_hex(const char *text, uint8_t *to, unsigned int room)
{
	unsigned int n = 0, byte;

	while (n < room && sscanf(text + 2 * n, "%2x", &byte) == 1)
		to[n++] = (uint8_t)byte;
	return n;
}

#define TEXELS_MAX (144 * 16)

static const struct { const char *name, *block, *texels; } shown[] = {
#define BLOCK_TEXELS(name, block, texels) { #name, block, texels },
#include "../blocks/texels.h"
};

#define SHOWN (sizeof(shown) / sizeof(shown[0]))

static void test_texels(void)
{
	for (unsigned int i = 0; i < SHOWN; i++) {
		uint8_t block[16], want[TEXELS_MAX], got[TEXELS_MAX];
		unsigned int size = from_hex(shown[i].texels, want, sizeof(want));
		struct tsr_format format;
		const struct soup_format *f = soup_named(shown[i].name, &format);

		KTAP_REQUIRE(f && from_hex(shown[i].block, block, 16) == f->bytes);
		if (ktap_eq(size, decode(f, &format, block, got)))
			ktap_mem_eq(got, want, size);
	}
	ktap_ok(SHOWN >= 8 * 19);
}

static const struct { const char *name; uint64_t digest[SOUP_BLOCKS / SOUP_GROUP]; } digests[] = {
#define BLOCK_DIGESTS(name, ...) { #name, { __VA_ARGS__ } },
#include "../blocks/digests.h"
};

#define DIGESTS (sizeof(digests) / sizeof(digests[0]))

static void check_digests(const struct soup_format *f, const struct tsr_format *format,
			  unsigned int first, unsigned int count, const uint64_t *want)
{
	for (unsigned int n = 0; n < count; n += SOUP_GROUP) {
		uint64_t digest = SOUP_DIGEST;

		for (unsigned int i = 0; i < SOUP_GROUP; i++) {
			uint8_t block[16], got[TEXELS_MAX];

			soup_block(f, first + n + i, block);
			digest = soup_digest(digest, got, decode(f, format, block, got));
		}
		if (!ktap_eq(digest, want[n / SOUP_GROUP]))
			ktap_note("%s: %u blocks from %u on", f->name, SOUP_GROUP, first + n);
	}
}

static void test_digests(void)
{
	for (unsigned int i = 0; i < DIGESTS; i++) {
		struct tsr_format format;
		const struct soup_format *f = soup_named(digests[i].name, &format);

		KTAP_REQUIRE(f);
		check_digests(f, &format, 0, SOUP_BLOCKS, digests[i].digest);
	}
	ktap_eq(DIGESTS, SOUP_FORMATS);
}

static const struct { const char *name; uint64_t digest[SOUP_LISTED / SOUP_GROUP]; } lists[] = {
#define BLOCK_LISTED(name, ...) { #name, { __VA_ARGS__ } },
#include "../blocks/lists.h"
};

static void test_listed(void)
{
	const unsigned int count = sizeof(lists) / sizeof(lists[0]);

	for (unsigned int i = 0; i < count; i++) {
		struct tsr_format format;
		const struct soup_format *f = soup_named(lists[i].name, &format);

		KTAP_REQUIRE(f);
		check_digests(f, &format, SOUP_BLOCKS, SOUP_LISTED, lists[i].digest);
	}
	ktap_eq(count, 14);
}

/* ---- All endpoints --------------------------------------------------------------------------- */

/* Bits of a 565 color that are number @n in component @c. */
static uint32_t color_of(unsigned int c, uint32_t n)
{
	return c == 0 ? n << 11 : c == 1 ? n << 5 : n;
}

/* One component of BC1: all pairs of endpoints, all indices, both modes. */
static void test_bc1_pairs(void)
{
	for (unsigned int n = 0; n < 64 * 64 * 3; n++) {
		unsigned int c = n / (64 * 64), bits = c == 1 ? 6 : 5;
		uint32_t a = n % 64, b = n / 64 % 64, pair;
		uint32_t most = (1u << bits) - 1, other = n % 7 % 2 ? color_of((c + 1) % 3, 1) : 0;
		uint8_t block[8] = { 0, 0, 0, 0, 0xe4, 0xe4, 0xe4, 0xe4 };
		union tsr_block_texels got;
		int x, y, want[4];

		if (a > most || b > most)
			continue;
		pair = (color_of(c, a) | other) | (color_of(c, b)) << 16;
		memcpy(block, &pair, 4);
		tsr_block_bc1(block, &got);
		/* the upper bits again */
		x = (int)(a << (8 - bits) | a >> (2 * bits - 8));
		y = (int)(b << (8 - bits) | b >> (2 * bits - 8));
		want[0] = x;
		want[1] = y;
		want[2] = (int)floor((pair & 0xffff) > pair >> 16 ? (2 * x + y) / 3.0
								   : (x + y) / 2.0);
		want[3] = (int)floor((pair & 0xffff) > pair >> 16 ? (x + 2 * y) / 3.0 : 0);
		for (unsigned int i = 0; i < 16; i++) {
			if (!ktap_eq(got.byte[i][c], want[i % 4]) ||
			    !ktap_eq(got.byte[i][3],
				     i % 4 == 3 && (pair & 0xffff) <= pair >> 16 ? 0 : 255))
				return;
		}
	}
}

/*
 * An 8-bit component: all pairs of endpoints, all indices. @lost: the most that truncation loses.
 */
static bool check_pair(int a, int b, bool is_signed, const double got[8], double lost)
{
	double one = is_signed ? 127 : 255, low = is_signed ? -1 : 0;
	double x = fmax(a, -127) / one, y = fmax(b, -127) / one;

	for (int i = 0; i < 8; i++) {
		double want = i < 2 ? (i ? y : x) : a > b ? (x * (8 - i) + y * (i - 1)) / 7
			      : i < 6 ? (x * (6 - i) + y * (i - 1)) / 5 : i == 6 ? low : 1;

		if (!ktap_ok(got[i] <= want + 1e-7 && got[i] > want - lost))
			return false;
	}
	return true;
}

static void test_component_pairs(void)
{
	const uint64_t indices = 0xfac688fac688;	/* 0 to 7, twice */

	for (unsigned int n = 0; n < 1 << 16; n++) {
		uint64_t block[2] = { n | indices << 16, n | indices << 16 };
		double number[3][8];
		union tsr_block_texels got[3];

		tsr_block_bc4((uint8_t *)block, &got[0]);
		tsr_block_bc4_signed((uint8_t *)block, &got[1]);
		tsr_block_bc3((uint8_t *)block, &got[2]);
		for (unsigned int i = 0; i < 8; i++) {
			number[0][i] = got[0].number[i][0];
			number[1][i] = got[1].number[i][0];
			number[2][i] = got[2].byte[i][3] / 255.0;
		}
		if (!check_pair(n & 255, n >> 8, false, number[0], 1e-7) ||
		    !check_pair((int8_t)n, (int8_t)(n >> 8), true, number[1], 1e-7) ||
		    !check_pair(n & 255, n >> 8, false, number[2], 1 / 255.0))
			return;
	}
}

/* ---- ETC2 and EAC ---------------------------------------------------------------------------- */

static void put_big_endian(uint8_t *to, uint64_t word)
{
	for (unsigned int i = 0; i < 8; i++)
		to[i] = (uint8_t)(word >> (56 - 8 * i));
}

static double clamped(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* The published tables of EAC: for each the four modifiers that are not negative. */
static const int eac_tables[16][4] = {
	{ 2, 5, 8, 14 }, { 2, 6, 9, 12 }, { 1, 4, 7, 12 }, { 1, 3, 5, 12 }, { 2, 5, 7, 11 },
	{ 2, 6, 8, 10 }, { 3, 6, 7, 10 }, { 2, 4, 7, 10 }, { 1, 5, 7, 9 }, { 1, 4, 7, 9 },
	{ 1, 3, 7, 9 }, { 1, 4, 6, 9 }, { 2, 3, 6, 9 }, { 0, 1, 2, 9 }, { 3, 5, 7, 8 },
	{ 2, 4, 6, 8 },
};

/* All bases, multipliers, tables and indices: 8 bits of alpha, 11 bits of either sign. */
static void test_eac_all(void)
{
	for (uint32_t n = 0; n < 1 << 16; n++) {
		const int base = (int)(n >> 8), factor = (int)(n >> 4 & 15);
		const int own = (int8_t)base < -127 ? -127 : (int8_t)base;
		uint8_t block[16] = { 0 };
		union tsr_block_texels alpha, r11, r11_signed;

		/* the texels of the first two columns have indices 0 to 7 */
		put_big_endian(block, (uint64_t)n << 48 | 01234567ull << 24);
		tsr_block_etc2_rgba8(block, &alpha);
		tsr_block_eac_r11(block, &r11);
		tsr_block_eac_r11_signed(block, &r11_signed);
		for (unsigned int i = 0; i < 8; i++) {
			const unsigned int texel = i / 4 + i % 4 * 4;	/* down the columns */
			const int m = eac_tables[n & 15][i & 3];
			const int modifier = i < 4 ? -m - 1 : m;
			const int by = factor ? 8 * factor : 1;
			const double high = clamped(base * 8 + 4 + modifier * by, 0, 2047);
			const double low = clamped(own * 8 + modifier * by, -1023, 1023);

			if (!ktap_eq(alpha.byte[texel][3],
				     (int)clamped(base + modifier * factor, 0, 255)) ||
			    !ktap_ok(r11.number[texel][0] == (float)(high / 2047)) ||
			    !ktap_ok(r11_signed.number[texel][0] == (float)(low / 1023))) {
				ktap_note("block %04x, index %u", n, i);
				return;
			}
		}
	}
}

/* The published modifiers of ETC1, of indices 0 and 1; 2 and 3 are these with the other sign. */
static const int etc_tables[8][2] = {
	{ 2, 8 }, { 5, 17 }, { 9, 29 }, { 13, 42 }, { 18, 60 }, { 24, 80 }, { 33, 106 },
	{ 47, 183 },
};

/* Both halves' colors and tables, in four bits each, and every flip: the individual mode. */
static void check_individual(uint32_t n)
{
	const unsigned int table[2] = { n & 7, n >> 3 & 7 }, flip = n >> 6 & 1;
	const unsigned int color[2] = { n >> 7 & 15, n >> 11 & 15 };
	union tsr_block_texels got;
	uint8_t block[8];

	/* red, green and blue alike; indices 0 to 3 in turns down the columns */
	put_big_endian(block, (color[0] * 0x101010ull | color[1] * 0x010101ull) << 40 |
			      (uint64_t)table[0] << 37 | (uint64_t)table[1] << 34 |
			      (uint64_t)flip << 32 | 0xccccull << 16 | 0xaaaa);
	tsr_block_etc2_rgb8(block, &got);
	for (unsigned int i = 0; i < 16; i++) {
		const unsigned int x = i / 4, y = i % 4, half = flip ? y / 2 : x / 2;
		const int m = etc_tables[table[half]][i & 1];
		const int want = (int)color[half] * 17 + (i & 2 ? -m : m);

		for (unsigned int c = 0; c < 3; c++)
			if (!ktap_eq(got.byte[4 * y + x][c], (int)clamped(want, 0, 255)))
				return;
	}
}

static void test_etc_individual(void)
{
	for (uint32_t n = 0; n < 1 << 15 && !ktap.bad; n++)
		check_individual(n);
}

/*
 * Which mode a block is of: the sums of base and difference that leave 0 to 31, red first. The
 * texels of all three have other rules, so a block of the wrong mode has other texels: a
 * differential one has its base color and modifier in texel 0.
 */
static void test_etc_overflows(void)
{
	for (uint32_t n = 0; n < 1 << 16; n++) {
		const int base[2] = { (int)(n & 31), (int)(n >> 5 & 31) };
		const int delta[2] = { (int)(n >> 10 & 7), (int)(n >> 13 & 7) };
		bool differential = true;
		union tsr_block_texels got;
		uint8_t block[8];
		int want[2];

		for (unsigned int i = 0; i < 2; i++) {
			const int sum = base[i] + (delta[i] & 3) - (delta[i] & 4);

			differential &= sum >= 0 && sum <= 31;
			want[i] = base[i] << 3 | base[i] >> 2;
		}
		/* red and green vary; blue is 16, without a difference; table 0, index 0 */
		put_big_endian(block, (uint64_t)base[0] << 59 | (uint64_t)delta[0] << 56 |
				      (uint64_t)base[1] << 51 | (uint64_t)delta[1] << 48 |
				      16ull << 43 | 1ull << 33);
		tsr_block_etc2_rgb8(block, &got);
		if (differential && (!ktap_eq(got.byte[0][0], (int)clamped(want[0] + 2, 0, 255)) ||
				     !ktap_eq(got.byte[0][1], (int)clamped(want[1] + 2, 0, 255)) ||
				     !ktap_eq(got.byte[0][2], 132 + 2)))
			return;
		/* T has color 1, of four bits a component, in texel 0; H that and distance 1, 6 */
		if (!differential) {
			const int sum = base[0] + (delta[0] & 3) - (delta[0] & 4);
			const bool t = sum < 0 || sum > 31;
			const int red = t ? ((base[0] & 3) << 2 | (delta[0] & 3)) * 17
					  : (base[0] & 15) * 17 + 6;

			if (!ktap_eq(got.byte[0][0], red > 255 ? 255 : red)) {
				ktap_note("block %04x", n);
				return;
			}
		}
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[TEX8] texels of compressed blocks", test_texels);
	ktap_run("[TEX8] texels of 4096 blocks of each compressed format", test_digests);
	ktap_run("[TEX8] ASTC: every mode and every partition", test_listed);
	ktap_run("[TEX8] BC1: all endpoints of a component", test_bc1_pairs);
	ktap_run("[TEX8] BC3, BC4: all endpoints of a component", test_component_pairs);
	ktap_run("[TEX8] EAC: all bases, multipliers, tables and indices", test_eac_all);
	ktap_run("[TEX8] ETC2: all colors of four bits, tables and halves", test_etc_individual);
	ktap_run("[TEX8] ETC2: all sums that choose the mode", test_etc_overflows);
	return ktap_finish();
}
