/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Which states of a RENDER are refused when they come out of a snapshot, as in snapshot_rules.c:
 * its list, tiles in progress, cores.
 */
#include <stdlib.h>
#include <string.h>

#include "device/gpu.h"
#include "ktap.h"
#include "reload.h"
#include "render/render.h"
#include "tiles.h"

/* A device that is paused between two tiles of a frame. */
struct play {
	struct tiles *t;
	struct tsr_rendering *r;
};

static void begin_on(struct play *y, bool deterministic)
{
	const struct tsr_config config = {
		.no_inline = true, .cores = 2, .deterministic = deterministic,
	};
	struct tsr_queue *q;

	y->t = tiles_new(400, 272, &config);
	y->t->f->frame.heap = 0;
	y->t->draw = false;
	tiles_submit(y->t);
	q = &y->t->f->b->gpu->queue[y->t->queue.slot];
	for (unsigned int i = 0; i < 10000; i++) {
		y->r = q->work.rendering;
		if (y->r && y->r->phase == TSR_RENDER_TILES)
			break;
		tsr_gpu_run(y->t->f->b->gpu, 1);
	}
	if (!y->r || y->r->phase != TSR_RENDER_TILES)
		abort();
	tsr_gpu_pause(y->t->f->b->gpu);
	tsr_gpu_drain(y->t->f->b->gpu);
}

static void begin(struct play *y)
{
	begin_on(y, false);
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

/* On a deterministic device a context's tiles are every other TILE_RUN of two. */
static void test_dealt(void)
{
	static const uint64_t more[] = {
		0, TSR_TILE_RUN, 2 * TSR_TILE_RUN, 1ull << 32,
	};

	for (unsigned int i = 0; i < 4; i++) {
		struct play y;

		begin_on(&y, true);
		y.r->core[1].run.next += more[i];
		y.r->core[1].run.end += more[i];
		if (!expect(&y, i % 2 ? "a core's tile" : NULL))
			ktap_note("case %u", i);
	}
}

/* Elsewhere runs have been taken, each once, and none is longer than TILE_RUN. */
static void test_taken(void)
{
	static const struct {
		struct tsr_run run[2];
		uint64_t taken;
		const char *why;
	} rows[] = {
		{ { { 0, 4 }, { 4, 8 } }, 8, NULL },
		{ { { 4, 8 }, { 0, 4 } }, 8, NULL },
		{ { { 3, 4 }, { 4, 4 } }, 8, NULL },
		{ { { 0, 0 }, { 0, 0 } }, 0, NULL },
		{ { { 0, 0 }, { 0, 0 } }, UINT64_MAX, NULL },
		{ { { 0, 4 }, { 4, 8 } }, 7, "a run of tiles" },
		{ { { 0, 5 }, { 5, 8 } }, 8, "a run of tiles" },
		{ { { 0, 4 }, { 3, 7 } }, 8, "a run of tiles" },
		{ { { 0, 4 }, { 0, 4 } }, 8, "a run of tiles" },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct play y;

		begin(&y);
		ktap_eq(y.r->job.cores, 2);
		for (unsigned int n = 0; n < 2; n++)
			y.r->core[n].run = rows[i].run[n];
		atomic_store(&y.r->dispenser.taken, rows[i].taken);
		if (!expect(&y, rows[i].why))
			ktap_note("row %u", i);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[SYS10] where a RENDER's list can stand", test_list);
	ktap_run("[SYS10] tiles that LIST_TILES can name", test_tiles);
	ktap_run("[SYS10] tiles that are dealt", test_dealt);
	ktap_run("[SYS10] tiles that are taken", test_taken);
	return ktap_finish();
}
