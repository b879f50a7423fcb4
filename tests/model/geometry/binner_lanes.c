/* SPDX-License-Identifier: MIT */
/*
 * Positions of whole batches and culling of groups of triangles, on every SIMD path: the bits that
 * one vertex after the other gives, and what integers say of areas.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binner/bin.h"
#include "ktap.h"
#include "rnd.h"
#include "simd/simd.h"

#define ROUNDS 20000

static const char *const names[] = { "sse2", "avx2", "avx512" };
static struct tsr_binning *bin;
/* A coordinate: near the frame, near a plane, far away, or no number. */
static float coordinate(float w)
{
	static const uint32_t odd[] = { 0x7fc00000, 0x7f800000, 0xff800000, 0x80000000, 0x00000001,
					0x7f7fffff, 0x00800000, 0xc7000000 };
	float f;

	switch (rnd() % 8) {
	case 0:
		memcpy(&f, &odd[rnd() % 8], sizeof(f));
		return f;
	case 1:
		return w;
	case 2:
		return -w;
	case 3:
		return (float)((int)(rnd() % 0xffff00) - 0x7fff80);
	default:
		return (float)((int)(rnd() % 4000) - 2000) / 1000 * w;
	}
}

static uint64_t position[TSR_BATCH_VERTICES][2];

static void random_position(uint64_t *record, bool tame)
{
	float p[4];

	p[3] = tame || rnd() % 4 ? (float)(1 + rnd() % 1000) / 256 : coordinate(1);
	for (unsigned int i = 0; i < 3; i++)
		p[i] = tame ? (float)((int)(rnd() % 2000) - 1000) / 1024 * p[3] : coordinate(p[3]);
	memcpy(record, p, sizeof(p));
}

/* The batch's positions as rows, as position programs leave them most often, or in records. */
static void put_positions(bool rows)
{
	struct tsr_vertex_run *run = bin->run;

	run->threads = run->records = bin->batch.vertices;
	run->retained = 0;
	run->spilled = false;
	memset(run->position, 0xee, sizeof(run->position));
	memset(run->record, 0xee, sizeof(run->record));
	for (unsigned int n = 0; n < bin->batch.vertices; n++) {
		for (unsigned int i = 0; i < 4; i++)
			run->position[i][n / 16].u[n % 16] = ((uint32_t *)position[n])[i];
		run->retained |= 1u << n / 16;
	}
	if (!rows)
		tsr_vertex_records(run);
}

static void random_batch(bool tame)
{
	struct tsr_bin_viewport *vp = bin->drawing[0].viewport;
	double side = 1 + rnd() % 8192;

	*vp = (struct tsr_bin_viewport){
		.sx = side / 2, .ox = side / 2, .sy = rnd() % 2 ? side / 2 : -side / 2,
		.oy = side / 3, .sz = .5, .oz = .5,
	};
	bin->drawing[0].state.depth_minus_one = rnd() % 2;
	bin->batch.vertices = 1 + rnd() % TSR_BATCH_VERTICES;
	for (unsigned int i = 0; i < bin->batch.vertices; i++)
		random_position(position[i], tame);
}

static bool same_vertices(const char *name)
{
	struct tsr_bin_batch *b = &bin->batch;

	for (unsigned int i = 0; i < b->vertices; i++) {
		tsr_bin_project_as(bin, i, TSR_BATCH_VERTICES, 0);
		/* what is no number has no place */
		if (ktap_eq(b->code[i], b->code[TSR_BATCH_VERTICES]) &&
		    (b->code[i] & TSR_OUT_INVALID ||
		     ktap_mem_eq(&b->screen[i], &b->screen[TSR_BATCH_VERTICES],
				 sizeof(b->screen[i]))))
			continue;
		ktap_note("%s, vertex %u", name, i);
		return false;
	}
	return true;
}

static void test_project(void)
{
	for (unsigned int n = 0; n < ROUNDS / 10; n++) {
		random_batch(n % 4 == 0);
		for (unsigned int i = 0; i < 3; i++) {
			if (!tsr_simd_named(names[i]))
				continue;
			bin->lanes = tsr_simd_named(names[i])->vertices;
			memset(bin->batch.code, 0xee, sizeof(bin->batch.code));
			memset(bin->batch.screen, 0xee, sizeof(bin->batch.screen));
			put_positions(n % 2);
			tsr_bin_project(bin);
			if (!same_vertices(names[i]))
				return;
		}
	}
}

