/* SPDX-License-Identifier: MIT */
/* Running plans: the steps of one for a block of pixels, and what they count. */
#include "plan.h"

#include <string.h>

#include "shader/core.h"
#include "texture/msg_texture.h"
#include "units/msg.h"
#include "shader/stage_run.h"
#include "tsr_samples.h"

/*
 * Prepare for arithmetic. All lanes of the first warps take part; the results of lanes without a
 * thread are not used, but where threads look at each other.
 */
static void choose(struct tsr_shader *sh, const struct tsr_fragment_state *state,
		   const struct tsr_plan *plan, const struct tsr_quad_block *block)
{
	static const struct tsr_alu_mode none;
	struct tsr_alu_state *alu = &sh->lanes.alu;

	tsr_fragments_specials(sh, state);
	sh->mode_key = 0;
	tsr_alu_enter(&sh->fp, &none);

	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		alu->warp[w] = w;
		tsr_shader_mask(sh, w, plan->crosses ? block->lanes[w] : 0xffff);
	}
	alu->warps = TSR_QUAD_BLOCK_WARPS;
	alu->full = !plan->crosses;
	alu->space[TSR_LANES_REG] = sh->bundle->reg;
}

static void set_mode(struct tsr_shader *sh, const struct tsr_decoded *d)
{
	if (sh->mode_key == d->mode_key)
		return;
	sh->mode_key = d->mode_key;
	tsr_alu_change(&sh->fp, &d->mode);
}

/* Micro-operations one after the other; those of clauses are counted in tsr_plan.tuples. */
static void run_straight(struct tsr_shader *sh, struct tsr_straight *s)
{
	const void *code =
		tsr_code_straight_native(&sh->code, sh->mem.thread, s, TSR_QUAD_BLOCK_WARPS);
	struct tsr_alu_state *alu = &sh->lanes.alu;

	set_mode(sh, s->clause[0]);
	if (code) {
		tsr_jit_run(sh->code.jit, code, &sh->lanes);
		return;
	}
	for (unsigned int i = 0; i < s->count; i++) {
		const struct tsr_decoded *d = s->clause[i];

		alu->space[TSR_LANES_CLAUSE] = d->konst;
		for (const struct tsr_uop *uop = d->uop; uop < d->uop + d->uops; uop++)
			uop->fn(uop, alu);
	}
}

/*
 * The threads of a block go through a loop, warp by warp; false: it takes too long, they would
 * execute more clauses than they may, or the thread is wanted.
 */
static bool run_loop(struct tsr_shader *sh, const struct tsr_plan *plan,
		     const struct tsr_plan_step *step, struct tsr_quad_block *block)
{
	struct tsr_loop_work *work = &block->work;
	const uint64_t before = work->tuples;
	bool good = true;

	set_mode(sh, step->loop->clause[0]);
	for (unsigned int w = 0; good && w < TSR_QUAD_BLOCK_WARPS; w++) {
		const uint64_t clauses = work->clauses;

		if (!block->lanes[w])
			continue;
		good = tsr_loop_pass(sh, step->loop, w, block->lanes[w], step->target, work);
		/* The loop would fail again, and most likely in other blocks. */
		if (!good)
			sh->plan[plan - sh->plan].fits = false;
		block->clauses[w] += (uint32_t)(work->clauses - clauses);
		if (plan->limit && block->clauses[w] > plan->limit - plan->clauses)
			good = false;
		good &= w == TSR_QUAD_BLOCK_WARPS - 1 || !tsr_stop_requested(&sh->mem);
	}
	sh->effort -= (int32_t)((work->tuples - before) / TSR_BUNDLE_WARPS);
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

/* Do texture message @b of a block; false: lane by lane. */
static bool sample_block(struct tsr_shader *sh, const struct tsr_quad_block *block,
			 struct tsr_msg_bundle *b)
{
	const unsigned int op = b->insn->op;
	const bool cube = op == TSR_OP_ADD_TEXS_CUBE_F32 || op == TSR_OP_ADD_TEXS_CUBE_F16;
	static const uint8_t warp[TSR_QUAD_BLOCK_WARPS] = { 0, 1, 2, 3 };
	uint8_t some[TSR_QUAD_BLOCK_WARPS], count = 0;

	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		if (block->lanes[w] && !block->ended[w])
			some[count++] = warp[w];
	}
	if (!count)
		return true;
	b->reg = sh->bundle->reg;
	b->result = UINT8_MAX;
	b->whole = true;
	b->warp = some;
	b->warps = count;
	b->lanes = block->lanes;
	b->place = sh->place;
	tsr_access_reserve(&sh->access, &sh->mem);
	if (op == TSR_OP_ADD_TEXC)
		return tsr_msg_texture_together(&sh->env, b, 0, 0) == count;
	return tsr_msg_texture_compact_together(&sh->env, b, 0, cube) == count;
}

