/* SPDX-License-Identifier: MIT */
/* Bundles of fragments: registers at entry, special values, messages before the first clause. */
#include <string.h>

#include "units/msg.h"
#include "stage_run.h"

void tsr_fragments_begin(struct tsr_fragments *f, const struct tsr_fragment_state *state)
{
	f->state = state;
	f->pushes = 1;
	f->quads = 0;
	f->prims = 0;
	f->plane_count = 0;
}

void tsr_fragments_continue(struct tsr_fragments *f, unsigned int prim)
{
	f->pushes = 1;
	f->quads = 0;
	f->prims = 1;
	if (prim) {
		f->prim[0] = f->prim[prim];
		memcpy(f->plane_of[0], f->plane_of[prim], sizeof(f->plane_of[0]));
	}
	/* planes of others go when there are too many of them */
	if (f->plane_count > TSR_PLANES_MAX / 2) {
		memset(f->plane_of[0], 0, sizeof(f->plane_of[0]));
		f->plane_count = 0;
	}
}

void tsr_fragments_mix(struct tsr_fragments *f, const struct tsr_push *push)
{
	const struct tsr_fragment_quad nothing = {
		.x = f->quad[0].x, .y = f->quad[0].y, .prim = f->quad[0].prim,
	};
	unsigned int w;

	while (f->quads % (TSR_WARP_LANES / 4))
		f->quad[f->quads++] = nothing;
	for (w = 0; f->pushes == 1 && w < f->quads / (TSR_WARP_LANES / 4); w++)
		f->push[w] = f->run.push;
	for (w = f->quads / (TSR_WARP_LANES / 4); w < TSR_BUNDLE_WARPS; w++)
		f->push[w] = push;
	f->run.push = push;
	f->pushes++;
}

unsigned int tsr_fragments_prim(struct tsr_fragments *f, const struct tsr_prim *prim)
{
	f->prim[f->prims].prim = *prim;
	return tsr_fragments_add(f);
}

unsigned int tsr_fragments_add(struct tsr_fragments *f)
{
	f->prim[f->prims].geometry = false;
	f->prim[f->prims].bias = 0;
	memset(f->plane_of[f->prims], 0, sizeof(f->plane_of[0]));
	return f->prims++;
}

/* ---- Special values -------------------------------------------------------------------------- */

static void fill_two(union tsr_lanes *v, uint64_t value)
{
	tsr_stage_fill(&v[0], value);
	tsr_stage_fill(&v[1], value >> 32);
}

void tsr_fragments_specials(struct tsr_shader *sh, const struct tsr_fragment_state *s)
{
	union tsr_lanes *fixed = &sh->temp[TSR_TEMP_FIXED * TSR_BUNDLE_WARPS];
	uint64_t special[2 + TSR_RENDER_TARGETS_MAX] = { s->width | s->height << 16,
							 s->sample_positions };

	memcpy(&special[2], s->blend, sizeof(s->blend));
	if (!memcmp(sh->special, special, sizeof(special)))
		return;
	memcpy(sh->special, special, sizeof(special));
	tsr_stage_fill(&fixed[TSR_FIXED_FRAME], special[0]);
	fill_two(&fixed[TSR_FIXED_SAMPLES], special[1]);
	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX; i++)
		fill_two(&fixed[TSR_FIXED_BLEND + 2 * i], s->blend[i]);
}

/* ---- Registers at entry ---------------------------------------------------------------------- */

/* A word for each pixel of a quad. */
typedef uint32_t four __attribute__((vector_size(16), may_alias));
typedef uint16_t four_halves __attribute__((vector_size(8)));

