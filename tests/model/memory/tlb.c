/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=60 TSAN=0
 *
 * Large pages in the TLB: one walk for 2 MiB where the host has them in one piece, none kept where
 * it has not, and nothing kept that an invalidation names.
 */
#include <string.h>

#include "ktap.h"
#include "units.h"

#define VA 0x80000000ull
#define PAGES 512u

static struct units *u;
static uint64_t bus;

/* Word @page of the range: the page's number, stored at its end. */
static uint64_t word_of(unsigned int page)
{
	return VA + page * 4096ull + 4092;
}

static enum tsr_step load(uint64_t va, uint32_t *value)
{
	enum tsr_step step;

	units_insn(u, TSR_OP_ADD_LOAD_I32);
	units_address(u, 0, va);
	step = units_run(u, 4, 1);
	*value = units_reg(u, 4)->u[0];
	return step;
}

static void forget(void)
{
	/* what was invalidated long ago counts no more */
	tsr_tlb_sync(u->mem.runner);
	tsr_tlb_clear(&u->mem.port->tlb);
	units_stop(u);
}

/* Read all pages; returns how often the host was asked. */
static unsigned int read_all(void)
{
	unsigned int before;

	forget();
	before = atomic_load(&u->b->maps);
	for (unsigned int i = 0; i < PAGES; i++) {
		uint32_t value;

		if (!ktap_eq(load(word_of(i * 7 % PAGES), &value), TSR_STEP_DONE) ||
		    !ktap_eq(value, i * 7 % PAGES))
			break;
	}
	return atomic_load(&u->b->maps) - before;
}

static void test_one_walk(void)
{
	/* the tables of three levels, the page, and perhaps its first 4 KiB */
	ktap_ok(read_all() <= 5);
	u->b->map_limit = 64 << 10;
	ktap_ok(read_all() >= PAGES);
	u->b->map_limit = 0;
}

/* Hints: what the TLB tells without a walk, and nothing else. */
static void test_peek(void)
{
	static const uint32_t limits[] = { 0, 64 << 10, 2048 };

	for (unsigned int i = 0; i < 3; i++) {
		uint64_t at = VA + 9 * 4096;
		uint32_t value;

		u->b->map_limit = limits[i];
		forget();
		ktap_ok(!tsr_mem_peek(&u->mem, at, 4));
		ktap_eq(load(at, &value), TSR_STEP_DONE);
		/* half a page is not enough */
		ktap_ok(tsr_mem_peek(&u->mem, at + 4092, 4) ==
			(i < 2 ? bench_ptr(u->b, bus + 9 * 4096 + 4092, 4) : NULL));
		ktap_ok(!tsr_mem_peek(&u->mem, at + 4092, 5));
		/* of a large page that is kept all pages are known */
		ktap_ok(tsr_mem_peek(&u->mem, at + 8192, 4) ==
			(i ? NULL : bench_ptr(u->b, bus + 11 * 4096, 4)));
		ktap_ok(!tsr_mem_peek(&u->mem, at + BENCH_HUGE_PAGE, 4));
	}
	u->b->map_limit = 0;
}

/* The first pages of address space 0: a large page that is kept in the same place is not theirs. */
static void test_peek_first(void)
{
	uint64_t far = TSR_TLB_HUGES * BENCH_HUGE_PAGE, near = 5 * 4096;
	uint64_t other = bench_alloc(u->b, 4096, 4096);
	struct bench_as first;
	uint32_t value;

	bench_as_init(u->b, &first, 0);
	bench_map_huge(&first, far, bus, BENCH_HUGE_PAGE, BENCH_R);
	bench_map(&first, near, other, 4096, BENCH_R);
	u->mem.as = 0;
	forget();
	ktap_eq(load(far + near, &value), TSR_STEP_DONE);
	ktap_ok(tsr_mem_peek(&u->mem, far + near, 4) == bench_ptr(u->b, bus + near, 4));
	ktap_ok(!tsr_mem_peek(&u->mem, near, 4));
	ktap_eq(load(near, &value), TSR_STEP_DONE);
	ktap_ok(tsr_mem_peek(&u->mem, near, 4) == bench_ptr(u->b, other, 4));
	u->mem.as = 1;
	forget();
}

static void test_write(void)
{
	units_insn(u, TSR_OP_ADD_STORE_I32);
	forget();
	u->b->dirty_count = u->b->dirty_pages = 0;
	for (unsigned int i = 0; i < 20; i++) {
		units_address(u, 0, VA + i * 4096ull);
		units_reg(u, 4)->u[0] = 100 + i;
		ktap_eq(units_run(u, 4, 1), TSR_STEP_DONE);
	}
	units_stop(u);
	ktap_eq(u->b->dirty_pages, 20);
	for (unsigned int i = 0; i < u->b->dirty_count; i++)
		ktap_ok(u->b->dirty[i].addr - bus <= 20 * 4096 - u->b->dirty[i].len);
	for (unsigned int i = 0; i < 20; i++)
		ktap_eq(*(uint32_t *)bench_ptr(u->b, bus + i * 4096, 4), 100 + i);
}

static void test_invalidate(void)
{
	uint64_t other = bench_alloc(u->b, 4096, 4096);
	uint32_t value;

	read_all();
	/* the large page becomes small ones, one of them elsewhere; only that is invalidated */
	bench_unmap(&u->as, VA, BENCH_HUGE_PAGE);
	bench_map(&u->as, VA, bus, BENCH_HUGE_PAGE, BENCH_RW);
	bench_map(&u->as, VA + 5 * 4096, other, 4096, BENCH_R);
	bench_invalidate(&u->as, VA + 5 * 4096, 4096);
	tsr_tlb_sync(u->mem.runner);
	units_stop(u);
	ktap_eq(load(word_of(5), &value), TSR_STEP_DONE);
	ktap_eq(value, 0);
	ktap_eq(load(word_of(6), &value), TSR_STEP_DONE);
	ktap_eq(value, 6);
	/* all of the address space */
	bench_unmap(&u->as, VA, BENCH_HUGE_PAGE);
	bench_invalidate_all(&u->as);
	tsr_tlb_sync(u->mem.runner);
	units_stop(u);
	ktap_eq(load(word_of(6), &value), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, word_of(6), 0);
}

static void test_permission(void)
{
	uint32_t value;

	bench_map_huge(&u->as, VA, bus, BENCH_HUGE_PAGE, BENCH_R);
	bench_invalidate_all(&u->as);
	tsr_tlb_sync(u->mem.runner);
	forget();
	ktap_eq(load(word_of(9), &value), TSR_STEP_DONE);
	units_insn(u, TSR_OP_ADD_STORE_I32);
	units_address(u, 0, VA + 0x3000);
	ktap_eq(units_run(u, 4, 1), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_PERMISSION, VA + 0x3000, 0);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	u = units_new(0);
	bus = bench_alloc(u->b, BENCH_HUGE_PAGE, BENCH_HUGE_PAGE);
	bench_map_huge(&u->as, VA, bus, BENCH_HUGE_PAGE, BENCH_RW);
	for (unsigned int i = 0; i < PAGES; i++)
		memcpy(bench_ptr(u->b, bus + i * 4096 + 4092, 4), &i, 4);
	ktap_run("a large page is walked once", test_one_walk);
	ktap_run("hints where the host has a page", test_peek);
	ktap_run("hints in the first pages of address space 0", test_peek_first);
	ktap_run("writes to a large page are reported page by page", test_write);
	ktap_run("invalidating part of a large page drops it", test_invalidate);
	ktap_run("a large page's permissions", test_permission);
	units_free(u);
	return ktap_finish();
}
