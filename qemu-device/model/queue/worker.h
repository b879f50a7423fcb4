/* SPDX-License-Identifier: MIT */
/*
 * Workers: the threads that run queues.
 *
 * In: READY queues. Out: nothing of their own; they run what the scheduler gives them. A worker
 * without work spins for a short time, the longer the more often that paid, then sleeps. Limits:
 * TSR_WORKERS_MAX. With none, tsr_gpu_run() does their work.
 */
#ifndef TSR_WORKER_H
#define TSR_WORKER_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tsr_gpu;

#define TSR_WORKERS_MAX 64

struct tsr_workers {
	/*
	 * Posted once for each sleeper that is to wake up. A condition variable would let a second
	 * signal wait for the thread that the first one woke.
	 */
	sem_t wake;
	unsigned int started;		/* threads that run */
	unsigned int idle;		/* threads without work */
	_Atomic unsigned int sleeping;	/* of them, those that sleep and that nobody has woken */
	/* the device goes away; read without the lock by those that spin */
	atomic_bool quit;
	unsigned int spin_ns;		/* how long to spin, adapted */
	bool late;			/* a thread is about to release the lock: it wakes then */
	bool due;			/* that thread has somebody to wake */
};

/* Start cfg.threads workers. False: the system has no more threads. */
bool tsr_workers_start(struct tsr_gpu *gpu);
/* End and join them. Lock not held. */
void tsr_workers_stop(struct tsr_gpu *gpu);
/* There is work for somebody else than this thread. Lock held. */
void tsr_workers_wake(struct tsr_gpu *gpu);
/*
 * tsr_workers_wake() for a thread that has nothing more to do with the lock: who is woken does not
 * have to wait for it. Only between tsr_workers_late() and tsr_workers_unlock(), else as
 * tsr_workers_wake().
 */
void tsr_workers_wake_late(struct tsr_gpu *gpu);
static inline void tsr_workers_late(struct tsr_workers *workers)
{
	workers->late = true;
}
/* Release the lock, and wake whom tsr_workers_wake_late() has found. */
void tsr_workers_unlock(struct tsr_gpu *gpu);
/*
 * Wake @count workers that sleep, or fewer. What they are to find must have been there when the
 * lock was held last. The lock need not be held: those who wake take it first.
 */
void tsr_workers_signal(struct tsr_gpu *gpu, unsigned int count);

#endif
