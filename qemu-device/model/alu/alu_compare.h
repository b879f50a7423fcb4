/* SPDX-License-Identifier: MIT */
/*
 * Integer comparisons and selections. A template, see alu_path.h.
 */

/* All ones where x OP y, in elements of one type. */
#define COMPARED(type, op, x, y) ((vu32)((type)(x) op (type)(y)))

/* ICMP: param[2] is what true gives, in every element. */
#define ICMP_OP(suffix, type, op, x, y)								\
	TSR_ALU_OP(run_icmp_##suffix, 2, COMPARED(type, op, x, y) & k.param[2])
#define ICMP_OPS(suffix, s, u, x, y)								\
	ICMP_OP(eq_##suffix, u, ==, x, y)							\
	ICMP_OP(ne_##suffix, u, !=, x, y)							\
	ICMP_OP(gt_s##suffix, s, >, x, y)							\
	ICMP_OP(ge_s##suffix, s, >=, x, y)							\
	ICMP_OP(gt_u##suffix, u, >, x, y)							\
	ICMP_OP(ge_u##suffix, u, >=, x, y)							\
	ICMP_OP(lt_s##suffix, s, <, x, y)							\
	ICMP_OP(le_s##suffix, s, <=, x, y)							\
	ICMP_OP(lt_u##suffix, u, <, x, y)							\
	ICMP_OP(le_u##suffix, u, <=, x, y)
ICMP_OPS(32, vs32, vu32, a, b)
ICMP_OPS(16, vs16, vu16, part16u(a, k.param[0]), part16u(b, k.param[1]))
ICMP_OPS(8, vs8, vu8, a, b)
#undef ICMP_OPS
#undef ICMP_OP

/* CSEL: where sources 0 and 1 compare so, source 2, else 3. */
#define CSEL_OP(suffix, type, op)								\
	TSR_ALU_OP(run_csel_##suffix, 4, choose(COMPARED(type, op, a, b), c, d))
#define CSEL_OPS(suffix, s, u)									\
	CSEL_OP(eq_##suffix, u, ==)								\
	CSEL_OP(ne_##suffix, u, !=)								\
	CSEL_OP(gt_s##suffix, s, >)								\
	CSEL_OP(ge_s##suffix, s, >=)								\
	CSEL_OP(gt_u##suffix, u, >)								\
	CSEL_OP(ge_u##suffix, u, >=)								\
	CSEL_OP(lt_s##suffix, s, <)								\
	CSEL_OP(le_s##suffix, s, <=)								\
	CSEL_OP(lt_u##suffix, u, <)								\
	CSEL_OP(le_u##suffix, u, <=)
CSEL_OPS(32, vs32, vu32)
CSEL_OPS(16, vs16, vu16)
#undef CSEL_OPS
#undef CSEL_OP

/* The function for a comparison of signed or unsigned numbers; integers have no others. */
#define COMPARISONS(prefix, suffix)								\
static tsr_uop_fn *prefix##_fn_##suffix(unsigned int cmpf, bool is_signed)			\
{												\
	switch (cmpf) {										\
	case TSR_CMPF_EQ:									\
		return run_##prefix##_eq_##suffix;						\
	case TSR_CMPF_NE:									\
		return run_##prefix##_ne_##suffix;						\
	case TSR_CMPF_GT:									\
		return is_signed ? run_##prefix##_gt_s##suffix : run_##prefix##_gt_u##suffix;	\
	case TSR_CMPF_GE:									\
		return is_signed ? run_##prefix##_ge_s##suffix : run_##prefix##_ge_u##suffix;	\
	case TSR_CMPF_LT:									\
		return is_signed ? run_##prefix##_lt_s##suffix : run_##prefix##_lt_u##suffix;	\
	case TSR_CMPF_LE:									\
		return is_signed ? run_##prefix##_le_s##suffix : run_##prefix##_le_u##suffix;	\
	default:										\
		return NULL;									\
	}											\
}
COMPARISONS(icmp, 32)
COMPARISONS(icmp, 16)
COMPARISONS(icmp, 8)
COMPARISONS(csel, 32)
COMPARISONS(csel, 16)
#undef COMPARISONS

/* @one: the integer 1 in every element, @real: the number 1.0 */
static bool select_icmp(struct tsr_uop *uop, tsr_uop_fn *fn, uint32_t one, uint32_t real)
{
	const uint8_t *mod = uop->insn->mod;

	uop->param[0] = tsr_part_of_swz(mod[TSR_MOD_SWZ0]);
	uop->param[1] = tsr_part_of_swz(mod[TSR_MOD_SWZ1]);
	uop->param[2] = mod[TSR_MOD_RESULT_TYPE] == TSR_RESULT_TYPE_M1 ? ~0u :
			mod[TSR_MOD_RESULT_TYPE] == TSR_RESULT_TYPE_F1 ? real : one;
	uop->fn = fn;
	return fn && uop->param[2];
}

#define SELECT_ICMP(name, suffix, is_signed, one, real)						\
static bool select_icmp_##name(struct tsr_uop *uop)						\
{												\
	tsr_uop_fn *fn = icmp_fn_##suffix(uop->insn->mod[TSR_MOD_CMPF], is_signed);		\
												\
	return select_icmp(uop, fn, one, real);							\
}
SELECT_ICMP(s32, 32, true, 1, 0x3f800000)
SELECT_ICMP(u32, 32, false, 1, 0x3f800000)
SELECT_ICMP(s16, 16, true, 0x00010001, 0x3c003c00)
SELECT_ICMP(u16, 16, false, 0x00010001, 0x3c003c00)
SELECT_ICMP(s8, 8, true, 0x01010101, 0)
SELECT_ICMP(u8, 8, false, 0x01010101, 0)
#undef SELECT_ICMP

#define SELECT_CSEL(name, suffix, is_signed)							\
static bool select_csel_##name(struct tsr_uop *uop)						\
{												\
	uop->fn = csel_fn_##suffix(uop->insn->mod[TSR_MOD_CMPF], is_signed);			\
	return uop->fn;										\
}
SELECT_CSEL(s32, 32, true)
SELECT_CSEL(u32, 32, false)
SELECT_CSEL(s16, 16, true)
SELECT_CSEL(u16, 16, false)
#undef SELECT_CSEL

/*
 * MUX: source 0 where the condition holds for source 2, else source 1. Of halves and bytes each has
 * its own condition; "bit" is the same for all of them. A floating-point zero is what flushing of
 * sources makes one: param[3] has the bits that must be 0.
 */
TSR_ALU_OP(run_mux_bit, 3, choose(c, a, b))
TSR_ALU_OP(run_mux_neg_32, 3, choose(COMPARED(vs32, <, c, (vu32){0}), a, b))
TSR_ALU_OP(run_mux_zero_32, 3, choose((vu32)((c & k.param[3]) == 0), a, b))
TSR_ALU_OP(run_mux_neg_8, 3, choose(COMPARED(vs8, <, c, (vu32){0}), a, b))
TSR_ALU_OP(run_mux_zero_8, 3, choose((vu32)((vu8)c == 0), a, b))

TSR_INLINE vu32 rotated(vu32 x, uint32_t count)
{
	return x << count | x >> (-count & 31);
}

#define MUX_16(name, condition)									\
	TSR_ALU_OP(name, 3, choose(condition, rotated(a, k.param[0]), rotated(b, k.param[1])))
MUX_16(run_mux_bit_16, rotated(c, k.param[2]))
MUX_16(run_mux_neg_16, COMPARED(vs16, <, rotated(c, k.param[2]), (vu32){0}))
MUX_16(run_mux_zero_16, (vu32)((vu16)(rotated(c, k.param[2]) & k.param[3]) == 0))
#undef MUX_16

static bool select_mux_32(struct tsr_uop *uop)
{
	switch (uop->insn->mod[TSR_MOD_MUX]) {
	case TSR_MUX_NEG:
		uop->fn = run_mux_neg_32;
		break;
	case TSR_MUX_BIT:
		uop->fn = run_mux_bit;
		break;
	case TSR_MUX_INT_ZERO:
		uop->param[3] = ~0u;
		uop->fn = run_mux_zero_32;
		break;
	default:
		uop->param[3] = uop->mode.ftz == TSR_FTZ_DX11 || uop->mode.ftz == TSR_FTZ_ALWAYS ?
				0x7f800000 : 0x7fffffff;
		uop->fn = run_mux_zero_32;
	}
	return true;
}

static bool select_mux_16(struct tsr_uop *uop)
{
	const uint8_t *mod = uop->insn->mod;

	uop->param[0] = mod[TSR_MOD_SWAP0] == TSR_SWAP_H10 ? 16 : 0;
	uop->param[1] = mod[TSR_MOD_SWAP1] == TSR_SWAP_H10 ? 16 : 0;
	uop->param[2] = mod[TSR_MOD_SWAP2] == TSR_SWAP_H10 ? 16 : 0;
	switch (mod[TSR_MOD_MUX]) {
	case TSR_MUX_NEG:
		uop->fn = run_mux_neg_16;
		break;
	case TSR_MUX_BIT:
		uop->fn = run_mux_bit_16;
		break;
	case TSR_MUX_INT_ZERO:
		uop->param[3] = ~0u;
		uop->fn = run_mux_zero_16;
		break;
	default:
		uop->param[3] = uop->mode.ftz == TSR_FTZ_ALWAYS ? 0x7c007c00 : 0x7fff7fff;
		uop->fn = run_mux_zero_16;
	}
	return true;
}

static bool select_mux_8(struct tsr_uop *uop)
{
	switch (uop->insn->mod[TSR_MOD_MUX]) {
	case TSR_MUX_NEG:
		uop->fn = run_mux_neg_8;
		return true;
	case TSR_MUX_INT_ZERO:
		uop->fn = run_mux_zero_8;
		return true;
	default:
		return false;
	}
}
