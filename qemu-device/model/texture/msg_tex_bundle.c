/* SPDX-License-Identifier: MIT */
/*
 * Texture instructions of warps that follow one another in a bundle: their operands go to the
 * sampler together. msg_texture.c does the warps for which the sampler refuses.
 */
#include "alu/float_bits.h"
#include "sanitize.h"
#include "units/msg_bundle.h"
#include "sampler.h"

#define FACES TSR_CUBE_FACES

/* Operands that may be staged, in the order in which they are. */
enum operand {
	OPERAND_R, OPERAND_DDY0, OPERAND_DDY1, OPERAND_DDY2, OPERAND_LOD, OPERAND_AXIS,
	OPERAND_REFERENCE, OPERAND_LAYER, OPERAND_OFFSETS, OPERAND_SAMPLER, OPERAND_TEXTURE,
	OPERANDS
};

/* The request that all lanes of a message share, in all warps. */
struct request {
	struct tsr_texture_job job;
	uint8_t result, mask, staging;
	bool packed;			/* of cubes: the face is part of the first coordinate */
	bool faces;			/* coordinates are on the faces of a cube */
	uint32_t operands;		/* bit n: enum operand n is staged */
};

static bool has(const struct request *w, enum operand o)
{
	return w->operands >> o & 1;
}

/* The staging register of an operand that is staged, counted from the first. */
static unsigned int staged(const struct request *w, enum operand o)
{
	return tsr_lanes_count((uint16_t)(w->operands & ((1u << o) - 1)));
}

/* 16-bit results take two components to a register. */
static bool is_half(unsigned int result)
{
	return result < TSR_TEXTURE_RESULT_F32 || result == TSR_TEXTURE_RESULT_U16 ||
	       result == TSR_TEXTURE_RESULT_S16;
}

/* ---- Results --------------------------------------------------------------------------------- */

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

static void write_floats(union tsr_lanes *reg, uint16_t lanes, const struct request *w,
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

/* Numbers that become another kind of numbers, lane by lane. */
static void write_converted(union tsr_lanes *reg, uint16_t lanes, const struct request *w,
			    float *const rgba[4])
{
	const struct tsr_format *format = &w->job.view->format;
	const bool half = is_half(w->result);
	union tsr_lanes word[4];

	for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
		union tsr_texel texel;
		uint32_t out[4];

		for (unsigned int c = 0; c < 4; c++) {
			if (!tsr_format_is_integer(format))
				texel.f[c] = rgba[c][i];
			else if (format->kind == TSR_FORMAT_KIND_SINT)
				texel.i[c] = (int32_t)tsr_as_bits(rgba[c][i]);
			else
				texel.i[c] = tsr_as_bits(rgba[c][i]);
		}
		tsr_texture_to_registers(format, &texel, w->result, out);
		for (unsigned int n = 0; n < (half ? 2 : 4); n++)
			word[n].u[i] = out[n];
	}
	for (unsigned int n = 0; n < (half ? 2 : 4); n++) {
		unsigned int pair = half ? w->mask >> 2 * n & 3 : 3 * (w->mask >> n & 1);

		write_words(reg, lanes, w->staging + n, &word[n],
			    (pair & 1 ? 0xffffu : 0) | (pair & 2 ? 0xffff0000u : 0));
	}
}

static void write_bundle(union tsr_lanes *reg, uint16_t lanes, const struct request *w,
			 float *const rgba[4])
{
	const bool as_words = w->result == TSR_TEXTURE_RESULT_U32 ||
			      w->result == TSR_TEXTURE_RESULT_S32;
	const bool integer = tsr_format_is_integer(&w->job.view->format);

	/* gradient descriptors are words, whatever the type */
	if (w->job.operation < TSR_TEXTURE_OPERATION_FETCH || (integer && as_words)) {
		for (unsigned int c = 0; c < 4; c++) {
			if (w->mask >> c & 1)
				write_words(reg, lanes, w->staging + c, rgba[c], UINT32_MAX);
		}
	} else if (!integer && w->result < TSR_TEXTURE_RESULT_U16) {
		write_floats(reg, lanes, w, rgba);
	} else {
		write_converted(reg, lanes, w, rgba);
	}
}

