/* SPDX-License-Identifier: MIT */
/* Running plans: the steps of one for a block of pixels, and what they count. */
#include "plan.h"

#include <string.h>

#include "shader/core.h"
#include "shader/tile_buffer.h"
#include "texture/msg_texture.h"
#include "units/msg.h"
#include "shader/stage_run.h"
#include "tsr_samples.h"

/* Tuples of warps after which a block is dropped, which is below TSR_STOP_WORK. */
#define TUPLES_MAX (TSR_QUAD_BLOCK_WARPS * TSR_LOOP_PASS_TUPLES)

/* Threads of warp @w among @threads of a block. */
static uint16_t warp_lanes(uint64_t threads, unsigned int w)
{
	return (uint16_t)(threads >> TSR_WARP_LANES * w);
}

/* The threads of a block from the lanes of its warps: one load. */
static uint64_t threads_of(const uint16_t lanes[TSR_QUAD_BLOCK_WARPS])
{
	return (uint64_t)lanes[0] | (uint64_t)lanes[1] << 16 | (uint64_t)lanes[2] << 32 |
	       (uint64_t)lanes[3] << 48;
}

/* All threads of warp @w of a block. */
static uint64_t warp_threads(unsigned int w)
{
	return 0xffffull << TSR_WARP_LANES * w;
}

/* Prepare for arithmetic; @again: as it was prepared for the block before. */
static void enter_units(struct tsr_shader *sh, const struct tsr_fragment_state *state, bool again)
{
	static const struct tsr_alu_mode none;

	sh->mode_key = 0;
	if (again) {
		tsr_alu_reenter(&sh->fp);
		return;
	}
	tsr_fragments_specials(sh, state);
	tsr_alu_enter(&sh->fp, &none);
	sh->lanes.alu.space[TSR_LANES_REG] = sh->bundle->reg;
}

static __attribute__((noinline))
void choose_anew(struct tsr_shader *sh, const struct tsr_plan *plan, struct tsr_quad_block *block,
		 uint64_t active, bool whole)
{
	struct tsr_alu_state *alu = &sh->lanes.alu;

	block->chosen = true;
	block->active = active;
	block->whole = whole;
	alu->warps = 0;
	alu->full = whole && !plan->crosses;
	block->active_warps = 0;
	block->active_threads = (uint8_t)tsr_pixel_count(active);
	sh->lanes.native.chunks = 0;
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		const uint16_t lanes = warp_lanes(active, w);

		block->senders[w] = lanes;
		block->active_warps += lanes != 0;
		if (!whole && !lanes)
			continue;
		alu->warp[alu->warps++] = (uint8_t)w;
		tsr_shader_mask(sh, w, alu->full ? 0xffff : lanes);
		if (!whole)
			tsr_native_add(sh, w, lanes);
	}
}

/*
 * Threads @active execute. If they are all that are left, registers of others may become anything,
 * so all lanes of the block's warps take part, but where threads look at each other. Most blocks
 * have the threads of the block before.
 */
static inline void choose(struct tsr_shader *sh, const struct tsr_plan *plan,
			  struct tsr_quad_block *block, uint64_t active)
{
	const bool whole = active == block->live;

	if (!block->chosen || block->active != active || block->whole != whole)
		choose_anew(sh, plan, block, active, whole);
}

static void set_mode(struct tsr_shader *sh, const struct tsr_decoded *d)
{
	if (sh->mode_key == d->mode_key)
		return;
	sh->mode_key = d->mode_key;
	tsr_alu_change(&sh->fp, &d->mode);
}

/* Micro-operations one after the other, and the threads that branch after them. */
static void run_straight(struct tsr_shader *sh, struct tsr_straight *s, bool whole)
{
	const enum tsr_native_kind kind = whole ? TSR_NATIVE_FULL : TSR_NATIVE_PART;
	const void *code = s->code[kind];
	const struct tsr_decoded *last = s->clause[s->count - 1];
	struct tsr_alu_state *alu = &sh->lanes.alu;

	if (!code)
		code = tsr_code_straight_native(&sh->code, sh->mem.thread, s, kind);
	set_mode(sh, s->clause[0]);
	if (code) {
		tsr_jit_run(sh->code.jit, code, &sh->lanes);
		if (sh->lanes.native.outcome != TSR_OUTCOME_OPEN)
			return;
	}
	for (unsigned int i = 0; i < s->count && !code; i++) {
		const struct tsr_decoded *d = s->clause[i];

		alu->space[TSR_LANES_CLAUSE] = d->konst;
		for (const struct tsr_uop *uop = d->uop; uop < d->uop + d->uops; uop++)
			uop->fn(uop, alu);
	}
	if (!(last->flags & TSR_CLAUSE_BRANCH))
		return;
	alu->space[TSR_LANES_CLAUSE] = last->konst;
	last->branch->fn(last->branch, alu);
}

