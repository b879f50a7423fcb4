/* SPDX-License-Identifier: MIT */
/*
 * Machine code of x86-64: the few forms of instructions that generated code consists of.
 *
 * In: an instruction and its operands. Out: bytes after one another. Vector instructions are
 * encoded for 256 bits (VEX) or for 512 bits (EVEX), whichever the buffer is for: those listed are
 * the same in both but for the prefix. What does not fit is dropped, and remembered in @full.
 * (Why not a library: Zydis takes 0.2 us for an instruction, which is twenty times as long as this
 * and longer than it takes to decide what to encode.)
 */
#ifndef TSR_SHADER_JIT_X86_H
#define TSR_SHADER_JIT_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsr_x86 {
	uint8_t *start, *at, *end;
	bool wide;			/* 512-bit vectors */
	bool full;
};

enum tsr_gpr {
	TSR_RAX, TSR_RCX, TSR_RDX, TSR_RBX, TSR_RSP, TSR_RBP, TSR_RSI, TSR_RDI,
	TSR_R8, TSR_R9, TSR_R10, TSR_R11, TSR_R12, TSR_R13, TSR_R14, TSR_R15,
};

/* A vector register, or vector in memory. */
struct tsr_x86_rm {
	bool memory;
	uint8_t reg;			/* a register, or the base of an address */
	int32_t disp;
};

/* Vector instructions: opcode, map (1 0F, 2 0F38, 3 0F3A), prefix (1 66, 2 F3, 3 F2). */
#define TSR_X86_(op, map, prefix)	((uint16_t)((op) | (map) << 8 | (prefix) << 12))
#define TSR_X86_MOV_LOAD	TSR_X86_(0x28, 1, 0)	/* vmovaps */
#define TSR_X86_MOV_STORE	TSR_X86_(0x29, 1, 0)
#define TSR_X86_ADD_F32		TSR_X86_(0x58, 1, 0)
#define TSR_X86_SUB_F32		TSR_X86_(0x5c, 1, 0)
#define TSR_X86_MUL_F32		TSR_X86_(0x59, 1, 0)
#define TSR_X86_DIV_F32		TSR_X86_(0x5e, 1, 0)
#define TSR_X86_MIN_F32		TSR_X86_(0x5d, 1, 0)
#define TSR_X86_MAX_F32		TSR_X86_(0x5f, 1, 0)
#define TSR_X86_FMA132_F32	TSR_X86_(0x98, 2, 1)	/* +2: subtract; +4: minus the product */
#define TSR_X86_FMA213_F32	TSR_X86_(0xa8, 2, 1)
#define TSR_X86_FMA231_F32	TSR_X86_(0xb8, 2, 1)
#define TSR_X86_AND		TSR_X86_(0xdb, 1, 1)
#define TSR_X86_ANDN		TSR_X86_(0xdf, 1, 1)
#define TSR_X86_OR		TSR_X86_(0xeb, 1, 1)
#define TSR_X86_XOR		TSR_X86_(0xef, 1, 1)
#define TSR_X86_ADD_I32		TSR_X86_(0xfe, 1, 1)
#define TSR_X86_SUB_I32		TSR_X86_(0xfa, 1, 1)
#define TSR_X86_ADD_I16		TSR_X86_(0xfd, 1, 1)
#define TSR_X86_SUB_I16		TSR_X86_(0xf9, 1, 1)
#define TSR_X86_MUL_I32		TSR_X86_(0x40, 2, 1)
#define TSR_X86_MIN_U32		TSR_X86_(0x3b, 2, 1)
#define TSR_X86_MAX_U32		TSR_X86_(0x3f, 2, 1)
#define TSR_X86_SHL_VAR		TSR_X86_(0x47, 2, 1)
#define TSR_X86_SHR_VAR		TSR_X86_(0x45, 2, 1)
#define TSR_X86_SAR_VAR		TSR_X86_(0x46, 2, 1)
#define TSR_X86_PERMUTE		TSR_X86_(0x16, 2, 1)	/* lane n: lane src[n] of the operand */
#define TSR_X86_SHIFT		TSR_X86_(0x72, 1, 1)	/* by a constant, see tsr_x86_shift() */
#define TSR_X86_S32_TO_F32	TSR_X86_(0x5b, 1, 0)
#define TSR_X86_F32_TO_S32	TSR_X86_(0x5b, 1, 1)
#define TSR_X86_U32_TO_F32	TSR_X86_(0x7a, 1, 3)	/* wide only */
#define TSR_X86_ROUND_F32	TSR_X86_(0x08, 3, 1)	/* with a constant */
#define TSR_X86_CMP_F32		TSR_X86_(0xc2, 1, 0)	/* with a constant */
#define TSR_X86_CMP_EQ_I32	TSR_X86_(0x76, 1, 1)
#define TSR_X86_CMP_GT_I32	TSR_X86_(0x66, 1, 1)
#define TSR_X86_CMP_S32		TSR_X86_(0x1f, 3, 1)	/* wide only, with a constant */
#define TSR_X86_CMP_U32		TSR_X86_(0x1e, 3, 1)	/* the same */
#define TSR_X86_TEST_I32	TSR_X86_(0x27, 2, 1)	/* wide only: lanes with common bits */
#define TSR_X86_TEST_NOT_I32	TSR_X86_(0x27, 2, 2)	/* wide only: those without */
#define TSR_X86_BLEND_VAR	TSR_X86_(0x4a, 3, 1)	/* 256 bits only: mask in a register */
#define TSR_X86_BLEND_MASK	TSR_X86_(0x64, 2, 1)	/* wide only: dst{k} = rm, others src */
#define TSR_X86_TEST_SIGNS	TSR_X86_(0x0e, 2, 1)	/* 256 bits only: vtestps */

