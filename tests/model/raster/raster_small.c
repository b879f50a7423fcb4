/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Triangles set up together, small ones and those of a few blocks, against the way of all
 * primitives: coverage and blocks as set-up and walk find them, depths and their tests as those of
 * whole blocks, on every path.
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "raster/raster.h"
#include "tsr_samples.h"
#include "simd/simd.h"
#include "raster/small.h"
#include "tsr_packets.h"

#define SIDE 64			/* pixels of the tile */
#define PIXELS (SIDE * SIDE)
#define GROUPS 16000

static const struct tsr_fine *path(unsigned int n)
{
	static const char *const name[] = { "", "sse2", "avx2", "avx512" };
	const struct tsr_simd *simd = tsr_simd_named(name[n]);

	return (simd ? simd : tsr_simd_best())->raster;
}

/* A tile, what of it is wanted, and how depth is tested. */
struct frame {
	struct tsr_tile tile;
	struct tsr_rect clip;
	struct tsr_small_rules rules;
	struct tsr_small_test test;
	float depth[PIXELS * TSR_SMALL_SAMPLES] __attribute__((aligned(64)));
};

static void any_frame(struct frame *f)
{
	static const double scale[] = { 0, 0xffff, 0xffffff };
	struct tsr_tile *t = &f->tile;

	t->shift = 3 + rnd() % 4;
	t->samples_log2 = rnd() % 2 ? 0 : 1 + rnd() % TSR_SMALL_SAMPLES_LOG2;
	t->width = rnd() % 4 ? 1u << t->shift : 1 + rnd() % (1u << t->shift);
	t->height = rnd() % 4 ? 1u << t->shift : 1 + rnd() % (1u << t->shift);
	t->x = rnd() % 8 << t->shift;
	t->y = rnd() % 8 << t->shift;
	f->clip = (struct tsr_rect){ 0, 0, 1024, 1024 };
	if (!(rnd() % 3)) {
		f->clip.x0 = t->x + rnd() % t->width;
		f->clip.y0 = t->y + rnd() % t->height;
		f->clip.x1 = f->clip.x0 + rnd() % t->width;
		f->clip.y1 = f->clip.y0 + rnd() % t->height;
	}
	f->rules = (struct tsr_small_rules){
		.x0 = t->x, .y0 = t->y, .x1 = t->x + t->width, .y1 = t->y + t->height,
		.x = t->x, .y = t->y, .shift = t->shift, .samples_log2 = t->samples_log2,
		.depth = true,
	};
#define CUT(side, op) if (f->clip.side op f->rules.side) f->rules.side = f->clip.side
	CUT(x0, >);
	CUT(y0, >);
	CUT(x1, <);
	CUT(y1, <);
	f->test = (struct tsr_small_test){
		.low = rnd() % 4 ? 0 : 0.25, .high = rnd() % 4 ? 1 : 0.75,
		.scale = scale[rnd() % 3], .function = rnd() % 8, .write = rnd() % 4,
	};
	for (unsigned int i = 0; i < PIXELS * TSR_SMALL_SAMPLES; i++)
		f->depth[i] = (float)(rnd() % 9 / 8.0 * (f->test.scale != 0 ? f->test.scale : 1));
}

static float any_depth(void)
{
	static const float some[] = { 0, -0.0f, 1, 0.5f, -0.5f, 2, 0.25f };

	return rnd() % 3 ? (float)rnd() / 4294967296.0f : some[rnd() % 7];
}

static void any_triangle(const struct frame *f, struct tsr_screen_vertex v[3])
{
	static const int32_t reaches[8] = { 6000, 2000 };
	int32_t reach = reaches[rnd() % 8];
	int32_t x = f->tile.x * 256 + rnd_in(-600, (SIDE + 1) * 256) % (256 * (int)f->tile.width);
	int32_t y = f->tile.y * 256 + rnd_in(-600, (SIDE + 1) * 256) % (256 * (int)f->tile.height);

	reach = reach ? reach + (int32_t)(rnd() % (2 * reach)) : 150 + (int32_t)(rnd() % 450);
	for (unsigned int i = 0; i < 3; i++) {
		v[i].x = x + rnd_in(-reach, reach);
		v[i].y = y + rnd_in(-reach, reach);
		if (!(rnd() % 3)) {		/* centres and what is next to them */
			v[i].x = (v[i].x & ~127) + rnd_in(-1, 1);
			v[i].y = (v[i].y & ~127) + rnd_in(-1, 1);
		}
		v[i].z = any_depth();
		v[i].rw = 1;
	}
	if (!(rnd() % 8))
		v[2].z = v[1].z = v[0].z;
	if (!(rnd() % 16))
		v[2] = v[1];
	if (!(rnd() % 8))			/* far away, but for a corner */
		v[1].x = rnd_in(-32768 * 256, 32768 * 256 - 1);
}

