/* SPDX-License-Identifier: MIT */
/*
 * Run one floating-point instruction on many sources, on all SIMD paths, and compare with an
 * oracle.
 */
#ifndef TSR_FLOAT_RUN_H
#define TSR_FLOAT_RUN_H

#include "alu/alu.h"

/* The type of a source. It selects the values that are tried. */
enum float_source {
	FLOAT_SOURCE_NONE,
	FLOAT_SOURCE_F32,
	FLOAT_SOURCE_F16, /* a pair */
	FLOAT_SOURCE_INT,
	FLOAT_SOURCE_SCALE, /* an exponent to add, 32 bits */
	FLOAT_SOURCE_SCALES, /* two 16-bit integers */
};

struct float_case {
	struct tsr_insn insn;
	struct tsr_alu_mode mode;
	uint8_t source[4]; /* enum float_source */
	bool random_only; /* leave the combinations of special values out */
};

/* The result for one thread; or whether @got is acceptable, with the best in *result. */
typedef uint32_t float_oracle(const struct float_case *c, const uint32_t src[4]);
typedef bool float_judge(const struct float_case *c, const uint32_t src[4], uint32_t got,
			 uint32_t *result);

/*
 * All combinations of special values and @count random ones. Paths that share a function are run
 * once. The first differences are reported as failures of the running KTAP test; false if there was
 * any.
 */
bool float_run(const struct float_case *c, float_oracle *oracle, unsigned long count);
bool float_run_judged(const struct float_case *c, float_judge *judge, unsigned long count);
/* All values of source 0 from @first, @count of them, @step apart. */
bool float_run_range(const struct float_case *c, float_judge *judge, uint32_t first, uint64_t count,
		     uint32_t step);

/*
 * Random values per encoding: 2^22, 2^20 with TSR_QUICK, what TSR_FLOAT_COUNT says, 2^26 with
 * EXHAUSTIVE=1.
 */
unsigned long float_count(void);
/* EXHAUSTIVE=1: try all values of one source. */
bool float_exhaustive(void);

uint32_t float_random(void);

/*
 * Run the operation with each rounding mode of the bit mask @rounds (1 << TSR_ROUND_…) and each
 * flush mode: without modifiers on special and random values, then with random modifiers on random
 * ones. float_count() values in all.
 */
void float_run_modes(unsigned int op, const uint8_t source[4], unsigned int rounds,
		     float_oracle *oracle);

/* @insn of operation @op: modifiers that the text form leaves out, or random ones. */
void float_default_insn(struct tsr_insn *insn, unsigned int op);
void float_random_modifiers(struct tsr_insn *insn);

#endif
