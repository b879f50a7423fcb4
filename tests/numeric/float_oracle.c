/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=300 */
/*
 * Floating-point instructions against Berkeley SoftFloat: every operation that IEEE 754 defines, in
 * all rounding and flush modes, with random modifiers, on all combinations of special values and on
 * random ones. EXHAUSTIVE=1 tries sixteen times as many, and all values of one 16-bit source.
 */
#include "float_soft_oracle.h"
#include "ktap.h"

#define NEAREST (1u << TSR_ROUND_NONE)
#define DIRECTED (NEAREST | 1u << TSR_ROUND_RTP | 1u << TSR_ROUND_RTN | 1u << TSR_ROUND_RTZ)
#define AWAY (1u << TSR_ROUND_RTNA)
#define ODD (1u << TSR_ROUND_RTO)

#define F FLOAT_SOURCE_F32
#define H FLOAT_SOURCE_F16
#define I FLOAT_SOURCE_INT
#define SOURCES(...) ((const uint8_t[4]){ __VA_ARGS__ })

/* --- sums and products --- */

static uint32_t fma32(const struct float_case *c, const uint32_t src[4])
{
	float32_t x = word_of(c, 0, src[0]), y = word_of(c, 1, src[1]), z = word_of(c, 2, src[2]);

	oracle_begin(round_of(c));
	return end32(c, f32_mulAdd(x, y, z));
}

static uint32_t add32(const struct float_case *c, const uint32_t src[4])
{
	float32_t x = word_of(c, 0, src[0]), y = word_of(c, 1, src[1]);

	oracle_begin(round_of(c));
	return end32(c, f32_add(x, y));
}

static uint32_t fma16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	float16_t x = half_of(c, 0, src[0], half), y = half_of(c, 1, src[1], half),
		  z = half_of(c, 2, src[2], half);

	oracle_begin(round_of(c));
	return end16(c, f16_mulAdd(x, y, z));
}

static uint32_t add16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	float16_t x = half_of(c, 0, src[0], half), y = half_of(c, 1, src[1], half);

	oracle_begin(round_of(c));
	return end16(c, f16_add(x, y));
}

ORACLE_HALVES(fma16)
ORACLE_HALVES(add16)

/* x * 2^scale, exactly: no result leaves the range of 128-bit floats. */
static float128_t scaled(float128_t x, int32_t scale)
{
	bool finite = (x.v[1] & 0x7fffffffffffffff) < 0x7fff000000000000,
	     zero = !(x.v[0] | x.v[1] << 1);

	if (scale > 4000)
		scale = 4000;
	if (scale < -4000)
		scale = -4000;
	if (finite && !zero)
		x.v[1] += (uint64_t)(int64_t)scale << 48;
	return x;
}

static bool is_zero(float128_t x)
{
	return !(x.v[0] | x.v[1] << 1);
}

static bool is_inf(float128_t x)
{
	return x.v[1] << 1 == 0xfffe000000000000 && !x.v[0];
}

/* x * y + z rounded to odd, with the rules of special for the product. */
static float128_t special_fma(float128_t x, float128_t y, float128_t z, unsigned int special)
{
	uint64_t sign = (x.v[1] ^ y.v[1]) & 0x8000000000000000;
	float128_t product = x;

	oracle_begin(TSR_ROUND_RTO);
	if (special == TSR_SPECIAL_N && (is_zero(x) || is_zero(y)))
		product = (float128_t){ .v = { 0, sign } };
	else if (special == TSR_SPECIAL_LEFT &&
		 ((is_zero(x) && is_inf(y)) || (is_inf(x) && is_zero(y))))
		product.v[1] = (x.v[1] & 0x7fffffffffffffff) | sign;
	else
		return f128_mulAdd(x, y, z);
	return f128_add(product, z);
}

static uint32_t fma_rscale32(const struct float_case *c, const uint32_t src[4])
{
	float128_t x = special_fma(
		f32_to_f128(word_of(c, 0, src[0])), f32_to_f128(word_of(c, 1, src[1])),
		f32_to_f128(word_of(c, 2, src[2])), c->insn.mod[TSR_MOD_SPECIAL]);

	oracle_begin(round_of(c));
	return end32(c, f128_to_f32(scaled(x, src[3])));
}

