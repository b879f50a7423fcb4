/* SPDX-License-Identifier: MIT */
/*
 * Varying unit: LD_VAR in all forms, and VAR_TEX, which hands what it has interpolated to the
 * texture unit. A quad belongs to one primitive, so the unit works quad by quad.
 *
 * The arithmetic is in msg_planes.h and msg_interpolate.h; here is which varying, and where.
 */
#include <string.h>

#include "msg.h"
#include "msg_bundle.h"
#include "compiler/plan.h"
#include "shader/planes.h"
#include "tsr_samples.h"
#include "simd/simd.h"

/* Contraction would change bits of the results. */
#pragma GCC optimize("fp-contract=off")

/* A number for each pixel of a quad. */
typedef double four __attribute__((vector_size(32)));
typedef float four_floats __attribute__((vector_size(16)));

#define QUAD_LANES 15u
#define QUADS (TSR_WARP_LANES / 4)	/* of a warp */

/* Where a quad's pixels are interpolated. */
struct spot {
	four x, y;			/* in pixels of the frame */
};

static struct tsr_fragment_quad *quad_of(const struct tsr_msg_env *env, unsigned int q)
{
	return &env->fragments->quad[env->warp * TSR_WARP_LANES / 4 + q];
}

/* ---- Where ----------------------------------------------------------------------------------- */

/*
 * The centroid of a pixel with coverage @covered: its center if all or none of its samples are
 * covered, otherwise its first covered sample. x and y are from the pixel's corner, in 1/256.
 */
static void centroid(const struct tsr_fragment_state *s, uint32_t covered, int *x, int *y)
{
	unsigned int samples = 1u << s->samples_log2, first;

	covered &= (1u << samples) - 1;
	if (!covered || covered == (1u << samples) - 1)
		return;
	first = __builtin_ctz(covered);
	*x = tsr_sample_position[s->samples_log2][first][0] * 16;
	*y = tsr_sample_position[s->samples_log2][first][1] * 16;
}

/* Position mode @sample names for a pixel whose source 0 is @word, from its corner in 256ths. */
static void position(const struct tsr_fragment_state *s, unsigned int sample, uint32_t word,
		     int *x, int *y)
{
	unsigned int id = word >> 16 & 0x1f;

	*x = *y = 128;
	switch (sample) {
	case TSR_SAMPLE_CENTROID:
		centroid(s, word & 0xffff, x, y);
		return;
	case TSR_SAMPLE_SAMPLE:
		if (s->shader.sample_shading && id >> s->samples_log2 == 0) {
			*x = tsr_sample_position[s->samples_log2][id][0] * 16;
			*y = tsr_sample_position[s->samples_log2][id][1] * 16;
		}
		return;
	case TSR_SAMPLE_EXPLICIT:
		*x = (int16_t)word;
		*y = (int16_t)(word >> 16);
		return;
	default:
		return;
	}
}

/* The position of @lane for a message with @update and @sample; what is retained then. */
static void locate(struct tsr_msg_env *env, const union tsr_lanes *src, unsigned int update,
		   unsigned int sample, unsigned int lane, int *x, int *y)
{
	struct tsr_fragments *f = env->fragments;
	unsigned int w = env->warp;
	bool retained = f->retained_lanes[w] >> lane & 1;

	if (update == TSR_UPDATE_RETRIEVE || (update == TSR_UPDATE_CONDITIONAL && retained)) {
		*x = retained ? f->retained[0][w].s[lane] : 128;
		*y = retained ? f->retained[1][w].s[lane] : 128;
		return;
	}
	position(f->state, sample, src ? src->u[lane] : 0, x, y);
	f->retained[0][w].s[lane] = *x;
	f->retained[1][w].s[lane] = *y;
	/* what is not kept is the centre, whichever way it was found */
	f->retained_lanes[w] &= ~(1u << lane);
	f->retained_lanes[w] |= (*x != 128 || *y != 128) << lane;
}

