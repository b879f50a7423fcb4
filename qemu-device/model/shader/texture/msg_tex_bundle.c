/* SPDX-License-Identifier: MIT */
/*
 * Texture instructions of bundles and of warps with all lanes: samples that need nothing but what
 * tex_warp.h has. What they do not do msg_texture.c does, by quads.
 */
#include "shader/alu/float_bits.h"
#include "shader/message/msg_bundle.h"
#include "tex_warp.h"

#define FACES TSR_CUBE_FACES

/* ---- All lanes ------------------------------------------------------------------------------- */

/* What all lanes of a message, in all warps, ask for. */
struct request {
	struct tsr_texture_job job;
	uint8_t result, mask, staging;
	bool packed;			/* of cubes: the face is part of the first coordinate */
	bool lod, array;		/* are staged, in this order */
};

/* Keep results in the bounds of their type. */
static void bound(float *x, unsigned int limit)
{
	float low = limit == 2 ? -1 : 0;

	for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
		float v = x[i] == x[i] ? x[i] : 0;

		v = v < low ? low : v;
		x[i] = limit > 1 && v > 1 ? 1 : v;
	}
}

/* Write @bits of @lanes of register @n; @reg is R0 of the warp. */
static void write_words(union tsr_lanes *reg, uint16_t lanes, unsigned int n, const void *words,
			uint32_t bits)
{
	union tsr_lanes *to = &reg[n % TSR_REGISTERS * TSR_BUNDLE_WARPS];
	const union tsr_lanes *from = words;

	if (lanes == TSR_ALL_LANES && bits == UINT32_MAX) {
		*to = *from;
		return;
	}
	for (; lanes; lanes &= lanes - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(lanes);

		to->u[lane] = (to->u[lane] & ~bits) | (from->u[lane] & bits);
	}
}

static void write_bundle(union tsr_lanes *reg, uint16_t lanes, const struct request *w,
			 float *const rgba[4])
{
	union tsr_lanes word;

	for (unsigned int c = 0; c < 4 && w->result % 4; c++)
		bound(rgba[c], w->result % 4);
	for (unsigned int c = 0; c < 4 && w->result >= TSR_TEXTURE_RESULT_F32; c++) {
		if (w->mask >> c & 1)
			write_words(reg, lanes, w->staging + c, rgba[c], UINT32_MAX);
	}
	for (unsigned int n = 0; n < 2 && w->result < TSR_TEXTURE_RESULT_F32; n++) {
		unsigned int pair = w->mask >> 2 * n & 3;

		w->job.env->textures->path->halves(word.u, rgba[2 * n], rgba[2 * n + 1]);
		if (pair)
			write_words(reg, lanes, w->staging + n, &word,
				    (pair & 1 ? 0xffffu : 0) | (pair & 2 ? 0xffff0000u : 0));
	}
}

/* Coordinates on a cube's faces; without @face, the first one says which. */
static void read_faces(const union tsr_lanes *first, const union tsr_lanes *face,
		       float s[TSR_WARP_LANES], uint8_t on[TSR_WARP_LANES])
{
	for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
		unsigned int f = (face ? face : first)->u[i] >> 29;
		uint32_t word = first->u[i];

		on[i] = f < FACES ? f : FACES - 1;
		s[i] = tsr_as_float(face ? word : (word & 0x1fffffff) | 0x20000000);
	}
}

/* Whether all of @lanes have the same word. */
static bool same_word(const union tsr_lanes *words, uint16_t lanes, uint32_t word)
{
	uint32_t differ = 0;

	for (; lanes; lanes &= lanes - 1)
		differ |= words->u[__builtin_ctz(lanes)] ^ word;
	return !differ;
}

/* What texture word @word asks for; false: nothing that warps with all lanes can do. */
static bool word_bundle(struct tsr_msg_env *env, uint32_t word, struct request *w)
{
	uint64_t wide = word;
	struct tsr_texture_word t;

	tsr_unpack_texture_word(&wide, &t);
	if (!tsr_texture_word_is_good(&t) || t.operation != TSR_TEXTURE_OPERATION_SAMPLE ||
	    t.mode == TSR_TEXTURE_LOD_GRADIENT || t.offset || t.shadow ||
	    t.result > TSR_TEXTURE_RESULT_F32_UNIT ||
	    (!t.immediate && (t.sampler & 3) != TSR_TEXTURE_INDEX_SHARED) ||
	    (t.dimension != TSR_TEXTURE_DIMENSION_2D &&
	     t.dimension != TSR_TEXTURE_DIMENSION_CUBE))
		return false;
	w->job.env = env;
	w->job.texture = t.texture;
	w->job.sampler = t.immediate ? t.sampler : t.texture;
	w->job.dimension = t.dimension;
	w->job.mode = t.mode;
	w->result = t.result;
	w->mask = t.mask;
	w->packed = true;
	w->lod = t.mode <= TSR_TEXTURE_LOD_BIAS;
	w->array = t.array;
	return true;
}

