/* SPDX-License-Identifier: MIT */
/*
 * A program for four queues that touches every part of the device: nested streams, jumps, copies
 * and fills longer than a burst, fences at all events, semaphores in memory and registers between
 * the queues, counters, an invalidation, a fault at the end of the last queue. What it leaves in
 * memory and registers does not depend on the schedule, so it can be stopped and carried on at
 * will.
 */
#ifndef TSR_PROGRAM_H
#define TSR_PROGRAM_H

#include "stage.h"

#define PROGRAM_QUEUES 4

struct program {
	struct stage *s;
	struct bench_queue q[PROGRAM_QUEUES];
	uint32_t wptr[PROGRAM_QUEUES];	/* where each ring ends when all is emitted */
};

/* The result: all of STAGE_DATA, and the registers. */
struct program_result {
	uint8_t data[STAGE_DATA_SIZE];
	uint64_t reg[PROGRAM_QUEUES][8];
	uint32_t semaphore;
	uint64_t job_irq, fault_irq;
};

/* Set up memory and queues, and ring the doorbells. */
void program_start(struct program *prog, struct stage *s);
/* Let the device work until the program is over; false: it does not end. */
bool program_finish(struct program *prog);
/* True if it is over: all queues IDLE, the last one FAULTED. */
bool program_over(struct program *prog);
void program_collect(struct program *prog, struct program_result *result);
/*
 * Compare with what an undisturbed run leaves; queues whose bit is in @skip are not looked at, nor
 * what they write.
 */
bool program_check(struct program *prog, unsigned int skip);

#endif
