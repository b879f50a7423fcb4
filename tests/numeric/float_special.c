/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=600 */
/*
 * Special functions: reciprocals and roots correctly rounded (SoftFloat), splitting into mantissa
 * and exponent (libm's frexp on doubles, which is exact), exponentials, logarithms and tables
 * within their bounds (long double), cube maps, and what is refused. All 16-bit sources always; all
 * 32-bit sources with EXHAUSTIVE=1.
 */
#include "float_soft_oracle.h"
#include "ktap.h"
#include "alu/float_ops.h"
#include "simd/simd.h"

#define NEAREST (1u << TSR_ROUND_NONE)

#define F FLOAT_SOURCE_F32
#define H FLOAT_SOURCE_F16
#define I FLOAT_SOURCE_INT
#define SOURCES(...) ((const uint8_t[4]){ __VA_ARGS__ })

/* An oracle as a judge. */
#define JUDGE(name) \
	static bool name##_judge(const struct float_case *c, const uint32_t src[4], uint32_t got, \
				 uint32_t *best) \
	{ \
		*best = name(c, src); \
		return got == *best; \
	}

static const float32_t nan32 = { 0x7fc00000 };

/* --- reciprocals --- */

static float128_t reciprocal(float128_t x)
{
	return f128_div(i32_to_f128(1), x);
}

/* Positive zeros and negative ones have infinite roots of their sign. */
static float128_t reciprocal_root(float128_t x)
{
	return reciprocal(f128_sqrt(x));
}

static uint32_t rcp32(const struct float_case *c, const uint32_t src[4])
{
	float32_t x = word_of(c, 0, src[0]);

	oracle_begin(TSR_ROUND_NONE);
	return end32(c, f32_div(i32_to_f32(1), x));
}

static uint32_t rcp16(const struct float_case *c, const uint32_t src[4])
{
	float16_t x = lane_of(c, src[0]);

	oracle_begin(TSR_ROUND_NONE);
	return end16(c, f16_div(i32_to_f16(1), x));
}

static uint32_t rsq32(const struct float_case *c, const uint32_t src[4])
{
	float128_t x;

	oracle_begin(TSR_ROUND_NONE);
	x = reciprocal_root(f32_to_f128(word_of(c, 0, src[0])));
	oracle_begin(TSR_ROUND_NONE);
	return end32(c, f128_to_f32(x));
}

static uint32_t rsq16(const struct float_case *c, const uint32_t src[4])
{
	float128_t x;

	oracle_begin(TSR_ROUND_NONE);
	x = reciprocal_root(f16_to_f128(lane_of(c, src[0])));
	oracle_begin(TSR_ROUND_NONE);
	return end16(c, f128_to_f16(x));
}

/* --- mantissas and exponents --- */

/*
 * |x| = mantissa * 2^exponent (4^ for roots) in the range of the modifiers; false: zero, infinity,
 * NaN.
 */
static bool split(const struct tsr_insn *insn, double x, double *mantissa, int *exponent)
{
	*mantissa = frexp(x, exponent);
	if (x == 0 || !isfinite(x))
		return false;
	if (insn->mod[TSR_MOD_LOG] && fabs(*mantissa) < 0.75) {
		*mantissa *= 2;
		--*exponent;
	} else if (insn->mod[TSR_MOD_SQRT]) {
		if (*exponent % 2) {
			*mantissa /= 2;
			++*exponent;
		}
		*exponent /= 2;
	}
	return true;
}

static int exponent_of(const struct float_case *c, double x)
{
	double mantissa;
	int exponent;

	if (!split(&c->insn, x, &mantissa, &exponent))
		return 0;
	return c->insn.mod[TSR_MOD_NEG0] ? -exponent : exponent;
}

/* neg0 of FREXPE is not of its source. */
static double unsigned_source(const struct float_case *c, uint32_t word)
{
	struct float_case plain = *c;

	plain.insn.mod[TSR_MOD_NEG0] = 0;
	return bits_float(word_of(&plain, 0, word).v);
}