/* True if all that counts is the centre of pixels, and that is not worth keeping. */
static bool plain_centre(const struct tsr_fragments *f, unsigned int update, unsigned int sample)
{
	bool centre = sample == TSR_SAMPLE_CENTER ||
		      (sample == TSR_SAMPLE_SAMPLE && !f->state->shader.sample_shading) ||
		      (sample == TSR_SAMPLE_CENTROID && !f->state->samples_log2);

	return centre && (update == TSR_UPDATE_STORE || update == TSR_UPDATE_CLOBBER);
}

/* Where @lanes of quad @q are interpolated. */
static void find_spot(struct tsr_msg_env *env, const union tsr_lanes *src, unsigned int update,
		      unsigned int sample, unsigned int q, unsigned int lanes, struct spot *spot)
{
	static const four right = { 0.5, 1.5, 0.5, 1.5 }, down = { 0.5, 0.5, 1.5, 1.5 };
	const struct tsr_fragment_quad *quad = quad_of(env, q);

	spot->x = right + quad->x;
	spot->y = down + quad->y;
	if (plain_centre(env->fragments, update, sample)) {
		env->fragments->retained_lanes[env->warp] &= ~(lanes << 4 * q);
		return;
	}
	for (unsigned int p = 0; p < 4; p++) {
		int x, y;

		if (!(lanes >> p & 1))
			continue;
		locate(env, src, update, sample, 4 * q + p, &x, &y);
		spot->x[p] = quad->x + (int)(p & 1) + x / 256.0;
		spot->y[p] = quad->y + (int)(p >> 1) + y / 256.0;
	}
}

/* ---- What ------------------------------------------------------------------------------------ */

/* Value at @spot of a plane with @at[0] at vertex 0 of @p and steps @at[1] and [2] per pixel. */
static void plane(const struct tsr_fragment_prim *p, const double at[3], const struct spot *spot,
		  four *out)
{
	*out = (at[1] * (spot->x - p->x0) + at[2] * (spot->y - p->y0)) + at[0];
}

/* @x rounded. */
#define NARROW(x) __builtin_convertvector(x, four_floats)

/* The first @count components at @spot of quad @q; also where bundles have no SIMD path. */
static void evaluate(const struct tsr_msg_env *env, unsigned int q,
		     const struct tsr_planes *planes, const struct spot *spot, unsigned int count,
		     four_floats out[4])
{
	const struct tsr_fragment_quad *quad = quad_of(env, q);
	const int32_t column = TSR_CORNER(quad->x), row = TSR_CORNER(quad->y);
	const four_floats right = NARROW(spot->x - column), down = NARROW(spot->y - row);
	const struct tsr_msg_path *path = env->path ? env->path : tsr_simd_sse2.messages;
	float value[4][4];

	path->spot(&env->fragments->prim[quad->prim], planes, count, column, row,
			(const float *)&right, (const float *)&down, value);
	memcpy(out, value, count * sizeof(out[0]));
}

/* ---- Results --------------------------------------------------------------------------------- */

static void put(const struct tsr_msg *msg, unsigned int word, unsigned int q, unsigned int lanes,
		const uint32_t value[4])
{
	union tsr_lanes *to = tsr_msg_staging(msg, word);

	if (lanes == QUAD_LANES) {
		memcpy(&to->u[4 * q], value, 4 * sizeof(value[0]));
		return;
	}
	for (unsigned int p = 0; p < 4; p++) {
		if (lanes >> p & 1)
			to->u[4 * q + p] = value[p];
	}
}

/* Floats of @lanes of quad @q as @half or single precision to staging registers. */
static void put_floats(const struct tsr_msg *msg, unsigned int q, unsigned int lanes, bool half,
		       unsigned int count, const four_floats value[4])
{
	for (unsigned int c = 0; c < count; c += half ? 2 : 1) {
		uint32_t word[4];

		for (unsigned int p = 0; half && p < 4; p++) {
			word[p] = tsr_float_to_half(value[c][p]);
			if (c + 1 < count)
				word[p] |= (uint32_t)tsr_float_to_half(value[c + 1][p]) << 16;
		}
		if (!half)
			memcpy(word, &value[c], sizeof(word));
		put(msg, half ? c / 2 : c, q, lanes, word);
	}
}

