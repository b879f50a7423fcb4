/* SPDX-License-Identifier: MIT */
/*
 * Predecoding: a clause to the list of micro-operations that executes it.
 *
 * In: the bytes of a clause and its address. Out: a struct tsr_decoded, in which registers, results
 * on their way and constants are resolved to operands: the register block's timing (a tuple's
 * results land after the port reads of the next tuple) costs nothing when the clause is executed
 * unless it really needs a copy. NOPs and results nobody uses disappear. A clause that is wrong is
 * decoded too: into the fault it raises when it is executed. Limits: none but the clause's own.
 */
#ifndef TSR_SHADER_PREDECODE_H
#define TSR_SHADER_PREDECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "alu/alu.h"
#include "compiler/native.h"

/* Most push constants of programs whose warps may differ in them. */
#define TSR_MIXED_WORDS 32

/* Temporaries, as the first index of their TSR_BUNDLE_WARPS vectors divided by that. */
enum tsr_temp {
	TSR_TEMP_FIXED,			/* the vectors below, the same for all threads */
	TSR_TEMP_LANE_ID = TSR_TEMP_FIXED + 3,	/* FAU special, the same for all warps */
	/* FAU special: number of the warp in its group */
	TSR_TEMP_WARP_ID,
	TSR_TEMP_RESULT,		/* results on their way, of two tuples, two units each */
	TSR_TEMP_RETAINED = TSR_TEMP_RESULT + 4,	/* sources for message and branch */
	/* six of the message, three of the branch; TSR_CODE_MIXED: push constants of each warp */
	TSR_TEMP_PUSH = TSR_TEMP_RETAINED + 9,
	TSR_TEMPS = TSR_TEMP_PUSH + TSR_MIXED_WORDS
};

/* Vectors of TSR_TEMP_FIXED. */
enum tsr_temp_fixed {
	TSR_FIXED_ZERO,
	TSR_FIXED_CORE_ID,		/* FAU special */
	TSR_FIXED_FRAME,		/* from here on fragment stages: size of the frame */
	TSR_FIXED_SAMPLES,		/* address of the sample positions, two words */
	TSR_FIXED_BLEND = TSR_FIXED_SAMPLES + 2,	/* blend descriptors, two words each */
	TSR_FIXED__COUNT = TSR_FIXED_BLEND + 2 * TSR_RENDER_TARGETS_MAX
};

/* Properties for which a clause is decoded, in addition to its address. */
enum tsr_code_kind {
	TSR_CODE_REGISTERS_64 = 1,
	TSR_CODE_VERTEX = 2,
	TSR_CODE_FRAGMENT = 4,
	TSR_CODE_MIXED = 8,		/* warps of a bundle have push constants of their own */
	TSR_CODE_KINDS = 15,
};

/* Work of a clause in addition to its micro-operations. */
enum {
	TSR_CLAUSE_FAULT = 1 << 0,	/* the clause is wrong: before anything of it */
	TSR_CLAUSE_STAGING = 1 << 1,	/* after it: messages have read their staging registers */
	TSR_CLAUSE_MESSAGE = 1 << 2,
	TSR_CLAUSE_BARRIER = 1 << 3,
	TSR_CLAUSE_BRANCH = 1 << 4,
	TSR_CLAUSE_END = 1 << 5,	/* threads that do not branch end */
	TSR_CLAUSE_RECONVERGE = 1 << 6,	/* the lowest of all threads' addresses goes on */
	TSR_CLAUSE_WAIT = 1 << 7,	/* the next clause waits for messages */
	TSR_CLAUSE_TERMINATE = 1 << 8,	/* after it helper threads end */
	TSR_CLAUSE_DISCARD = 1 << 9,	/* threads may have become helpers */
	TSR_CLAUSE_BLEND = 1 << 10,	/* its message is BLEND: at once, and threads may branch */
	/* threads may go different ways after it, or wait for one another */
	TSR_CLAUSE_NOT_STRAIGHT = TSR_CLAUSE_FAULT | TSR_CLAUSE_BARRIER | TSR_CLAUSE_BRANCH |
				  TSR_CLAUSE_DISCARD,
	/* what only fragment programs know */
	TSR_CLAUSE_FRAGMENT = TSR_CLAUSE_TERMINATE | TSR_CLAUSE_DISCARD | TSR_CLAUSE_BLEND,
};

