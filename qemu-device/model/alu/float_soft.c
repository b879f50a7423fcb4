/* SPDX-License-Identifier: MIT */
/*
 * Exact floating-point arithmetic in integers.
 */
#include "float_soft.h"

static const struct {
	uint8_t sig_bits; /* precision, with the implied bit */
	uint8_t sign_bit;
	int16_t exp_min; /* of the least bit of subnormals */
	int16_t exp_max; /* of the least bit of the largest numbers */
	uint32_t inf, nan, one;
} formats[] = {
	[TSR_F16] = { 11, 15, -24, 5, TSR_F16_INF, TSR_F16_NAN, TSR_F16_ONE },
	[TSR_F32] = { 24, 31, -149, 104, TSR_F32_INF, TSR_F32_NAN, TSR_F32_ONE },
};

bool tsr_float_flush_in(const struct tsr_alu_mode *mode, enum tsr_float_width width)
{
	return mode->ftz == TSR_FTZ_ALWAYS || (mode->ftz == TSR_FTZ_DX11 && width == TSR_F32);
}

bool tsr_float_flush_out(const struct tsr_alu_mode *mode, enum tsr_float_width width)
{
	return mode->ftz == TSR_FTZ_ABRUPT || tsr_float_flush_in(mode, width);
}

/* Shift right; what falls out remains as a sticky bit. */
static uint64_t shift_jam(uint64_t sig, unsigned int n)
{
	if (n == 0)
		return sig;
	if (n > 63)
		return sig != 0;
	return sig >> n | ((sig << (64 - n)) != 0);
}

/* The highest bit of sig to bit 62. */
static struct tsr_real normalized(struct tsr_real x)
{
	int shift = __builtin_clzll(x.sig) - 1;

	if (shift >= 0)
		x.sig <<= shift;
	else
		x.sig = shift_jam(x.sig, 1);
	x.exp -= shift;
	return x;
}

static struct tsr_real nan_real(void)
{
	return (struct tsr_real){ .kind = TSR_REAL_NAN };
}

struct tsr_real tsr_real_unpack(uint32_t bits, enum tsr_float_width width,
				const struct tsr_alu_mode *mode)
{
	unsigned int fraction_bits = formats[width].sig_bits - 1;
	uint32_t magnitude = bits & ((1u << formats[width].sign_bit) - 1);
	uint32_t fraction = magnitude & ((1u << fraction_bits) - 1);
	int exponent = magnitude >> fraction_bits;
	struct tsr_real x = { .negative = bits >> formats[width].sign_bit & 1 };

	if (magnitude > formats[width].inf) {
		x.kind = TSR_REAL_NAN;
	} else if (magnitude == formats[width].inf) {
		x.kind = TSR_REAL_INF;
	} else if (exponent) {
		x.kind = TSR_REAL_FINITE;
		x.sig = fraction | 1u << fraction_bits;
		x.exp = formats[width].exp_min + exponent - 1;
	} else if (fraction && !tsr_float_flush_in(mode, width)) {
		x.kind = TSR_REAL_FINITE;
		x.sig = fraction;
		x.exp = formats[width].exp_min;
	}
	return x;
}

struct tsr_real tsr_real_from_int(int64_t x)
{
	return (struct tsr_real){
		.kind = x ? TSR_REAL_FINITE : TSR_REAL_ZERO,
		.negative = x < 0,
		.sig = x < 0 ? -(uint64_t)x : (uint64_t)x,
	};
}

struct tsr_real tsr_real_mul(struct tsr_real x, struct tsr_real y)
{
	struct tsr_real r = { .negative = x.negative ^ y.negative };

