/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "device/gpu.h"

void tsr_prefetch_drop(struct tsr_prefetch *pre)
{
	pre->len = 0;
}

/*
 * Read ahead from the first word not held, up to the end of its page. @capacity: bytes that may
 * be held in all.
 */
static enum tsr_step refill(struct tsr_mem *mem, struct tsr_prefetch *pre, uint64_t capacity)
{
	uint64_t at = pre->va + pre->len;
	uint64_t len = capacity - pre->len;
	enum tsr_step step = tsr_mem_fetch(mem, at, pre->data + pre->len, &len);

	if (step != TSR_STEP_DONE)
		return step;
	pre->len += len;
	tsr_count(&mem->queue->counter[TSR_QUEUE_COUNTER_CP_FETCH_BYTES], len);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_prefetch_read(struct tsr_mem *mem, struct tsr_prefetch *pre, uint64_t va,
				uint64_t limit, uint64_t *words, unsigned int n)
{
	uint64_t capacity = limit < TSR_PREFETCH_BYTES ? limit : TSR_PREFETCH_BYTES;
	uint32_t bytes = n * sizeof(uint64_t);
	uint64_t at = va - pre->va;

	if (at <= pre->len && bytes <= pre->len - at) {
		memcpy(words, pre->data + at, bytes);
		return TSR_STEP_DONE;
	}
	/* Bytes before @va have been executed or are not needed. */
	if (at <= pre->len) {
		pre->len -= at;
		memmove(pre->data, pre->data + at, pre->len);
	} else {
		pre->len = 0;
	}
	pre->va = va;
	while (pre->len < bytes) {
		enum tsr_step step = refill(mem, pre, capacity);

		if (step != TSR_STEP_DONE)
			return step;
	}
	memcpy(words, pre->data, bytes);
	return TSR_STEP_DONE;
}
