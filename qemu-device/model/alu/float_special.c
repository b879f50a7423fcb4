/* SPDX-License-Identifier: MIT */
/*
 * Special functions and the tables that shaders make others from.
 *
 * Reciprocals and reciprocal roots are computed in integers and correctly rounded. Exponentials and
 * logarithms are polynomials in double precision, multiplications and additions in a fixed order
 * without contraction: the same bits on every host, far within the 2 ulp that are promised. Tables
 * hold correctly rounded values.
 */
#include "float_ops.h"

#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

static struct tsr_real nan_real(void)
{
	return (struct tsr_real){ .kind = TSR_REAL_NAN };
}

/* 1 / x for any number of at most 24 bits. */
static struct tsr_real reciprocal(struct tsr_real x)
{
	uint64_t quotient;

	switch (x.kind) {
	case TSR_REAL_ZERO:
		x.kind = TSR_REAL_INF;
		break;
	case TSR_REAL_INF:
		x.kind = TSR_REAL_ZERO;
		break;
	case TSR_REAL_FINITE:
		/* 39 bits or more of the quotient, and whether that is all */
		quotient = (1ull << 62) / x.sig;
		x.exp = -62 - x.exp;
		x.sig = quotient | (quotient * x.sig != 1ull << 62);
		break;
	default:
		break;
	}
	return x;
}

static uint64_t root(uint64_t x)
{
	uint64_t r = 0;

	for (uint64_t bit = 1ull << 31; bit; bit >>= 1) {
		if ((r | bit) * (r | bit) <= x)
			r |= bit;
	}
	return r;
}

/* 1 / sqrt(x) for any number of at most 24 bits. */
static struct tsr_real reciprocal_root(struct tsr_real x)
{
	unsigned int shift;
	uint64_t r;

	if (x.kind == TSR_REAL_NAN || (x.negative && x.kind != TSR_REAL_ZERO))
		return nan_real();
	if (x.kind != TSR_REAL_FINITE)
		return reciprocal(x);
	/* 2^86 / sig with 2^24 <= sig < 2^26: the root has 31 bits or 32 */
	shift = __builtin_clzll(x.sig) - 39;
	shift += (x.exp ^ shift) & 1;	/* the exponent that is left is even */
	x.sig <<= shift;
	x.exp -= shift;
	r = root(((unsigned __int128)1 << 86) / x.sig);
	x.sig = r | ((unsigned __int128)r * r * x.sig != (unsigned __int128)1 << 86);
	x.exp = -43 - x.exp / 2;
	return x;
}

uint32_t tsr_float_rcp(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_pack_plain(uop, reciprocal(tsr_float_real(uop, 0, src[0])), TSR_F32);
}

/* The high half of the result is 0. */
uint32_t tsr_float_rcp_half(const struct tsr_uop *uop, const uint32_t src[4],
			    const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_pack_plain(uop, reciprocal(tsr_float_lane_real(uop, src[0])), TSR_F16);
}

uint32_t tsr_float_rsq(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_pack_plain(uop, reciprocal_root(tsr_float_real(uop, 0, src[0])), TSR_F32);
}

uint32_t tsr_float_rsq_half(const struct tsr_uop *uop, const uint32_t src[4],
			    const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_pack_plain(uop, reciprocal_root(tsr_float_lane_real(uop, src[0])),
				    TSR_F16);
}

/* Reciprocal of the mantissa of FREXPM: a start for Newton's method that needs no further step. */
uint32_t tsr_float_rcp_approx(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3])
{
	struct tsr_real x = tsr_float_real(uop, 0, src[0]);

	(void)pair;
	if (x.kind == TSR_REAL_FINITE)
		tsr_real_frexp(&x, TSR_FREXP);
	return tsr_float_pack_plain(uop, reciprocal(x), TSR_F32);
}

/* Reciprocal square root of the mantissa of FREXPM.sqrt. */
uint32_t tsr_float_rsq_approx(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3])
{
	struct tsr_real x = tsr_float_real(uop, 0, src[0]);

	(void)pair;
	if (x.kind == TSR_REAL_FINITE)
		tsr_real_frexp(&x, TSR_FREXP_SQRT);
	return tsr_float_pack_plain(uop, reciprocal_root(x), TSR_F32);
}

/* A positive normal double. */
static struct tsr_real real_from_double(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return (struct tsr_real){ .kind = TSR_REAL_FINITE,
				  .sig = (bits & ((1ull << 52) - 1)) | 1ull << 52,
				  .exp = (int)(bits >> 52) - 1075 };
}

const double tsr_float_exp2_series[TSR_EXP2_TERMS] = {
	0x1p+0,
	0x1.62e42fefa39efp-1,
	0x1.ebfbdff82c58fp-3,
	0x1.c6b08d704a0c0p-5,
	0x1.3b2ab6fba4e77p-7,
	0x1.5d87fe78a6731p-10,
	0x1.430912f86c787p-13,
	0x1.ffcbfc588b0c7p-17,
	0x1.62c0223a5c824p-20,
	0x1.b5253d395e7c4p-24,
	0x1.e4cf5158b8ecap-28,
	0x1.e8cac7351bb25p-32,
};

