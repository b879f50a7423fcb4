/* SPDX-License-Identifier: MIT */
/*
 * Results of fragments. ATEST, ZS_EMIT and BLEND pass coverage, depth, stencil and colors to the
 * output stage, which uses them when the warp group has ended. LD_TILE and ST_TILE, of programs
 * that blend by themselves, access the tile buffer at once. The tile never runs two fragments of
 * one pixel of such a program at the same time.
 */
#include "msg.h"
#include "msg_format.h"
#include "shader/stage.h"
#include "shader/tile_buffer.h"

/* Register BLEND leaves the return address of a blend program in. */
#define REG_RETURN 48

typedef uint32_t words __attribute__((vector_size(64), may_alias));

/* Samples of @lane that can still be written. */
static uint32_t samples_left(const struct tsr_msg_env *env, unsigned int lane)
{
	const struct tsr_fragments *f = env->fragments;

	if (env->helper[env->warp] >> lane & 1)
		return 0;
	return f->coverage[env->warp].u[lane];
}

/* Reduces the coverage of fragments by source @n, and writes the rest to staging. */
static void reduce_coverage(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int n)
{
	union tsr_lanes *coverage = &env->fragments->coverage[env->warp];
	union tsr_lanes *out = tsr_msg_staging(msg, 0);

	for (uint16_t left = msg->lanes; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);
		uint32_t samples = samples_left(env, lane) & msg->src[n]->u[lane];

		coverage->u[lane] = samples;
		out->u[lane] = samples;
		if (msg->result < TSR_REGISTERS)
			msg->reg[msg->result * TSR_BUNDLE_WARPS].u[lane] = samples;
	}
}

enum tsr_step tsr_msg_atest(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	(void)arg;
	reduce_coverage(env, msg, 0);
	msg->lanes = 0;
	return TSR_STEP_DONE;
}

/* Words of @from in @lanes to @to; all of them where that is the same. */
static void take(union tsr_lanes *to, const union tsr_lanes *from, uint16_t lanes, bool all)
{
	if (all) {
		*(words *)to = *(const words *)from;
		return;
	}
	tsr_msg_move(to, from, lanes);
}

/* A vector that compilers keep in registers on any processor. */
typedef uint32_t four __attribute__((vector_size(16), may_alias));

/* Sets @coverage and @out to @coverage & @mask. @mask may be @out. */
static inline void reduce_all(union tsr_lanes *coverage, const union tsr_lanes *mask,
			      union tsr_lanes *out)
{
	for (unsigned int i = 0; i < sizeof(*out) / sizeof(four); i++) {
		four left = ((const four *)coverage)[i] & ((const four *)mask)[i];

		((four *)coverage)[i] = left;
		((four *)out)[i] = left;
	}
}

/* Sets @lanes of @coverage and @out to @coverage & @mask. Other lanes stay unchanged. */
static inline void reduce_some(union tsr_lanes *coverage, const union tsr_lanes *mask,
			       union tsr_lanes *out, uint16_t lanes)
{
	const four weight = { 1, 2, 4, 8 };

	for (unsigned int i = 0; i < sizeof(*out) / sizeof(four); i++) {
		four some = (four)(((lanes >> 4 * i) & weight) == weight);
		four before = ((const four *)coverage)[i];
		four left = before & ((const four *)mask)[i];

		((four *)coverage)[i] = (left & some) | (before & ~some);
		((four *)out)[i] = (left & some) | (((const four *)out)[i] & ~some);
	}
}

/* ATEST for warps without helper threads, whole vectors at a time. */
unsigned int tsr_msg_atest_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				    unsigned int first, unsigned int arg)
{
	bool result = b->result < TSR_REGISTERS && b->result != b->staging;
	unsigned int i = first;

	(void)arg;
	for (; i < b->warps; i++) {
		unsigned int w = b->warp[i];
		union tsr_lanes *coverage = &env->fragments->coverage[w];
		union tsr_lanes *out = &b->reg[b->staging * TSR_BUNDLE_WARPS + w];
		const union tsr_lanes *mask = &b->src[0][w * b->src_step[0]];

		if (env->helper[w])
			break;
		if (b->lanes[w] == TSR_ALL_LANES)
			reduce_all(coverage, mask, out);
		else
			reduce_some(coverage, mask, out, b->lanes[w]);
		if (result)
			tsr_msg_move(&b->reg[b->result * TSR_BUNDLE_WARPS + w], out, b->lanes[w]);
	}
	return i;
}

