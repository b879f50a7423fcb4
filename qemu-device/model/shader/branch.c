/* SPDX-License-Identifier: MIT */
/*
 * Conditions are evaluated lane by lane from an operand prepared as its type says; the common ones,
 * an integer or half of one against zero, have a function of their own.
 */
#include "branch.h"
#include "alu/float_ops.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define ALL_LANES ((1u << TSR_WARP_LANES) - 1)

/* How the operands of a condition are to be read. */
enum type {
	TYPE_SIGNED,
	TYPE_UNSIGNED,
	TYPE_FLOAT,			/* halves name themselves by their widening */
};

/* tsr_uop.param */
enum {
	PARAM_TYPE,
	PARAM_COMPARE,			/* enum tsr_mod_cmpf */
	PARAM_DYNAMIC,			/* targets are to be written */
	PARAM_TARGET,			/* which source the target is */
};

static const union tsr_lanes *operand(const struct tsr_uop *uop, const struct tsr_alu_state *state,
				      unsigned int i, unsigned int w)
{
	const struct tsr_operand *o = &uop->src[i];

	return &state->space[o->space][o->index + o->step * w];
}

static struct tsr_branch *result(struct tsr_alu_state *state)
{
	return &((struct tsr_lane_state *)state)->branch;
}

/* The targets, where they may differ. */
static void write_targets(const struct tsr_uop *uop, struct tsr_alu_state *state, unsigned int w)
{
	if (uop->param[PARAM_DYNAMIC])
		result(state)->target[w] = *operand(uop, state, uop->param[PARAM_TARGET], w);
}

/* A source as an integer, widened as its modifier (enum tsr_mod_widen) says. */
static int64_t integer(const struct tsr_uop *uop, unsigned int n, uint32_t word)
{
	unsigned int widen = uop->insn->mod[TSR_MOD_WIDEN0 + n];
	uint32_t half = widen == TSR_WIDEN_H1 ? word >> 16 : word & 0xffff;

	if (uop->param[PARAM_TYPE] == TYPE_SIGNED)
		return widen ? (int16_t)half : (int32_t)word;
	return widen ? half : word;
}

static bool integers_compare(unsigned int compare, int64_t a, int64_t b)
{
	switch (compare) {
	case TSR_CMPF_EQ:
		return a == b;
	case TSR_CMPF_GT:
		return a > b;
	case TSR_CMPF_GE:
		return a >= b;
	case TSR_CMPF_NE:
		return a != b;
	case TSR_CMPF_LT:
		return a < b;
	default:
		return a <= b;
	}
}

/* Lanes in which a word of @v has none of the bits @bits. */
#ifdef __SSE2__
static unsigned int lanes_clear(const union tsr_lanes *v, uint32_t bits)
{
	const __m128i *in = (const __m128i *)v, some = _mm_set1_epi32(bits);
	const __m128i zero = _mm_setzero_si128();
	const __m128i a = _mm_cmpeq_epi32(_mm_and_si128(in[0], some), zero);
	const __m128i b = _mm_cmpeq_epi32(_mm_and_si128(in[1], some), zero);
	const __m128i c = _mm_cmpeq_epi32(_mm_and_si128(in[2], some), zero);
	const __m128i d = _mm_cmpeq_epi32(_mm_and_si128(in[3], some), zero);

	return _mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
}
#else
static unsigned int lanes_clear(const union tsr_lanes *v, uint32_t bits)
{
	unsigned int lanes = 0;

	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		lanes |= (unsigned int)!(v->u[l] & bits) << l;
	return lanes;
}
#endif

/* True if the condition is one of whole floats, which floats_compare() evaluates. */
static bool is_float_words(const struct tsr_uop *uop)
{
	return uop->param[PARAM_TYPE] == TYPE_FLOAT &&
	       uop->param[PARAM_COMPARE] != TSR_CMPF_TOTAL &&
	       uop->insn->mod[TSR_MOD_WIDEN0] == TSR_WIDEN_NONE &&
	       uop->insn->mod[TSR_MOD_WIDEN1] == TSR_WIDEN_NONE;
}

/* Sources @v, number @n, as tsr_float_source() has them, in an order in which integers compare. */
static void float_words(const struct tsr_uop *uop, unsigned int n, const union tsr_lanes *v,
			union tsr_lanes *to, union tsr_lanes *nan)
{
	const uint32_t sign = 0x80000000, keep = uop->insn->mod[TSR_MOD_ABS0 + n] ? ~sign : ~0u;
	const uint32_t flip = uop->insn->mod[TSR_MOD_NEG0 + n] ? sign : 0;
	const uint32_t least = tsr_float_flush_in(&uop->mode, TSR_F32) ? 0x00800000 : 1;

	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		const uint32_t word = (v->u[l] & keep) ^ flip, size = word & ~sign;

