/* SPDX-License-Identifier: MIT */
/*
 * BIN as the queue sees it: the job, its steps, and position programs on the shader cores.
 */
#include "bin_engine.h"

#include "bin.h"
#include "count.h"
#include "geometry/stages.h"
#include "work.h"
#include "simd/simd.h"

/* tsr_engine_state.word: */
enum {
	WORD_PHASE,			/* 0: not begun, 1: the queue's binning is this command's */
};

bool tsr_bin_begun(const uint64_t *cmd, const struct tsr_engine_state *state)
{
	return tsr_packet_opcode(cmd[0]) == TSR_OP_BIN && state->word[WORD_PHASE];
}

void tsr_bin_drop(struct tsr_work *work)
{
	tsr_bin_free(work->binning);
	work->binning = NULL;
}

/* Reads the draw's push constants, if the list names them. */
static enum tsr_step read_push(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_vertex_run *run = bin->run;
	const bool first = run->program->stage <= TSR_STAGE_VERTEX;
	enum tsr_step step = TSR_STEP_DONE;

	run->run.push = bin->state->vertex_push && first ? &bin->push : NULL;
	if (run->run.push && !bin->pushed)
		step = tsr_push_read(&bin->push, mem, bin->state->vertex_push, run->program);
	bin->pushed = step == TSR_STEP_DONE;
	return step;
}

/* The batch is about to be run: find its program, say what it needs. */
static enum tsr_step prepare(struct tsr_binning *bin, struct tsr_mem *mem)
{
	const struct tsr_bin_version *state = bin->state;
	struct tsr_vertex_run *run = bin->run;
	enum tsr_step step;

	run->position_output = state->shader->position_output;
	run->padded = bin->draw.padded;
	run->start = bin->draw.start;
	run->first_instance = bin->draw.first_instance;
	run->output_stride = state->shader->output_stride;
	step = tsr_programs_find(&bin->programs, mem,
				 state->geometry ? tsr_geometry_program(bin) :
						   state->shader->position, 0,
				 state->geometry ? bin->stages->stage : TSR_STAGE_POSITION,
				 &run->program);
	bin->stat[TSR_BIN_UNIFORM_STALLS] = bin->programs.stalls;
	if (step == TSR_STEP_DONE && state->geometry)
		tsr_geometry_bind(bin);
	return step == TSR_STEP_DONE ? read_push(bin, mem) : step;
}

static enum tsr_step shade(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_shader *sh = mem->thread->shader;
	enum tsr_step step;

	mem->unit = TSR_UNIT_SHADER;
	if (!bin->entered)
		tsr_stage_enter(sh, mem, 0);
	bin->entered = true;
	if (!bin->run->run.begun) {
		step = prepare(bin, mem);
		if (step != TSR_STEP_DONE)
			return step;
	}
	step = tsr_vertex_run(sh, bin->run);
	if (step == TSR_STEP_FAULT)
		mem->fault = sh->fault;
	return step;
}

/* Counters of the queue, by statistic. */
static const uint8_t counter_of[TSR_BIN_STATS] = {
	[TSR_BIN_INPUT_VERTICES] = TSR_QUEUE_COUNTER_BIN_VERTICES,
	[TSR_BIN_INPUT_PRIMITIVES] = TSR_QUEUE_COUNTER_BIN_PRIMITIVES,
	[TSR_BIN_VERTEX_INVOCATIONS] = TSR_QUEUE_COUNTER_BIN_INVOCATIONS,
	[TSR_BIN_DRAWS] = TSR_QUEUE_COUNTER_BIN_DRAWS,
	[TSR_BIN_BATCHES] = TSR_QUEUE_COUNTER_BIN_BATCHES,
	[TSR_BIN_CLIPPED] = TSR_QUEUE_COUNTER_BIN_CLIPPED,
	[TSR_BIN_PRIMITIVES] = TSR_QUEUE_COUNTER_BIN_SURVIVORS,
	[TSR_BIN_ENTRIES] = TSR_QUEUE_COUNTER_BIN_ENTRIES,
	[TSR_BIN_TILE_TESTS] = TSR_QUEUE_COUNTER_BIN_TILE_TESTS,
	[TSR_BIN_HEAP_BYTES] = TSR_QUEUE_COUNTER_BIN_HEAP_BYTES,
	[TSR_BIN_STATE_STALLS] = TSR_QUEUE_COUNTER_BIN_STATE_STALLS,
	[TSR_BIN_UNIFORM_STALLS] = TSR_QUEUE_COUNTER_BIN_UNIFORM_STALLS,
	[TSR_BIN_TAG_STALLS] = TSR_QUEUE_COUNTER_BIN_TAG_STALLS,
	[TSR_BIN_PIPE_STALLS] = TSR_QUEUE_COUNTER_BIN_PIPE_STALLS,
	[TSR_BIN_STAGE_BLOCKS] = TSR_QUEUE_COUNTER_STAGE_BLOCKS,
	[TSR_BIN_STAGE_UNWRITTEN] = TSR_QUEUE_COUNTER_STAGE_UNWRITTEN,
	[TSR_BIN_HULL_PATCHES] = TSR_QUEUE_COUNTER_HULL_PATCHES,
	[TSR_BIN_PATCHES_CULLED] = TSR_QUEUE_COUNTER_PATCHES_CULLED,
	[TSR_BIN_DOMAIN_INVOCATIONS] = TSR_QUEUE_COUNTER_DOMAIN_INVOCATIONS,
	[TSR_BIN_GEOMETRY_INVOCATIONS] = TSR_QUEUE_COUNTER_GEOMETRY_INVOCATIONS,
	[TSR_BIN_GEOMETRY_VERTICES] = TSR_QUEUE_COUNTER_GEOMETRY_VERTICES,
	[TSR_BIN_GEOMETRY_STALLS] = TSR_QUEUE_COUNTER_GEOMETRY_STALLS,
	[TSR_BIN_STREAM_PRIMITIVES] = TSR_QUEUE_COUNTER_STREAM_PRIMITIVES,
	[TSR_BIN_STREAM_OVERFLOWS] = TSR_QUEUE_COUNTER_STREAM_OVERFLOWS,
	[TSR_BIN_DESCRIPTOR_STALLS] = TSR_QUEUE_COUNTER_BIN_DESCRIPTOR_STALLS,
};

