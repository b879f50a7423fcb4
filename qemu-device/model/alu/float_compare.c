/* SPDX-License-Identifier: MIT */
/*
 * Order: comparisons, selections, minima and maxima, faces of a cube.
 */
#include "float_ops.h"

static bool is_nan(uint32_t x)
{
	return (x & 0x7fffffff) > TSR_F32_INF;
}

/* Integers in the total order of the floats: -NaN, -inf, …, -0, +0, …, +inf, +NaN. */
static int32_t order(uint32_t x)
{
	return (int32_t)(x >> 31 ? x ^ 0x7fffffff : x);
}

bool tsr_float_compare(unsigned int cmpf, uint32_t a, uint32_t b)
{
	int32_t x = order(a), y = order(b);

	if (cmpf == TSR_CMPF_TOTAL)
		return x < y;
	if (is_nan(a) || is_nan(b))
		return cmpf == TSR_CMPF_NE;
	/* 0 and -0 */
	if (!((a | b) & 0x7fffffff))
		x = y;
	switch (cmpf) {
	case TSR_CMPF_EQ:
		return x == y;
	case TSR_CMPF_GT:
		return x > y;
	case TSR_CMPF_GE:
		return x >= y;
	case TSR_CMPF_LT:
		return x < y;
	case TSR_CMPF_LE:
		return x <= y;
	default:
		return x != y; /* NE, and GTLT of what can be compared */
	}
}

/* Which of two floats, given as 32-bit bits: 0 or 1. NaN only if the result is to be NaN. */
static unsigned int choose(const struct tsr_uop *uop, uint32_t a, uint32_t b)
{
	unsigned int op = uop->insn->op;
	bool max = op == TSR_OP_ADD_FMAX_F32 || op == TSR_OP_ADD_FMAX_V2F16;

	switch (uop->insn->mod[TSR_MOD_SEM]) {
	case TSR_SEM_C: /* a > b ? a : b, as C has it */
		return !tsr_float_compare(max ? TSR_CMPF_GT : TSR_CMPF_LT, a, b);
	case TSR_SEM_INVERSE_C: /* a < b ? b : a */
		return tsr_float_compare(max ? TSR_CMPF_LT : TSR_CMPF_GT, a, b);
	case TSR_SEM_NAN_PROPAGATE:
		if (is_nan(a) || is_nan(b))
			return !is_nan(a);
		break;
	default:
		if (is_nan(a) || is_nan(b))
			return is_nan(a);
	}
	return max ? order(b) > order(a) : order(b) < order(a);
}

uint32_t tsr_float_min_max(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	uint32_t x[2] = { tsr_float_source(uop, 0, src[0]), tsr_float_source(uop, 1, src[1]) };

	(void)pair;
	return tsr_float_pack(uop, tsr_real_unpack(x[choose(uop, x[0], x[1])], TSR_F32, &uop->mode),
			      TSR_F32);
}

static uint32_t min_max_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	uint32_t x[2] = { tsr_float_half_source(uop, 0, src[0], half),
			  tsr_float_half_source(uop, 1, src[1], half) };
	unsigned int which = choose(uop, tsr_float_widened(x[0]), tsr_float_widened(x[1]));

	return tsr_float_pack(uop, tsr_real_unpack(x[which], TSR_F16, &uop->mode), TSR_F16);
}

uint32_t tsr_float_min_max_half(const struct tsr_uop *uop, const uint32_t src[4],
				const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, min_max_half);
}

uint32_t tsr_float_cmp(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	static const uint32_t truth[] = { 1, TSR_F32_ONE, ~0u, 1 };

	(void)pair;
	if (!tsr_float_compare(uop->insn->mod[TSR_MOD_CMPF], tsr_float_source(uop, 0, src[0]),
			       tsr_float_source(uop, 1, src[1])))
		return 0;
	return truth[uop->insn->mod[TSR_MOD_RESULT_TYPE] & 3];
}

static bool compare_half(const struct tsr_uop *uop, uint32_t a, uint32_t b)
{
	return tsr_float_compare(uop->insn->mod[TSR_MOD_CMPF], tsr_float_widened(a),
				 tsr_float_widened(b));
}