static uint32_t fma_rscale16_half(const struct float_case *c, const uint32_t src[4],
				  unsigned int half)
{
	float128_t x[3];

	for (unsigned int n = 0; n < 3; n++)
		x[n] = f16_to_f128(signed16(c, n, src[n] >> 16 * half));
	x[0] = special_fma(x[0], x[1], x[2], c->insn.mod[TSR_MOD_SPECIAL]);
	oracle_begin(round_of(c));
	return end16(c, f128_to_f16(scaled(x[0], (int16_t)(src[3] >> 16 * half))));
}

ORACLE_HALVES(fma_rscale16)

static uint32_t add_rscale32(const struct float_case *c, const uint32_t src[4])
{
	float128_t x;

	oracle_begin(TSR_ROUND_RTO);
	x = f128_add(f32_to_f128(word_of(c, 0, src[0])), f32_to_f128(word_of(c, 1, src[1])));
	oracle_begin(round_of(c));
	return end32(c, f128_to_f32(scaled(x, src[2])));
}

static uint32_t ldexp32(const struct float_case *c, const uint32_t src[4])
{
	oracle_begin(round_of(c));
	return end32(c, f128_to_f32(scaled(f32_to_f128(word_of(c, 0, src[0])), src[1])));
}

static uint32_t ldexp16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	float128_t x = f16_to_f128(signed16(c, 0, src[0] >> 16 * half));

	oracle_begin(round_of(c));
	return end16(c, f128_to_f16(scaled(x, (int16_t)(src[1] >> 16 * half))));
}

ORACLE_HALVES(ldexp16)

static void test_arithmetic(void)
{
	float_run_modes(TSR_OP_FMA_FMA_F32, SOURCES(F, F, F), DIRECTED, fma32);
	float_run_modes(TSR_OP_FMA_FADD_F32, SOURCES(F, F), DIRECTED, add32);
	float_run_modes(TSR_OP_ADD_FADD_F32, SOURCES(F, F), DIRECTED | ODD, add32);
	float_run_modes(TSR_OP_FMA_FMA_V2F16, SOURCES(H, H, H), DIRECTED, fma16);
	float_run_modes(TSR_OP_FMA_FADD_V2F16, SOURCES(H, H), DIRECTED, add16);
	float_run_modes(TSR_OP_ADD_FADD_V2F16, SOURCES(H, H), DIRECTED, add16);
}

static void test_scaled(void)
{
	float_run_modes(TSR_OP_FMA_FMA_RSCALE_F32, SOURCES(F, F, F, FLOAT_SOURCE_SCALE),
			NEAREST | 1u << TSR_ROUND_RTZ, fma_rscale32);
	/* of zeros only, as programs have it */
	float_run_modes(TSR_OP_FMA_FMA_RSCALE_F32,
			SOURCES(F, F, FLOAT_SOURCE_NONE, FLOAT_SOURCE_SCALE), NEAREST,
			fma_rscale32);
	float_run_modes(TSR_OP_FMA_FMA_RSCALE_V2F16, SOURCES(H, H, H, FLOAT_SOURCE_SCALES),
			NEAREST | 1u << TSR_ROUND_RTZ, fma_rscale16);
	float_run_modes(TSR_OP_ADD_FADD_RSCALE_F32, SOURCES(F, F, FLOAT_SOURCE_SCALE), NEAREST,
			add_rscale32);
	float_run_modes(TSR_OP_ADD_LDEXP_F32, SOURCES(F, FLOAT_SOURCE_SCALE), DIRECTED | AWAY,
			ldexp32);
	float_run_modes(TSR_OP_ADD_LDEXP_V2F16, SOURCES(H, FLOAT_SOURCE_SCALES), DIRECTED | AWAY,
			ldexp16);
}

/* --- order --- */

static bool before(uint32_t a, uint32_t b)
{
	if (a >> 31 != b >> 31)
		return a >> 31;
	return a >> 31 ? a > b : a < b;
}