/* Pixels of triangle @i of @s of which sample @n is covered. */
static uint32_t mask_of(const struct tsr_small *s, unsigned int i, unsigned int n)
{
	return (uint32_t)(s->samples_log2 ? s->sample[n][i] : s->mask[i]);
}

static unsigned int samples_of(const struct tsr_small *s, unsigned int i)
{
	unsigned int count = 0;

	for (unsigned int n = 0; n < 1u << s->samples_log2; n++)
		count += tsr_pixel_count(mask_of(s, i, n));
	return count;
}

/* The pixels of its quad @q, as in tsr_small_quads.pixels. */
static unsigned int quad_of(const struct tsr_small *s, unsigned int i, unsigned int q)
{
	unsigned int bits = 0;

	for (unsigned int n = 0; n < 1u << s->samples_log2; n++)
		bits |= (mask_of(s, i, n) >> 4 * q & 15) << 4 * n;
	return bits;
}

/* Pixels of triangle @i of @s in the block at (@x, @y), in its order, by sample @n. */
static uint64_t in_block(const struct tsr_small *s, unsigned int i, unsigned int n, unsigned int x,
			 unsigned int y)
{
	uint64_t mask = 0;

	for (unsigned int p = 0; p < 16; p++) {
		unsigned int px = s->x[i] + (p >> 1 & 2) + (p & 1);
		unsigned int py = s->y[i] + (p >> 2 & 2) + (p >> 1 & 1);

		if (mask_of(s, i, n) >> p & 1 && px >> 3 == x >> 3 && py >> 3 == y >> 3)
			mask |= 1ull << tsr_block_pixel(px & 7, py & 7);
	}
	return mask;
}

/* Test a block's samples @n as core.c does: what passes; depths of the tile are written. */
static uint64_t test_block(struct frame *f, const struct tsr_fine *fine,
			   const struct tsr_shape *shape, const struct tsr_covered *c,
			   unsigned int n)
{
	const int8_t *at = tsr_sample_position[f->tile.samples_log2][n];
	float *stored = f->depth + tsr_tile_place(&f->tile, c->x, c->y, n);
	float z[TSR_BLOCK_PIXELS] __attribute__((aligned(64)));
	int64_t x = (int64_t)(f->tile.x + c->x) * 256 + 16 * at[0];
	int64_t y = (int64_t)(f->tile.y + c->y) * 256 + 16 * at[1];
	struct tsr_fine_depth d = {
		.base = shape->base, .low = f->test.low, .high = f->test.high,
		.scale = f->test.scale,
	};
	uint64_t pass;

	for (unsigned int i = 0; i < 2; i++) {
		const struct tsr_edge *e = &shape->depth[i];

		d.k[i] = shape->k[i];
		d.c[i] = (double)(e->c + e->a * x + e->b * y);
		d.a[i] = e->a * 256.0;
		d.b[i] = e->b * 256.0;
	}
	fine->depth(&d, c->mask[n], z);
	pass = fine->compare(z, stored, f->test.function, c->mask[n]);
	if (f->test.write)
		fine->store(z, stored, pass);
	return pass;
}

struct found {
	unsigned int wrong, small, covered, several, split, passed;
	unsigned int few, few_blocks;
};

/* Test triangle @i: pixels that pass; *@right: the quads are those that have some. */
static unsigned int small_test(struct frame *f, const struct tsr_fine *fine,
			       const struct tsr_small *s, unsigned int i, bool *right)
{
	static struct tsr_small_quads q;
	unsigned int pixels = 0, before = 0;

	fine->small_quads(s, i, i + 1, &f->test, f->depth, &q);
	for (unsigned int n = 0; n < q.count; n++) {
		const unsigned int k = q.quad[n];

		*right &= k < 4 && q.triangle[n] == i && q.at[n] == s->at[k][i] && q.pixels[n] &&
			  !(q.pixels[n] & ~quad_of(s, i, k)) && (!n || k > before);
		before = k;
		pixels += tsr_pixel_count(q.pixels[n]);
	}
	*right &= pixels == q.passed && q.covered == samples_of(s, i);
	return q.passed;
}

