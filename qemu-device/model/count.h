/* SPDX-License-Identifier: MIT */
/* Counting in a counter that has one writer at a time and any number of readers. */
#ifndef TSR_COUNT_H
#define TSR_COUNT_H

#include <stdatomic.h>
#include <stdint.h>

/* Add to a counter that has one writer. */
static inline void tsr_count(_Atomic uint64_t *counter, uint64_t n)
{
	uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, value + n, memory_order_relaxed);
}

#endif