static bool run_texture(struct tsr_shader *sh, const struct tsr_plan_step *step,
			const struct tsr_quad_block *block)
{
	const struct tsr_decoded_msg *m = &step->clause->msg;
	struct tsr_msg_bundle b = { .insn = m->insn, .staging = m->staging };

	/* coordinates may be constants, which are of this clause, not of the last that was run */
	sh->lanes.alu.space[TSR_LANES_CLAUSE] = step->clause->konst;
	for (unsigned int i = 0; i < m->srcs; i++) {
		b.src[i] = &sh->lanes.alu.space[m->src[i].space][m->src[i].index];
		b.src_step[i] = m->src[i].step;
	}
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

/* ---- Threads that are discarded ------------------------------------------------------------- */

/* Threads of warp @w that are fragments still. */
static uint16_t kept_lanes(const struct tsr_quad_block *block, unsigned int w)
{
	return block->lanes[w] & ~(block->dead >> TSR_WARP_LANES * w);
}

/* No thread is discarded before the first step that discards. */
static void begin_discards(struct tsr_shader *sh, struct tsr_quad_block *block)
{
	block->dead = 0;
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		block->dead |= (uint64_t)(block->lanes[w] & ~block->covered[w]) <<
			       TSR_WARP_LANES * w;
		sh->lanes.helper[w] = block->lanes[w] & ~block->covered[w];
	}
}

/* @step has discarded threads. A warp without threads ends. */
static void note_discards(struct tsr_shader *sh, const struct tsr_plan_step *step,
			  struct tsr_quad_block *block)
{
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		const uint64_t gone = sh->lanes.helper[w] & block->lanes[w];

		sh->lanes.helper[w] = (uint16_t)gone;
		block->dead |= gone << TSR_WARP_LANES * w;
		block->discarded |= (gone & block->covered[w]) << TSR_WARP_LANES * w;
		if (!block->ended[w] && block->lanes[w] && !kept_lanes(block, w))
			block->ended[w] = step;
	}
}

/* Count the work of each warp of a program that discards. */
static void count_discards(struct tsr_shader *sh, const struct tsr_plan *plan,
			   const struct tsr_quad_block *block)
{
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		const struct tsr_plan_step *end = block->ended[w];
		const unsigned int threads = tsr_lanes_count(block->lanes[w]);

		if (!threads)
			continue;
		sh->stats.clauses += end ? end->left.clauses : plan->clauses;
		sh->stats.cycles += end ? end->left.tuples : plan->tuples;
		sh->stats.messages += end ? end->left.messages : plan->messages;
		if (end)
			sh->stats.threads += (uint64_t)end->left.tuples * threads;
		else
			sh->stats.threads += (uint64_t)(plan->tuples - plan->late) * threads +
					     (uint64_t)plan->late *
						     tsr_lanes_count(kept_lanes(block, w));
	}
}

/* ---- Steps ----------------------------------------------------------------------------------- */

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
			to[w] = sh->lanes.alu.space[o->space][o->index + o->step * w];
		*(i ? &block->has_stencil : &block->has_depth) = true;
	}
}

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