enum tsr_step tsr_msg_zs_emit(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	struct tsr_fragments *f = env->fragments;
	unsigned int w = env->warp;

	(void)arg;
	if (msg->insn->mod[TSR_MOD_Z]) {
		take(&f->depth[w], msg->src[0], msg->lanes, !f->depth_written[w]);
		f->depth_written[w] |= msg->lanes;
	}
	if (msg->insn->mod[TSR_MOD_STENCIL]) {
		take(&f->stencil[w], msg->src[1], msg->lanes, !f->stencil_written[w]);
		f->stencil_written[w] |= msg->lanes;
	}
	reduce_coverage(env, msg, 2);
	msg->lanes = 0;
	return TSR_STEP_DONE;
}

/* ---- BLEND ----------------------------------------------------------------------------------- */

/* The threads go to the blend program that the descriptor names. */
static void enter_program(struct tsr_msg_env *env, struct tsr_msg *msg, uint64_t descriptor)
{
	struct tsr_fragments *f = env->fragments;
	uint32_t target = (uint32_t)(descriptor >> 32) & ~(uint32_t)(TSR_QUAD_BYTES - 1);
	uint32_t link = (uint32_t)descriptor & ~7u;

	f->jumped[env->warp] = msg->lanes;
	for (uint16_t left = msg->lanes; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		f->jump[env->warp].u[lane] = target;
		msg->reg[REG_RETURN * TSR_BUNDLE_WARPS].u[lane] = link;
	}
}

/* Registers that four components of @type take. */
static unsigned int color_words(unsigned int type)
{
	return tsr_register_words(type, 4);
}

/* Copies the colors that are staged for @target from registers to the arrays. */
static void fetch_staged(struct tsr_fragments *f, unsigned int target)
{
	const union tsr_lanes *from = f->color_at[target];

	if (from == f->color[target][0])
		return;
	f->color_at[target] = f->color[target][0];
	memcpy(f->color[target], from, sizeof(f->color[target]));
	if (target == TSR_RENDER_TARGETS_MAX)
		return;
	memcpy(f->blend_coverage[target], f->blend_coverage_at[target],
	       sizeof(f->blend_coverage[target]));
	f->blend_coverage_at[target] = f->blend_coverage[target];
}

static void capture(struct tsr_msg_env *env, const struct tsr_msg *msg, unsigned int target,
		    uint64_t descriptor, unsigned int type)
{
	struct tsr_fragments *f = env->fragments;
	unsigned int w = env->warp;
	bool all = !f->written[target][w];

	fetch_staged(f, target);
	for (unsigned int i = 0; i < color_words(type); i++)
		take(&f->color[target][i][w], tsr_msg_staging(msg, i), msg->lanes, all);
	take(&f->blend_coverage[target][w], msg->src[0], msg->lanes, all);
	f->written[target][w] |= msg->lanes;
	f->blended[target] = descriptor;
	if (target || !f->state->dual_source)
		return;
	fetch_staged(f, TSR_RENDER_TARGETS_MAX);
	for (unsigned int i = 0; i < color_words(type); i++)
		take(&f->color[TSR_RENDER_TARGETS_MAX][i][w],
		     &msg->reg[(4 + i) * TSR_BUNDLE_WARPS], msg->lanes, all);
	f->written[TSR_RENDER_TARGETS_MAX][w] |= msg->lanes;
}

/* True if BLEND @b, whose threads end, is the first for its target, and can leave all in place. */
static bool leaves_in_place(const struct tsr_fragments *f, const struct tsr_msg_bundle *b,
			    const struct tsr_blend *blend)
{
	/* results on their way through a clause, in which coverage may be, do not stay */
	bool stays = b->src_step[0] && b->src[0] >= b->reg &&
		     b->src[0] < b->reg + TSR_REGISTERS * TSR_BUNDLE_WARPS;
	uint16_t any = 0;

	if ((blend->mode != TSR_BLEND_MODE_OPAQUE && blend->mode != TSR_BLEND_MODE_FIXED) ||
	    blend->target >= TSR_RENDER_TARGETS_MAX || blend->registers > TSR_REGISTER_TYPE_U16 ||
	    !b->last || !stays || b->staging + 4 > TSR_REGISTERS)
		return false;
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++)
		any |= f->written[blend->target][w];
	return !any;
}

