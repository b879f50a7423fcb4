/* SPDX-License-Identifier: MIT */
/*
 * Between micro-operations and machine code: a segment of a clause as a graph of values.
 *
 * A node is a value of one chunk: a vector as wide as the host's registers, 8 or 16 lanes, or a
 * mask, a truth for each lane (in the wide form in a mask register, else a vector of all ones and
 * zeros). Sources stand before what uses them. jit_ops.c turns micro-operations into nodes,
 * jit_emit.c nodes into code.
 *
 * NaNs: the host's are not ours, so a result of arithmetic has to be made canonical. It does not
 * matter to arithmetic which NaN it gets, so that is put off until somebody looks at the bits:
 * such nodes are @loose, and tsr_node_bits() gives a value whose bits are right. What is stored is
 * examined all at once.
 */
#ifndef TSR_SHADER_JIT_NODE_H
#define TSR_SHADER_JIT_NODE_H

#include "alu/alu.h"
#include "jit_x86.h"
#include "shader/predecode.h"

enum tsr_node_kind {
	TSR_NODE_LOAD,			/* @operand, from memory */
	TSR_NODE_WORD,			/* the same word in all lanes */
	TSR_NODE_TABLE,			/* lane n: @table[n] */
	TSR_NODE_OP,			/* src0 insn src1, or insn src0 if src1 is < 0 */
	TSR_NODE_SHIFT,			/* src0 by @imm: how is in @insn */
	/* src0 * src1 + src2; @imm: 2: minus src2, 4: minus the product */
	TSR_NODE_FMA,
	TSR_NODE_CANONICAL,		/* src0, NaNs made canonical */
	TSR_NODE_COMPARE,		/* mask: src0 insn src1 */
	TSR_NODE_SELECT,		/* where mask src0: src1, else src2 */
	TSR_NODE_MASKED,		/* where mask src0: src1, else 0 */
};

struct tsr_node {
	uint8_t kind;
	bool loose;			/* may be a NaN that is not canonical */
	bool commutes;			/* OP: src0 and src1 may be exchanged */
	bool constant;			/* OP, COMPARE: @imm belongs to the instruction */
	bool inverted;			/* COMPARE, not wide: the mask is the opposite */
	uint8_t imm;
	uint16_t insn;			/* TSR_X86_ */
	int16_t src[3];			/* -1: none */
	struct tsr_operand operand;	/* LOAD */
	uint32_t word;			/* WORD */
	const uint32_t *table;		/* TABLE: as many words as a chunk has lanes */
	/* for jit_emit.c */
	uint16_t uses;			/* by nodes and stores that are needed */
	int8_t reg;			/* where it is, -1: in no register */
	bool uniform;			/* in a register for the whole loop */
};

#define TSR_NODES_MAX 600

/* A segment: some micro-operations after one another, and perhaps the last clause's branch. */
struct tsr_segment {
	bool wide;
	const struct tsr_decoded *clause;	/* of what is added next */
	unsigned int nodes;
	bool full;			/* there was no room for a node */
	struct tsr_node node[TSR_NODES_MAX];
	/* Nodes in registers and temporaries; -1 if unread. */
	int16_t reg[TSR_REGISTERS], temp[TSR_TEMPS];
	uint64_t regs_written;		/* a bit for each that has to be stored */
	uint32_t temps_written;
	int branch;			/* mask of who branches; -1: no branch here */
};

void tsr_segment_init(struct tsr_segment *s, bool wide);
/* The value of an operand. */
int tsr_node_of(struct tsr_segment *s, struct tsr_operand o);
int tsr_node_word(struct tsr_segment *s, uint32_t word);
int tsr_node_bits(struct tsr_segment *s, int n);
int tsr_node_op(struct tsr_segment *s, uint16_t insn, int a, int b);
int tsr_node_op_imm(struct tsr_segment *s, uint16_t insn, int a, uint8_t imm);
/* Bits; constants are folded. */
int tsr_node_and(struct tsr_segment *s, int n, uint32_t word);
int tsr_node_xor(struct tsr_segment *s, int n, uint32_t word);
int tsr_node_shift(struct tsr_segment *s, unsigned int how, int n, unsigned int count);
int tsr_node_fma(struct tsr_segment *s, int a, int b, int c, unsigned int signs);
/* Masks. @predicate: TSR_X86_F_ or TSR_X86_I_. */
int tsr_node_compare_f32(struct tsr_segment *s, unsigned int predicate, int a, int b);
int tsr_node_compare_i32(struct tsr_segment *s, unsigned int predicate, bool is_signed, int a,
			 int b);
