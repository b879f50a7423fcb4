/* SPDX-License-Identifier: MIT */
/*
 * Accesses to memory through the TLB: what engine.h promises to engines, the words that the
 * command processor reads and writes, and bytes of any number.
 *
 * In: virtual addresses. Out: host pointers, precise faults, dirty ranges reported to the host.
 * Limits: TSR_DIRTY_RANGES written ranges between two reports; the host hears of the oldest early
 * when there are more.
 */
#ifndef TSR_MEM_H
#define TSR_MEM_H

#include <stdbool.h>
#include <stdint.h>

#include "command/engine.h"

#define TSR_DIRTY_RANGES (2 * TSR_SPANS_HELD)

/* A range that has been written, or will have been when the step ends. */
struct tsr_dirty_range {
	uint8_t *ptr;			/* its host address */
	uint64_t phys;			/* its bus address or local offset */
	uint64_t len;			/* bytes */
	bool local;			/* in local memory */
};

/* Ranges the host has not been told of. */
struct tsr_dirty {
	struct tsr_dirty_range range[TSR_DIRTY_RANGES];
	unsigned int count;
};

/* A page of virtual memory, or what of it is contiguous on the host: bytes [lo, hi). */
struct tsr_page {
	uint8_t *ptr;			/* host address of byte @lo; NULL for a NULL page */
	uint64_t phys;			/* bus address or local offset of byte @lo */
	uint16_t lo, hi;		/* in bytes from the page's first */
	bool local;			/* in local memory */
};

/*
 * Where the host has the @len bytes at @va, for reading, if they lie in one page and the runner's
 * TLB tells; else NULL. For hints: nothing is counted and nothing faults.
 */
const uint8_t *tsr_mem_peek(const struct tsr_mem *mem, uint64_t va, unsigned int len);
/* The same of qwords, which are on their way into the host's caches then. */
const uint64_t *tsr_mem_call_for(const struct tsr_mem *mem, uint64_t va, unsigned int qwords);

/*
 * The page of @va, for units that keep translations of their own until their stopping point; it
 * covers at least the byte @va. Results as tsr_mem_map()'s, but nothing is noted as written: that
 * is up to the caller.
 */
enum tsr_step tsr_mem_page(struct tsr_mem *mem, uint64_t va, unsigned int access,
			   struct tsr_page *page);
/*
 * Tell the host that @len bytes from the first of @page have been written: all of it, or of pages
 * that lie behind one another on the host. Before the stopping point, after the last write.
 */
void tsr_mem_written(struct tsr_runner *runner, const struct tsr_page *page, uint64_t len);

/* Tell the host of all ranges written: at the end of each step and event write. */
void tsr_mem_flush_dirty(struct tsr_runner *runner);

/* A naturally aligned word of 4 or 8 bytes, read as a load-acquire. */
enum tsr_step tsr_mem_load(struct tsr_mem *mem, uint64_t va, bool wide, uint64_t *value);
/* The same, written as a store-release. */
enum tsr_step tsr_mem_store(struct tsr_mem *mem, uint64_t va, bool wide, uint64_t value);
/* Add to a word, atomically towards other queues. */
enum tsr_step tsr_mem_add(struct tsr_mem *mem, uint64_t va, bool wide, uint64_t value);
/* Copy the bytes of [va, va + len) that are contiguous; *@len is reduced to what was copied. */
enum tsr_step tsr_mem_fetch(struct tsr_mem *mem, uint64_t va, void *to, uint64_t *len);

/* Read @len bytes at @va, whatever they lie on. TSR_STEP_DONE, _PENDING or _FAULT. */
enum tsr_step tsr_mem_read(struct tsr_mem *mem, uint64_t va, void *to, uint64_t len);
/*
 * Write @len bytes at @va. What has been written before one fails, or is PENDING, is written again
 * when the step is repeated.
 */
enum tsr_step tsr_mem_write(struct tsr_mem *mem, uint64_t va, const void *from, uint64_t len);

#endif
