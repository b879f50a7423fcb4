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
TSR_INLINE vf32 reciprocal_root(vf32 x)
{
	struct tsr_doubles d = to_doubles(x);

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		d.part[i] = (vf64)TSR_VF_(div_pd)(TSR_VF_(set1_pd)(1.0),
						  TSR_VF_(sqrt_pd)((tsr_pd)d.part[i]));
	return to_floats(d);
}

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