/* 2^(i / 16) */
const double tsr_float_exp2_steps[16] = {
	0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
	0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
	0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
	0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
};

/*
 * The sum of @c[i] * x^i; even and odd terms apart, as the vector code does to wait less. @terms is
 * even.
 */
static double series(const double *c, unsigned int terms, double x)
{
	double square = x * x, even = 0, odd = 0;

	for (unsigned int i = terms; i > 0; i -= 2) {
		odd = odd * square + c[i - 1];
		even = even * square + c[i - 2];
	}
	return odd * x + even;
}

/* 2^x for |x| <= 1/2: Taylor's series, whose next term is below 2^-47. */
static double exp2_small(double x)
{
	return series(tsr_float_exp2_series, TSR_EXP2_TERMS, x);
}

/* 2^(x / 2^24) */
static struct tsr_real exp2_fixed(int64_t x)
{
	int64_t whole = (x + (1 << 23)) >> 24;
	double rest = (double)(x - whole * 0x1000000) * 0x1p-24;

	return tsr_real_scale(real_from_double(exp2_small(rest)), (int32_t)whole);
}

/*
 * 2^a with a in 8:24 fixed point. b is the same number times 2^24 as a float: it decides where a
 * has no room, for NaN, infinities, and exponents from 128 up and below -128.
 */
uint32_t tsr_float_exp(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	struct tsr_real b = tsr_float_real(uop, 1, src[1]);
	struct tsr_real x = { .kind = TSR_REAL_INF };

	(void)pair;
	if (b.kind == TSR_REAL_NAN) {
		x = b;
	} else if (b.kind == TSR_REAL_ZERO || (b.kind == TSR_REAL_FINITE && b.exp < 8)) {
		x = exp2_fixed((int32_t)src[0]);
	} else if (b.negative) {
		/*
		 * b is a whole number of at most 2^8 * 2^24 - 1 here, or the result is below every
		 * float
		 */
		if (b.kind == TSR_REAL_FINITE && b.exp < 9)
			x = exp2_fixed(-(int64_t)(b.sig << b.exp));
		else
			x = (struct tsr_real){ .kind = TSR_REAL_FINITE, .sig = 1, .exp = -1024 };
	}
	return tsr_float_pack_plain(uop, x, TSR_F32);
}

/* 2^(i / 16) */
const uint32_t tsr_float_exponentials[16] = {
	0x3f800000, 0x3f85aac3, 0x3f8b95c2, 0x3f91c3d3, 0x3f9837f0, 0x3f9ef532,
	0x3fa5fed7, 0x3fad583f, 0x3fb504f3, 0x3fbd08a4, 0x3fc5672a, 0x3fce248c,
	0x3fd744fd, 0x3fe0ccdf, 0x3feac0c7, 0x3ff5257d,
};

/* For the low four bits of the source. */
uint32_t tsr_float_exp_table(const struct tsr_uop *uop, const uint32_t src[4],
			     const uint32_t pair[3])
{
	(void)uop, (void)pair;
	return tsr_float_exponentials[src[0] & 15];
}

const double tsr_float_log2_series[TSR_LOG2_TERMS] = {
	1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19,
};

/*
 * log2(1 + d) / d for -1/4 <= d < 1/2: 2 / ln 2 * atanh(s) / d with s = d / (2 + d), whose series
 * in s^2 <= 1/25 has its first missing term below 2^-50.
 */
static double log2_slope(double d)
{
	double s = d / (2 + d);

	return TSR_TWO_OVER_LN2 / (2 + d) * series(tsr_float_log2_series, TSR_LOG2_TERMS, s * s);
}

/*
 * log2(m) / (m - 1) for the mantissa m of FREXPM.log. Times FADD_LSCALE(-1, x), plus FREXPE.log,
 * that is log2(x): so 0 and +inf give +inf, of which the sequence makes -inf and +inf.
 */
uint32_t tsr_float_logd(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	struct tsr_real x = tsr_float_real(uop, 0, src[0]);

	(void)pair;
	if (x.kind == TSR_REAL_NAN || (x.negative && x.kind != TSR_REAL_ZERO)) {
		x = nan_real();
	} else if (x.kind == TSR_REAL_FINITE) {
		tsr_real_frexp(&x, TSR_FREXP_LOG);
		/* m has at most 24 bits: what m - 1 is in units of the last is exact */
		x = real_from_double(log2_slope(
			(double)((int64_t)(x.sig << (x.exp + 62)) - (1ll << 62)) * 0x1p-62));
	} else {
		x = (struct tsr_real){ .kind = TSR_REAL_INF };
	}
	return tsr_float_pack_plain(uop, x, TSR_F32);
}

