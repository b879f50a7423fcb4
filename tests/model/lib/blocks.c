/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "simd/simd.h"
#include "texture_ref.h"

struct blocks blocks;

/* ---- What is drawn --------------------------------------------------------------------------- */

/* -1 to 1 */
static float some(void)
{
	return (int32_t)(rnd() % 0x2000000) / 16777216.0f - 1;
}

void blocks_make(const struct row *row, struct drawn *d)
{
	const bool whole = row->how & WHOLE || (rnd() % 3 == 0 && !(row->how & PART));
	const bool flat = rnd() % 4 == 0;
	/* some are subnormal */
	const float range = rnd() % 3 ? 3 : 0x1p-128f;

	memset(d, 0, sizeof(*d));
	d->prim = (struct tsr_prim){ .vertices = row->how & POINTS ? 1 + rnd() % 3 : 3,
				     .front = rnd() % 2, .primitive_id = rnd() };
	d->prim.provoking = rnd() % d->prim.vertices;
	for (unsigned int v = 0; v < 3; v++) {
		d->prim.v[v] = (struct tsr_screen_vertex){
			.x = (int32_t)(some() * 500 * 256), .y = (int32_t)(some() * 500 * 256),
			.rw = flat && !(row->how & LINEAR) ? 0.3f : 1.5f + some(),
		};
		for (unsigned int k = 0; k < 16; k++)
			d->at[v][k / 4][k % 4] = some() * range;
	}
	d->sample = row->how & SHADING ? rnd() % 4 : 0;
	d->x = 8 * (rnd() % 64);
	d->y = 8 * (rnd() % 64);
	d->covered = whole ? UINT64_MAX : (rnd() | (uint64_t)rnd() << 32);
	/* quads that nothing covers */
	for (unsigned int q = 0; !whole && q < 16; q++)
		d->covered &= ~(rnd() % 4 ? 0 : 15ull << 4 * q);
	if (row->how & PART)
		d->covered &= ~(15ull << 4 * (rnd() % 16));
	/* a quad without one of its pixels is one all the same */
	if (row->how & WHOLE && rnd() % 2)
		d->covered &= ~(1ull << rnd() % 64);
	for (unsigned int q = 0; q < 16; q++) {
		if (!(d->covered >> 4 * q & 15))
			continue;
		d->quads++;
		d->lanes |= (row->how & ALONE ? d->covered >> 4 * q & 15 : 15) << 4 * q;
	}
}

void blocks_put(const struct drawn *d)
{
	struct tsr_fragment_prim *prim;

	tsr_fragments_begin(blocks.pipe->f, &blocks.pipe->state);
	prim = pipe_prim(blocks.pipe, 3);
	prim->prim = d->prim;
	for (unsigned int v = 0; v < 3; v++)
		memcpy(pipe_at(blocks.pipe, prim->output[v]), d->at[v], sizeof(d->at[v]));
	tsr_texture_cache_init(&blocks.pipe->sh->textures, tsr_simd_best());
}

/* Coverage, depth and stencil that lane @l of warp @w of the core has left of a pixel. */
static void take_rest(struct result *out, unsigned int w, unsigned int l, unsigned int pixel)
{
	out->kept |= 1ull << pixel;
	if (blocks.pipe->f->depth_written[w] >> l & 1) {
		out->deep |= 1ull << pixel;
		out->depth[pixel] = blocks.pipe->f->depth[w].u[l];
	}
	if (blocks.pipe->f->stencil_written[w] >> l & 1) {
		out->stenciled |= 1ull << pixel;
		out->stencil[pixel] = blocks.pipe->f->stencil[w].u[l];
	}
}

