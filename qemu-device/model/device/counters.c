/* SPDX-License-Identifier: MIT */
#include "counters.h"

uint64_t tsr_clock(const struct tsr_counters *counters)
{
	if (counters->modelled)
		return atomic_load_explicit(&counters->global[TSR_GLOBAL_COUNTER_GPU_CYCLES],
					    memory_order_relaxed);
	return counters->ops->clock(counters->host) + counters->clock_offset;
}

void tsr_counter_global(struct tsr_counters *counters, unsigned int id, uint64_t n)
{
	atomic_fetch_add_explicit(&counters->global[id], n, memory_order_relaxed);
}

/* Add the time since the last change to the counters of whoever ran during it. */
static void account(struct tsr_counters *counters, uint64_t now)
{
	struct tsr_busy *busy = &counters->busy;
	uint64_t time = now > busy->since ? now - busy->since : 0;

	for (unsigned int cls = 0; cls < 4; cls++) {
		if (busy->running[cls])
			tsr_counter_global(counters, TSR_GLOBAL_COUNTER_BIN_BUSY_TIME + cls, time);
	}
	if (busy->total >= 2)
		tsr_counter_global(counters, TSR_GLOBAL_COUNTER_OVERLAP_TIME, time);
	if (now > busy->since)
		busy->since = now;
}

uint64_t tsr_counter_read_global(struct tsr_counters *counters, unsigned int id)
{
	if (id >= TSR_GLOBAL_COUNTERS)
		return 0;
	if (counters->busy.total)
		account(counters, tsr_clock(counters));
	return atomic_load_explicit(&counters->global[id], memory_order_relaxed);
}

void tsr_busy_change(struct tsr_counters *counters, unsigned int cls, int by, uint64_t now)
{
	account(counters, now);
	counters->busy.running[cls] += by;
	counters->busy.total += by;
}