/* A run of small ones at once, against the same one by one; now and then without a test. */
static unsigned int check_run(const struct frame *f, const struct tsr_fine *fine,
			      const struct tsr_small *s)
{
	const unsigned int first = rnd() % TSR_TILE_TRIANGLES;
	static struct tsr_small_quads all, one;
	static struct frame at_once, singly;
	const bool test = rnd() % 4;
	unsigned int end = first, n = 0, wrong = 0;

	at_once = singly = *f;
	while (end < TSR_TILE_TRIANGLES && !(s->large >> end & 1))
		end++;
	fine->small_quads(s, first, end, test ? &f->test : NULL, at_once.depth, &all);
	for (unsigned int i = first; i < end; i++) {
		fine->small_quads(s, i, i + 1, test ? &f->test : NULL, singly.depth, &one);
		all.covered -= one.covered;
		all.passed -= one.passed;
		wrong += !test && one.passed != one.covered;
		for (unsigned int k = 0; k < one.count; k++, n++)
			wrong += n >= all.count || all.triangle[n] != i ||
				 all.quad[n] != one.quad[k] || all.pixels[n] != one.pixels[k] ||
				 all.at[n] != one.at[k];
	}
	return wrong + (n != all.count || all.covered || all.passed ||
			memcmp(at_once.depth, singly.depth, sizeof(singly.depth)) != 0);
}

/* Triangle @i both ways: first that of all primitives, then the other. */
static void check(struct frame *f, const struct tsr_fine *fine, const struct tsr_prim *prim,
		  const struct tsr_small *s, unsigned int i, struct found *found)
{
	static const struct tsr_raster_rules rules;
	static struct frame other;
	const unsigned int samples_log2 = f->tile.samples_log2;
	unsigned int blocks = 0, covered = 0, passed = 0;
	struct tsr_walk_blocks walk;
	struct tsr_shape shape;
	struct tsr_covered c;
	bool right = true;

	other = *f;
	tsr_shape_set(&shape, prim, &rules, &f->clip);
	if (tsr_walk_begin(&walk, &shape, &f->tile)) {
		while (tsr_walk_next(&walk, fine, samples_log2, UINT16_MAX, &c)) {
			if (!blocks++)
				tsr_shape_depth(&shape, prim, &rules);
			for (unsigned int k = 0; k < 1u << samples_log2; k++) {
				found->wrong += c.mask[k] != in_block(s, i, k, c.x, c.y);
				covered += tsr_pixel_count(c.mask[k]);
				passed += tsr_pixel_count(test_block(f, fine, &shape, &c, k));
			}
		}
	}
	found->wrong += covered != samples_of(s, i);
	found->small++;
	if (!covered)
		return;
	found->wrong += blocks != (unsigned int)s->blocks[i];
	found->wrong += small_test(&other, fine, s, i, &right) != passed || !right;
	found->wrong += memcmp(other.depth, f->depth, sizeof(f->depth)) != 0;
	found->covered++;
	found->several += samples_log2 != 0;
	found->split += blocks > 1;
	found->passed += passed != 0;
}

/* True if block (@x, @y) of the tile is the next of @b, the first of which is at (@x0, @y0). */
static bool is_next(const struct tsr_fine_blocks *b, unsigned int next, unsigned int x,
		    unsigned int y, const struct tsr_rect *r, uint64_t pass)
{
	return next < b->count && b->block[next].mask == pass &&
	       b->block[next].x == (x >> 3) - ((unsigned int)r->x0 >> 3) &&
	       b->block[next].y == (y >> 3) - ((unsigned int)r->y0 >> 3);
}

