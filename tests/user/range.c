// SPDX-License-Identifier: MIT
/*
 * The range allocator against a model that cannot be wrong in the same way: one byte per unit of
 * the managed range, searched from the start.
 */
#include <errno.h>
#include <stdlib.h>

#include "ktap.h"
#include "core/range.h"
#include "rnd.h"

#define UNITS 600
#define BASE 0x7000		/* the range does not start at 0 */

static unsigned char taken[UNITS];
static struct tsr_range range;

static bool all_are(unsigned int at, unsigned int size, unsigned char value)
{
	unsigned int i;

	if (at + size > UNITS)
		return false;
	for (i = at; i < at + size; i++) {
		if (taken[i] != value)
			return false;
	}
	return true;
}

static void model_totals(uint64_t *total, uint64_t *longest)
{
	unsigned int i, run = 0;

	*total = 0;
	*longest = 0;
	for (i = 0; i < UNITS; i++) {
		run = taken[i] ? 0 : run + 1;
		*total += !taken[i];
		if (run > *longest)
			*longest = run;
	}
}

/* One random operation in both; what they answer has to agree. */
static void step_alloc(void)
{
	unsigned int size = 1 + rnd_below(rnd_below(4) ? 8 : 80), align = 1u << rnd_below(6), i;
	uint64_t at = 12345;
	int ret = tsr_range_alloc(&range, size, align, &at);

	for (i = 0; i < UNITS; i++) {
		if ((BASE + i) % align == 0 && all_are(i, size, 0))
			break;
	}
	if (i == UNITS) {
		ktap_eq(ret, -ENOSPC);
		ktap_eq(at, 12345);
		return;
	}
	ktap_eq(ret, 0);
	ktap_eq(at, BASE + i);
	memset(taken + i, 1, size);
}

static void step_take(void)
{
	unsigned int at = rnd_below(UNITS), size = 1 + rnd_below(20);
	bool free = all_are(at, size, 0);

	ktap_eq(tsr_range_take(&range, BASE + at, size), free ? 0 : -EBUSY);
	if (free)
		memset(taken + at, 1, size);
}

static void step_release(void)
{
	unsigned int at = rnd_below(UNITS), size = 1 + rnd_below(rnd_below(3) ? 6 : 60);
	bool held = all_are(at, size, 1);

	ktap_eq(tsr_range_release(&range, BASE + at, size), held ? 0 : -EINVAL);
	if (held)
		memset(taken + at, 0, size);
}

static void test_against_model(const void *arg)
{
	uint64_t total, longest;
	unsigned int i;

	rnd_state = *(const uint32_t *)arg;
	memset(taken, 0, sizeof(taken));
	KTAP_REQUIRE(!tsr_range_init(&range, BASE, BASE + UNITS));
	for (i = 0; i < 20000 && !ktap.bad; i++) {
		switch (rnd_below(5)) {
		case 0:
		case 1:
			step_alloc();
			break;
		case 2:
			step_take();
			break;
		default:
			step_release();
		}
		model_totals(&total, &longest);
		ktap_eq(range.free, total);
		ktap_eq(tsr_range_largest(&range), longest);
	}
	tsr_range_fini(&range);
}

static void test_bounds(void)
{
	uint64_t at;

	KTAP_REQUIRE(!tsr_range_init(&range, 0x1000, 0x1000000000000));
	ktap_eq(tsr_range_take(&range, 0xfff, 2), -EBUSY);
	ktap_eq(tsr_range_take(&range, 0xffffffffffff, 2), -EBUSY);
	ktap_eq(tsr_range_take(&range, 0xffffffffffff, 1), 0);
	ktap_eq(tsr_range_release(&range, 0xffffffffffff, 2), -EINVAL);
	ktap_eq(tsr_range_release(&range, 0xffffffffffff, UINT64_MAX), -EINVAL);
	ktap_eq(tsr_range_release(&range, 0xfff, 1), -EINVAL);
	ktap_eq(tsr_range_alloc(&range, UINT64_MAX, 1, &at), -ENOSPC);
	ktap_eq(tsr_range_alloc(&range, 1, 1ull << 63, &at), -ENOSPC);
	ktap_eq(tsr_range_alloc(&range, 1ull << 47, 1ull << 47, &at), -ENOSPC);
	ktap_eq(tsr_range_alloc(&range, 1ull << 46, 1ull << 46, &at), 0);
	ktap_eq(at, 1ull << 46);
	tsr_range_fini(&range);
	/* an empty range holds nothing and is no special case */
	KTAP_REQUIRE(!tsr_range_init(&range, 5, 5));
	ktap_eq(tsr_range_alloc(&range, 1, 1, &at), -ENOSPC);
	ktap_eq(tsr_range_release(&range, 5, 1), -EINVAL);
	tsr_range_fini(&range);
}

/* 200 000 single units, freed in an order of gaps, then all: depth and merging at scale. */
static void test_many(void)
{
	uint64_t i, at, count = 200000;

	KTAP_REQUIRE(!tsr_range_init(&range, 0, count));
	for (i = 0; i < count && !ktap.bad; i++) {
		ktap_eq(tsr_range_alloc(&range, 1, 1, &at), 0);
		ktap_eq(at, i);
	}
	for (i = 0; i < count && !ktap.bad; i += 2)
		ktap_eq(tsr_range_release(&range, i, 1), 0);
	ktap_eq(tsr_range_largest(&range), 1);
	ktap_eq(tsr_range_alloc(&range, 2, 1, &at), -ENOSPC);
	for (i = 1; i < count && !ktap.bad; i += 2)
		ktap_eq(tsr_range_release(&range, i, 1), 0);
	ktap_eq(tsr_range_largest(&range), count);
	tsr_range_fini(&range);
}

int main(void)
{
	static const uint32_t seeds[] = { 1, 77, 4242, 99991 };
	char name[80];
	unsigned int i;

	ktap_start();
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name),
			 "[SYS5] range allocator equals the bitmap model, seed %u", seeds[i]);
		ktap_run_arg(name, test_against_model, &seeds[i]);
	}
	ktap_run("[SYS5] range allocator at the ends of its range", test_bounds);
	ktap_run("[SYS5] range allocator with 200000 pieces", test_many);
	return ktap_finish();
}
