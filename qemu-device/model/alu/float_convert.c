/* SPDX-License-Identifier: MIT */
/*
 * Conversions between floats and integers, and rounding to integers.
 */
#include "float_ops.h"

uint32_t tsr_float_f16_to_f32(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_pack_plain(uop, tsr_float_lane_real(uop, src[0]), TSR_F32);
}

static uint32_t f32_to_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	return tsr_float_pack(uop, tsr_float_real(uop, half, src[half]), TSR_F16);
}

uint32_t tsr_float_v2f32_to_v2f16(const struct tsr_uop *uop, const uint32_t src[4],
				  const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, f32_to_half);
}

uint32_t tsr_float_f32_to_int(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3])
{
	(void)pair;
	return tsr_real_to_int(tsr_float_real(uop, 0, src[0]), uop->insn->mod[TSR_MOD_ROUND], 32,
			       uop->insn->op == TSR_OP_ADD_F32_TO_S32);
}

uint32_t tsr_float_f16_to_int32(const struct tsr_uop *uop, const uint32_t src[4],
				const uint32_t pair[3])
{
	(void)pair;
	return tsr_real_to_int(tsr_float_lane_real(uop, src[0]), uop->insn->mod[TSR_MOD_ROUND], 32,
			       uop->insn->op == TSR_OP_ADD_F16_TO_S32);
}

static uint32_t half_to_int(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	return tsr_real_to_int(tsr_float_half_real(uop, 0, src[0], half),
			       uop->insn->mod[TSR_MOD_ROUND], 16,
			       uop->insn->op == TSR_OP_ADD_V2F16_TO_V2S16);
}

uint32_t tsr_float_v2f16_to_int(const struct tsr_uop *uop, const uint32_t src[4],
				const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, half_to_int);
}

uint32_t tsr_float_int32_to_f32(const struct tsr_uop *uop, const uint32_t src[4],
				const uint32_t pair[3])
{
	int64_t x = uop->insn->op == TSR_OP_ADD_S32_TO_F32 ? (int64_t)(int32_t)src[0]
							   : (int64_t)src[0];

	(void)pair;
	return tsr_float_pack(uop, tsr_real_from_int(x), TSR_F32);
}

uint32_t tsr_float_int16_to_f32(const struct tsr_uop *uop, const uint32_t src[4],
				const uint32_t pair[3])
{
	uint16_t x = src[0] >> (uop->insn->mod[TSR_MOD_LANE0] == TSR_LANE_H1 ? 16 : 0);

	(void)pair;
	return tsr_float_pack_plain(
		uop, tsr_real_from_int(uop->insn->op == TSR_OP_ADD_S16_TO_F32 ? (int16_t)x : x),
		TSR_F32);
}

uint32_t tsr_float_int8_to_f32(const struct tsr_uop *uop, const uint32_t src[4],
			       const uint32_t pair[3])
{
	uint8_t x = src[0] >> 8 * (uop->insn->mod[TSR_MOD_LANE0] - TSR_LANE_B0);

	(void)pair;
	return tsr_float_pack_plain(
		uop, tsr_real_from_int(uop->insn->op == TSR_OP_ADD_S8_TO_F32 ? (int8_t)x : x),
		TSR_F32);
}

static uint32_t int16_to_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	uint16_t x = src[0] >> 16 * (uop->insn->mod[TSR_MOD_SWZ0] >> half & 1);

	return tsr_float_pack(
		uop, tsr_real_from_int(uop->insn->op == TSR_OP_ADD_V2S16_TO_V2F16 ? (int16_t)x : x),
		TSR_F16);
}

uint32_t tsr_float_int16_to_v2f16(const struct tsr_uop *uop, const uint32_t src[4],
				  const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, int16_to_half);
}

/*
 * Swizzles b00, b10, …, b30, b01, …, b33 stand in this order: the first digit is the low half's
 * byte.
 */
static uint32_t int8_to_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	unsigned int swizzle = uop->insn->mod[TSR_MOD_SWZ0] - TSR_SWZ_B00;
	uint8_t x = src[0] >> 8 * (half ? swizzle >> 2 : swizzle & 3);

	return tsr_float_pack_plain(
		uop, tsr_real_from_int(uop->insn->op == TSR_OP_ADD_V2S8_TO_V2F16 ? (int8_t)x : x),
		TSR_F16);
}

uint32_t tsr_float_int8_to_v2f16(const struct tsr_uop *uop, const uint32_t src[4],
				 const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, int8_to_half);
}

uint32_t tsr_float_round(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_pack_plain(
		uop,
		tsr_real_integral(tsr_float_real(uop, 0, src[0]), uop->insn->mod[TSR_MOD_ROUND]),
		TSR_F32);
}

static uint32_t round_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	return tsr_float_pack_plain(uop,
				    tsr_real_integral(tsr_float_half_real(uop, 0, src[0], half),
						      uop->insn->mod[TSR_MOD_ROUND]),
				    TSR_F16);
}

uint32_t tsr_float_round_half(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, round_half);
}

/* Signalling NaNs become quiet and keep their payload; nothing else changes. */
uint32_t tsr_float_quiet(const struct tsr_uop *uop, const uint32_t src[4], const uint32_t pair[3])
{
	(void)uop, (void)pair;
	return (src[0] & 0x7fffffff) > TSR_F32_INF ? src[0] | 0x00400000 : src[0];
}

static uint32_t quiet_half(const struct tsr_uop *uop, const uint32_t src[4], unsigned int half)
{
	uint32_t x = src[0] >> 16 * (uop->insn->mod[TSR_MOD_SWZ0] >> half & 1) & 0xffff;

	return (x & 0x7fff) > TSR_F16_INF ? x | 0x0200 : x;
}

uint32_t tsr_float_quiet_half(const struct tsr_uop *uop, const uint32_t src[4],
			      const uint32_t pair[3])
{
	(void)pair;
	return tsr_float_halves(uop, src, quiet_half);
}