/* Most of a batch outside of planes; one vertex on one, not a number, or anywhere, or none. */
static void random_outside(void)
{
	const unsigned int axis = rnd() % 2, kind = rnd() % 4;
	const float far[2] = { rnd() % 2 ? 1.001f : -1.001f, rnd() % 2 ? 2 : rnd() % 2 ? -2 : 0 };
	float p[4];

	random_batch(true);
	for (unsigned int n = 0; n < bin->batch.vertices; n++) {
		memcpy(p, position[n], sizeof(p));
		p[axis] = p[3] * far[0];
		p[!axis] = p[3] * far[1];
		memcpy(position[n], p, sizeof(p));
	}
	p[axis] = kind == 1 ? copysignf(p[3], far[0]) : kind == 2 ? NAN : coordinate(p[3]);
	if (kind)
		memcpy(position[rnd() % bin->batch.vertices], p, sizeof(p));
}

/* Vertices that are all outside one plane are found first, without their tiles. */
static void test_outside(void)
{
	const uint32_t untouched = 0xeeeeeeee;
	struct tsr_bin_batch *b = &bin->batch;
	unsigned int rejected = 0;

	bin->version[0].reject = TSR_OUT_FRUSTUM;
	for (unsigned int n = 0; n < ROUNDS / 10; n++) {
		uint32_t all = TSR_OUT_FRUSTUM;

		random_outside();
		put_positions(true);
		for (unsigned int i = 0; i < b->vertices; i++) {
			tsr_bin_project_as(bin, i, TSR_BATCH_VERTICES, 0);
			all &= b->code[TSR_BATCH_VERTICES];
		}
		rejected += all != 0;
		for (unsigned int i = 0; i < 3; i++) {
			if (!tsr_simd_named(names[i]))
				continue;
			bin->lanes = tsr_simd_named(names[i])->vertices;
			b->code[0] = untouched;
			put_positions(true);
			tsr_bin_project(bin);
			if (!ktap_eq(b->all & TSR_OUT_FRUSTUM, all) ||
			    !ktap_eq(b->code[0] == untouched, all && b->vertices > 16))
				return;
		}
	}
	bin->version[0].reject = 0;
	ktap_note("%u batches are outside", rejected);
	ktap_ok(rejected > ROUNDS / 40 && rejected < ROUNDS / 10);
}

/* One triangle, in integers. */
static bool seen(const struct tsr_bin_cull *c, uint64_t word)
{
	const struct tsr_screen_vertex *v[3];
	uint32_t all = UINT32_MAX, any = 0;
	__int128 area;

	for (unsigned int k = 0; k < 3; k++) {
		unsigned int slot = word >> 8 * k & 0xff;
		uint32_t code = c->code ? c->code[slot] : 0;

		v[k] = &c->screen[slot];
		all &= code;
		any |= code;
	}
	if (all & c->reject || any & c->invalid)
		return false;
	if (any & c->clip)
		return true;
	area = (__int128)(v[1]->x - v[0]->x) * (v[2]->y - v[0]->y) -
	       (__int128)(v[2]->x - v[0]->x) * (v[1]->y - v[0]->y);
	return area && !(area > 0 ? c->clockwise : c->anticlockwise);
}

static unsigned int boxes;	/* that were compared */

static bool less(int32_t a, int32_t b)
{
	return a < b;
}

static bool more(int32_t a, int32_t b)
{
	return a > b;
}

/* The one of three values that is @first. */
static int32_t outermost(const int32_t at[3], bool (*first)(int32_t, int32_t))
{
	int32_t most = at[0];

	for (unsigned int k = 1; k < 3; k++)
		most = first(at[k], most) ? at[k] : most;
	return most;
}

/* Tiles of what is drawn along one axis; false: nothing is. */
static bool span(const struct tsr_bin_cull *c, const int32_t at[3], int32_t from, int32_t to,
		 int32_t tiles[2])
{
	int32_t low = (outermost(at, less) + c->low) >> TSR_SUBPIXEL_BITS;
	int32_t high = (outermost(at, more) - c->high) >> TSR_SUBPIXEL_BITS;

	low = low < from ? from : low;
	high = high >= to ? to - 1 : high;
	tiles[0] = low >> c->tile_shift;
	tiles[1] = high >> c->tile_shift;
	return low <= high;
}