/* All quads begin: their coverage, and registers @reads. */
static void start_quads(struct tsr_fragments *f, uint64_t reads)
{
	static const four corner = { 0, 1, 0x10000, 0x10001 };
	const struct tsr_fragment_quad *quad = f->quad;
	union tsr_lanes *reg = f->run.core.bundle[0]->reg;
	const size_t bytes = f->quads * sizeof(four);

	/* that of quad n in register r */
#define REG(r) (((four *)&reg[(r) * TSR_BUNDLE_WARPS])[n])
	for (unsigned int n = 0; n < f->quads; n++)
		((four *)f->coverage)[n] =
			__builtin_convertvector((four_halves)quad[n].coverage, four);
	if (reads >> TSR_REG_COVERAGE & 1)
		memcpy(&reg[TSR_REG_COVERAGE * TSR_BUNDLE_WARPS], f->coverage, bytes);
	if (reads >> TSR_REG_SAMPLES & 1)
		memcpy(&reg[TSR_REG_SAMPLES * TSR_BUNDLE_WARPS], f->coverage, bytes);
	if (reads >> TSR_REG_SAMPLES & f->state->shader.sample_shading & 1) {
		for (unsigned int n = 0; n < f->quads; n++)
			REG(TSR_REG_SAMPLES) |= (uint32_t)quad[n].sample << 16;
	}
	/* x and y are even: there is no carry */
	for (unsigned int n = 0; reads >> TSR_REG_POSITION & 1 && n < f->quads; n++)
		REG(TSR_REG_POSITION) =
			((uint32_t)(uint16_t)quad[n].x | (uint32_t)quad[n].y << 16) + corner;
	for (unsigned int n = 0; reads >> TSR_REG_PRIMITIVE & 1 && n < f->quads; n++)
		REG(TSR_REG_PRIMITIVE) = f->prim[quad[n].prim].prim.primitive_id - (four){ 0 };
	for (unsigned int n = 0; reads >> TSR_REG_BACK & 1 && n < f->quads; n++)
		REG(TSR_REG_BACK) = !f->prim[quad[n].prim].prim.front - (four){ 0 };
#undef REG
}

#define ENTRY (0x1full << TSR_REG_PRIMITIVE)

/* Registers it fills; all, if a blend program may follow. */
static uint64_t entry_registers(const struct tsr_fragments *f)
{
	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX; i++) {
		if ((f->state->blend[i] & TSR_BLEND_MODE__MASK) == TSR_BLEND_MODE_PROGRAM)
			return UINT64_MAX;
	}
	return ENTRY |
	       (f->state->shader.preload_0 || f->state->shader.preload_1 ? 0xff : 0);
}

/* Pixels of a quad with @coverage that have a sample, a bit each. */
static unsigned int covered_pixels(uint64_t coverage)
{
	const uint64_t low = 0x0001000100010001;

	coverage |= coverage >> 8 & 0x00ff00ff00ff00ff;
	coverage |= coverage >> 4 & 0x000f000f000f000f;
	coverage |= coverage >> 2 & 0x0003000300030003;
	coverage |= coverage >> 1;
	return (coverage & low) * 0x1000200040008 >> 48 & 15;
}

/* Lanes of warp @w that are covered; *@lanes: of quads that are, if only in part. */
static uint16_t covered_lanes(const struct tsr_fragments *f, unsigned int w, uint16_t *lanes)
{
	const uint64_t whole = 0x0001000100010001ull * ((1u << (1u << f->state->samples_log2)) - 1);
	unsigned int first = w * TSR_WARP_LANES / 4, covered = 0, some = 0, q;
	const struct tsr_fragment_quad *quad = &f->quad[first];

	*lanes = 0xffff;
	if (first + 4 <= f->quads && quad[0].coverage == whole && quad[1].coverage == whole &&
	    quad[2].coverage == whole && quad[3].coverage == whole)
		return 0xffff;
	for (q = 0; q < TSR_WARP_LANES / 4 && first + q < f->quads; q++) {
		uint64_t coverage = quad[q].coverage;

		covered |= (coverage == whole ? 15 : covered_pixels(coverage)) << 4 * q;
		some |= (coverage ? 15 : 0) << 4 * q;
	}
	*lanes = some;
	return covered;
}

/* Clears the results of BLEND and ZS_EMIT. */
static void clear_outputs(struct tsr_fragments *f)
{
	memset(f->written, 0, sizeof(f->written));
	memset(f->depth_written, 0, sizeof(f->depth_written));
	memset(f->stencil_written, 0, sizeof(f->stencil_written));
	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX; i++) {
		f->blend_coverage_at[i] = f->blend_coverage[i];
		f->color_at[i] = f->color[i][0];
	}
	f->color_at[TSR_RENDER_TARGETS_MAX] = f->color[TSR_RENDER_TARGETS_MAX][0];
}

