/* SPDX-License-Identifier: MIT */
/*
 * Reciprocals. A template, see alu_path.h.
 */

/* The unit divides and takes roots correctly rounded. */
TSR_INLINE vf32 reciprocal(vf32 x)
{
	return (vf32)TSR_VF_(div_ps)(TSR_VF_(set1_ps)(1.0f), (tsr_ps)x);
}

/*
 * In double precision: two roundings to 53 bits and one to 24. That the last one never goes wrong
 * is what trying all floats shows (tests/numeric/float_special.c with EXHAUSTIVE=1).
 */
TSR_OUT_OF_LINE vf32 reciprocal_root_exact(vf32 x)
{
	struct tsr_doubles d = to_doubles(x);

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		d.part[i] = (vf64)TSR_VF_(div_pd)(TSR_VF_(set1_pd)(1.0),
						  TSR_VF_(sqrt_pd)((tsr_pd)d.part[i]));
	return to_floats(d);
}

#ifndef TSR_ALU_SSE2

/* y is about 1 / sqrt(2 h): Newton's method squares its error. */
TSR_INLINE vf64 closer_root(vf64 y, vf64 h)
{
	return fused(y, fused_less(h * y, y, (vf64){ 0 } + 0.5), y);
}

/*
 * Reciprocal square root of normal numbers. The host's approximation is refined until every bit of
 * the float is right. All floats have been tried (tests/numeric/float_special.c).
 */
TSR_INLINE vf32 reciprocal_root_normal(vf32 x)
{
	struct tsr_doubles d = to_doubles(x), y = d;

#ifdef TSR_ALU_AVX2
	y = to_doubles((vf32)_mm256_rsqrt_ps((__m256)x));
#endif
	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		vf64 h = d.part[i] * 0.5;

#ifdef TSR_ALU_AVX512
		y.part[i] = (vf64)_mm512_rsqrt14_pd((__m512d)d.part[i]);
#else
		y.part[i] = closer_root(y.part[i], h);
#endif
		y.part[i] = closer_root(closer_root(y.part[i], h), h);
	}
	return to_floats(y);
}

TSR_INLINE vf32 reciprocal_root(vf32 x)
{
	/* from the smallest normal number up */
	if (all_between(x, 0x1.fffffcp-127f, __builtin_inff()))
		return reciprocal_root_normal(x);
	return reciprocal_root_exact(x);
}

#else

TSR_INLINE vf32 reciprocal_root(vf32 x)
{
	return reciprocal_root_exact(x);
}

#endif

TSR_ALU_OP(run_rcp, 1, canonical(reciprocal((vf32)TSR_SIGNS(0, a))))
TSR_ALU_OP(run_rsq, 1, canonical(reciprocal_root((vf32)TSR_SIGNS(0, a))))

static bool select_special(struct tsr_uop *uop, tsr_uop_fn *fn)
{
	if (rare_mode(uop) || uop->insn->mod[TSR_MOD_WIDEN0])
		return false;
	decode_signs(uop, 1, 0x80000000);
	uop->fn = fn;
	return true;
}

static bool select_rcp(struct tsr_uop *uop)
{
	return select_special(uop, run_rcp);
}

static bool select_rsq(struct tsr_uop *uop)
{
	return select_special(uop, run_rsq);
}
