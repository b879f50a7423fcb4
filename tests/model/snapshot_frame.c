/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Which states of a RENDER are refused when they come out of a snapshot, as in snapshot_rules.c:
 * its list, tiles in progress, cores.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "ktap.h"
#include "reload.h"
#include "tile/render.h"
#include "tiles.h"

/* A device that is paused between two tiles of a frame. */
struct play {
	struct tiles *t;
	struct tsr_rendering *r;
};

static void begin(struct play *y)
{
	static const struct tsr_config config = { .no_inline = true, .cores = 2 };
	struct tsr_queue *q;

	y->t = tiles_new(400, 272, &config);
	y->t->f->frame.heap = 0;
	y->t->draw = false;
	tiles_submit(y->t);
	q = &y->t->f->b->gpu->queue[y->t->queue.slot];
	for (unsigned int i = 0; i < 10000; i++) {
		y->r = q->rendering;
		if (y->r && y->r->phase == TSR_RENDER_TILES)
			break;
		tsr_gpu_run(y->t->f->b->gpu, 1);
	}
	if (!y->r || y->r->phase != TSR_RENDER_TILES)
		abort();
	tsr_gpu_pause(y->t->f->b->gpu);
	tsr_gpu_wind_down(y->t->f->b->gpu);
}

/* Save and load; it is refused because of @why, or taken if that is NULL. */
static bool expect(struct play *y, const char *why)
{
	bool ok = reload_expect(y->t->f->b->gpu, why);

	tiles_free(y->t);
	return ok;
}

static void test_list(void)
{
	static const struct {
		uint8_t depth;
		uint64_t pc, end;	/* of the innermost list */
		bool sound;
	} rows[] = {
		{ 0, 0x40, 0x48, true }, { 0, 0x44, 0x48, false }, { 0, 0x40, 0x4c, false },
		{ 0, 0x43, 0x4b, false }, { 0, 0x48, 0x40, false }, { 0, 0x48, 0x48, true },
		{ 0, 8, 8 + TSR_STREAM_SIZE_MAX, true }, { 0, 8, 16 + TSR_STREAM_SIZE_MAX, false },
		{ TSR_LIST_NESTING_MAX, 8, 16, true }, { TSR_LIST_NESTING_MAX, 8, 12, false },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tsr_list *list;
		struct play y;

		begin(&y);
		list = &y.r->list;
		for (unsigned int n = 0; n < rows[i].depth; n++)
			list->frame[n] = (struct tsr_list_frame){ 8, 16 };
		list->depth = rows[i].depth;
		list->frame[list->depth] = (struct tsr_list_frame){ rows[i].pc, rows[i].end };
		if (!expect(&y, rows[i].sound ? NULL : "a control list"))
			ktap_note("row %u", i);
	}
}

static void test_tiles(void)
{
	for (unsigned int i = 0; i < 8; i++) {
		struct tsr_list_tiles *l;
		struct play y;

		begin(&y);
		l = &y.r->tiles;
		l->addr += i == 1 ? 8 : 0;
		l->size = i == 2 ? 0 : i == 3 ? TSR_STREAM_SIZE_MAX :
			  i == 4 ? TSR_STREAM_SIZE_MAX + 8 : i == 5 ? 12 : l->size;
		l->x0 = i == 6 ? l->x1 + 1 : l->x0;
		l->layer0 = i == 7 ? l->layer1 + 1 : l->layer0;
		if (!expect(&y, i && i != 3 ? "tiles" : NULL))
			ktap_note("case %u", i);
	}
}

/* A core's tiles are every other TILE_RUN of two cores. */
static void test_cores(void)
{
	for (unsigned int i = 0; i < 3; i++) {
		struct play y;

		begin(&y);
		y.r->core[1].next += i * TSR_TILE_RUN;
		if (!expect(&y, i == 1 ? "a core's tile" : NULL))
			ktap_note("case %u", i);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[SYS10] where a RENDER's list can stand", test_list);
	ktap_run("[SYS10] tiles that LIST_TILES can name", test_tiles);
	ktap_run("[SYS10] a core's tiles", test_cores);
	return ktap_finish();
}