static void start(struct tsr_shader *sh, struct tsr_fragments *f)
{
	bool helpers = f->state->shader.helpers;
	bool preloads = f->state->shader.preload_0 || f->state->shader.preload_1;
	uint16_t live[TSR_BUNDLE_WARPS] = { 0 };
	uint64_t reads;

	memset(f->helper, 0, sizeof(f->helper));
	for (unsigned int w = 0; w * TSR_WARP_LANES / 4 < f->quads; w++) {
		uint16_t lanes, covered = covered_lanes(f, w, &lanes);

		live[w] = covered;
		if (covered == 0xffff) {
			sh->stats.fragments += TSR_WARP_LANES;
			continue;
		}
		sh->stats.fragments += tsr_lanes_count(covered);
		if (!helpers)
			continue;
		f->helper[w] = lanes & ~covered;
		if (covered) {
			live[w] = lanes;
			sh->stats.helpers += tsr_lanes_count(f->helper[w]);
		}
	}
	tsr_stage_start(sh, &f->run, f->state->program, live, entry_registers(f),
			f->quads % (TSR_WARP_LANES / 4) ? 0 : ENTRY);
	reads = f->run.reads | (uint64_t)preloads << TSR_REG_SAMPLES;
	start_quads(f, reads);
	clear_outputs(f);
	memset(f->retained_lanes, 0, sizeof(f->retained_lanes));
	f->centres = 0;
	f->run.preload = 0;
	f->run.preload_lanes = 0;
}

/* ---- Messages before the first clause -------------------------------------------------------- */

#define PRELOADS 2

/* A preloaded message as SHADER_STATE describes it. */
struct preload {
	uint32_t kind;			/* enum tsr_preload */
	bool half, zero_lod;
	uint32_t components, varying, texture;
};

bool tsr_stage_preload(const struct tsr_shader_state *s, unsigned int n, struct tsr_insn *insn)
{
	const struct preload all[PRELOADS] = {
		{ s->preload_0, s->preload_0_half, s->preload_0_zero_lod, s->preload_0_components,
		  s->preload_0_varying, s->preload_0_texture },
		{ s->preload_1, s->preload_1_half, s->preload_1_zero_lod, s->preload_1_components,
		  s->preload_1_varying, s->preload_1_texture },
	};
	const struct preload *p = &all[n];

	*insn = (struct tsr_insn){ .op = TSR_OP_ADD_LD_VAR_IMM };
	insn->mod[TSR_MOD_UPDATE] = TSR_UPDATE_STORE;
	insn->mod[TSR_MOD_SAMPLE] = TSR_SAMPLE_SAMPLE;
	insn->mod[TSR_MOD_VECSIZE] = p->components;
	insn->mod[TSR_MOD_REGISTER_FORMAT] =
		p->half ? TSR_REGISTER_FORMAT_F16 : TSR_REGISTER_FORMAT_F32;
	insn->imm[TSR_IMM_INDEX] = p->varying;
	if (p->kind == TSR_PRELOAD_VAR_TEX) {
		insn->op = p->half ? TSR_OP_ADD_VAR_TEX_F16 : TSR_OP_ADD_VAR_TEX_F32;
		insn->mod[TSR_MOD_LOD_MODE] =
			p->zero_lod ? TSR_LOD_MODE_ZERO_LOD : TSR_LOD_MODE_COMPUTED_LOD;
		insn->imm[TSR_IMM_VARYING_INDEX] = p->varying;
		insn->imm[TSR_IMM_TEXTURE_INDEX] = p->texture;
	}
	return p->kind != TSR_PRELOAD_NONE;
}