/* A varying that is the same everywhere, as @type (enum tsr_register_type). */
static void put_flat(const struct tsr_msg *msg, unsigned int q, unsigned int lanes,
		     unsigned int type, unsigned int count, const struct tsr_planes *planes)
{
	uint32_t word[8];

	tsr_format_to_registers(&planes->format, &planes->provoking, type, count, word);
	for (unsigned int i = 0; i < tsr_register_words(type, count); i++) {
		const uint32_t value[4] = { word[i], word[i], word[i], word[i] };

		put(msg, i, q, lanes, value);
	}
}

/* ---- Instructions ---------------------------------------------------------------------------- */

/* Values that all lanes of a message share. */
struct load {
	unsigned int flags;		/* enum tsr_msg_varying_flags */
	unsigned int update, sample, count;
	uint8_t format;			/* enum tsr_mod_register_format */
	struct tsr_varying varying;	/* the last one, if @read */
	bool read;
};

static inline struct load load_of(const struct tsr_insn *insn, unsigned int flags)
{
	return (struct load){
		.flags = flags, .update = insn->mod[TSR_MOD_UPDATE],
		.sample = insn->mod[TSR_MOD_SAMPLE], .count = insn->mod[TSR_MOD_VECSIZE] + 1u,
		.format = insn->mod[TSR_MOD_REGISTER_FORMAT],
	};
}

/* Register type for a varying of @planes. */
static unsigned int type_of(const struct load *l, const struct tsr_planes *planes)
{
	switch (l->format) {
	case TSR_REGISTER_FORMAT_F16:
		return TSR_REGISTER_TYPE_F16;
	case TSR_REGISTER_FORMAT_U32:
		return TSR_REGISTER_TYPE_U32;
	case TSR_REGISTER_FORMAT_S32:
		return TSR_REGISTER_TYPE_S32;
	case TSR_REGISTER_FORMAT_F32:
		return TSR_REGISTER_TYPE_F32;
	default:
		break;
	}
	if (planes->format.kind == TSR_FORMAT_KIND_SINT)
		return TSR_REGISTER_TYPE_S32;
	return planes->format.kind == TSR_FORMAT_KIND_UINT ? TSR_REGISTER_TYPE_U32 :
							     TSR_REGISTER_TYPE_F32;
}

/* Varying @index for @lanes of quad @q. */
static enum tsr_step load_quad(struct tsr_msg_env *env, struct tsr_msg *msg, struct load *l,
			       unsigned int q, unsigned int lanes, uint32_t index)
{
	unsigned int prim = quad_of(env, q)->prim;
	const struct tsr_planes *planes;
	four_floats value[4];
	struct spot spot;
	enum tsr_step step = tsr_planes_find(env, &l->varying, &l->read, prim, index, &planes);

	if (step != TSR_STEP_DONE)
		return step;
	if (!(l->flags & TSR_MSG_VAR_FLAT))
		find_spot(env, msg->src[0], l->update, l->sample, q, lanes, &spot);
	if (l->flags & TSR_MSG_VAR_FLAT || planes->flat) {
		put_flat(msg, q, lanes, type_of(l, planes), l->count, planes);
		return TSR_STEP_DONE;
	}
	evaluate(env, q, planes, &spot, l->count, value);
	put_floats(msg, q, lanes, l->format == TSR_REGISTER_FORMAT_F16, l->count, value);
	return TSR_STEP_DONE;
}

/* Index of the varying for @lane. */
static uint32_t index_of(const struct tsr_msg *msg, const struct load *l, unsigned int lane)
{
	if (l->flags & TSR_MSG_VAR_IMM)
		return msg->insn->imm[TSR_IMM_INDEX];
	return msg->src[l->flags & TSR_MSG_VAR_FLAT ? 0 : 1]->u[lane];
}

