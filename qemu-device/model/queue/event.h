/* SPDX-License-Identifier: MIT */
/*
 * Events: what FENCE, SIGNAL, SIGNAL_REG, TIMESTAMP and the counter packets do when they are due.
 *
 * In: a checked packet. Out: the word written, then the interrupt, then blocked queues looked at. A
 * pending translation or a fault means that nothing was written; the packet may be applied again.
 */
#ifndef TSR_EVENT_H
#define TSR_EVENT_H

#include "engine.h"
#include "exec.h"

/* When an event packet is due (enum tsr_event). */
unsigned int tsr_event_when(const struct tsr_packet *packet);
/* Do it. */
enum tsr_step tsr_event_apply(struct tsr_mem *mem, const struct tsr_packet *packet);

/* COUNTER_BEGIN: its own packet, @qwords long, is not counted. */
void tsr_interval_begin(struct tsr_queue *q, const struct tsr_packet *packet);
/* COUNTER_END: goes on where it stopped when a translation was pending. */
enum tsr_step tsr_interval_end(struct tsr_mem *mem, const struct tsr_packet *packet);
/*
 * Returns what the next command of @q counts the work of texture caches for, see counters.md: a
 * number of the interval, 1 if the device counts everything, 0 if nothing is counted.
 */
uint64_t tsr_interval_caches(const struct tsr_queue *q);

static inline bool tsr_interval_counts_caches(const struct tsr_queue *q)
{
	return tsr_interval_caches(q) != 0;
}

#endif