/* ---- Requests -------------------------------------------------------------------------------- */

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

/* Returns true if all of @lanes have @word. */
static bool same_word(const struct tsr_msg_env *env, const union tsr_lanes *words, uint16_t lanes,
		      uint32_t word)
{
	return !(lanes & ~env->textures->path->equal(words->u, word));
}

/* The operands that are staged for texture word @t. */
static uint32_t operands_of(const struct tsr_texture_word *t)
{
	const bool explicit = t->operation == TSR_TEXTURE_OPERATION_GRADIENT_EXPLICIT;
	const bool gradient = explicit || t->operation == TSR_TEXTURE_OPERATION_GRADIENT;
	const unsigned int axes = t->dimension == TSR_TEXTURE_DIMENSION_CUBE ? 2 : t->dimension;
	const unsigned int index = t->immediate ? TSR_TEXTURE_INDEX_SHARED : t->sampler & 3;
	uint32_t o = 0;

	if (t->dimension == TSR_TEXTURE_DIMENSION_3D)
		o |= 1u << OPERAND_R;
	if (explicit)
		o |= ((1u << axes) - 1) << OPERAND_DDY0;
	if (t->operation == TSR_TEXTURE_OPERATION_FETCH ||
	    (!gradient && t->mode <= TSR_TEXTURE_LOD_BIAS))
		o |= 1u << OPERAND_LOD;
	if (t->operation == TSR_TEXTURE_OPERATION_SAMPLE && t->mode == TSR_TEXTURE_LOD_GRADIENT)
		o |= 1u << OPERAND_AXIS;
	if (t->shadow && !gradient)
		o |= 1u << OPERAND_REFERENCE;
	if (t->array)
		o |= 1u << OPERAND_LAYER;
	if (t->offset && !gradient)
		o |= 1u << OPERAND_OFFSETS;
	if (index == TSR_TEXTURE_INDEX_STAGED_SAMPLER || index == TSR_TEXTURE_INDEX_STAGED)
		o |= 1u << OPERAND_SAMPLER;
	if (index == TSR_TEXTURE_INDEX_STAGED_TEXTURE || index == TSR_TEXTURE_INDEX_STAGED)
		o |= 1u << OPERAND_TEXTURE;
	return o;
}

/* Decode texture word @word. Returns false if it is malformed or asks for layers of a volume. */
static bool word_bundle(struct tsr_msg_env *env, uint32_t word, struct request *w)
{
	uint64_t wide = word;
	struct tsr_texture_word t;

	tsr_unpack_texture_word(&wide, &t);
	if (!tsr_texture_word_is_good(&t) ||
	    (t.dimension == TSR_TEXTURE_DIMENSION_3D && t.array))
		return false;
	*w = (struct request){
		.job = {
			.env = env, .texture = t.texture,
			.sampler = t.immediate ? t.sampler : t.texture,
			.operation = t.operation, .mode = t.mode, .dimension = t.dimension,
			.shadow = t.shadow, .offset = t.offset,
		},
		.result = t.result, .mask = t.mask, .packed = true,
		.operands = operands_of(&t),
	};
	w->faces = t.dimension == TSR_TEXTURE_DIMENSION_CUBE &&
		   t.operation != TSR_TEXTURE_OPERATION_GRADIENT_EXPLICIT &&
		   !(t.operation == TSR_TEXTURE_OPERATION_FETCH &&
		     t.mode == TSR_TEXTURE_FETCH_TEXEL);
	return true;
}

