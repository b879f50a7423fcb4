/* SPDX-License-Identifier: MIT */
/* The engine's step: RENDER's control list, the job of varying programs, the jobs of tiles. */
#include "render.h"
#include "render_engine.h"

#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "memory/descriptor.h"
#include "alu/float_bits.h"
#include "tile.h"
#include "simd/simd.h"

/* tsr_engine_state.word: */
enum {
	WORD_BEGUN,			/* the queue has a command in progress */
};

/* Batches of the chain that are read in a step, and how many of them ahead the host is asked. */
#define CHAIN_STEP 256
#define CHAIN_AHEAD 4u
/* Batches whose varying programs are one job. */
#define BATCHES_MAX 4096
/* Room after the samples of a target, see output.h; targets begin at multiples of 64. */
#define SLACK 64

/* ---- Memory ---------------------------------------------------------------------------------- */

void tsr_render_free(struct tsr_rendering *r)
{
	if (!r)
		return;
	for (unsigned int i = 0; i < r->job.cores; i++)
		tsr_tile_core_evict(&r->core[i], false, false);
	free(r->batch);
	free(r);
}

void tsr_render_drop(struct tsr_work *work)
{
	if (!work->rendering)
		return;
	tsr_render_free(work->rendering);
	work->rendering = NULL;
	tsr_thread_pool_forget(work);
}

static void *zeroed(size_t size)
{
	void *memory;

	size = (size + 63) & ~(size_t)63;
	memory = aligned_alloc(64, size);
	if (memory)
		memset(memory, 0, size);
	return memory;
}

/*
 * Contexts of a rendering: one for each thread that can work on it, and one more, so that a thread
 * whose context waits for the host has another one. A core more than that would only be memory. The
 * schedule of a deterministic device must not depend on the host, so it has all.
 */
static unsigned int contexts_of(const struct tsr_config *cfg)
{
	const unsigned int wanted = cfg->threads ? cfg->threads + 1 : 2;

	return cfg->deterministic || wanted > cfg->cores ? cfg->cores : wanted;
}

struct tsr_rendering *tsr_render_new(const struct tsr_env *env)
{
	const unsigned int contexts = contexts_of(env->cfg);
	size_t size = sizeof(struct tsr_rendering) + contexts * sizeof(struct tsr_tile_core);
	struct tsr_rendering *r = zeroed(size);

	if (!r)
		return NULL;
	r->job.cores = r->dispenser.contexts = contexts;
	r->dispenser.dealt = env->cfg->deterministic;
	r->dispenser.length = 1;
	for (unsigned int i = 0; i < r->job.cores; i++) {
		r->job.core[i] = &r->core[i].job;
		r->core[i].job.index = i;
		r->core[i].render = r;
	}
	r->debug = env->cfg->gfx_debug;
	r->simd = env->simd;
	r->fine = env->simd->raster;
	return r;
}

bool tsr_tile_core_memory(struct tsr_tile_core *c)
{
	if (!c->reader)
		c->reader = tsr_tile_reader_new();
	if (!c->group.fragments)
		c->group.fragments = zeroed(sizeof(*c->group.fragments));
	if (c->group.fragments)
		c->group.fragments->settle = tsr_tile_settle;
	if (!c->vertices)
		c->vertices = zeroed(sizeof(*c->vertices));
	if (!c->ids)
		c->ids = malloc(TSR_BATCH_VERTICES * sizeof(*c->ids));
	if (c->buffer.memory_bytes < c->render->tile_bytes) {
		free(c->buffer.memory);
		c->buffer.memory = zeroed(c->render->tile_bytes);
		c->buffer.memory_bytes = c->buffer.memory ? c->render->tile_bytes : 0;
	}
	return c->reader && c->group.fragments && c->vertices && c->ids && c->buffer.memory_bytes;
}