/* Returns true if warp @w may execute @clauses more. */
static bool count_clauses(const struct tsr_plan *plan, struct tsr_quad_block *block,
			  unsigned int w, uint64_t clauses)
{
	block->clauses[w] += (uint32_t)clauses;
	return !plan->limit || block->clauses[w] <= plan->limit;
}

/*
 * The threads go through a loop, warp by warp; false: it takes too long, they would execute more
 * clauses than they may, the thread is wanted, or helpers are among them in a loop that they may
 * have to leave early.
 */
static bool run_loop(struct tsr_shader *sh, const struct tsr_plan *plan,
		     const struct tsr_plan_step *step, struct tsr_quad_block *block)
{
	struct tsr_loop_work work = { 0 };
	bool good = true;

	if (step->loop->flags & TSR_CLAUSE_TERMINATE && block->active & block->dead)
		return false;
	set_mode(sh, step->loop->clause[0]);
	for (unsigned int w = 0; good && w < TSR_QUAD_BLOCK_WARPS; w++) {
		const uint64_t clauses = work.clauses;

		if (!block->senders[w])
			continue;
		good = tsr_loop_pass(sh, step->loop, w, block->senders[w], step->target, &work);
		/* The loop would fail again, and most likely in other blocks. */
		if (!good)
			sh->plan[plan - sh->plan].fits = false;
		good &= count_clauses(plan, block, w, work.clauses - clauses);
		good &= w == TSR_QUAD_BLOCK_WARPS - 1 || !tsr_stop_requested(&sh->mem);
	}
	/* what is chosen is in the list of chunks, whose first is the loop's */
	block->chosen = false;
	block->work.clauses += work.clauses;
	block->work.tuples += work.tuples;
	block->work.threads += work.threads;
	return good;
}

/* Units have no flush modes. */
static void plain_mode(struct tsr_shader *sh)
{
	static const struct tsr_alu_mode none;

	if (sh->mode_key)
		tsr_alu_change(&sh->fp, &none);
	sh->mode_key = 0;
}

/* Complete message @b for the threads that execute; @warps: room for their warps. */
static void describe(struct tsr_shader *sh, const struct tsr_quad_block *block,
		     struct tsr_msg_bundle *b, uint8_t warps[TSR_QUAD_BLOCK_WARPS])
{
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		if (block->senders[w])
			warps[b->warps++] = (uint8_t)w;
	}
	b->reg = sh->bundle->reg;
	b->result = UINT8_MAX;
	b->whole = block->whole;
	b->warp = warps;
	b->lanes = block->senders;
	b->place = sh->place;
}

/* The sources of message @m, of clause @d. */
static void find_sources(struct tsr_shader *sh, const struct tsr_decoded *d,
			 struct tsr_msg_bundle *b)
{
	const struct tsr_decoded_msg *m = &d->msg;

	/* constants are those of this clause, not of the last that was run */
	sh->lanes.alu.space[TSR_LANES_CLAUSE] = d->konst;
	for (unsigned int i = 0; i < m->srcs; i++) {
		b->src[i] = &sh->lanes.alu.space[m->src[i].space][m->src[i].index];
		b->src_step[i] = m->src[i].step;
	}
}

/* Do texture message @b of a block; false: lane by lane. */
static bool sample_block(struct tsr_shader *sh, const struct tsr_quad_block *block,
			 struct tsr_msg_bundle *b)
{
	const unsigned int op = b->insn->op;
	const bool cube = op == TSR_OP_ADD_TEXS_CUBE_F32 || op == TSR_OP_ADD_TEXS_CUBE_F16;
	uint8_t warps[TSR_QUAD_BLOCK_WARPS];

	describe(sh, block, b, warps);
	tsr_access_reserve(&sh->access, &sh->mem);
	if (op == TSR_OP_ADD_TEXC)
		return tsr_msg_texture_together(&sh->env, b, 0, 0) == b->warps;
	return tsr_msg_texture_compact_together(&sh->env, b, 0, cube) == b->warps;
}