/* Leaves staged colors in their registers, which are not written any more. */
static void leave_in_place(struct tsr_fragments *f, const struct tsr_msg_bundle *b,
			   unsigned int target, uint64_t descriptor)
{
	bool second = !target && f->state->dual_source;

	f->color_at[target] = &b->reg[b->staging * TSR_BUNDLE_WARPS];
	f->blend_coverage_at[target] = b->src[0];
	f->blended[target] = descriptor;
	if (second)
		f->color_at[TSR_RENDER_TARGETS_MAX] = &b->reg[4 * TSR_BUNDLE_WARPS];
	for (unsigned int i = 0; i < b->warps; i++) {
		unsigned int w = b->warp[i];

		f->written[target][w] = b->lanes[w];
		if (second)
			f->written[TSR_RENDER_TARGETS_MAX][w] = b->lanes[w];
	}
}

/* The descriptor whose second qword has these words. Returns that qword. */
static uint64_t unpack(uint32_t low, uint32_t high, struct tsr_blend *blend)
{
	const uint64_t qword[TSR_BLEND__QWORDS] = { 0, low | (uint64_t)high << 32 };

	tsr_unpack_blend(qword, blend);
	return qword[1];
}

bool tsr_msg_blend_enters(uint32_t low, uint32_t high)
{
	struct tsr_blend blend;

	unpack(low, high, &blend);
	return blend.mode == TSR_BLEND_MODE_PROGRAM;
}

enum tsr_step tsr_msg_blend(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	unsigned int first = __builtin_ctz(msg->lanes);
	struct tsr_blend blend;
	uint64_t descriptor = unpack(msg->src[1]->u[first], msg->src[2]->u[first], &blend);

	(void)arg;
	switch (blend.mode) {
	case TSR_BLEND_MODE_PROGRAM:
		enter_program(env, msg, descriptor);
		break;
	case TSR_BLEND_MODE_OPAQUE:
	case TSR_BLEND_MODE_FIXED:
		if (blend.target < TSR_RENDER_TARGETS_MAX &&
		    blend.registers <= TSR_REGISTER_TYPE_U16)
			capture(env, msg, blend.target, descriptor, blend.registers);
		break;
	default:
		break;
	}
	msg->lanes = 0;
	return TSR_STEP_DONE;
}

/* Warps whose colors are captured: all of them, or none. */
unsigned int tsr_msg_blend_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				    unsigned int first, unsigned int arg)
{
	/* the descriptor is the same in all lanes of all warps if it is a special value */
	bool same = !b->src_step[1] && !b->src_step[2];
	struct tsr_blend blend;

	(void)arg;
	if (same && b->last && !first) {
		uint64_t descriptor = unpack(b->src[1]->u[0], b->src[2]->u[0], &blend);

		if (leaves_in_place(env->fragments, b, &blend)) {
			leave_in_place(env->fragments, b, blend.target, descriptor);
			return b->warps;
		}
	}
	for (unsigned int i = first; same && i < b->warps; i++) {
		unsigned int w = b->warp[i];
		struct tsr_msg msg = {
			.insn = b->insn, .reg = &b->reg[w], .staging = b->staging,
			.src = { b->src[0] + w * b->src_step[0], b->src[1], b->src[2] },
			.lanes = b->lanes[w],
		};

		env->warp = w;
		tsr_msg_blend(env, &msg, 0);
	}
	return same ? b->warps : first;
}

/* ---- Raw access to the tile ------------------------------------------------------------------ */

/* The pixel and target source 0 of a message names. */
struct pixel {
	unsigned int target, sample;
	unsigned int x, y;		/* in the tile */
	bool there;			/* there is such a sample */
};

/* y of a program's pixel that means its own; the tile is not read elsewhere. */
#define OWN_PIXEL 255
/* Numbers of what is no color target. */
#define TARGET_DEPTH 255
#define TARGET_STENCIL 254

/* Which pixel the lane names; @p is written whatever is returned. */
static enum tsr_step find_pixel(struct tsr_msg_env *env, const struct tsr_msg *msg,
				unsigned int lane, struct pixel *p)
{
	const struct tsr_fragments *f = env->fragments;
	const struct tsr_fragment_quad *quad = &f->quad[(env->warp * TSR_WARP_LANES + lane) / 4];
	const struct tsr_tile *tile = f->tile;
	uint32_t word = msg->src[0]->u[lane];

	*p = (struct pixel){ 0 };
	if (word >> 24 != OWN_PIXEL)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_UNSUPPORTED, 0, TSR_ACCESS_NONE);
	p->sample = word & 0xff;
	p->target = word >> 8 & 0xff;
	p->x = quad->x + (lane & 1) - tile->x;
	p->y = quad->y + (lane >> 1 & 1) - tile->y;
	p->there = p->sample >> tile->samples_log2 == 0 && p->x < tile->width &&
		   p->y < tile->height;
	return TSR_STEP_DONE;
}