/* True if what @b says of triangle @i, which can be seen, is right. */
static bool box_is_right(const struct tsr_bin_cull *c, const struct tsr_bin_boxes *b,
			 unsigned int i)
{
	const struct tsr_screen_vertex *v[3];
	int32_t x[3], y[3], tx[2], ty[2];
	uint32_t any = 0;
	int64_t area;
	bool there;

	for (unsigned int k = 0; k < 3; k++) {
		v[k] = &c->screen[c->primitive[i] >> 8 * k & 0xff];
		x[k] = v[k]->x;
		y[k] = v[k]->y;
		any |= c->code ? c->code[c->primitive[i] >> 8 * k & 0xff] : 0;
	}
	if (any & c->clip)
		return b->clipped >> i & 1;
	area = (int64_t)(x[1] - x[0]) * (y[2] - y[0]) - (int64_t)(x[2] - x[0]) * (y[1] - y[0]);
	there = span(c, x, c->x0, c->x1, tx);
	there &= span(c, y, c->y0, c->y1, ty);
	if (b->clipped >> i & 1 || (b->clockwise >> i & 1) != (area > 0) ||
	    (b->empty >> i & 1) == there)
		return false;
	boxes += there;
	return !there || (b->tx0[i] == tx[0] && b->tx1[i] == tx[1] && b->ty0[i] == ty[0] &&
			  b->ty1[i] == ty[1]);
}

static int32_t place(int32_t range, int32_t below)
{
	return (int32_t)(rnd() % (uint32_t)range) - below;
}

static void random_group(struct tsr_bin_cull *c, uint64_t *primitive,
			 struct tsr_screen_vertex *screen, uint32_t *code)
{
	const int32_t edge = TSR_GUARD_BAND << TSR_SUBPIXEL_BITS;
	bool small = rnd() % 2, outside = rnd() % 4 == 0, centres = rnd() % 2;
	bool plain = rnd() % 4 == 0;
	int32_t near = rnd() % 2 ? 8 : 8000;

	for (unsigned int i = 0; i < TSR_BATCH_VERTICES; i++) {
		screen[i].x = small ? place(near, 0) : rnd() % 4 ? place(2 * edge, edge) : -edge;
		screen[i].y = small ? place(near, 0) : rnd() % 4 ? place(2 * edge, edge) : edge;
		code[i] = outside ? TSR_OUT_LEFT : rnd() % 4 ? 0 : 1u << rnd() % 32;
	}
	for (unsigned int i = 0; i < TSR_BIN_GROUP; i++)
		primitive[i] = rnd() % TSR_BATCH_VERTICES | rnd() % TSR_BATCH_VERTICES << 8 |
			       rnd() % TSR_BATCH_VERTICES << 16 | (uint64_t)rnd() << 32;
	*c = (struct tsr_bin_cull){
		.primitive = primitive, .screen = screen, .code = plain ? NULL : code,
		.reject = rnd() << 8 | 0xff, .invalid = TSR_OUT_INVALID, .clip = rnd(),
		.clockwise = rnd() % 2, .anticlockwise = rnd() % 2,
		.x0 = rnd() % 16, .y0 = rnd() % 16, .x1 = rnd() % 1024, .y1 = rnd() % 1024,
		.low = centres ? 127 : 0, .high = centres ? 128 : 0, .tile_shift = rnd() % 7,
	};
}

static void test_cull(void)
{
	static struct tsr_screen_vertex screen[TSR_BATCH_VERTICES];
	static uint32_t code[TSR_BATCH_VERTICES];
	uint64_t primitive[TSR_BIN_GROUP];
	struct tsr_bin_boxes b;
	struct tsr_bin_cull c;
	bool right = true;

	for (unsigned int n = 0; n < ROUNDS; n++) {
		uint32_t want = 0;

		random_group(&c, primitive, screen, code);
		for (unsigned int i = 0; i < TSR_BIN_GROUP; i++)
			want |= (uint32_t)seen(&c, primitive[i]) << i;
		for (unsigned int i = 0; i < 3; i++) {
			if (!tsr_simd_named(names[i]))
				continue;
			if (!ktap_eq(tsr_simd_named(names[i])->vertices->visible(&c, &b), want))
				return;
			for (unsigned int k = 0; k < TSR_BIN_GROUP; k++)
				right &= !(want >> k & 1) || box_is_right(&c, &b, k);
			if (!ktap_ok(right))
				return;
		}
	}
	ktap_note("%u boxes with pixels", boxes);
	ktap_ok(boxes > ROUNDS);
}

int main(void)
{
	ktap_start();
	bin = tsr_bin_new();
	bin->state = &bin->version[0];
	bin->state->shader = &bin->shading[0];
	bin->state->draw = &bin->drawing[0].state;
	bin->state->viewport = bin->drawing[0].viewport;
	ktap_run("[PA1] [PA5] positions of a batch are those of its vertices", test_project);
	ktap_run("[PA1] [PA5] batches outside of the frustum", test_outside);
	ktap_run("[PA1] [PA6] triangles that are culled together", test_cull);
	tsr_bin_free(bin);
	return ktap_finish();
}
