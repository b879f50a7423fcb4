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
#include "shader/texture/block.h"

/* A format by its name in soup.h, as a texture would have it. */
static const struct soup_format *soup_named(const char *name, struct tsr_format *format)
{
	for (unsigned int i = 0; i < SOUP_FORMATS; i++) {
		const struct soup_format *f = &soup_formats[i];

		if (!strcmp(f->name, name) &&
		    tsr_format_find_texture(format, f->number, TSR_COMPONENT_ORDER_RGBA, f->srgb))
			return f;
	}
	return NULL;
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
			  const uint64_t *want)
{
	for (unsigned int n = 0; n < SOUP_BLOCKS; n += SOUP_GROUP) {
		uint64_t digest = SOUP_DIGEST;

		for (unsigned int i = 0; i < SOUP_GROUP; i++) {
			uint8_t block[16], got[TEXELS_MAX];

			soup_block(f, n + i, block);
			digest = soup_digest(digest, got, decode(f, format, block, got));
		}
		if (!ktap_eq(digest, want[n / SOUP_GROUP]))
			ktap_note("%s: blocks %u to %u", f->name, n, n + SOUP_GROUP - 1);
	}
}

static void test_digests(void)
{
	for (unsigned int i = 0; i < DIGESTS; i++) {
		struct tsr_format format;
		const struct soup_format *f = soup_named(digests[i].name, &format);

		KTAP_REQUIRE(f);
		check_digests(f, &format, digests[i].digest);
	}
	ktap_eq(DIGESTS, SOUP_FORMATS);
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

/* One component of 8 bits: all pairs of endpoints, all indices. @lost: what truncation may lose. */
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

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[TEX8] texels of compressed blocks", test_texels);
	ktap_run("[TEX8] texels of 4096 blocks of each compressed format", test_digests);
	ktap_run("[TEX8] BC1: all endpoints of a component", test_bc1_pairs);
	ktap_run("[TEX8] BC3, BC4: all endpoints of a component", test_component_pairs);
	return ktap_finish();
}
