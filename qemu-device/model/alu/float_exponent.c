/* SPDX-License-Identifier: MIT */
/*
 * Mantissas and exponents: FREXPM, FREXPE, LDEXP, LOGB, ILOGB.
 */
#include "float_ops.h"

/*
 * The instructions NAME.f32 and NAME.v2f16, of which @of computes one number: of the source, or of
 * each of its halves.
 */
#define BOTH_WIDTHS(name, of)									\
	uint32_t tsr_float_##name(const struct tsr_uop *uop, const uint32_t src[4],		\
				  const uint32_t pair[3])					\
	{											\
		(void)pair;									\
		return of(uop, tsr_float_real(uop, 0, src[0]), TSR_F32);			\
	}											\
												\
	static uint32_t name##_of_half(const struct tsr_uop *uop, const uint32_t src[4],	\
				       unsigned int half)					\
	{											\
		return of(uop, tsr_float_half_real(uop, 0, src[0], half), TSR_F16);		\
	}											\
												\
	uint32_t tsr_float_##name##_half(const struct tsr_uop *uop, const uint32_t src[4],	\
					 const uint32_t pair[3])				\
	{											\
		(void)pair;									\
		return tsr_float_halves(uop, src, name##_of_half);				\
	}

/* floor(log2(|x|)) of a finite number */
static int32_t exponent(const struct tsr_real *x)
{
	return x->exp + 63 - __builtin_clzll(x->sig);
}

/*
 * Ranges of the mantissa: [0.5, 1) as in C; for roots [0.25, 1), x = m * 4^e; for logarithms
 * [0.75, 1.5), so that 1 is inside.
 */
int32_t tsr_real_frexp(struct tsr_real *x, enum tsr_frexp kind)
{
	int32_t e = exponent(x), result, power;

	switch (kind) {
	case TSR_FREXP_SQRT:
		result = (e + 2) >> 1;
		power = 2 * result;
		break;
	case TSR_FREXP_LOG:
		/* the highest two bits are 11: 1.5 or more */
		result = e + (x->sig << __builtin_clzll(x->sig) >> 62 == 3);
		power = result;
		break;
	default:
		result = e + 1;
		power = result;
	}
	x->exp -= power;
	return result;
}

static enum tsr_frexp kind_of(const struct tsr_insn *insn)
{
	return insn->mod[TSR_MOD_LOG]	 ? TSR_FREXP_LOG
	       : insn->mod[TSR_MOD_SQRT] ? TSR_FREXP_SQRT
					 : TSR_FREXP;
}

/* 0 for 0, infinities and NaN. The negation is of the result. */
static uint32_t frexpe(const struct tsr_uop *uop, struct tsr_real x, enum tsr_float_width width)
{
	int32_t e;

	(void)width;
	if (x.kind != TSR_REAL_FINITE)
		return 0;
	e = tsr_real_frexp(&x, kind_of(uop->insn));
	return uop->insn->mod[TSR_MOD_NEG0] ? -e : e;
}

BOTH_WIDTHS(frexpe, frexpe)

static uint32_t frexpm(const struct tsr_uop *uop, struct tsr_real x, enum tsr_float_width width)
{
	if (x.kind == TSR_REAL_FINITE)
		tsr_real_frexp(&x, kind_of(uop->insn));
	return tsr_float_pack_plain(uop, x, width);
}

BOTH_WIDTHS(frexpm, frexpm)

/* a * 2^b */
uint32_t tsr_float_ldexp(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_pack(uop, tsr_real_scale(tsr_float_real(uop, 0, src[0]), src[1]), TSR_F32);
}

static uint32_t ldexp_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	struct tsr_real x = tsr_real_unpack(src[0] >> 16 * half & 0xffff, TSR_F16, &uop->mode);

	return tsr_float_pack(uop, tsr_real_scale(x, (int16_t)(src[1] >> 16 * half)), TSR_F16);
}

uint32_t tsr_float_ldexp_half(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, ldexp_half);
}

/* IEEE 754's logB as a float: -inf for 0, +inf for infinities. */
static uint32_t log_b(const struct tsr_uop *uop, struct tsr_real x, enum tsr_float_width width)
{
	switch (x.kind) {
	case TSR_REAL_ZERO:
		x = (struct tsr_real){ .kind = TSR_REAL_INF, .negative = true };
		break;
	case TSR_REAL_INF:
		x.negative = false;
		break;
	case TSR_REAL_FINITE:
		x = tsr_real_from_int(exponent(&x));
		break;
	default:
		break;
	}
	return tsr_float_pack_plain(uop, x, width);
}

BOTH_WIDTHS(logb, log_b)

/* The exponent as an integer: the lowest for 0, the highest for infinities and NaN. */
static uint32_t ilog_b(const struct tsr_uop *uop, struct tsr_real x, enum tsr_float_width width)
{
	int32_t lowest = width == TSR_F16 ? INT16_MIN : INT32_MIN;

	(void)uop;
	switch (x.kind) {
	case TSR_REAL_ZERO:
		return lowest;
	case TSR_REAL_FINITE:
		return exponent(&x);
	default:
		return -(lowest + 1);
	}
}

BOTH_WIDTHS(ilogb, ilog_b)
