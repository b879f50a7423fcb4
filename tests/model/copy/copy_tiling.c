/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=60 TSAN=0 */
/* The tiled layout and the functions that move texels in and out of tiles, for all sizes. */
#include <stdlib.h>
#include <string.h>

#include "copy_ref.h"
#include "ktap.h"
#include "memory/tiling.h"

#define TEXELS 256

/* The first rows of the figure in copy-engine.md, copied by hand. */
static const uint8_t figure[4][16] = {
	{ 0, 1, 4, 5, 16, 17, 20, 21, 64, 65, 68, 69, 80, 81, 84, 85 },
	{ 3, 2, 7, 6, 19, 18, 23, 22, 67, 66, 71, 70, 83, 82, 87, 86 },
	{ 12, 13, 8, 9, 28, 29, 24, 25, 76, 77, 72, 73, 92, 93, 88, 89 },
	{ 15, 14, 11, 10, 31, 30, 27, 26, 79, 78, 75, 74, 95, 94, 91, 90 },
};

static void test_index(void)
{
	bool seen[TEXELS] = { false };
	unsigned int x, y;

	for (y = 0; y < 16; y++) {
		for (x = 0; x < 16; x++) {
			unsigned int i = tsr_tile_index(x, y);

			if (!ktap_eq(i, copy_ref_index(x, y)) ||
			    (y < 4 && !ktap_eq(i, figure[y][x])))
				return;
			ktap_ok(!seen[i]);
			seen[i] = true;
			ktap_eq(tsr_tile_index(x + 16, y + 32), i);
		}
	}
}

static void test_bursts(void)
{
	unsigned int side, first, n, i, x, y;

	/*
	 * Runs of 4, 16 and 64 texels are squares; a 64-byte burst of 4-byte texels is one of 4x4.
	 */
	for (side = 2; side <= 8; side *= 2) {
		for (first = 0; first < TEXELS; first += side * side) {
			unsigned int left = 16, top = 16, right = 0, bottom = 0;

			for (n = 0, i = 0; i < TEXELS; i++) {
				x = i % 16, y = i / 16;
				if (tsr_tile_index(x, y) - first >= side * side)
					continue;
				n++;
				left = x < left ? x : left;
				right = x > right ? x : right;
				top = y < top ? y : top;
				bottom = y > bottom ? y : bottom;
			}
			if (!ktap_eq(n, side * side) || !ktap_eq(right - left + 1, side) ||
			    !ktap_eq(bottom - top + 1, side) || !ktap_eq(left % side, 0) ||
			    !ktap_eq(top % side, 0))
				return;
		}
	}
}

/* A tile and sixteen rows, each a heap block of its own at an odd address. */
struct memory {
	uint8_t *tile_block, *tile;
	uint8_t *row_block[16], *row[16];
};

static void memory_init(struct memory *m, unsigned int texel, unsigned int tile_skew)
{
	unsigned int y;

	m->tile_block = malloc(TEXELS * texel + tile_skew);
	m->tile = m->tile_block + tile_skew;
	for (y = 0; y < 16; y++) {
		m->row_block[y] = malloc(16 * texel + y);
		m->row[y] = m->row_block[y] + y;
	}
}

static void memory_free(struct memory *m)
{
	unsigned int y;

	free(m->tile_block);
	for (y = 0; y < 16; y++)
		free(m->row_block[y]);
}

/* Byte @b of texel (x, y), different for all of them as far as possible. */
static uint8_t value(unsigned int x, unsigned int y, unsigned int b)
{
	return (uint8_t)(x * 16 + y + b * 37);
}

static void fill(struct memory *m, unsigned int texel, bool tile)
{
	unsigned int x, y, b;

	memset(m->tile, 0xee, TEXELS * texel);
	for (y = 0; y < 16; y++) {
		memset(m->row[y], 0xdd, 16 * texel);
		for (x = 0; x < 16; x++) {
			for (b = 0; b < texel; b++) {
				if (tile)
					m->tile[copy_ref_index(x, y) * texel + b] = value(x, y, b);
				else
					m->row[y][x * texel + b] = value(x, y, b);
			}
		}
	}
}

