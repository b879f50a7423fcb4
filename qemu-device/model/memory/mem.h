/* SPDX-License-Identifier: MIT */
/*
 * Accesses to memory through the TLB: spans for engines, the words that the command processor reads
 * and writes, and bytes of any number.
 *
 * In: virtual addresses. Out: host pointers, precise faults, dirty ranges reported to the host.
 * Limits: TSR_DIRTY_RANGES written ranges between two reports; the host hears of the oldest early
 * when there are more.
 */
#ifndef TSR_MEM_H
#define TSR_MEM_H

#include <stdbool.h>
#include <stdint.h>

#include "view.h"

/* A page of virtual memory, or what of it is contiguous on the host: bytes [lo, hi). */
struct tsr_page {
	uint8_t *ptr;			/* host address of byte @lo; NULL for a NULL page */
	uint64_t phys;			/* bus address or local offset of byte @lo */
	uint32_t lo, hi;		/* in bytes from the page's first */
	bool local;			/* in local memory */
};

/*
 * Translate [va, va + len) for @access (TSR_ACCESS_READ, _WRITE or _EXEC) as far as it is
 * contiguous. Returns TSR_STEP_DONE with @span, TSR_STEP_PENDING, or TSR_STEP_FAULT with mem->fault
 * set. A span is valid until the step returns. For writes the bytes [va, va + span.len) are marked
 * dirty when the step ends: do not ask for more than is going to be written. A step may hold at
 * most TSR_SPANS_HELD write spans at once: the oldest is to be regarded as lost when one more is
 * mapped.
 */
enum tsr_step tsr_mem_map(struct tsr_mem *mem, uint64_t va, uint64_t len, unsigned int access,
			  struct tsr_span *span);

/* Record a fault of the command itself: @qword of the packet is wrong. Returns TSR_STEP_FAULT. */
enum tsr_step tsr_mem_bad_packet(struct tsr_mem *mem, uint64_t pc, unsigned int qword,
				 uint8_t code);

/*
 * The host's address of the @len bytes at @va, for reading. NULL if they cross a page or the
 * thread's TLB does not have the translation. For hints: nothing is counted, and nothing faults.
 */
const uint8_t *tsr_mem_peek(const struct tsr_mem *mem, uint64_t va, unsigned int len);
/* tsr_mem_peek() of @qwords, which it also prefetches into the host's caches. */
const uint64_t *tsr_mem_call_for(const struct tsr_mem *mem, uint64_t va, unsigned int qwords);

/*
 * The page of @va, for units that keep translations of their own until their preemption point. The
 * page covers at least the byte @va. Results are those of tsr_mem_map(), but the caller must report
 * what it writes.
 */
enum tsr_step tsr_mem_page(struct tsr_mem *mem, uint64_t va, unsigned int access,
			   struct tsr_page *page);
/*
 * The @len bytes at @va as one @area, if they lie in a large page that the thread's TLB has and
 * that allows @access; false: go page by page. Nothing is counted or noted as written.
 */
bool tsr_mem_area(struct tsr_mem *mem, uint64_t va, uint64_t len, unsigned int access,
		  struct tsr_page *area);
/*
 * Report to the host that @len bytes from the first of @page have been written. They may extend
 * over pages that are adjacent on the host. Called after the last write, before the preemption
 * point.
 */
void tsr_mem_written(struct tsr_port *port, const struct tsr_page *page, uint64_t len);

/* Tell the host of all ranges written: at the end of each step and event write. */
void tsr_mem_flush_dirty(struct tsr_port *port);

/* A naturally aligned word of 4 or 8 bytes, read as a load-acquire. */
enum tsr_step tsr_mem_load(struct tsr_mem *mem, uint64_t va, bool wide, uint64_t *value);
/* A naturally aligned word of 4 or 8 bytes, written as a store-release. */
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