static bool compare(unsigned int cmpf, float32_t a, float32_t b)
{
	switch (cmpf) {
	case TSR_CMPF_EQ:
		return f32_eq(a, b);
	case TSR_CMPF_GT:
		return f32_lt_quiet(b, a);
	case TSR_CMPF_GE:
		return f32_le_quiet(b, a);
	case TSR_CMPF_NE:
		return !f32_eq(a, b);
	case TSR_CMPF_LT:
		return f32_lt_quiet(a, b);
	case TSR_CMPF_LE:
		return f32_le_quiet(a, b);
	case TSR_CMPF_GTLT:
		return f32_lt_quiet(a, b) || f32_lt_quiet(b, a);
	default:
		return before(a.v, b.v);
	}
}

/* 16-bit floats in the same order as 32-bit ones, NaNs with their payload. */
static float32_t ordered(float16_t x)
{
	uint32_t sign = (uint32_t)(x.v & 0x8000) << 16;

	if ((x.v & 0x7fff) > 0x7c00)
		return (float32_t){ sign | 0x7f800000 | (x.v & 0x3ff) << 13 };
	return f16_to_f32(x);
}

static uint32_t cmp32(const struct float_case *c, const uint32_t src[4])
{
	static const uint32_t truth[] = { 1, 0x3f800000, 0xffffffff };

	if (!compare(c->insn.mod[TSR_MOD_CMPF], word_of(c, 0, src[0]), word_of(c, 1, src[1])))
		return 0;
	return truth[c->insn.mod[TSR_MOD_RESULT_TYPE]];
}

static uint32_t cmp16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	static const uint32_t truth[] = { 1, 0x3c00, 0xffff };

	if (!compare(c->insn.mod[TSR_MOD_CMPF], ordered(half_of(c, 0, src[0], half)),
		     ordered(half_of(c, 1, src[1], half))))
		return 0;
	return truth[c->insn.mod[TSR_MOD_RESULT_TYPE]];
}

ORACLE_HALVES(cmp16)

static uint32_t discard32(const struct float_case *c, const uint32_t src[4])
{
	return compare(c->insn.mod[TSR_MOD_CMPF], word_of(c, 0, src[0]), word_of(c, 1, src[1]))
		       ? 0xffffffff
		       : 0;
}

static uint32_t csel32(const struct float_case *c, const uint32_t src[4])
{
	return compare(c->insn.mod[TSR_MOD_CMPF], word_of(c, 0, src[0]), word_of(c, 1, src[1]))
		       ? src[2]
		       : src[3];
}

static uint32_t csel16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	bool yes = compare(c->insn.mod[TSR_MOD_CMPF], ordered(signed16(c, 0, src[0] >> 16 * half)),
			   ordered(signed16(c, 1, src[1] >> 16 * half)));

	return src[yes ? 2 : 3] >> 16 * half;
}

ORACLE_HALVES(csel16)

/* True if b is the result. */
static bool second(const struct float_case *c, float32_t a, float32_t b, bool max)
{
	bool nan_a = !f32_eq(a, a), nan_b = !f32_eq(b, b);
	bool less = f32_lt_quiet(a, b), more = f32_lt_quiet(b, a);

	switch (c->insn.mod[TSR_MOD_SEM]) {
	case TSR_SEM_C:
		return max ? !more : !less;
	case TSR_SEM_INVERSE_C:
		return max ? less : more;
	case TSR_SEM_NAN_PROPAGATE:
		if (nan_a || nan_b)
			return nan_b;
		break;
	default:
		if (nan_a || nan_b)
			return nan_a;
	}
	return max ? before(a.v, b.v) : before(b.v, a.v);
}

static uint32_t min_max32(const struct float_case *c, const uint32_t src[4])
{
	float32_t x = word_of(c, 0, src[0]), y = word_of(c, 1, src[1]);

	oracle_begin(TSR_ROUND_NONE);
	return end32(c, second(c, x, y, c->insn.op == TSR_OP_ADD_FMAX_F32) ? y : x);
}

static uint32_t min_max16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	float16_t x = half_of(c, 0, src[0], half), y = half_of(c, 1, src[1], half);
	bool yes = second(c, ordered(x), ordered(y), c->insn.op == TSR_OP_ADD_FMAX_V2F16);

	oracle_begin(TSR_ROUND_NONE);
	return end16(c, yes ? y : x);
}

ORACLE_HALVES(min_max16)

