/* SPDX-License-Identifier: MIT */
/*
 * Counting and reversing bits. A template, see alu_path.h.
 */

TSR_INLINE vu32 population(vu32 x)
{
	x -= x >> 1 & 0x55555555;
	x = (x & 0x33333333) + (x >> 2 & 0x33333333);
	x = (x + (x >> 4)) & 0x0f0f0f0f;
	x += x >> 8;
	return (x + (x >> 16)) & 63;
}

TSR_INLINE vu32 reversed(vu32 x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
	return x >> 16 | x << 16;
}

/* 32 for 0. */
TSR_INLINE vu32 leading_zeros(vu32 x)
{
#if defined(TSR_ALU_AVX512)
	return (vu32)_mm512_lzcnt_epi32((__m512i)x);
#else
	x |= x >> 1;
	x |= x >> 2;
	x |= x >> 4;
	x |= x >> 8;
	x |= x >> 16;
	return population(~x);
#endif
}

TSR_ALU_OP(run_popcount, 1, population(a))
TSR_ALU_OP(run_bitrev, 1, reversed(a))

static bool select_popcount(struct tsr_uop *uop)
{
	uop->fn = run_popcount;
	return true;
}

static bool select_bitrev(struct tsr_uop *uop)
{
	uop->fn = run_bitrev;
	return true;
}

/*
 * param[1]: what a source of 0 gives besides its count of zeros, which is in the low bits of all
 * ones.
 */
TSR_INLINE vu32 zeros_32(vu32 x, uint32_t none)
{
	return leading_zeros(x) | ((vu32)(x == 0) & none);
}

TSR_INLINE vu32 zeros_16(vu32 x, uint32_t none)
{
	vu32 low = leading_zeros(x << 16 | 0x8000), high = leading_zeros(x | 0x8000);

	return low | high << 16 | ((vu32)((vu16)x == 0) & none);
}

TSR_INLINE vu32 zeros_8(vu32 x, uint32_t none)
{
	vu32 count = (vu32)((vu8)x == 0) & none;

	for (unsigned int at = 0; at < 32; at += 8)
		count |= leading_zeros(x << (24 - at) | 0x800000) << at;
	return count;
}

TSR_ALU_OP(run_clz_32, 1, zeros_32(a, k.param[1]))
TSR_ALU_OP(run_clz_16, 1, zeros_16(part16u(a, k.param[0]), k.param[1]))
TSR_ALU_OP(run_clz_8, 1, zeros_8(a, k.param[1]))

static bool select_clz(struct tsr_uop *uop, tsr_uop_fn *fn)
{
	uop->param[0] = tsr_part_of_swz(uop->insn->mod[TSR_MOD_SWZ0]);
	uop->param[1] = uop->insn->mod[TSR_MOD_MASK] ? ~0u : 0;
	uop->fn = fn;
	return true;
}

static bool select_clz_32(struct tsr_uop *uop)
{
	return select_clz(uop, run_clz_32);
}

static bool select_clz_16(struct tsr_uop *uop)
{
	return select_clz(uop, run_clz_16);
}

static bool select_clz_8(struct tsr_uop *uop)
{
	return select_clz(uop, run_clz_8);
}
