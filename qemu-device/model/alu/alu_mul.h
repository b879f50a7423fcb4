/* SPDX-License-Identifier: MIT */
/*
 * Integer products. A template, see alu_path.h.
 */

TSR_ALU_OP(run_mul_32, 2, a * b)
TSR_ALU_OP(run_mul_32_s, 2, a * part32s(b, k.param[0]))
TSR_ALU_OP(run_mul_32_u, 2, a * part32u(b, k.param[0]))

static bool select_imul_32(struct tsr_uop *uop)
{
	const uint8_t *mod = uop->insn->mod;

	uop->param[0] = tsr_part_of_lane(mod[TSR_MOD_WIDEN1]);
	uop->fn = !uop->param[0] ? run_mul_32 :
		  mod[TSR_MOD_EXTEND] == TSR_EXTEND_SEXT ? run_mul_32_s : run_mul_32_u;
	return true;
}

TSR_ALU_OP(run_mul_16, 2, (vu32)((vu16)part16u(a, k.param[0]) * (vu16)part16u(b, k.param[1])))

static bool select_imul_16(struct tsr_uop *uop)
{
	uop->param[0] = tsr_part_of_swz(uop->insn->mod[TSR_MOD_SWZ0]);
	uop->param[1] = tsr_part_of_swz(uop->insn->mod[TSR_MOD_SWZ1]);
	uop->fn = run_mul_16;
	return true;
}

/* Products modulo 256: those of the even bytes and those of the odd ones, as halves. */
TSR_INLINE vu32 product_8(vu32 x, vu32 y)
{
	vu16 even = (vu16)x * (vu16)y & 0x00ff;
	vu16 odd = ((vu16)x >> 8) * ((vu16)y & 0xff00);

	return (vu32)(even | odd);
}

TSR_ALU_OP(run_mul_8, 2, product_8(part8(a, k.param[0]), part8(b, k.param[1])))

static bool select_imul_8(struct tsr_uop *uop)
{
	uop->param[0] = tsr_part_of_replicate(uop->insn->mod[TSR_MOD_REPLICATE0]);
	uop->param[1] = tsr_part_of_replicate(uop->insn->mod[TSR_MOD_REPLICATE1]);
	uop->fn = run_mul_8;
	return true;
}

/*
 * Byte @n of @x as a number: (x ^ bias) is x plus 128 for signed bytes, so an unsigned byte; taking
 * 128 from it gives the number.
 */
TSR_INLINE vu32 dot_byte(vu32 x, unsigned int n, uint32_t is_signed)
{
	vu32 byte = x >> 8 * n & 0xff;

	return (byte ^ (is_signed << 7)) - (is_signed << 7);
}

TSR_INLINE vu32 dot_product(vu32 x, vu32 y, uint32_t x_signed, uint32_t y_signed)
{
	return dot_byte(x, 0, x_signed) * dot_byte(y, 0, y_signed) +
	       dot_byte(x, 1, x_signed) * dot_byte(y, 1, y_signed) +
	       dot_byte(x, 2, x_signed) * dot_byte(y, 2, y_signed) +
	       dot_byte(x, 3, x_signed) * dot_byte(y, 3, y_signed);
}

TSR_ALU_OP(run_idp, 2, dot_product(a, b, k.param[0], k.param[1]))

static bool select_idp(struct tsr_uop *uop)
{
	uop->param[0] = uop->insn->mod[TSR_MOD_SIGN0] == TSR_SIGN_SEXT;
	uop->param[1] = uop->insn->mod[TSR_MOD_SIGN1] == TSR_SIGN_SEXT;
	uop->fn = run_idp;
	return true;
}