/* A load, or a store to scratch. False: it waits or faults. */
static bool run_memory(struct tsr_shader *sh, const struct tsr_plan_step *step,
		       const struct tsr_quad_block *block)
{
	struct tsr_msg_bundle b = {
		.insn = step->clause->msg.insn, .pair_insn = step->clause->msg.pair_insn,
		.staging = step->reg,
	};
	uint8_t warps[TSR_QUAD_BLOCK_WARPS];
	unsigned int at = 0;

	/* what threads that are no fragments load must not fault, and is counted apart */
	if (block->active & block->dead)
		return false;
	find_sources(sh, step->clause, &b);
	describe(sh, block, &b, warps);
	sh->mem.unit = TSR_UNIT_SHADER;
	return tsr_msg_run_bundle(&sh->env, &b, &at) == TSR_STEP_DONE;
}

static bool run_texture(struct tsr_shader *sh, const struct tsr_plan_step *step,
			const struct tsr_quad_block *block)
{
	const struct tsr_decoded_msg *m = &step->clause->msg;
	struct tsr_msg_bundle b = { .insn = m->insn, .staging = m->staging };

	find_sources(sh, step->clause, &b);
	return sample_block(sh, block, &b);
}

static bool run_var_tex(struct tsr_shader *sh, const struct tsr_plan_step *step,
			struct tsr_quad_block *block, const struct tsr_planes **planes)
{
	union tsr_lanes at[2][TSR_QUAD_BLOCK_WARPS];
	struct tsr_msg_bundle b = {
		.insn = &step->insn, .staging = step->reg, .src = { at[0], at[1] },
		.src_step = { 1, 1 },
	};

	return tsr_varying_block_pair(&sh->env, block, step->insn.imm[TSR_IMM_VARYING_INDEX], at,
				      planes) &&
	       sample_block(sh, block, &b);
}

/* ---- What a block leaves -------------------------------------------------------------------- */

/* Keep what ZS_EMIT hands over: registers may become something else. */
static void take_depth(struct tsr_shader *sh, const struct tsr_plan_step *step,
		       struct tsr_quad_block *block)
{
	const struct tsr_decoded_msg *m = &step->clause->msg;

	sh->lanes.alu.space[TSR_LANES_CLAUSE] = step->clause->konst;
	for (unsigned int i = 0; i < 2; i++) {
		const struct tsr_operand *o = &m->src[i];
		union tsr_lanes *to = i ? block->stencil : block->depth;

		if (!m->insn->mod[i ? TSR_MOD_STENCIL : TSR_MOD_Z])
			continue;
		for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++)
			tsr_msg_move(&to[w],
				     &sh->lanes.alu.space[o->space][o->index + o->step * w],
				     block->senders[w]);
		*(i ? &block->stenciled : &block->deep) |= block->active;
		*(i ? &block->has_stencil : &block->has_depth) = true;
	}
}

/* Colors are written at once, or kept until all threads have ended. False: one has two. */
static bool take_color(struct tsr_shader *sh, const struct tsr_plan *plan,
		       const struct tsr_plan_step *step, struct tsr_quad_block *block)
{
	const union tsr_lanes *from = &sh->bundle->reg[step->reg * TSR_BUNDLE_WARPS];
	union tsr_lanes *to = sh->values.out[step->target];

	if (!plan->parts) {
		block->color(block->arg, step->target, from);
		return true;
	}
	if (block->colored[step->target] & block->active)
		return false;
	block->colored[step->target] |= block->active;
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		const uint16_t lanes = block->senders[w];

		for (unsigned int n = w; lanes && n < step->words * TSR_BUNDLE_WARPS;
		     n += TSR_BUNDLE_WARPS)
			tsr_msg_move(&to[n], &from[n], lanes);
	}
	return true;
}

/*
 * Write the colors that have been collected. False: some fragment that is left has none, or neither
 * depth nor stencil where others have.
 */
static bool write_colors(const struct tsr_shader *sh, const struct tsr_plan *plan,
			 struct tsr_quad_block *block)
{
	const uint64_t left = threads_of(block->covered) & threads_of(block->lanes) &
			      ~block->discarded;