static double half_value(const struct float_case *c, uint32_t word, unsigned int half)
{
	return bits_float(f16_to_f32(half_of(c, 0, word, half)).v);
}

static uint32_t frexpe32(const struct float_case *c, const uint32_t src[4])
{
	return exponent_of(c, unsigned_source(c, src[0]));
}

static uint32_t frexpe16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	return exponent_of(c, half_value(c, src[0], half));
}

ORACLE_HALVES(frexpe16)

static double mantissa_of(const struct tsr_insn *insn, double x)
{
	double mantissa;
	int exponent;

	return split(insn, x, &mantissa, &exponent) ? mantissa : x;
}

static uint32_t frexpm32(const struct float_case *c, const uint32_t src[4])
{
	double x = bits_float(word_of(c, 0, src[0]).v);

	oracle_begin(TSR_ROUND_NONE);
	return end32(c, (float32_t){ float_bits(mantissa_of(&c->insn, x)) });
}

static uint32_t frexpm16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	double x = half_value(c, src[0], half);

	oracle_begin(TSR_ROUND_NONE);
	return end16(c, f32_to_f16((float32_t){ float_bits(mantissa_of(&c->insn, x)) }));
}

ORACLE_HALVES(frexpm16)

static uint32_t lscale32(const struct float_case *c, const uint32_t src[4])
{
	static const struct tsr_insn log = { .mod[TSR_MOD_LOG] = 1 };
	float32_t x = word_of(c, 0, src[0]);
	float32_t m = { float_bits(mantissa_of(&log, bits_float(word_of(c, 1, src[1]).v))) };

	oracle_begin(TSR_ROUND_NONE);
	return end32(c, f32_add(x, m));
}

static uint32_t logb32(const struct float_case *c, const uint32_t src[4])
{
	float x = logb(bits_float(word_of(c, 0, src[0]).v));

	oracle_begin(TSR_ROUND_NONE);
	return end32(c, (float32_t){ float_bits(x) });
}

static uint32_t logb16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	float x = logb(half_value(c, src[0], half));

	oracle_begin(TSR_ROUND_NONE);
	return end16(c, f32_to_f16((float32_t){ float_bits(x) }));
}

static int integral_log(double x, int lowest)
{
	return x == 0 ? lowest : isfinite(x) ? ilogb(x) : -(lowest + 1);
}

static uint32_t ilogb32(const struct float_case *c, const uint32_t src[4])
{
	return integral_log(bits_float(word_of(c, 0, src[0]).v), INT32_MIN);
}

static uint32_t ilogb16_half(const struct float_case *c, const uint32_t src[4], unsigned int half)
{
	return integral_log(half_value(c, src[0], half), INT16_MIN);
}

ORACLE_HALVES(logb16)
ORACLE_HALVES(ilogb16)

/* The estimates are correctly rounded here: of the mantissa alone. */
static uint32_t rcp_approx32(const struct float_case *c, const uint32_t src[4])
{
	double x = bits_float(word_of(c, 0, src[0]).v);

	oracle_begin(TSR_ROUND_NONE);
	return end32(c,
		     f32_div(i32_to_f32(1), (float32_t){ float_bits(mantissa_of(&c->insn, x)) }));
}

static uint32_t rsq_approx32(const struct float_case *c, const uint32_t src[4])
{
	static const struct tsr_insn root = { .mod[TSR_MOD_SQRT] = 1 };
	double x = bits_float(word_of(c, 0, src[0]).v);
	float128_t r;

	oracle_begin(TSR_ROUND_NONE);
	r = reciprocal_root(f32_to_f128((float32_t){ float_bits(mantissa_of(&root, x)) }));
	oracle_begin(TSR_ROUND_NONE);
	return end32(c, f128_to_f32(r));
}

JUDGE(rcp32)
JUDGE(rcp16)
JUDGE(rsq32)
JUDGE(rsq16)
JUDGE(frexpe32)
JUDGE(frexpm32)
JUDGE(frexpe16)
JUDGE(frexpm16)
JUDGE(logb16)
JUDGE(ilogb16)