enum tsr_step tsr_msg_varying(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	struct load l = load_of(msg->insn, arg);

	while (msg->lanes) {
		unsigned int first = __builtin_ctz(msg->lanes), q = first / 4;
		unsigned int lanes = msg->lanes >> 4 * q & QUAD_LANES;
		uint32_t index = index_of(msg, &l, first);
		enum tsr_step step;

		for (unsigned int p = 0; !(arg & TSR_MSG_VAR_IMM) && p < 4; p++) {
			if (lanes >> p & 1 && index_of(msg, &l, 4 * q + p) != index)
				lanes &= ~(1u << p);
		}
		step = load_quad(env, msg, &l, q, lanes, index);
		if (step != TSR_STEP_DONE) {
			msg->fault_lane = first;
			return step;
		}
		msg->lanes &= ~(lanes << 4 * q);
	}
	return TSR_STEP_DONE;
}

/* ---- Whole bundles --------------------------------------------------------------------------- */

/* Where the pixels of the warps of @b are, and w there: once for all varyings. */
static void find_centres(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			 unsigned int first)
{
	struct tsr_fragments *f = env->fragments;

	env->path->geometry(f);
	for (unsigned int i = first; i < b->warps; i++) {
		if (f->centres >> b->warp[i] & 1)
			continue;
		f->centres |= 1u << b->warp[i];
		env->path->centres(f, b->warp[i]);
	}
}

/* A varying of a message, for all its warps. */
struct find {
	struct tsr_varying varying;	/* the last one, if @read */
	bool read;
	uint32_t index;
};

/* Its planes of primitive @prim; NULL: they are not so simple. */
static const struct tsr_planes *find_planes(struct tsr_msg_env *env, struct find *find,
					    unsigned int prim)
{
	const unsigned int at = env->fragments->plane_of[prim][find->index];
	const struct tsr_planes *planes;

	if (at)
		planes = &env->fragments->planes[at - 1];
	else if (tsr_planes_find(env, &find->varying, &find->read, prim, find->index, &planes) !=
		 TSR_STEP_DONE)
		return NULL;
	if (planes->flat || planes->perspective == env->fragments->prim[prim].flat_w)
		return NULL;
	return planes;
}

/*
 * Planes of all quads from warp @first of @b on, if all of them are to be had at once, as those of
 * triangles mostly are; false: they have to be looked for one by one.
 */
static bool find_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			  unsigned int first, struct find *find, struct tsr_interpolation *in)
{
	struct tsr_plane_source source[TSR_BUNDLE_QUADS];
	struct tsr_fragments *f = env->fragments;
	unsigned int count;
	uint32_t prims = 0;
	bool all;

	if (!tsr_planes_quick(env, &find->varying, &find->read, find->index))
		return false;
	for (unsigned int i = first; i < b->warps; i++) {
		const struct tsr_fragment_quad *quad = &f->quad[b->warp[i] * QUADS];
		const unsigned int lanes = b->lanes[b->warp[i]];

		for (unsigned int q = 0; q < QUADS; q++)
			prims |= (uint32_t)((lanes >> 4 * q & QUAD_LANES) != 0) << quad[q].prim;
	}
	all = tsr_planes_sources(env, &find->varying, prims, source, &count);
	env->path->planes(f, &find->varying, source, count);
	if (!all || find->varying.linear)
		return false;
	/* quads without threads have those of any other */
	for (unsigned int i = first; i < b->warps; i++) {
		const unsigned int n = b->warp[i] * QUADS;

		for (unsigned int q = n; q < n + QUADS; q++) {
			const unsigned int at = f->plane_of[f->quad[q].prim][find->index];

			in->planes[q] = &f->planes[at - (at != 0)];
		}
	}
	return true;
}

/* Planes of the quads of warp @w that have threads; false: one of them is not so simple. */
static bool find_warp(struct tsr_msg_env *env, struct find *find, unsigned int w, uint16_t lanes,
		      struct tsr_interpolation *in)
{
	const unsigned int first = w * TSR_WARP_LANES / 4;
	const struct tsr_fragment_quad *quad = &env->fragments->quad[first];
	const struct tsr_planes *planes = NULL;
	unsigned int last = TSR_BUNDLE_QUADS;	/* none */