static void run_core(const struct drawn *d, struct result *out)
{
	const uint64_t pixel = blocks.pipe->state.shader.sample_shading ?
				       1ull << d->sample :
				       (1ull << (1 << blocks.pipe->state.samples_log2)) - 1;
	struct tsr_fragment_quad *quad;
	uint8_t at[16], n = 0;

	blocks_put(d);
	for (unsigned int q = 0; q < 16; q++) {
		uint64_t coverage = 0;

		for (unsigned int i = 0; i < 4; i++)
			coverage |= (d->covered >> (4 * q + i) & 1 ? pixel : 0) << 16 * i;
		if (!coverage)
			continue;
		at[n++] = q;
		quad = pipe_quad(blocks.pipe, d->x + q % 4 * 2, d->y + q / 4 * 2, 0);
		quad->coverage = coverage;
		quad->sample = d->sample;
	}
	if (!ktap_eq(pipe_fragments(blocks.pipe), TSR_STEP_DONE))
		ktap_note("fault %u", blocks.pipe->sh->fault.code);
	memset(out, 0, sizeof(*out));
	out->stats = blocks.pipe->stats;
	for (unsigned int t = 0; t < TARGETS; t++) {
		for (unsigned int i = 0; i < 4u * n; i++) {
			const unsigned int w = i / 16, l = i % 16, pixel_at = 4 * at[i / 4] + i % 4;

			if (!(d->covered >> pixel_at & 1) || !blocks.pipe->f->coverage[w].u[l])
				continue;
			take_rest(out, w, l, pixel_at);
			if (!(blocks.pipe->f->written[t][w] >> l & 1))
				continue;
			out->colored |= 1u << t;
			for (unsigned int c = 0; c < 4; c++)
				out->word[t][c][pixel_at] =
					tsr_fragments_color(blocks.pipe->f, t, c, w)->u[l];
		}
	}
}

static const struct drawn *drawn;

static void take(void *arg, unsigned int target, const union tsr_lanes *color)
{
	struct result *out = arg;

	ktap_ok(target < TARGETS && !(out->colored >> target & 1));
	out->colored |= 1u << target;
	for (unsigned int i = 0; i < BLOCK; i++) {
		const uint64_t kept = drawn->covered & ~blocks.block.discarded;

		for (unsigned int c = 0; kept >> i & 1 && c < 4; c++)
			out->word[target][c][i] = color[c * TSR_BUNDLE_WARPS + i / 16].u[i % 16];
	}
}

/* Coverage, depth and stencil of a blocks.block. */
static void take_block(const struct drawn *d, struct result *out)
{
	out->kept = d->covered & ~blocks.block.discarded;
	out->deep = blocks.block.has_depth ? out->kept : 0;
	out->stenciled = blocks.block.has_stencil ? out->kept : 0;
	for (unsigned int i = 0; i < BLOCK; i++) {
		out->depth[i] = out->deep >> i & 1 ? blocks.block.depth[i / 16].u[i % 16] : 0;
		out->stencil[i] =
			out->stenciled >> i & 1 ? blocks.block.stencil[i / 16].u[i % 16] : 0;
	}
}

bool blocks_run(const struct drawn *d, const struct tsr_plan *plan, struct result *out)
{
	memset(out, 0, sizeof(*out));
	drawn = d;
	blocks.block.x = d->x;
	blocks.block.y = d->y;
	blocks.block.prim = 0;
	blocks.block.sample = d->sample;
	blocks.block.color = take;
	blocks.block.arg = out;
	for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
		blocks.block.lanes[w] = d->lanes >> 16 * w;
		blocks.block.covered[w] = d->covered >> 16 * w;
	}
	blocks.block.warps = (d->quads + 3) / 4;
	blocks.block.threads = __builtin_popcountll(d->lanes);
	blocks.block.pixels = __builtin_popcountll(d->covered);
	if (!tsr_plan_run(blocks.pipe->sh, blocks.pipe->f, plan, &blocks.block))
		return false;
	take_block(d, out);
	return true;
}

/* ---- The same -------------------------------------------------------------------------------- */

/* Words of a color that count: all of floats, two of halves. */
static bool same_colors(const struct row *row, const struct drawn *d, const struct result *got,
			const struct result *want)
{
	/* a block of which all is discarded has a color all the same */
	if (want->kept && !ktap_eq(got->colored, want->colored))
		return false;
	if (!ktap_eq(got->kept, want->kept) || !ktap_eq(got->deep, want->deep) ||
	    !ktap_eq(got->stenciled, want->stenciled) ||
	    !ktap_mem_eq(got->depth, want->depth, sizeof(got->depth)) ||
	    !ktap_mem_eq(got->stencil, want->stencil, sizeof(got->stencil)))
		return false;
	for (unsigned int i = 0; i < TARGETS * 4 * BLOCK; i++) {
		const unsigned int t = i / BLOCK / 4, c = i / BLOCK % 4, n = i % BLOCK;

		if ((row->how & HALVES && c > 1) || got->word[t][c][n] == want->word[t][c][n])
			continue;
		ktap_note("block %d %d, %u vertices", d->x, d->y, d->prim.vertices);
		return ktap_fail("target %u, word %u, pixel %u: %#x, the core has %#x", t, c, n,
				 got->word[t][c][n], want->word[t][c][n]);
	}
	return true;
}