static uint32_t cmp_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	static const uint32_t truth[] = { 1, TSR_F16_ONE, 0xffff, 1 };

	if (!compare_half(uop, tsr_float_half_source(uop, 0, src[0], half),
			  tsr_float_half_source(uop, 1, src[1], half)))
		return 0;
	return truth[uop->insn->mod[TSR_MOD_RESULT_TYPE] & 3];
}

uint32_t tsr_float_cmp_half(const struct tsr_uop *uop, const uint32_t src[4],
			    const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, cmp_half);
}

uint32_t tsr_float_csel(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_compare(uop->insn->mod[TSR_MOD_CMPF], tsr_float_source(uop, 0, src[0]),
				 tsr_float_source(uop, 1, src[1]))
		       ? src[2]
		       : src[3];
}

/* CSEL.v2f16 has no swizzles. */
static uint32_t csel_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	uint32_t x[2];

	for (unsigned int n = 0; n < 2; n++) {
		x[n] = src[n] >> 16 * half & 0xffff;
		if (!(x[n] & 0x7c00) && tsr_float_flush_in(&uop->mode, TSR_F16))
			x[n] &= 0x8000;
	}
	return src[compare_half(uop, x[0], x[1]) ? 2 : 3] >> 16 * half;
}

uint32_t tsr_float_csel_half(const struct tsr_uop *uop, const uint32_t src[4],
			     const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, csel_half);
}

/* All ones where the thread is discarded. */
uint32_t tsr_float_discard(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_compare(uop->insn->mod[TSR_MOD_CMPF], tsr_float_source(uop, 0, src[0]),
				 tsr_float_source(uop, 1, src[1]))
		       ? ~0u
		       : 0;
}

/* The largest of |x|, |y|, |z|; NaN only when all are. */
uint32_t tsr_float_cubeface1(const struct tsr_uop *uop, const uint32_t src[4],
			     const uint32_t pair[3])
{
	uint32_t largest = 0x7fffffff;

	(void)pair;
	for (unsigned int n = 0; n < 3; n++) {
		uint32_t x = tsr_float_source(uop, n, src[n]) & 0x7fffffff;

		if (!is_nan(x) && (is_nan(largest) || x > largest))
			largest = x;
	}
	return tsr_float_pack_plain(uop, tsr_real_unpack(largest, TSR_F32, &uop->mode), TSR_F32);
}

/*
 * The face (+x, -x, +y, -y, +z, -z) in bits 31:29, of the coordinates that CUBEFACE1 in the same
 * tuple has: of equal magnitudes z counts before y before x. A NaN is never the largest.
 */
uint32_t tsr_float_cubeface2(const struct tsr_uop *uop, const uint32_t src[4],
			     const uint32_t pair[3])
{
	struct tsr_uop one = { .insn = uop->pair_insn, .mode = uop->mode };
	unsigned int axis = 2;
	uint32_t x[3];

	(void)src;
	for (unsigned int n = 0; n < 3; n++)
		x[n] = tsr_float_source(&one, n, pair[n]);
	for (unsigned int n = 2; n-- > 0;) {
		uint32_t mine = x[n] & 0x7fffffff, best = x[axis] & 0x7fffffff;

		if (!is_nan(mine) && (is_nan(best) || mine > best))
			axis = n;
	}
	return (2 * axis + tsr_float_compare(TSR_CMPF_LT, x[axis], 0)) << 29;
}

/*
 * s before the division: -z, z, x, x, x, -x. Sources z, x, face; faces 6 and 7 do not exist and
 * give 0.
 */
uint32_t tsr_float_cube_ssel(const struct tsr_uop *uop, const uint32_t src[4],
			     const uint32_t pair[3])
{
	unsigned int face = src[2] >> 29;
	unsigned int n = face >= 2;
	uint32_t flip = (face == 0 || face == 5) ^ uop->insn->mod[TSR_MOD_NEG0 + n];

	(void)pair;
	return face > 5 ? 0 : src[n] ^ flip << 31;
}

/* t: -y, -y, z, -z, -y, -y. Sources y, z, face. */
uint32_t tsr_float_cube_tsel(const struct tsr_uop *uop, const uint32_t src[4],
			     const uint32_t pair[3])
{
	unsigned int face = src[2] >> 29;
	unsigned int n = face == 2 || face == 3;
	uint32_t flip = (face != 2) ^ uop->insn->mod[TSR_MOD_NEG0 + n];

	(void)pair;
	return face > 5 ? 0 : src[n] ^ flip << 31;
}