static void test_reciprocals(void)
{
	float_run_modes(TSR_OP_ADD_FRCP_F32, SOURCES(F), NEAREST, rcp32);
	float_run_modes(TSR_OP_ADD_FRSQ_F32, SOURCES(F), NEAREST, rsq32);
	float_run_modes(TSR_OP_ADD_FRCP_F16, SOURCES(H), NEAREST, rcp16);
	float_run_modes(TSR_OP_ADD_FRSQ_F16, SOURCES(H), NEAREST, rsq16);
	float_run_modes(TSR_OP_ADD_FRCP_APPROX_F32, SOURCES(F), NEAREST, rcp_approx32);
	float_run_modes(TSR_OP_ADD_FRSQ_APPROX_F32, SOURCES(F), NEAREST, rsq_approx32);
}

/* Operations in both units, with and without log. */
static void run_splits(const unsigned int ops[2], uint8_t source, float_oracle *oracle)
{
	struct float_case c = { .source = { source } };

	for (unsigned int i = 0; i < 2 * 4 * 8; i++) {
		float_default_insn(&c.insn, ops[i % 2]);
		c.mode.ftz = i / 2 % 4;
		float_random_modifiers(&c.insn);
		c.insn.mod[TSR_MOD_LOG] = i / 8 % 2;
		if (c.insn.mod[TSR_MOD_LOG])
			c.insn.mod[TSR_MOD_SQRT] = 0;
		float_run(&c, oracle, float_count() / 64);
	}
}

static void test_splitting(void)
{
	static const unsigned int e32[] = { TSR_OP_FMA_FREXPE_F32, TSR_OP_ADD_FREXPE_F32 };
	static const unsigned int m32[] = { TSR_OP_FMA_FREXPM_F32, TSR_OP_ADD_FREXPM_F32 };
	static const unsigned int m16[] = { TSR_OP_FMA_FREXPM_V2F16, TSR_OP_ADD_FREXPM_V2F16 };

	run_splits(e32, F, frexpe32);
	run_splits(m32, F, frexpm32);
	run_splits(m16, H, frexpm16);
	float_run_modes(TSR_OP_FMA_FADD_LSCALE_F32, SOURCES(F, F), NEAREST, lscale32);
	float_run_modes(TSR_OP_ADD_LOGB_F32, SOURCES(F), NEAREST, logb32);
	float_run_modes(TSR_OP_ADD_LOGB_V2F16, SOURCES(H), NEAREST, logb16);
	float_run_modes(TSR_OP_ADD_ILOGB_F32, SOURCES(F), NEAREST, ilogb32);
	float_run_modes(TSR_OP_ADD_ILOGB_V2F16, SOURCES(H), NEAREST, ilogb16);
}

/* --- within bounds --- */

/* The largest error seen, in units of the last place of a 32-bit float. */
static long double worst;

/*
 * Promised are 2 ulp. What is computed in double precision has hardly more than the half of
 * rounding.
 */
static bool near(const struct float_case *c, uint32_t got, long double exact, uint32_t *best)
{
	float x = bits_float(got), nearest = exact;
	int exponent = ilogbl(exact);
	long double error;

	*best = float_bits(nearest);
	if (c->mode.ftz && fabsl(exact) < 0x1p-126l) {
		*best = 0;
		return !got;
	}
	if (!isfinite(x) || !isfinite(nearest))
		return got == *best;
	error = fabsl(x - exact) / ldexpl(1, exponent < -126 ? -149 : exponent - 23);
	if (error > worst)
		worst = error;
	return error < 0.501l;
}

static bool exp_judge(const struct float_case *c, const uint32_t src[4], uint32_t got,
		      uint32_t *best)
{
	long double b = bits_float(word_of(c, 1, src[1]).v);

	*best = b != b ? nan32.v : 0x7f800000;
	if (b != b || b >= 0x1p31l)
		return got == *best;
	if (b <= -0x1p40l) {
		*best = 0;
		return !got;
	}
	return near(c, got, exp2l((b > -0x1p31l ? (int32_t)src[0] : b) * 0x1p-24l), best);
}