	if (x.kind == TSR_REAL_NAN || y.kind == TSR_REAL_NAN)
		return nan_real();
	if (x.kind == TSR_REAL_INF || y.kind == TSR_REAL_INF) {
		if (x.kind == TSR_REAL_ZERO || y.kind == TSR_REAL_ZERO)
			return nan_real();
		r.kind = TSR_REAL_INF;
	} else if (x.kind == TSR_REAL_FINITE && y.kind == TSR_REAL_FINITE) {
		/*
		 * sources are unpacked numbers of at most 24 bits, never results with a sticky bit
		 */
		r.kind = TSR_REAL_FINITE;
		r.sig = x.sig * y.sig;
		r.exp = x.exp + y.exp;
	}
	return r;
}

/*
 * Both finite. Products have 48 significant bits, the others fewer, so with their highest bit in
 * bit 62 there are 14 zeros below: a shift by up to 14 is exact, and after a longer one the sum has
 * more than 60 bits, where the sticky bit is far below any rounding.
 */
static struct tsr_real add_finite(struct tsr_real x, struct tsr_real y, unsigned int round)
{
	x = normalized(x);
	y = normalized(y);
	if (x.exp < y.exp || (x.exp == y.exp && x.sig < y.sig)) {
		struct tsr_real t = x;

		x = y;
		y = t;
	}
	y.sig = shift_jam(y.sig, x.exp - y.exp);
	if (x.negative == y.negative) {
		x.sig += y.sig;
		return x;
	}
	x.sig -= y.sig;
	if (!x.sig)
		return (struct tsr_real){ .negative = round == TSR_ROUND_RTN };
	return x;
}

struct tsr_real tsr_real_add(struct tsr_real x, struct tsr_real y, unsigned int round)
{
	if (x.kind == TSR_REAL_NAN || y.kind == TSR_REAL_NAN)
		return nan_real();
	if (x.kind == TSR_REAL_INF)
		return y.kind == TSR_REAL_INF && x.negative != y.negative ? nan_real() : x;
	if (y.kind == TSR_REAL_INF)
		return y;
	if (x.kind == TSR_REAL_ZERO && y.kind == TSR_REAL_ZERO) {
		if (x.negative != y.negative)
			x.negative = round == TSR_ROUND_RTN;
		return x;
	}
	if (x.kind == TSR_REAL_ZERO)
		return y;
	if (y.kind == TSR_REAL_ZERO)
		return x;
	return add_finite(x, y, round);
}

struct tsr_real tsr_real_scale(struct tsr_real x, int32_t scale)
{
	if (scale > TSR_SCALE_MAX)
		scale = TSR_SCALE_MAX;
	if (scale < -TSR_SCALE_MAX)
		scale = -TSR_SCALE_MAX;
	x.exp += scale;
	return x;
}

/* sig without its low @drop bits (0 to 63), rounded. */
static uint64_t round_sig(uint64_t sig, unsigned int drop, unsigned int round, bool negative)
{
	uint64_t kept, rest, half;

	if (!drop)
		return sig;
	kept = sig >> drop;
	rest = sig & ((1ull << drop) - 1);
	half = 1ull << (drop - 1);
	switch (round) {
	case TSR_ROUND_RTP:
		return kept + (rest && !negative);
	case TSR_ROUND_RTN:
		return kept + (rest && negative);
	case TSR_ROUND_RTZ:
		return kept;
	case TSR_ROUND_RTNA:
		return kept + (rest >= half);
	case TSR_ROUND_RTO:
		return kept | (rest != 0);
	default:
		return kept + (rest > half || (rest == half && (kept & 1)));
	}
}

struct tsr_real tsr_real_integral(struct tsr_real x, unsigned int round)
{
	if (x.kind != TSR_REAL_FINITE || x.exp >= 0)
		return x;
	x.sig = round_sig(x.exp < -62 ? 1 : x.sig, x.exp < -62 ? 62 : -x.exp, round, x.negative);
	x.exp = 0;
	if (!x.sig)
		x.kind = TSR_REAL_ZERO;
	return x;
}

