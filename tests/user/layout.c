// SPDX-License-Identifier: MIT
/*
 * Image layouts. The order of texels in a tile is built here from the shape that gave it its name:
 * a U of four quadrants, (0,0) (1,0) (1,1) (0,1), each of which is again a U of four.
 */
#include <errno.h>
#include <stdlib.h>

#include "ktap.h"
#include <tessera/layout.h>

static unsigned char order[16][16];	/* [y][x]: number of the texel in its tile */
static unsigned int next;

static void walk(unsigned int x, unsigned int y, unsigned int side)
{
	unsigned int half = side / 2;

	if (side == 1) {
		order[y][x] = next++;
		return;
	}
	walk(x, y, half);
	walk(x + half, y, half);
	walk(x + half, y + half, half);
	walk(x, y + half, half);
}

/* First byte of a texel, from the order above and nothing of the library. */
static size_t reference(const struct tsr_surface *s, unsigned int x, unsigned int y)
{
	if (s->layout == TSR_LAYOUT_LINEAR)
		return (size_t)s->pitch * y + (size_t)s->texel * x;
	return (size_t)s->pitch * (y / 16) + (size_t)(x / 16) * 256 * s->texel +
	       (size_t)order[y % 16][x % 16] * s->texel;
}

/* The four by four corner of a tile, written out by hand from the bits of x ^ y and y. */
static void test_corner(void)
{
	static const unsigned char corner[4][4] = {
		{ 0, 1, 4, 5 },
		{ 3, 2, 7, 6 },
		{ 12, 13, 8, 9 },
		{ 15, 14, 11, 10 },
	};
	struct tsr_surface s;
	unsigned int x, y;

	KTAP_REQUIRE(!tsr_surface_init(&s, TSR_LAYOUT_TILED, 16, 16, 1, 0));
	for (y = 0; y < 4; y++) {
		for (x = 0; x < 4; x++)
			ktap_eq(tsr_surface_offset(&s, x, y), corner[y][x]);
	}
	ktap_eq(tsr_surface_offset(&s, 15, 15), 0xaa);
	ktap_eq(tsr_surface_offset(&s, 0, 15), 0xff);
	ktap_eq(tsr_surface_offset(&s, 15, 0), 0x55);
}

static void test_offsets(void)
{
	static const unsigned int sizes[][2] = { { 1, 1 }, { 15, 17 }, { 16, 16 }, { 100, 33 } };
	struct tsr_surface s;
	unsigned int i, texel, layout, x, y;

	for (layout = 0; layout < 2; layout++) {
		for (texel = 1; texel <= 16; texel++) {
			for (i = 0; i < 4; i++) {
				KTAP_REQUIRE(!tsr_surface_init(&s, layout, sizes[i][0], sizes[i][1],
							       texel, 0));
				for (y = 0; y < s.height && !ktap.bad; y++)
					for (x = 0; x < s.width; x++)
						ktap_eq(tsr_surface_offset(&s, x, y),
							reference(&s, x, y));
			}
		}
	}
}

static void test_sizes(void)
{
	struct tsr_surface s;

	KTAP_REQUIRE(!tsr_surface_init(&s, TSR_LAYOUT_LINEAR, 100, 10, 4, 0));
	ktap_eq(s.pitch, 448);			/* 400 up to a multiple of 64 */
	ktap_eq(s.size, 9 * 448 + 400);
	ktap_eq(s.align, 1);
	KTAP_REQUIRE(!tsr_surface_init(&s, TSR_LAYOUT_LINEAR, 100, 10, 3, 301));
	ktap_eq(s.size, 9 * 301 + 300);
	KTAP_REQUIRE(!tsr_surface_init(&s, TSR_LAYOUT_TILED, 17, 33, 4, 0));
	ktap_eq(s.pitch, 2 * 1024);
	ktap_eq(s.size, 3 * 2 * 1024);
	ktap_eq(s.align, 64);
	KTAP_REQUIRE(!tsr_surface_init(&s, TSR_LAYOUT_TILED, 65536, 65536, 16, 0));
	ktap_eq(s.pitch, 4096u * 256 * 16);
	ktap_eq(s.size, 1ull << 36);
	ktap_eq(tsr_surface_offset(&s, 65535, 65535),
		4095ull * s.pitch + 4095ull * 4096 + 0xaa * 16);
}