static void test_order(void)
{
	float_run_modes(TSR_OP_ADD_FMIN_F32, SOURCES(F, F), NEAREST, min_max32);
	float_run_modes(TSR_OP_ADD_FMAX_F32, SOURCES(F, F), NEAREST, min_max32);
	float_run_modes(TSR_OP_ADD_FMIN_V2F16, SOURCES(H, H), NEAREST, min_max16);
	float_run_modes(TSR_OP_ADD_FMAX_V2F16, SOURCES(H, H), NEAREST, min_max16);
	float_run_modes(TSR_OP_FMA_FCMP_F32, SOURCES(F, F), NEAREST, cmp32);
	float_run_modes(TSR_OP_ADD_FCMP_F32, SOURCES(F, F), NEAREST, cmp32);
	float_run_modes(TSR_OP_FMA_FCMP_V2F16, SOURCES(H, H), NEAREST, cmp16);
	float_run_modes(TSR_OP_ADD_FCMP_V2F16, SOURCES(H, H), NEAREST, cmp16);
	float_run_modes(TSR_OP_FMA_CSEL_F32, SOURCES(F, F, I, I), NEAREST, csel32);
	float_run_modes(TSR_OP_FMA_CSEL_V2F16, SOURCES(H, H, I, I), NEAREST, csel16);
	float_run_modes(TSR_OP_ADD_DISCARD_F32, SOURCES(F, F), NEAREST, discard32);
}

/*
 * All pairs of special values by each condition and semantics, which the random modifiers above
 * meet by chance.
 */
static void test_conditions(void)
{
	struct float_case c = { .source = { F, F, I, I } };

	for (unsigned int i = 0; i < 8 * 4; i++) {
		c.mode.ftz = i % 4;
		float_default_insn(&c.insn, TSR_OP_ADD_FCMP_F32);
		c.insn.mod[TSR_MOD_CMPF] = i / 4;
		c.source[2] = c.source[3] = FLOAT_SOURCE_NONE;
		float_run(&c, cmp32, 1000);
		c.insn.op = TSR_OP_ADD_FMAX_F32;
		c.insn.mod[TSR_MOD_SEM] = i / 4 % 4;
		float_run(&c, min_max32, 1000);
		c.insn.op = TSR_OP_ADD_FMIN_F32;
		float_run(&c, min_max32, 1000);
		c.source[2] = c.source[3] = I;
		c.insn.op = TSR_OP_FMA_CSEL_F32;
		float_run(&c, csel32, 1000);
	}
}

/* --- conversions --- */

static uint32_t f16_to_f32_word(const struct float_case *c, const uint32_t src[4])
{
	float16_t x = lane_of(c, src[0]);

	oracle_begin(TSR_ROUND_NONE);
	return end32(c, f16_to_f32(x));
}

static uint32_t narrow_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	float32_t x = word_of(c, half, src[half]);

	oracle_begin(round_of(c));
	return end16(c, f32_to_f16(x));
}

ORACLE_HALVES(narrow)

/* An integral float, saturated. */
static uint32_t saturated(float32_t x, double low, double high)
{
	double d = bits_float(x.v);

	if (d != d)
		return 0;
	return (uint32_t)(int64_t)(d < low ? low : d > high ? high : d);
}

static uint32_t to_int32(const struct float_case *c, const uint32_t src[4])
{
	float32_t x;

	oracle_begin(round_of(c));
	x = f32_roundToInt(word_of(c, 0, src[0]), softfloat_roundingMode, false);
	return c->insn.op == TSR_OP_ADD_F32_TO_S32 ? saturated(x, INT32_MIN, INT32_MAX)
						   : saturated(x, 0, UINT32_MAX);
}

static uint32_t f16_to_int32(const struct float_case *c, const uint32_t src[4])
{
	float32_t x;

	oracle_begin(round_of(c));
	x = f16_to_f32(f16_roundToInt(lane_of(c, src[0]), softfloat_roundingMode, false));
	return c->insn.op == TSR_OP_ADD_F16_TO_S32 ? saturated(x, INT32_MIN, INT32_MAX)
						   : saturated(x, 0, UINT32_MAX);
}