	if ((block->has_depth && left & ~block->deep) ||
	    (block->has_stencil && left & ~block->stenciled))
		return false;
	for (unsigned int t = 0; t < TSR_RENDER_TARGETS_MAX; t++) {
		if (plan->colors >> t & 1 && left & ~block->colored[t])
			return false;
	}
	for (unsigned int t = 0; t < TSR_RENDER_TARGETS_MAX; t++) {
		if (plan->colors >> t & 1)
			block->color(block->arg, t, sh->values.out[t]);
	}
	return true;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Varyings of @step are interpolated at centres or at the sample. */
static void choose_place(const struct tsr_shader *sh, const struct tsr_plan_step *step,
			 struct tsr_quad_block *block)
{
	const unsigned int log2 = sh->env.fragments->state->samples_log2;
	const int8_t *at = tsr_sample_position[log2][block->sample];
	const float off[2] = { step->at_sample ? at[0] / 16.0f - 0.5f : 0,
			       step->at_sample ? at[1] / 16.0f - 0.5f : 0 };

	if (block->off[0] != off[0] || block->off[1] != off[1])
		block->has_w = false;
	memcpy(block->off, off, sizeof(off));
}

/*
 * Load a varying where some threads wait, who keep what they have in its registers. A step that has
 * been executed before has the same values again. Not inline: others have no need of its stack.
 */
static bool run_varying_some(struct tsr_shader *sh, const struct tsr_plan_step *step,
			     struct tsr_quad_block *block, const struct tsr_planes **planes)
{
	union tsr_lanes once[4 * TSR_BUNDLE_WARPS], *reg = sh->bundle->reg;
	union tsr_lanes *from = step->kept < TSR_PLAN_KEPT ? sh->values.kept[step->kept] : once;
	const bool known = block->keeps >> step->kept & 1;

	choose_place(sh, step, block);
	if (!known && !tsr_varying_block(&sh->env, block, &step->insn, 0, from, planes))
		return false;
	block->keeps |= (uint8_t)(1u << step->kept);
	for (unsigned int n = 0; n < step->words; n++) {
		const unsigned int r = (step->reg + n) % TSR_REGISTERS * TSR_BUNDLE_WARPS;

		for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++)
			tsr_msg_move(&reg[r + w], &from[n * TSR_BUNDLE_WARPS + w],
				     block->senders[w]);
	}
	return true;
}

/* Steps that are not in every program. Not inline: others have no need of its stack. */
static __attribute__((noinline)) bool
run_other(struct tsr_shader *sh, const struct tsr_plan *plan, const struct tsr_plan_step *step,
	  struct tsr_quad_block *block)
{
	const struct tsr_planes **planes = &block->planes[step - plan->step];

	switch (step->kind) {
	case TSR_PLAN_LOOP:
		return run_loop(sh, plan, step, block);
	case TSR_PLAN_VARYING:
		return run_varying_some(sh, step, block, planes);
	case TSR_PLAN_VAR_TEX:
		choose_place(sh, step, block);
		return run_var_tex(sh, step, block, planes);
	case TSR_PLAN_TEX:
		return run_texture(sh, step, block);
	case TSR_PLAN_MEMORY:
		return run_memory(sh, step, block);
	default:
		take_depth(sh, step, block);
		return true;
	}
}

static inline bool run_step(struct tsr_shader *sh, const struct tsr_plan *plan,
			    const struct tsr_plan_step *step, struct tsr_quad_block *block)
{
	if (step->kind == TSR_PLAN_STRAIGHT) {
		run_straight(sh, step->straight, block->whole);
		return true;
	}
	if (plan->computes && step->kind != TSR_PLAN_LOOP)
		plain_mode(sh);
	if (step->kind == TSR_PLAN_COLOR)
		return take_color(sh, plan, step, block);
	if (step->kind == TSR_PLAN_VARYING && block->whole && !(block->keeps >> step->kept & 1)) {
		choose_place(sh, step, block);
		return tsr_varying_block(&sh->env, block, &step->insn, step->reg, sh->bundle->reg,
					 &block->planes[step - plan->step]);
	}
	return run_other(sh, plan, step, block);
}