/* Predicates of CMP_F32, and of CMP_S32 and CMP_U32; ^ 4 is the opposite. */
enum {
	TSR_X86_F_EQ = 0, TSR_X86_F_LT = 0x11, TSR_X86_F_LE = 0x12, TSR_X86_F_UNORDERED = 3,
	TSR_X86_F_ORDERED = 7, TSR_X86_F_NE = 4, TSR_X86_F_GTLT = 0x0c, TSR_X86_F_GE = 0x1d,
	TSR_X86_F_GT = 0x1e,
	TSR_X86_I_EQ = 0, TSR_X86_I_LT = 1, TSR_X86_I_LE = 2, TSR_X86_I_NE = 4, TSR_X86_I_GE = 5,
	TSR_X86_I_GT = 6,
};

/* How tsr_x86_shift() shifts. */
enum { TSR_X86_SHR = 2, TSR_X86_SAR = 4, TSR_X86_SHL = 6 };

static inline struct tsr_x86_rm tsr_x86_reg(unsigned int reg)
{
	return (struct tsr_x86_rm){ .reg = (uint8_t)reg };
}

static inline struct tsr_x86_rm tsr_x86_at(enum tsr_gpr base, int32_t disp)
{
	return (struct tsr_x86_rm){ .memory = true, .reg = (uint8_t)base, .disp = disp };
}

/*
 * A vector instruction: dst = src op rm, of one source: src 0 and rm. Memory operands are whole
 * vectors. @mask: a mask register that chooses the lanes written, 0 for all; @zero: the others
 * become zero (wide only). Comparisons of wide vectors have a mask register as dst.
 */
void tsr_x86_vector(struct tsr_x86 *x, uint16_t insn, unsigned int dst, unsigned int src,
		    struct tsr_x86_rm rm, unsigned int mask, bool zero);
/* A vector instruction with a constant at its end. */
void tsr_x86_vector_imm(struct tsr_x86 *x, uint16_t insn, unsigned int dst, unsigned int src,
			struct tsr_x86_rm rm, unsigned int mask, uint8_t imm);
void tsr_x86_shift(struct tsr_x86 *x, unsigned int how, unsigned int dst, unsigned int src,
		   uint8_t count);
/* The sign bits of a 256-bit vector, or a mask register, to a general register. */
void tsr_x86_mask_bits(struct tsr_x86 *x, enum tsr_gpr dst, unsigned int src);
/* A mask register from 16 bits of memory. */
void tsr_x86_mask_load(struct tsr_x86 *x, unsigned int dst, enum tsr_gpr base, int32_t disp);
/* The reverse of tsr_x86_mask_bits(): the low bits of @src to a mask register. Wide only. */
void tsr_x86_mask_set(struct tsr_x86 *x, unsigned int dst, enum tsr_gpr src);
/* Carry: each bit is set in one of two mask registers. */
void tsr_x86_mask_test(struct tsr_x86 *x, unsigned int a, unsigned int b);
/* The low word of @src to all words of a 256-bit vector. */
void tsr_x86_spread(struct tsr_x86 *x, unsigned int dst, enum tsr_gpr src);
void tsr_x86_vzeroupper(struct tsr_x86 *x);