/* What TEXS_2D or, with @cube, TEXS_CUBE asks for. */
static void compact_bundle(struct tsr_msg_env *env, const struct tsr_insn *insn, bool cube,
			   struct request *w)
{
	bool f32 = insn->op == TSR_OP_ADD_TEXS_2D_F32 || insn->op == TSR_OP_ADD_TEXS_CUBE_F32;

	w->job.env = env;
	w->job.texture = insn->imm[TSR_IMM_TEXTURE_INDEX];
	w->job.sampler = insn->imm[TSR_IMM_SAMPLER_INDEX];
	w->job.dimension = cube ? TSR_TEXTURE_DIMENSION_CUBE : TSR_TEXTURE_DIMENSION_2D;
	w->job.mode = !cube && insn->mod[TSR_MOD_LOD_MODE] == TSR_LOD_MODE_ZERO_LOD
		? TSR_TEXTURE_LOD_ZERO : TSR_TEXTURE_LOD_COMPUTED;
	w->result = f32 ? TSR_TEXTURE_RESULT_F32 : TSR_TEXTURE_RESULT_F16;
	w->mask = 0xf;
	w->packed = w->lod = w->array = false;
}

/* ---- Bundles --------------------------------------------------------------------------------- */

/* Source @n of warp @w of a bundle. */
static const union tsr_lanes *source_of(const struct tsr_msg_bundle *b, unsigned int w,
					unsigned int n)
{
	return b->src[n] + w * b->src_step[n];
}

/* Operands and results of warps of a bundle, one after the other. */
struct gathered {
	union tsr_lanes s[TSR_BUNDLE_WARPS], t[TSR_BUNDLE_WARPS];
	union tsr_lanes lod[TSR_BUNDLE_WARPS], layer[TSR_BUNDLE_WARPS];
	uint8_t face[TSR_BUNDLE_WARPS][TSR_WARP_LANES];
	uint16_t lanes[TSR_BUNDLE_WARPS];
	union tsr_lanes rgba[4][TSR_BUNDLE_WARPS];
};

/* Take the operands of warp @w, number @i. */
static void gather(struct gathered *g, unsigned int i, const struct tsr_msg_bundle *b,
		   unsigned int w, const struct request *what)
{
	unsigned int n = 0;

	g->s[i] = *source_of(b, w, 0);
	g->t[i] = *source_of(b, w, 1);
	if (what->lod)
		g->lod[i] = *tsr_msg_bundle_staging(b, w, n++);
	if (what->array)
		g->layer[i] = *tsr_msg_bundle_staging(b, w, n);
	if (what->job.dimension == TSR_TEXTURE_DIMENSION_CUBE)
		read_faces(source_of(b, w, 0), what->packed ? NULL : source_of(b, w, 2), g->s[i].f,
			   g->face[i]);
}

/* Whether coordinates of @warps warps are among what a bundle's results overwrite. */
static bool overlap(const union tsr_lanes *coordinates, union tsr_lanes *const rgba[4],
		    unsigned int warps)
{
	for (unsigned int c = 0; c < 4; c++) {
		if (coordinates < rgba[c] + warps && rgba[c] < coordinates + warps)
			return true;
	}
	return false;
}

/* Lanes of warp @w whose registers may be written. */
static uint16_t written_lanes(const struct tsr_msg_bundle *b, unsigned int w)
{
	return b->whole ? TSR_ALL_LANES : b->lanes[w];
}

/*
 * Whether @warps warps of @b from number @w on have their coordinates one after the other, are
 * written as a whole, and want nothing that is staged.
 */
static bool are_plain(const struct tsr_msg_bundle *b, unsigned int w, unsigned int warps,
		      const struct request *what)
{
	if (what->lod || what->array || what->job.dimension == TSR_TEXTURE_DIMENSION_CUBE ||
	    what->mask != 15 || b->src_step[0] != 1 || b->src_step[1] != 1)
		return false;
	for (unsigned int i = 0; i < warps; i++) {
		if (written_lanes(b, w + i) != TSR_ALL_LANES)
			return false;
	}
	return true;
}

/* Have plain @samples write where the results go, if that is possible; false: it is not. */
static bool in_place(const struct tsr_msg_bundle *b, unsigned int w,
		     struct tsr_texture_bundle *samples)
{
	for (unsigned int c = 0; c < 4; c++)
		samples->rgba[c] = tsr_msg_bundle_staging(b, w, c);
	return !overlap(samples->s, samples->rgba, samples->warps) &&
	       !overlap(samples->t, samples->rgba, samples->warps);
}