/* The message of a clause, see struct tsr_msg. */
struct tsr_decoded_msg {
	const struct tsr_insn *insn;
	const struct tsr_insn *pair_insn;
	struct tsr_operand src[3], pair[3];	/* as they are at the end of the clause */
	uint8_t srcs, pairs;		/* how many */
	uint32_t fma, add;		/* the encoded instructions, for stored messages */
	uint8_t staging;		/* first staging register */
	uint8_t staging_read;		/* registers read from there on */
	uint8_t slot;			/* of the scoreboard */
	uint8_t result;			/* ATEST: register that becomes its result too, or 255 */
	uint8_t tuple;
};

/* A decoded clause. Micro-operations, instructions and constants lie after it in memory. */
struct tsr_decoded {
	uint64_t pc;
	uint64_t next_pc;		/* the clause after it */
	uint64_t jump_pc;		/* a branch's target, if it is the same for all threads */
	/* Successors in the cache, NULL as long as nobody went there. */
	struct tsr_decoded *next, *jump;
	union tsr_lanes *konst;		/* TSR_LANES_CLAUSE */
	struct tsr_uop *uop;
	/*
	 * TSR_CLAUSE_BRANCH: its condition, the last of all. Apart from the others: a call from a
	 * place of its own is one that the host can predict.
	 */
	struct tsr_uop *branch;
	uint16_t uops;
	uint16_t flags;			/* TSR_CLAUSE_ bits */
	struct tsr_alu_mode mode;
	uint32_t mode_key;		/* the same as one number */
	uint64_t written;		/* bit r: it may write register r */
	uint8_t tuples;
	uint8_t wait;			/* slots the next clause waits for */
	uint8_t bytes;			/* length of its code */
	bool jump_fixed;		/* jump_pc holds, or jump_ends does */
	bool jump_ends;			/* branching ends the thread */
	struct tsr_decoded_msg msg;
	/* TSR_CLAUSE_FAULT: the fault, where it is */
	uint8_t fault_code, fault_tuple;
	bool fault_add;
	/* The cache's. */
	struct tsr_native_code native[TSR_NATIVE_KINDS];
	uint64_t space;			/* the last one it was found in */
	struct tsr_decoded *chain;
	struct tsr_decoded *linked;	/* the next one with @links */
	bool links;			/* something leads to its successors without a look-up */
	bool loops;			/* threads branch back to it: a loop is searched for */
	bool loop_small;		/* the loop is executed only while other lanes wait */
	uint16_t rounds;		/* executions so far; TSR_LOOP_REFUSED: no loop */
	uint16_t pause;			/* executions for which the loop is not entered */
	struct tsr_loop *loop;		/* the loop that was found */
	uint8_t code[TSR_CLAUSE_BYTES_MAX];	/* its bytes */
};

/* Memory a clause needs at most, in one piece, aligned to 64. */
#define TSR_DECODED_MAX 10240

/* Registers micro-operation @uop looks at, and those it leaves nothing of; a bit for each. */
uint64_t tsr_uop_reads(const struct tsr_uop *uop);
uint64_t tsr_uop_writes(const struct tsr_uop *uop);
/* Registers from the first staging one on that a message of @insn writes at most. */
unsigned int tsr_message_writes(const struct tsr_insn *insn);

/*
 * Decode the clause of @code, @len bytes, at @pc into @memory, of TSR_DECODED_MAX bytes; returns
 * how many are used. False in *@whole: the clause is longer than @len, and more code is needed.
 * @kind: TSR_CODE_ bits.
 */
size_t tsr_predecode(const struct tsr_simd *alu, const void *code, size_t len, uint64_t pc,
		     unsigned int kind, void *memory, bool *whole);

#endif