int tsr_node_any_bits(struct tsr_segment *s, int n, uint32_t bits);
int tsr_node_not(struct tsr_segment *s, int mask);
int tsr_node_select(struct tsr_segment *s, int mask, int yes, int no);
int tsr_node_masked(struct tsr_segment *s, int mask, uint32_t word);
/* Bits: word number @index & 15 of @table, which lives as long as the code. */
int tsr_node_lookup(struct tsr_segment *s, const uint32_t table[16], int index);
/* The result goes to @o. */
void tsr_node_set(struct tsr_segment *s, struct tsr_operand o, int n);

/* jit_ops.c: add what @uop does; false: it has to be called. */
bool tsr_segment_add(struct tsr_segment *s, const struct tsr_uop *uop);
/* The branch's condition; false: it has to be evaluated by its function. */
bool tsr_segment_add_branch(struct tsr_segment *s, const struct tsr_uop *uop);

/*
 * Constants that code refers to, each as a vector. They are the guest's: their memory is not
 * executable.
 */
struct tsr_pool {
	union tsr_lanes *vector;
	unsigned int used, max;
};

/* Offset of the vector of @word, or of that with @table, from the pool's start; -1: it is full. */
int tsr_pool_word(struct tsr_pool *pool, uint32_t word);
int tsr_pool_table(struct tsr_pool *pool, const uint32_t *table, unsigned int lanes);

/* jit_emit.c */

/* Registers of generated code. */
enum {
	TSR_JIT_STATE = TSR_RBX,	/* struct tsr_lane_state */
	TSR_JIT_REGS = TSR_R12,		/* TSR_LANES_REG */
	TSR_JIT_TEMPS = TSR_R13,	/* TSR_LANES_TEMP */
	TSR_JIT_PUSH = TSR_R14,		/* TSR_LANES_PUSH */
	TSR_JIT_TUPLES = TSR_R15,	/* left */
	TSR_JIT_CLAUSES = TSR_RBP,	/* left */
	/* after a branch: lanes of any chunk that branch, and those of a chunk that do not */
	TSR_JIT_ANY = TSR_RCX,
	TSR_JIT_LEFT = TSR_R9,
	/* in a loop with 256-bit vectors, see tsr_segment_emit_block() */
	TSR_JIT_BITS = TSR_R8,
	TSR_JIT_MADE = TSR_RCX,
};

/*
 * The code of a segment: a loop over all chunks of the first @warps, or, of 0, over those of a
 * list. False: it needs more registers than there are, or more constants than the pool takes, with
 * @x as it was.
 */
bool tsr_segment_emit(struct tsr_segment *s, struct tsr_x86 *x, struct tsr_pool *pool,
		      unsigned int warps);

/* 256-bit vectors of a warp. */
#define TSR_JIT_HALVES 2

/* Where a loop keeps registers of the program. */
struct tsr_homes {
	/* registers of the host, of the narrow form one for each half of a warp; -1: memory */
	int8_t vector[TSR_JIT_HALVES][TSR_REGISTERS];
	uint32_t free;			/* vector registers that are no home */
};

/* Out-of-line code for stored values that may be NaNs, emitted later. */
struct tsr_fix {
	uint8_t *from, *back;		/* where it is jumped to, and what comes after it */
	uint8_t reg[32];		/* the registers; of less than two there is nothing to do */
	uint8_t count;
};

/*
 * The code of a block of a loop: a segment for one warp, whose lanes are in TSR_JIT_LEFT. Registers
 * of @masked stay as they are in others. Who branches is in RAX then, others undefined. In the
 * narrow form one half of the warp comes after the other; TSR_JIT_MADE are the lanes for which
 * vectors of the idle ones have been made (of more than 16 bits: there are none), TSR_JIT_BITS is
 * for short use. @fix: of TSR_JIT_HALVES. False: as above, but @x has to be put back by the caller.
 */
bool tsr_segment_emit_block(struct tsr_segment *s, struct tsr_x86 *x, struct tsr_pool *pool,
			    const struct tsr_homes *homes, uint64_t masked,
			    struct tsr_fix *fix);
/* @fix: as above. */
bool tsr_fix_emit(struct tsr_segment *s, struct tsr_x86 *x, struct tsr_pool *pool,
		  const struct tsr_fix *fix);
/* The lanes of a loop's warp that are not in @from are the idle ones; RAX is overwritten. */
void tsr_idle_emit(struct tsr_x86 *x, enum tsr_gpr from);
/* dst = the idle lanes of @rm, the others of register @src. */
void tsr_idle_keep(struct tsr_x86 *x, unsigned int dst, unsigned int src, struct tsr_x86_rm rm,
		   unsigned int half);
/* The first vector register that may be a home. */
unsigned int tsr_homes_first(const struct tsr_x86 *x);

/* jit_loop.c: the code of @loop (loop.h) for one warp; false: it never can be had. */
struct tsr_loop;
bool tsr_loop_emit(struct tsr_segment *s, struct tsr_x86 *x, struct tsr_pool *pool,
		   const struct tsr_loop *loop, const uint8_t *leave);

#endif
