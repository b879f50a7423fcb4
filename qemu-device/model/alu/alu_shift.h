/* SPDX-License-Identifier: MIT */
/*
 * Shifts of the FMA unit: source 0 by bytes of source 2, combined with source 1. Counts are modulo
 * the width of what is shifted. A template, see alu_path.h.
 */

/*
 * Shifts by a count for each lane, 0 to 31. AVX2 has instructions; without, one step for each bit
 * of the count.
 */
#if TSR_VECTOR_BYTES == 16
#define SHIFT_STEP_(x, count, bit, op)								\
	do {											\
		vu32 chosen = (vu32)((vs32)((count) << (31 - (bit))) >> 31);			\
												\
		(x) ^= ((x) ^ (vu32)((x) op (1 << (bit)))) & chosen;				\
	} while (0)

#define SHIFT_STEPS_(x, count, op)								\
	SHIFT_STEP_(x, count, 4, op);								\
	SHIFT_STEP_(x, count, 3, op);								\
	SHIFT_STEP_(x, count, 2, op);								\
	SHIFT_STEP_(x, count, 1, op);								\
	SHIFT_STEP_(x, count, 0, op)

TSR_INLINE vu32 shift_left(vu32 x, vu32 count)
{
	SHIFT_STEPS_(x, count, <<);
	return x;
}

TSR_INLINE vu32 shift_right(vu32 x, vu32 count)
{
	SHIFT_STEPS_(x, count, >>);
	return x;
}

TSR_INLINE vu32 shift_right_signed(vu32 bits, vu32 count)
{
	vs32 x = (vs32)bits;

#define SHIFT_SIGNED_STEP_(bit)									\
	do {											\
		vs32 chosen = (vs32)(count << (31 - (bit))) >> 31;				\
												\
		x ^= (x ^ (x >> (1 << (bit)))) & chosen;					\
	} while (0)
	SHIFT_SIGNED_STEP_(4);
	SHIFT_SIGNED_STEP_(3);
	SHIFT_SIGNED_STEP_(2);
	SHIFT_SIGNED_STEP_(1);
	SHIFT_SIGNED_STEP_(0);
#undef SHIFT_SIGNED_STEP_
	return (vu32)x;
}
#undef SHIFT_STEPS_
#undef SHIFT_STEP_
#else
TSR_INLINE vu32 shift_left(vu32 x, vu32 count)
{
	return x << count;
}

TSR_INLINE vu32 shift_right(vu32 x, vu32 count)
{
	return x >> count;
}

TSR_INLINE vu32 shift_right_signed(vu32 x, vu32 count)
{
	return (vu32)((vs32)x >> (vs32)count);
}
#endif

/* 32 bits; the count is a byte of source 2, at bit param[0]. */
TSR_INLINE vu32 count_32(vu32 c, uint32_t at)
{
	return c >> at & 31;
}

/* Two times 16 bits: counts are two bytes. */
TSR_INLINE vu32 left_16(vu32 x, vu32 c, uint32_t part)
{
	vu32 count = part16u(c, part);

	return (shift_left(x, count & 15) & 0xffff) | shift_left(x & 0xffff0000, count >> 16 & 15);
}

TSR_INLINE vu32 right_16(vu32 x, vu32 c, uint32_t part)
{
	vu32 count = part16u(c, part);

	return shift_right(x & 0xffff, count & 15) |
	       (shift_right(x, count >> 16 & 15) & 0xffff0000);
}

TSR_INLINE vu32 right_signed_16(vu32 x, vu32 c, uint32_t part)
{
	vu32 count = part16u(c, part);
	vu32 low = shift_right_signed(x << 16, count & 15) >> 16;

	return low | (shift_right_signed(x, count >> 16 & 15) & 0xffff0000);
}

/* Four times 8 bits: each byte by one of its own, in place. */
TSR_INLINE vu32 left_8(vu32 x, vu32 c, uint32_t part)
{
	vu32 count = part8(c, part), result = {0};

	for (unsigned int at = 0; at < 32; at += 8) {
		vu32 mask = tsr_splat(0xffu << at);

		result |= shift_left(x & mask, count >> at & 7) & mask;
	}
	return result;
}

TSR_INLINE vu32 right_8(vu32 x, vu32 c, uint32_t part)
{
	vu32 count = part8(c, part), result = {0};

	for (unsigned int at = 0; at < 32; at += 8) {
		vu32 mask = tsr_splat(0xffu << at);

		result |= shift_right(x & mask, count >> at & 7) & mask;
	}
	return result;
}

TSR_INLINE vu32 right_signed_8(vu32 x, vu32 c, uint32_t part)
{
	vu32 count = part8(c, part), result = {0};

	for (unsigned int at = 0; at < 32; at += 8)
		result |= shift_right_signed(x << (24 - at), count >> at & 7) >> 24 << at;
	return result;
}

/*
 * param[0]: where the count is; param[1], param[2]: ones where source 1 and the result are
 * complemented.
 */
