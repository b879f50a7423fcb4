/* SPDX-License-Identifier: MIT */
/*
 * Injected faults on the stage: up to four copy queues, whose jobs fill FILL bytes and write a
 * fence.
 */
#ifndef TSR_INJECT_PLAY_H
#define TSR_INJECT_PLAY_H

#include <string.h>

#include "stage.h"
#include "devtools/devtools.h"

#define FENCE 0x8000			/* fence word of queue n at FENCE + 8 * n */
#define FILL 4096			/* bytes a job fills, at FILL * queue */

struct play {
	struct stage s;
	struct bench_queue q[4];
	uint64_t jobs[4];		/* submitted so far */
	char err[128];
};

static inline void begin(struct play *y, const struct tsr_config *config, unsigned int queues)
{
	memset(y, 0, sizeof(*y));
	stage_init(&y->s, config);
	for (unsigned int n = 0; n < queues; n++)
		stage_queue(&y->s, &y->q[n], n, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
}

static inline void end(struct play *y)
{
	stage_free(&y->s);
}

static inline bool inject(struct play *y, const char *script)
{
	y->err[0] = 0;
	return tsr_gpu_inject(y->s.b->gpu, script, y->err, sizeof(y->err));
}

/* A job of queue @n: fill its bytes with the job's number, then its fence and interrupt. */
static inline void submit(struct play *y, unsigned int n)
{
	struct stage_stream stream = stage_stream(&y->s, 0x1000 * n);
	uint64_t p[8], job = ++y->jobs[n];

	stage_add(&stream, p, pk_fill(p, STAGE_DATA + FILL * n, FILL, job));
	stage_call(&y->q[n], &stream);
	bench_fence(&y->q[n], STAGE_DATA + FENCE + 8 * n, job, TSR_EVENT_ALL_DONE, true);
	bench_kick(&y->q[n]);
}

static inline uint64_t fence(struct play *y, unsigned int n)
{
	return stage_load(&y->s, FENCE + 8 * n);
}

static inline unsigned int messages(struct play *y, unsigned int vector)
{
	return atomic_load(&y->s.b->interrupts[vector]);
}

/* A driver's interrupt handler: returns the slots whose fences it was told of. */
static inline uint64_t acknowledge(struct play *y)
{
	uint64_t bits = bench_read64(y->s.b, TSR_REG_IRQ_STATUS(TSR_IRQ_CLASS_JOB));

	bench_write64(y->s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_JOB), bits);
	return bits;
}

static inline uint32_t fired(struct play *y, unsigned int kind)
{
	return bench_read(y->s.b, TSR_REG_INJECT_FIRED(kind));
}

/* The device does some work: what hangs never comes to an end, so there is no bench_run(). */
static inline void work(struct play *y)
{
	for (unsigned int i = 0; i < 8; i++)
		tsr_gpu_run(y->s.b->gpu, 65536);
}

/* Time passes, and the device does what it can, its timer's work included. */
static inline void pass(struct play *y, uint64_t ns)
{
	work(y);
	atomic_fetch_add(&y->s.b->clock, ns);
	if (atomic_load(&y->s.b->timer) <= atomic_load(&y->s.b->clock))
		tsr_gpu_timer(y->s.b->gpu);
	work(y);
}

static const struct tsr_config guarded = { .no_inline = true, .inject_window = true };

#endif
