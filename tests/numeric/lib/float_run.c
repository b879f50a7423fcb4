/* SPDX-License-Identifier: MIT */
/*
 * Sources for floating-point instructions, and the comparison of SIMD paths with an oracle.
 */
#include "float_run.h"

#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "simd/simd.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))
#define LANES TSR_BUNDLE_LANES
#define REPORTED 4 /* differences reported per run */

static const char *const path_names[] = { "avx512", "avx2", "sse2" };

static const uint32_t special_f32[] = {
	0,	    1,		2,	    0x007fffff, 0x00400000, 0x00800000, 0x00800001,
	0x00ffffff, 0x01000000, 0x33000000, 0x33800000, 0x33ffffff, 0x34000000, 0x38800000,
	0x387fffff, 0x387ff000, 0x33800001, 0x477fefff, 0x477ff000, 0x3effffff, 0x3f000000,
	0x3f000001, 0x3f3fffff, 0x3f400000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fbfffff,
	0x3fc00000, 0x40000000, 0x40200000, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x4effffff,
	0x4f000000, 0x4f7fffff, 0x4f800000, 0x7e800000, 0x7f000000, 0x7f7fffff, 0x7f800000,
	0x7f800001, 0x7fc00000, 0x7fffffff,
};

static const uint16_t special_f16[] = {
	0,	1,	2,	0x1ff,	0x200,	0x3ff,	0x400,	0x401,	0x7ff,	0x800,
	0x37ff, 0x3800, 0x3801, 0x3bff, 0x3c00, 0x3c01, 0x3dff, 0x3e00, 0x4000, 0x4100,
	0x63ff, 0x6400, 0x77ff, 0x7800, 0x7bfe, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff,
};

static const uint32_t special_int[] = {
	0,	    1,		2,	    3,		0x7f,	    0x80,
	0xff,	    0x100,	0x7fff,	    0x8000,	0xffff,	    0x10000,
	0x7f80ff01, 0x00ffffff, 0x01000000, 0x01000001, 0x01000003, 0x7fffff80,
	0x7fffffbf, 0x7fffffc0, 0x7fffffff, 0x80000000, 0x80000001, 0x80000080,
	0x800000c0, 0xff7f8001, 0xffffff7f, 0xffffff80, 0xfffffffe, 0xffffffff,
};

static const uint32_t special_scale[] = {
	0,     1,     23,     24,     100,	  126,	      127,   128,
	254,   300,   0x7fff, 0x8000, 0x7fffffff, 0x80000000, -1u,   -24u,
	-125u, -126u, -127u,  -149u,  -150u,	  -151u,      -300u, -0x8000u,
};

static uint64_t random_state = 0x2545f4914f6cdd1d;

uint32_t float_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 24;
}

bool float_exhaustive(void)
{
	const char *text = getenv("EXHAUSTIVE");

	return text && strcmp(text, "0");
}

unsigned long float_count(void)
{
	const char *text = getenv("TSR_FLOAT_COUNT");

	if (float_exhaustive())
		return 1ul << 26;
	return text ? strtoul(text, NULL, 0) : getenv("TSR_QUICK") ? 1ul << 20 : 1ul << 22;
}

static unsigned int specials(enum float_source kind)
{
	switch (kind) {
	case FLOAT_SOURCE_F32:
		return 2 * ARRAY(special_f32);
	case FLOAT_SOURCE_F16:
		return 2 * ARRAY(special_f16);
	case FLOAT_SOURCE_INT:
		return ARRAY(special_int);
	case FLOAT_SOURCE_SCALE:
	case FLOAT_SOURCE_SCALES:
		return ARRAY(special_scale);
	default:
		return 1;
	}
}

/* Special value @i; a pair has it in the low half and another one in the high half. */
static uint32_t special(enum float_source kind, unsigned int i)
{
	uint32_t n;

	switch (kind) {
	case FLOAT_SOURCE_F32:
		return special_f32[i / 2] | i << 31;
	case FLOAT_SOURCE_F16:
		n = float_random();
		return special_f16[i / 2] | (i & 1) << 15 |
		       ((uint32_t)special_f16[(n >> 1) % ARRAY(special_f16)] | (n & 1) << 15) << 16;
	case FLOAT_SOURCE_INT:
		return special_int[i];
	case FLOAT_SOURCE_SCALE:
		return special_scale[i];
	case FLOAT_SOURCE_SCALES:
		return (special_scale[i] & 0xffff) |
		       special_scale[float_random() % ARRAY(special_scale)] << 16;
	default:
		return 0;
	}
}