void tsr_tile_lay_out(struct tsr_tile_core *c)
{
	const struct tsr_rendering *r = c->render;
	size_t samples = (size_t)1 << (2 * r->info.frame.tile_shift + r->info.frame.samples_log2);
	struct tsr_tile *t = &c->buffer.tile;
	uint8_t *next = c->buffer.memory;

	for (unsigned int rt = 0; rt < t->targets; rt++) {
		uint32_t pitch = r->format[rt].bytes << t->shift;

		t->color[rt] = (struct tsr_tile_target){ next, pitch, pitch << t->shift };
		next += (samples * r->format[rt].bytes + SLACK + 63) & ~(size_t)63;
	}
	t->depth = (float *)next;
	t->stencil = next + samples * sizeof(float);
}

/*
 * Zero in all registers of @run: the last frame may have been somebody else's. The memory stays.
 * Freeing it cost up to a tenth of the shading time, since each frame allocated it again.
 */
static void clear_registers(struct tsr_stage_run *run)
{
	struct tsr_bundle *bundle = run->core.bundle[0];
	uint64_t written = 0;

	run->begun = false;
	for (unsigned int w = 0; bundle && w < TSR_BUNDLE_WARPS; w++) {
		written |= bundle->warp[w].written;
		bundle->warp[w].written = 0;
	}
	if (written)
		memset(bundle->reg, 0, sizeof(bundle->reg));
}

enum tsr_step tsr_tile_core_prepare(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	const struct tsr_rendering *r = c->render;
	const struct tsr_frame *frame = &r->info.frame;
	struct tsr_tile *t = &c->buffer.tile;

	if (!tsr_tile_core_memory(c))
		return tsr_mem_bad_packet(mem, r->pc, 0, TSR_FAULT_UNSUPPORTED);
	t->shift = frame->tile_shift;
	t->samples_log2 = frame->samples_log2;
	t->targets = frame->targets;
	t->has_depth = frame->has_depth;
	t->has_stencil = frame->has_stencil;
	t->core = c;
	for (unsigned int rt = 0; rt < t->targets; rt++)
		t->format[rt] = r->format[rt];
	t->depth_scale = r->depth_format.scale;
	tsr_tile_lay_out(c);
	for (unsigned int i = 0; i < TSR_TILE_STATES; i++) {
		if (c->states[i])
			tsr_tile_state_forget(c->states[i]);
	}
	tsr_programs_drop(&c->programs);
	c->programs.frame = r->serial;
	tsr_tile_list_forget(c->reader);
	clear_registers(&c->group.fragments->run);
	clear_registers(&c->vertices->run);
	memset(&c->stats.queries, 0, sizeof(c->stats.queries));
	c->prepared = r->number;
	return TSR_STEP_DONE;
}

/* ---- Beginning ------------------------------------------------------------------------------- */

/* Read a RENDER_TARGET at @va; its samples are all of the frame's, or one. */
static enum tsr_step read_target(struct tsr_rendering *r, struct tsr_mem *mem, uint64_t va,
				 struct tsr_render_target *target)
{
	uint64_t word[TSR_RENDER_TARGET__QWORDS];
	enum tsr_step step = tsr_descriptor_read(mem, va, TSR_DESCRIPTOR_RENDER_TARGET, word);

	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_render_target(word, target);
	if (target->samples_log2 && target->samples_log2 != r->info.frame.samples_log2)
		return tsr_mem_bad_packet(mem, va, TSR_RENDER_TARGET_SAMPLES_LOG2__QWORD,
					  TSR_FAULT_BAD_VALUE);
	if (target->tags && target->samples_log2 != r->info.frame.samples_log2)
		return tsr_mem_bad_packet(mem, va, TSR_RENDER_TARGET_TAGS__QWORD,
					  TSR_FAULT_BAD_VALUE);
	return TSR_STEP_DONE;
}

static enum tsr_step read_colors(struct tsr_rendering *r, struct tsr_mem *mem)
{
	for (unsigned int rt = 0; rt < r->info.frame.targets; rt++) {
		uint64_t va = r->info.frame.colour +
			      (uint64_t)rt * TSR_RENDER_TARGET__QWORDS * sizeof(uint64_t);
		struct tsr_render_target *t = &r->color[rt];
		enum tsr_step step = read_target(r, mem, va, t);
		uint32_t words[4];

		if (step != TSR_STEP_DONE)
			return step;
		if (!tsr_output_format_valid(t->format, t->order))
			return tsr_mem_bad_packet(mem, va, TSR_RENDER_TARGET_FORMAT__QWORD,
						  TSR_FAULT_BAD_VALUE);
		tsr_format_find(&r->format[rt], t->format, t->order, t->srgb);
		words[0] = t->clear_0;
		words[1] = t->clear_1;
		words[2] = t->clear_2;
		words[3] = t->clear_3;
		tsr_output_clear_texel(&r->format[rt], words, r->clear[rt]);
	}
	return TSR_STEP_DONE;
}

