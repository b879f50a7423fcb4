/* SPDX-License-Identifier: MIT */
/*
 * How much a queue still does after a stop request, in modelled cycles: the rule of
 * TSR_STOP_WORK (queues.md), counted, not timed.
 */
#ifndef TSR_STOP_WORK_TEST_H
#define TSR_STOP_WORK_TEST_H

#include "bench.h"

/*
 * Run the queue from one place at which it looks whether it shall stop to the next; the cycles that
 * took. @wanted: it has a stop request from the beginning; bursts that check at once do nothing
 * then. Else it has a budget of one cycle. The budget is checked where stop requests are, so this
 * is the work that follows a request made just after a check. A device without threads.
 */
uint64_t stop_work_step(struct bench_queue *q, bool wanted);

/* The most of @steps such steps of both kinds in turn; fewer if the queue comes to rest. */
uint64_t stop_work_most(struct bench_queue *q, unsigned int steps);

/*
 * Checks (ktap.h) of a queue that has been told to begin: it stops in time at each of some places,
 * and at last, by a reset; @endless: it does not end before. Returns the most cycles. What never
 * stops ends the program as failed, after some time of the processor.
 */
uint64_t stop_work_check(struct bench_queue *q, const char *what, bool endless);
/* Measure other work: between calls with true and false. */
void stop_work_watch(bool on);

#endif
