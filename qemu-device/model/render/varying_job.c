/* SPDX-License-Identifier: MIT */
/* A context that runs the varying programs of batches. */
#include <string.h>

#include "render.h"

/* The vertices that primitives name, or all; c->ids are there. */
static void add_threads(struct tsr_tile_core *c, const struct tsr_batch *batch,
			const uint64_t used[TSR_BATCH_SLOTS / 64])
{
	struct tsr_vertex_run *v = c->vertices;

	v->threads = 0;
	for (unsigned int i = 0; i < batch->vertices; i++) {
		if (!(used[i / 64] >> i % 64 & 1))
			continue;
		v->vertex[v->threads] = c->ids[i][0];
		v->instance[v->threads] = c->ids[i][1];
		v->slot[v->threads++] = i;
	}
}

/* Prepare the varying program of the next batch. TSR_STEP_MORE: the batch has none to run. */
static enum tsr_step begin_batch(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	const struct tsr_rendering *r = c->render;
	struct tsr_vertex_run *v = c->vertices;
	const uint32_t offset = r->batch[c->run.next];
	uint64_t used[TSR_BATCH_SLOTS / 64];
	struct tsr_tile_state *state;
	struct tsr_batch batch;
	enum tsr_step step;

	memset(used, 0xff, sizeof(used));
	step = tsr_heap_batch(mem, &r->heap, offset & ~1u, &batch);
	if (step == TSR_STEP_DONE)
		step = tsr_tile_state_find(c, mem, &batch, &state);
	if (step == TSR_STEP_DONE && !state->fragment.shader.varying)
		return TSR_STEP_MORE;
	if (step == TSR_STEP_DONE)
		step = tsr_heap_ids(mem, &batch, c->ids);
	if (step == TSR_STEP_DONE)
		step = tsr_tile_program_find(c, mem, state, TSR_STAGE_VARYING, &v->program);
	if (step == TSR_STEP_DONE)
		step = tsr_tile_push_read(c, mem, tsr_tile_push_va(c, batch.varying_push),
					  v->program, &v->run);
	/* so few primitives cannot name all of them */
	if (step == TSR_STEP_DONE && !(offset & 1) && 3u * batch.primitives < batch.vertices)
		step = tsr_heap_used(mem, &r->heap, &batch, used);
	if (step != TSR_STEP_DONE)
		return step;
	add_threads(c, &batch, used);
	v->position_output = state->fragment.shader.position_output;
	v->padded = batch.padded;
	v->start = batch.start;
	v->first_instance = batch.first_instance;
	v->outputs = batch.outputs;
	v->output_stride = batch.output_stride;
	c->stats.queries = (struct tsr_tile_queries){ .statistics = batch.statistics_query };
	return TSR_STEP_DONE;
}

enum tsr_step tsr_tile_step_batch(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	enum tsr_step step;

	if (!c->vertices_running && mem->env->drain)
		return tsr_tile_rest(c);
	if (!c->vertices_running) {
		tsr_env_next(mem->env, true, c->render->batches);
		if (!tsr_dispenser_ensure(&c->render->dispenser, &c->run))
			return TSR_STEP_DONE;
		step = tsr_tile_core_enter(c, mem);
		if (step == TSR_STEP_DONE)
			step = begin_batch(c, mem);
		if (step == TSR_STEP_MORE)
			c->run.next++;
		if (step != TSR_STEP_DONE)
			return step;
		c->vertices_running = true;
	}
	c->effort -= TSR_TILE_BUNDLE_EFFORT;
	if (c->vertices->threads) {
		step = tsr_vertex_run(c->shader, c->vertices);
		if (step == TSR_STEP_FAULT)
			mem->fault = c->shader->fault;
		if (step != TSR_STEP_DONE)
			return step;
		c->stats.queries.fragments = c->vertices->threads;
		c->vertices->threads = 0;
	}
	if (c->stats.queries.statistics) {
		step = tsr_mem_add(mem,
				   c->stats.queries.statistics +
					   8 * TSR_PIPELINE_STATISTICS_VARYING_INVOCATIONS__QWORD,
				   true, c->stats.queries.fragments);
		if (step != TSR_STEP_DONE)
			return step;
	}
	c->vertices_running = false;
	c->run.next++;
	return TSR_STEP_MORE;
}
