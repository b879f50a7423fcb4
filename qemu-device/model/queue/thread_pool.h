/* SPDX-License-Identifier: MIT */
/*
 * Jobs: engine commands whose work is divided among independent cores, and the threads that work on
 * them. Engines see the part that is in work.h.
 *
 * In: a command at the head of a queue's FIFO that has begun a job. Out: all cores have completed
 * their work. The runner of the queue (the owner) and idle worker threads (helpers) execute them.
 * The owner opens the pool when there is work to share, and closes it before the queue reaches a
 * preemption point. No other thread uses the job while the pool is closed. A helper leaves between
 * two work quanta when the pool is closed, when its thread has a stop request, or when a queue
 * waits for a thread. Limits: one job of a queue at a time. Reset state: no job, pool closed.
 */
#ifndef TSR_THREAD_POOL_H
#define TSR_THREAD_POOL_H

#include <stdbool.h>

#include "work.h"

struct tsr_runner;

/* No helper touches the job of @q on return. By the owner, lock not held. */
void tsr_thread_pool_close(struct tsr_queue *q);
/*
 * @runner, a worker without a queue, works on somebody's job as long as it can; false: there is
 * none. Lock held; released meanwhile.
 */
bool tsr_thread_pool_help(struct tsr_runner *runner);

#endif