static bool logd_judge(const struct float_case *c, const uint32_t src[4], uint32_t got,
		       uint32_t *best)
{
	static const struct tsr_insn log = { .mod[TSR_MOD_LOG] = 1 };
	double x = bits_float(word_of(c, 0, src[0]).v), m = mantissa_of(&log, x);

	*best = x >= 0 ? 0x7f800000 : nan32.v;
	if (!(x > 0) || isinf(x))
		return got == *best;
	return near(c, got, (m == 1 ? 1 : log1pl(m - 1) / (m - 1)) * 1.4426950408889634074l, best);
}

static void test_exponentials(void)
{
	struct float_case c;

	for (unsigned int i = 0; i < 4; i++) {
		c = (struct float_case){ .source = { I, F }, .mode.ftz = i };
		float_default_insn(&c.insn, TSR_OP_ADD_FEXP_F32);
		float_run_judged(&c, exp_judge, float_count() / 4);
		c.source[1] = FLOAT_SOURCE_NONE; /* b = 0: the whole range of a */
		float_run_judged(&c, exp_judge, float_count() / 4);
	}
	ktap_note("FEXP within %.4Lf ulp", worst);
	worst = 0;
	for (unsigned int i = 0; i < 4; i++) {
		c = (struct float_case){ .source = { F }, .mode.ftz = i };
		float_default_insn(&c.insn, TSR_OP_ADD_FLOGD_F32);
		float_run_judged(&c, logd_judge, float_count() / 2);
	}
	ktap_note("FLOGD within %.4Lf ulp", worst);
}

/* --- tables --- */

static uint32_t sine(const struct float_case *c, const uint32_t src[4])
{
	unsigned int i = (src[0] + (c->insn.op == TSR_OP_ADD_FCOS_TABLE_U6 ? 16 : 0)) & 63;

	return i % 32 ? float_bits(sinl(i * 3.14159265358979323846l / 32)) : 0;
}

static uint32_t exp_table(const struct float_case *c, const uint32_t src[4])
{
	(void)c;
	return float_bits(exp2l((src[0] & 15) / 16.0l));
}

/*
 * The reduction of a logarithm leaves little: |m * r - 1| <= 1/16, exactly 0 for 1; the others are
 * logarithms of r.
 */
static bool log_table_judge(const struct float_case *c, const uint32_t src[4], uint32_t got,
			    uint32_t *best)
{
	static const struct tsr_insn log = { .mod[TSR_MOD_LOG] = 1 };
	struct tsr_insn red = { .op = TSR_OP_ADD_FLOG_TABLE_F32,
				.mod[TSR_MOD_MODE] = TSR_MODE_RED };
	double x = bits_float(word_of(c, 0, src[0]).v), r;
	static const struct tsr_simd *alu;
	uint32_t bits;

	if (!alu)
		alu = tsr_simd_best();
	tsr_alu_scalar(alu, &red, NULL, &c->mode, (uint32_t[4]){ float_bits(x) }, NULL, &bits);
	r = bits_float(bits);
	*best = bits;
	if (c->insn.mod[TSR_MOD_MODE] == TSR_MODE_RED) {
		double y = mantissa_of(&log, fabs(x)) * r - 1;

		if (x == 0 || !isfinite(x))
			return got == 0x3f800000;
		return got == bits && fabs(y) <= 0.0625 && r * 16 == floor(r * 16) &&
		       (fabs(x) != 1 || r == 1);
	}
	if (x == 0 || !(x > 0) || isinf(x))
		*best = x == 0 ? 0xff800000 : x > 0 ? 0x7f800000 : nan32.v;
	else
		*best = r == 1 ? 0
			       : float_bits(c->insn.mod[TSR_MOD_MODE] == TSR_MODE_BASE2 ? -log2l(r)
											: -logl(r));
	return got == *best;
}

JUDGE(sine)
JUDGE(exp_table)

