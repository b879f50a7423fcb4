/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=240 */
/*
 * Coverage of triangles, points and lines: set-up and walk over the blocks of tiles, against
 * raster_ref.h, sample by sample; any size of tiles, any rectangle, any number of samples.
 */
#include <math.h>
#include <stdlib.h>

#include "ktap.h"
#include "simd/simd.h"
#include "soup.h"
#include "raster/raster.h"

#define SIDE_MAX 128

/* A picture: which samples of each pixel are covered. */
static uint16_t picture[SIDE_MAX][SIDE_MAX];

/* How a primitive is drawn. */
struct how {
	unsigned int width, height;	/* of the frame */
	unsigned int shift;		/* log2 of the tiles' side */
	unsigned int samples_log2;
	uint16_t mask;
	struct tsr_rect scissor;
	struct tsr_raster_rules rules;
	const char *simd;
};

static void add(const struct tsr_tile *tile, const struct tsr_covered *c, const struct how *how)
{
	for (unsigned int i = 0; i < TSR_BLOCK_PIXELS; i++) {
		unsigned int x = c->x + i % 8, y = c->y + i / 8;
		unsigned int bit = tsr_block_pixel(x % 8, y % 8);
		bool any = false;

		for (unsigned int s = 0; s < 1u << how->samples_log2; s++) {
			if (!(c->mask[s] >> bit & 1))
				continue;
			any = true;
			if (tile->y + y >= how->height || tile->x + x >= how->width) {
				ktap_fail("pixel %u, %u is not in the frame", tile->x + x,
					  tile->y + y);
				continue;
			}
			/* no block comes twice */
			ktap_ok(!(picture[tile->y + y][tile->x + x] >> s & 1));
			picture[tile->y + y][tile->x + x] |= 1u << s;
		}
		ktap_eq(c->any >> bit & 1, any);
	}
}

/* The blocks that a walk is to visit are those of its rectangle. */
static void check_walk(const struct tsr_walk_blocks *w)
{
	const unsigned int x1 = (w->rect.x1 - 1) / 8, y1 = (w->rect.y1 - 1) / 8;

	ktap_ok(w->x == w->x0 && w->y == w->y0);
	ktap_eq(w->x0, w->rect.x0 / 8);
	ktap_eq(w->y0, w->rect.y0 / 8);
	ktap_eq(w->x1, x1 + 1);
	ktap_eq(w->y1, y1 + 1);
	ktap_eq(w->single, w->few && w->x0 == x1 && w->y0 == y1);
}

/* Draw @prim into an empty picture. */
static void draw(const struct tsr_prim *prim, const struct how *how)
{
	static struct tsr_tile tile;
	const struct tsr_simd *simd = how->simd ? tsr_simd_named(how->simd) : tsr_simd_best();
	unsigned int side = 1u << how->shift;
	struct tsr_shape shape;

	memset(picture, 0, sizeof(picture));
	tsr_shape_set(&shape, prim, &how->rules, &how->scissor);
	tile.shift = how->shift;
	tile.samples_log2 = how->samples_log2;
	for (tile.y = 0; tile.y < how->height; tile.y += side) {
		for (tile.x = 0; tile.x < how->width; tile.x += side) {
			struct tsr_walk_blocks walk;
			struct tsr_covered covered;

			tile.width = how->width - tile.x < side ? how->width - tile.x : side;
			tile.height = how->height - tile.y < side ? how->height - tile.y : side;
			if (!tsr_walk_begin(&walk, &shape, &tile))
				continue;
			check_walk(&walk);
			while (tsr_walk_next(&walk, simd->raster, how->samples_log2, how->mask,
					     &covered))
				add(&tile, &covered, how);
		}
	}
}

static bool inside(const struct tsr_rect *r, int x, int y)
{
	return x >= r->x0 && x < r->x1 && y >= r->y0 && y < r->y1;
}

/* Any state: rectangles that cut, tiles of all sizes, samples. */
static struct how any_how(struct soup *s, unsigned int width, unsigned int height)
{
	struct how how = { .width = width, .height = height, .mask = 0xffff };

	how.shift = (unsigned int)soup_between(s, 4, TSR_TILE_SHIFT_MAX);
	how.samples_log2 = (unsigned int)soup_below(s, 5);
	how.scissor = (struct tsr_rect){ 0, 0, (int)width, (int)height };
	if (!soup_below(s, 4)) {
		how.scissor.x0 = (int)soup_below(s, width);
		how.scissor.y0 = (int)soup_below(s, height);
		how.scissor.x1 = (int)soup_between(s, 0, width);
		how.scissor.y1 = (int)soup_between(s, 0, height);
	}
	if (!soup_below(s, 8))
		how.mask = (uint16_t)soup_below(s, 65536);
	if (!soup_below(s, 4))
		how.simd = "sse2";
	return how;
}

