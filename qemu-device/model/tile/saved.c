/* SPDX-License-Identifier: MIT */
/*
 * A RENDER in a snapshot: where its list stands and which tiles and batches are complete, which is
 * all of it after tsr_gpu_wind_down(). Tile buffers are not in it: a tile still in progress has
 * left nothing in memory (a core does not stop between the tile's last store and its end) but what
 * programs store, so it begins again, and so does a batch.
 */
#include "gpu.h"
#include "stream.h"
#include "render.h"

static bool frames_are_sound(const struct tsr_list *list)
{
	for (unsigned int i = 0; i <= list->depth; i++) {
		const struct tsr_list_frame *frame = &list->frame[i];
		uint64_t left = frame->end - frame->pc;

		if ((frame->pc | left) % sizeof(uint64_t) || left > TSR_STREAM_SIZE_MAX)
			return false;
	}
	return true;
}

static void visit_list(struct tsr_stream *s, struct tsr_list *list)
{
	TSR_VISIT(s, list->pc);
	TSR_VISIT(s, list->frame);
	TSR_VISIT(s, list->depth);
	TSR_VISIT(s, list->steps);
	tsr_stream_check(s, list->depth <= TSR_LIST_NESTING_MAX && frames_are_sound(list),
			 "a control list");
	if (s->loading) {
		list->cls = TSR_ENGINE_CLASS_RENDER;
		list->held = 0;
	}
}

/* The tiles in progress, as the words of their packet. */
static void visit_tiles(struct tsr_stream *s, struct tsr_rendering *r)
{
	uint64_t word[TSR_LIST_TILES_QWORDS] = { 0 };
	const struct tsr_list_tiles *l = &r->tiles;

	if (!s->loading)
		tsr_pack_list_tiles(word, l);
	TSR_VISIT(s, word);
	if (!s->loading)
		return;
	tsr_unpack_list_tiles(word, &r->tiles);
	tsr_stream_check(s, l->x0 <= l->x1 && l->y0 <= l->y1 && l->layer0 <= l->layer1 &&
				    l->addr % 64 == 0 && l->size && l->size % 8 == 0 &&
				    l->size <= TSR_STREAM_SIZE_MAX,
			 "tiles");
	tsr_render_deal(r);
}

static void visit_core(struct tsr_stream *s, struct tsr_tile_core *c)
{
	const struct tsr_rendering *r = c->render;
	bool resumes = r->resume || r->resume_batches;
	uint64_t next = resumes ? c->resume_at : c->next;

	if (!resumes && c->phase != TSR_TILE_FETCH)
		next = tsr_tile_before(r, next);
	TSR_VISIT(s, next);
	TSR_VISIT(s, c->count);
	tsr_stream_check(s, next / r->run % r->job.cores == c->job.index, "a core's tile");
	if (s->loading)
		c->resume_at = next;
}

/* Whether cores have a job in @phase. */
static bool has_cores(uint8_t phase)
{
	return phase == TSR_RENDER_VARYING || phase == TSR_RENDER_TILES;
}

void tsr_render_visit(struct tsr_stream *s, struct tsr_queue *q)
{
	struct tsr_rendering *r = q->rendering;
	uint8_t phase = s->loading ? 0 : r->phase;

	if (s->loading)
		r = q->rendering = tsr_render_new(q->gpu);
	tsr_stream_check(s, r, "no memory for a rendering");
	if (s->wrong)
		return;
	/* loaded, and not gone on with since */
	if (!s->loading && r->resume_batches)
		phase = TSR_RENDER_VARYING;
	TSR_VISIT(s, phase);
	tsr_stream_check(s, phase <= TSR_RENDER_TILES, "a rendering's phase");
	visit_list(s, &r->list);
	if (phase == TSR_RENDER_TILES)
		visit_tiles(s, r);
	if (phase <= TSR_RENDER_VARYING) {
		TSR_VISIT(s, r->portion);
		tsr_stream_bool(s, &r->portion_sharing);
	}
	for (unsigned int i = 0; has_cores(phase) && i < r->job.cores; i++)
		visit_core(s, &r->core[i]);
	if (s->loading) {
		r->resume_batches = phase == TSR_RENDER_VARYING;
		r->phase = r->resume_batches ? TSR_RENDER_CHAIN : phase;
		r->resume = true;
	}
}