/*
 * Warps of the core are without the quads that are not there. So what a warp of samples moves is
 * the same only where there are all.
 */
static bool same_counts(const struct row *row, const struct drawn *d,
			const struct tsr_shader_stats *got, const struct tsr_shader_stats *want)
{
	if (row->how & (DISCARDS | PARTS) && d->quads < 16)
		return true;
	if ((!(row->how & TEXTURE) || d->quads == 16) && !ktap_eq(got->cycles, want->cycles))
		return false;
	return ktap_eq(got->clauses, want->clauses) & ktap_eq(got->threads, want->threads) &
	       ktap_eq(got->messages, want->messages) &
	       ktap_eq(got->read_bytes, want->read_bytes) & ktap_eq(got->write_bytes, 0) &
	       ktap_eq(got->texture.samples, want->texture.samples) &
	       ktap_eq(got->texture.touches, want->texture.touches) &
	       ktap_eq(got->texture.fills, want->texture.fills);
}

/* Nothing that a plan writes is there when another program begins: registers are 0. */
static bool nothing_left(void)
{
	static const struct row plain = { "", PLAN, 0 };
	static const char *const from[] = {
		BLEND("end ", "0", "r0"), BLEND("end ", "0", "r4"), BLEND("end ", "0", "r8"),
		BLEND("end ", "0", "r12"),
	};
	struct drawn d;
	struct result out;
	bool good = true;

	blocks_make(&plain, &d);
	blocks.pipe->state.shader.preload_0 = TSR_PRELOAD_NONE;
	blocks.pipe->state.shader.preload_1 = TSR_PRELOAD_NONE;
	blocks.pipe->state.program = pipe_text(blocks.pipe, 2, TSR_STAGE_FRAGMENT, from[rnd() % 4]);
	blocks.pipe->state.serial++;
	run_core(&d, &out);
	for (unsigned int i = 0; i < 4 * BLOCK; i++)
		good &= !out.word[0][i / BLOCK][i % BLOCK];
	return ktap_ok(good);
}

/* Two blocks of a primitive, the second with what the first has found out. */
bool blocks_row(const struct row *row)
{
	static const struct tsr_shader_stats none;
	struct result want, got;
	struct drawn d, next;
	const struct tsr_plan *plan;
	bool runs, good;

	blocks_make(row, &d);
	run_core(&d, &want);
	/* what registers hold is not what they should */
	blocks_make(row, &next);
	run_core(&next, &got);
	blocks_put(&d);
	tsr_stage_enter(blocks.pipe->sh, &blocks.pipe->mem, 0);
	plan = tsr_plan_find(blocks.pipe->sh, blocks.pipe->f);
	if (!ktap_eq(plan != NULL, row->fate != CORE) || !plan) {
		tsr_stage_leave(blocks.pipe->sh);
		return row->fate == CORE && !plan;
	}
	blocks.block.again = false;
	runs = blocks_run(&d, plan, &got);
	tsr_stage_leave(blocks.pipe->sh);
	if (row->fate != EITHER && !ktap_eq(runs, row->fate == PLAN))
		return false;
	if (!runs)
		return ktap_eq(got.colored, 0) &
		       ktap_eq(blocks.pipe->sh->stats.clauses, none.clauses) &
		       ktap_eq(blocks.pipe->sh->stats.messages, 0) & ktap_ok(!blocks.block.again);
	if (!same_colors(row, &d, &got, &want) ||
	    !same_counts(row, &d, &blocks.pipe->sh->stats, &want.stats) ||
	    (want.kept && !ktap_eq(plan->colors, want.colored)) || !ktap_ok(blocks.block.again))
		return false;
	/* what the second sees of the primitive is what the first has left */
	blocks_make(row, &next);
	next.prim = d.prim;
	memcpy(next.at, d.at, sizeof(d.at));
	blocks_put(&d);
	tsr_stage_enter(blocks.pipe->sh, &blocks.pipe->mem, 0);
	blocks.block.again = false;
	good = blocks_run(&d, plan, &got) && blocks_run(&next, plan, &got);
	tsr_stage_leave(blocks.pipe->sh);
	run_core(&next, &want);
	if (!good && row->fate == EITHER)
		return true;
	return ktap_ok(good) && same_colors(row, &next, &got, &want) && nothing_left();
}

