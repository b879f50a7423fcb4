/* SPDX-License-Identifier: MIT */
/*
 * Comparisons of 32-bit floats, and selections by them. A template, see alu_path.h. The unit's
 * comparisons flush sources themselves.
 */

#define TSR_COMPARE_OPS(cmpf, x, y, condition) \
	TSR_INLINE vu32 compare_##cmpf(vf32 x, vf32 y) \
	{ \
		return (vu32)(condition); \
	} \
	TSR_ALU_OP(run_cmp_##cmpf, 2, \
		   compare_##cmpf((vf32)TSR_SIGNS(0, a), (vf32)TSR_SIGNS(1, b)) & k.param[0]) \
	TSR_ALU_OP(run_csel_##cmpf, 4, select_lanes(compare_##cmpf((vf32)a, (vf32)b), c, d))

TSR_COMPARE_OPS(eq, x, y, x == y)
TSR_COMPARE_OPS(gt, x, y, x > y)
TSR_COMPARE_OPS(ge, x, y, x >= y)
TSR_COMPARE_OPS(ne, x, y, x != y)
TSR_COMPARE_OPS(lt, x, y, x < y)
TSR_COMPARE_OPS(le, x, y, x <= y)
TSR_COMPARE_OPS(gtlt, x, y, (x > y) | (x < y))

/* The functions by condition; the total order is left to float_ops.h. */
#define TSR_COMPARE_FNS(name) \
	{ \
		[TSR_CMPF_EQ] = name##_eq, [TSR_CMPF_GT] = name##_gt, [TSR_CMPF_GE] = name##_ge, \
		[TSR_CMPF_NE] = name##_ne, [TSR_CMPF_LT] = name##_lt, [TSR_CMPF_LE] = name##_le, \
		[TSR_CMPF_GTLT] = name##_gtlt, [TSR_CMPF_TOTAL] = NULL, \
	}

static bool select_compare(struct tsr_uop *uop, uint32_t truth)
{
	static tsr_uop_fn *const fns[] = TSR_COMPARE_FNS(run_cmp);

	if (uop->insn->mod[TSR_MOD_WIDEN0] || uop->insn->mod[TSR_MOD_WIDEN1])
		return false;
	decode_signs(uop, 2, 0x80000000);
	uop->param[0] = truth;
	uop->fn = fns[uop->insn->mod[TSR_MOD_CMPF]];
	return uop->fn;
}

static bool select_cmp(struct tsr_uop *uop)
{
	static const uint32_t truth[] = {
		[TSR_RESULT_TYPE_I1] = 1,
		[TSR_RESULT_TYPE_F1] = TSR_F32_ONE,
		[TSR_RESULT_TYPE_M1] = ~0u,
	};

	return select_compare(uop, truth[uop->insn->mod[TSR_MOD_RESULT_TYPE]]);
}

static bool select_discard(struct tsr_uop *uop)
{
	return select_compare(uop, ~0u);
}

static bool select_csel(struct tsr_uop *uop)
{
	static tsr_uop_fn *const fns[] = TSR_COMPARE_FNS(run_csel);

	uop->fn = fns[uop->insn->mod[TSR_MOD_CMPF]];
	return uop->fn;
}