	for (unsigned int q = 0; q < TSR_WARP_LANES / 4; q++) {
		in->planes[first + q] = NULL;
		if (!(lanes >> 4 * q & QUAD_LANES))
			continue;
		/* what is at hand stays there as long as nothing else is made */
		if (quad[q].prim != last) {
			last = quad[q].prim;
			planes = find_planes(env, find, last);
			if (!planes)
				return false;
		}
		in->planes[first + q] = planes;
	}
	return true;
}

/*
 * The first @count components of varying @index in the warps of @b from @first on, at their pixels'
 * centres: component n of warp w to to[n][w]. The first warp that has not been done.
 */
static unsigned int load_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				  unsigned int first, uint32_t index, unsigned int count,
				  union tsr_lanes *const to[4])
{
	struct tsr_fragments *f = env->fragments;
	struct find find = { .index = index };
	struct tsr_interpolation in = {
		.count = count, .warp = b->warp + first, .lanes = b->lanes,
		.to = { to[0], to[1], to[2], to[3] },
	};
	const uint64_t read = env->cost.read_bytes;
	unsigned int end = first;

	/* there must be room for the planes of all primitives, or some would be lost again */
	if (index >= TSR_PLANE_VARYINGS || f->plane_count + f->prims >= TSR_PLANES_MAX ||
	    !plain_centre(f, b->insn->mod[TSR_MOD_UPDATE], b->insn->mod[TSR_MOD_SAMPLE]))
		return first;
	find_centres(env, b, first);
	if (f->prims == 1) {
		in.one = find_planes(env, &find, 0);
		end = in.one ? b->warps : first;
	} else {
		if (find_together(env, b, first, &find, &in))
			end = b->warps;
		while (end < b->warps &&
		       find_warp(env, &find, b->warp[end], b->lanes[b->warp[end]], &in))
			end++;
	}
	in.warps = end - first;
	tsr_msg_charge_reads(&env->cost, read);
	env->path->interpolate(f, &in);
	for (unsigned int i = first; i < end; i++)
		f->retained_lanes[b->warp[i]] &= ~b->lanes[b->warp[i]];
	return end;
}

/* Clear the warps of @to with inactive lanes, which operations on whole warps read, too. */
static void clear_inactive(const struct tsr_msg_bundle *b, unsigned int first, union tsr_lanes *to)
{
	for (unsigned int i = first; i < b->warps; i++) {
		if (b->lanes[b->warp[i]] != TSR_ALL_LANES)
			to[b->warp[i]] = (union tsr_lanes){ { 0 } };
	}
}

/* As load_together(), to staging registers, two components to each. Not inline: for its stack. */
static __attribute__((noinline)) unsigned int
load_halves(struct tsr_msg_env *env, const struct tsr_msg_bundle *b, unsigned int first,
	    uint32_t index, unsigned int count)
{
	union tsr_lanes whole[4][TSR_BUNDLE_WARPS], packed, *to[4] = { NULL };
	unsigned int end;

	for (unsigned int c = 0; c < count; c++) {
		to[c] = whole[c];
		clear_inactive(b, first, to[c]);
	}
	end = load_together(env, b, first, index, count, to);
	for (unsigned int i = first; i < end; i++) {
		const unsigned int w = b->warp[i];

		for (unsigned int c = 0; c < count; c += 2) {
			env->path->halves(&whole[c][w], c + 1 < count ? &whole[c + 1][w] : NULL,
					  &packed);
			tsr_msg_move(tsr_msg_bundle_staging(b, w, c / 2), &packed, b->lanes[w]);
		}
	}
	return end;
}