/* Execute what is left of preloaded message @which for all warps. */
static enum tsr_step preload_one(struct tsr_shader *sh, struct tsr_fragments *f,
				 unsigned int which)
{
	struct tsr_bundle *bundle = f->run.core.bundle[0];
	struct tsr_msg_place place[TSR_BUNDLE_WARPS] = { { NULL, 0 } };
	uint16_t lanes[TSR_BUNDLE_WARPS];
	uint8_t warp[TSR_BUNDLE_WARPS];
	struct tsr_msg_bundle b = {
		.reg = bundle->reg, .staging = 4 * which, .result = UINT8_MAX,
		.src = { &bundle->reg[TSR_REG_SAMPLES * TSR_BUNDLE_WARPS] }, .src_step = { 1 },
		.warp = warp, .lanes = lanes, .place = place,
	};
	unsigned int at = f->run.preload - which * TSR_BUNDLE_WARPS;
	enum tsr_step step = TSR_STEP_DONE;
	struct tsr_insn insn;

	if (!tsr_stage_preload(&f->state->shader, which, &insn))
		return step;
	b.insn = &insn;
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS && bundle->warp[w].used; w++) {
		lanes[w] = bundle->warp[w].live;
		warp[b.warps++] = w;
	}
	if (f->run.preload_lanes)
		lanes[at] = f->run.preload_lanes;
	f->run.preload_lanes = 0;
	if (at < b.warps)
		step = tsr_msg_run_bundle(&sh->env, &b, &at);
	if (step == TSR_STEP_FAULT)
		tsr_shader_fault(sh, warp[at], b.fault_lane, bundle->warp[warp[at]].here, 0, true);
	if (step == TSR_STEP_PENDING) {
		f->run.preload = which * TSR_BUNDLE_WARPS + at;
		f->run.preload_lanes = b.left;
	}
	return step;
}

static enum tsr_step preload(struct tsr_shader *sh, struct tsr_fragments *f)
{
	const struct tsr_shader_state *s = &f->state->shader;
	enum tsr_step step = TSR_STEP_DONE;

	if (!s->preload_0 && !s->preload_1)
		return step;
	sh->bundle = f->run.core.bundle[0];
	sh->mem.unit = TSR_UNIT_SHADER;
	for (unsigned int i = f->run.preload / TSR_BUNDLE_WARPS; i < PRELOADS; i++) {
		step = preload_one(sh, f, i);
		if (step != TSR_STEP_DONE)
			break;
		f->run.preload = (i + 1) * TSR_BUNDLE_WARPS;
	}
	if (step == TSR_STEP_FAULT)
		f->run.begun = false;
	return step;
}

/* Each warp has push constants of its own: code and operands are others. */
static void bind_warps(struct tsr_shader *sh, const struct tsr_fragments *f)
{
	const struct tsr_program *program = f->state->program;
	union tsr_lanes *to = &sh->temp[TSR_TEMP_PUSH * TSR_BUNDLE_WARPS];
	uint32_t count = program->state.push_words, i;

	for (unsigned int w = 0; w * TSR_WARP_LANES / 4 < f->quads; w++) {
		for (i = 0; i < count; i++)
			tsr_stage_fill(&to[i * TSR_BUNDLE_WARPS + w], f->push[w]->word[i]);
	}
	for (i = count * TSR_BUNDLE_WARPS; i < sh->mixed_words * TSR_BUNDLE_WARPS; i++)
		tsr_stage_fill(&to[i], 0);
	sh->mixed_words = count;
	sh->space = tsr_code_space(sh->generation, program->state.registers_64, program->stage,
				   true);
}

/* All threads have ended. */
static void finish(struct tsr_fragments *f)
{
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		for (uint16_t left = f->helper[w]; left; left &= left - 1)
			f->coverage[w].u[__builtin_ctz(left)] = 0;
	}
}

enum tsr_step tsr_fragment_run(struct tsr_shader *sh, struct tsr_fragments *f)
{
	const struct tsr_program *program = f->state->program;
	enum tsr_step step;
	uint64_t space;

	sh->env.vertices = NULL;
	sh->env.fragments = f;
	sh->env.helper = sh->lanes.helper;
	if (!tsr_stage_resume(sh, &f->run, program)) {
		tsr_mmu_fault(&sh->mem, TSR_FAULT_UNSUPPORTED, program->va, TSR_ACCESS_NONE, 0);
		sh->fault = sh->mem.fault;
		return TSR_STEP_FAULT;
	}
	space = sh->space;
	if (f->pushes > 1)
		bind_warps(sh, f);
	tsr_fragments_specials(sh, f->state);
	if (!f->run.begun)
		start(sh, f);
	memcpy(sh->lanes.helper, f->helper, sizeof(f->helper));
	step = preload(sh, f);
	if (step != TSR_STEP_DONE)
		return step;
	step = tsr_stage_advance(sh, &f->run);
	sh->space = space;
	memcpy(f->helper, sh->lanes.helper, sizeof(f->helper));
	if (step == TSR_STEP_DONE)
		finish(f);
	return step;
}