/* Triangle @i of a few blocks both ways; now and then without a test of depth. */
static void check_few(struct frame *f, const struct tsr_fine *fine, const struct tsr_prim *prim,
		      const struct tsr_small *s, unsigned int i, struct found *found)
{
	static const struct tsr_raster_rules rules;
	unsigned int next = 0, covered = 0, pixels = 0, passed = 0;
	const bool test = rnd() % 4;
	static struct tsr_fine_blocks blocks;
	static struct frame other;
	struct tsr_walk_blocks walk;
	struct tsr_fine_few few;
	struct tsr_shape shape;
	struct tsr_covered c;
	struct tsr_rect r;

	other = *f;
	r = tsr_few_set(&few, s, i, &f->tile, test);
	few.function = f->test.function;
	few.write = f->test.write;
	few.depth.low = f->test.low;
	few.depth.high = f->test.high;
	few.depth.scale = f->test.scale;
	few.stored = other.depth + tsr_tile_block(&f->tile, r.x0, r.y0) * TSR_BLOCK_PIXELS;
	fine->few(&few, &blocks);
	tsr_shape_set(&shape, prim, &rules, &f->clip);
	if (tsr_walk_begin(&walk, &shape, &f->tile)) {
		while (tsr_walk_next(&walk, fine, 0, 1, &c)) {
			uint64_t pass = c.any;

			if (!covered++)
				tsr_shape_depth(&shape, prim, &rules);
			if (test)
				pass = test_block(f, fine, &shape, &c, 0);
			pixels += tsr_pixel_count(c.any);
			passed += tsr_pixel_count(pass);
			if (pass)
				found->wrong += !is_next(&blocks, next++, c.x, c.y, &r, pass);
		}
	}
	found->wrong += blocks.count != next || blocks.covered != covered ||
			blocks.pixels != pixels || blocks.passed != passed;
	found->wrong += memcmp(other.depth, f->depth, sizeof(f->depth)) != 0;
	found->few++;
	found->few_blocks += next;
}

/* True if the wanted pixels of @v can be in two by two quads. */
static bool must_be_small(const struct frame *f, const struct tsr_screen_vertex v[3])
{
	int32_t low[2] = { v[0].x, v[0].y }, high[2] = { v[0].x, v[0].y };

	for (unsigned int i = 1; i < 3; i++) {
		const int32_t at[2] = { v[i].x, v[i].y };

		for (unsigned int k = 0; k < 2; k++) {
			low[k] = at[k] < low[k] ? at[k] : low[k];
			high[k] = at[k] > high[k] ? at[k] : high[k];
		}
	}
	return low[0] >> 8 >= f->rules.x0 && low[1] >> 8 >= f->rules.y0 &&
	       high[0] >> 8 < (low[0] >> 8 & ~1) + 4 && high[1] >> 8 < (low[1] >> 8 & ~1) + 4;
}

static void soup(void)
{
	static struct frame frame;
	static struct tsr_tile_triangles t;
	static struct tsr_small small;
	struct found found = { 0 };
	unsigned int missed = 0;

	for (unsigned int n = 0; n < GROUPS && !found.wrong; n++) {
		const struct tsr_fine *fine = path(n % 4);

		any_frame(&frame);
		for (unsigned int i = 0; i < TSR_TILE_TRIANGLES; i++)
			any_triangle(&frame, t.v[i]);
		fine->small(&frame.rules, &t, &small);
		found.wrong += check_run(&frame, fine, &small);
		for (unsigned int i = 0; i < TSR_TILE_TRIANGLES; i++) {
			struct tsr_prim prim = { .vertices = 3 };

			memcpy(prim.v, t.v[i], sizeof(prim.v));
			if (!(small.large >> i & 1))
				check(&frame, fine, &prim, &small, i, &found);
			else
				missed += must_be_small(&frame, t.v[i]);
			if (!frame.tile.samples_log2 && !(small.huge >> i & 1))
				check_few(&frame, fine, &prim, &small, i, &found);
			if (found.wrong) {
				ktap_note("%d,%d %d,%d %d,%d", prim.v[0].x, prim.v[0].y,
					  prim.v[1].x, prim.v[1].y, prim.v[2].x, prim.v[2].y);
				break;
			}
		}
	}
	ktap_eq(found.wrong, 0);
	ktap_eq(missed, 0);
	ktap_note("%u small, %u of them cover pixels, %u in several blocks, %u pass",
		  found.small, found.covered, found.split, found.passed);
	ktap_note("%u of a few blocks, %u blocks pass", found.few, found.few_blocks);
	ktap_note("%u have several samples", found.several);
	ktap_ok(found.several > GROUPS / 4);
	ktap_ok(found.covered > GROUPS && found.split > GROUPS / 16 && found.passed > GROUPS / 4);
	ktap_ok(found.few > GROUPS && found.few_blocks > GROUPS);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[RAST1] [RAST3] [ZS1] triangles together are what they are one by one",
		 soup);
	return ktap_finish();
}
