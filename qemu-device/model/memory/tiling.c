/* SPDX-License-Identifier: MIT */
/*
 * Tiling and detiling on the host. There is one copy of each function per texel size, made from an
 * inline one with a constant size: the compiler then moves a texel with one or two instructions.
 * Whole tiles of 1, 2, 4, 8 and 16 bytes go by 16-byte vectors (tiling_vector.h).
 */
#include <string.h>

#include "tiling.h"
#include "tiling_vector.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* tsr_tile_spread() of what is not a constant. */
static const uint8_t spread[TSR_TILE_DIM] = {
	0x00, 0x01, 0x04, 0x05, 0x10, 0x11, 0x14, 0x15,
	0x40, 0x41, 0x44, 0x45, 0x50, 0x51, 0x54, 0x55,
};

/*
 * Move a texel in pieces of 16, 8, 4, 2 and 1 bytes, by way of registers: everything is loaded
 * before anything is stored, so @to and @from may overlap. (One memcpy() to a variable and one from
 * it can be cut differently by the compiler, and then each load waits for several stores.)
 */
static ALWAYS_INLINE void move_texel(uint8_t *to, const uint8_t *from, unsigned int texel)
{
	const unsigned int at8 = texel & 16, at4 = texel & 24, at2 = texel & 28, at1 = texel & 30;
	tsr_v64 p16 = { 0 };
	uint64_t p8 = 0;
	uint32_t p4 = 0;
	uint16_t p2 = 0;
	uint8_t p1 = 0;

	memcpy(&p16, from, texel & 16);
	memcpy(&p8, from + at8, texel & 8);
	memcpy(&p4, from + at4, texel & 4);
	memcpy(&p2, from + at2, texel & 2);
	memcpy(&p1, from + at1, texel & 1);
	memcpy(to, &p16, texel & 16);
	memcpy(to + at8, &p8, texel & 8);
	memcpy(to + at4, &p4, texel & 4);
	memcpy(to + at2, &p2, texel & 2);
	memcpy(to + at1, &p1, texel & 1);
}

static ALWAYS_INLINE void tile_part(uint8_t *mem, unsigned int skip, const uint8_t *const *row,
				    const struct tsr_tile_part *p, unsigned int texel)
{
	unsigned int x, y, of_y, place;

	for (y = 0; y < p->h; y++) {
		of_y = 3 * spread[p->y + y];
		for (x = 0; x < p->w; x++) {
			place = (spread[p->x + x] ^ of_y) * texel - skip;
			move_texel(mem + place, row[y] + x * texel, texel);
		}
	}
}

static ALWAYS_INLINE void detile_part(uint8_t *const *row, const uint8_t *mem, unsigned int skip,
				      const struct tsr_tile_part *p, unsigned int texel)
{
	unsigned int x, y, of_y, place;

	for (y = 0; y < p->h; y++) {
		of_y = 3 * spread[p->y + y];
		for (x = 0; x < p->w; x++) {
			place = (spread[p->x + x] ^ of_y) * texel - skip;
			move_texel(row[y] + x * texel, mem + place, texel);
		}
	}
}

/* Whole tiles of the sizes that have no faster way. */
static ALWAYS_INLINE void tile_vectors(uint8_t *tile, const uint8_t *const *row, unsigned int texel)
{
	unsigned int x, y;

	for (y = 0; y < TSR_TILE_DIM; y++) {
		TSR_UNROLL
		for (x = 0; x < TSR_TILE_DIM; x++)
			move_texel(tile + tsr_tile_index(x, y) * texel, row[y] + x * texel, texel);
	}
}

static ALWAYS_INLINE void detile_vectors(uint8_t *const *row, const uint8_t *tile,
					 unsigned int texel)
{
	unsigned int x, y;

	for (y = 0; y < TSR_TILE_DIM; y++) {
		TSR_UNROLL
		for (x = 0; x < TSR_TILE_DIM; x++)
			move_texel(row[y] + x * texel, tile + tsr_tile_index(x, y) * texel, texel);
	}
}

static ALWAYS_INLINE void reverse(uint8_t *dst, const uint8_t *src, uint64_t n, unsigned int texel)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		move_texel(dst + i * texel, src + (n - 1 - i) * texel, texel);
}

#define DEFINE_PART_OPS(n)									\
	static void tile_part_##n(uint8_t *mem, unsigned int skip, const uint8_t *const *row,	\
				  const struct tsr_tile_part *p)				\
	{ tile_part(mem, skip, row, p, n); }							\
	static void detile_part_##n(uint8_t *const *row, const uint8_t *mem, unsigned int skip,	\
				    const struct tsr_tile_part *p)				\
	{ detile_part(row, mem, skip, p, n); }							\
	static void reverse_##n(uint8_t *dst, const uint8_t *src, uint64_t count)		\
	{ reverse(dst, src, count, n); }

#define DEFINE_FULL_OPS(n)									\
	static void tile_##n(uint8_t *tile, const uint8_t *const *row)				\
	{ tile_vectors(tile, row, n); }							\
	static void detile_##n(uint8_t *const *row, const uint8_t *tile)			\
	{ detile_vectors(row, tile, n); }

#define DEFINE_OPS(n) DEFINE_PART_OPS(n) DEFINE_FULL_OPS(n)

DEFINE_PART_OPS(1)
DEFINE_PART_OPS(2)
DEFINE_OPS(3)
DEFINE_PART_OPS(4)
DEFINE_OPS(5)
DEFINE_OPS(6)
DEFINE_OPS(7)
DEFINE_PART_OPS(8)
DEFINE_OPS(9)
DEFINE_OPS(10)
DEFINE_OPS(11)
DEFINE_OPS(12)
DEFINE_OPS(13)
DEFINE_OPS(14)
DEFINE_OPS(15)
DEFINE_PART_OPS(16)

#define OPS(n) [n] = { tile_##n, detile_##n, tile_part_##n, detile_part_##n, reverse_##n }

static const struct tsr_tile_ops ops[TSR_TEXEL_MAX + 1] = {
	OPS(1), OPS(2), OPS(3), OPS(4), OPS(5), OPS(6), OPS(7), OPS(8),
	OPS(9), OPS(10), OPS(11), OPS(12), OPS(13), OPS(14), OPS(15), OPS(16),
};

const struct tsr_tile_ops *tsr_tile_ops(unsigned int texel)
{
	return &ops[texel];
}

void tsr_tile_hull(const struct tsr_tile_part *p, unsigned int texel, unsigned int *first,
		   unsigned int *end)
{
	unsigned int lo = TSR_TILE_TEXELS - 1, hi = 0, i, j;

	for (j = 0; j < p->h; j++) {
		for (i = 0; i < p->w; i++) {
			unsigned int index = tsr_tile_index(p->x + i, p->y + j);

			lo = index < lo ? index : lo;
			hi = index > hi ? index : hi;
		}
	}
	*first = lo * texel;
	*end = (hi + 1) * texel;
}