		/* 0 and -0 are the same, and what is flushed is one of them */
		to->s[l] = size < least ? 0 : word & sign ? -(int32_t)size : (int32_t)size;
		nan->u[l] |= size > TSR_F32_INF ? ~0u : 0;
	}
}

/* Lanes in which the condition holds for @a and @b. */
static unsigned int floats_compare(const struct tsr_uop *uop, const union tsr_lanes *a,
				   const union tsr_lanes *b)
{
	const unsigned int compare = uop->param[PARAM_COMPARE];
	union tsr_lanes x, y, nan = { { 0 } }, less, differ;
	unsigned int lt, ne, unordered;

	float_words(uop, 0, a, &x, &nan);
	float_words(uop, 1, b, &y, &nan);
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		less.u[l] = x.s[l] < y.s[l] ? ~0u : 0;
		differ.u[l] = x.u[l] ^ y.u[l];
	}
	lt = ~lanes_clear(&less, ~0u) & ALL_LANES;
	ne = ~lanes_clear(&differ, ~0u) & ALL_LANES;
	unordered = ~lanes_clear(&nan, ~0u) & ALL_LANES;
	switch (compare) {
	case TSR_CMPF_EQ:
		return ~ne & ~unordered & ALL_LANES;
	case TSR_CMPF_GT:
		return ne & ~lt & ~unordered;
	case TSR_CMPF_GE:
		return ~lt & ~unordered & ALL_LANES;
	case TSR_CMPF_LT:
		return lt & ~unordered;
	case TSR_CMPF_LE:
		return (lt | ~ne) & ~unordered & ALL_LANES;
	case TSR_CMPF_NE:
		return ne | unordered;
	default:
		return ne & ~unordered;
	}
}

/* The condition for one thread. */
static bool holds(const struct tsr_uop *uop, uint32_t a, uint32_t b)
{
	unsigned int compare = uop->param[PARAM_COMPARE];

	if (uop->param[PARAM_TYPE] == TYPE_FLOAT)
		return tsr_float_compare(compare, tsr_float_source(uop, 0, a),
					 tsr_float_source(uop, 1, b));
	return integers_compare(compare, integer(uop, 0, a), integer(uop, 1, b));
}

/* BRANCH: two operands. */
static void branch_compare(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	for (unsigned int i = 0; i < state->warps; i++) {
		unsigned int w = state->warp[i];
		const union tsr_lanes *a = operand(uop, state, 0, w);
		const union tsr_lanes *b = operand(uop, state, 1, w);
		unsigned int taken = 0;

		if (is_float_words(uop))
			taken = floats_compare(uop, a, b);
		for (unsigned int l = 0; l < TSR_WARP_LANES && !is_float_words(uop); l++)
			taken |= (unsigned int)holds(uop, a->u[l], b->u[l]) << l;
		result(state)->taken[w] = taken;
		write_targets(uop, state, w);
	}
}

/* BRANCHZ: against zero, which is the same word in every type. */
static void branch_zero(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	for (unsigned int i = 0; i < state->warps; i++) {
		unsigned int w = state->warp[i];
		const union tsr_lanes *a = operand(uop, state, 0, w);
		unsigned int taken = 0;

		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			taken |= (unsigned int)holds(uop, a->u[l], 0) << l;
		result(state)->taken[w] = taken;
		write_targets(uop, state, w);
	}
}

/* BRANCHZ.i16 and .i32: bits keep[0] of the source are zero, or (flip[0]) are not. */
static void branch_bits(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	const union tsr_lanes *v = operand(uop, state, 0, 0);
	const unsigned int step = uop->src[0].step, flip = uop->flip[0];
	const uint32_t some = uop->keep[0];
	struct tsr_branch *branch = result(state);

	for (unsigned int i = 0; i < state->warps; i++) {
		unsigned int w = state->warp[i];

		branch->taken[w] = lanes_clear(v + step * w, some) ^ flip;
	}
	for (unsigned int i = 0; uop->param[PARAM_DYNAMIC] && i < state->warps; i++)
		write_targets(uop, state, state->warp[i]);
}

static void branch_always(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	for (unsigned int i = 0; i < state->warps; i++) {
		unsigned int w = state->warp[i];

		result(state)->taken[w] = 0xffff;
		write_targets(uop, state, w);
	}
}

static uint32_t half_bits(unsigned int widen)
{
	switch (widen) {
	case TSR_WIDEN_H0:
		return 0x0000ffff;
	case TSR_WIDEN_H1:
		return 0xffff0000;
	default:
		return 0xffffffff;
	}
}