static uint32_t to_int16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	float32_t x;

	oracle_begin(round_of(c));
	x = f16_to_f32(f16_roundToInt(half_of(c, 0, src[0], half), softfloat_roundingMode, false));
	return c->insn.op == TSR_OP_ADD_V2F16_TO_V2S16 ? saturated(x, INT16_MIN, INT16_MAX)
						       : saturated(x, 0, UINT16_MAX);
}

ORACLE_HALVES(to_int16)

static uint32_t from_int32(const struct float_case *c, const uint32_t src[4])
{
	oracle_begin(round_of(c));
	return end32(c, c->insn.op == TSR_OP_ADD_S32_TO_F32 ? i32_to_f32((int32_t)src[0])
							    : ui32_to_f32(src[0]));
}

/* The part of a source that a 16 or 8-bit conversion takes. */
static int32_t part_of(const struct float_case *c, uint32_t word)
{
	uint32_t lane = c->insn.mod[TSR_MOD_LANE0];

	switch (c->insn.op) {
	case TSR_OP_ADD_S16_TO_F32:
		return (int16_t)(lane == TSR_LANE_H1 ? word >> 16 : word);
	case TSR_OP_ADD_U16_TO_F32:
		return (uint16_t)(lane == TSR_LANE_H1 ? word >> 16 : word);
	case TSR_OP_ADD_S8_TO_F32:
		return (int8_t)(word >> 8 * (lane - TSR_LANE_B0));
	default:
		return (uint8_t)(word >> 8 * (lane - TSR_LANE_B0));
	}
}

static uint32_t from_part(const struct float_case *c, const uint32_t src[4])
{
	oracle_begin(TSR_ROUND_NONE);
	return end32(c, i32_to_f32(part_of(c, src[0])));
}

static uint32_t from_int16_half(const struct float_case *c, const uint32_t src[4],
				unsigned int half)
{
	static const uint8_t from[4][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 } };
	uint16_t x = src[0] >> 16 * from[c->insn.mod[TSR_MOD_SWZ0]][half];

	oracle_begin(round_of(c));
	return end16(c, i32_to_f16(c->insn.op == TSR_OP_ADD_V2S16_TO_V2F16 ? (int16_t)x : x));
}

static uint32_t from_int8_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	/* "b20": byte 2 for the low half, byte 0 for the high one */
	const char *name = tsr_mod_value_name(TSR_MOD_SWZ0, c->insn.mod[TSR_MOD_SWZ0]);
	uint8_t x = src[0] >> 8 * (name[1 + half] - '0');

	oracle_begin(TSR_ROUND_NONE);
	return end16(c, i32_to_f16(c->insn.op == TSR_OP_ADD_V2S8_TO_V2F16 ? (int8_t)x : x));
}

ORACLE_HALVES(from_int16)
ORACLE_HALVES(from_int8)

static uint32_t round32(const struct float_case *c, const uint32_t src[4])
{
	float32_t x = word_of(c, 0, src[0]);

	oracle_begin(round_of(c));
	return end32(c, f32_roundToInt(x, softfloat_roundingMode, false));
}

static uint32_t round16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	float16_t x = half_of(c, 0, src[0], half);

	oracle_begin(round_of(c));
	return end16(c, f16_roundToInt(x, softfloat_roundingMode, false));
}

ORACLE_HALVES(round16)

static uint32_t quiet32(const struct float_case *c, const uint32_t src[4])
{
	(void)c;
	return f32_isSignalingNaN((float32_t){ src[0] }) ? src[0] | 0x00400000 : src[0];
}

static uint32_t quiet16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	struct float_case plain = { .insn = c->insn };
	float16_t x = half_of(&plain, 0, src[0], half);

	return f16_isSignalingNaN(x) ? x.v | 0x0200u : x.v;
}

ORACLE_HALVES(quiet16)

