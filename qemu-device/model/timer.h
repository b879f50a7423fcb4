/* SPDX-License-Identifier: MIT */
/*
 * What the device does by the clock: watchdogs, and looking again at conditions on memory.
 *
 * In: the host's timer. Out: WATCHDOG interrupts; blocked queues polled, 20 µs after they block and
 * then less and less often down to once a millisecond. Reset state: no timer is wanted. It costs
 * nothing while no queue is blocked or watched: a timer that is no longer needed is left to expire,
 * instead of being moved with each job. Everything here wants the device's lock.
 */
#ifndef TSR_TIMER_H
#define TSR_TIMER_H

#include <stdint.h>

struct tsr_gpu;
struct tsr_queue;

struct tsr_timer {
	uint64_t due;			/* host clock of the timer asked for, UINT64_MAX: none */
	uint64_t poll_at;		/* when blocked queues are looked at next */
	uint64_t poll_interval;		/* and after how long again */
};

/* Have tsr_timer_expired() called at host clock @when at the latest. */
void tsr_timer_want(struct tsr_gpu *gpu, uint64_t when);
/* A queue has blocked on a semaphore: look soon. */
void tsr_timer_blocked(struct tsr_gpu *gpu);
/* A queue has work now, or its watchdog was set: its time starts. */
void tsr_timer_watch(struct tsr_queue *q);
/* A queue has left its engine: note whether it made progress. */
void tsr_timer_progress(struct tsr_queue *q);
/* The host's timer has expired. */
void tsr_timer_expired(struct tsr_gpu *gpu);
/* Ask the host for the timer that is needed now, whatever it was asked before. */
void tsr_timer_restart(struct tsr_gpu *gpu);

#endif
