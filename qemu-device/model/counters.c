/* SPDX-License-Identifier: MIT */
#include "gpu.h"

uint64_t tsr_clock(struct tsr_gpu *gpu)
{
	if (gpu->cfg.deterministic)
		return atomic_load_explicit(&gpu->counter[TSR_GLOBAL_COUNTER_GPU_CYCLES],
					    memory_order_relaxed);
	return gpu->ops->clock(gpu->host) + gpu->clock_offset;
}

void tsr_counter_global(struct tsr_gpu *gpu, unsigned int id, uint64_t n)
{
	atomic_fetch_add_explicit(&gpu->counter[id], n, memory_order_relaxed);
}

/* Add the time since the last change to the counters of whoever ran during it. */
static void account(struct tsr_gpu *gpu, uint64_t now)
{
	struct tsr_busy *busy = &gpu->busy;
	uint64_t time = now > busy->since ? now - busy->since : 0;

	for (unsigned int cls = 0; cls < 4; cls++) {
		if (busy->running[cls])
			tsr_counter_global(gpu, TSR_GLOBAL_COUNTER_BIN_BUSY_TIME + cls, time);
	}
	if (busy->total >= 2)
		tsr_counter_global(gpu, TSR_GLOBAL_COUNTER_OVERLAP_TIME, time);
	if (now > busy->since)
		busy->since = now;
}

uint64_t tsr_counter_read_global(struct tsr_gpu *gpu, unsigned int id)
{
	if (id >= TSR_GLOBAL_COUNTERS)
		return 0;
	if (gpu->busy.total)
		account(gpu, tsr_clock(gpu));
	return atomic_load_explicit(&gpu->counter[id], memory_order_relaxed);
}

void tsr_busy_change(struct tsr_gpu *gpu, unsigned int cls, int by, uint64_t now)
{
	account(gpu, now);
	gpu->busy.running[cls] += by;
	gpu->busy.total += by;
}
