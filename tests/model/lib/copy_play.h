/* SPDX-License-Identifier: MIT */
/* A COPY queue with a source of BIG bytes, for tests of events and barriers. */
#ifndef TSR_COPY_PLAY_H
#define TSR_COPY_PLAY_H

#include <string.h>

#include "stage.h"

#define OUT 0x1000
#define SOURCE 0x10000
#define TARGET 0x80000
#define BIG (256u << 10)		/* bytes of a copy of many bursts */
#define LAST 16				/* its last bytes, which the last step stores */

struct play {
	struct stage s;
	struct bench_queue q;
	uint64_t p[8];
};

static inline void begin(struct play *y, const struct tsr_config *config)
{
	stage_init(&y->s, config);
	stage_queue(&y->s, &y->q, 0, TSR_ENGINE_CLASS_COPY, 0);
	for (unsigned int i = 0; i < BIG; i++)
		y->s.data[SOURCE + i] = i ^ i >> 8;
}

static inline void end(struct play *y)
{
	stage_free(&y->s);
}

static inline void emit_fence(struct play *y, enum tsr_event event, unsigned int n)
{
	bench_fence(&y->q, STAGE_DATA + OUT + 8 * n, n + 1, event, false);
}

static inline void emit_copy(struct play *y, uint64_t to, uint64_t from, uint64_t size)
{
	bench_emit(&y->q, y->p, pk_copy(y->p, STAGE_DATA + to, STAGE_DATA + from, size));
}

static inline uint64_t counter(struct play *y, unsigned int id)
{
	return bench_queue_reg64(&y->q, TSR_REG_QUEUE_COUNTER(0, id) - TSR_QUEUE__OFFSET);
}

static inline bool copied(struct play *y, uint64_t bytes)
{
	return !memcmp(y->s.data + TARGET, y->s.data + SOURCE, bytes);
}

static inline bool runs(struct play *y)
{
	return bench_state(&y->q) == TSR_QUEUE_STATE_RUNNING ||
	       bench_state(&y->q) == TSR_QUEUE_STATE_READY;
}

#endif