/* General registers. @size: bytes of the operand, 2, 4 or 8. */
void tsr_x86_mov_imm(struct tsr_x86 *x, enum tsr_gpr dst, uint64_t value);
void tsr_x86_mov(struct tsr_x86 *x, enum tsr_gpr dst, enum tsr_gpr src);
void tsr_x86_load(struct tsr_x86 *x, unsigned int size, enum tsr_gpr dst, enum tsr_gpr base,
		  int32_t disp);	/* 2 bytes are extended by zeros */
void tsr_x86_store(struct tsr_x86 *x, unsigned int size, enum tsr_gpr src, enum tsr_gpr base,
		   int32_t disp);	/* 1 byte too */
void tsr_x86_lea(struct tsr_x86 *x, enum tsr_gpr dst, enum tsr_gpr base, int32_t disp);
void tsr_x86_lea_index(struct tsr_x86 *x, enum tsr_gpr dst, enum tsr_gpr base,
		       enum tsr_gpr index, unsigned int shift);
/* dst = dst op src, of registers or with a constant. */
enum tsr_x86_alu { TSR_X86_GADD, TSR_X86_GOR, TSR_X86_GAND = 4, TSR_X86_GSUB, TSR_X86_GXOR,
		   TSR_X86_GCMP };
void tsr_x86_alu(struct tsr_x86 *x, enum tsr_x86_alu op, unsigned int size, enum tsr_gpr dst,
		 enum tsr_gpr src);
void tsr_x86_alu_imm(struct tsr_x86 *x, enum tsr_x86_alu op, unsigned int size, enum tsr_gpr dst,
		     int32_t value);
void tsr_x86_shift_left(struct tsr_x86 *x, enum tsr_gpr dst, uint8_t count);	/* of 4 bytes */
void tsr_x86_multiply(struct tsr_x86 *x, enum tsr_gpr dst, enum tsr_gpr src);
/* How many bits of 32 are set. */
void tsr_x86_count_bits(struct tsr_x86 *x, enum tsr_gpr dst, enum tsr_gpr src);
/* 16 bits of memory: OR with a register. */
void tsr_x86_or_memory(struct tsr_x86 *x, enum tsr_gpr base, int32_t disp, enum tsr_gpr src);
/* Compare memory with a register; and test bits of 16 in memory. */
void tsr_x86_cmp_memory(struct tsr_x86 *x, enum tsr_gpr base, int32_t disp, enum tsr_gpr src);
void tsr_x86_test_memory(struct tsr_x86 *x, enum tsr_gpr base, int32_t disp, uint16_t bits);
void tsr_x86_push(struct tsr_x86 *x, enum tsr_gpr reg);
void tsr_x86_pop(struct tsr_x86 *x, enum tsr_gpr reg);
void tsr_x86_ret(struct tsr_x86 *x);

/* Jumps: to where the code is that somebody links, or through memory or a register. */
enum tsr_x86_if { TSR_X86_ALWAYS = 0, TSR_X86_CARRY = 2, TSR_X86_NOT_CARRY, TSR_X86_EQUAL,
		  TSR_X86_NOT_EQUAL, TSR_X86_BELOW_EQUAL, TSR_X86_LESS_EQUAL = 14 };
/* Returns what tsr_x86_here() completes: a jump forward. */
uint8_t *tsr_x86_jump(struct tsr_x86 *x, enum tsr_x86_if condition);
void tsr_x86_here(struct tsr_x86 *x, uint8_t *jump);
void tsr_x86_jump_back(struct tsr_x86 *x, enum tsr_x86_if condition, const uint8_t *to);
void tsr_x86_jump_memory(struct tsr_x86 *x, enum tsr_gpr base);
void tsr_x86_jump_reg(struct tsr_x86 *x, enum tsr_gpr reg);
void tsr_x86_call(struct tsr_x86 *x, enum tsr_gpr reg);
/* Let what comes next begin at a multiple of @alignment. */
void tsr_x86_align(struct tsr_x86 *x, unsigned int alignment);

#endif