/*
 * A random float of @bits fraction bits. @near is an exponent the sources of one thread share, so
 * that sums cancel and round; fractions have few bits set, or few clear, as often as any.
 */
static uint32_t random_float(unsigned int fraction_bits, unsigned int exponent_bits, uint32_t near)
{
	uint32_t n = float_random(), fraction = float_random(), exponent = near;

	switch (n & 7) {
	case 0:
		fraction = 1u << (n >> 3) % fraction_bits;
		break;
	case 1:
		fraction = -(1u << (n >> 3) % fraction_bits);
		break;
	case 2:
		fraction &= -(1u << (n >> 3) % fraction_bits);
		break;
	default:
		break;
	}
	switch (n >> 8 & 7) {
	case 0:
		exponent = float_random();
		break;
	case 1:
		exponent = n >> 11 & 1;
		break;
	case 2:
		exponent = near + (n >> 11) % (2 * fraction_bits + 6) - fraction_bits - 3;
		break;
	default:
		exponent = near + (n >> 11) % 5 - 2;
		break;
	}
	exponent &= (1u << exponent_bits) - 1;
	return (n >> 31) << (fraction_bits + exponent_bits) | exponent << fraction_bits |
	       (fraction & ((1u << fraction_bits) - 1));
}

static uint32_t random_source(enum float_source kind, uint32_t near)
{
	uint32_t n = float_random();

	switch (kind) {
	case FLOAT_SOURCE_F32:
		return n % 64 ? random_float(23, 8, near & 0xff)
			      : special(kind, (n >> 8) % specials(kind));
	case FLOAT_SOURCE_F16:
		return random_float(10, 5, near & 31) | random_float(10, 5, near >> 8 & 31) << 16;
	case FLOAT_SOURCE_INT:
		return float_random() >> (n & 31 & -(n >> 8 & 1));
	case FLOAT_SOURCE_SCALE:
		return n & 1 ? (int32_t)(n << 15) >> 23 : (int32_t)(n << 15) >> (n >> 2 & 15);
	case FLOAT_SOURCE_SCALES:
		return ((n & 63) - 32) << 16 | (((n >> 8 & 63) - 32) & 0xffff);
	default:
		return 0;
	}
}

/* One instruction ready to run on the paths that differ. */
struct run {
	const struct float_case *c;
	float_oracle *oracle;
	float_judge *judge;
	struct tsr_uop uop[ARRAY(path_names)];
	unsigned int path[ARRAY(path_names)]; /* names of them */
	unsigned int paths;
	unsigned int bad;
	unsigned int used; /* lanes filled so far */
	union tsr_lanes reg[5][TSR_BUNDLE_WARPS]; /* sources, result */
};

static void prepare(struct run *run)
{
	for (unsigned int p = 0; p < ARRAY(path_names); p++) {
		const struct tsr_simd *alu = tsr_simd_named(path_names[p]);
		struct tsr_uop *uop = &run->uop[run->paths];
		bool same = false;

		if (!alu)
			continue;
		*uop = (struct tsr_uop){ .insn = &run->c->insn,
					 .mode = run->c->mode,
					 .dst = { 4 * TSR_BUNDLE_WARPS, 0, 1 } };
		for (unsigned int n = 0; n < 4; n++)
			uop->src[n] = (struct tsr_operand){ n * TSR_BUNDLE_WARPS, 0, 1 };
		if (!tsr_alu_select(alu, uop)) {
			ktap_fail("%s cannot be run on %s", tsr_ops[run->c->insn.op].name,
				  path_names[p]);
			continue;
		}
		for (unsigned int i = 0; i < run->paths; i++)
			same |= run->uop[i].fn == uop->fn && run->uop[i].inner == uop->inner;
		if (!same)
			run->path[run->paths++] = p;
	}
}

