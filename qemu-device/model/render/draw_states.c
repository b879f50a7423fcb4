/* SPDX-License-Identifier: MIT */
/* States of draws in a core: read and prepared once, used for all primitives of a draw. */
#include <stdlib.h>
#include <string.h>

#include "memory/descriptor.h"
#include "alu/float_bits.h"
#include "render.h"

/* ---- Viewports ------------------------------------------------------------------------------- */

/* @copy is that of the DRAW_STATE. */
static enum tsr_step read_viewports(struct tsr_tile_state *s, struct tsr_mem *mem, uint64_t copy)
{
	const struct tsr_draw_state *draw = &s->fragment.draw;

	copy += TSR_DRAW_STATE__QWORDS * 8;
	for (unsigned int i = 0; i < draw->viewport_count; i++) {
		uint64_t word[TSR_VIEWPORT__QWORDS], at = i * sizeof(word);
		struct tsr_viewport v;
		double near, far;
		enum tsr_step step = tsr_descriptor_read_copy(mem, draw->viewports + at, copy + at,
							      TSR_DESCRIPTOR_VIEWPORT, word);

		if (step != TSR_STEP_DONE)
			return step;
		tsr_unpack_viewport(word, &v);
		near = tsr_as_float(v.near);
		far = tsr_as_float(v.far);
		s->viewport[i].scissor = (struct tsr_rect){ v.scissor_x0, v.scissor_y0,
							    v.scissor_x1, v.scissor_y1 };
		/* what is no number limits nothing */
		s->range[i].low = near < far ? near : far <= near ? far : -__builtin_inf();
		s->range[i].high = near < far ? far : far <= near ? near : __builtin_inf();
	}
	return TSR_STEP_DONE;
}

/*
 * Primitives are clipped at the viewport's range; what is added to their depth or written in place
 * of it is held in it by DEPTH_CLAMP alone. Fixed-point depths lie between 0 and 1.
 */
static void limit_depths(struct tsr_tile_state *s)
{
	const struct tsr_draw_state *draw = &s->fragment.draw;
	const bool beyond =
		!draw->depth_clamp && (draw->depth_bias || s->fragment.shader.writes_depth);

	for (unsigned int i = 0; i < TSR_VIEWPORTS_MAX; i++) {
		double low = s->range[i].low, high = s->range[i].high;

		if (beyond) {
			low = low < 0 ? low : 0;
			high = high > 1 ? high : 1;
		}
		if (s->zs.scale != 0) {
			low = low > 0 ? low < 1 ? low : 1 : 0;
			high = high > 0 ? high < 1 ? high : 1 : 0;
		}
		s->viewport[i].low = low;
		s->viewport[i].high = high;
	}
}

/* ---- Blending -------------------------------------------------------------------------------- */

/*
 * Read a BLEND, whose copy is at @copy. The second qword of one that names a program is that, and
 * no fields.
 */
static enum tsr_step read_blend(struct tsr_mem *mem, uint64_t va, uint64_t copy, uint64_t *word)
{
	enum tsr_step step = tsr_mem_read(mem, copy, word, TSR_BLEND__QWORDS * sizeof(*word));
	uint64_t fields[TSR_BLEND__QWORDS];
	unsigned int qword;
	uint8_t code;

	if (step != TSR_STEP_DONE)
		return step;
	memcpy(fields, word, sizeof(fields));
	if ((word[1] & TSR_BLEND_MODE__MASK) == TSR_BLEND_MODE_PROGRAM)
		fields[1] = TSR_BLEND_MODE_PROGRAM;
	code = tsr_descriptor_check(TSR_DESCRIPTOR_BLEND, fields, &qword);
	return code ? tsr_mem_bad_packet(mem, va, qword, code) : TSR_STEP_DONE;
}

/* @copy is that of the DRAW_STATE. */
static enum tsr_step read_blends(struct tsr_tile_state *s, const struct tsr_rendering *r,
				 struct tsr_mem *mem, uint64_t copy)
{
	const struct tsr_draw_state *draw = &s->fragment.draw;

	copy += (TSR_DRAW_STATE__QWORDS + draw->viewport_count * TSR_VIEWPORT__QWORDS) * 8u;
	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX; i++) {
		uint64_t word[TSR_BLEND__QWORDS], at = draw->blends + i * sizeof(word);
		struct tsr_blend blend;
		enum tsr_step step;

		s->fragment.blend[i] = TSR_BLEND_MODE_OFF;
		s->output[i].off = true;
		if (i >= draw->blend_count || i >= r->info.frame.targets)
			continue;
		step = read_blend(mem, at, copy + i * sizeof(word), word);
		if (step != TSR_STEP_DONE)
			return step;
		s->fragment.blend[i] = word[1];
		tsr_unpack_blend(word, &blend);
		if (blend.mode == TSR_BLEND_MODE_PROGRAM || blend.mode == TSR_BLEND_MODE_OFF)
			continue;
		if (!tsr_output_prepare(&s->output[i], &r->color[i], draw, &blend,
					1u << s->fragment.samples_log2, r->simd))
			return tsr_mem_bad_packet(mem, at, 1, TSR_FAULT_BAD_VALUE);
	}
	return TSR_STEP_DONE;
}