static bool find_depth_format(struct tsr_rendering *r)
{
	switch (r->depth.format) {
	case TSR_PIXEL_FORMAT_Z16_UNORM:
		r->depth_format = (struct tsr_depth_format){ 2, 0xffff };
		return true;
	case TSR_PIXEL_FORMAT_Z24X8_UNORM:
		r->depth_format = (struct tsr_depth_format){ 4, 0xffffff };
		return true;
	case TSR_PIXEL_FORMAT_R32F:
		r->depth_format = (struct tsr_depth_format){ 4, 0 };
		return true;
	default:
		return false;
	}
}

static float depth_clear(const struct tsr_rendering *r)
{
	double z = tsr_as_float(r->depth.clear_0), scale = r->depth_format.scale;

	if (scale == 0)
		return z;
	z = z > 0 ? z < 1 ? z : 1 : 0;
	return (z * scale + 0x1.8p52) - 0x1.8p52;
}

static enum tsr_step read_zs(struct tsr_rendering *r, struct tsr_mem *mem)
{
	const struct tsr_frame *frame = &r->info.frame;
	enum tsr_step step = TSR_STEP_DONE;

	if (frame->has_depth) {
		step = read_target(r, mem, frame->depth, &r->depth);
		if (step != TSR_STEP_DONE)
			return step;
		if (!find_depth_format(r))
			return tsr_mem_bad_packet(mem, frame->depth,
						  TSR_RENDER_TARGET_FORMAT__QWORD,
						  TSR_FAULT_BAD_VALUE);
		r->depth_clear = depth_clear(r);
	}
	if (!frame->has_stencil)
		return step;
	step = read_target(r, mem, frame->stencil, &r->stencil);
	if (step != TSR_STEP_DONE)
		return step;
	r->stencil_bytes = r->stencil.format == TSR_PIXEL_FORMAT_X24S8 ? 4 : 1;
	if (r->stencil_bytes == 1 && r->stencil.format != TSR_PIXEL_FORMAT_S8)
		return tsr_mem_bad_packet(mem, frame->stencil, TSR_RENDER_TARGET_FORMAT__QWORD,
					  TSR_FAULT_BAD_VALUE);
	if (r->stencil.tags || (frame->has_depth && r->depth.tags && r->stencil_bytes == 4))
		return tsr_mem_bad_packet(mem, frame->stencil, TSR_RENDER_TARGET_TAGS__QWORD,
					  TSR_FAULT_BAD_VALUE);
	r->stencil_clear = r->stencil.clear_0;
	r->together = frame->has_depth && r->stencil_bytes == 4 &&
		      r->depth.format == TSR_PIXEL_FORMAT_Z24X8_UNORM &&
		      r->depth.pointer == r->stencil.pointer &&
		      r->depth.pitch == r->stencil.pitch &&
		      r->depth.layout == r->stencil.layout &&
		      r->depth.sample_stride == r->stencil.sample_stride &&
		      r->depth.layer_stride == r->stencil.layer_stride &&
		      r->depth.samples_log2 == r->stencil.samples_log2;
	return step;
}

/* The tile buffer a frame needs; a frame that needs more than there is is wrong. */
static enum tsr_step size_tile(struct tsr_rendering *r, struct tsr_mem *mem, uint64_t frame_va)
{
	const struct tsr_frame *frame = &r->info.frame;
	size_t samples = (size_t)1 << (2 * frame->tile_shift + frame->samples_log2), bytes = 8;

	for (unsigned int rt = 0; rt < frame->targets; rt++)
		bytes += r->format[rt].bytes;
	if (bytes * samples > TSR_TILE_BUFFER_BYTES)
		return tsr_mem_bad_packet(mem, frame_va, 0, TSR_FAULT_BAD_VALUE);
	r->tile_bytes = bytes * samples + (TSR_RENDER_TARGETS_MAX + 1) * 2 * SLACK;
	return TSR_STEP_DONE;
}