static void report(struct run *run, const char *path, const uint32_t src[4], uint32_t got,
		   uint32_t wanted)
{
	const struct tsr_op_info *info = &tsr_ops[run->c->insn.op];
	char text[200] = "";
	size_t at = 0;

	if (run->bad++ >= REPORTED)
		return;
	for (unsigned int i = 0; i < info->num_mods && at < sizeof(text); i++) {
		if (run->c->insn.mod[info->mods[i]])
			at += snprintf(text + at, sizeof(text) - at, " %s=%u",
				       tsr_mod_names[info->mods[i]],
				       run->c->insn.mod[info->mods[i]]);
	}
	ktap_fail("%s %s%s ftz %u: %08x %08x %08x %08x gives %08x, not %08x", path, info->name,
		  text, run->c->mode.ftz, src[0], src[1], src[2], src[3], got, wanted);
}

static void judge_lane(struct run *run, unsigned int p, unsigned int warp, unsigned int lane,
		       const uint32_t expected)
{
	uint32_t src[4], got = run->reg[4][warp].u[lane], wanted = expected;

	for (unsigned int n = 0; n < 4; n++)
		src[n] = run->reg[n][warp].u[lane];
	if (run->judge ? !run->judge(run->c, src, got, &wanted) : got != wanted)
		report(run, path_names[run->path[p]], src, got, wanted);
}

/* Run the lanes that are filled. */
static void flush(struct run *run)
{
	struct tsr_alu_state state = { .warps = TSR_BUNDLE_WARPS, .full = true };
	struct tsr_alu_saved saved;
	uint32_t expected[LANES] = { 0 };

	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++)
		state.warp[w] = w;
	state.space[0] = run->reg[0];
	for (unsigned int i = 0; i < run->used && run->oracle; i++) {
		uint32_t src[4];

		for (unsigned int n = 0; n < 4; n++)
			src[n] = run->reg[n][i / TSR_WARP_LANES].u[i % TSR_WARP_LANES];
		expected[i] = run->oracle(run->c, src);
	}
	for (unsigned int p = 0; p < run->paths; p++) {
		tsr_alu_enter(&saved, &run->c->mode);
		run->uop[p].fn(&run->uop[p], &state);
		tsr_alu_leave(&saved);
		for (unsigned int i = 0; i < run->used; i++)
			judge_lane(run, p, i / TSR_WARP_LANES, i % TSR_WARP_LANES, expected[i]);
	}
	run->used = 0;
}

static void add(struct run *run, const uint32_t src[4])
{
	for (unsigned int n = 0; n < 4; n++)
		run->reg[n][run->used / TSR_WARP_LANES].u[run->used % TSR_WARP_LANES] = src[n];
	if (++run->used == LANES)
		flush(run);
}

/* Every combination of the first three sources. */
static void add_specials(struct run *run)
{
	const uint8_t *kind = run->c->source;
	unsigned int n[4], i[4];
	uint32_t src[4];

	for (unsigned int s = 0; s < 4; s++)
		n[s] = specials(kind[s]);
	for (i[0] = 0; i[0] < n[0]; i[0]++) {
		for (i[1] = 0; i[1] < n[1]; i[1]++) {
			for (i[2] = 0; i[2] < n[2]; i[2]++) {
				i[3] = n[3] > 1 ? float_random() % n[3] : 0;
				for (unsigned int s = 0; s < 4; s++)
					src[s] = special(kind[s], i[s]);
				add(run, src);
			}
		}
	}
}

static bool run_all(struct run *run, unsigned long count)
{
	uint32_t src[4];

	prepare(run);
	if (!run->c->random_only)
		add_specials(run);
	while (count--) {
		uint32_t near = float_random();

		for (unsigned int s = 0; s < 4; s++)
			src[s] = random_source(run->c->source[s], near);
		add(run, src);
	}
	flush(run);
	return !run->bad;
}

bool float_run(const struct float_case *c, float_oracle *oracle, unsigned long count)
{
	struct run run = { .c = c, .oracle = oracle };

	return run_all(&run, count);
}

