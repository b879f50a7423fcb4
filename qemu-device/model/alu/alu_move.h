/* SPDX-License-Identifier: MIT */
/*
 * Moves, parts of words, and words of parts. A template, see alu_path.h.
 */

TSR_ALU_OP(run_mov, 1, a)
TSR_ALU_OP(run_zero, 0, (vu32){0})

static bool select_mov(struct tsr_uop *uop)
{
	uop->fn = run_mov;
	return true;
}

/* The result of NOP is 0. */
static bool select_nop(struct tsr_uop *uop)
{
	uop->fn = run_zero;
	return true;
}

/* Halves and bytes to words. */
TSR_ALU_OP(run_part32u, 1, part32u(a, k.param[0]))
TSR_ALU_OP(run_part32s, 1, part32s(a, k.param[0]))

static bool select_widen_u32(struct tsr_uop *uop)
{
	uop->param[0] = tsr_part_of_lane(uop->insn->mod[TSR_MOD_LANE0]);
	uop->fn = run_part32u;
	return true;
}

static bool select_widen_s32(struct tsr_uop *uop)
{
	uop->param[0] = tsr_part_of_lane(uop->insn->mod[TSR_MOD_LANE0]);
	uop->fn = run_part32s;
	return true;
}

/* Two parts to two halves: SWZ.v2i16, V2U8_TO_V2U16, V2S8_TO_V2S16. */
TSR_ALU_OP(run_part16u, 1, part16u(a, k.param[0]))
TSR_ALU_OP(run_part16s, 1, part16s(a, k.param[0]))

static bool select_widen_u16(struct tsr_uop *uop)
{
	uop->param[0] = tsr_part_of_swz(uop->insn->mod[TSR_MOD_SWZ0]);
	uop->fn = run_part16u;
	return true;
}

static bool select_widen_s16(struct tsr_uop *uop)
{
	uop->param[0] = tsr_part_of_swz(uop->insn->mod[TSR_MOD_SWZ0]);
	uop->fn = run_part16s;
	return true;
}

TSR_ALU_OP(run_part8, 1, part8(a, k.param[0]))

static bool select_swz_8(struct tsr_uop *uop)
{
	uop->param[0] = tsr_part_of_swz4(uop->insn->mod[TSR_MOD_SWZ0]);
	uop->fn = run_part8;
	return true;
}

/* Vectors of halves and of bytes, each from a source of its own. */
TSR_ALU_OP(run_mkvec_16, 2, (a << k.param[0] >> 16) | (b << k.param[1] & 0xffff0000))

TSR_ALU_OP(run_mkvec_low, 2, (a & 0xffff) | b << 16)

static bool select_mkvec_16(struct tsr_uop *uop)
{
	uop->param[0] = uop->insn->mod[TSR_MOD_LANE0] == TSR_LANE_H1 ? 0 : 16;
	uop->param[1] = uop->insn->mod[TSR_MOD_LANE1] == TSR_LANE_H1 ? 0 : 16;
	uop->fn = uop->param[0] && uop->param[1] ? run_mkvec_low : run_mkvec_16;
	return true;
}

TSR_ALU_OP(run_mkvec_8, 4, (a >> k.param[0] & 0xff) | (b >> k.param[1] & 0xff) << 8 |
	   (c >> k.param[2] & 0xff) << 16 | d >> k.param[3] << 24)

static bool select_mkvec_8(struct tsr_uop *uop)
{
	static const uint8_t mods[4] = { TSR_MOD_LANE0, TSR_MOD_LANE1, TSR_MOD_LANE2,
					 TSR_MOD_LANE3 };

	for (unsigned int i = 0; i < 4; i++)
		uop->param[i] = uop->insn->mod[mods[i]] == TSR_LANE_B2 ? 16 : 0;
	uop->fn = run_mkvec_8;
	return true;
}

/* Signalling NaNs become quiet, everything else passes as it is, subnormals too. */
TSR_ALU_OP(run_quiet_32, 1, a | ((vu32)((a & 0x7fffffff) > 0x7f800000) & 0x00400000))

static bool select_quiet_32(struct tsr_uop *uop)
{
	uop->fn = run_quiet_32;
	return true;
}

TSR_INLINE vu32 quiet_16(vu32 x)
{
	return x | (vu32)((vu16)((vu16)(x & 0x7fff7fff) > 0x7c00) & 0x0200);
}

TSR_ALU_OP(run_quiet_16, 1, quiet_16(part16u(a, k.param[0])))

static bool select_quiet_16(struct tsr_uop *uop)
{
	uop->param[0] = tsr_part_of_swz(uop->insn->mod[TSR_MOD_SWZ0]);
	uop->fn = run_quiet_16;
	return true;
}
