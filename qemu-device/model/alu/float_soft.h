/* SPDX-License-Identifier: MIT */
/*
 * Exact floating-point arithmetic on 16 and 32 bits, in integers alone.
 *
 * In: bit patterns and the modes of IEEE 754 that instructions and clause headers select. Out: bit
 * patterns, the same on every host. Slow; what is common has vector code (alu_float*.h), which
 * gives the same bits.
 *
 * Numbers are unpacked to struct tsr_real, exact but for a sticky bit, worked on, and rounded once.
 */
#ifndef TSR_SHADER_FLOAT_SOFT_H
#define TSR_SHADER_FLOAT_SOFT_H

#include "alu.h"

enum tsr_float_width {
	TSR_F16,
	TSR_F32,
};

enum tsr_real_kind {
	TSR_REAL_ZERO,
	TSR_REAL_FINITE,
	TSR_REAL_INF,
	TSR_REAL_NAN,
};

/* A number: sig * 2^exp, with bit 0 of sig set also if anything smaller was lost. */
struct tsr_real {
	enum tsr_real_kind kind;
	bool negative;
	int32_t exp;
	uint64_t sig; /* not 0 when FINITE */
};

#define TSR_F32_NAN 0x7fc00000u /* the NaN that arithmetic returns */
#define TSR_F16_NAN 0x7e00u
#define TSR_F32_ONE 0x3f800000u
#define TSR_F16_ONE 0x3c00u
#define TSR_F32_INF 0x7f800000u
#define TSR_F16_INF 0x7c00u

/* Scales beyond this change nothing any more; larger ones are cut to it. */
#define TSR_SCALE_MAX 0x2000

/* True if subnormal sources, or results, of that width become zero. */
bool tsr_float_flush_in(const struct tsr_alu_mode *mode, enum tsr_float_width width);
bool tsr_float_flush_out(const struct tsr_alu_mode *mode, enum tsr_float_width width);

/* @bits, of which 16 or 32 count; flushed as @mode says. */
struct tsr_real tsr_real_unpack(uint32_t bits, enum tsr_float_width width,
				const struct tsr_alu_mode *mode);
struct tsr_real tsr_real_from_int(int64_t x);

struct tsr_real tsr_real_mul(struct tsr_real x, struct tsr_real y);
/* @round decides the sign of an exact zero. */
struct tsr_real tsr_real_add(struct tsr_real x, struct tsr_real y, unsigned int round);
/* x * 2^scale */
struct tsr_real tsr_real_scale(struct tsr_real x, int32_t scale);
/* The integer nearest to x in the sense of @round, with the sign of x when it is 0. */
struct tsr_real tsr_real_integral(struct tsr_real x, unsigned int round);

/* Rounding of a result. */
struct tsr_rounding {
	enum tsr_float_width width;
	uint8_t round; /* TSR_ROUND_… */
	uint8_t clamp; /* TSR_CLAMP_… */
	const struct tsr_alu_mode *mode;
};

/*
 * Round @x, flush it if it is tiny (by its value rounded to full precision with unbounded
 * exponent), replace NaN and infinity as the clause wants, clamp it. A clamp takes NaN to its lower
 * bound and with lower bound 0 -0 to +0.
 */
uint32_t tsr_real_pack(struct tsr_real x, const struct tsr_rounding *how);

/* @x as an integer of @bits bits: rounded, saturated; NaN is 0. */
uint32_t tsr_real_to_int(struct tsr_real x, unsigned int round, unsigned int bits, bool is_signed);

#endif
