/* SPDX-License-Identifier: MIT */
/*
 * A driver that the contract checker watches: two queues of the copy engine whose jobs fill a page,
 * each with a fence that interrupts, and what the checker says of it.
 */
#ifndef TSR_CHECK_PLAY_H
#define TSR_CHECK_PLAY_H

#include <string.h>

#include "ktap.h"
#include "stage.h"

#define FENCE 0x8000			/* fence word of queue n at FENCE + 8 * n */
#define PAGE 0x20000			/* what jobs fill, an offset in STAGE_DATA */
#define SCRATCH 0x40000			/* where jobs copy to */
#define FILL 4096

struct play {
	struct stage s;
	struct bench_queue q[2];
	uint64_t jobs[2];
};

static const struct tsr_config guarded = {
	.no_inline = true, .check = true, .inject_window = true,
};

static inline void begin(struct play *y, const struct tsr_config *config)
{
	memset(y, 0, sizeof(*y));
	stage_init(&y->s, config);
	for (unsigned int n = 0; n < 2; n++)
		stage_queue(&y->s, &y->q[n], n, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
}

static inline void end(struct play *y)
{
	stage_free(&y->s);
}

/* A job of queue @n in the ring, not announced: fill PAGE, then the fence. */
static inline void emit(struct play *y, unsigned int n)
{
	struct stage_stream stream = stage_stream(&y->s, 0x1000 * n);
	uint64_t p[8], job = ++y->jobs[n];

	stage_add(&stream, p, pk_fill(p, STAGE_DATA + PAGE, FILL, job));
	stage_call(&y->q[n], &stream);
	bench_fence(&y->q[n], STAGE_DATA + FENCE + 8 * n, job, TSR_EVENT_ALL_DONE, true);
}

static inline void acknowledge(struct play *y)
{
	uint64_t bits = bench_read64(y->s.b, TSR_REG_IRQ_STATUS(TSR_IRQ_CLASS_JOB));

	bench_write64(y->s.b, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_JOB), bits);
}

static inline void job(struct play *y, unsigned int n)
{
	emit(y, n);
	bench_kick(&y->q[n]);
	ktap_ok(bench_run(y->s.b, 10));
	acknowledge(y);
}

static inline uint32_t pending(struct play *y)
{
	return bench_field(bench_read(y->s.b, TSR_REG_CHECK_STATUS),
			   TSR_CHECK_STATUS_PENDING__MASK);
}

static inline uint32_t count(struct play *y, enum tsr_check_kind kind)
{
	pending(y);
	return bench_read(y->s.b, TSR_REG_CHECK_COUNT(kind));
}

static inline uint64_t total(struct play *y)
{
	unsigned int left;

	return tsr_gpu_check_reports(y->s.b->gpu, &left);
}

static inline uint64_t last64(struct play *y, uint32_t offset)
{
	return bench_read64(y->s.b, offset);
}

static inline void pages(struct play *y, enum tsr_check_pages op, uint64_t addr, uint64_t size)
{
	bench_write64(y->s.b, TSR_REG_CHECK_PAGES_ADDR, addr);
	bench_write64(y->s.b, TSR_REG_CHECK_PAGES_SIZE, size);
	bench_write(y->s.b, TSR_REG_CHECK_COMMAND, op);
}

/* Have queue 0 read from the pages at @offset and fill them, or do only one of it. */
static inline void use(struct play *y, uint64_t offset, uint64_t size, bool read, bool write)
{
	struct stage_stream stream = stage_stream(&y->s, 0);
	uint64_t p[8];

	if (read)
		stage_add(&stream, p, pk_copy(p, STAGE_DATA + SCRATCH, STAGE_DATA + offset, size));
	if (write)
		stage_add(&stream, p, pk_fill(p, STAGE_DATA + offset, size, 7));
	stage_call(&y->q[0], &stream);
	bench_fence(&y->q[0], STAGE_DATA + FENCE, ++y->jobs[0], TSR_EVENT_ALL_DONE, true);
	bench_kick(&y->q[0]);
	ktap_ok(bench_run(y->s.b, 10));
	acknowledge(y);
}

/* True if a job finds that its page has been freed; then it is known no more. */
static inline bool is_freed(struct play *y)
{
	uint64_t before = total(y);

	job(y, 0);
	return total(y) != before;
}

#endif