/* Tell the queue's counters what they have not been told yet. */
static void count(struct tsr_binning *bin, _Atomic uint64_t *counter)
{
	for (unsigned int i = 0; i < TSR_BIN_STATS; i++) {
		uint64_t more = bin->stat[i] - bin->told[i];

		if (more && counter_of[i])
			tsr_count(&counter[counter_of[i]], more);
		bin->told[i] = bin->stat[i];
	}
}

/* The step ends: leave the cores, count what they have done. */
static void leave(struct tsr_binning *bin, struct tsr_mem *mem, struct tsr_step_cost *cost)
{
	struct tsr_shader *sh = mem->thread->shader;

	if (!bin->entered)
		return;
	bin->entered = false;
	tsr_stage_leave(sh);
	cost->cycles += sh->stats.cycles;
	cost->read_bytes += sh->stats.read_bytes;
	cost->write_bytes += sh->stats.write_bytes;
	tsr_count(&mem->counter[TSR_QUEUE_COUNTER_SHADER_CLAUSES], sh->stats.clauses);
	tsr_count(&mem->counter[TSR_QUEUE_COUNTER_SHADER_THREADS], sh->stats.threads);
	tsr_count(&mem->counter[TSR_QUEUE_COUNTER_SHADER_MESSAGES], sh->stats.messages);
	tsr_count(&mem->counter[TSR_QUEUE_COUNTER_TEXTURE_YIELDS], sh->stats.yields);
}

/* The memory of the engine that @work's queue is on. */
static struct tsr_binning **spare_of(struct tsr_work *work)
{
	return &work->spare->binning;
}

static struct tsr_binning *acquire_memory(struct tsr_work *work)
{
	struct tsr_binning *bin = *spare_of(work);

	*spare_of(work) = NULL;
	return bin ? bin : tsr_bin_new();
}

/* The command is complete: its memory is the engine's. */
static void release_memory(struct tsr_work *work)
{
	tsr_bin_free(*spare_of(work));
	tsr_bin_rest(work->binning);
	*spare_of(work) = work->binning;
	work->binning = NULL;
}

static enum tsr_step begin(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			   struct tsr_engine_state *state)
{
	struct tsr_work *work = mem->work;
	enum tsr_step step;

	if (!work->binning)
		work->binning = acquire_memory(work);
	if (!work->binning || !tsr_thread_pool_shader(mem->thread))
		return tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	work->binning->shade = shade;
	work->binning->single = mem->env->cfg->gfx_debug & TSR_GFX_NO_STAGES;
	work->binning->lanes = mem->env->simd->vertices;
	step = tsr_bin_begin(work->binning, mem, pc, cmd);
	if (step != TSR_STEP_DONE)
		return step;
	state->word[WORD_PHASE] = 1;
	return TSR_STEP_MORE;
}

enum tsr_step tsr_bin_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			   struct tsr_engine_state *state, struct tsr_step_cost *cost)
{
	struct tsr_binning *bin = mem->work->binning;
	enum tsr_step step;

	*cost = (struct tsr_step_cost){ 0, 0, 0 };
	/* A snapshot says that it had begun, and has nothing of it: it begins again. */
	if (!state->word[WORD_PHASE] || !bin)
		return begin(mem, pc, cmd, state);
	if (!tsr_thread_pool_shader(mem->thread))
		return tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	step = tsr_bin_run(bin, mem);
	leave(bin, mem, cost);
	count(bin, mem->counter);
	cost->read_bytes += bin->read;
	cost->write_bytes += bin->written;
	cost->cycles += bin->cycles;
	if (step == TSR_STEP_DONE)
		release_memory(mem->work);
	return step;
}