static enum tsr_step read_frame(struct tsr_rendering *r, struct tsr_mem *mem, uint64_t va)
{
	enum tsr_step step = tsr_frame_read(mem, va, &r->info);

	if (step == TSR_STEP_DONE)
		step = read_colors(r, mem);
	if (step == TSR_STEP_DONE)
		step = read_zs(r, mem);
	if (step == TSR_STEP_DONE)
		step = size_tile(r, mem, va);
	r->has_heap = r->info.frame.heap;
	if (step == TSR_STEP_DONE && r->has_heap)
		step = tsr_heap_open(mem, &r->info, &r->heap);
	return step;
}

/* Drops the state of the previous frame but keeps the memory. */
static void reuse(struct tsr_rendering *r)
{
	r->job.cursor = 0;
	r->job.bursts = 0;
	r->depth_format = (struct tsr_depth_format){ 0, 0 };
	r->together = false;
	r->batches = 0;
	r->next_batch = 0;
	r->sharing = false;
	r->has_heap = false;
	r->resume = r->resume_batches = r->packed = false;
	for (unsigned int i = 0; i < r->job.cores; i++)
		memset(r->core[i].stats.count, 0, sizeof(r->core[i].stats.count));
}

/* The memory of the engine that @work's queue is on. */
static struct tsr_rendering **spare_of(struct tsr_work *work)
{
	return &work->spare->rendering;
}

static struct tsr_rendering *acquire_memory(struct tsr_work *work)
{
	struct tsr_rendering *r = *spare_of(work);

	*spare_of(work) = NULL;
	return r ? r : tsr_render_new(work->env);
}

/* The command is complete: its memory is the engine's. */
static void release_memory(struct tsr_work *work)
{
	struct tsr_rendering *r = work->rendering;

	tsr_render_free(*spare_of(work));
	*spare_of(work) = r;
	work->rendering = NULL;
}

/* Read the frame of the queue's rendering. Contexts prepare themselves for it. */
static enum tsr_step enter_frame(struct tsr_mem *mem, uint64_t pc, uint64_t frame)
{
	struct tsr_rendering *r = mem->work->rendering;

	r->pc = pc;
	r->number++;
	r->serial = tsr_env_serial(mem->env);
	for (unsigned int i = 0; i < r->job.cores; i++)
		r->core[i].vertices_running = false;
	return read_frame(r, mem, frame);
}

static enum tsr_step begin(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd)
{
	struct tsr_work *work = mem->work;
	struct tsr_render command;
	enum tsr_step step;

	tsr_unpack_render(cmd, &command);
	if (command.list % 64)
		return tsr_mem_bad_packet(mem, pc, 1, TSR_FAULT_ALIGNMENT);
	if (!command.size || command.size > TSR_STREAM_SIZE_MAX)
		return tsr_mem_bad_packet(mem, pc, 2, TSR_FAULT_BAD_VALUE);
	if (command.size % 8)
		return tsr_mem_bad_packet(mem, pc, 2, TSR_FAULT_ALIGNMENT);
	if (command.frame % 64)
		return tsr_mem_bad_packet(mem, pc, 3, TSR_FAULT_ALIGNMENT);
	if (!work->rendering)
		work->rendering = acquire_memory(work);
	if (!work->rendering)
		return tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	reuse(work->rendering);
	step = enter_frame(mem, pc, command.frame);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_list_start(&work->rendering->list, TSR_ENGINE_CLASS_RENDER, command.list, command.size,
		       false);
	work->rendering->portion = work->rendering->has_heap ? work->rendering->heap.last_batch : 0;
	work->rendering->portion_sharing = false;
	work->rendering->next_batch = work->rendering->portion;
	work->rendering->phase = TSR_RENDER_CHAIN;
	return TSR_STEP_MORE;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* True if the core is between two tiles or batches. */
static bool core_rests(const struct tsr_job_core *core)
{
	const struct tsr_tile_core *c = (const struct tsr_tile_core *)core;

	return c->phase == TSR_TILE_FETCH && !c->vertices_running;
}

/*
 * Begin a job of @count tiles or batches, in runs of at most @length, or go on with it where a
 * snapshot says.
 */
static void start_job(struct tsr_work *work, uint64_t count, uint32_t length,
		      enum tsr_render_phase phase, bool resumes)
{
	struct tsr_rendering *r = work->rendering;
	struct tsr_dispenser *d = &r->dispenser;