static void test_refused(void)
{
	static const struct {
		unsigned int layout, width, height, texel, pitch;
	} bad[] = {
		{ 2, 16, 16, 4, 0 },	 { 0, 0, 16, 4, 0 },	   { 0, 16, 0, 4, 0 },
		{ 0, 65537, 1, 4, 0 },	 { 0, 1, 65537, 4, 0 },	   { 0, 16, 16, 0, 0 },
		{ 0, 16, 16, 17, 0 },	 { 0, 16, 16, 4, 63 },	   { 1, 17, 16, 4, 1024 },
		{ 1, 16, 16, 4, 1025 },	 { 1, 16, 16, 3, 1024 },
	};
	struct tsr_surface s, before;
	unsigned int i;

	memset(&before, 0x5a, sizeof(before));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		s = before;
		ktap_eq(tsr_surface_init(&s, bad[i].layout, bad[i].width, bad[i].height,
					 bad[i].texel, bad[i].pitch), -EINVAL);
		ktap_mem_eq(&s, &before, sizeof(s));
	}
}

static unsigned char noise(size_t i)
{
	return (unsigned char)((i * 2654435761u) >> 13);
}

/* Write a rectangle, look where each byte went; read it back; the rest stays as it was. */
static void check_transfer(const struct tsr_surface *s, const unsigned int rect[4])
{
	unsigned int x0 = rect[0], y0 = rect[1], w = rect[2], h = rect[3], x, y, b;
	size_t pitch = (size_t)w * s->texel + 3, at;
	unsigned char *memory = malloc(s->size), *expected = malloc(s->size);
	unsigned char *rows = malloc(pitch * h + 1), *back = malloc(pitch * h + 1);

	memset(memory, 0xee, s->size);
	memset(expected, 0xee, s->size);
	memset(back, 0xdd, pitch * h + 1);
	for (at = 0; at < pitch * h; at++)
		rows[at] = noise(at);
	ktap_eq(tsr_surface_write(s, memory, x0, y0, w, h, rows, pitch), 0);
	for (y = 0; y < h; y++)
		for (x = 0; x < w; x++)
			for (b = 0; b < s->texel; b++)
				expected[reference(s, x0 + x, y0 + y) + b] =
					rows[y * pitch + x * s->texel + b];
	ktap_mem_eq(memory, expected, s->size);
	ktap_eq(tsr_surface_read(s, memory, x0, y0, w, h, back, pitch), 0);
	for (y = 0; y < h; y++) {
		ktap_mem_eq(back + y * pitch, rows + y * pitch, (size_t)w * s->texel);
		ktap_eq(back[y * pitch + (size_t)w * s->texel], 0xdd);
	}
	free(memory);
	free(expected);
	free(rows);
	free(back);
}

static void test_transfers(void)
{
	static const unsigned int rects[][4] = {
		{0, 0, 45, 37}, {0, 0, 1, 1}, {44, 36, 1, 1}, {3, 5, 30, 20}, {15, 15, 2, 2},
	};
	struct tsr_surface s;
	unsigned int layout, texel, i;

	for (layout = 0; layout < 2; layout++) {
		for (texel = 1; texel <= 16; texel++) {
			KTAP_REQUIRE(!tsr_surface_init(&s, layout, 45, 37, texel, 0));
			for (i = 0; i < 5 && !ktap.bad; i++)
				check_transfer(&s, rects[i]);
		}
	}
}

static void test_transfer_refused(void)
{
	unsigned char memory[1024], before[1024], rows[1024] = { 0 };
	struct tsr_surface s;

	KTAP_REQUIRE(!tsr_surface_init(&s, TSR_LAYOUT_TILED, 10, 10, 4, 0));
	memset(memory, 7, sizeof(memory));
	memcpy(before, memory, sizeof(memory));
	ktap_eq(tsr_surface_write(&s, memory, 0, 0, 11, 1, rows, 64), -EINVAL);
	ktap_eq(tsr_surface_write(&s, memory, 0, 0, 1, 11, rows, 64), -EINVAL);
	ktap_eq(tsr_surface_write(&s, memory, 10, 0, 1, 1, rows, 64), -EINVAL);
	ktap_eq(tsr_surface_write(&s, memory, UINT32_MAX, 0, 2, 1, rows, 64), -EINVAL);
	ktap_eq(tsr_surface_write(&s, memory, 2, 0, UINT32_MAX, 1, rows, 64), -EINVAL);
	ktap_eq(tsr_surface_write(&s, memory, 0, 0, 10, 2, rows, 39), -EINVAL);
	ktap_eq(tsr_surface_write(&s, memory, 10, 10, 0, 0, rows, 0), 0);
	ktap_mem_eq(memory, before, sizeof(memory));
}

int main(void)
{
	walk(0, 0, 16);
	ktap_start();
	ktap_run("[MEM5] the corner of a u-interleaved tile, by hand", test_corner);
	ktap_run("[MEM5] offsets equal the U order, all texel sizes", test_offsets);
	ktap_run("[MEM5] pitches and sizes", test_sizes);
	ktap_run("[MEM5] impossible surfaces are refused", test_refused);
	ktap_run("[SYS5] uploads and read-backs of rectangles, all texel sizes", test_transfers);
	ktap_run("[SYS5] transfers outside the surface are refused", test_transfer_refused);
	return ktap_finish();
}