bool float_run_judged(const struct float_case *c, float_judge *judge, unsigned long count)
{
	struct run run = { .c = c, .judge = judge };

	return run_all(&run, count);
}

bool float_run_range(const struct float_case *c, float_judge *judge, uint32_t first, uint64_t count,
		     uint32_t step)
{
	struct run run = { .c = c, .judge = judge };
	uint32_t src[4] = { first };

	prepare(&run);
	for (; count; count--, src[0] += step)
		add(&run, src);
	flush(&run);
	return !run.bad;
}

void float_default_insn(struct tsr_insn *insn, unsigned int op)
{
	const struct tsr_op_info *info = &tsr_ops[op];

	*insn = (struct tsr_insn){ .op = op };
	for (unsigned int i = 0; i < info->num_mods; i++) {
		/* TSR_MOD_WRITTEN is no value of any modifier */
		if (tsr_mod_value_name(info->mods[i], info->mod_defaults[i]))
			insn->mod[info->mods[i]] = info->mod_defaults[i];
	}
}

/* A value of a modifier, or what it has where few values are possible and tests set them. */
static uint8_t random_modifier(unsigned int op, unsigned int mod, uint8_t old)
{
	uint32_t n = float_random();

	switch (mod) {
	case TSR_MOD_SWZ0:
	case TSR_MOD_SWZ1:
	case TSR_MOD_SWZ2:
		return old >= TSR_SWZ_B00 ? TSR_SWZ_B00 + n % 16 : n % 4;
	case TSR_MOD_LANE0:
		return old >= TSR_LANE_B0 ? TSR_LANE_B0 + n % 4 : TSR_LANE_H0 + n % 2;
	case TSR_MOD_WIDEN0:
	case TSR_MOD_WIDEN1:
		return op == TSR_OP_ADD_FRCP_F32 || op == TSR_OP_ADD_FRSQ_F32 ? old : n % 3;
	case TSR_MOD_CLAMP:
		return op == TSR_OP_ADD_FADD_RSCALE_F32 ? n % 2 * TSR_CLAMP_CLAMP_0_1 : n % 4;
	case TSR_MOD_RESULT_TYPE:
		return n % 3;
	case TSR_MOD_SEM:
		return n % 4;
	case TSR_MOD_CMPF:
		return n % 8;
	case TSR_MOD_SPECIAL:
		return op == TSR_OP_ADD_FADD_RSCALE_F32 ? old : n % 3;
	case TSR_MOD_ABS0:
	case TSR_MOD_ABS1:
	case TSR_MOD_ABS2:
	case TSR_MOD_NEG0:
	case TSR_MOD_NEG1:
	case TSR_MOD_NEG2:
	case TSR_MOD_SQRT:
		return n % 2;
	default:
		return old;
	}
}

void float_random_modifiers(struct tsr_insn *insn)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];

	for (unsigned int i = 0; i < info->num_mods; i++)
		insn->mod[info->mods[i]] = random_modifier(insn->op, info->mods[i],
							   insn->mod[info->mods[i]]);
}

void float_run_modes(unsigned int op, const uint8_t source[4], unsigned int rounds,
		     float_oracle *oracle)
{
	enum {
		SAMPLES = 16
	};
	unsigned long count = float_count() / (4 * SAMPLES * __builtin_popcount(rounds)) + 1;
	struct float_case c;

	memcpy(c.source, source, sizeof(c.source));
	for (unsigned int i = 0; i < 8 * 4 * SAMPLES; i++) {
		unsigned int round = i / (4 * SAMPLES), sample = i % SAMPLES;

		if (!(rounds >> round & 1))
			continue;
		c.mode = (struct tsr_alu_mode){ .ftz = i / SAMPLES % 4 };
		c.random_only = sample;
		float_default_insn(&c.insn, op);
		if (sample) {
			float_random_modifiers(&c.insn);
			c.mode.suppress_inf = sample == 1 || sample == 3;
			c.mode.suppress_nan = sample == 2 || sample == 3;
		}
		c.insn.mod[TSR_MOD_ROUND] = round;
		float_run(&c, oracle, count);
	}
}