/* True if blending of target 0 takes a second color. */
static bool reads_second(const struct tsr_output *o)
{
	const struct tsr_blend_term *term[2] = { &o->color, &o->alpha };
	bool second = false;

	for (unsigned int i = 0; i < 2; i++)
		second |= term[i]->source >= TSR_BLEND_FACTOR_SRC1_COLOR ||
			  term[i]->destination >= TSR_BLEND_FACTOR_SRC1_COLOR;
	return !o->off && o->blend && second;
}

/* True if a BLEND names a program, which reads the tile whatever SHADER_STATE says. */
static bool blends_by_program(const struct tsr_tile_state *s)
{
	bool found = false;

	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX; i++)
		found |= (s->fragment.blend[i] & TSR_BLEND_MODE__MASK) == TSR_BLEND_MODE_PROGRAM;
	return found;
}

/* True if anything comes of running the fragment program. */
static bool has_effect(const struct tsr_tile_state *s)
{
	const struct tsr_shader_state *shader = &s->fragment.shader;

	if (!shader->fragment)
		return false;
	if (shader->side_effects || shader->reads_tile || shader->discards ||
	    shader->writes_depth || shader->writes_stencil)
		return true;
	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX; i++) {
		if (!s->output[i].off ||
		    (s->fragment.blend[i] & 3) == TSR_BLEND_MODE_PROGRAM)
			return true;
	}
	return s->fragment.draw.alpha_to_coverage;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Targets whose texels are replaced as a whole, if whole blocks are written; see core.c. */
static unsigned int overwritten(const struct tsr_tile_state *s)
{
	unsigned int found = 0;

	if ((!s->may_be_flat && !s->may_be_blocks) || s->fragment.shader.discards ||
	    s->fragment.draw.alpha_to_coverage || s->zs.when == TSR_ZS_LATE ||
	    s->zs.when == TSR_ZS_LATE_REJECT)
		return 0;
	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX; i++)
		found |= !s->output[i].off && s->output[i].plain ? 1u << i : 0;
	return found;
}

static void prepare(struct tsr_tile_state *s, const struct tsr_rendering *r,
		    const struct tsr_env *env)
{
	const struct tsr_shader_state *shader = &s->fragment.shader;
	const struct tsr_draw_state *draw = &s->fragment.draw;
	const struct tsr_frame *frame = &r->info.frame;

	s->fragment.dual_source = reads_second(&s->output[0]);
	s->shades = has_effect(s);
	s->ordered = s->shades && (shader->reads_tile || shader->side_effects);
	s->sample_mask = draw->sample_mask;
	s->rules = (struct tsr_raster_rules){
		.bresenham = draw->line_mode == TSR_LINE_MODE_BRESENHAM,
		.line_width = tsr_as_float(draw->line_width),
		.center = draw->center,
		.bias = draw->depth_bias,
		.bias_constant = tsr_as_float(draw->bias_constant),
		.bias_slope = tsr_as_float(draw->bias_slope),
		.bias_clamp = tsr_as_float(draw->bias_clamp),
		.unit = r->depth_format.scale != 0 ? 1 / (r->depth_format.scale + 1) : 0,
	};
	tsr_zs_prepare(&s->zs, draw, shader, s->shades, frame->has_depth, frame->has_stencil,
		       r->depth_format.scale, r->debug);
	s->count_early = !s->shades || shader->early_tests;
	limit_depths(s);
	s->may_be_flat = tsr_tile_may_be_flat(s, r, env);
	s->may_be_blocks = tsr_tile_may_be_blocks(s, r, env);
	s->overwrites = overwritten(s);
	s->looked = s->colors.known = false;
	s->tried = s->patience = s->waited = 0;
}

/* The DRAW_STATE, and what it names. */
static enum tsr_step fill_draw(struct tsr_tile_state *s, const struct tsr_rendering *r,
			       struct tsr_mem *mem, uint64_t draw_state, uint64_t copy)
{
	uint64_t draw[TSR_DRAW_STATE__QWORDS];
	enum tsr_step step;

