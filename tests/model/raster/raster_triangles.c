/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Coverage of triangles compared with the rules, sample by sample in 128-bit integers: random
 * triangles, shared edges, every path, tile size and number of samples.
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "raster/raster.h"
#include "tsr_samples.h"
#include "simd/simd.h"

#define SIDE 64		/* pixels of the picture */

/* ---- The rules ------------------------------------------------------------------------------- */

/* Twice the area of the triangle p, q, (x, y); positive: clockwise as the picture is seen. */
static __int128 area(const struct tsr_screen_vertex *p, const struct tsr_screen_vertex *q,
		     int64_t x, int64_t y)
{
	return (__int128)((int64_t)q->x - p->x) * (y - p->y) -
	       (__int128)((int64_t)q->y - p->y) * (x - p->x);
}

static bool covers(const struct tsr_screen_vertex *v, int64_t x, int64_t y)
{
	__int128 whole = area(&v[0], &v[1], v[2].x, v[2].y);

	if (!whole)
		return false;
	for (unsigned int i = 0; i < 3; i++) {
		/* clockwise: inside is to the right of each edge */
		const struct tsr_screen_vertex *p = &v[whole > 0 ? i : (i + 1) % 3];
		const struct tsr_screen_vertex *q = &v[whole > 0 ? (i + 1) % 3 : i];
		__int128 side = area(p, q, x, y);
		/* a top edge goes to the right, a left one up */
		bool top_left = (p->y == q->y && q->x > p->x) || q->y < p->y;

		if (side < 0 || (!side && !top_left))
			return false;
	}
	return true;
}

/* ---- The model ------------------------------------------------------------------------------- */

struct picture {
	uint16_t covered[SIDE][SIDE];	/* samples, one bit each */
	uint8_t times[SIDE][SIDE];	/* sample 0, how often */
};

static void draw(struct picture *pic, const struct tsr_prim *prim, const struct tsr_rect *clip,
		 const struct tsr_fine *fine, unsigned int shift, unsigned int samples_log2,
		 uint16_t mask)
{
	static const struct tsr_raster_rules rules;
	const unsigned int across = SIDE >> shift;
	struct tsr_shape shape;

	tsr_shape_set(&shape, prim, &rules, clip);
	for (unsigned int t = 0; t < across * across; t++) {
		struct tsr_tile tile = { .x = t % across << shift, .y = t / across << shift,
					 .width = 1u << shift, .height = 1u << shift,
					 .shift = shift, .samples_log2 = samples_log2 };
		struct tsr_walk_blocks walk;
		struct tsr_covered c;

		if (!tsr_walk_begin(&walk, &shape, &tile))
			continue;
		while (tsr_walk_next(&walk, fine, samples_log2, mask, &c)) {
			for (unsigned int i = 0; i < 64; i++) {
				unsigned int x = i & 7, y = i >> 3, p = tsr_block_pixel(x, y);
				uint16_t *to = &pic->covered[tile.y + c.y + y][tile.x + c.x + x];

				for (unsigned int s = 0; s < 1u << samples_log2; s++)
					*to |= (c.mask[s] >> p & 1) << s;
				pic->times[tile.y + c.y + y][tile.x + c.x + x] +=
					c.mask[0] >> p & 1;
			}
		}
	}
}

static unsigned int compare(const struct picture *pic, const struct tsr_prim *prim,
			    const struct tsr_rect *clip, unsigned int samples_log2, uint16_t mask)
{
	unsigned int wrong = 0;

	for (int y = 0; y < SIDE; y++) {
		for (int x = 0; x < SIDE; x++) {
			bool in = x >= clip->x0 && x < clip->x1 && y >= clip->y0 && y < clip->y1;

			for (unsigned int s = 0; s < 1u << samples_log2; s++) {
				const int8_t *at = tsr_sample_position[samples_log2][s];
				bool want = in && mask >> s & 1 &&
					    covers(prim->v, x * 256 + at[0] * 16,
						   y * 256 + at[1] * 16);

				wrong += want != (pic->covered[y][x] >> s & 1);
			}
		}
	}
	return wrong;
}

/* ---- Soups ----------------------------------------------------------------------------------- */

static void random_vertex(struct tsr_screen_vertex *v, unsigned int kind)
{
	int32_t far = 32768 * 256 - 1;

	switch (kind) {
	case 0:				/* anywhere in and around the picture */
		v->x = rnd_in(-32 * 256, (SIDE + 32) * 256);
		v->y = rnd_in(-32 * 256, (SIDE + 32) * 256);
		break;
	case 1:				/* on centres, corners and what is next to them */
		v->x = rnd_in(0, SIDE * 2) * 128 + rnd_in(-1, 1);
		v->y = rnd_in(0, SIDE * 2) * 128 + rnd_in(-1, 1);
		break;
	case 2:				/* as far away as can be */
		v->x = rnd() & 1 ? far - (int)(rnd() % 512) : -far - 1 + (int)(rnd() % 512);
		v->y = rnd() & 1 ? far - (int)(rnd() % 512) : -far - 1 + (int)(rnd() % 512);
		break;
	default:
		v->x = rnd_in(-far, far);
		v->y = rnd_in(-far, far);
	}
}

