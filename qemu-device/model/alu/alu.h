/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic units, FMA and ADD: decoded instructions to micro-operations.
 *
 * In: an instruction, its operands and the modes of its clause. Out: a micro-operation, the
 * function that executes the instruction on all active lanes. Functions exist once for each SIMD
 * path (SSE2, AVX2, AVX-512), all with the same results, bit for bit. Messages and branches are not
 * arithmetic: the core has micro-operations of its own for them.
 */
#ifndef TSR_SHADER_ALU_H
#define TSR_SHADER_ALU_H

#include "shader/lanes.h"
#include "tsr_isa.h"

struct tsr_uop;

typedef void tsr_uop_fn(const struct tsr_uop *uop, struct tsr_alu_state *state);

/* Destination of a micro-operation's result. */
enum tsr_dst {
	TSR_DST_ALL,			/* write whole vectors, active lanes or not: temporaries */
	TSR_DST_ACTIVE,			/* write active lanes only: registers */
};

/* Modes from the clause header that arithmetic depends on. */
struct tsr_alu_mode {
	uint8_t ftz;			/* enum tsr_ftz */
	uint8_t suppress_inf;
	uint8_t suppress_nan;
};

struct tsr_uop {
	tsr_uop_fn *fn;			/* set by tsr_alu_select(), or by the core */
	struct tsr_operand dst;		/* TEMP, or REG with TSR_DST_ACTIVE */
	struct tsr_operand src[4];	/* sources, in the order of the instruction */
	/*
	 * ADD instructions that take hidden state from the FMA instruction of their tuple (see
	 * isa.md, pairs): the sources of that instruction.
	 */
	struct tsr_operand pair[3];
	const struct tsr_insn *insn;	/* lives as long as the micro-operation */
	/* the tuple's FMA instruction for such a pair, else NULL */
	const struct tsr_insn *pair_insn;
	struct tsr_alu_mode mode;
	uint8_t dst_kind;		/* enum tsr_dst */
	bool strides;			/* set by tsr_alu_select(): some operand's step is not 1 */
	/* below: of the selected function alone, filled by tsr_alu_select() */
	tsr_uop_fn *inner;		/* for functions that wrap another one */
	uint32_t keep[4], flip[4];	/* (source & keep) ^ flip: absolute value and negation */
	uint32_t param[4];
};

/* How many operands the other instruction of the pair has: as many of uop->pair mean something. */
static inline unsigned int tsr_uop_pairs(const struct tsr_uop *uop)
{
	return uop->pair_insn ? tsr_ops[uop->pair_insn->op].num_srcs : 0;
}

struct tsr_simd;

/*
 * Choose the function of @uop on SIMD path @simd; operands, insn and mode are set. False if the
 * instruction is not arithmetic or its semantics is not public.
 */
bool tsr_alu_select(const struct tsr_simd *simd, struct tsr_uop *uop);

/* True if arithmetic instruction @insn looks at other lanes than its own. */
bool tsr_alu_crosses_lanes(const struct tsr_insn *insn);

/*
 * Put the host's floating-point unit into the state micro-operations of a clause with @mode want
 * (flush modes, round to nearest even, no traps), and back. A core calls enter before it runs
 * micro-operations, change when the mode changes (cheap if it does not), leave before it returns.
 */
struct tsr_alu_saved { uint32_t host, now; };
void tsr_alu_enter(struct tsr_alu_saved *saved, const struct tsr_alu_mode *mode);
void tsr_alu_change(struct tsr_alu_saved *saved, const struct tsr_alu_mode *mode);
void tsr_alu_leave(const struct tsr_alu_saved *saved);
/* Enter again on the same thread, without flush modes: the host's state is what it was. */
void tsr_alu_reenter(struct tsr_alu_saved *saved);

/* One instruction on plain words, by whatever path: for tests and single-stepping. */
bool tsr_alu_scalar(const struct tsr_simd *simd, const struct tsr_insn *insn,
		    const struct tsr_insn *pair_insn, const struct tsr_alu_mode *mode,
		    const uint32_t src[4], const uint32_t pair[3], uint32_t *result);

#endif