static void test_conversions(void)
{
	float_run_modes(TSR_OP_FMA_F16_TO_F32, SOURCES(H), NEAREST, f16_to_f32_word);
	float_run_modes(TSR_OP_ADD_F16_TO_F32, SOURCES(H), NEAREST, f16_to_f32_word);
	float_run_modes(TSR_OP_FMA_V2F32_TO_V2F16, SOURCES(F, F), DIRECTED | AWAY, narrow);
	float_run_modes(TSR_OP_ADD_V2F32_TO_V2F16, SOURCES(F, F), DIRECTED | AWAY, narrow);
	float_run_modes(TSR_OP_ADD_F32_TO_S32, SOURCES(F), DIRECTED | AWAY, to_int32);
	float_run_modes(TSR_OP_ADD_F32_TO_U32, SOURCES(F), DIRECTED | AWAY, to_int32);
	float_run_modes(TSR_OP_ADD_F16_TO_S32, SOURCES(H), DIRECTED | AWAY, f16_to_int32);
	float_run_modes(TSR_OP_ADD_F16_TO_U32, SOURCES(H), DIRECTED | AWAY, f16_to_int32);
	float_run_modes(TSR_OP_ADD_V2F16_TO_V2S16, SOURCES(H), DIRECTED | AWAY, to_int16);
	float_run_modes(TSR_OP_ADD_V2F16_TO_V2U16, SOURCES(H), DIRECTED | AWAY, to_int16);
	float_run_modes(TSR_OP_ADD_S32_TO_F32, SOURCES(I), DIRECTED | AWAY, from_int32);
	float_run_modes(TSR_OP_ADD_U32_TO_F32, SOURCES(I), DIRECTED | AWAY, from_int32);
	float_run_modes(TSR_OP_ADD_V2S16_TO_V2F16, SOURCES(I), DIRECTED | AWAY, from_int16);
	float_run_modes(TSR_OP_ADD_V2U16_TO_V2F16, SOURCES(I), DIRECTED | AWAY, from_int16);
}

static void test_small_conversions(void)
{
	float_run_modes(TSR_OP_ADD_S16_TO_F32, SOURCES(I), NEAREST, from_part);
	float_run_modes(TSR_OP_ADD_U16_TO_F32, SOURCES(I), NEAREST, from_part);
	float_run_modes(TSR_OP_ADD_S8_TO_F32, SOURCES(I), NEAREST, from_part);
	float_run_modes(TSR_OP_ADD_U8_TO_F32, SOURCES(I), NEAREST, from_part);
	float_run_modes(TSR_OP_ADD_V2S8_TO_V2F16, SOURCES(I), NEAREST, from_int8);
	float_run_modes(TSR_OP_ADD_V2U8_TO_V2F16, SOURCES(I), NEAREST, from_int8);
	float_run_modes(TSR_OP_FMA_QUIET_F32, SOURCES(F), NEAREST, quiet32);
	float_run_modes(TSR_OP_ADD_QUIET_F32, SOURCES(F), NEAREST, quiet32);
	float_run_modes(TSR_OP_FMA_QUIET_V2F16, SOURCES(H), NEAREST, quiet16);
	float_run_modes(TSR_OP_ADD_QUIET_V2F16, SOURCES(H), NEAREST, quiet16);
}

static void test_rounding(void)
{
	float_run_modes(TSR_OP_FMA_FROUND_F32, SOURCES(F), DIRECTED | AWAY, round32);
	float_run_modes(TSR_OP_ADD_FROUND_F32, SOURCES(F), DIRECTED, round32);
	float_run_modes(TSR_OP_FMA_FROUND_V2F16, SOURCES(H), DIRECTED | AWAY, round16);
	float_run_modes(TSR_OP_ADD_FROUND_V2F16, SOURCES(H), DIRECTED, round16);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[ISA8] [ISA11] FMA and FADD round as SoftFloat does", test_arithmetic);
	ktap_run("[ISA8] [ISA11] scaled FMA, FADD and LDEXP round as SoftFloat does", test_scaled);
	ktap_run("[ISA8] [ISA9] [ISA11] comparisons, selections, minima and maxima", test_order);
	ktap_run("[ISA8] [ISA9] [ISA11] each condition on all pairs of special values",
		 test_conditions);
	ktap_run("[ISA9] [ISA11] conversions between floats and 16 or 32-bit integers",
		 test_conversions);
	ktap_run("[ISA9] [ISA11] conversions of bytes and halves, QUIET", test_small_conversions);
	ktap_run("[ISA8] [ISA9] [ISA11] rounding to integral values", test_rounding);
	return ktap_finish();
}