static uint8_t *texel_of(const struct tsr_tile *tile, const struct pixel *p)
{
	const struct tsr_tile_target *t = &tile->color[p->target];

	return t->data + (size_t)p->sample * t->plane + (size_t)p->y * t->pitch +
	       (size_t)p->x * tile->format[p->target].bytes;
}

/* Depth as a number of the viewport's range, and stencil, as texels of a format. */
static bool load_zs(const struct tsr_tile *tile, const struct pixel *p, struct tsr_format *format,
		    union tsr_texel *texel)
{
	unsigned int at = tsr_tile_place(tile, p->x, p->y, p->sample);
	bool depth = p->target == TARGET_DEPTH;

	if (depth ? !tile->has_depth : !tile->has_stencil)
		return false;
	tsr_format_find(format, depth ? TSR_PIXEL_FORMAT_R32F : TSR_PIXEL_FORMAT_R32UI,
			TSR_COMPONENT_ORDER_RGBA, false);
	memset(texel, 0, sizeof(*texel));
	if (depth) {
		texel->f[0] = tile->depth_scale > 0 ? tile->depth[at] / tile->depth_scale :
						      tile->depth[at];
		texel->f[3] = 1;
	} else {
		texel->i[0] = tile->stencil[at];
		texel->i[3] = 1;
	}
	return true;
}

/* The texel that LD_TILE reads. False if there is no such target or sample. */
static bool load_target(const struct tsr_tile *tile, const struct pixel *p,
			struct tsr_format *format, union tsr_texel *texel)
{
	if (!p->there)
		return false;
	if (p->target == TARGET_DEPTH || p->target == TARGET_STENCIL)
		return load_zs(tile, p, format, texel);
	if (p->target >= tile->targets)
		return false;
	*format = tile->format[p->target];
	tsr_format_load(format, texel_of(tile, p), texel);
	return true;
}

/* Register type of the conversion word. The format is the tile's. */
static unsigned int register_type(const struct tsr_msg *msg, unsigned int lane)
{
	uint64_t word = msg->src[2]->u[lane];
	struct tsr_conversion c;

	tsr_unpack_conversion(&word, &c);
	return c.registers;
}

static enum tsr_step load_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			       const void *arg)
{
	const struct tsr_tile *tile = env->fragments->tile;
	unsigned int type = register_type(msg, lane), components = *(const unsigned int *)arg;
	uint32_t word[8] = { 0 };
	struct tsr_format format;
	union tsr_texel texel;
	struct pixel p;
	enum tsr_step step = find_pixel(env, msg, lane, &p);

	if (step != TSR_STEP_DONE)
		return step;
	if (load_target(tile, &p, &format, &texel))
		tsr_format_to_registers(&format, &texel, type, components, word);
	for (unsigned int i = 0; i < tsr_register_words(type, components); i++)
		tsr_msg_staging(msg, i)->u[lane] = word[i];
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_load_tile(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	unsigned int components = msg->insn->mod[TSR_MOD_VECSIZE] + 1;

	(void)arg;
	return tsr_msg_each(env, msg, load_lane, &components);
}

static enum tsr_step store_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				const void *arg)
{
	const struct tsr_fragments *f = env->fragments;
	const struct tsr_tile *tile = f->tile;
	unsigned int type = register_type(msg, lane), components = *(const unsigned int *)arg;
	unsigned int n = env->warp * TSR_WARP_LANES + lane;
	uint32_t samples = f->quad[n / 4].coverage >> 16 * (n % 4) & samples_left(env, lane) &
			   msg->src[1]->u[lane];
	uint32_t word[8] = { 0 };
	union tsr_texel texel;
	struct pixel p;
	enum tsr_step step = find_pixel(env, msg, lane, &p);

	if (step != TSR_STEP_DONE)
		return step;
	if (!p.there || p.target >= tile->targets || !(samples >> p.sample & 1))
		return TSR_STEP_DONE;
	for (unsigned int i = 0; i < tsr_register_words(type, components); i++)
		word[i] = tsr_msg_staging(msg, i)->u[lane];
	tsr_format_from_registers(&tile->format[p.target], &texel, type, components, word);
	tsr_format_store(&tile->format[p.target], texel_of(tile, &p), &texel);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_store_tile(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	unsigned int components = msg->insn->mod[TSR_MOD_VECSIZE] + 1;
	struct tsr_fragments *f = env->fragments;

	(void)arg;
	for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++)
		f->coverage[env->warp].u[lane] = samples_left(env, lane);
	if (f->settle)
		f->settle(f->tile, env->warp, msg->lanes);
	return tsr_msg_each(env, msg, store_lane, &components);
}
