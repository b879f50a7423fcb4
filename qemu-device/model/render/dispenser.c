/* SPDX-License-Identifier: MIT */
#include "dispenser.h"

void tsr_dispenser_resume(struct tsr_dispenser *d, uint64_t count, uint32_t length)
{
	d->count = count;
	d->length = length;
	atomic_store_explicit(&d->left_taken, 0, memory_order_relaxed);
}

void tsr_dispenser_start(struct tsr_dispenser *d, uint64_t count, uint32_t length)
{
	tsr_dispenser_resume(d, count, length);
	d->left_count = 0;
	atomic_store_explicit(&d->taken, 0, memory_order_relaxed);
}

struct tsr_run tsr_dispenser_first(const struct tsr_dispenser *d, uint32_t index)
{
	const uint64_t first = (uint64_t)index * d->length;

	return d->dealt ? (struct tsr_run){ first, first + d->length } : (struct tsr_run){ 0, 0 };
}

uint64_t tsr_dispenser_next(const struct tsr_dispenser *d, const struct tsr_run *run)
{
	return run->next < run->end ? run->next : run->end + (d->contexts - 1ull) * d->length;
}

/* The next run of the context that @run belongs to. */
static bool deal(const struct tsr_dispenser *d, struct tsr_run *run)
{
	const uint64_t next = tsr_dispenser_next(d, run);

	/* a run whose rest is beyond the last tile stays */
	if (run->next >= run->end)
		*run = (struct tsr_run){ next, next + d->length };
	return next < d->count;
}

/* A run that was begun when the snapshot was taken. */
static bool take_left(struct tsr_dispenser *d, struct tsr_run *run)
{
	while (atomic_load_explicit(&d->left_taken, memory_order_relaxed) < d->left_count) {
		const uint32_t n =
			atomic_fetch_add_explicit(&d->left_taken, 1, memory_order_relaxed);

		if (n >= d->left_count)
			break;
		*run = d->left[n];
		if (run->next < run->end && run->next < d->count)
			return true;
	}
	return false;
}

static uint64_t length(const struct tsr_dispenser *d, uint64_t taken)
{
	const uint64_t share = (d->count - taken) / ((uint64_t)TSR_DISPENSER_SHARE * d->contexts);

	return share < 1 ? 1 : share < d->length ? share : d->length;
}

bool tsr_dispenser_take(struct tsr_dispenser *d, struct tsr_run *run)
{
	uint64_t taken, end;

	if (d->dealt)
		return deal(d, run);
	if (take_left(d, run))
		return true;
	taken = atomic_load_explicit(&d->taken, memory_order_relaxed);
	do {
		if (taken >= d->count)
			return false;
		end = taken + length(d, taken);
	} while (!atomic_compare_exchange_weak_explicit(&d->taken, &taken, end,
							memory_order_relaxed,
							memory_order_relaxed));
	*run = (struct tsr_run){ taken, end };
	return true;
}
