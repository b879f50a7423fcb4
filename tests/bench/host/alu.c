/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic units in process: nanoseconds for an instruction of one lane, on each SIMD path of
 * this processor, and for FMA the ratio to a loop of independent vector FMAs in registers on the
 * same path. Micro-operations are dispatched as a core does it, on full bundles and on ones with
 * half of their lanes off, and with operands that are spread over 32 registers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "figures.h"
#include "alu/alu.h"
#include "simd/simd.h"

#define UOPS	64
#define REGS	32
#define LANES	(TSR_BUNDLE_WARPS * TSR_WARP_LANES)
#define PASSES	200u		/* through the micro-operations, for one measurement */
#define RUNS	201u		/* measurements: short ones, few of which are interrupted */

/* A program of one instruction, on a bundle. */
struct program {
	union tsr_lanes reg[REGS * TSR_BUNDLE_WARPS];
	struct tsr_alu_state state;
	struct tsr_insn insn;
	struct tsr_uop uop[UOPS];
};

static void set_operand(struct tsr_operand *operand, unsigned int reg)
{
	*operand = (struct tsr_operand){ (uint16_t)(reg * TSR_BUNDLE_WARPS), TSR_LANES_REG, 1 };
}

/* Destinations are the upper half of the registers, sources the lower: nothing has to wait. */
static bool prepare(struct program *p, const struct tsr_simd *alu, bool full)
{
	p->state.space[TSR_LANES_REG] = p->reg;
	p->state.warps = TSR_BUNDLE_WARPS;
	p->state.full = full;
	for (unsigned int i = 0; i < REGS * LANES; i++)
		p->reg[i / TSR_WARP_LANES].f[i % TSR_WARP_LANES] = 1.0f + (float)(i % 97) / 128;
	for (unsigned int i = 0; i < LANES; i++) {
		p->state.warp[i / TSR_WARP_LANES] = (uint8_t)(i / TSR_WARP_LANES);
		p->state.mask[i / TSR_WARP_LANES].u[i % TSR_WARP_LANES] = full || i & 1 ? ~0u : 0;
	}
	for (unsigned int i = 0; i < UOPS; i++) {
		struct tsr_uop *uop = &p->uop[i];

		memset(uop, 0, sizeof(*uop));
		uop->insn = &p->insn;
		uop->dst_kind = TSR_DST_ACTIVE;
		set_operand(&uop->dst, REGS / 2 + i % (REGS / 2));
		for (unsigned int s = 0; s < 4; s++)
			set_operand(&uop->src[s], (i * 7 + s * 3) % (REGS / 2));
		if (!tsr_alu_select(alu, uop))
			return false;
	}
	return true;
}

static void run(void *arg, unsigned int count)
{
	struct program *p = arg;
	const struct tsr_alu_mode mode = { 0 };
	struct tsr_alu_saved saved;

	tsr_alu_enter(&saved, &mode);
	for (unsigned int n = 0; n < count; n++) {
		for (unsigned int i = 0; i < UOPS; i++)
			p->uop[i].fn(&p->uop[i], &p->state);
	}
	tsr_alu_leave(&saved);
}

/* A loop of independent FMAs (SSE2: products and sums) of one path's vectors. */
#define ACCUMULATORS 12
#define NATIVE(path, target_name, vector, fma, splat, store)					\
__attribute__((target(target_name))) static void native_##path(void *arg, unsigned int count)	\
{												\
	vector x = splat(0.999f), y = splat(0.001f), acc[ACCUMULATORS];				\
												\
	for (unsigned int i = 0; i < ACCUMULATORS; i++)						\
		acc[i] = splat((float)i);							\
	for (unsigned int n = 0; n < count; n++) {						\
		_Pragma("GCC unroll 12")							\
		for (unsigned int i = 0; i < ACCUMULATORS; i++)					\
			acc[i] = fma;								\
		__asm__ volatile("" : "+x" (x), "+x" (y));					\
	}											\
	for (unsigned int i = 1; i < ACCUMULATORS; i++)						\
		acc[0] += acc[i];								\
	store(arg, acc[0]);									\
}

