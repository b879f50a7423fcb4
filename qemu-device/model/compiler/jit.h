/* SPDX-License-Identifier: MIT */
/*
 * Generated code: clauses that are executed often become machine code of the host.
 *
 * In: a decoded clause. Out: code that executes its micro-operations, with the same results as
 * their functions, bit for bit, and goes on with the clause's successor as long as all chosen warps
 * go there together; core.c does all that is not arithmetic. Micro-operations without a template
 * are called, so every clause can be compiled. For the AVX2 and AVX-512 paths; on other hosts, and
 * where executable memory is refused, there is no code and everything is interpreted.
 *
 *   jit.c        memory, clauses, the way from one to the next
 *   jit_ops.c    micro-operations to nodes, the templates
 *   jit_node.c   nodes: what a segment of a clause computes; constants
 *   jit_emit.c   nodes to a loop over the vectors of a bundle
 *   jit_loop.c   loops of a program (loop.h)
 *   jit_x86.c    instructions to bytes
 *
 * Memory is TSR_JIT_BYTES for each thread, mapped twice: writable here, executable there, never
 * both. It is forgotten with the clause cache it belongs to (code.h).
 */
#ifndef TSR_SHADER_JIT_H
#define TSR_SHADER_JIT_H

#include "shader/branch.h"
#include "shader/predecode.h"

#define TSR_JIT_BYTES (8u << 20)
/* Micro-operations of clauses that are compiled as one piece. */
#define TSR_STRAIGHT_UOPS 1024
/* Executions of a clause after which code is generated. */
#define TSR_JIT_RUNS 24
/* Clauses that are executed before the core is asked whether to go on. */
#define TSR_JIT_CHAIN 64

struct tsr_jit;

/* Lanes of a vector of the code on @simd: 8 or 16. */
unsigned int tsr_jit_lanes(const struct tsr_simd *simd);

/* NULL: not on @simd, or not on this host. */
struct tsr_jit *tsr_jit_new(const struct tsr_simd *simd);
void tsr_jit_free(struct tsr_jit *jit);
/* All code is gone. */
void tsr_jit_forget(struct tsr_jit *jit);
/* Generate code for @clause; false: there is no room. */
bool tsr_jit_compile(struct tsr_jit *jit, struct tsr_decoded *clause, enum tsr_native_kind kind);
/*
 * Code for @count clauses as one piece: all lanes of the first @warps, or, of 0, the chunks of the
 * list execute one after the other, in one mode, and nobody sends a message or branches but after
 * the last. They have at most TSR_STRAIGHT_UOPS micro-operations. Of registers only those of @live
 * are written for sure. If the last clause branches, native.outcome is TSR_OUTCOME_OPEN if the code
 * has not found who does. NULL: there is no room.
 */
const void *tsr_jit_straight(struct tsr_jit *jit, struct tsr_decoded *const *clause,
			     unsigned int count, uint64_t live, unsigned int warps);
/* Code for @loop, in loop->code, NULL if it cannot be had; false: there is no room. */
bool tsr_jit_loop(struct tsr_jit *jit, struct tsr_loop *loop);
/* Execute clauses from one on whose code is @code; @lanes says with what, and what came of it. */
void tsr_jit_run(const struct tsr_jit *jit, const void *code, struct tsr_lane_state *lanes);

#endif
