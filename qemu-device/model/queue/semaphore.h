/* SPDX-License-Identifier: MIT */
/*
 * Semaphores: the conditions of WAIT and WAIT_REG, and waking the queues that are blocked on them.
 *
 * In: packets to judge; notice that a word may have changed. Out: BLOCKED queues whose condition
 * holds become READY. Conditions on memory are looked at after every event write of any queue, on
 * doorbells, and periodically from 20 µs up to 1 ms while somebody is blocked.
 */
#ifndef TSR_SEMAPHORE_H
#define TSR_SEMAPHORE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "exec.h"

struct tsr_gpu;
struct tsr_queue;
struct tsr_runner;

#define TSR_POLL_MIN_NS 20000u
#define TSR_POLL_MAX_NS 1000000u

/* When blocked queues are looked at. Protected by the device's lock. */
struct tsr_poll {
	uint64_t at;			/* next */
	uint64_t interval;		/* time until the next poll after that */
};

/*
 * True if @word compares with @value as @op (enum tsr_compare) asks, in 64 or 32 bits, wrap-safe.
 */
bool tsr_semaphore_compare(unsigned int op, bool wide, uint64_t word, uint64_t value);
/* Evaluate a WAIT or WAIT_REG packet; *@holds is the answer when TSR_STEP_DONE is returned. */
enum tsr_step tsr_semaphore_test(struct tsr_mem *mem, const struct tsr_packet *packet, bool *holds);
/* SIGNAL_REG. */
void tsr_semaphore_signal(struct tsr_gpu *gpu, unsigned int index, unsigned int op, uint32_t value);
/* A word may have changed: look at the blocked queues, if there are any. Lock not held. */
void tsr_semaphore_changed(struct tsr_runner *runner);
/* Polls with the lock held. Returns true if a queue was woken. */
bool tsr_semaphore_poll(struct tsr_runner *runner);
/* A queue has blocked on a semaphore: look soon. Lock held. */
void tsr_semaphore_blocked(struct tsr_gpu *gpu);
/* As if some had just blocked: after a snapshot was loaded. Lock held. */
void tsr_semaphore_restart(struct tsr_gpu *gpu);
/* Have the timer look at blocked queues. */
void tsr_semaphore_init(struct tsr_gpu *gpu);
/* Look at one queue that is BLOCKED on a semaphore. Lock held. */
bool tsr_semaphore_poll_queue(struct tsr_runner *runner, struct tsr_queue *q);

#endif