#define SHIFT_OPS(direction, shift_32)								\
	TSR_ALU_OP(run_##direction##_and_plain, 3, shift_32(a, c & 31) & b)			\
	TSR_ALU_OP(run_##direction##_or_plain, 3, shift_32(a, c & 31) | b)			\
	TSR_ALU_OP(run_##direction##_xor_plain, 3, shift_32(a, c & 31) ^ b)			\
	TSR_ALU_OP(run_##direction##_and_32, 3,							\
		   (shift_32(a, count_32(c, k.param[0])) & (b ^ k.param[1])) ^ k.param[2])	\
	TSR_ALU_OP(run_##direction##_or_32, 3,							\
		   (shift_32(a, count_32(c, k.param[0])) | (b ^ k.param[1])) ^ k.param[2])	\
	TSR_ALU_OP(run_##direction##_xor_32, 3,							\
		   shift_32(a, count_32(c, k.param[0])) ^ b ^ k.param[2])			\
	TSR_ALU_OP(run_##direction##_and_16, 3,							\
		   (direction##_16(a, c, k.param[0]) & (b ^ k.param[1])) ^ k.param[2])		\
	TSR_ALU_OP(run_##direction##_or_16, 3,							\
		   (direction##_16(a, c, k.param[0]) | (b ^ k.param[1])) ^ k.param[2])		\
	TSR_ALU_OP(run_##direction##_xor_16, 3,							\
		   direction##_16(a, c, k.param[0]) ^ b ^ k.param[2])				\
	TSR_ALU_OP(run_##direction##_and_8, 3,							\
		   (direction##_8(a, c, k.param[0]) & (b ^ k.param[1])) ^ k.param[2])		\
	TSR_ALU_OP(run_##direction##_or_8, 3,							\
		   (direction##_8(a, c, k.param[0]) | (b ^ k.param[1])) ^ k.param[2])		\
	TSR_ALU_OP(run_##direction##_xor_8, 3,							\
		   direction##_8(a, c, k.param[0]) ^ b ^ k.param[2])
SHIFT_OPS(left, shift_left)
SHIFT_OPS(right, shift_right)
#undef SHIFT_OPS

TSR_ALU_OP(run_arshift_plain, 3, shift_right_signed(a, c & 31))
TSR_ALU_OP(run_arshift_32, 3, shift_right_signed(a, count_32(c, k.param[0])))
TSR_ALU_OP(run_arshift_16, 3, right_signed_16(a, c, k.param[0]))
TSR_ALU_OP(run_arshift_8, 3, right_signed_8(a, c, k.param[0]))

static void shift_complements(struct tsr_uop *uop)
{
	uop->param[1] = uop->insn->mod[TSR_MOD_NOT1] ? ~0u : 0;
	uop->param[2] = uop->insn->mod[TSR_MOD_NOT_RESULT] ? ~0u : 0;
}

/* @plain: the same for a count in byte 0 and nothing complemented. */
static bool select_shift_32(struct tsr_uop *uop, tsr_uop_fn *fn, tsr_uop_fn *plain)
{
	unsigned int lane = uop->insn->mod[TSR_MOD_LANE2];

	uop->param[0] = lane >= TSR_LANE_B0 ? 8 * (lane - TSR_LANE_B0) : 0;
	shift_complements(uop);
	uop->fn = uop->param[0] || uop->param[1] || uop->param[2] ? fn : plain;
	return true;
}

static bool select_shift_16(struct tsr_uop *uop, tsr_uop_fn *fn)
{
	uop->param[0] = tsr_part_of_lanes2(uop->insn->mod[TSR_MOD_LANES2]);
	shift_complements(uop);
	uop->fn = fn;
	return true;
}

static bool select_shift_8(struct tsr_uop *uop, tsr_uop_fn *fn)
{
	uop->param[0] = tsr_part_of_lanes4(uop->insn->mod[TSR_MOD_LANES2]);
	shift_complements(uop);
	uop->fn = fn;
	return true;
}

#define SELECT_SHIFTS(name)									\
static bool select_##name##_32(struct tsr_uop *uop)						\
{												\
	return select_shift_32(uop, run_##name##_32, run_##name##_plain);			\
}												\
												\
static bool select_##name##_16(struct tsr_uop *uop)						\
{												\
	return select_shift_16(uop, run_##name##_16);						\
}												\
												\
static bool select_##name##_8(struct tsr_uop *uop)						\
{												\
	return select_shift_8(uop, run_##name##_8);						\
}
SELECT_SHIFTS(left_and)
SELECT_SHIFTS(left_or)
SELECT_SHIFTS(left_xor)
SELECT_SHIFTS(right_and)
SELECT_SHIFTS(right_or)
SELECT_SHIFTS(right_xor)
SELECT_SHIFTS(arshift)
#undef SELECT_SHIFTS

/*
 * 64-bit shifts: source 0 is the low and source 1 the high word, one word of the result is
 * returned. The count, bits or bytes, is a byte of source 2, modulo 64. param[0]: where the count
 * is; param[1]: what shifts it left, 3 for bytes.
 */
TSR_INLINE vu32 count_64(vu32 c, uint32_t at, uint32_t bytes)
{
	return c >> at << bytes & 63;
}

/*
 * Bits that move from @high into the low word in a right shift by @count below 32, and those of a
 * left shift.
 */
TSR_INLINE vu32 carried_down(vu32 high, vu32 count)
{
	return shift_left(high << 1, 31 - count);
}

TSR_INLINE vu32 carried_up(vu32 low, vu32 count)
{
	return shift_right(low >> 1, 31 - count);
}

/* All ones where 32 is in the count. */
TSR_INLINE vu32 is_far(vu32 count)
{
	return (vu32)((vs32)(count << 26) >> 31);
}

TSR_INLINE vu32 choose(vu32 mask, vu32 yes, vu32 no)
{
	return no ^ ((no ^ yes) & mask);
}

TSR_INLINE vu32 left_64_low(vu32 low, vu32 count)
{
	return shift_left(low, count & 31) & ~is_far(count);
}

TSR_INLINE vu32 left_64_high(vu32 low, vu32 high, vu32 count)
{
	vu32 n = count & 31;

	return choose(is_far(count), shift_left(low, n), shift_left(high, n) | carried_up(low, n));
}

TSR_INLINE vu32 right_64_low(vu32 low, vu32 high, vu32 count)
{
	vu32 n = count & 31;

	return choose(is_far(count), shift_right(high, n),
		      shift_right(low, n) | carried_down(high, n));
}

TSR_INLINE vu32 right_64_high(vu32 high, vu32 count)
{
	return shift_right(high, count & 31) & ~is_far(count);
}

TSR_INLINE vu32 right_signed_64_low(vu32 low, vu32 high, vu32 count)
{
	vu32 n = count & 31;

	return choose(is_far(count), shift_right_signed(high, n),
		      shift_right(low, n) | carried_down(high, n));
}

TSR_INLINE vu32 right_signed_64_high(vu32 high, vu32 count)
{
	vu32 sign = (vu32)((vs32)high >> 31);

	return choose(is_far(count), sign, shift_right_signed(high, count & 31));
}

/*
 * The low word of the pair rotated left; the high word is that of the pair with its words
 * exchanged.
 */
TSR_INLINE vu32 rotated_left_64_low(vu32 low, vu32 high, vu32 count)
{
	vu32 n = count & 31, far = is_far(count);
	vu32 to = choose(far, high, low), from = choose(far, low, high);

	return shift_left(to, n) | carried_up(from, n);
}

#define COUNT_64 count_64(c, k.param[0], k.param[1])
TSR_ALU_OP(run_lshift_double_w0, 3, left_64_low(a, COUNT_64))
TSR_ALU_OP(run_lshift_double_w1, 3, left_64_high(a, b, COUNT_64))
TSR_ALU_OP(run_rshift_double_w0, 3, right_64_low(a, b, COUNT_64))
TSR_ALU_OP(run_rshift_double_w1, 3, right_64_high(b, COUNT_64))
TSR_ALU_OP(run_arshift_double_w0, 3, right_signed_64_low(a, b, COUNT_64))
TSR_ALU_OP(run_arshift_double_w1, 3, right_signed_64_high(b, COUNT_64))
TSR_ALU_OP(run_lrot_double_w0, 3, rotated_left_64_low(a, b, COUNT_64))
TSR_ALU_OP(run_lrot_double_w1, 3, rotated_left_64_low(b, a, COUNT_64))
TSR_ALU_OP(run_rrot_double_w0, 3, rotated_left_64_low(a, b, -COUNT_64))
TSR_ALU_OP(run_rrot_double_w1, 3, rotated_left_64_low(b, a, -COUNT_64))
/* Funnel shifts: the word at the end of the pair that bits move into, counts modulo 32. */
TSR_ALU_OP(run_flshift_double, 3, left_64_high(a, b, COUNT_64 & 31))
TSR_ALU_OP(run_frshift_double, 3, right_64_low(a, b, COUNT_64 & 31))
#undef COUNT_64

static bool select_double(struct tsr_uop *uop, tsr_uop_fn *w0, tsr_uop_fn *w1)
{
	const uint8_t *mod = uop->insn->mod;

	uop->param[0] = mod[TSR_MOD_LANE2] == TSR_LANE_B2 ? 16 : 0;
	uop->param[1] = mod[TSR_MOD_BYTES2] ? 3 : 0;
	uop->fn = mod[TSR_MOD_RESULT_WORD] == TSR_RESULT_WORD_W1 ? w1 : w0;
	return true;
}

#define SELECT_DOUBLE(name, w0, w1)								\
static bool select_##name##_double(struct tsr_uop *uop)						\
{												\
	return select_double(uop, run_##name##_double##w0, run_##name##_double##w1);		\
}
SELECT_DOUBLE(lshift, _w0, _w1)
SELECT_DOUBLE(rshift, _w0, _w1)
SELECT_DOUBLE(arshift, _w0, _w1)
SELECT_DOUBLE(lrot, _w0, _w1)
SELECT_DOUBLE(rrot, _w0, _w1)
SELECT_DOUBLE(flshift, , )
SELECT_DOUBLE(frshift, , )
#undef SELECT_DOUBLE