	s->draw_state = TSR_TILE_NO_STATE;
	step = tsr_descriptor_read_copy(mem, draw_state, copy, TSR_DESCRIPTOR_DRAW_STATE, draw);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_draw_state(draw, &s->fragment.draw);
	s->fragment.width = r->info.frame.width;
	s->fragment.height = r->info.frame.height;
	s->fragment.sample_positions = r->info.frame.sample_positions;
	s->fragment.samples_log2 = r->info.frame.samples_log2;
	step = read_viewports(s, mem, copy);
	if (step == TSR_STEP_DONE)
		step = read_blends(s, r, mem, copy);
	if (step == TSR_STEP_DONE)
		s->draw_state = draw_state;
	return step;
}

/*
 * Fill @s. Draws of the same DRAW_STATE, which most often differ in programs and their push
 * constants only, leave it what it has of that.
 */
static enum tsr_step fill(struct tsr_tile_state *s, const struct tsr_rendering *r,
			  struct tsr_mem *mem, const struct tsr_batch *batch)
{
	uint64_t shader[TSR_SHADER_STATE__QWORDS];
	struct tsr_batch_copies copies;
	enum tsr_step step;

	s->shader_state = TSR_TILE_NO_STATE;
	step = tsr_heap_copies(mem, &r->heap, batch, &copies);
	if (step == TSR_STEP_DONE)
		step = tsr_descriptor_read_copy(mem, batch->shader_state,
						r->heap.base + copies.shader_state,
						TSR_DESCRIPTOR_SHADER_STATE, shader);
	if (step == TSR_STEP_DONE && s->draw_state != batch->draw_state)
		step = fill_draw(s, r, mem, batch->draw_state,
				 r->heap.base + copies.draw_state);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_shader_state(shader, &s->fragment.shader);
	if ((s->fragment.shader.varying && !copies.varying) ||
	    (s->fragment.shader.fragment && !copies.fragment))
		return tsr_mem_bad_packet(mem, r->heap.base + batch->offset, 0,
					  TSR_FAULT_HEAP_CONTENT);
	s->varying_copy = r->heap.base + copies.varying;
	s->fragment_copy = r->heap.base + copies.fragment;
	s->fragment.shader.reads_tile |= blends_by_program(s);
	s->fragment.serial = tsr_env_serial(mem->env);
	prepare(s, r, mem->env);
	s->shader_state = batch->shader_state;
	return TSR_STEP_DONE;
}

static unsigned int slot_of(uint64_t shader_state, uint64_t draw_state)
{
	return (shader_state / 64 * 0x9e3779b97f4a7c15 ^ draw_state / 64 * 0xc2b2ae3d27d4eb4f) >>
	       40 & (TSR_TILE_STATES - 1);
}

enum tsr_step tsr_tile_program_find(struct tsr_tile_core *c, struct tsr_mem *mem,
				    const struct tsr_tile_state *state, enum tsr_stage stage,
				    const struct tsr_program **program)
{
	const struct tsr_shader_state *shader = &state->fragment.shader;

	if (stage == TSR_STAGE_VARYING)
		return tsr_programs_find(&c->programs, mem, shader->varying, state->varying_copy,
					 stage, program);
	return tsr_programs_find(&c->programs, mem, shader->fragment, state->fragment_copy, stage,
				 program);
}

enum tsr_step tsr_tile_state_find(struct tsr_tile_core *c, struct tsr_mem *mem,
				  const struct tsr_batch *batch, struct tsr_tile_state **state)
{
	const uint64_t shader_state = batch->shader_state, draw_state = batch->draw_state;
	struct tsr_tile_state **slot = &c->states[slot_of(shader_state, draw_state)];
	enum tsr_step step = TSR_STEP_DONE;

	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		if (!*slot)
			return tsr_mem_bad_packet(mem, shader_state, 0, TSR_FAULT_UNSUPPORTED);
		tsr_tile_state_forget(*slot);
	}
	if ((*slot)->shader_state != shader_state || (*slot)->draw_state != draw_state)
		step = fill(*slot, c->render, mem, batch);
	if (step == TSR_STEP_DONE && (*slot)->shades)
		step = tsr_tile_program_find(c, mem, *slot, TSR_STAGE_FRAGMENT,
					     &(*slot)->fragment.program);
	*state = *slot;
	return step;
}

enum tsr_step tsr_tile_push_read(struct tsr_tile_core *c, struct tsr_mem *mem, uint64_t va,
				 const struct tsr_program *program, struct tsr_stage_run *run)
{
	enum tsr_step step = TSR_STEP_DONE;

	if (va)
		step = tsr_push_read(&c->group.push[c->group.push_at], mem, va, program);
	run->push = va ? &c->group.push[c->group.push_at] : NULL;
	return step;
}