static bool run_steps(struct tsr_shader *sh, const struct tsr_plan *plan,
		      struct tsr_quad_block *block, unsigned int first, unsigned int count)
{
	for (unsigned int i = first; i < first + count; i++) {
		if (!run_step(sh, plan, &plan->step[i], block))
			return false;
	}
	return true;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Count @place. False: that was too much for the block. */
static bool count_place(struct tsr_shader *sh, const struct tsr_plan *plan,
			const struct tsr_plan_place *place, struct tsr_quad_block *block)
{
	/* quads are in as few warps as there can be, until some threads may have left the others */
	const unsigned int warps =
		plan->parts || plan->discards ? block->active_warps : block->warps;
	struct tsr_plan_work *work = &block->work;
	bool good = true;

	work->clauses += place->clauses * warps;
	work->tuples += place->tuples * warps;
	work->messages += place->messages * warps;
	work->threads += place->tuples * block->active_threads;
	if (place->late && block->active & block->dead)
		work->threads -= place->late *
				 (uint64_t)tsr_pixel_count(block->active & block->dead);
	for (unsigned int w = 0; plan->limit && w < TSR_QUAD_BLOCK_WARPS; w++)
		good &= !block->senders[w] || count_clauses(plan, block, w, place->clauses);
	if (work->tuples <= TUPLES_MAX)
		return good;
	/* the next run would be too long, too, and most likely in other blocks */
	sh->plan[plan - sh->plan].fits = false;
	return false;
}

/* Threads that DISCARD has named are no fragments any more. */
static void discard(struct tsr_shader *sh, struct tsr_quad_block *block)
{
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		const uint64_t gone = sh->lanes.helper[w] & block->senders[w];

		block->dead |= gone << TSR_WARP_LANES * w;
		block->discarded |= (gone & block->covered[w]) << TSR_WARP_LANES * w;
		sh->lanes.helper[w] = warp_lanes(block->dead, w);
	}
}

/* The last fragment of a warp has gone: so do its helpers. */
static void end_helpers(struct tsr_quad_block *block, const struct tsr_plan *plan)
{
	uint64_t live = block->live;

	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		if (!warp_lanes(live & ~block->dead, w))
			live &= ~warp_threads(w);
	}
	for (unsigned int n = 0; plan->parts && live != block->live && n < plan->places; n++)
		block->wait[n] &= live;
	block->live = live;
}

/* After a clause that does not reconverge: those of a warp that were active go on first. */
static void hold(struct tsr_quad_block *block, const struct tsr_plan_place *place, uint64_t active)
{
	if (place->reconverges && !block->held)
		return;
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		const uint64_t warp = warp_threads(w);

		if (!(block->active & warp))
			continue;
		block->held &= ~warp;
		if (!place->reconverges && active & warp)
			block->held |= block->live & warp & ~active;
	}
}

/*
 * Where all threads of the block go after @place, if they stay together and nothing else becomes of
 * them; TSR_PLAN_END: that is not so.
 */
static int all_go_to(const struct tsr_shader *sh, const struct tsr_plan_place *place,
		     struct tsr_quad_block *block)
{
	uint64_t taken = 0;
	int to;

	if (!block->whole || block->held || place->discards || place->terminates)
		return TSR_PLAN_END;
	if (place->branches)
		taken = threads_of(sh->lanes.branch.taken) & block->active;
	if (taken && taken != block->active)
		return TSR_PLAN_END;
	to = taken ? place->jump : place->next;
	if (to >= 0)
		block->wait[to] = block->active;
	return to;
}

/* Threads that have executed @place, those of them that are left, wait where they go to. */
static void part(struct tsr_shader *sh, const struct tsr_plan *plan,
		 const struct tsr_plan_place *place, struct tsr_quad_block *block)
{
	const uint64_t taken =
		place->branches ? threads_of(sh->lanes.branch.taken) & block->active : 0;
	uint64_t next = block->active & ~taken, jump = taken;

	if (place->discards)
		discard(sh, block);
	if (place->terminates)
		block->live &= ~(block->active & block->dead);
	if (place->next < 0)
		block->live &= ~next;
	if (place->jump < 0)
		block->live &= ~jump;
	if (block->live & block->dead &&
	    (place->discards || place->terminates || place->next < 0 || place->jump < 0))
		end_helpers(block, plan);
	next &= block->live;
	jump &= block->live;
	if (next)
		block->wait[place->next] |= next;
	if (jump)
		block->wait[place->jump] |= jump;
	hold(block, place, next | jump);
}

/* The place that is executed after @place, number @n: the lowest one with threads. */
static unsigned int next_place(const struct tsr_plan *plan, const struct tsr_quad_block *block,
			       const struct tsr_plan_place *place, unsigned int n, bool released)
{
	unsigned int from = n + 1;

	if (place->next >= 0 && (unsigned int)place->next < from)
		from = (unsigned int)place->next;
	if (place->branches && place->jump >= 0 && (unsigned int)place->jump < from)
		from = (unsigned int)place->jump;
	if (released)
		from = 0;
	while (from < plan->places && !(block->wait[from] & ~block->held))
		from++;
	return from;
}