static void random_triangle(struct tsr_prim *prim)
{
	unsigned int kind = rnd() % 8;
	struct tsr_screen_vertex *v = prim->v;

	memset(prim, 0, sizeof(*prim));
	prim->vertices = 3;
	for (unsigned int i = 0; i < 3; i++)
		random_vertex(&v[i], kind < 4 ? kind : 0);
	if (kind >= 4) {		/* tiny ones, and slivers */
		for (unsigned int i = 1; i < 3; i++) {
			v[i].x = v[0].x + rnd_in(-700, 700) * (kind < 6 ? 1 : 64);
			v[i].y = v[0].y + rnd_in(-700, 700);
		}
	}
	if (kind == 7) {
		v[2].x = v[0].x + (v[1].x - v[0].x) / 2 + rnd_in(-1, 1);
		v[2].y = v[0].y + (v[1].y - v[0].y) / 2 + rnd_in(-1, 1);
	}
}

static const struct tsr_fine *path(unsigned int n)
{
	static const char *const name[] = { "", "sse2", "avx2", "avx512" };
	const struct tsr_simd *simd = tsr_simd_named(name[n]);

	return (simd ? simd : tsr_simd_best())->raster;
}

static void soup(unsigned int triangles, unsigned int samples_log2)
{
	static struct picture pic;
	unsigned int wrong = 0;
	uint64_t covered = 0;

	for (unsigned int n = 0; n < triangles && !wrong; n++) {
		struct tsr_rect clip = { 0, 0, SIDE, SIDE };
		uint16_t mask = rnd() % 4 ? 0xffff : rnd();
		struct tsr_prim prim;

		random_triangle(&prim);
		if (!(rnd() % 4)) {
			clip.x0 = rnd_in(0, SIDE - 1);
			clip.y0 = rnd_in(0, SIDE - 1);
			clip.x1 = rnd_in(clip.x0, SIDE);
			clip.y1 = rnd_in(clip.y0, SIDE);
		}
		memset(&pic, 0, sizeof(pic));
		draw(&pic, &prim, &clip, path(rnd() % 4), 3 + rnd() % 4, samples_log2, mask);
		wrong = compare(&pic, &prim, &clip, samples_log2, mask);
		if (wrong)
			ktap_note("triangle %u: %d,%d %d,%d %d,%d", n, prim.v[0].x, prim.v[0].y,
				  prim.v[1].x, prim.v[1].y, prim.v[2].x, prim.v[2].y);
		for (unsigned int i = 0; i < SIDE * SIDE; i++)
			covered += pic.covered[i / SIDE][i % SIDE] != 0;
	}
	ktap_eq(wrong, 0);
	ktap_ok(covered > triangles);
}

static void single(void)
{
	soup(100000, 0);
}

static void multi(void)
{
	for (unsigned int s = 1; s <= 4; s++)
		soup(400, s);
}

/* ---- Shared edges ---------------------------------------------------------------------------- */

/*
 * A rectangle with a mesh of random vertices inside: each pixel of the rectangle exactly once,
 * whatever way round the triangles are.
 */
#define MESH 3
static void mesh(void)
{
	static struct picture pic;
	unsigned int wrong = 0, pixels = 0;

	for (unsigned int round = 0; round < 60; round++) {
		struct tsr_screen_vertex grid[MESH + 1][MESH + 1] = { 0 };
		const struct tsr_rect clip = { 0, 0, SIDE, SIDE };

		memset(&pic, 0, sizeof(pic));
		for (int i = 0; i <= MESH; i++) {
			for (int j = 0; j <= MESH; j++) {
				bool fixed_x = !j || j == MESH, fixed_y = !i || i == MESH;

				grid[i][j].x = (8 + 18 * j) * 256 +
					       (fixed_x ? 128 : rnd_in(-1024, 1024));
				grid[i][j].y = (8 + 18 * i) * 256 +
					       (fixed_y ? 128 : rnd_in(-1024, 1024));
			}
		}
		for (unsigned int n = 0; n < MESH * MESH * 2; n++) {
			unsigned int i = n / 2 / MESH, j = n / 2 % MESH, turn = rnd() % 3;
			struct tsr_prim prim = { .vertices = 3 };
			const struct tsr_screen_vertex corner[4] = {
				grid[i][j], grid[i][j + 1], grid[i + 1][j + 1], grid[i + 1][j]
			};

			for (unsigned int k = 0; k < 3; k++)
				prim.v[(k + turn) % 3] = corner[n & 1 ? (k ? k + 1 : 0) : k];
			if (rnd() & 1) {
				struct tsr_screen_vertex v = prim.v[0];

				prim.v[0] = prim.v[1];
				prim.v[1] = v;
			}
			draw(&pic, &prim, &clip, path(rnd() % 4), 3 + rnd() % 4, 0, 1);
		}
		for (unsigned int y = 0; y < SIDE; y++) {
			for (unsigned int x = 0; x < SIDE; x++) {
				/* the left and top side's centres belong to it, not the others' */
				bool in = x >= 8 && x < 62 && y >= 8 && y < 62;

				wrong += pic.times[y][x] != in;
				pixels += in;
			}
		}
	}
	ktap_eq(wrong, 0);
	ktap_eq(pixels, 60 * 54 * 54);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[RAST1] [RAST2] [RAST3] 100000 triangles cover what the rules say", single);
	ktap_run("[RAST4] the samples of 2, 4, 8 and 16 likewise, with sample masks", multi);
	ktap_run("[RAST1] a mesh of triangles of both windings covers each pixel once", mesh);
	return ktap_finish();
}
