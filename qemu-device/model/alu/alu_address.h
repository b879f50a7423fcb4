/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of addresses and atomics: 64-bit sums made by the two instructions of a tuple, and
 * what is done to the two words an atomic returns. A template, see alu_path.h.
 *
 * The FMA instruction of a pair gives the low word; the ADD instruction, which sees the FMA
 * instruction's sources as well, the high one.
 */

/*
 * SEG_ADD and SEG_SUB: to and from the address window of a segment. Its base has no low word, so
 * nothing is carried.
 */
_Static_assert((uint32_t)TSR_WINDOW_GROUP == 0 && (uint32_t)TSR_WINDOW_SCRATCH == 0,
	       "bases of windows");

/* param[0]: what is added to the high word; param[1]: ones when the address 0 stays 0 */
TSR_ALU_OP_(run_seg_high, 2, uop->src[0], uop->pair[0], uop->src[0], uop->src[0],
	    a + (k.param[0] & ~((vu32)((a | b) == 0) & k.param[1])))

static bool select_seg_low(struct tsr_uop *uop)
{
	uop->fn = run_mov;
	return true;
}

static bool select_seg_high(struct tsr_uop *uop, enum tsr_op low, bool back)
{
	const uint8_t *mod = uop->insn->mod;
	uint32_t base;

	if (mod[TSR_MOD_SEG] == TSR_SEG_WLS)
		base = TSR_WINDOW_GROUP >> 32;
	else if (mod[TSR_MOD_SEG] == TSR_SEG_TL)
		base = TSR_WINDOW_SCRATCH >> 32;
	else
		return false;
	if (!uop->pair_insn || uop->pair_insn->op != low)
		return false;
	uop->param[0] = back ? -base : base;
	uop->param[1] = mod[TSR_MOD_PRESERVE_NULL] ? ~0u : 0;
	uop->fn = run_seg_high;
	return true;
}

static bool select_seg_add_high(struct tsr_uop *uop)
{
	return select_seg_high(uop, TSR_OP_FMA_SEG_ADD, false);
}

static bool select_seg_sub_high(struct tsr_uop *uop)
{
	return select_seg_high(uop, TSR_OP_FMA_SEG_SUB, true);
}

/*
 * SHADDX: A + (B << shift). SHADDXL has the low words of A and B, or a B of 32 or fewer bits that
 * it extends; SHADDXH has the high words, of which that of an extended B does not count. param[0]:
 * the shift; param[1]: part of B
 */
TSR_ALU_OP(run_shaddx_low_s, 2, a + (part32s(b, k.param[1]) << k.param[0]))
TSR_ALU_OP(run_shaddx_low_u, 2, a + (part32u(b, k.param[1]) << k.param[0]))

/* The high word, from those of A and B and from the low ones */
TSR_INLINE vu32 shaddx_high(vu32 a_high, vu32 b_high, vu32 a_low, vu32 b_low, uint32_t shift)
{
	vu32 low = a_low + (b_low << shift);
	vu32 carry = (vu32)(low < a_low) & 1;

	return a_high + (b_high << shift | b_low >> 1 >> (31 - shift)) + carry;
}

#define SHADDX_HIGH(name, b_high, b_low)							\
	TSR_ALU_OP_(name, 4, uop->src[0], uop->src[1], uop->pair[0], uop->pair[1],		\
		    shaddx_high(a, b_high, c, b_low, k.param[0]))
SHADDX_HIGH(run_shaddx_high_i, b, d)
SHADDX_HIGH(run_shaddx_high_s, (vu32)((vs32)part32s(d, k.param[1]) >> 31), part32s(d, k.param[1]))
SHADDX_HIGH(run_shaddx_high_u, (vu32){0}, part32u(d, k.param[1]))
#undef SHADDX_HIGH

static void shaddx_params(struct tsr_uop *uop, const struct tsr_insn *low)
{
	uop->param[0] = low->imm[TSR_IMM_SHIFT];
	uop->param[1] = tsr_part_of_lane(low->mod[TSR_MOD_LANE1]);
}

static bool select_shaddx_low_s(struct tsr_uop *uop)
{
	shaddx_params(uop, uop->insn);
	uop->fn = run_shaddx_low_s;
	return true;
}

static bool select_shaddx_low_u(struct tsr_uop *uop)
{
	shaddx_params(uop, uop->insn);
	uop->fn = run_shaddx_low_u;
	return true;
}

static bool select_shaddx_high(struct tsr_uop *uop)
{
	if (!uop->pair_insn)
		return false;
	switch (uop->pair_insn->op) {
	case TSR_OP_FMA_SHADDXL_I64:
		uop->fn = run_shaddx_high_i;
		break;
	case TSR_OP_FMA_SHADDXL_S32:
		uop->fn = run_shaddx_high_s;
		break;
	case TSR_OP_FMA_SHADDXL_U32:
		uop->fn = run_shaddx_high_u;
		break;
	default:
		return false;
	}
	shaddx_params(uop, uop->pair_insn);
	return true;
}

/* ATOM_POST: the old value, combined with what lanes before this one did to the same word. */
TSR_ALU_OP(run_and, 2, a & b)
TSR_ALU_OP(run_or, 2, a | b)
TSR_ALU_OP(run_xor, 2, a ^ b)
TSR_ALU_OP(run_min_s, 2, choose(COMPARED(vs32, <, a, b), a, b))
TSR_ALU_OP(run_max_s, 2, choose(COMPARED(vs32, >, a, b), a, b))
TSR_ALU_OP(run_min_u, 2, choose(COMPARED(vu32, <, a, b), a, b))
TSR_ALU_OP(run_max_u, 2, choose(COMPARED(vu32, >, a, b), a, b))

static bool select_atom_post(struct tsr_uop *uop)
{
	static tsr_uop_fn *const functions[] = {
		[TSR_ATOM_OPC_AADD] = run_add,
		[TSR_ATOM_OPC_ASMIN] = run_min_s,
		[TSR_ATOM_OPC_ASMAX] = run_max_s,
		[TSR_ATOM_OPC_AUMIN] = run_min_u,
		[TSR_ATOM_OPC_AUMAX] = run_max_u,
		[TSR_ATOM_OPC_AAND] = run_and,
		[TSR_ATOM_OPC_AOR] = run_or,
		[TSR_ATOM_OPC_AXOR] = run_xor,
	};
	unsigned int opc = uop->insn->mod[TSR_MOD_ATOM_OPC];

	uop->fn = opc < sizeof(functions) / sizeof(functions[0]) ? functions[opc] : NULL;
	return uop->fn;
}