/*
 * True if a loop may be run as one piece at place @n: no thread waits before or at it for its warp
 * to reconverge, as that happens in the loop.
 */
static bool may_loop(const struct tsr_quad_block *block, unsigned int n)
{
	uint64_t waiting = 0;

	for (unsigned int i = 0; block->held && i <= n; i++)
		waiting |= block->wait[i] & block->held;
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		if (block->senders[w] && warp_lanes(waiting, w))
			return false;
	}
	return true;
}

/* Runs a plan whose threads stay together until they end. */
static bool run_together(struct tsr_shader *sh, const struct tsr_plan *plan,
			 struct tsr_quad_block *block)
{
	for (int n = plan->start; n >= 0 && block->live; n = plan->place[n].next) {
		const struct tsr_plan_place *place = &plan->place[n];

		choose(sh, plan, block, block->live);
		if (!run_steps(sh, plan, block, place->first, place->steps) ||
		    !count_place(sh, plan, place, block))
			return false;
		if (place->discards)
			discard(sh, block);
		if (place->terminates)
			block->live &= ~block->dead;
		if (place->discards)
			end_helpers(block, plan);
	}
	return true;
}

/* All threads from the first place to their ends; false: the block is the core's. */
static bool run_places(struct tsr_shader *sh, const struct tsr_plan *plan,
		       struct tsr_quad_block *block)
{
	unsigned int n = plan->start;

	memset(block->wait, 0, plan->places * sizeof(block->wait[0]));
	block->wait[n] = block->live;
	while (n < plan->places) {
		const struct tsr_plan_place *place = &plan->place[n];
		const uint64_t held = block->held;
		const unsigned int before = n;
		int to;

		choose(sh, plan, block, block->wait[n] & ~held);
		block->wait[n] &= held;
		if (place->loops && !may_loop(block, n))
			return false;
		if (!run_steps(sh, plan, block, place->first, place->steps) ||
		    !count_place(sh, plan, place, block))
			return false;
		to = all_go_to(sh, place, block);
		if (to < 0)
			part(sh, plan, place, block);
		n = to >= 0 ? (unsigned int)to :
			      next_place(plan, block, place, n, held & ~block->held);
		if (n <= before && tsr_stop_requested(&sh->mem))
			return false;
	}
	return true;
}

/* R61 with SAMPLE_SHADING: coverage of one sample, and which. */
static void enter_samples(const struct tsr_quad_block *block, unsigned int w, union tsr_lanes *to)
{
	const uint32_t sample = 1u << block->sample, number = block->sample << 16;

	for (unsigned int i = 0; i < TSR_WARP_LANES / 4; i++)
		((tsr_msg_four *)to)[i] = (tsr_msg_mask(block->covered[w], i) & sample) | number;
}

/* Where the pixels of warp @w are. */
static void enter_position(const struct tsr_quad_block *block, unsigned int w, union tsr_lanes *to)
{
	static const tsr_msg_four quad = { 0, 1, 0x10000, 0x10001 };
	const uint32_t first = (uint32_t)(uint16_t)block->x | (uint32_t)(block->y + 2 * w) << 16;

	for (unsigned int i = 0; i < TSR_WARP_LANES / 4; i++)
		((tsr_msg_four *)to)[i] = quad + (first + 2 * i);
}

/* Registers of the entry state that the program reads. */
static void enter(struct tsr_shader *sh, const struct tsr_fragments *f,
		  const struct tsr_plan *plan, const struct tsr_quad_block *block)
{
	const struct tsr_prim *prim = &f->prim[block->prim].prim;
	union tsr_lanes *reg = sh->bundle->reg;

	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		if (plan->entry >> TSR_REG_PRIMITIVE & 1)
			tsr_stage_fill(&reg[TSR_REG_PRIMITIVE * TSR_BUNDLE_WARPS + w],
				       prim->primitive_id);
		if (plan->entry >> TSR_REG_SAMPLES & 1)
			enter_samples(block, w, &reg[TSR_REG_SAMPLES * TSR_BUNDLE_WARPS + w]);
		if (plan->entry >> TSR_REG_BACK & 1)
			tsr_stage_fill(&reg[TSR_REG_BACK * TSR_BUNDLE_WARPS + w], !prim->front);
		if (plan->entry >> TSR_REG_POSITION & 1)
			enter_position(block, w, &reg[TSR_REG_POSITION * TSR_BUNDLE_WARPS + w]);
	}
	for (uint64_t left = plan->zero; left; left &= left - 1)
		memset(&reg[(unsigned int)__builtin_ctzll(left) * TSR_BUNDLE_WARPS], 0,
		       TSR_QUAD_BLOCK_WARPS * sizeof(*reg));
}

