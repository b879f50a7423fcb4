/* SPDX-License-Identifier: MIT */
/*
 * Whole tiles of texels of 1, 2, 4, 8 and 16 bytes, by 16-byte vectors; part of tiling.c.
 *
 * Rows go in pairs: an even row `a` and the odd row `b` below it give squares of 2×2 texels, in
 * memory a0 a1 b1 b0. A pair of squares side by side follow each other left to right when they are
 * in even rows of squares, right to left in odd ones; and so on up to the tile. The vectors are the
 * compiler's own, so this runs on any processor, of either byte order.
 */
#ifndef TSR_TILING_VECTOR_H
#define TSR_TILING_VECTOR_H

#include <stdint.h>
#include <string.h>

#include "tiling.h"

typedef uint8_t tsr_v8 __attribute__((vector_size(16)));
typedef uint16_t tsr_v16 __attribute__((vector_size(16)));
typedef uint32_t tsr_v32 __attribute__((vector_size(16)));
typedef uint64_t tsr_v64 __attribute__((vector_size(16)));

#define TSR_LOAD(type, from) ({ type v_; memcpy(&v_, (from), sizeof(v_)); v_; })
#define TSR_STORE(to, vector) \
	do { __typeof__(vector) v_ = (vector); memcpy((to), &v_, sizeof(v_)); } while (0)
#define TSR_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* Unroll the loop that follows: places in the tile become constants. */
#ifdef __clang__
#define TSR_UNROLL _Pragma("unroll")
#else
#define TSR_UNROLL _Pragma("GCC unroll 16")
#endif

/* Swap adjacent elements of 8, 16 or 64 bits. */
static inline tsr_v16 tsr_swap_8(tsr_v16 v)
{
	return v << 8 | v >> 8;
}

static inline tsr_v32 tsr_swap_16(tsr_v32 v)
{
	return v << 16 | v >> 16;
}

static inline tsr_v64 tsr_swap_64(tsr_v64 v)
{
	return TSR_SHUFFLE(v, v, 1, 0);
}

/* Squares from the left and the right half of rows a and b of four units, and rows from squares. */
static inline tsr_v32 tsr_square_left(tsr_v32 a, tsr_v32 b)
{
	return TSR_SHUFFLE(a, b, 0, 1, 5, 4);
}

static inline tsr_v32 tsr_square_right(tsr_v32 a, tsr_v32 b)
{
	return TSR_SHUFFLE(a, b, 2, 3, 7, 6);
}

static inline tsr_v32 tsr_row_above(tsr_v32 left, tsr_v32 right)
{
	return TSR_SHUFFLE(left, right, 0, 1, 4, 5);
}

static inline tsr_v32 tsr_row_below(tsr_v32 left, tsr_v32 right)
{
	return TSR_SHUFFLE(left, right, 3, 2, 7, 6);
}

/*
 * 1 byte a texel: four rows at once. First pairs of rows become eight squares of 4 bytes (left
 * four, right four), then those of two pairs become squares of 4×4, 16 bytes.
 */
static void tile_1(uint8_t *tile, const uint8_t *const *row)
{
	unsigned int y, i;

	for (y = 0; y < TSR_TILE_DIM; y += 4) {
		tsr_v32 l[2], r[2];

		TSR_UNROLL
		for (i = 0; i < 2; i++) {
			tsr_v16 a = TSR_LOAD(tsr_v16, row[y + 2 * i]);
			tsr_v16 b = tsr_swap_8(TSR_LOAD(tsr_v16, row[y + 2 * i + 1]));

			l[i] = (tsr_v32)TSR_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
			r[i] = (tsr_v32)TSR_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
		}
		TSR_STORE(tile + tsr_tile_index(0, y), tsr_square_left(l[0], l[1]));
		TSR_STORE(tile + tsr_tile_index(4, y), tsr_square_right(l[0], l[1]));
		TSR_STORE(tile + tsr_tile_index(8, y), tsr_square_left(r[0], r[1]));
		TSR_STORE(tile + tsr_tile_index(12, y), tsr_square_right(r[0], r[1]));
	}
}

static void detile_1(uint8_t *const *row, const uint8_t *tile)
{
	unsigned int y, i;

	for (y = 0; y < TSR_TILE_DIM; y += 4) {
		tsr_v32 s0 = TSR_LOAD(tsr_v32, tile + tsr_tile_index(0, y));
		tsr_v32 s1 = TSR_LOAD(tsr_v32, tile + tsr_tile_index(4, y));
		tsr_v32 s2 = TSR_LOAD(tsr_v32, tile + tsr_tile_index(8, y));
		tsr_v32 s3 = TSR_LOAD(tsr_v32, tile + tsr_tile_index(12, y));
		tsr_v16 l[2] = { (tsr_v16)tsr_row_above(s0, s1), (tsr_v16)tsr_row_below(s0, s1) };
		tsr_v16 r[2] = { (tsr_v16)tsr_row_above(s2, s3), (tsr_v16)tsr_row_below(s2, s3) };

		TSR_UNROLL
		for (i = 0; i < 2; i++) {
			tsr_v16 a = TSR_SHUFFLE(l[i], r[i], 0, 2, 4, 6, 8, 10, 12, 14);
			tsr_v16 b = TSR_SHUFFLE(l[i], r[i], 1, 3, 5, 7, 9, 11, 13, 15);

			TSR_STORE(row[y + 2 * i], a);
			TSR_STORE(row[y + 2 * i + 1], tsr_swap_8(b));
		}
	}
}