static void test_whole(void)
{
	unsigned int texel, x, y, b, skew;
	struct memory m;

	for (texel = 1; texel <= 16; texel++) {
		const struct tsr_tile_ops *ops = tsr_tile_ops(texel);

		for (skew = 0; skew < 2; skew++) {
			memory_init(&m, texel, skew);
			fill(&m, texel, false);
			ops->tile(m.tile, (const uint8_t *const *)m.row);
			for (y = 0; y < 16; y++) {
				for (x = 0; x < 16; x++) {
					for (b = 0; b < texel; b++) {
						if (!ktap_eq(m.tile[copy_ref_index(x, y) * texel +
								    b],
							     value(x, y, b)))
							return;
					}
				}
			}
			fill(&m, texel, true);
			ops->detile(m.row, m.tile);
			for (y = 0; y < 16; y++) {
				for (x = 0; x < 16 * texel; x++) {
					if (!ktap_eq(m.row[y][x], value(x / texel, y, x % texel)))
						return;
				}
			}
			memory_free(&m);
		}
	}
}

/* One part in both directions, with the bytes it needs and not one more. */
static bool check_part(unsigned int texel, const struct tsr_tile_part *p)
{
	const struct tsr_tile_ops *ops = tsr_tile_ops(texel);
	uint8_t rows[16][256], *row[16], *mem;
	unsigned int first, end, x, y, b, inside = 0;
	bool ok = true;

	tsr_tile_hull(p, texel, &first, &end);
	mem = malloc(end - first);
	memset(mem, 0xee, end - first);
	for (y = 0; y < p->h; y++) {
		row[y] = rows[y];
		for (x = 0; x < p->w * texel; x++)
			rows[y][x] = value(p->x + x / texel, p->y + y, x % texel);
	}
	ops->tile_part(mem, first, (const uint8_t *const *)row, p);
	for (y = 0; ok && y < 16; y++) {
		for (x = 0; ok && x < 16; x++) {
			unsigned int at = copy_ref_index(x, y) * texel;
			bool in = x - p->x < p->w && y - p->y < p->h;

			if (at < first || at >= end) {
				ok = ktap_ok(!in);
				continue;
			}
			inside += in;
			for (b = 0; ok && b < texel; b++)
				ok = ktap_eq(mem[at - first + b], in ? value(x, y, b) : 0xee);
		}
	}
	ok = ok && ktap_eq(inside, p->w * p->h);
	memset(rows, 0xdd, sizeof(rows));
	ops->detile_part(row, mem, first, p);
	for (y = 0; ok && y < p->h; y++) {
		for (x = 0; ok && x < p->w * texel; x++)
			ok = ktap_eq(rows[y][x], value(p->x + x / texel, p->y + y, x % texel));
		ok = ok && (p->w * texel == 256 || ktap_eq(rows[y][p->w * texel], 0xdd));
	}
	free(mem);
	return ok;
}

static void test_parts(void)
{
	struct tsr_tile_part p;
	unsigned int texel;

	for (texel = 1; texel <= 16; texel += texel < 6 ? 1 : 5) {
		for (p.x = 0; p.x < 16; p.x++) {
			for (p.w = 1; p.x + p.w <= 16; p.w += 2) {
				for (p.y = 0; p.y < 16; p.y += 3) {
					for (p.h = 1; p.y + p.h <= 16; p.h++) {
						if (!check_part(texel, &p))
							return;
					}
				}
			}
		}
	}
}

static void test_reverse(void)
{
	unsigned int texel, n, i;
	uint8_t *from, *to;

	for (texel = 1; texel <= 16; texel++) {
		for (n = 0; n < 40; n++) {
			from = malloc(n * texel + 1);
			to = malloc(n * texel + 1);
			for (i = 0; i < n * texel; i++)
				from[i] = (uint8_t)(i * 7);
			tsr_tile_ops(texel)->reverse(to, from, n);
			for (i = 0; i < n * texel; i++)
				ktap_eq(to[i], from[(n - 1 - i / texel) * texel + i % texel]);
			free(from);
			free(to);
		}
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[MEM4] the place of a texel in a tile, all 256", test_index);
	ktap_run("[MEM5] a 64-byte burst of 4-byte texels covers 4x4; other bursts are squares too",
		 test_bursts);
	ktap_run("[MEM4] whole tiles of all texel sizes, both directions", test_whole);
	ktap_run("[MEM4] parts of tiles, both directions, no byte beyond them", test_parts);
	ktap_run("rows reversed", test_reverse);
	return ktap_finish();
}
