/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Quads of pixels on edges that two triangles share. Meshes without overlap cover the frame, so a
 * pixel belongs to one triangle, and a quad on an edge runs once for each of them. The values that
 * a program reads across its quad, and the numbers of quads and of helper threads, are compared
 * with coverage computed in integers, one pixel at a time.
 */
#include <string.h>

#include "ktap.h"
#include "raster_ref.h"
#include "soup.h"
#include "tiles.h"

#define SIDE 64u
#define CELLS 12u
#define TRIANGLES (2 * CELLS * CELLS)

#define PROGRAM (BINNER_FRAME + 0x4000)
#define CODE (BINNER_FRAME + 0x4100)
#define BLENDS (BINNER_FRAME + 0x5000)

/* R0 is the primitive of the pixel, R1 to R3 that of the other threads of its quad. */
static const char across[] =
	"clause {\n"
	"	*MOV.i32 r0:t0, r57\n"
	"	+CLPER.i32.xor.subgroup4.zero r1:t1, r57, 0x1\n"
	"	*NOP\n"
	"	+CLPER.i32.xor.subgroup4.zero r2:t1, r57, 0x2\n"
	"	*NOP\n"
	"	+CLPER.i32.xor.subgroup4.zero r3:t1, r57, 0x3\n"
	"}\n"
	TILES_FINISH;

static struct raster_point corner[TRIANGLES][3];	/* in 1/256 pixel */

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	const struct raster_point *p = &corner[vertex / 3][vertex % 3];

	(void)f;
	(void)instance;
	record[0] = (float)p->x / (SIDE * RASTER_ONE / 2) - 1;
	record[1] = (float)p->y / (SIDE * RASTER_ONE / 2) - 1;
	record[3] = 1;
}

/* A grid of two triangles a cell. Inner corners move less than a quarter of a cell: no overlap. */
static void any_mesh(struct soup *s)
{
	const int cell = SIDE * RASTER_ONE / CELLS;
	struct raster_point at[CELLS + 1][CELLS + 1];

	for (unsigned int n = 0; n < (CELLS + 1) * (CELLS + 1); n++) {
		const unsigned int x = n % (CELLS + 1), y = n / (CELLS + 1);
		const bool inner_x = x % CELLS, inner_y = y % CELLS;

		at[y][x].x = x == CELLS ? (int)SIDE * RASTER_ONE : (int)x * cell;
		at[y][x].y = y == CELLS ? (int)SIDE * RASTER_ONE : (int)y * cell;
		at[y][x].x += inner_x ? soup_between(s, -cell / 5, cell / 5) : 0;
		at[y][x].y += inner_y ? soup_between(s, -cell / 5, cell / 5) : 0;
	}
	for (unsigned int n = 0; n < TRIANGLES; n++) {
		const unsigned int x = n / 2 % CELLS, y = n / 2 / CELLS;

		corner[n][0] = n % 2 ? at[y + 1][x + 1] : at[y][x];
		corner[n][1] = at[y][x + 1];
		corner[n][2] = at[y + 1][x];
	}
}

/* The counts of the reference, and the triangle that covers each pixel. */
struct expected {
	unsigned int quads, fragments;
	unsigned int shared;	/* quads that run for more than one triangle */
	unsigned int id[SIDE][SIDE];
};

static void expect_quad(struct expected *e, unsigned int qx, unsigned int qy)
{
	unsigned int runs = 0;

	for (unsigned int n = 0; n < TRIANGLES; n++) {
		unsigned int pixels = 0;

		for (unsigned int i = 0; i < 4; i++) {
			const unsigned int x = qx + i % 2, y = qy + i / 2;

			if (!raster_ref_triangle(corner[n], raster_ref_sample(1, 0, x, y)))
				continue;
			e->id[y][x] = n;
			pixels++;
		}
		e->fragments += pixels;
		runs += pixels > 0;
	}
	e->quads += runs;
	e->shared += runs > 1;
}

static void set_up(struct tiles *t)
{
	uint8_t *list = t->f->list - BINNER_LIST;

	tiles_program(t, CODE, across);
	tsr_pack_shader_program((uint64_t *)(list + PROGRAM),
				&(struct tsr_shader_program){ .code = CODE });
	tsr_pack_blend((uint64_t *)(list + BLENDS), &(struct tsr_blend){
		.mask = 15, .mode = TSR_BLEND_MODE_OPAQUE, .components = 3,
		.registers = TSR_REGISTER_TYPE_U32, .format = TSR_PIXEL_FORMAT_RGBA32UI << 12 });
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA32UI, 16);
	t->f->position = position;
	t->f->shader = (struct tsr_shader_state){ .fragment = PROGRAM, .helpers = true };
	t->f->draw.blends = BLENDS;
	t->f->draw.blend_count = 1;
	binner_again(t->f);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * TRIANGLES);
}

/* Each pixel shows its triangle, and every thread of its quad belongs to that triangle as well. */
static void compare(struct tiles *t, const struct expected *e)
{
	unsigned int wrong = 0;

	for (unsigned int n = 0; n < SIDE * SIDE; n++) {
		const unsigned int x = n % SIDE, y = n / SIDE, id = e->id[y][x];
		const uint32_t *seen = tiles_texel(t, 0, x, y, 0);

		if (seen[0] == id && seen[1] == id && seen[2] == id && seen[3] == id)
			continue;
		if (!wrong++)
			ktap_fail("(%u, %u): %u, its quad %u %u %u, not %u", x, y, seen[0],
				  seen[1], seen[2], seen[3], id);
	}
}

static void meshes(void)
{
	struct soup s = soup_new(8);

	for (unsigned int n = 0; n < 12; n++) {
		static const unsigned int threads[] = { 0, 2 };
		const struct tsr_config config = { .threads = threads[n % 2] };
		struct tiles *t = tiles_new(SIDE, SIDE, &config);
		static struct expected e;

		memset(&e, 0, sizeof(e));
		any_mesh(&s);
		for (unsigned int q = 0; q < SIDE * SIDE / 4; q++)
			expect_quad(&e, q % (SIDE / 2) * 2, q / (SIDE / 2) * 2);
		ktap_eq(e.fragments, SIDE * SIDE);	/* the mesh covers each pixel once */
		ktap_ok(e.shared > SIDE);
		set_up(t);
		if (ktap_ok(tiles_run(t))) {
			compare(t, &e);
			ktap_eq(tiles_counter(t, TSR_QUEUE_COUNTER_QUADS), e.quads);
			/* A quad has four threads: fragments and helpers. */
			ktap_eq(4 * tiles_counter(t, TSR_QUEUE_COUNTER_QUADS) - SIDE * SIDE,
				4 * e.quads - e.fragments);
		}
		tiles_free(t);
	}
}

int main(void)
{
	ktap_run("[PIX8] quads of two triangles stay apart on a shared edge, and are counted",
		 meshes);
	return ktap_finish();
}