/*
 * The reduction of a logarithm: r near 1/m for the mantissa m of FREXPM.log, by the top four bits
 * of the fraction, a multiple of 1/16 so that m * r - 1 is exact; and -log(r).
 */
uint32_t tsr_float_log_table(const struct tsr_uop *uop, const uint32_t src[4],
			     const uint32_t pair[3])
{
	static const uint8_t sixteenths[16] = { 16, 15, 14, 13, 12, 12, 11, 11,
						21, 20, 19, 19, 18, 17, 17, 16 };
	static const uint32_t minus_log2[16] = {
		0,	    0x3dbeb025, 0x3e4544c0, 0x3e995ff7, 0x3ed47fcc, 0x3ed47fcc,
		0x3f0a62b0, 0x3f0a62b0, 0xbec8ddd4, 0xbea4d3c2, 0xbe7de0b6, 0xbe7de0b6,
		0xbe2e00d2, 0xbdb31fb8, 0xbdb31fb8, 0,
	};
	static const uint32_t minus_ln[16] = {
		0,	    0x3d842cc6, 0x3e08bc74, 0x3e549f6a, 0x3e934b11, 0x3e934b11,
		0x3ebfd7d2, 0x3ebfd7d2, 0xbe8b3ae5, 0xbe647fbe, 0xbe2ff984, 0xbe2ff984,
		0xbdf1383b, 0xbd785186, 0xbd785186, 0,
	};
	struct tsr_real x = tsr_float_real(uop, 0, src[0]);
	unsigned int mode = uop->insn->mod[TSR_MOD_MODE], index = 0;

	(void)pair;
	if (x.kind == TSR_REAL_FINITE)
		index = x.sig << __builtin_clzll(x.sig) >> 59 & 15;
	if (mode == TSR_MODE_RED)
		return tsr_float_pack_plain(
			uop, tsr_real_scale(tsr_real_from_int(sixteenths[index]), -4), TSR_F32);
	/* the logarithms of what has no mantissa come from here */
	if (x.kind == TSR_REAL_NAN || (x.negative && x.kind != TSR_REAL_ZERO))
		return tsr_float_pack_plain(uop, nan_real(), TSR_F32);
	if (x.kind != TSR_REAL_FINITE)
		return tsr_float_pack_plain(
			uop,
			(struct tsr_real){ .kind = TSR_REAL_INF,
					   .negative = x.kind == TSR_REAL_ZERO },
			TSR_F32);
	return mode == TSR_MODE_BASE2 ? minus_log2[index] : minus_ln[index];
}

/* sin(i * pi / 32) */
const uint32_t tsr_float_sines[64] = {
	0x00000000, 0x3dc8bd36, 0x3e47c5c2, 0x3e94a031, 0x3ec3ef15, 0x3ef15aea, 0x3f0e39da,
	0x3f226799, 0x3f3504f3, 0x3f45e403, 0x3f54db31, 0x3f61c598, 0x3f6c835e, 0x3f74fa0b,
	0x3f7b14be, 0x3f7ec46d, 0x3f800000, 0x3f7ec46d, 0x3f7b14be, 0x3f74fa0b, 0x3f6c835e,
	0x3f61c598, 0x3f54db31, 0x3f45e403, 0x3f3504f3, 0x3f226799, 0x3f0e39da, 0x3ef15aea,
	0x3ec3ef15, 0x3e94a031, 0x3e47c5c2, 0x3dc8bd36, 0x00000000, 0xbdc8bd36, 0xbe47c5c2,
	0xbe94a031, 0xbec3ef15, 0xbef15aea, 0xbf0e39da, 0xbf226799, 0xbf3504f3, 0xbf45e403,
	0xbf54db31, 0xbf61c598, 0xbf6c835e, 0xbf74fa0b, 0xbf7b14be, 0xbf7ec46d, 0xbf800000,
	0xbf7ec46d, 0xbf7b14be, 0xbf74fa0b, 0xbf6c835e, 0xbf61c598, 0xbf54db31, 0xbf45e403,
	0xbf3504f3, 0xbf226799, 0xbf0e39da, 0xbef15aea, 0xbec3ef15, 0xbe94a031, 0xbe47c5c2,
	0xbdc8bd36,
};

/* The low six bits of the source, in units of pi / 32. */
uint32_t tsr_float_sin_table(const struct tsr_uop *uop, const uint32_t src[4],
			     const uint32_t pair[3])
{
	(void)uop, (void)pair;
	return tsr_float_sines[src[0] & 63];
}

uint32_t tsr_float_cos_table(const struct tsr_uop *uop, const uint32_t src[4],
			     const uint32_t pair[3])
{
	(void)uop, (void)pair;
	return tsr_float_sines[(src[0] + 16) & 63];
}