bool tsr_texture_word_staging(uint32_t word, struct tsr_texture_staging *staging)
{
	struct request w;

	if (tsr_texture_word_is_dual(word) || !word_bundle(NULL, word, &w))
		return false;
	staging->reads = (uint16_t)((1u << staged(&w, OPERANDS)) - 1);
	staging->writes = 0;
	for (unsigned int c = 0; c < 4; c++) {
		const bool half = is_half(w.result) &&
				  w.job.operation >= TSR_TEXTURE_OPERATION_FETCH;
		const unsigned int pair = w.mask >> (c & 2) & 3;

		if (!(w.mask >> c & 1))
			continue;
		staging->writes |= (uint16_t)(1u << (half ? c / 2 : c));
		if (half && pair != 3)
			staging->reads |= (uint16_t)(1u << c / 2);
	}
	return true;
}

/* Decode TEXS_2D or, with @cube, TEXS_CUBE. */
static void compact_bundle(struct tsr_msg_env *env, const struct tsr_insn *insn, bool cube,
			   struct request *w)
{
	bool f32 = insn->op == TSR_OP_ADD_TEXS_2D_F32 || insn->op == TSR_OP_ADD_TEXS_CUBE_F32;

	*w = (struct request){
		.job = {
			.env = env, .texture = insn->imm[TSR_IMM_TEXTURE_INDEX],
			.sampler = insn->imm[TSR_IMM_SAMPLER_INDEX],
			.operation = TSR_TEXTURE_OPERATION_SAMPLE,
			.dimension = cube ? TSR_TEXTURE_DIMENSION_CUBE : TSR_TEXTURE_DIMENSION_2D,
			.mode = !cube && insn->mod[TSR_MOD_LOD_MODE] == TSR_LOD_MODE_ZERO_LOD
				? TSR_TEXTURE_LOD_ZERO : TSR_TEXTURE_LOD_COMPUTED,
		},
		.result = f32 ? TSR_TEXTURE_RESULT_F32 : TSR_TEXTURE_RESULT_F16, .mask = 0xf,
		.faces = cube,
	};
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
	union tsr_lanes staged[OPERAND_SAMPLER][TSR_BUNDLE_WARPS];
	uint8_t face[TSR_BUNDLE_WARPS][TSR_WARP_LANES];
	uint16_t lanes[TSR_BUNDLE_WARPS];
	union tsr_lanes rgba[4][TSR_BUNDLE_WARPS];
};

/* Take the operands of warp @w, number @i. */
static void gather(struct gathered *g, unsigned int i, const struct tsr_msg_bundle *b,
		   unsigned int w, const struct request *what)
{
	g->s[i] = *source_of(b, w, 0);
	g->t[i] = *source_of(b, w, 1);
	for (unsigned int o = 0; o < OPERAND_SAMPLER; o++) {
		if (has(what, o))
			g->staged[o][i] = *tsr_msg_bundle_staging(b, w, staged(what, o));
	}
	if (what->faces)
		read_faces(source_of(b, w, 0), what->packed ? NULL : source_of(b, w, 2), g->s[i].f,
			   g->face[i]);
}

/* Returns true if a bundle's results overwrite coordinates of @warps warps. */
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
 * True if @warps warps of @b from number @w on have their coordinates one after the other, are
 * written as a whole, and want nothing that is staged.
 */