	r->job.burst = phase == TSR_RENDER_TILES ? tsr_tile_burst : tsr_batch_burst;
	r->job.rests = core_rests;
	r->job.shared = count > 1;
	if (resumes)
		tsr_dispenser_resume(d, count, length);
	else
		tsr_dispenser_start(d, count, length);
	for (unsigned int i = 0; i < r->job.cores; i++) {
		struct tsr_tile_core *c = &r->core[i];
		const bool works = resumes || (d->dealt ? (uint64_t)i * length : i) < count;

		if (!resumes)
			c->run = tsr_dispenser_first(d, i);
		c->phase = TSR_TILE_FETCH;
		atomic_store_explicit(&c->job.state, works ? TSR_CORE_READY : TSR_CORE_DONE,
				      memory_order_relaxed);
	}
	r->phase = phase;
	work->job = &r->job;
}

/* Adds the counts of cores to the queue's counters. */
static void count(struct tsr_rendering *r, _Atomic uint64_t *counter)
{
	static const uint8_t id[TSR_TILE_COUNTS] = {
		[TSR_TILE_TILES] = TSR_QUEUE_COUNTER_TILES,
		[TSR_TILE_PRIMITIVES] = TSR_QUEUE_COUNTER_TILE_PRIMITIVES,
		[TSR_TILE_BLOCKS] = TSR_QUEUE_COUNTER_TILE_BLOCKS,
		[TSR_TILE_BLOCKS_DEPTH] = TSR_QUEUE_COUNTER_BLOCKS_DEPTH_REJECTED,
		[TSR_TILE_BLOCKS_STENCIL] = TSR_QUEUE_COUNTER_BLOCKS_STENCIL_REJECTED,
		[TSR_TILE_SAMPLES_TESTED] = TSR_QUEUE_COUNTER_SAMPLES_TESTED_EARLY,
		[TSR_TILE_SAMPLES_REJECTED] = TSR_QUEUE_COUNTER_SAMPLES_REJECTED_EARLY,
		[TSR_TILE_QUADS] = TSR_QUEUE_COUNTER_QUADS,
		[TSR_TILE_BUNDLES] = TSR_QUEUE_COUNTER_FRAGMENT_BUNDLES,
		[TSR_TILE_LOAD_BYTES] = TSR_QUEUE_COUNTER_TILE_LOAD_BYTES,
		[TSR_TILE_STORE_BYTES] = TSR_QUEUE_COUNTER_TILE_STORE_BYTES,
		[TSR_TILE_BLOCKS_CLEAR] = TSR_QUEUE_COUNTER_BLOCKS_FAST_CLEAR,
		[TSR_TILE_BLOCKS_COMPRESSED] = TSR_QUEUE_COUNTER_BLOCKS_COMPRESSED,
	};

	for (unsigned int i = 0; i < r->job.cores; i++) {
		struct tsr_tile_core *c = &r->core[i];

		for (unsigned int n = 0; n < TSR_TILE_COUNTS; n++)
			tsr_count(&counter[id[n]], c->stats.count[n]);
		memset(c->stats.count, 0, sizeof(c->stats.count));
	}
}

/* The varying programs of a portion of the chain have run: on to the next. */
static void next_portion(struct tsr_rendering *r)
{
	r->portion = r->next_batch;
	r->portion_sharing = r->sharing;
	r->batches = 0;
	r->phase = TSR_RENDER_CHAIN;
}

static enum tsr_step run_job(struct tsr_mem *mem, struct tsr_step_cost *cost)
{
	struct tsr_work *work = mem->work;
	enum tsr_step step = tsr_thread_pool_run(mem, cost);

