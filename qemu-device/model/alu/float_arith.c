/* SPDX-License-Identifier: MIT */
/*
 * Sums and products: FMA, FADD and their scaled forms. Each result is rounded once.
 */
#include "float_ops.h"

uint32_t tsr_float_fma(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	struct tsr_real x = tsr_real_mul(tsr_float_real(uop, 0, src[0]),
					 tsr_float_real(uop, 1, src[1]));

	(void)pair;
	x = tsr_real_add(x, tsr_float_real(uop, 2, src[2]), uop->insn->mod[TSR_MOD_ROUND]);
	return tsr_float_pack(uop, x, TSR_F32);
}

static uint32_t fma_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	struct tsr_real x = tsr_real_mul(tsr_float_half_real(uop, 0, src[0], half),
					 tsr_float_half_real(uop, 1, src[1], half));

	x = tsr_real_add(x, tsr_float_half_real(uop, 2, src[2], half),
			 uop->insn->mod[TSR_MOD_ROUND]);
	return tsr_float_pack(uop, x, TSR_F16);
}

uint32_t tsr_float_fma_half(const struct tsr_uop *uop, const uint32_t src[4],
			    const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, fma_half);
}

/*
 * The product of a scaled FMA. Reciprocals and square roots refine an estimate and must get 1/0,
 * 1/inf and sqrt of both right: n takes 0 times anything for 0; left takes 0 * inf and inf * 0 for
 * the left factor.
 */
static struct tsr_real scaled_product(struct tsr_real x, struct tsr_real y, unsigned int special)
{
	bool left_zero = x.kind == TSR_REAL_ZERO, right_zero = y.kind == TSR_REAL_ZERO;

	if (special == TSR_SPECIAL_N && (left_zero || right_zero))
		return (struct tsr_real){ .negative = x.negative ^ y.negative };
	if (special == TSR_SPECIAL_LEFT &&
	    ((left_zero && y.kind == TSR_REAL_INF) || (right_zero && x.kind == TSR_REAL_INF))) {
		x.negative ^= y.negative;
		return x;
	}
	return tsr_real_mul(x, y);
}

static uint32_t fma_rscale(const struct tsr_uop *uop, struct tsr_real x, struct tsr_real y,
			   struct tsr_real z, int32_t scale, enum tsr_float_width width)
{
	x = scaled_product(x, y, uop->insn->mod[TSR_MOD_SPECIAL]);
	x = tsr_real_add(x, z, uop->insn->mod[TSR_MOD_ROUND]);
	return tsr_float_pack(uop, tsr_real_scale(x, scale), width);
}

/* (a * b + c) * 2^d */
uint32_t tsr_float_fma_rscale(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3])
{
	(void)pair;
	return fma_rscale(uop, tsr_float_real(uop, 0, src[0]), tsr_float_real(uop, 1, src[1]),
			  tsr_float_real(uop, 2, src[2]), src[3], TSR_F32);
}

/* The sources have no swizzle; each half of d scales its half. */
static uint32_t plain_half(const struct tsr_uop *uop, unsigned int n, uint32_t word,
			   unsigned int half)
{
	uint32_t bits = word >> 16 * half & 0xffff;

	if (uop->insn->mod[TSR_MOD_ABS0 + n])
		bits &= 0x7fff;
	if (uop->insn->mod[TSR_MOD_NEG0 + n])
		bits ^= 0x8000;
	return bits;
}

static uint32_t fma_rscale_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	struct tsr_real x[3];

	for (unsigned int n = 0; n < 3; n++)
		x[n] = tsr_real_unpack(plain_half(uop, n, src[n], half), TSR_F16, &uop->mode);
	return fma_rscale(uop, x[0], x[1], x[2], (int16_t)(src[3] >> 16 * half), TSR_F16);
}

uint32_t tsr_float_fma_rscale_half(const struct tsr_uop *uop, const uint32_t src[4],
				   const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, fma_rscale_half);
}

uint32_t tsr_float_add(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_pack(uop,
			      tsr_real_add(tsr_float_real(uop, 0, src[0]),
					   tsr_float_real(uop, 1, src[1]),
					   uop->insn->mod[TSR_MOD_ROUND]),
			      TSR_F32);
}

static uint32_t add_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	return tsr_float_pack(uop,
			      tsr_real_add(tsr_float_half_real(uop, 0, src[0], half),
					   tsr_float_half_real(uop, 1, src[1], half),
					   uop->insn->mod[TSR_MOD_ROUND]),
			      TSR_F16);
}

uint32_t tsr_float_add_half(const struct tsr_uop *uop, const uint32_t src[4],
			    const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, add_half);
}

/* (a + b) * 2^c */
uint32_t tsr_float_add_rscale(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3])
{
	struct tsr_real x = tsr_real_add(tsr_float_real(uop, 0, src[0]),
					 tsr_float_real(uop, 1, src[1]),
					 uop->insn->mod[TSR_MOD_ROUND]);

	(void)pair;
	return tsr_float_pack(uop, tsr_real_scale(x, src[2]), TSR_F32);
}

/* a + the mantissa of b that FREXPM.log gives */
uint32_t tsr_float_add_lscale(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3])
{
	struct tsr_real x = tsr_float_real(uop, 1, src[1]);

	(void)pair;
	if (x.kind == TSR_REAL_FINITE)
		tsr_real_frexp(&x, TSR_FREXP_LOG);
	return tsr_float_pack_plain(
		uop, tsr_real_add(tsr_float_real(uop, 0, src[0]), x, TSR_ROUND_NONE), TSR_F32);
}