/* 2 bytes a texel: eight texels of two rows are four squares, two and two side by side. */
static void tile_2(uint8_t *tile, const uint8_t *const *row)
{
	unsigned int x, y;

	for (y = 0; y < TSR_TILE_DIM; y += 2) {
		TSR_UNROLL
		for (x = 0; x < TSR_TILE_DIM; x += 8) {
			tsr_v32 a = TSR_LOAD(tsr_v32, row[y] + x * 2);
			tsr_v32 b = tsr_swap_16(TSR_LOAD(tsr_v32, row[y + 1] + x * 2));
			tsr_v64 l = (tsr_v64)TSR_SHUFFLE(a, b, 0, 4, 1, 5);
			tsr_v64 r = (tsr_v64)TSR_SHUFFLE(a, b, 2, 6, 3, 7);
			/* In odd rows of squares the right one comes first. */
			unsigned int right = y & 2;

			TSR_STORE(tile + tsr_tile_index(x + right, y) * 2,
				  right ? tsr_swap_64(l) : l);
			TSR_STORE(tile + tsr_tile_index(x + right + 4, y) * 2,
				  right ? tsr_swap_64(r) : r);
		}
	}
}

static void detile_2(uint8_t *const *row, const uint8_t *tile)
{
	unsigned int x, y;

	for (y = 0; y < TSR_TILE_DIM; y += 2) {
		TSR_UNROLL
		for (x = 0; x < TSR_TILE_DIM; x += 8) {
			unsigned int right = y & 2;
			tsr_v64 l = TSR_LOAD(tsr_v64, tile + tsr_tile_index(x + right, y) * 2);
			tsr_v64 r = TSR_LOAD(tsr_v64, tile + tsr_tile_index(x + right + 4, y) * 2);
			tsr_v32 lo = (tsr_v32)(right ? tsr_swap_64(l) : l);
			tsr_v32 hi = (tsr_v32)(right ? tsr_swap_64(r) : r);

			TSR_STORE(row[y] + x * 2, TSR_SHUFFLE(lo, hi, 0, 2, 4, 6));
			TSR_STORE(row[y + 1] + x * 2, tsr_swap_16(TSR_SHUFFLE(lo, hi, 1, 3, 5, 7)));
		}
	}
}

/* 4 bytes a texel: a square is a vector. */
static void tile_4(uint8_t *tile, const uint8_t *const *row)
{
	unsigned int x, y;

	for (y = 0; y < TSR_TILE_DIM; y += 2) {
		TSR_UNROLL
		for (x = 0; x < TSR_TILE_DIM; x += 4) {
			tsr_v32 a = TSR_LOAD(tsr_v32, row[y] + x * 4);
			tsr_v32 b = TSR_LOAD(tsr_v32, row[y + 1] + x * 4);

			TSR_STORE(tile + tsr_tile_index(x, y) * 4, tsr_square_left(a, b));
			TSR_STORE(tile + tsr_tile_index(x + 2, y) * 4, tsr_square_right(a, b));
		}
	}
}

static void detile_4(uint8_t *const *row, const uint8_t *tile)
{
	unsigned int x, y;

	for (y = 0; y < TSR_TILE_DIM; y += 2) {
		TSR_UNROLL
		for (x = 0; x < TSR_TILE_DIM; x += 4) {
			tsr_v32 l = TSR_LOAD(tsr_v32, tile + tsr_tile_index(x, y) * 4);
			tsr_v32 r = TSR_LOAD(tsr_v32, tile + tsr_tile_index(x + 2, y) * 4);

			TSR_STORE(row[y] + x * 4, tsr_row_above(l, r));
			TSR_STORE(row[y + 1] + x * 4, tsr_row_below(l, r));
		}
	}
}

/* 8 bytes a texel: half a square is a vector. */
static void tile_8(uint8_t *tile, const uint8_t *const *row)
{
	unsigned int x, y;

	for (y = 0; y < TSR_TILE_DIM; y += 2) {
		TSR_UNROLL
		for (x = 0; x < TSR_TILE_DIM; x += 2) {
			uint8_t *square = tile + tsr_tile_index(x, y) * 8;

			TSR_STORE(square, TSR_LOAD(tsr_v64, row[y] + x * 8));
			TSR_STORE(square + 16, tsr_swap_64(TSR_LOAD(tsr_v64, row[y + 1] + x * 8)));
		}
	}
}

static void detile_8(uint8_t *const *row, const uint8_t *tile)
{
	unsigned int x, y;

	for (y = 0; y < TSR_TILE_DIM; y += 2) {
		TSR_UNROLL
		for (x = 0; x < TSR_TILE_DIM; x += 2) {
			const uint8_t *square = tile + tsr_tile_index(x, y) * 8;

			TSR_STORE(row[y] + x * 8, TSR_LOAD(tsr_v64, square));
			TSR_STORE(row[y + 1] + x * 8, tsr_swap_64(TSR_LOAD(tsr_v64, square + 16)));
		}
	}
}

/* 16 bytes a texel: a texel is a vector. */
static void tile_16(uint8_t *tile, const uint8_t *const *row)
{
	unsigned int x, y;

	for (y = 0; y < TSR_TILE_DIM; y++) {
		TSR_UNROLL
		for (x = 0; x < TSR_TILE_DIM; x++)
			TSR_STORE(tile + tsr_tile_index(x, y) * 16,
				  TSR_LOAD(tsr_v64, row[y] + x * 16));
	}
}

static void detile_16(uint8_t *const *row, const uint8_t *tile)
{
	unsigned int x, y;

	for (y = 0; y < TSR_TILE_DIM; y++) {
		TSR_UNROLL
		for (x = 0; x < TSR_TILE_DIM; x++)
			TSR_STORE(row[y] + x * 16,
				  TSR_LOAD(tsr_v64, tile + tsr_tile_index(x, y) * 16));
	}
}

#endif