static void test_tables(void)
{
	struct float_case c = { .source = { I } };

	float_default_insn(&c.insn, TSR_OP_ADD_FSIN_TABLE_U6);
	float_run_range(&c, sine_judge, 0, 256, 1);
	float_run_range(&c, sine_judge, 0x49400000, 256, 1);
	float_default_insn(&c.insn, TSR_OP_ADD_FCOS_TABLE_U6);
	float_run_range(&c, sine_judge, 0xffffff80, 256, 1);
	float_default_insn(&c.insn, TSR_OP_ADD_FEXP_TABLE_U4);
	float_run_range(&c, exp_table_judge, 0x493fff80, 256, 1);
	c.source[0] = F;
	for (unsigned int i = 0; i < 3 * 2 * 2 * 3; i++) {
		float_default_insn(&c.insn, TSR_OP_ADD_FLOG_TABLE_F32);
		c.insn.mod[TSR_MOD_MODE] = i % 3;
		c.insn.mod[TSR_MOD_NEG0] = i / 3 % 2;
		c.insn.mod[TSR_MOD_ABS0] = i / 6 % 2;
		c.insn.mod[TSR_MOD_WIDEN0] = i / 12;
		float_run_judged(&c, log_table_judge, 10000);
	}
}

/* --- all sources there are --- */

static void run_halves(unsigned int op, float_judge *judge, bool log)
{
	struct float_case c = { .source = { H } };

	for (c.mode.ftz = 0; c.mode.ftz < 4; c.mode.ftz++) {
		float_default_insn(&c.insn, op);
		c.insn.mod[TSR_MOD_LOG] = log;
		float_run_range(&c, judge, 0, 0x10000, 0x00010001);
		c.insn.mod[TSR_MOD_SQRT] = !log;
		float_run_range(&c, judge, 0, 0x10000, 0x00010001);
	}
}

static void test_all_halves(void)
{
	run_halves(TSR_OP_ADD_FRCP_F16, rcp16_judge, false);
	run_halves(TSR_OP_ADD_FRSQ_F16, rsq16_judge, false);
	run_halves(TSR_OP_FMA_FREXPE_V2F16, frexpe16_judge, false);
	run_halves(TSR_OP_ADD_FREXPE_V2F16, frexpe16_judge, true);
	run_halves(TSR_OP_FMA_FREXPM_V2F16, frexpm16_judge, false);
	run_halves(TSR_OP_ADD_FREXPM_V2F16, frexpm16_judge, true);
	run_halves(TSR_OP_ADD_LOGB_V2F16, logb16_judge, false);
	run_halves(TSR_OP_ADD_ILOGB_V2F16, ilogb16_judge, false);
}

/*
 * One binade of roots, which repeat in every fourth, and of reciprocals always; everything on
 * demand.
 */
static void test_all_words(void)
{
	static const struct {
		unsigned int op;
		float_judge *judge;
	} functions[] = {
		{ TSR_OP_ADD_FRCP_F32, rcp32_judge },
		{ TSR_OP_ADD_FRSQ_F32, rsq32_judge },
		{ TSR_OP_ADD_FLOGD_F32, logd_judge },
		{ TSR_OP_ADD_FREXPE_F32, frexpe32_judge },
		{ TSR_OP_ADD_FREXPM_F32, frexpm32_judge },
	};
	bool all = float_exhaustive();

	for (unsigned int i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		struct float_case c = { .source = { F } };

		float_default_insn(&c.insn, functions[i].op);
		/* every 61st value of four binades, or all values */
		float_run_range(&c, functions[i].judge, all ? 0 : 0x3f000000,
				all ? 1ull << 32 : (1 << 25) / 61, all ? 1 : 61);
	}
}

