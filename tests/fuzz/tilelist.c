/* SPDX-License-Identifier: MIT */
/*
 * Heaps that somebody has changed behind the binner: whatever their bytes, reading the tiles' lists
 * comes to an end, stays within the heap and the limits that are promised to whoever draws, or
 * finds them wrong.
 *
 * Input: changes to a heap with points, lines, triangles, clipped ones, layers and viewports: two
 * bytes that choose a place (structures more often than others), one how many bytes follow.
 */
#include <stdlib.h>
#include <string.h>

#include "binner.h"
#include "ktap.h"

#define PRIMITIVES_MAX 200000		/* read at most in one call */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char fuzz_proves[] = "[CP3] ";

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	uint32_t h = (vertex + 77 * instance) * 2654435761u;
	uint32_t word = h >> 5 & 1, viewport = h >> 6 & 1;

	(void)f;
	record[0] = (float)(h >> 22 & 1023) / 512 - 1;
	record[1] = (float)(h >> 12 & 1023) / 512 - 1;
	record[2] = (float)(h & 15) / 10 - .2f;
	record[3] = h & 32 ? 1 : 2;
	record[4] = h & 7;
	word |= viewport << 16;
	memcpy(&record[5], &word, 4);
}

static struct binner *make(void)
{
	static const uint8_t topologies[] = { TSR_TOPOLOGY_TRIANGLES, TSR_TOPOLOGY_LINES,
					      TSR_TOPOLOGY_POINTS, TSR_TOPOLOGY_TRIANGLE_STRIP };
	struct binner *f = binner_new(100, 80);

	f->position = position;
	f->frame.layers = 2;
	f->draw.viewport_count = 2;
	binner_again(f);
	for (unsigned int i = 0; i < 4; i++) {
		f->shader = (struct tsr_shader_state){
			.extended = i != 1, .writes_layer = true, .writes_viewport = i == 0,
			.writes_point_size = true, .varying = BINNER_STATES, .output_stride = 48,
		};
		binner_states(f);
		binner_arrays(f, topologies[i], 150);
	}
	if (!binner_bin(f))
		abort();
	return f;
}

static void check(const struct tsr_prim *p, const struct tsr_frame_heap *heap)
{
	const int32_t edge = TSR_GUARD_BAND << TSR_SUBPIXEL_BITS;

	if (p->vertices > 3 || p->provoking >= p->vertices || p->layer >= heap->layers ||
	    p->viewport >= TSR_VIEWPORTS_MAX || !(p->point_size >= 1) ||
	    p->point_size > TSR_SCREEN_SIZE_MAX || !p->batch->vertices ||
	    p->batch->vertices > TSR_BATCH_VERTICES)
		abort();
	for (unsigned int i = 0; i < p->vertices; i++) {
		if (p->slot[i] >= p->batch->vertices || p->v[i].x < -edge || p->v[i].x >= edge ||
		    p->v[i].y < -edge || p->v[i].y >= edge)
			abort();
	}
	if (p->batch->outputs && p->batch->outputs + (uint64_t)p->batch->vertices *
	    p->batch->output_stride > heap->base + heap->used)
		abort();
}

/* Read everything. */
static void read_all(struct binner *f, struct tsr_tile_reader *r)
{
	const struct tsr_frame_info *info = &f->bin->info;
	struct tsr_frame_heap heap;
	struct tsr_batch batch;
	unsigned int count = 0;
	enum tsr_step step = tsr_heap_open(&f->mem, info, &heap);

	if (step != TSR_STEP_DONE)
		return;
	tsr_tile_list_forget(r);
	for (uint32_t at = heap.last_batch; at; at = batch.previous) {
		uint32_t ids[TSR_BATCH_VERTICES][2];

		if (tsr_heap_batch(&f->mem, &heap, at, &batch) != TSR_STEP_DONE)
			break;
		if (batch.previous >= at)
			abort();
		tsr_heap_ids(&f->mem, &batch, ids);
	}
	for (unsigned int t = 0; t < info->tiles && count < PRIMITIVES_MAX; t++) {
		unsigned int ty = t / info->tiles_x;
		struct tsr_prim prim = { .vertices = 0 };

		step = tsr_tile_list_open(r, &f->mem, &heap, ty / info->tiles_y,
					  t % info->tiles_x, ty % info->tiles_y);
		while (step != TSR_STEP_FAULT && count++ < PRIMITIVES_MAX) {
			step = tsr_tile_list_next(r, &f->mem, &prim);
			if (step == TSR_STEP_DONE && !prim.vertices)
				break;
			if (step == TSR_STEP_DONE)
				check(&prim, &heap);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tsr_tile_reader *reader;
	static struct binner *f;
	static uint8_t *good;
	uint32_t used;

	if (!f) {
		f = make();
		reader = tsr_tile_reader_new();
		good = malloc(f->bin->used);
		memcpy(good, f->heap, f->bin->used);
	}
	used = f->bin->used;
	while (size > 3) {
		uint32_t at = data[0] | data[1] << 8, len = data[2] % 9;

		/* every place, or one of the batch records' headers and of the first structures */
		at = at & 0x8000 ? at % used : at % 4096 % used;
		data += 3;
		size -= 3;
		for (; len && size; len--, size--, at++)
			f->heap[at % used] = *data++;
	}
	read_all(f, reader);
	memcpy(f->heap, good, used);
	return 0;
}
