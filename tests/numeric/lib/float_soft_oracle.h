/* SPDX-License-Identifier: MIT */
/*
 * Instructions as operations of Berkeley SoftFloat with the modifiers of sources, flushing,
 * suppression and clamps around them. For programs that are linked with SoftFloat
 * (tests/meson.build).
 */
#ifndef TSR_FLOAT_SOFT_ORACLE_H
#define TSR_FLOAT_SOFT_ORACLE_H

#include <math.h>
#include <string.h>

/* as softfloat.mk compiles it */
#define SOFTFLOAT_FAST_INT64
#define SOFTFLOAT_ROUND_ODD
#include "softfloat.h"

#include "float_run.h"

#define ORACLE_INLINE static inline __attribute__((unused))

ORACLE_INLINE float bits_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

ORACLE_INLINE uint32_t float_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* Before an operation: no flags, tininess after rounding, the rounding mode @round. */
ORACLE_INLINE void oracle_begin(unsigned int round)
{
	static const uint_fast8_t modes[] = {
		[TSR_ROUND_NONE] = softfloat_round_near_even,
		[TSR_ROUND_RTP] = softfloat_round_max,
		[TSR_ROUND_RTN] = softfloat_round_min,
		[TSR_ROUND_RTZ] = softfloat_round_minMag,
		[TSR_ROUND_RTNA] = softfloat_round_near_maxMag,
		[TSR_ROUND_RTO] = softfloat_round_odd,
	};

	softfloat_detectTininess = softfloat_tininess_afterRounding;
	softfloat_exceptionFlags = 0;
	softfloat_roundingMode = modes[round];
}

ORACLE_INLINE unsigned int round_of(const struct float_case *c)
{
	return c->insn.mod[TSR_MOD_ROUND];
}

ORACLE_INLINE uint32_t oracle_signs(const struct float_case *c, unsigned int n, uint32_t bits,
				    uint32_t sign)
{
	if (c->insn.mod[TSR_MOD_ABS0 + n])
		bits &= ~sign;
	return c->insn.mod[TSR_MOD_NEG0 + n] ? bits ^ sign : bits;
}

ORACLE_INLINE uint16_t flushed16(const struct float_case *c, uint16_t x)
{
	return c->mode.ftz == 2 && (x & 0x7fff) < 0x0400 ? x & 0x8000 : x;
}

/* A 16-bit float with the modifiers of source @n. */
ORACLE_INLINE float16_t signed16(const struct float_case *c, unsigned int n, uint16_t x)
{
	return (float16_t){ oracle_signs(c, n, flushed16(c, x), 0x8000) };
}

/* Half @half of the pair that is source @n. */
ORACLE_INLINE float16_t half_of(const struct float_case *c, unsigned int n, uint32_t word,
				unsigned int half)
{
	static const uint8_t from[4][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 } };

	return signed16(c, n, word >> 16 * from[c->insn.mod[TSR_MOD_SWZ0 + n]][half]);
}

/* The half that lane0 names. */
ORACLE_INLINE float16_t lane_of(const struct float_case *c, uint32_t word)
{
	return signed16(c, 0, c->insn.mod[TSR_MOD_LANE0] == TSR_LANE_H1 ? word >> 16 : word);
}

/* Source @n as a 32-bit float. */
ORACLE_INLINE float32_t word_of(const struct float_case *c, unsigned int n, uint32_t word)
{
	unsigned int widen = n < 2 ? c->insn.mod[TSR_MOD_WIDEN0 + n] : 0;

	if (widen) {
		uint16_t half = flushed16(c, widen == TSR_WIDEN_H1 ? word >> 16 : word);

		/* NaNs with their payload, which SoftFloat would make quiet */
		if ((half & 0x7fff) > 0x7c00)
			word = (half & 0x8000) << 16 | 0x7f800000 | (half & 0x3ff) << 13;
		else
			word = f16_to_f32((float16_t){ half }).v;
	} else if ((word & 0x7fffffff) < 0x00800000 && (c->mode.ftz == 1 || c->mode.ftz == 2)) {
		word &= 0x80000000;
	}
	return (float32_t){ oracle_signs(c, n, word, 0x80000000) };
}

/* Flushing by the flags of the operation, the canonical NaN, suppression. */
ORACLE_INLINE uint32_t settled(const struct float_case *c, uint32_t bits, uint32_t inf,
			       uint32_t least_normal, bool flush)
{
	uint32_t sign = inf == 0x7c00 ? 0x8000 : 0x80000000, magnitude = bits & (sign - 1);

	if (magnitude > inf)
		return c->mode.suppress_nan ? 0 : inf | (inf == 0x7c00 ? 0x0200 : 0x00400000);
	if (flush &&
	    (magnitude < least_normal || (softfloat_exceptionFlags & softfloat_flag_underflow)))
		return bits & sign;
	if (magnitude == inf && c->mode.suppress_inf)
		return bits - 1;
	return bits;
}

ORACLE_INLINE double clamped(const struct float_case *c, double x)
{
	switch (c->insn.mod[TSR_MOD_CLAMP]) {
	case TSR_CLAMP_CLAMP_0_INF:
		return x > 0 ? x : 0;
	case TSR_CLAMP_CLAMP_0_1:
		return x > 1 ? 1 : x > 0 ? x : 0;
	case TSR_CLAMP_CLAMP_M1_1:
		return x > 1 ? 1 : x >= -1 ? x : -1;
	default:
		return x;
	}
}

ORACLE_INLINE uint32_t end32(const struct float_case *c, float32_t x)
{
	uint32_t bits = settled(c, x.v, 0x7f800000, 0x00800000, c->mode.ftz);

	return c->insn.mod[TSR_MOD_CLAMP] ? float_bits(clamped(c, bits_float(bits))) : bits;
}

ORACLE_INLINE uint32_t end16(const struct float_case *c, float16_t x)
{
	uint16_t bits = settled(c, x.v, 0x7c00, 0x0400, c->mode.ftz >= 2);
	double clamp;

	if (!c->insn.mod[TSR_MOD_CLAMP])
		return bits;
	clamp = clamped(c, bits_float(f16_to_f32((float16_t){ bits }).v));
	return f32_to_f16((float32_t){ float_bits(clamp) }).v;
}

/* Both halves of a result. */
#define ORACLE_HALVES(name) \
	static uint32_t name(const struct float_case *c, const uint32_t src[4]) \
	{ \
		return (name##_half(c, src, 0) & 0xffff) | name##_half(c, src, 1) << 16; \
	}

#endif
