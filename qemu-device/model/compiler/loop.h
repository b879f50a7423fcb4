/* SPDX-License-Identifier: MIT */
/*
 * Loops as one piece: what generated code executes of a warp without coming back.
 *
 * In: a clause that threads branch back to. Out: the clauses around it that send no messages and go
 * to known places, as blocks in the order of their addresses, with the addresses at which threads
 * leave them; and code that executes them for one warp. It is as if each clause had been executed
 * by itself: the lanes of a block that is not the lowest wait in a mask of its own (the lowest
 * address goes first, isa.md), clauses, tuples and threads are counted as they are, and at each
 * branch back it ends if there is not enough left of tuples and clauses for another round. Only
 * registers that nothing reads any more may hold other values.
 *
 *   loop.c       which clauses and places, what has to be kept; running it for the warps chosen
 *   jit_loop.c   the code
 *
 * Where time is made of cycles (property deterministic), under a debugger, and in strict mode
 * clauses are executed one by one. Belongs to the thread; lives as long as its clauses.
 */
#ifndef TSR_SHADER_LOOP_H
#define TSR_SHADER_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "shader/lanes.h"

struct tsr_decoded;
struct tsr_progress;
struct tsr_shader;

/* Most places and clauses of a loop. */
#define TSR_LOOP_PLACES 24
#define TSR_LOOP_CLAUSES 64
/*
 * Clauses of a loop that is executed one by one as long as no lane waits elsewhere: all warps of a
 * bundle at a clause keep the host busier than one in a loop. Measured with bench/host/shader,
 * mandelbrot of two clauses: 3.5 Grounds/s clause by clause, 2.75 as one piece; with 256 bits 2.1
 * both ways.
 */
#define TSR_LOOP_SMALL 2
/*
 * After so many times a warp has executed a loop it is looked at: if each had less than two rounds,
 * as threads send a message in most, it is executed clause by clause the next so many times, then
 * tried again: in another part of a picture threads may stay in it for long.
 */
#define TSR_LOOP_TRIAL 64
#define TSR_LOOP_PAUSE 512
/* Tuples of a warp after which it comes back in any case. */
#define TSR_LOOP_TUPLES 4096
/*
 * Tuples are counted from this bit on in a 32-bit word, and clauses below it. A clause has at least
 * one tuple, so a warp executes at most TSR_LOOP_PASS_TUPLES clauses. The sum over the threads of a
 * warp has the same layout in 64 bits. loop.c asserts that neither field overflows.
 */
#define TSR_LOOP_COUNT 18

/* An address threads of a loop can stand at: a block of clauses, or beyond the loop. */
struct tsr_loop_place {
	uint64_t pc;
	uint64_t live;			/* registers that are read from there on */
	/* registers that threads need which wait elsewhere while these are at this block */
	uint64_t kept;
	uint16_t tuples;
	uint8_t first, clauses;		/* of tsr_loop.clause; none: beyond the loop */
	int8_t jump;			/* place threads branch to; -1: none */
	bool falls;			/* threads that do not branch go to the next place */
	uint16_t zero;
};

struct tsr_loop {
	struct tsr_loop *chain;		/* other loops of the same clause */
	const void *code;		/* NULL: it cannot be had */
	uint64_t space;			/* the last one it was found in */
	uint32_t executed;		/* tuples, in so many times: */
	uint8_t times;
	uint8_t variants;		/* what BLEND looks at in @space, see loop.c */
	uint16_t round;			/* tuples of the shortest way from its head to its head */
	/* the rest, without padding, is the same as long as clauses are */
	uint64_t written;		/* registers that may be */
	uint64_t last;			/* address of the last clause */
	uint16_t flags;			/* TSR_CLAUSE_ bits of all clauses */
	uint16_t tuples;		/* of all clauses */
	uint8_t places, head, clauses, zero;
	struct tsr_loop_place place[TSR_LOOP_PLACES];
	struct tsr_decoded *clause[TSR_LOOP_CLAUSES];
};

/* tsr_decoded.rounds: there is none. */
#define TSR_LOOP_REFUSED UINT16_MAX

/*
 * The loop of @clause, where the warps chosen stand; NULL: there is none, it is not worth it, or
 * something is in the way. The chain has come to @p.
 */
struct tsr_loop *tsr_loop_find(struct tsr_shader *sh, struct tsr_decoded *clause,
			       const struct tsr_progress *p);
/*
 * They execute it, as long as nothing else wants the thread, at most @clauses, and stand where that
 * leads: warps are to be chosen anew.
 */
void tsr_loop_run(struct tsr_shader *sh, struct tsr_loop *loop, uint32_t clauses);

/*
 * The loop of @clause in the present space, for the present state; NULL: there is none, or no code
 * for it (loop->code) can be had.
 */
struct tsr_loop *tsr_loop_of(struct tsr_shader *sh, struct tsr_decoded *clause);
/* The only place beyond it that threads leave it for; -1: there are several. */
int tsr_loop_exit(const struct tsr_loop *loop);

/* Work of loops: executed by warps, and by their threads. */
struct tsr_loop_work {
	uint64_t clauses, tuples, threads;
};

/* Tuples after which a warp does not pass through a loop: a block's are below TSR_STOP_WORK. */
#define TSR_LOOP_PASS_TUPLES 16000
/*
 * Lanes @lanes of warp @w of the bundle pass through it: from its head to place @out, at once. The
 * mode is set. Adds to @work. False: some have not arrived after so
 * many tuples.
 */
bool tsr_loop_pass(struct tsr_shader *sh, const struct tsr_loop *loop, unsigned int w,
		   uint16_t lanes, unsigned int out, struct tsr_loop_work *work);

#endif