unsigned int tsr_msg_varying_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				      unsigned int first, unsigned int arg)
{
	unsigned int count = b->insn->mod[TSR_MOD_VECSIZE] + 1;
	union tsr_lanes *to[4] = { NULL };

	if (arg != TSR_MSG_VAR_IMM)
		return first;
	if (b->insn->mod[TSR_MOD_REGISTER_FORMAT] == TSR_REGISTER_FORMAT_F16)
		return load_halves(env, b, first, b->insn->imm[TSR_IMM_INDEX], count);
	for (unsigned int c = 0; c < count; c++)
		to[c] = &b->reg[(b->staging + c) % TSR_REGISTERS * TSR_BUNDLE_WARPS];
	return load_together(env, b, first, b->insn->imm[TSR_IMM_INDEX], count, to);
}

/* The varying of @l for warp @w of @b, equal in each quad; false: some are not at hand. */
static bool flat_warp(struct tsr_msg_env *env, const struct tsr_msg_bundle *b, unsigned int w,
		      struct load *l)
{
	const struct tsr_fragment_quad *quad = &env->fragments->quad[w * QUADS];
	struct tsr_msg msg = { .reg = &b->reg[w], .staging = b->staging };
	const struct tsr_planes *planes = NULL;
	unsigned int last = TSR_BUNDLE_QUADS;	/* none */

	for (unsigned int q = 0; q < QUADS; q++) {
		const unsigned int lanes = b->lanes[w] >> 4 * q & QUAD_LANES;

		if (!lanes)
			continue;
		if (quad[q].prim != last &&
		    tsr_planes_find(env, &l->varying, &l->read, quad[q].prim,
				    b->insn->imm[TSR_IMM_INDEX], &planes) != TSR_STEP_DONE)
			return false;
		last = quad[q].prim;
		put_flat(&msg, q, lanes, type_of(l, planes), l->count, planes);
	}
	return true;
}

unsigned int tsr_msg_varying_flat_together(struct tsr_msg_env *env,
					   const struct tsr_msg_bundle *b, unsigned int first,
					   unsigned int arg)
{
	struct load l = load_of(b->insn, arg);

	for (; first < b->warps; first++) {
		const uint64_t read = env->cost.read_bytes;

		if (!flat_warp(env, b, b->warp[first], &l))
			break;
		tsr_msg_charge_reads(&env->cost, read);
	}
	return first;
}

unsigned int tsr_varying_pairs(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			       unsigned int first, uint32_t index,
			       union tsr_lanes at[2][TSR_BUNDLE_WARPS])
{
	union tsr_lanes *const to[4] = { at[0], at[1] };

	/* inactive lanes ask for 0, with which others are compared */
	clear_inactive(b, first, at[0]);
	clear_inactive(b, first, at[1]);
	return load_together(env, b, first, index, 2, to);
}

/* ---- Blocks of pixels ------------------------------------------------------------------------ */

bool tsr_varying_at_centre(const struct tsr_insn *insn, unsigned int samples_log2)
{
	unsigned int update = insn->mod[TSR_MOD_UPDATE], sample = insn->mod[TSR_MOD_SAMPLE];
	bool centre = sample == TSR_SAMPLE_CENTER || sample == TSR_SAMPLE_SAMPLE ||
		      (sample == TSR_SAMPLE_CENTROID && !samples_log2);

	return centre && (update == TSR_UPDATE_STORE || update == TSR_UPDATE_CLOBBER);
}

/* The first @count components of smooth @planes: component n of warp w to to[n][w]. */
static bool smooth_block(struct tsr_msg_env *env, struct tsr_quad_block *block,
			 const struct tsr_planes *planes, unsigned int count,
			 union tsr_lanes *const to[4])
{
	struct tsr_fragment_prim *p = &env->fragments->prim[block->prim];

	if (!p->geometry)
		tsr_prim_geometry(p);
	if (planes->flat || planes->perspective == p->flat_w)
		return false;
	env->path->quad_block(p, planes, count, block->x, block->y, block->off,
			      planes->perspective ? block->w : NULL, block->has_w, to);
	block->has_w |= planes->perspective;
	return true;
}

/*
 * As smooth_block(), to the registers at @reg from @staging on, two components to each. Not inline:
 * for its stack.
 */
