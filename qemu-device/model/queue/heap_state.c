/* SPDX-License-Identifier: MIT */
#include "device/gpu.h"

void tsr_heap_state_set(struct tsr_queue *q, uint64_t base, uint32_t size, uint32_t max)
{
	struct tsr_heap_state *heap = &q->heap;

	pthread_mutex_lock(&q->gpu->lock);
	heap->base = base;
	heap->max = max;
	heap->wanted = 0;
	atomic_store(&heap->size, size);
	atomic_store(&heap->failed, false);
	pthread_mutex_unlock(&q->gpu->lock);
}

void tsr_heap_state_reset(struct tsr_queue *q)
{
	q->heap.base = 0;
	q->heap.max = 0;
	q->heap.wanted = 0;
	atomic_store(&q->heap.size, 0);
	atomic_store(&q->heap.failed, false);
}

bool tsr_heap_state_is(const struct tsr_queue *q, uint64_t base)
{
	return base && q->heap.base == base;
}

uint64_t tsr_heap_state_size(const struct tsr_queue *q)
{
	return (uint64_t)atomic_load(&q->heap.size) * TSR_HEAP_ALIGN;
}

enum tsr_step tsr_heap_state_need(struct tsr_mem *mem, uint64_t bytes)
{
	const struct tsr_inject_at at = { .queue = mem->queue };
	struct tsr_heap_state *heap = &mem->queue->heap;

	heap->wanted = 0;
	if (bytes <= tsr_heap_state_size(mem->queue))
		return TSR_STEP_DONE;
	if (bytes > (uint64_t)heap->max * TSR_HEAP_ALIGN || atomic_load(&heap->failed) ||
	    tsr_injected(mem->gpu, TSR_INJECTION_HEAP_OOM, &at, NULL))
		return tsr_mmu_fault(mem, TSR_FAULT_HEAP_EXHAUSTED, heap->base + bytes - 1,
				     TSR_ACCESS_WRITE, 0);
	heap->wanted = (bytes + TSR_HEAP_ALIGN - 1) / TSR_HEAP_ALIGN;
	return TSR_STEP_PENDING;
}

bool tsr_heap_state_waits(const struct tsr_queue *q)
{
	return q->heap.wanted > atomic_load(&q->heap.size) && !atomic_load(&q->heap.failed);
}

/* Something has changed: a queue that waited looks again. */
static void retry(struct tsr_queue *q)
{
	if (q->state != TSR_QUEUE_STATE_BLOCKED || q->block != TSR_QUEUE_BLOCK_HEAP ||
	    tsr_heap_state_waits(q))
		return;
	tsr_queue_unblock(q);
	tsr_sched_kick(q->gpu);
}

void tsr_heap_state_grow(struct tsr_queue *q, uint32_t size)
{
	if (size <= atomic_load(&q->heap.size) || size > q->heap.max)
		return;
	atomic_store(&q->heap.size, size);
	retry(q);
}

void tsr_heap_state_fail(struct tsr_queue *q)
{
	atomic_store(&q->heap.failed, true);
	retry(q);
}