/* Do plain @samples, as halves. */
static unsigned int as_halves(const struct tsr_msg_bundle *b, unsigned int w, struct request *what,
			      struct tsr_texture_bundle *samples)
{
	const struct tsr_texture_path *path = what->job.env->textures->path;
	union tsr_lanes rgba[4][TSR_BUNDLE_WARPS];
	unsigned int done;

	for (unsigned int c = 0; c < 4; c++)
		samples->rgba[c] = rgba[c];
	done = tsr_texture_bundle(&what->job, samples);
	for (unsigned int i = 0; i < done; i++) {
		path->halves(tsr_msg_bundle_staging(b, w + i, 0)->u, rgba[0][i].f, rgba[1][i].f);
		path->halves(tsr_msg_bundle_staging(b, w + i, 1)->u, rgba[2][i].f, rgba[3][i].f);
	}
	return done;
}

/* Do @warps plain warps from number @w on without copies, *@done of them; false: it cannot be. */
static bool without_copies(const struct tsr_msg_bundle *b, unsigned int w, unsigned int warps,
			   struct request *what, unsigned int *done)
{
	struct tsr_texture_bundle samples = {
		.warps = warps, .lanes = &b->lanes[w],
		.s = source_of(b, w, 0), .t = source_of(b, w, 1),
	};

	if (what->result == TSR_TEXTURE_RESULT_F16)
		*done = as_halves(b, w, what, &samples);
	else if (what->result == TSR_TEXTURE_RESULT_F32 && in_place(b, w, &samples))
		*done = tsr_texture_bundle(&what->job, &samples);
	else
		return false;
	return true;
}

/* How many warps from number @first on have lanes and ask for @word, if there is one. */
static unsigned int count_alike(const struct tsr_msg_bundle *b, unsigned int first,
				const uint32_t *word)
{
	unsigned int i;

	for (i = first; i < b->warps; i++) {
		unsigned int w = b->warp[i];

		if (!b->lanes[w] || (word && !same_word(source_of(b, w, 2), b->lanes[w], *word)))
			break;
	}
	return i - first;
}

/* Do @count warps from number @first on by copies; returns how many have been done. */
static unsigned int by_copies(const struct tsr_msg_bundle *b, unsigned int first,
			      unsigned int count, struct request *w)
{
	bool cube = w->job.dimension == TSR_TEXTURE_DIMENSION_CUBE;
	struct gathered g;
	const struct tsr_texture_bundle samples = {
		.warps = count, .lanes = g.lanes, .s = g.s, .t = g.t,
		.face = cube ? g.face : NULL,
		.lod = w->lod ? g.lod : NULL, .layer = w->array ? g.layer : NULL,
		.rgba = { g.rgba[0], g.rgba[1], g.rgba[2], g.rgba[3] },
	};
	unsigned int done;

	for (unsigned int i = 0; i < count; i++) {
		g.lanes[i] = b->lanes[b->warp[first + i]];
		gather(&g, i, b, b->warp[first + i], w);
	}
	done = tsr_texture_bundle(&w->job, &samples);
	for (unsigned int i = 0; i < done; i++) {
		float *const rgba[4] = { g.rgba[0][i].f, g.rgba[1][i].f, g.rgba[2][i].f,
					 g.rgba[3][i].f };

		write_bundle(b->reg + b->warp[first + i], written_lanes(b, b->warp[first + i]), w,
			     rgba);
	}
	return done;
}

/*
 * Do warps of a bundle from number @first on with all lanes, which all ask for @w; in those whose
 * source 2 is @word, if there is one. The number of the first not done.
 */
static unsigned int together(const struct tsr_msg_bundle *b, unsigned int first,
			     const uint32_t *word, struct request *w)
{
	unsigned int count = count_alike(b, first, word), done;

	w->staging = b->staging;
	if (!count || !tsr_texture_begin(&w->job))
		return first;
	if (b->warp[first] + count - 1 != b->warp[first + count - 1] ||
	    !are_plain(b, b->warp[first], count, w) ||
	    !without_copies(b, b->warp[first], count, w, &done))
		done = by_copies(b, first, count, w);
	return first + done;
}

unsigned int tsr_msg_texture_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				      unsigned int first, unsigned int arg)
{
	struct request w;

	(void)arg;
	while (first < b->warps) {
		unsigned int done = first, warp = b->warp[first];
		uint32_t word;

		if (!b->lanes[warp])
			break;
		word = source_of(b, warp, 2)->u[__builtin_ctz(b->lanes[warp])];
		if (!tsr_texture_word_is_dual(word) && word_bundle(env, word, &w))
			done = together(b, first, &word, &w);
		if (done == first)
			break;
		first = done;
	}
	return first;
}

unsigned int tsr_msg_texture_compact_together(struct tsr_msg_env *env,
					      const struct tsr_msg_bundle *b, unsigned int first,
					      unsigned int arg)
{
	struct request w;

	compact_bundle(env, b->insn, arg, &w);
	return together(b, first, NULL, &w);
}