static struct tsr_prim prim_of(const struct raster_point *v, unsigned int vertices)
{
	struct tsr_prim prim = { .vertices = vertices };

	for (unsigned int i = 0; i < vertices; i++) {
		prim.v[i].x = (int32_t)v[i].x;
		prim.v[i].y = (int32_t)v[i].y;
		prim.v[i].rw = 1;
	}
	return prim;
}

/* ---- Triangles ------------------------------------------------------------------------------- */

static void check_triangle(const struct raster_point v[3], const struct how *how)
{
	struct tsr_prim prim = prim_of(v, 3);
	unsigned int samples = 1u << how->samples_log2;

	draw(&prim, how);
	for (unsigned int y = 0; y < how->height; y++) {
		for (unsigned int x = 0; x < how->width; x++) {
			uint16_t want = 0;

			for (unsigned int s = 0; s < samples; s++)
				want |= (unsigned int)raster_ref_triangle(
					v, raster_ref_sample(samples, s, x, y)) << s;
			if (!inside(&how->scissor, (int)x, (int)y))
				want = 0;
			if (picture[y][x] == (want & how->mask))
				continue;
			ktap_fail("(%lld, %lld) (%lld, %lld) (%lld, %lld), %u samples, pixel "
				  "%u, %u: %#x, not %#x", (long long)v[0].x, (long long)v[0].y,
				  (long long)v[1].x, (long long)v[1].y, (long long)v[2].x,
				  (long long)v[2].y, samples, x, y, picture[y][x],
				  want & how->mask);
			return;
		}
	}
}

/* A small frame, so that there can be many. */
static void soup_small(void)
{
	unsigned int count = getenv("TSR_QUICK") ? 20000 : 100000;
	struct soup s = soup_new(11);

	for (unsigned int n = 0; n < count; n++) {
		struct how how = any_how(&s, 13, 11);
		struct raster_point v[3];

		soup_triangle(&s, n % SOUP_KINDS, how.width, how.height, v);
		check_triangle(v, &how);
	}
}

static void soup_large(void)
{
	struct soup s = soup_new(12);

	for (unsigned int n = 0; n < 400; n++) {
		struct how how = any_how(&s, SIDE_MAX - 5, SIDE_MAX - 27);
		struct raster_point v[3];

		soup_triangle(&s, n % SOUP_KINDS, how.width, how.height, v);
		check_triangle(v, &how);
	}
}

/* Every sample of a mesh once. */
static void meshes(void)
{
	static uint16_t all[SIDE_MAX][SIDE_MAX];
	static struct soup_mesh m;
	struct soup s = soup_new(13);

	for (unsigned int n = 0; n < 30; n++) {
		struct how how = any_how(&s, 80, 60);
		uint16_t full = (uint16_t)((1u << (1u << how.samples_log2)) - 1);

		how.scissor = (struct tsr_rect){ 0, 0, 80, 60 };
		how.mask = full;
		soup_mesh(&s, &m, 1 + n, 1 + n / 2, 80, 60);
		memset(all, 0, sizeof(all));
		for (unsigned int t = 0; t < 2 * m.columns * m.rows; t++) {
			struct raster_point v[3];
			struct tsr_prim prim;

			soup_mesh_triangle(&m, t, v);
			prim = prim_of(v, 3);
			draw(&prim, &how);
			for (unsigned int y = 0; y < 60; y++) {
				for (unsigned int x = 0; x < 80; x++) {
					ktap_eq(all[y][x] & picture[y][x], 0);
					all[y][x] |= picture[y][x];
				}
			}
		}
		for (unsigned int y = 0; y < 60; y++) {
			for (unsigned int x = 0; x < 80; x++)
				ktap_eq(all[y][x], full);
		}
	}
}

/* ---- Points ---------------------------------------------------------------------------------- */

