/* SPDX-License-Identifier: MIT */
/*
 * Watchdogs: queues that make no progress for as long as their WATCHDOG_MS says.
 *
 * In: what becomes of queues, the timer. Out: WATCHDOG interrupts, one for each time that a queue
 * stands still. It costs nothing while no queue is watched. Everything here wants the device's
 * lock.
 */
#ifndef TSR_WATCHDOG_H
#define TSR_WATCHDOG_H

struct tsr_gpu;
struct tsr_queue;

/* Have the timer look at watched queues. */
void tsr_watchdog_init(struct tsr_gpu *gpu);
/* A queue has work now, or its watchdog was set: its time starts. */
void tsr_watchdog_start(struct tsr_queue *q);
/* A queue has left its engine: note whether it made progress. */
void tsr_watchdog_progress(struct tsr_queue *q);

#endif