static bool run_step(struct tsr_shader *sh, const struct tsr_plan *plan,
		     const struct tsr_plan_step *step, struct tsr_quad_block *block)
{
	const struct tsr_planes **planes = &block->planes[step - plan->step];

	if (step->kind == TSR_PLAN_STRAIGHT) {
		run_straight(sh, step->straight);
		if (step->discards)
			note_discards(sh, step, block);
		return true;
	}
	if (step->kind == TSR_PLAN_LOOP)
		return run_loop(sh, plan, step, block);
	if (plan->computes)
		plain_mode(sh);
	switch (step->kind) {
	case TSR_PLAN_VARYING:
		choose_place(sh, step, block);
		return tsr_varying_block(&sh->env, block, &step->insn, step->reg, sh->bundle->reg,
					 planes);
	case TSR_PLAN_VAR_TEX:
		choose_place(sh, step, block);
		return run_var_tex(sh, step, block, planes);
	case TSR_PLAN_TEX:
		return run_texture(sh, step, block);
	case TSR_PLAN_DEPTH:
		take_depth(sh, step, block);
		return true;
	default:
		block->color(block->arg, step->target,
			     &sh->bundle->reg[step->reg * TSR_BUNDLE_WARPS]);
		return true;
	}
}

/* R61 with SAMPLE_SHADING: coverage of one sample, and which. */
static void enter_samples(const struct tsr_quad_block *block, unsigned int w, union tsr_lanes *to)
{
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		to->u[l] = (uint32_t)(block->covered[w] >> l & 1) << block->sample |
			   block->sample << 16;
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
		for (unsigned int l = 0; plan->entry >> TSR_REG_POSITION & 1 && l < TSR_WARP_LANES;
		     l++)
			reg[TSR_REG_POSITION * TSR_BUNDLE_WARPS + w].u[l] =
				(uint32_t)(uint16_t)(block->x + (l >> 1 & 6) + (l & 1)) |
				(uint32_t)(block->y + 2 * w + (l >> 1 & 1)) << 16;
	}
}

/* Count the work that the core would have done. */
static void count(struct tsr_shader *sh, const struct tsr_plan *plan,
		  const struct tsr_quad_block *block)
{
	if (plan->discards) {
		count_discards(sh, plan, block);
		return;
	}
	sh->stats.clauses += plan->clauses * block->warps + block->work.clauses;
	sh->stats.cycles += plan->tuples * block->warps + block->work.tuples;
	sh->stats.threads += (plan->tuples - plan->late) * block->threads +
			     plan->late * block->pixels + block->work.threads;
	sh->stats.messages += plan->messages * block->warps;
}

static void count_cost(struct tsr_shader *sh, const struct tsr_plan *plan)
{
	const struct tsr_msg_cost *cost = &sh->env.cost;

	sh->stats.cycles += cost->cycles;
	sh->stats.read_bytes += cost->read_bytes;
	/* messages are far from what they are in bundles, textures are not */
	sh->effort -= plan->tuples / 2 + cost->cycles + plan->messages * 2;
	sh->env.cost = (struct tsr_msg_cost){ 0 };
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
	memset(block->planes, 0, plan->steps * sizeof(*block->planes));
	return true;
}

/* Returns true if no warp of @block lacks a quad, so that they are the core's warps. */
static bool is_whole(const struct tsr_quad_block *block)
{
	unsigned int quads = 0x1111;

	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		unsigned int pairs = block->lanes[w] | block->lanes[w] >> 1;

		quads &= pairs | pairs >> 2;
	}
	return quads == 0x1111;
}

bool tsr_plan_run(struct tsr_shader *sh, struct tsr_fragments *f, const struct tsr_plan *plan,
		  struct tsr_quad_block *block)
{
	const unsigned int planes = f->plane_count;
	bool good = true;

	/* what is counted of loops depends on who is in a warp */
	if (plan->loops && !is_whole(block))
		return false;
	if (!block->again && !prepare(sh, f, plan, block))
		return false;
	block->has_w = block->has_depth = block->has_stencil = false;
	block->discarded = 0;
	memset(block->ended, 0, sizeof(block->ended));
	block->work = (struct tsr_loop_work){ 0 };
	memset(block->clauses, 0, sizeof(block->clauses));
	if (plan->computes)
		choose(sh, f->state, plan, block);
	if (plan->discards)
		begin_discards(sh, block);
	if (plan->entry)
		enter(sh, f, plan, block);
	for (unsigned int i = 0; good && i < plan->steps; i++)
		good = run_step(sh, plan, &plan->step[i], block);
	if (plan->computes)
		tsr_alu_leave(&sh->fp);
	if (good)
		count(sh, plan, block);
	count_cost(sh, plan);
	/* there are fewer: all have been forgotten to make room */
	block->again = good && f->plane_count >= planes;
	return good;
}
