/* SPDX-License-Identifier: MIT */
/*
 * A RENDER without an engine: what its cores have begun stays as it is (tile buffer, bundle, what
 * both need), what can be read or made again goes. In the midst of a tile that is nearly all of a
 * core, see TSR_SLOT_BYTES.
 */
#include <stdlib.h>

#include "render.h"
#include "render_engine.h"

static void evict_states(struct tsr_tile_core *c)
{
	for (unsigned int i = 0; i < TSR_TILE_STATES; i++) {
		if (c->states[i] == c->group.state)
			continue;
		free(c->states[i]);
		c->states[i] = NULL;
	}
}

static void free_vertices(struct tsr_tile_core *c)
{
	if (c->vertices)
		tsr_stage_drop(&c->vertices->run);
	free(c->vertices);
	free(c->ids);
	c->vertices = NULL;
	c->ids = NULL;
}

/* Frees the memory of a tile in progress. */
static void free_tile(struct tsr_tile_core *c)
{
	if (c->group.fragments)
		tsr_stage_drop(&c->group.fragments->run);
	if (c->reader)
		tsr_tile_reader_free(c->reader);
	free(c->group.fragments);
	free(c->buffer.memory);
	c->group.fragments = NULL;
	c->reader = NULL;
	c->buffer.memory = NULL;
	c->buffer.memory_bytes = 0;
	c->group.state = NULL;
	c->prim.color.flat = NULL;
}

void tsr_tile_core_evict(struct tsr_tile_core *c, bool tiles, bool batches)
{
	const struct tsr_program *used[2] = { NULL, NULL };

	if (!tiles || c->phase == TSR_TILE_FETCH)
		free_tile(c);
	else if (c->group.state)
		used[0] = c->group.state->fragment.program;
	if (batches && c->vertices_running)
		used[1] = c->vertices->program;
	else
		free_vertices(c);
	evict_states(c);
	tsr_programs_evict(&c->programs, used);
}

void tsr_render_pack(struct tsr_work *work)
{
	struct tsr_rendering *r = work->rendering;
	bool tiles, batches;

	if (!r)
		return;
	tiles = r->phase == TSR_RENDER_TILES && !r->resume;
	batches = r->phase == TSR_RENDER_VARYING;
	for (unsigned int i = 0; i < r->job.cores; i++) {
		struct tsr_tile_core *c = &r->core[i];

		tsr_tile_core_evict(c, tiles, batches);
		/* what rests prepares itself again */
		if (!(tiles && c->phase != TSR_TILE_FETCH) && !(batches && c->vertices_running))
			c->prepared = 0;
	}
	if (!batches && r->phase != TSR_RENDER_CHAIN) {
		free(r->batch);
		r->batch = NULL;
		r->batch_capacity = 0;
	}
	r->packed = true;
}

bool tsr_render_unpack(struct tsr_rendering *r)
{
	for (unsigned int i = 0; r->packed && i < r->job.cores; i++) {
		struct tsr_tile_core *c = &r->core[i];

		if (c->prepared != r->number)
			continue;
		if (!tsr_tile_core_memory(c))
			return false;
		tsr_tile_lay_out(c);
	}
	r->packed = false;
	return true;
}
