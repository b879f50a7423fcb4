/* SPDX-License-Identifier: MIT */
/*
 * Definition of every floating-point instruction, for one thread at a time, with all modifiers and
 * modes.
 *
 * In: an instruction, the modes of its clause, source words. Out: the result word. Common
 * instructions have faster vector code in alu_float*.h, which must give the same bits; all others
 * run from here on every SIMD path.
 */
#ifndef TSR_SHADER_FLOAT_OPS_H
#define TSR_SHADER_FLOAT_OPS_H

#include "float_soft.h"

/* The result for one thread: words of uop->src and uop->pair in @src and @pair. */
typedef uint32_t tsr_float_fn(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3]);

/* By operation; NULL for what is not floating point or has no public semantics. */
extern tsr_float_fn *const tsr_float_table[TSR_OP__COUNT];

/* True if the semantics of @insn, with these modifiers, is public. */
bool tsr_float_defined(const struct tsr_insn *insn);

/* For tsr_uop.fn: run tsr_float_table's function lane by lane. */
void tsr_float_lanes(const struct tsr_uop *uop, struct tsr_alu_state *state);

/*
 * Compare the bits of two 32-bit floats. EQ, GT, GE, LT, LE, GTLT are false and NE is true when
 * either is NaN, and zeros are equal; TOTAL is "before, in IEEE 754's total order".
 */
bool tsr_float_compare(unsigned int cmpf, uint32_t a, uint32_t b);

/* Source @n, the word @word, as a 32-bit float: widened, flushed, absolute value, negated. */
uint32_t tsr_float_source(const struct tsr_uop *uop, unsigned int n, uint32_t word);

/* The parts below make up tsr_float_table. */

/* float_arith.c */
tsr_float_fn tsr_float_fma, tsr_float_fma_half, tsr_float_fma_rscale, tsr_float_fma_rscale_half,
	tsr_float_add, tsr_float_add_half, tsr_float_add_rscale, tsr_float_add_lscale;
/* float_compare.c */
tsr_float_fn tsr_float_min_max, tsr_float_min_max_half, tsr_float_cmp, tsr_float_cmp_half,
	tsr_float_csel, tsr_float_csel_half, tsr_float_discard, tsr_float_cubeface1,
	tsr_float_cubeface2, tsr_float_cube_ssel, tsr_float_cube_tsel;
/* float_convert.c */
tsr_float_fn tsr_float_f16_to_f32, tsr_float_v2f32_to_v2f16, tsr_float_f32_to_int,
	tsr_float_f16_to_int32, tsr_float_v2f16_to_int, tsr_float_int32_to_f32,
	tsr_float_int16_to_f32, tsr_float_int8_to_f32, tsr_float_int16_to_v2f16,
	tsr_float_int8_to_v2f16, tsr_float_round, tsr_float_round_half, tsr_float_quiet,
	tsr_float_quiet_half;
/* float_exponent.c */
tsr_float_fn tsr_float_frexpe, tsr_float_frexpe_half, tsr_float_frexpm, tsr_float_frexpm_half,
	tsr_float_ldexp, tsr_float_ldexp_half, tsr_float_logb, tsr_float_logb_half, tsr_float_ilogb,
	tsr_float_ilogb_half;
/* float_special.c */
tsr_float_fn tsr_float_rcp, tsr_float_rcp_half, tsr_float_rsq, tsr_float_rsq_half,
	tsr_float_rcp_approx, tsr_float_rsq_approx, tsr_float_exp, tsr_float_exp_table,
	tsr_float_logd, tsr_float_log_table, tsr_float_sin_table, tsr_float_cos_table;

/* The numbers of float_special.c: what each is stands there. */
#define TSR_EXP2_TERMS 12
#define TSR_LOG2_TERMS 10
#define TSR_TWO_OVER_LN2 0x1.71547652b82fep+1
extern const double tsr_float_exp2_series[TSR_EXP2_TERMS], tsr_float_log2_series[TSR_LOG2_TERMS];
extern const double tsr_float_exp2_steps[16];
extern const uint32_t tsr_float_sines[64], tsr_float_exponentials[16];

/* Shared by them: sources as numbers, and results. */
struct tsr_real tsr_float_real(const struct tsr_uop *uop, unsigned int n, uint32_t word);
/* Half @half (0 low, 1 high) of v2f16 source @n after its swizzle, as bits and as a number. */
uint32_t tsr_float_half_source(const struct tsr_uop *uop, unsigned int n, uint32_t word,
			       unsigned int half);
struct tsr_real tsr_float_half_real(const struct tsr_uop *uop, unsigned int n, uint32_t word,
				    unsigned int half);
/* The 16-bit float that a lane modifier names, with the modifiers of source 0. */
struct tsr_real tsr_float_lane_real(const struct tsr_uop *uop, uint32_t word);
/* Rounded and clamped as the modifiers of the instruction say. */
uint32_t tsr_float_pack(const struct tsr_uop *uop, struct tsr_real x, enum tsr_float_width width);
/* Packs a result, exact or rounded to nearest even, without a clamp. */
uint32_t tsr_float_pack_plain(const struct tsr_uop *uop, struct tsr_real x,
			      enum tsr_float_width width);
/* Exact. */
uint32_t tsr_float_widened(uint32_t half);

/*
 * A finite number as m * 2^e, 1 <= |m| < 2, moved to the range of FREXPM and FREXPE. @x becomes the
 * mantissa.
 */
enum tsr_frexp {
	TSR_FREXP,
	TSR_FREXP_SQRT,
	TSR_FREXP_LOG
};
int32_t tsr_real_frexp(struct tsr_real *x, enum tsr_frexp kind);

/* Both halves of a word, each by @half_fn. */
static inline uint32_t tsr_float_halves(const struct tsr_uop *uop, const uint32_t src[4],
					uint32_t (*half_fn)(const struct tsr_uop *uop,
							    const uint32_t src[4],
							    unsigned int half))
{
	return (half_fn(uop, src, 0) & 0xffff) | half_fn(uop, src, 1) << 16;
}

#endif