#ifdef __x86_64__
NATIVE(sse2, "sse2", __m128, _mm_add_ps(_mm_mul_ps(acc[i], x), y), _mm_set1_ps, _mm_storeu_ps)
NATIVE(avx2, "avx2,fma", __m256, _mm256_fmadd_ps(acc[i], x, y), _mm256_set1_ps, _mm256_storeu_ps)
NATIVE(avx512, "avx512f", __m512, _mm512_fmadd_ps(acc[i], x, y), _mm512_set1_ps, _mm512_storeu_ps)
#endif

struct path {
	const char *name;
	unsigned int lanes;				/* of a vector */
	void (*native)(void *arg, unsigned int count);	/* NULL: not on this architecture */
};

static const struct path paths[] = {
#ifdef __x86_64__
	{ "sse2", 4, native_sse2 },
	{ "avx2", 8, native_avx2 },
	{ "avx512", 16, native_avx512 },
#else
	{ "sse2", 4, NULL },
#endif
};

/* Instructions that make up most of compiled programs. */
static const struct {
	const char *name;
	enum tsr_op op;
	uint8_t mod, value;
} instructions[] = {
	{ "fma", TSR_OP_FMA_FMA_F32, 0, 0 },
	{ "fadd", TSR_OP_ADD_FADD_F32, 0, 0 },
	{ "mov", TSR_OP_ADD_MOV_I32, 0, 0 },
	{ "iadd", TSR_OP_ADD_IADD_S32, 0, 0 },
	{ "imul", TSR_OP_FMA_IMUL_I32, 0, 0 },
	{ "lshift_or", TSR_OP_FMA_LSHIFT_OR_I32, TSR_MOD_LANE2, TSR_LANE_B0 },
	{ "icmp", TSR_OP_ADD_ICMP_U32, TSR_MOD_CMPF, TSR_CMPF_GT },
	{ "csel", TSR_OP_FMA_CSEL_S32, TSR_MOD_CMPF, TSR_CMPF_GT },
	{ "mux", TSR_OP_ADD_MUX_I32, TSR_MOD_MUX, TSR_MUX_INT_ZERO },
	{ "mkvec", TSR_OP_FMA_MKVEC_V2I16, TSR_MOD_LANE0, TSR_LANE_H0 },
	{ "u16_to_u32", TSR_OP_ADD_U16_TO_U32, TSR_MOD_LANE0, TSR_LANE_H1 },
	{ "clper", TSR_OP_ADD_CLPER_I32, TSR_MOD_LANE_OP, TSR_LANE_OP_XOR },
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median time of a lane; and, if there is one, that of the native loop measured in turn with it. */
static double lane_time(struct program *p, const struct path *path, double *native)
{
	static double times[RUNS], natives[RUNS];
	float sink[TSR_WARP_LANES];

	for (unsigned int i = 0; i < RUNS; i++) {
		times[i] = figure_once(run, p, PASSES) / (UOPS * LANES);
		if (native)
			natives[i] = figure_once(path->native, sink, PASSES * UOPS) /
				     (ACCUMULATORS * path->lanes);
	}
	qsort(times, RUNS, sizeof(times[0]), ascending);
	if (native) {
		qsort(natives, RUNS, sizeof(natives[0]), ascending);
		*native = natives[RUNS / 2];
	}
	return times[RUNS / 2];
}

static void figure(const char *what, const struct path *path, double value, const char *unit)
{
	char text[80];

	snprintf(text, sizeof(text), "alu_%s_%s", what, path->name);
	figure_print(text, value, unit);
}

static void measure(const struct path *path, const struct tsr_simd *alu)
{
	static struct program p;

	for (unsigned int i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++) {
		bool fma = instructions[i].op == TSR_OP_FMA_FMA_F32;
		double native, time;

		memset(&p, 0, sizeof(p));
		p.insn.op = (uint16_t)instructions[i].op;
		p.insn.mod[instructions[i].mod] = instructions[i].value;
		if (!prepare(&p, alu, true))
			continue;
		time = lane_time(&p, path, fma && path->native ? &native : NULL);
		figure(instructions[i].name, path, time, "ns");
		if (fma && path->native)
			figure("fma_to_native", path, native / time, "ratio");
		if (fma && prepare(&p, alu, false))
			figure("fma_masked", path, lane_time(&p, path, NULL), "ns");
	}
}

int main(void)
{
	for (unsigned int i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const struct tsr_simd *alu = tsr_simd_named(paths[i].name);

		if (alu)
			measure(&paths[i], alu);
	}
	return 0;
}