static __attribute__((noinline)) bool
smooth_halves(struct tsr_msg_env *env, struct tsr_quad_block *block,
	      const struct tsr_planes *planes, unsigned int count, unsigned int staging,
	      union tsr_lanes *reg)
{
	union tsr_lanes whole[4][TSR_QUAD_BLOCK_WARPS];
	union tsr_lanes *const to[4] = { whole[0], whole[1], whole[2], whole[3] };

	if (!smooth_block(env, block, planes, count, to))
		return false;
	for (unsigned int c = 0; c < count; c += 2) {
		union tsr_lanes *out = &reg[(staging + c / 2) % TSR_REGISTERS * TSR_BUNDLE_WARPS];

		for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++)
			env->path->halves(&whole[c][w], c + 1 < count ? &whole[c + 1][w] : NULL,
					  &out[w]);
	}
	return true;
}

/* Components that are equal at all pixels. */
static void flat_block(const struct load *l, const struct tsr_planes *planes,
		       unsigned int staging, union tsr_lanes *reg)
{
	unsigned int type = type_of(l, planes);
	uint32_t word[8];

	tsr_format_to_registers(&planes->format, &planes->provoking, type, l->count, word);
	for (unsigned int i = 0; i < tsr_register_words(type, l->count); i++) {
		union tsr_lanes *to = &reg[(staging + i) % TSR_REGISTERS * TSR_BUNDLE_WARPS];

		for (unsigned int w = 0; w < TSR_QUAD_BLOCK_WARPS; w++) {
			for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
				to[w].u[l] = word[i];
		}
	}
}

/* Those of varying @index of the block's primitive; NULL: they cannot be had now. */
static const struct tsr_planes *block_planes(struct tsr_msg_env *env,
					     const struct tsr_quad_block *block,
					     uint32_t index, const struct tsr_planes **known)
{
	const struct tsr_planes *planes = *known;
	const uint64_t before = env->cost.read_bytes;
	struct tsr_varying varying;
	bool read = false;

	if (planes)
		return planes;
	/* what is not kept is read for each quad: that counts */
	if (index >= TSR_PLANE_VARYINGS ||
	    tsr_planes_find(env, &varying, &read, block->prim, index, &planes) != TSR_STEP_DONE)
		return NULL;
	tsr_msg_charge_reads(&env->cost, before);
	*known = planes;
	return planes;
}

bool tsr_varying_block_pair(struct tsr_msg_env *env, struct tsr_quad_block *block, uint32_t index,
			    union tsr_lanes at[2][TSR_QUAD_BLOCK_WARPS],
			    const struct tsr_planes **known)
{
	const struct tsr_planes *planes = block_planes(env, block, index, known);
	union tsr_lanes *const to[4] = { at[0], at[1] };

	return planes && smooth_block(env, block, planes, 2, to);
}

/* ---- Special varyings ------------------------------------------------------------------------ */

/* Coordinates in a point; (0, 0) in what is none. */
static void point_coordinates(const struct tsr_fragments *f, const struct tsr_fragment_prim *p,
			      const struct spot *spot, four_floats out[4])
{
	double size = p->prim.point_size;

	memset(out, 0, 2 * sizeof(out[0]));
	if (p->prim.vertices != 1 || !(size > 0))
		return;
	out[0] = NARROW((spot->x - p->x0) / size + 0.5);
	out[1] = NARROW((spot->y - p->y0) / size + 0.5);
	if (f->state->draw.point_origin == TSR_POINT_ORIGIN_LOWER)
		out[1] = NARROW(0.5 - (spot->y - p->y0) / size);
}

/* LD_VAR_SPECIAL @insn at @spot of @p; returns how many components there are. */
static unsigned int special(const struct tsr_fragments *f, const struct tsr_insn *insn,
			    const struct tsr_fragment_prim *p, const struct spot *spot,
			    four_floats value[4])
{
	four wide;

	if (insn->mod[TSR_MOD_VARYING_NAME] == TSR_VARYING_NAME_POINT) {
		point_coordinates(f, p, spot, value);
		return 2;
	}
	plane(p, insn->mod[TSR_MOD_VARYING_NAME] == TSR_VARYING_NAME_FRAG_W ? p->rw : p->z, spot,
	      &wide);
	value[0] = NARROW(wide);
	return 1;
}