/* The functions of vectors, which take other ways, give the bits of the reference. */
#define REFERENCE(name)										\
	static uint32_t name##_reference(const struct float_case *c, const uint32_t src[4])	\
	{											\
		const struct tsr_uop uop = { .insn = &c->insn, .mode = c->mode };		\
												\
		return tsr_float_##name(&uop, src, src);					\
	}											\
												\
	JUDGE(name##_reference)

REFERENCE(exp)
REFERENCE(logd)
REFERENCE(rsq)

static void test_reference(void)
{
	static const struct {
		unsigned int op;
		float_judge *judge;
		uint8_t source;
		/* all that powers of two do not make of others, and results that are subnormal */
		uint32_t first, count;
	} functions[] = {
		{ TSR_OP_ADD_FEXP_F32, exp_reference_judge, I, 0xff800000, 1 << 24 },
		{ TSR_OP_ADD_FEXP_F32, exp_reference_judge, I, 0x80000000, 1 << 25 },
		{ TSR_OP_ADD_FLOGD_F32, logd_reference_judge, F, 0x3f400000, 1 << 23 },
		{ TSR_OP_ADD_FRSQ_F32, rsq_reference_judge, F, 0x3f800000, 1 << 24 },
	};

	for (unsigned int i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		struct float_case c = { .source = { functions[i].source } };

		float_default_insn(&c.insn, functions[i].op);
		float_run_range(&c, functions[i].judge, functions[i].first, functions[i].count, 1);
		/* the others, and what is subnormal or nothing */
		for (unsigned int ftz = 0; ftz < 4; ftz++) {
			c.mode.ftz = ftz;
			float_run_range(&c, functions[i].judge, 0,
					float_exhaustive() ? 1ull << 32 : (1ull << 32) / 4099,
					float_exhaustive() ? 1 : 4099);
		}
	}
}

/* --- cube maps --- */

/*
 * Faces +x -x +y -y +z -z, as the OpenGL specification has them: the major axis, and s and t on
 * each.
 */
static void test_cube(void)
{
	static const struct tsr_alu_mode mode;
	const struct tsr_simd *alu = tsr_simd_best();
	struct tsr_insn first = { .op = TSR_OP_FMA_CUBEFACE1 },
			second = { .op = TSR_OP_ADD_CUBEFACE2 };
	struct tsr_insn s_of = { .op = TSR_OP_ADD_CUBE_SSEL },
			t_of = { .op = TSR_OP_ADD_CUBE_TSEL };

	for (unsigned int i = 0; i < 100000; i++) {
		float v[3], magnitude[3], sc, tc;
		uint32_t word[4] = { 0 }, largest, face, s, t;
		unsigned int axis, wanted;

		for (unsigned int n = 0; n < 3; n++) {
			v[n] = (int)(float_random() % 201 - 100) / (i % 3 ? 7.0f : 100.0f);
			magnitude[n] = fabsf(v[n]);
			word[n] = float_bits(v[n]);
		}
		axis = magnitude[2] >= magnitude[1] && magnitude[2] >= magnitude[0]
			       ? 2
			       : magnitude[1] >= magnitude[0];
		wanted = 2 * axis + (v[axis] < 0);
		sc = axis == 0	 ? (v[0] < 0 ? v[2] : -v[2])
		     : axis == 1 ? v[0]
		     : v[2] < 0	 ? -v[0]
				 : v[0];
		tc = axis == 1 ? (v[1] < 0 ? -v[2] : v[2]) : -v[1];
		tsr_alu_scalar(alu, &first, NULL, &mode, word, NULL, &largest);
		tsr_alu_scalar(alu, &second, &first, &mode, (uint32_t[4]){ largest }, word, &face);
		tsr_alu_scalar(alu, &s_of, NULL, &mode, (uint32_t[]){ word[2], word[0], face, 0 },
			       NULL, &s);
		tsr_alu_scalar(alu, &t_of, NULL, &mode, (uint32_t[]){ word[1], word[2], face, 0 },
			       NULL, &t);
		if (largest != float_bits(magnitude[axis]) || face != wanted << 29 ||
		    s != float_bits(sc) || t != float_bits(tc)) {
			ktap_fail("(%g %g %g): largest %g, face %u, s %g, t %g, not %g, %u, %g, %g",
				  v[0], v[1], v[2], bits_float(largest), face >> 29, bits_float(s),
				  bits_float(t), magnitude[axis], wanted, sc, tc);
			return;
		}
	}
}

/* --- what nobody has published --- */

static void test_refused(void)
{
	static const struct tsr_insn refused[] = {
		{ .op = TSR_OP_ADD_FATAN_ASSIST_F32 },
		{ .op = TSR_OP_ADD_FATAN_ASSIST_F16 },
		{ .op = TSR_OP_ADD_FATAN_TABLE_F32 },
		{ .op = TSR_OP_ADD_FATAN_TABLE_F16 },
		{ .op = TSR_OP_ADD_FPCLASS_F32 },
		{ .op = TSR_OP_ADD_FPCLASS_F16 },
		{ .op = TSR_OP_ADD_FPOW_SC_APPLY },
		{ .op = TSR_OP_ADD_FPOW_SC_DET_F32 },
		{ .op = TSR_OP_ADD_FPOW_SC_DET_F16 },
		{ .op = TSR_OP_ADD_FRCBRT_APPROX_A_F32 },
		{ .op = TSR_OP_ADD_FRCBRT_APPROX_B_F32 },
		{ .op = TSR_OP_ADD_FRCBRT_APPROX_C_F32 },
		{ .op = TSR_OP_ADD_FSINCOS_OFFSET_U6 },
		{ .op = TSR_OP_FMA_FMUL_CSLICE },
		{ .op = TSR_OP_FMA_FMUL_SLICE_F32 },
		{ .op = TSR_OP_FMA_VN_ASST1_F16 },
		{ .op = TSR_OP_FMA_VN_ASST1_F32 },
		{ .op = TSR_OP_ADD_VN_ASST2_F32 },
		{ .op = TSR_OP_ADD_VN_ASST2_V2F16 },
		{ .op = TSR_OP_ADD_LDEXP_F32, .mod[TSR_MOD_ROUND] = TSR_ROUND_INF },
		{ .op = TSR_OP_ADD_LDEXP_V2F16, .mod[TSR_MOD_ROUND] = TSR_ROUND_INF0 },
		{ .op = TSR_OP_FMA_FMA_RSCALE_F32, .mod[TSR_MOD_SPECIAL] = TSR_SPECIAL_SCALE16 },
		{ .op = TSR_OP_ADD_FADD_RSCALE_F32, .mod[TSR_MOD_SPECIAL] = TSR_SPECIAL_N },
		{ .op = TSR_OP_ADD_FSIN_TABLE_U6, .mod[TSR_MOD_OFFSET] = 1 },
		{ .op = TSR_OP_ADD_FCOS_TABLE_U6, .mod[TSR_MOD_OFFSET] = 1 },
		{ .op = TSR_OP_ADD_FEXP_TABLE_U4, .mod[TSR_MOD_ADJ] = TSR_ADJ_SMALL },
		{ .op = TSR_OP_ADD_FLOG_TABLE_F32, .mod[TSR_MOD_PRECISION] = TSR_PRECISION_HIGH },
		{ .op = TSR_OP_ADD_FRCP_F16, .mod[TSR_MOD_DIVZERO] = 1 },
	};
	static const char *const paths[] = { "sse2", "avx2", "avx512" };

	for (unsigned int i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		for (unsigned int p = 0; p < 3; p++) {
			struct tsr_uop uop = { .insn = &refused[i] };
			const struct tsr_simd *alu = tsr_simd_named(paths[p]);

			if (alu && tsr_alu_select(alu, &uop))
				ktap_fail("%s is executed", tsr_ops[refused[i].op].name);
		}
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[ISA9] reciprocals and reciprocal roots are correctly rounded", test_reciprocals);
	ktap_run("[ISA8] [ISA9] mantissas and exponents", test_splitting);
	ktap_run("[ISA9] FEXP and FLOGD within 2 ulp", test_exponentials);
	ktap_run("[ISA9] tables of sines, exponentials, logarithms", test_tables);
	ktap_run("[ISA9] all 16-bit sources", test_all_halves);
	ktap_run("[ISA9] 32-bit sources in order", test_all_words);
	ktap_run("[ISA9] exponentials, logarithms and roots are the reference's, bit for bit",
		 test_reference);
	ktap_run("[ISA8] [ISA9] faces of a cube", test_cube);
	ktap_run("[ISA8] [ISA9] what no public source explains is refused", test_refused);
	return ktap_finish();
}
