/* SPDX-License-Identifier: MIT */
/*
 * Integer addition and its relatives. A template, see alu_path.h.
 */

/*
 * Saturating sums and differences of vectors with elements of 32, 16 or 8 bits. A signed sum has
 * overflowed where its sign is that of neither addend, a difference where the signs differ and its
 * own is not that of @x; the result then saturates to the side of @x.
 */
#define SATURATING(bits)									\
TSR_INLINE vu32 saturated_sum_u##bits(vu32 x, vu32 y)						\
{												\
	vu##bits a = (vu##bits)x, sum = a + (vu##bits)y;					\
												\
	return (vu32)(sum | (vu##bits)(sum < a));						\
}												\
												\
TSR_INLINE vu32 saturated_difference_u##bits(vu32 x, vu32 y)					\
{												\
	vu##bits a = (vu##bits)x, b = (vu##bits)y;						\
												\
	return (vu32)((a - b) & (vu##bits)(a >= b));						\
}												\
												\
TSR_INLINE vu32 saturated_s##bits(vu32 x, vu32 result, vu32 overflow)				\
{												\
	vu##bits limit = (vu##bits)((vs##bits)x < 0) ^ (vu##bits)(INT##bits##_MAX + (vu##bits){0});\
	vu32 over = (vu32)((vs##bits)overflow < 0);						\
												\
	return result ^ ((result ^ (vu32)limit) & over);					\
}												\
												\
TSR_INLINE vu32 saturated_sum_s##bits(vu32 x, vu32 y)						\
{												\
	vu32 sum = (vu32)((vu##bits)x + (vu##bits)y);						\
												\
	return saturated_s##bits(x, sum, (x ^ sum) & (y ^ sum));				\
}												\
												\
TSR_INLINE vu32 saturated_difference_s##bits(vu32 x, vu32 y)					\
{												\
	vu32 difference = (vu32)((vu##bits)x - (vu##bits)y);					\
												\
	return saturated_s##bits(x, difference, (x ^ y) & (x ^ difference));			\
}
SATURATING(32)
SATURATING(16)
SATURATING(8)
#undef SATURATING

TSR_INLINE vu32 sum_16(vu32 x, vu32 y)
{
	return (vu32)((vu16)x + (vu16)y);
}

TSR_INLINE vu32 difference_16(vu32 x, vu32 y)
{
	return (vu32)((vu16)x - (vu16)y);
}

TSR_INLINE vu32 sum_8(vu32 x, vu32 y)
{
	return (vu32)((vu8)x + (vu8)y);
}

TSR_INLINE vu32 difference_8(vu32 x, vu32 y)
{
	return (vu32)((vu8)x - (vu8)y);
}

/* 32 bits: without parts, with a part of source 1, saturating. */
TSR_ALU_OP(run_add, 2, a + b)
TSR_ALU_OP(run_sub, 2, a - b)
TSR_ALU_OP(run_add_part_s, 2, a + part32s(b, k.param[0]))
TSR_ALU_OP(run_add_part_u, 2, a + part32u(b, k.param[0]))
TSR_ALU_OP(run_sub_part_s, 2, a - part32s(b, k.param[0]))
TSR_ALU_OP(run_sub_part_u, 2, a - part32u(b, k.param[0]))
TSR_ALU_OP(run_add_sat_s, 2, saturated_sum_s32(a, part32s(b, k.param[0])))
TSR_ALU_OP(run_add_sat_u, 2, saturated_sum_u32(a, part32u(b, k.param[0])))
TSR_ALU_OP(run_sub_sat_s, 2, saturated_difference_s32(a, part32s(b, k.param[0])))
TSR_ALU_OP(run_sub_sat_u, 2, saturated_difference_u32(a, part32u(b, k.param[0])))

/* Selects by what an instruction needs: plain, with parts, saturating. */
static bool select_add_like(struct tsr_uop *uop, tsr_uop_fn *plain, tsr_uop_fn *part,
			    tsr_uop_fn *sat)
{
	uop->param[0] = tsr_part_of_lane(uop->insn->mod[TSR_MOD_LANES1]);
	uop->fn = uop->insn->mod[TSR_MOD_SATURATE] ? sat : uop->param[0] ? part : plain;
	return true;
}

static bool select_iadd_s32(struct tsr_uop *uop)
{
	return select_add_like(uop, run_add, run_add_part_s, run_add_sat_s);
}

static bool select_iadd_u32(struct tsr_uop *uop)
{
	return select_add_like(uop, run_add, run_add_part_u, run_add_sat_u);
}

static bool select_isub_s32(struct tsr_uop *uop)
{
	return select_add_like(uop, run_sub, run_sub_part_s, run_sub_sat_s);
}

static bool select_isub_u32(struct tsr_uop *uop)
{
	return select_add_like(uop, run_sub, run_sub_part_u, run_sub_sat_u);
}

/* Two times 16 bits: parts of both sources; bytes are extended as the type says. */
#define ADD_16(name, operation, s)								\
	TSR_ALU_OP(name, 2, operation(part16##s(a, k.param[0]), part16##s(b, k.param[1])))
ADD_16(run_add16_s, sum_16, s)
ADD_16(run_add16_u, sum_16, u)
ADD_16(run_add16_sat_s, saturated_sum_s16, s)
ADD_16(run_add16_sat_u, saturated_sum_u16, u)
ADD_16(run_sub16_s, difference_16, s)
ADD_16(run_sub16_u, difference_16, u)
ADD_16(run_sub16_sat_s, saturated_difference_s16, s)
ADD_16(run_sub16_sat_u, saturated_difference_u16, u)
#undef ADD_16

static bool select_add_16(struct tsr_uop *uop, tsr_uop_fn *plain, tsr_uop_fn *sat)
{
	uop->param[0] = tsr_part_of_lanes2(uop->insn->mod[TSR_MOD_LANES0]);
	uop->param[1] = tsr_part_of_lanes2(uop->insn->mod[TSR_MOD_LANES1]);
	uop->fn = uop->insn->mod[TSR_MOD_SATURATE] ? sat : plain;
	return true;
}

static bool select_iadd_s16(struct tsr_uop *uop)
{
	return select_add_16(uop, run_add16_s, run_add16_sat_s);
}

static bool select_iadd_u16(struct tsr_uop *uop)
{
	return select_add_16(uop, run_add16_u, run_add16_sat_u);
}

static bool select_isub_s16(struct tsr_uop *uop)
{
	return select_add_16(uop, run_sub16_s, run_sub16_sat_s);
}

static bool select_isub_u16(struct tsr_uop *uop)
{
	return select_add_16(uop, run_sub16_u, run_sub16_sat_u);
}

/* Four times 8 bits. */
TSR_ALU_OP(run_add8, 2, sum_8(a, part8(b, k.param[1])))
TSR_ALU_OP(run_add8_sat_s, 2, saturated_sum_s8(a, part8(b, k.param[1])))
TSR_ALU_OP(run_add8_sat_u, 2, saturated_sum_u8(a, part8(b, k.param[1])))
TSR_ALU_OP(run_sub8, 2, difference_8(a, part8(b, k.param[1])))
TSR_ALU_OP(run_sub8_sat_s, 2, saturated_difference_s8(a, part8(b, k.param[1])))
TSR_ALU_OP(run_sub8_sat_u, 2, saturated_difference_u8(a, part8(b, k.param[1])))

static bool select_add_8(struct tsr_uop *uop, tsr_uop_fn *plain, tsr_uop_fn *sat)
{
	uop->param[1] = tsr_part_of_lanes4(uop->insn->mod[TSR_MOD_LANES1]);
	uop->fn = uop->insn->mod[TSR_MOD_SATURATE] ? sat : plain;
	return true;
}

static bool select_iadd_s8(struct tsr_uop *uop)
{
	return select_add_8(uop, run_add8, run_add8_sat_s);
}

static bool select_iadd_u8(struct tsr_uop *uop)
{
	return select_add_8(uop, run_add8, run_add8_sat_u);
}

static bool select_isub_s8(struct tsr_uop *uop)
{
	return select_add_8(uop, run_sub8, run_sub8_sat_s);
}

static bool select_isub_u8(struct tsr_uop *uop)
{
	return select_add_8(uop, run_sub8, run_sub8_sat_u);
}

/* With carry or borrow in bit 0 of source 2. */
TSR_ALU_OP(run_addc, 3, a + b + (c & 1))
TSR_ALU_OP(run_subb, 3, a - b - (c & 1))

static bool select_iaddc(struct tsr_uop *uop)
{
	uop->fn = run_addc;
	return true;
}

static bool select_isubb(struct tsr_uop *uop)
{
	uop->fn = run_subb;
	return true;
}

/*
 * Half of the sum, rounded down or up. The sum is twice the bits both have plus those only one has,
 * and twice those any has minus those only one has: neither overflows.
 */
#define HALF_SUM(type)										\
TSR_INLINE vu32 half_sum_down_##type(vu32 a, vu32 b)						\
{												\
	return (vu32)((v##type)(a & b) + ((v##type)(a ^ b) >> 1));				\
}												\
												\
TSR_INLINE vu32 half_sum_up_##type(vu32 a, vu32 b)						\
{												\
	return (vu32)((v##type)(a | b) - ((v##type)(a ^ b) >> 1));				\
}												\
												\
TSR_ALU_OP(run_hadd_down_##type, 2, half_sum_down_##type(a << k.param[0] | a >> k.param[1],	\
							 b << k.param[2] | b >> k.param[3]))	\
TSR_ALU_OP(run_hadd_up_##type, 2, half_sum_up_##type(a << k.param[0] | a >> k.param[1],		\
						     b << k.param[2] | b >> k.param[3]))	\
												\
static bool select_hadd_##type(struct tsr_uop *uop)						\
{												\
	/* halves are swapped by a rotation, and by none when they are not */			\
	uop->param[0] = uop->param[1] = uop->insn->mod[TSR_MOD_SWAP0] == TSR_SWAP_H10 ? 16 : 0;	\
	uop->param[2] = uop->param[3] = uop->insn->mod[TSR_MOD_SWAP1] == TSR_SWAP_H10 ? 16 : 0;	\
	uop->fn = uop->insn->mod[TSR_MOD_ROUND] == TSR_ROUND_RTP ? run_hadd_up_##type		\
								 : run_hadd_down_##type;	\
	return true;										\
}
HALF_SUM(u32)
HALF_SUM(s32)
HALF_SUM(u16)
HALF_SUM(s16)
HALF_SUM(u8)
HALF_SUM(s8)
#undef HALF_SUM

/* Absolute values; that of the least number is itself. */
#define MAGNITUDE(bits)										\
TSR_INLINE vu32 magnitude_##bits(vu32 x)							\
{												\
	vu##bits negative = (vu##bits)((vs##bits)x < 0);					\
												\
	return (vu32)(((vu##bits)x ^ negative) - negative);					\
}
MAGNITUDE(32)
MAGNITUDE(16)
MAGNITUDE(8)
#undef MAGNITUDE

TSR_ALU_OP(run_iabs_32, 1, magnitude_32(a))
TSR_ALU_OP(run_iabs_16, 1, magnitude_16(part16u(a, k.param[0])))
TSR_ALU_OP(run_iabs_8, 1, magnitude_8(a))

static bool select_iabs_32(struct tsr_uop *uop)
{
	uop->fn = run_iabs_32;
	return true;
}

static bool select_iabs_16(struct tsr_uop *uop)
{
	uop->param[0] = tsr_part_of_swz(uop->insn->mod[TSR_MOD_SWZ0]);
	uop->fn = run_iabs_16;
	return true;
}

static bool select_iabs_8(struct tsr_uop *uop)
{
	uop->fn = run_iabs_8;
	return true;
}
