/* SPDX-License-Identifier: MIT */
#include "jit_x86.h"

#include <string.h>

#define VECTOR_BYTES(x) ((x)->wide ? 64 : 32)

static void byte(struct tsr_x86 *x, unsigned int value)
{
	if (x->at == x->end) {
		x->full = true;
		return;
	}
	*x->at++ = (uint8_t)value;
}

static void word(struct tsr_x86 *x, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		byte(x, value >> 8 * i);
}

/* Register or memory operand with register field @field; displacements are multiples of @scale. */
static void operand(struct tsr_x86 *x, unsigned int field, struct tsr_x86_rm rm, int32_t scale)
{
	unsigned int low = (field & 7) << 3 | (rm.reg & 7);
	bool small = rm.disp % scale == 0 && rm.disp / scale >= -128 && rm.disp / scale <= 127;

	if (!rm.memory) {
		byte(x, 0xc0 | low);
		return;
	}
	byte(x, (small ? 0x40 : 0x80) | low);
	if ((rm.reg & 7) == TSR_RSP)
		byte(x, 0x24);
	if (small)
		byte(x, (unsigned int)(rm.disp / scale));
	else
		word(x, (uint32_t)rm.disp);
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static void vex(struct tsr_x86 *x, uint16_t insn, unsigned int dst, unsigned int src,
		struct tsr_x86_rm rm, bool long_vector)
{
	unsigned int map = insn >> 8 & 15, prefix = insn >> 12;

	byte(x, 0xc4);
	byte(x, (~dst & 8) << 4 | 0x40 | (~(unsigned int)rm.reg & 8) << 2 | map);
	byte(x, (~src & 15) << 3 | (unsigned int)long_vector << 2 | prefix);
	byte(x, insn & 0xff);
	operand(x, dst, rm, 1);
}

static void evex(struct tsr_x86 *x, uint16_t insn, unsigned int dst, unsigned int src,
		 struct tsr_x86_rm rm, unsigned int mask, bool zero)
{
	unsigned int map = insn >> 8 & 15, prefix = insn >> 12;
	/* bit 4 of a register operand stands where that of an index would */
	unsigned int high = rm.memory ? 0 : rm.reg >> 4;

	byte(x, 0x62);
	byte(x, (~dst & 8) << 4 | (~high & 1) << 6 | (~(unsigned int)rm.reg & 8) << 2 |
			(~dst & 16) | map);
	byte(x, (~src & 15) << 3 | 4 | prefix);
	byte(x, (unsigned int)zero << 7 | 0x40 | (~src & 16) >> 1 | mask);
	byte(x, insn & 0xff);
	operand(x, dst, rm, 64);
}

void tsr_x86_vector(struct tsr_x86 *x, uint16_t insn, unsigned int dst, unsigned int src,
		    struct tsr_x86_rm rm, unsigned int mask, bool zero)
{
	if (x->wide)
		evex(x, insn, dst, src, rm, mask, zero);
	else
		vex(x, insn, dst, src, rm, true);
}

void tsr_x86_vector_imm(struct tsr_x86 *x, uint16_t insn, unsigned int dst, unsigned int src,
			struct tsr_x86_rm rm, unsigned int mask, uint8_t imm)
{
	tsr_x86_vector(x, insn, dst, src, rm, mask, false);
	byte(x, imm);
}

void tsr_x86_shift(struct tsr_x86 *x, unsigned int how, unsigned int dst, unsigned int src,
		   uint8_t count)
{
	tsr_x86_vector_imm(x, TSR_X86_SHIFT, how, dst, tsr_x86_reg(src), 0, count);
}

void tsr_x86_mask_bits(struct tsr_x86 *x, enum tsr_gpr dst, unsigned int src)
{
	if (x->wide)		/* kmovw */
		vex(x, TSR_X86_(0x93, 1, 0), dst, 0, tsr_x86_reg(src), false);
	else			/* vmovmskps */
		vex(x, TSR_X86_(0x50, 1, 0), dst, 0, tsr_x86_reg(src), true);
}

void tsr_x86_mask_load(struct tsr_x86 *x, unsigned int dst, enum tsr_gpr base, int32_t disp)
{
	vex(x, TSR_X86_(0x90, 1, 0), dst, 0, tsr_x86_at(base, disp), false);
}

void tsr_x86_mask_set(struct tsr_x86 *x, unsigned int dst, enum tsr_gpr src)
{
	vex(x, TSR_X86_(0x92, 1, 0), dst, 0, tsr_x86_reg(src), false);
}

void tsr_x86_mask_test(struct tsr_x86 *x, unsigned int a, unsigned int b)
{
	vex(x, TSR_X86_(0x98, 1, 0), a, 0, tsr_x86_reg(b), false);
}

void tsr_x86_spread(struct tsr_x86 *x, unsigned int dst, enum tsr_gpr src)
{
	/* vmovd, vpbroadcastd */
	vex(x, TSR_X86_(0x6e, 1, 1), dst, 0, tsr_x86_reg(src), false);
	vex(x, TSR_X86_(0x58, 2, 1), dst, 0, tsr_x86_reg(dst), true);
}

void tsr_x86_vzeroupper(struct tsr_x86 *x)
{
	byte(x, 0xc5);
	byte(x, 0xf8);
	byte(x, 0x77);
}

/* ---- General registers ----------------------------------------------------------------------- */

static void rex(struct tsr_x86 *x, unsigned int size, unsigned int field, unsigned int base)
{
	if (size == 2)
		byte(x, 0x66);
	/* always there: bytes of all registers are the low ones then */
	byte(x, 0x40 | (size == 8 ? 8 : 0) | (field & 8) >> 1 | (base & 8) >> 3);
}

void tsr_x86_mov_imm(struct tsr_x86 *x, enum tsr_gpr dst, uint64_t value)
{
	bool big = value >> 32;

	rex(x, big ? 8 : 4, 0, dst);
	byte(x, 0xb8 | (dst & 7));
	word(x, (uint32_t)value);
	if (big)
		word(x, (uint32_t)(value >> 32));
}

void tsr_x86_mov(struct tsr_x86 *x, enum tsr_gpr dst, enum tsr_gpr src)
{
	rex(x, 8, src, dst);
	byte(x, 0x89);
	operand(x, src, tsr_x86_reg(dst), 1);
}

void tsr_x86_load(struct tsr_x86 *x, unsigned int size, enum tsr_gpr dst, enum tsr_gpr base,
		  int32_t disp)
{
	rex(x, size == 2 ? 4 : size, dst, base);
	if (size == 2) {
		byte(x, 0x0f);
		byte(x, 0xb7);
	} else {
		byte(x, 0x8b);
	}
	operand(x, dst, tsr_x86_at(base, disp), 1);
}

void tsr_x86_store(struct tsr_x86 *x, unsigned int size, enum tsr_gpr src, enum tsr_gpr base,
		   int32_t disp)
{
	rex(x, size, src, base);
	byte(x, size == 1 ? 0x88 : 0x89);
	operand(x, src, tsr_x86_at(base, disp), 1);
}

void tsr_x86_lea(struct tsr_x86 *x, enum tsr_gpr dst, enum tsr_gpr base, int32_t disp)
{
	rex(x, 8, dst, base);
	byte(x, 0x8d);
	operand(x, dst, tsr_x86_at(base, disp), 1);
}

void tsr_x86_lea_index(struct tsr_x86 *x, enum tsr_gpr dst, enum tsr_gpr base,
		       enum tsr_gpr index, unsigned int shift)
{
	byte(x, 0x48 | (dst & 8) >> 1 | (index & 8) >> 2 | (base & 8) >> 3);
	byte(x, 0x8d);
	byte(x, 0x44 | (dst & 7) << 3);
	byte(x, shift << 6 | (index & 7) << 3 | (base & 7));
	byte(x, 0);
}

void tsr_x86_alu(struct tsr_x86 *x, enum tsr_x86_alu op, unsigned int size, enum tsr_gpr dst,
		 enum tsr_gpr src)
{
	rex(x, size, src, dst);
	byte(x, (unsigned int)op << 3 | 1);
	operand(x, src, tsr_x86_reg(dst), 1);
}

void tsr_x86_alu_imm(struct tsr_x86 *x, enum tsr_x86_alu op, unsigned int size, enum tsr_gpr dst,
		     int32_t value)
{
	bool small = value >= -128 && value <= 127;

	rex(x, size, 0, dst);
	byte(x, small ? 0x83 : 0x81);
	operand(x, op, tsr_x86_reg(dst), 1);
	if (small)
		byte(x, (unsigned int)value);
	else
		word(x, (uint32_t)value);
}

void tsr_x86_shift_left(struct tsr_x86 *x, enum tsr_gpr dst, uint8_t count)
{
	rex(x, 4, 0, dst);
	byte(x, 0xc1);
	operand(x, 4, tsr_x86_reg(dst), 1);
	byte(x, count);
}

void tsr_x86_multiply(struct tsr_x86 *x, enum tsr_gpr dst, enum tsr_gpr src)
{
	rex(x, 8, dst, src);
	byte(x, 0x0f);
	byte(x, 0xaf);
	operand(x, dst, tsr_x86_reg(src), 1);
}

void tsr_x86_count_bits(struct tsr_x86 *x, enum tsr_gpr dst, enum tsr_gpr src)
{
	byte(x, 0xf3);
	rex(x, 4, dst, src);
	byte(x, 0x0f);
	byte(x, 0xb8);
	operand(x, dst, tsr_x86_reg(src), 1);
}

void tsr_x86_or_memory(struct tsr_x86 *x, enum tsr_gpr base, int32_t disp, enum tsr_gpr src)
{
	rex(x, 2, src, base);
	byte(x, 0x09);
	operand(x, src, tsr_x86_at(base, disp), 1);
}

void tsr_x86_cmp_memory(struct tsr_x86 *x, enum tsr_gpr base, int32_t disp, enum tsr_gpr src)
{
	rex(x, 8, src, base);
	byte(x, 0x39);
	operand(x, src, tsr_x86_at(base, disp), 1);
}

void tsr_x86_test_memory(struct tsr_x86 *x, enum tsr_gpr base, int32_t disp, uint16_t bits)
{
	rex(x, 2, 0, base);
	byte(x, 0xf7);
	operand(x, 0, tsr_x86_at(base, disp), 1);
	byte(x, bits);
	byte(x, bits >> 8);
}

void tsr_x86_push(struct tsr_x86 *x, enum tsr_gpr reg)
{
	rex(x, 4, 0, reg);
	byte(x, 0x50 | (reg & 7));
}

void tsr_x86_pop(struct tsr_x86 *x, enum tsr_gpr reg)
{
	rex(x, 4, 0, reg);
	byte(x, 0x58 | (reg & 7));
}

void tsr_x86_ret(struct tsr_x86 *x)
{
	byte(x, 0xc3);
}

/* ---- Jumps ----------------------------------------------------------------------------------- */

static void link(uint8_t *jump, const uint8_t *to)
{
	int32_t distance = (int32_t)(to - jump);

	memcpy(jump - 4, &distance, 4);
}

uint8_t *tsr_x86_jump(struct tsr_x86 *x, enum tsr_x86_if condition)
{
	if (condition == TSR_X86_ALWAYS) {
		byte(x, 0xe9);
	} else {
		byte(x, 0x0f);
		byte(x, 0x80 | condition);
	}
	word(x, 0);
	return x->at;
}

void tsr_x86_here(struct tsr_x86 *x, uint8_t *jump)
{
	if (!x->full)
		link(jump, x->at);
}

void tsr_x86_jump_back(struct tsr_x86 *x, enum tsr_x86_if condition, const uint8_t *to)
{
	uint8_t *jump = tsr_x86_jump(x, condition);

	if (!x->full)
		link(jump, to);
}

void tsr_x86_jump_memory(struct tsr_x86 *x, enum tsr_gpr base)
{
	rex(x, 4, 0, base);
	byte(x, 0xff);
	operand(x, 4, tsr_x86_at(base, 0), 1);
}

void tsr_x86_jump_reg(struct tsr_x86 *x, enum tsr_gpr reg)
{
	rex(x, 4, 0, reg);
	byte(x, 0xff);
	operand(x, 4, tsr_x86_reg(reg), 1);
}

void tsr_x86_call(struct tsr_x86 *x, enum tsr_gpr reg)
{
	rex(x, 4, 0, reg);
	byte(x, 0xff);
	operand(x, 2, tsr_x86_reg(reg), 1);
}

void tsr_x86_align(struct tsr_x86 *x, unsigned int alignment)
{
	static const uint8_t nops[9] = { 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 };

	while ((uintptr_t)x->at % alignment && !x->full) {
		size_t n = alignment - (uintptr_t)x->at % alignment;

		if (n >= sizeof(nops)) {
			for (size_t i = 0; i < sizeof(nops); i++)
				byte(x, nops[i]);
		} else {
			byte(x, 0x90);
		}
	}
}