	if (step == TSR_STEP_DONE) {
		count(work->rendering, mem->counter);
		work->job = NULL;
		if (work->rendering->phase == TSR_RENDER_VARYING && work->rendering->next_batch)
			next_portion(work->rendering);
		else
			work->rendering->phase = TSR_RENDER_LIST;
		return TSR_STEP_MORE;
	}
	return step;
}

/* ---- The chain of batches -------------------------------------------------------------------- */

static bool reserve_batch(struct tsr_rendering *r)
{
	uint32_t capacity = r->batch_capacity ? 2 * r->batch_capacity : 1024;
	uint32_t *batch;

	if (r->batches < r->batch_capacity)
		return true;
	batch = realloc(r->batch, capacity * sizeof(*batch));
	if (!batch)
		return false;
	r->batch = batch;
	r->batch_capacity = capacity;
	return true;
}

/* Find the batches varying programs run for: a portion of the chain, which may be all of it. */
static enum tsr_step read_chain(struct tsr_mem *mem, struct tsr_step_cost *cost)
{
	struct tsr_work *work = mem->work;
	struct tsr_rendering *r = work->rendering;

	for (unsigned int i = 0; i < CHAIN_STEP && r->next_batch && r->batches < BATCHES_MAX; i++) {
		struct tsr_batch batch;
		enum tsr_step step = tsr_heap_batch(mem, &r->heap, r->next_batch, &batch);

		if (step != TSR_STEP_DONE)
			return step;
		if (!reserve_batch(r))
			return tsr_mem_bad_packet(mem, r->heap.base, 0, TSR_FAULT_UNSUPPORTED);
		if (batch.varying && !batch.shared)
			r->batch[r->batches++] = batch.offset | r->sharing;
		r->sharing = batch.shared;
		r->next_batch = batch.previous;
		/* small batches lie as far apart as these two, and their records are far away */
		tsr_heap_batch_ahead(mem, &r->heap, batch.previous -
				     CHAIN_AHEAD * (batch.offset - batch.previous));
		cost->cycles++;
	}
	if (r->next_batch && r->batches < BATCHES_MAX)
		return TSR_STEP_MORE;
	start_job(work, r->batches, 1, TSR_RENDER_VARYING, r->resume_batches);
	r->resume_batches = false;
	return TSR_STEP_MORE;
}

/* ---- The list -------------------------------------------------------------------------------- */

uint64_t tsr_render_tiles(const struct tsr_rendering *r)
{
	const struct tsr_list_tiles *l = &r->tiles;

	return (uint64_t)(l->x1 - l->x0 + 1) * (l->y1 - l->y0 + 1) * (l->layer1 - l->layer0 + 1);
}

uint32_t tsr_render_run(const struct tsr_rendering *r, uint64_t tiles)
{
	const bool many = tiles >= TSR_TILE_RUN * TSR_TILE_RUN * r->job.cores;

	return r->dispenser.dealt && !many ? 1 : TSR_TILE_RUN;
}

static void start_tiles(struct tsr_work *work, bool resumes)
{
	struct tsr_rendering *r = work->rendering;

	r->tile_count = tsr_render_tiles(r);
	start_job(work, r->tile_count, tsr_render_run(r, r->tile_count), TSR_RENDER_TILES, resumes);
}

static enum tsr_step list_tiles(struct tsr_mem *mem)
{
	struct tsr_work *work = mem->work;
	struct tsr_rendering *r = work->rendering;
	struct tsr_list_tiles *l = &r->tiles;

	tsr_unpack_list_tiles(r->list.word, l);
	if (l->x0 > l->x1 || l->x1 >= r->info.tiles_x || l->y0 > l->y1 || l->y1 >= r->info.tiles_y)
		return tsr_list_fault(&r->list, mem, 1, TSR_FAULT_BAD_VALUE);
	if (l->layer0 > l->layer1 || l->layer1 >= r->info.frame.layers)
		return tsr_list_fault(&r->list, mem, 2, TSR_FAULT_BAD_VALUE);
	if (l->addr % 64)
		return tsr_list_fault(&r->list, mem, 3, TSR_FAULT_ALIGNMENT);
	if (!l->size || l->size > TSR_STREAM_SIZE_MAX)
		return tsr_list_fault(&r->list, mem, 4, TSR_FAULT_BAD_VALUE);
	if (l->size % 8)
		return tsr_list_fault(&r->list, mem, 4, TSR_FAULT_ALIGNMENT);
	tsr_list_progress(&r->list);
	start_tiles(work, false);
	return TSR_STEP_MORE;
}

static enum tsr_step next_packet(struct tsr_mem *mem, struct tsr_step_cost *cost)
{
	struct tsr_rendering *r = mem->work->rendering;
	const uint64_t before = r->list.cycles;
	enum tsr_step step = tsr_list_next(&r->list, mem);