enum tsr_step tsr_msg_varying_special(struct tsr_msg_env *env, struct tsr_msg *msg,
				      unsigned int arg)
{
	const struct tsr_insn *insn = msg->insn;
	struct tsr_fragments *f = env->fragments;
	bool half = insn->mod[TSR_MOD_REGISTER_FORMAT] == TSR_REGISTER_FORMAT_F16;

	(void)arg;
	for (unsigned int q = 0; q < TSR_WARP_LANES / 4; q++) {
		unsigned int lanes = msg->lanes >> 4 * q & QUAD_LANES;
		struct tsr_fragment_prim *p = &f->prim[quad_of(env, q)->prim];
		four_floats value[4];
		struct spot spot;

		if (!lanes)
			continue;
		tsr_prim_geometry(p);
		find_spot(env, msg->src[0], insn->mod[TSR_MOD_UPDATE], insn->mod[TSR_MOD_SAMPLE], q,
			  lanes, &spot);
		put_floats(msg, q, lanes, half, special(f, insn, p, &spot, value), value);
	}
	msg->lanes = 0;
	return TSR_STEP_DONE;
}

/* LD_VAR_SPECIAL @insn at all pixels of a block. */
static bool special_block(struct tsr_msg_env *env, const struct tsr_quad_block *block,
			  const struct tsr_insn *insn, unsigned int staging, union tsr_lanes *reg)
{
	static const four right = { 0.5, 1.5, 0.5, 1.5 }, down = { 0.5, 0.5, 1.5, 1.5 };
	struct tsr_fragment_prim *p = &env->fragments->prim[block->prim];

	if (insn->mod[TSR_MOD_REGISTER_FORMAT] == TSR_REGISTER_FORMAT_F16)
		return false;
	tsr_prim_geometry(p);
	for (unsigned int q = 0; q < TSR_QUAD_BLOCK_WARPS * QUADS; q++) {
		const unsigned int w = q / QUADS, x = 2 * (q % QUADS), y = 2 * w;
		const struct spot spot = {
			right + (block->x + (int)x) + block->off[0],
			down + (block->y + (int)y) + block->off[1],
		};
		four_floats value[4];
		const unsigned int count = special(env->fragments, insn, p, &spot, value);

		for (unsigned int c = 0; c < count; c++) {
			union tsr_lanes *to =
				&reg[(staging + c) % TSR_REGISTERS * TSR_BUNDLE_WARPS + w];

			memcpy(&to->u[4 * (q % QUADS)], &value[c], sizeof(value[c]));
		}
	}
	return true;
}

bool tsr_varying_block(struct tsr_msg_env *env, struct tsr_quad_block *block,
		       const struct tsr_insn *insn, unsigned int staging, union tsr_lanes *reg,
		       const struct tsr_planes **known)
{
	const struct load l = {
		.flags = insn->op == TSR_OP_ADD_LD_VAR_FLAT_IMM ? TSR_MSG_VAR_FLAT : 0,
		.count = insn->mod[TSR_MOD_VECSIZE] + 1u,
		.format = insn->mod[TSR_MOD_REGISTER_FORMAT],
	};
	const struct tsr_planes *planes;
	union tsr_lanes *to[4];

	if (insn->op == TSR_OP_ADD_LD_VAR_SPECIAL)
		return special_block(env, block, insn, staging, reg);
	planes = block_planes(env, block, insn->imm[TSR_IMM_INDEX], known);
	if (!planes)
		return false;
	if (l.flags || planes->flat) {
		flat_block(&l, planes, staging, reg);
		return true;
	}
	if (l.format == TSR_REGISTER_FORMAT_F16)
		return smooth_halves(env, block, planes, l.count, staging, reg);
	for (unsigned int c = 0; c < 4; c++)
		to[c] = &reg[(staging + c) % TSR_REGISTERS * TSR_BUNDLE_WARPS];
	return smooth_block(env, block, planes, l.count, to);
}