/* The magnitude a result has that is too large. */
static uint32_t overflow(enum tsr_float_width width, unsigned int round, bool negative)
{
	bool finite = round == TSR_ROUND_RTZ || round == TSR_ROUND_RTO ||
		      (round == TSR_ROUND_RTP && negative) || (round == TSR_ROUND_RTN && !negative);

	return formats[width].inf - finite;
}

/* The magnitude of a finite number. */
static uint32_t round_finite(struct tsr_real x, const struct tsr_rounding *how)
{
	enum tsr_float_width width = how->width;
	int drop, exp_min = formats[width].exp_min;
	uint64_t sig;

	x = normalized(x);
	drop = 63 - formats[width].sig_bits;
	if (x.exp + drop < exp_min) {
		/* would it be tiny even if exponents had no bound? */
		sig = round_sig(x.sig, drop, how->round, x.negative);
		if (x.exp + drop + (int)(sig >> formats[width].sig_bits) < exp_min &&
		    tsr_float_flush_out(how->mode, width))
			return 0;
		drop = exp_min - x.exp;
		if (drop > 62) {
			x.sig = shift_jam(x.sig, drop - 62 > 63 ? 63 : drop - 62);
			drop = 62;
		}
		return round_sig(x.sig, drop, how->round, x.negative);
	}
	sig = round_sig(x.sig, drop, how->round, x.negative);
	if (x.exp + drop + (int)(sig >> formats[width].sig_bits) > formats[width].exp_max)
		return overflow(width, how->round, x.negative);
	/* the implied bit adds one to the exponent, and a carry out of the fraction one more */
	return (x.exp + drop - exp_min) * (1u << (formats[width].sig_bits - 1)) + sig;
}

static uint32_t clamped(uint32_t magnitude, bool negative, const struct tsr_rounding *how)
{
	enum tsr_float_width width = how->width;
	uint32_t sign = (uint32_t)negative << formats[width].sign_bit;
	bool nan = magnitude > formats[width].inf;

	switch (how->clamp) {
	case TSR_CLAMP_CLAMP_0_INF:
		return nan || negative ? 0 : magnitude;
	case TSR_CLAMP_CLAMP_0_1:
		if (nan || negative)
			return 0;
		return magnitude > formats[width].one ? formats[width].one : magnitude;
	case TSR_CLAMP_CLAMP_M1_1:
		if (nan)
			return 1u << formats[width].sign_bit | formats[width].one;
		return sign | (magnitude > formats[width].one ? formats[width].one : magnitude);
	default:
		return sign | magnitude;
	}
}

uint32_t tsr_real_pack(struct tsr_real x, const struct tsr_rounding *how)
{
	uint32_t magnitude = 0;

	if (x.kind == TSR_REAL_NAN) {
		x.negative = false;
		magnitude = how->mode->suppress_nan ? 0 : formats[how->width].nan;
	} else {
		if (x.kind == TSR_REAL_INF)
			magnitude = formats[how->width].inf;
		else if (x.kind == TSR_REAL_FINITE)
			magnitude = round_finite(x, how);
		if (magnitude == formats[how->width].inf && how->mode->suppress_inf)
			magnitude--;
	}
	return clamped(magnitude, x.negative, how);
}

uint32_t tsr_real_to_int(struct tsr_real x, unsigned int round, unsigned int bits, bool is_signed)
{
	uint64_t largest = (1ull << (bits - is_signed)) - 1;
	uint64_t limit = x.negative ? is_signed ? largest + 1 : 0 : largest;
	uint64_t magnitude = limit;

	if (x.kind == TSR_REAL_NAN)
		return 0;
	x = tsr_real_integral(x, round);
	if (x.kind == TSR_REAL_ZERO)
		return 0;
	if (x.kind == TSR_REAL_FINITE && x.exp < 32)
		magnitude = x.sig << x.exp;
	if (magnitude > limit)
		magnitude = limit;
	if (x.negative)
		magnitude = -magnitude;
	return bits == 32 ? (uint32_t)magnitude : (uint32_t)magnitude & ((1u << bits) - 1);
}