	cost->cycles += r->list.cycles - before;
	if (step != TSR_STEP_DONE)
		return step;
	switch (tsr_packet_opcode(r->list.word[0])) {
	case TSR_OP_LIST_TILES:
		return list_tiles(mem);
	case TSR_OP_LIST_HALT:
		return TSR_STEP_DONE;
	default:
		/* packets of tiles have no tile here */
		return tsr_list_fault(&r->list, mem, 0, TSR_FAULT_BAD_VALUE);
	}
}

static enum tsr_step run(struct tsr_mem *mem, struct tsr_step_cost *cost)
{
	switch (mem->work->rendering->phase) {
	case TSR_RENDER_CHAIN:
		return read_chain(mem, cost);
	case TSR_RENDER_VARYING:
	case TSR_RENDER_TILES:
		return run_job(mem, cost);
	default:
		return next_packet(mem, cost);
	}
}

/*
 * Go on with a command that a snapshot brought: the frame is read again, and what had begun of it
 * begins again where that makes no difference.
 */
static enum tsr_step resume(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd)
{
	struct tsr_rendering *r = mem->work->rendering;
	const struct tsr_list_tiles *l = &r->tiles;
	struct tsr_render command;
	enum tsr_step step;

	tsr_unpack_render(cmd, &command);
	step = enter_frame(mem, pc, command.frame);
	if (step != TSR_STEP_DONE)
		return step;
	r->resume = r->packed = false;
	r->next_batch = r->has_heap && r->phase == TSR_RENDER_CHAIN ? r->portion : 0;
	r->sharing = r->portion_sharing;
	if (r->phase != TSR_RENDER_TILES)
		return TSR_STEP_MORE;
	if (l->x0 > l->x1 || l->x1 >= r->info.tiles_x || l->y0 > l->y1 ||
	    l->y1 >= r->info.tiles_y || l->layer0 > l->layer1 ||
	    l->layer1 >= r->info.frame.layers)
		return tsr_list_fault(&r->list, mem, 1, TSR_FAULT_BAD_VALUE);
	start_tiles(mem->work, true);
	return TSR_STEP_MORE;
}

bool tsr_render_rests(const struct tsr_work *work)
{
	const struct tsr_rendering *r = work->rendering;

	for (unsigned int i = 0; work->job && !r->resume && i < r->job.cores; i++) {
		if (!core_rests(r->job.core[i]))
			return false;
	}
	return true;
}

bool tsr_render_begun(const uint64_t *cmd, const struct tsr_engine_state *state)
{
	return tsr_packet_opcode(cmd[0]) == TSR_OP_RENDER && state->word[WORD_BEGUN];
}

enum tsr_step tsr_render_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			      struct tsr_engine_state *state, struct tsr_step_cost *cost)
{
	enum tsr_step step;

	*cost = (struct tsr_step_cost){ 0, 0, 0 };
	if (!tsr_thread_pool_shader(mem->thread))
		return tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	mem->unit = TSR_UNIT_TILE;
	if (state->word[WORD_BEGUN] && !mem->work->rendering->resume &&
	    !tsr_render_unpack(mem->work->rendering)) {
		step = tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	} else if (state->word[WORD_BEGUN] && mem->work->rendering->resume) {
		step = resume(mem, pc, cmd);
	} else if (state->word[WORD_BEGUN]) {
		step = run(mem, cost);
	} else {
		step = begin(mem, pc, cmd);
		state->word[WORD_BEGUN] = step == TSR_STEP_MORE;
	}
	if (step == TSR_STEP_FAULT)
		tsr_render_drop(mem->work);
	else if (step == TSR_STEP_DONE)
		release_memory(mem->work);
	return step;
}
