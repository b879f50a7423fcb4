/* SPDX-License-Identifier: MIT */
/*
 * Counters of the driver, for GALLIUM_HUD and GL_AMD_performance_monitor. They are sums over all
 * contexts of a screen.
 */
#ifndef TG_COUNTERS_H
#define TG_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

#include "pipe/p_defines.h"

struct pipe_screen;

enum tg_counter {
	TG_COUNTER_DRAWS,		/* of batches that were submitted */
	TG_COUNTER_VERTICES,
	TG_COUNTER_BATCHES,		/* frames */
	TG_COUNTER_DISPATCHES,		/* jobs without a frame: compute, copies, times */
	TG_COUNTER_WAITS,		/* of the CPU for the GPU */
	TG_COUNTER_WAIT_TIME,		/* microseconds of them */
	TG_COUNTER_MEMORY,		/* bytes of buffer objects */
	TG_COUNTERS
};

typedef _Atomic uint64_t tg_counters[TG_COUNTERS];

/* Any thread. @more may be negative in two's complement. */
static inline void tg_count(tg_counters counters, enum tg_counter which, uint64_t more)
{
	atomic_fetch_add_explicit(&counters[which], more, memory_order_relaxed);
}

/* tg_counter_of(): the counter that queries of @type are about, or TG_COUNTERS. */
enum tg_counter tg_counter_of(unsigned type);

/* tg_counter_accumulates(): a query tells how far it grew; else what it is in the end. */
bool tg_counter_accumulates(enum tg_counter counter);

void tg_counters_screen_init(struct pipe_screen *screen);

#endif