static void points(void)
{
	struct soup s = soup_new(14);

	for (unsigned int n = 0; n < 1500; n++) {
		struct how how = any_how(&s, 40, 30);
		unsigned int samples = 1u << how.samples_log2;
		/* whole numbers of 1/128 pixel: the square's corners are on the grid */
		int64_t size = soup_between(&s, 1, n % 3 ? 10 * 128 : 100 * 128) * 2;
		struct raster_point c = { soup_between(&s, -1000, 41 * 256),
					  soup_between(&s, -1000, 31 * 256) };
		struct tsr_prim prim = prim_of(&c, 1);

		prim.point_size = (float)size / RASTER_ONE;
		draw(&prim, &how);
		for (unsigned int i = 0; i < 40 * 30 * samples; i++) {
			unsigned int x = i / samples % 40, y = i / samples / 40, k = i % samples;
			/* what is smaller than a pixel is one */
			bool want = raster_ref_square(c, size < RASTER_ONE ? RASTER_ONE : size,
						      raster_ref_sample(samples, k, x, y));

			if ((picture[y][x] >> k & 1) != (want && how.mask >> k & 1 &&
							 inside(&how.scissor, (int)x, (int)y)))
				ktap_fail("point (%lld, %lld) size %g, %u samples: pixel %u, %u",
					  (long long)c.x, (long long)c.y, prim.point_size, samples,
					  x, y);
		}
	}
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void any_line(struct soup *s, struct raster_point v[2])
{
	struct raster_point t[3];

	soup_triangle(s, soup_below(s, 2) ? SOUP_ANY : SOUP_GRID, 40, 30, t);
	v[0] = t[0];
	v[1] = t[1];
	switch (soup_below(s, 6)) {
	case 0:
		v[1].x = v[0].x;
		break;
	case 1:
		v[1].y = v[0].y;
		break;
	case 2:
		v[1].x = v[0].x + v[1].y - v[0].y;
		break;
	}
}

static void bresenham(void)
{
	struct soup s = soup_new(15);

	for (unsigned int n = 0; n < 3000; n++) {
		struct how how = any_how(&s, 40, 30);
		struct raster_point v[2];
		struct tsr_prim prim;

		any_line(&s, v);
		prim = prim_of(v, 2);
		how.samples_log2 = 0;
		how.mask = 1;
		how.rules = (struct tsr_raster_rules){ .bresenham = true, .line_width = 1 };
		draw(&prim, &how);
		for (unsigned int i = 0; i < 40 * 30; i++) {
			unsigned int x = i % 40, y = i / 40;
			bool want = raster_ref_diamond_exit(v[0], v[1], x, y) &&
				    inside(&how.scissor, (int)x, (int)y);

			if (picture[y][x] != want)
				ktap_fail("line (%lld, %lld) (%lld, %lld): pixel %u, %u: %u",
					  (long long)v[0].x, (long long)v[0].y, (long long)v[1].x,
					  (long long)v[1].y, x, y, picture[y][x]);
		}
	}
}

static void rectangles(void)
{
	struct soup s = soup_new(16);
	unsigned int decided = 0;

	for (unsigned int n = 0; n < 2000; n++) {
		struct how how = any_how(&s, 40, 30);
		unsigned int samples = 1u << how.samples_log2;
		struct raster_point v[2];
		struct tsr_prim prim;

		any_line(&s, v);
		prim = prim_of(v, 2);
		how.rules.line_width = n % 2 ? 1 : (float)soup_between(&s, 1, 80) / 8;
		draw(&prim, &how);
		for (unsigned int i = 0; i < 40 * 30 * samples; i++) {
			unsigned int x = i / samples % 40, y = i / samples / 40, k = i % samples;
			struct raster_point p = raster_ref_sample(samples, k, x, y);
			enum raster_verdict want = raster_ref_rectangle(v[0], v[1],
						fmax(how.rules.line_width, 1), 1.5, p);

			if (!(how.mask >> k & 1) || !inside(&how.scissor, (int)x, (int)y))
				want = RASTER_OUT;
			decided += want == RASTER_IN;
			if (want != RASTER_EITHER && (picture[y][x] >> k & 1) != want)
				ktap_fail("line (%lld, %lld) (%lld, %lld) width %g, %u samples: "
					  "pixel %u, %u", (long long)v[0].x, (long long)v[0].y,
					  (long long)v[1].x, (long long)v[1].y,
					  how.rules.line_width, samples, x, y);
		}
	}
	ktap_ok(decided > 100000);
}

int main(void)
{
	ktap_start();
	ktap_run("[RAST1] [RAST2] [RAST3] [RAST4] a soup of triangles is covered exactly",
		 soup_small);
	ktap_run("[RAST1] [RAST2] [RAST3] [RAST4] the same in a larger frame", soup_large);
	ktap_run("[RAST1] each sample of a mesh is covered once", meshes);
	ktap_run("[PA7] points", points);
	ktap_run("[PA7] Bresenham lines: diamond-exit rule", bresenham);
	ktap_run("[PA7] rectangular lines", rectangles);
	return ktap_finish();
}