/* A number that was written just now: two in one load would have to wait for their stores. */
static uint64_t alone(const uint64_t *number)
{
	return *(const volatile uint64_t *)number;
}

/* Count the work that the core would have done, if the block is @good. */
static void count(struct tsr_shader *sh, const struct tsr_quad_block *block, bool good)
{
	struct tsr_msg_cost *cost = &sh->env.cost;
	const struct tsr_plan_work *work = &block->work;
	const uint64_t tuples = alone(&work->tuples), messages = alone(&work->messages);
	uint64_t cycles = good ? tuples : 0;

	if (good) {
		sh->stats.clauses += alone(&work->clauses);
		sh->stats.threads += alone(&work->threads);
		sh->stats.messages += messages;
	}
	if (cost->cycles | cost->read_bytes | cost->write_bytes | cost->tried) {
		cycles += cost->cycles;
		sh->stats.read_bytes += cost->read_bytes;
		sh->stats.write_bytes += cost->write_bytes;
		sh->effort -= (int32_t)cost->cycles;
		*cost = (struct tsr_msg_cost){ 0 };
	}
	sh->stats.cycles += cycles;
	/* messages are far from what they are in bundles, textures are not */
	sh->effort -= (int32_t)(tuples / TSR_BUNDLE_WARPS + messages / 2);
}

/* Set up the state that all blocks of a primitive share. */
static bool prepare(struct tsr_shader *sh, struct tsr_fragments *f, const struct tsr_plan *plan,
		    struct tsr_quad_block *block)
{
	if (!tsr_stage_resume(sh, &f->run, f->state->program))
		return false;
	sh->env.vertices = NULL;
	sh->env.fragments = f;
	sh->env.helper = sh->lanes.helper;
	sh->bundle = f->run.core.bundle[0];
	sh->bundle_index = 0;
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++)
		sh->bundle->warp[w].written |= plan->written | plan->entry;
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++)
		sh->place[w] = (struct tsr_msg_place){ .scratch = tsr_shader_scratch(sh, w) };
	memset(block->planes, 0, plan->steps * sizeof(*block->planes));
	return true;
}

/* Threads as they are before the first clause. */
static void begin(struct tsr_shader *sh, const struct tsr_plan *plan, struct tsr_quad_block *block)
{
	block->has_w = block->has_depth = block->has_stencil = false;
	block->chosen &= block->again;
	block->discarded = block->held = 0;
	block->keeps = 0;
	block->live = threads_of(block->lanes);
	block->dead = block->live & ~threads_of(block->covered);
	block->work = (struct tsr_plan_work){ .messages = plan->preloads * block->warps };
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		sh->lanes.helper[w] = warp_lanes(block->dead, w);
		block->clauses[w] = 0;
	}
	if (!plan->parts)
		return;
	block->deep = block->stenciled = 0;
	memset(block->colored, 0, sizeof(block->colored));
}

bool tsr_plan_run(struct tsr_shader *sh, struct tsr_fragments *f, const struct tsr_plan *plan,
		  struct tsr_quad_block *block)
{
	const unsigned int planes = f->plane_count;
	const bool again = block->again;
	bool good;

	if (!again && !prepare(sh, f, plan, block))
		return false;
	begin(sh, plan, block);
	if (plan->computes)
		enter_units(sh, f->state, again);
	if (plan->entry | plan->zero)
		enter(sh, f, plan, block);
	choose(sh, plan, block, block->live);
	good = run_steps(sh, plan, block, 0, plan->preloads) &&
	       (plan->parts ? run_places(sh, plan, block) : run_together(sh, plan, block));
	if (plan->computes)
		tsr_alu_leave(&sh->fp);
	if (good && plan->parts)
		good = write_colors(sh, plan, block);
	count(sh, block, good);
	/* there are fewer: all have been forgotten to make room */
	block->again = good && f->plane_count >= planes;
	return good;
}