static bool are_plain(const struct tsr_msg_bundle *b, unsigned int w, unsigned int warps,
		      const struct request *what)
{
	if (what->operands || what->faces || tsr_format_is_integer(&what->job.view->format) ||
	    what->job.operation != TSR_TEXTURE_OPERATION_SAMPLE ||
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
	tsr_lanes_hold_anything(rgba, sizeof(rgba));
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
	struct tsr_texture_bundle samples;

	/* member by member: compilers clear so large an initializer by a slow string instruction */
	samples.warps = warps;
	samples.lanes = &b->lanes[w];
	samples.s = source_of(b, w, 0);
	samples.t = source_of(b, w, 1);
	samples.r = samples.layer = samples.lod = samples.axis = NULL;
	samples.reference = samples.offsets = NULL;
	samples.ddy[0] = samples.ddy[1] = samples.ddy[2] = NULL;
	samples.face = NULL;
	if (what->result == TSR_TEXTURE_RESULT_F16)
		*done = as_halves(b, w, what, &samples);
	else if (what->result == TSR_TEXTURE_RESULT_F32 && in_place(b, w, &samples))
		*done = tsr_texture_bundle(&what->job, &samples);
	else
		return false;
	return true;
}

/* The word of an operand that has to be the same in all lanes; false: it is not in warp @w. */
static bool same_operand(const struct tsr_msg_bundle *b, unsigned int w, const struct request *what,
			 enum operand o, uint32_t word)
{
	return !has(what, o) ||
	       same_word(what->job.env, tsr_msg_bundle_staging(b, w, staged(what, o)), b->lanes[w],
			 word);
}

/* Take the indices that are staged, of the first lane of warp @w. */
static void find_indices(const struct tsr_msg_bundle *b, unsigned int w, struct request *what)
{
	const unsigned int lane = (unsigned int)__builtin_ctz(b->lanes[w]);

	if (!what->operands)
		return;
	if (has(what, OPERAND_SAMPLER))
		what->job.sampler = tsr_msg_bundle_staging(
			b, w, staged(what, OPERAND_SAMPLER))->u[lane];
	if (has(what, OPERAND_TEXTURE))
		what->job.texture = tsr_msg_bundle_staging(
			b, w, staged(what, OPERAND_TEXTURE))->u[lane];
}

/* How many warps from number @first on have lanes and ask for @word, if there is one. */
static unsigned int count_alike(const struct tsr_msg_bundle *b, unsigned int first,
				const uint32_t *word, const struct request *what)
{
	unsigned int i;

	for (i = first; i < b->warps; i++) {
		unsigned int w = b->warp[i];

		if (!b->lanes[w] ||
		    (word && !same_word(what->job.env, source_of(b, w, 2), b->lanes[w], *word)) ||
		    !same_operand(b, w, what, OPERAND_SAMPLER, what->job.sampler) ||
		    !same_operand(b, w, what, OPERAND_TEXTURE, what->job.texture))
			break;
	}
	return i - first;
}

/*
 * Do @count warps from number @first on, with results that are copied to registers in the end;
 * returns how many have been done. Operands are copied, too, unless warps follow one another.
 */
static unsigned int by_copies(const struct tsr_msg_bundle *b, unsigned int first,
			      unsigned int count, struct request *w)
{
	const unsigned int warp = b->warp[first];
	const bool row = warp + count - 1 == b->warp[first + count - 1] && !w->faces &&
			 b->src_step[0] == 1 && b->src_step[1] == 1;
	struct gathered g;
#define STAGED(o) (!has(w, o) ? NULL : row ? tsr_msg_bundle_staging(b, warp, staged(w, o)) \
					   : g.staged[o])
	const struct tsr_texture_bundle samples = {
		.warps = count, .lanes = row ? &b->lanes[warp] : g.lanes,
		.s = row ? source_of(b, warp, 0) : g.s, .t = row ? source_of(b, warp, 1) : g.t,
		.r = STAGED(OPERAND_R),
		.face = w->faces ? g.face : NULL, .layer = STAGED(OPERAND_LAYER),
		.lod = STAGED(OPERAND_LOD), .axis = STAGED(OPERAND_AXIS),
		.reference = STAGED(OPERAND_REFERENCE), .offsets = STAGED(OPERAND_OFFSETS),
		.ddy = { STAGED(OPERAND_DDY0), STAGED(OPERAND_DDY1), STAGED(OPERAND_DDY2) },
		.rgba = { g.rgba[0], g.rgba[1], g.rgba[2], g.rgba[3] },
	};
#undef STAGED
	unsigned int done;

	tsr_lanes_hold_anything(&g, sizeof(g));
	for (unsigned int i = 0; i < count && !row; i++) {
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
	unsigned int count, done;

	w->staging = b->staging;
	if (!b->lanes[b->warp[first]] || !w->job.env->textures->path)
		return first;
	find_indices(b, b->warp[first], w);
	count = count_alike(b, first, word, w);
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
