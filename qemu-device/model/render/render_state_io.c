/* SPDX-License-Identifier: MIT */
/*
 * A RENDER in a snapshot: where its list stands and which tiles and batches have not been rendered,
 * which is all of it after tsr_gpu_drain(). No context is in it, so that a device with another
 * number of threads can load it. Tile buffers are not in it: a tile still in progress has
 * left nothing in memory (a core does not stop between the tile's last store and its end) but what
 * programs store, so it begins again, and so does a batch.
 */
#include <string.h>

#include "state_io.h"
#include "render.h"
#include "render_engine.h"

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
}

/* The sums of the counts of all contexts. */
static void visit_counts(struct tsr_stream *s, struct tsr_rendering *r)
{
	uint64_t count[TSR_TILE_COUNTS] = { 0 };

	for (unsigned int i = 0; i < r->job.cores; i++) {
		for (unsigned int n = 0; n < TSR_TILE_COUNTS; n++)
			count[n] += r->core[i].stats.count[n];
	}
	TSR_VISIT(s, count);
	if (s->loading)
		memcpy(r->core[0].stats.count, count, sizeof(count));
}

/* The run of the context. A tile or batch in progress is part of it, since it begins again. */
static struct tsr_run taken_by(const struct tsr_tile_core *c)
{
	return (struct tsr_run){ c->run.next - (c->phase != TSR_TILE_FETCH), c->run.end };
}

/* The dealt runs of a deterministic device: where each context stands. */
static void visit_dealt(struct tsr_stream *s, struct tsr_rendering *r, uint32_t length)
{
	for (unsigned int i = 0; i < r->job.cores; i++) {
		struct tsr_tile_core *c = &r->core[i];
		const struct tsr_run run = taken_by(c);
		uint64_t next = tsr_dispenser_next(&r->dispenser, &run);

		TSR_VISIT(s, next);
		tsr_stream_check(s, next <= UINT32_MAX && next / length % r->job.cores == i,
				 "a core's tile");
		if (s->loading)
			c->run = (struct tsr_run){ next, next - next % length + length };
	}
}

/* Enter @run, if it is not empty, into the runs at @left, which are in ascending order. */
static void enter(struct tsr_run *left, uint32_t *count, struct tsr_run run)
{
	uint32_t n = *count;

	if (run.next >= run.end)
		return;
	for (; n && left[n - 1].next > run.next; n--)
		left[n] = left[n - 1];
	left[n] = run;
	++*count;
}

/*
 * The runs that have been taken and not been rendered. There is none for a context that has not
 * taken one of those in @d->left first, so they are never more than TSR_CORES_MAX.
 */
static uint32_t collect(struct tsr_rendering *r, struct tsr_run left[TSR_CORES_MAX])
{
	const struct tsr_dispenser *d = &r->dispenser;
	uint32_t count = 0;

	for (uint32_t i = atomic_load(&d->left_taken); i < d->left_count; i++)
		enter(left, &count, d->left[i]);
	for (unsigned int i = 0; i < r->job.cores && count < TSR_CORES_MAX; i++)
		enter(left, &count, taken_by(&r->core[i]));
	return count;
}

static void visit_taken(struct tsr_stream *s, struct tsr_rendering *r)
{
	struct tsr_dispenser *d = &r->dispenser;
	struct tsr_run left[TSR_CORES_MAX] = { 0 };
	uint64_t taken = atomic_load(&d->taken), last = 0;
	uint32_t count = s->loading ? 0 : collect(r, left);

	TSR_VISIT(s, taken);
	TSR_VISIT(s, count);
	tsr_stream_check(s, count <= TSR_CORES_MAX, "a rendering's runs");
	for (uint32_t i = 0; i < count && !s->wrong; i++) {
		TSR_VISIT(s, left[i].next);
		TSR_VISIT(s, left[i].end);
		tsr_stream_check(s, left[i].next >= last && left[i].next < left[i].end &&
					    left[i].end - left[i].next <= TSR_TILE_RUN &&
					    left[i].end <= taken,
				 "a run of tiles");
		last = left[i].end;
	}
	if (!s->loading || s->wrong)
		return;
	memcpy(d->left, left, sizeof(left));
	d->left_count = count;
	atomic_store(&d->left_taken, 0);
	atomic_store(&d->taken, taken);
}

static void visit_work(struct tsr_stream *s, struct tsr_rendering *r, uint8_t phase)
{
	const uint32_t length =
		phase == TSR_RENDER_TILES ? tsr_render_run(r, tsr_render_tiles(r)) : 1;

	if (s->wrong)
		return;
	visit_counts(s, r);
	if (r->dispenser.dealt)
		visit_dealt(s, r, length);
	else
		visit_taken(s, r);
}

/* True if cores have a job in @phase. */
static bool has_cores(uint8_t phase)
{
	return phase == TSR_RENDER_VARYING || phase == TSR_RENDER_TILES;
}

void tsr_render_visit(struct tsr_stream *s, struct tsr_work *work)
{
	struct tsr_rendering *r = work->rendering;
	uint8_t phase = s->loading ? 0 : r->phase;

	if (s->loading)
		r = work->rendering = tsr_render_new(work->env);
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
	if (has_cores(phase))
		visit_work(s, r, phase);
	if (s->loading) {
		r->resume_batches = phase == TSR_RENDER_VARYING;
		r->phase = r->resume_batches ? TSR_RENDER_CHAIN : phase;
		r->resume = true;
	}
}