/* ---- States ---------------------------------------------------------------------------------- */

void blocks_texture(void)
{
	static const unsigned int formats[] = { 187, 187, 171, 223 };
	struct tex t = tex_make(TEX_2D, formats[rnd() % 4]);
	struct tex_sampler s = tex_make_sampler(&t);

	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	pipe_texture(blocks.pipe, &t);
}

static uint64_t target(unsigned int n, enum tsr_blend_mode mode, unsigned int components,
		       enum tsr_register_type registers)
{
	return mode | (components - 1) << 3 | n << 16 | (uint64_t)registers << 56;
}

const struct tsr_program *blocks_program(const struct row *row)
{
	struct tsr_shader_state *s = &blocks.pipe->state.shader;
	const enum tsr_register_type type = row->how & HALVES   ? TSR_REGISTER_TYPE_F16 :
					    row->how & INTEGERS ? TSR_REGISTER_TYPE_U32 :
							    TSR_REGISTER_TYPE_F32;

	s->preload_0 = row->how & PRELOAD ? TSR_PRELOAD_VAR_TEX : TSR_PRELOAD_NONE;
	s->preload_1 = row->how & PRELOAD ? TSR_PRELOAD_LD_VAR : TSR_PRELOAD_NONE;
	s->preload_0_varying = 1;
	s->preload_1_varying = 2;
	s->preload_0_components = s->preload_1_components = 1;
	if (row->how & FAR) {
		s->preload_0 = s->preload_1 = TSR_PRELOAD_LD_VAR;
		s->preload_0_varying = 32;
	}
	s->linear_varyings = row->how & LINEAR ? 1 << 2 : 0;
	s->flat_varyings = row->how & FLAT ? 1 : 0;
	s->helpers = !(row->how & ALONE);
	s->sample_shading = (row->how & SHADING) != 0;
	blocks.pipe->state.samples_log2 = row->how & SAMPLES ? 2 : 0;
	blocks.pipe->state.sample_positions = 0x123456789abcdef0;
	blocks.pipe->state.blend[0] = target(0, TSR_BLEND_MODE_OPAQUE, 4, type);
	for (unsigned int i = 1; i < TSR_RENDER_TARGETS_MAX; i++)
		blocks.pipe->state.blend[i] = row->how & MANY && i < TARGETS
					    ? target(i, TSR_BLEND_MODE_FIXED, 4, type)
					    : TSR_BLEND_MODE_OFF;
	blocks.pipe->program.clause_limit = row->how & LIMIT ? 3 : 0;
	for (unsigned int i = 0; i < 8; i++)
		blocks.pipe->push[i] = 0x3f000000 + rnd() % 0x1000000;
	blocks.pipe->state.serial++;
	return pipe_text(blocks.pipe, 1, TSR_STAGE_FRAGMENT, row->text);
}

void blocks_open(const struct tsr_config *config)
{
	struct pipe *p = pipe_new(config);

	blocks.pipe = p;
	for (unsigned int k = 0; k < 4; k++)
		pipe_varying(p, k, 4);
	pipe_attribute(p, PIPE_OUTPUTS, 4, 31, TSR_PIXEL_FORMAT_RGBA32UI, 16, false);
	pipe_attribute(p, PIPE_OUTPUTS, 5, 31, TSR_PIXEL_FORMAT_RGBA16I, 32, false);
	pipe_attribute(p, PIPE_OUTPUTS, 32, 31, TSR_PIXEL_FORMAT_RG32F, 16, false);
}

void blocks_close(void)
{
	pipe_free(blocks.pipe);
}

void blocks_rows(const struct row *rows, unsigned int count, unsigned int times)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct row *row = &rows[i];

		for (unsigned int n = 0; n < (row->fate == PLAN ? times : 1); n++) {
			blocks.pipe->state.program = blocks_program(row);
			if (row->how & TEXTURE)
				blocks_texture();
			if (blocks_row(row))
				continue;
			ktap_note("program %u:\n%s", i, row->text);
			break;
		}
	}
}
