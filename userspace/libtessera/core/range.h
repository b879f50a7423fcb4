/* SPDX-License-Identifier: MIT */
/*
 * An allocator of ranges of numbers: GPU addresses, offsets in a BO. It knows nothing of memory.
 *
 * In:  a range [start, end), requests with size and alignment.
 * Out: the lowest range that fits (first fit), or a chosen one.
 * Cost: the free ranges are a search tree by address that knows the largest range below each node;
 *       allocation and release are O(log n) expected for small alignments.
 * Not thread-safe: the owner locks.
 */
#ifndef TSR_RANGE_H
#define TSR_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct tsr_range_node;

struct tsr_range {
	uint64_t start, end;		/* what is managed, end excluded */
	uint64_t free;			/* sum of all free ranges */
	struct tsr_range_node *root;	/* treap of the free ranges; they never touch each other */
	uint32_t seed;			/* state of the generator of priorities, not zero */
};

/* tsr_range_init(): all of [@start, @end) is free. -ENOMEM. */
int tsr_range_init(struct tsr_range *range, uint64_t start, uint64_t end);
void tsr_range_fini(struct tsr_range *range);

/*
 * tsr_range_alloc(): the lowest free range of @size, aligned to @align (a power of two). -ENOSPC,
 * -ENOMEM; nothing is taken then. @size is not 0.
 */
int tsr_range_alloc(struct tsr_range *range, uint64_t size, uint64_t align, uint64_t *at);

/* tsr_range_take(): exactly [@at, @at + @size). -EBUSY if any of it is taken or outside, -ENOMEM.
 */
int tsr_range_take(struct tsr_range *range, uint64_t at, uint64_t size);

/* tsr_range_release(): give back taken space. -EINVAL if any of it is free or outside, -ENOMEM. */
int tsr_range_release(struct tsr_range *range, uint64_t at, uint64_t size);

/* tsr_range_largest(): the longest free range. */
uint64_t tsr_range_largest(const struct tsr_range *range);

#endif /* TSR_RANGE_H */
