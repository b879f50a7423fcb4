/* SPDX-License-Identifier: MIT */
/*
 * Prefetch: the words a queue's command processor has read ahead.
 *
 * In: addresses to execute at and how far reading ahead is allowed. Out: words, as they were when
 * they were read: a word changed in memory after it was read ahead is not seen. Limits:
 * TSR_PREFETCH_BYTES, and reading ahead stops at the end of a page. Reset state: empty.
 */
#ifndef TSR_PREFETCH_H
#define TSR_PREFETCH_H

#include "engine.h"
#include "exec.h"

/*
 * Give @n words from @va. @limit: bytes from @va that may be read (at least @n words). Returns
 * TSR_STEP_DONE, TSR_STEP_PENDING, or TSR_STEP_FAULT with mem->fault set. Faults of words not asked
 * for are not reported.
 */
enum tsr_step tsr_prefetch_read(struct tsr_mem *mem, struct tsr_prefetch *pre, uint64_t va,
				uint64_t limit, uint64_t *words, unsigned int n);
/* Forget what has been read ahead. */
void tsr_prefetch_drop(struct tsr_prefetch *pre);

#endif