bool tsr_branch_is(uint16_t op)
{
	switch (op) {
	case TSR_OP_ADD_BRANCH_F16:
	case TSR_OP_ADD_BRANCH_F32:
	case TSR_OP_ADD_BRANCH_I16:
	case TSR_OP_ADD_BRANCH_I32:
	case TSR_OP_ADD_BRANCH_S16:
	case TSR_OP_ADD_BRANCH_S32:
	case TSR_OP_ADD_BRANCH_U16:
	case TSR_OP_ADD_BRANCH_U32:
	case TSR_OP_ADD_BRANCHZ_F16:
	case TSR_OP_ADD_BRANCHZ_F32:
	case TSR_OP_ADD_BRANCHZ_I16:
	case TSR_OP_ADD_BRANCHZ_I32:
	case TSR_OP_ADD_BRANCHZ_S16:
	case TSR_OP_ADD_BRANCHZ_S32:
	case TSR_OP_ADD_BRANCHZ_U16:
	case TSR_OP_ADD_BRANCHZ_U32:
	case TSR_OP_ADD_JUMP:
		return true;
	default:
		return false;
	}
}

/* The function of a comparison of that type. */
static tsr_uop_fn *comparison(struct tsr_uop *uop, enum type type, bool two)
{
	uop->param[PARAM_TYPE] = type;
	uop->param[PARAM_COMPARE] = uop->insn->mod[TSR_MOD_CMPF];
	return two ? branch_compare : branch_zero;
}

static tsr_uop_fn *bits(struct tsr_uop *uop)
{
	uop->keep[0] = half_bits(uop->insn->mod[TSR_MOD_WIDEN0]);
	uop->flip[0] = uop->insn->mod[TSR_MOD_CMPF] == TSR_CMPF_EQ ? 0 : 0xffff;
	return branch_bits;
}

static tsr_uop_fn *function(struct tsr_uop *uop)
{
	switch (uop->insn->op) {
	case TSR_OP_ADD_BRANCH_F16:
	case TSR_OP_ADD_BRANCH_F32:
		return comparison(uop, TYPE_FLOAT, true);
	case TSR_OP_ADD_BRANCH_S16:
	case TSR_OP_ADD_BRANCH_S32:
		return comparison(uop, TYPE_SIGNED, true);
	case TSR_OP_ADD_BRANCH_I16:
	case TSR_OP_ADD_BRANCH_I32:
	case TSR_OP_ADD_BRANCH_U16:
	case TSR_OP_ADD_BRANCH_U32:
		return comparison(uop, TYPE_UNSIGNED, true);
	case TSR_OP_ADD_BRANCHZ_F16:
	case TSR_OP_ADD_BRANCHZ_F32:
		return comparison(uop, TYPE_FLOAT, false);
	case TSR_OP_ADD_BRANCHZ_S16:
	case TSR_OP_ADD_BRANCHZ_S32:
		return comparison(uop, TYPE_SIGNED, false);
	case TSR_OP_ADD_BRANCHZ_U16:
	case TSR_OP_ADD_BRANCHZ_U32:
		return comparison(uop, TYPE_UNSIGNED, false);
	case TSR_OP_ADD_BRANCHZ_I16:
	case TSR_OP_ADD_BRANCHZ_I32:
		return bits(uop);
	case TSR_OP_ADD_JUMP:
		return branch_always;
	default:
		return NULL;
	}
}

/* DISCARD: threads for which the condition holds are helpers from now on. */
static void discard(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	struct tsr_lane_state *lanes = (struct tsr_lane_state *)state;

	for (unsigned int i = 0; i < state->warps; i++) {
		unsigned int w = state->warp[i];
		const union tsr_lanes *a = operand(uop, state, 0, w);
		const union tsr_lanes *b = operand(uop, state, 1, w);
		unsigned int gone = 0;

		if (is_float_words(uop))
			gone = floats_compare(uop, a, b) &
			       ~lanes_clear(&state->mask[w], ~0u) & ALL_LANES;
		for (unsigned int l = 0; l < TSR_WARP_LANES && !is_float_words(uop); l++)
			gone |= (state->mask[w].u[l] && holds(uop, a->u[l], b->u[l])) << l;
		lanes->helper[w] |= gone;
	}
}

bool tsr_discard_select(struct tsr_uop *uop)
{
	uop->param[PARAM_TYPE] = TYPE_FLOAT;
	uop->param[PARAM_COMPARE] = uop->insn->mod[TSR_MOD_CMPF];
	uop->fn = discard;
	return true;
}

bool tsr_branch_select(struct tsr_uop *uop, bool dynamic)
{
	uop->fn = function(uop);
	uop->param[PARAM_DYNAMIC] = dynamic;
	uop->param[PARAM_TARGET] = tsr_ops[uop->insn->op].num_srcs - 1u;
	return uop->fn;
}
