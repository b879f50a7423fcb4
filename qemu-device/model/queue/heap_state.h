/* SPDX-License-Identifier: MIT */
/*
 * A queue's heap that grows: how much of it there is, and asking for more.
 *
 * In: HEAP packets (base, size, maximum), the binner's wish for memory up to some size, writes to
 * HEAP_GROW, FAIL_HEAP. Out: whether the memory is there; if not, the queue leaves its engine,
 * BLOCKED, with the HEAP interrupt, until the register grows. Nothing of the heap's content is
 * known here. What engines call is in work.h. Limits: sizes in units of TSR_HEAP_ALIGN, 32 bits.
 * Reset state: no heap.
 */
#ifndef TSR_HEAP_STATE_H
#define TSR_HEAP_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "work.h"

struct tsr_queue;

struct tsr_heap_state {
	/* Values of the last HEAP packet, owned by the thread that runs the queue. */
	uint64_t base;			/* 0: the queue has no heap */
	uint32_t max;			/* HEAP_MAX */
	uint32_t wanted;		/* size without which the engine cannot go on; 0: it can */
	/* Written under the lock, and by HEAP packets; read by the runner. */
	_Atomic uint32_t size;		/* HEAP_SIZE */
	atomic_bool failed;		/* FAIL_HEAP came */
};

/* A HEAP packet: the heap of the CALLs that follow. */
void tsr_heap_state_set(struct tsr_queue *q, uint64_t base, uint32_t size, uint32_t max);

/* For scheduler, queue slot and registers; lock held. */

/* No heap; what waited for it is gone. */
void tsr_heap_state_reset(struct tsr_queue *q);

/* True if the queue, which has left its engine PENDING, waits for its heap. */
bool tsr_heap_state_waits(const struct tsr_queue *q);
/* HEAP_GROW is written; FAIL_HEAP. */
void tsr_heap_state_grow(struct tsr_queue *q, uint32_t size);
void tsr_heap_state_fail(struct tsr_queue *q);

#endif
