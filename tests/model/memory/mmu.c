/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * MMU and TLB: walks of 3, 4 and 5 levels, both page sizes, permissions, malformed entries, local
 * memory, NULL pages, faults exact to the byte, stale translations and their invalidation. Accesses
 * are made by packets: FENCE writes, COPY_LINEAR reads, CALL fetches.
 */
#include <string.h>

#include "ktap.h"
#include "stage.h"

#define LOCAL_SIZE (4ull << 20)

struct play {
	struct stage s;
	struct bench_queue q;
	uint64_t p[16];
};

static void begin(struct play *y, const struct tsr_config *config)
{
	stage_init(&y->s, config);
	stage_queue(&y->s, &y->q, 0, TSR_ENGINE_CLASS_COPY, 0);
}

static void end(struct play *y)
{
	stage_free(&y->s);
}

/* Run what has been emitted, from a clean start if the last run faulted. */
static void go(struct play *y)
{
	bench_kick(&y->q);
	ktap_ok(bench_run(y->s.b, 10));
}

static void restart(struct play *y)
{
	bench_control(&y->q, TSR_QUEUE_OP_RESET);
	bench_enable(&y->q, 0);
}

/*
 * Copy 8 bytes from @va (in the rings' address space) to the first word of STAGE_DATA and return
 * them.
 */
static uint64_t peek(struct play *y, uint64_t va)
{
	restart(y);
	*stage_word(&y->s, 0) = 0x5555;
	bench_emit(&y->q, y->p, pk_copy(y->p, STAGE_DATA, va, 8));
	go(y);
	return stage_load(&y->s, 0);
}

static void poke(struct play *y, uint64_t va, uint64_t value)
{
	restart(y);
	bench_fence(&y->q, va, value, TSR_EVENT_REACHED, false);
	go(y);
}

static void execute(struct play *y, uint64_t va)
{
	restart(y);
	bench_call(&y->q, va, 8);
	go(y);
}

static void check_ok(struct play *y)
{
	ktap_eq(bench_fault(&y->q), TSR_FAULT_NONE);
	ktap_eq(bench_state(&y->q), TSR_QUEUE_STATE_IDLE);
}

static void check_fault(struct play *y, enum tsr_fault code, unsigned int access,
			unsigned int level, unsigned int unit, uint64_t addr, unsigned int as)
{
	uint32_t fault = bench_queue_reg(&y->q, TSR_QUEUE_FAULT__OFFSET);

	ktap_eq(bench_state(&y->q), TSR_QUEUE_STATE_FAULTED);
	ktap_eq(bench_fault(&y->q), code);
	ktap_eq(bench_field(fault, TSR_QUEUE_FAULT_ACCESS__MASK), access);
	ktap_eq(bench_field(fault, TSR_QUEUE_FAULT_LEVEL__MASK), level);
	ktap_eq(bench_field(fault, TSR_QUEUE_FAULT_UNIT__MASK), unit);
	ktap_eq(bench_queue_reg64(&y->q, TSR_QUEUE_FAULT_ADDR__OFFSET), addr);
	ktap_eq(bench_queue_reg(&y->q, TSR_QUEUE_FAULT_AS__OFFSET), as);
}

/*
 * The highest and lowest pages of the virtual range, in all shapes of it; one bit above is
 * unmapped.
 */
static void shape(unsigned int va_bits)
{
	struct tsr_config config = { .va_bits = va_bits };
	unsigned int levels = (va_bits - 12) / 9;
	uint64_t top = (1ull << va_bits) - 4096, *word;
	struct play y;

	begin(&y, &config);
	ktap_eq(bench_field(bench_read(y.s.b, TSR_REG_GPU_VA), TSR_GPU_VA_BITS__MASK), va_bits);
	ktap_eq(bench_field(bench_read(y.s.b, TSR_REG_GPU_VA), TSR_GPU_VA_LEVELS__MASK), levels);
	word = bench_buffer(&y.s.as[0], top, 4096, BENCH_RW);
	word[511] = 0x1122334455667788;
	ktap_eq(peek(&y, top + 4088), 0x1122334455667788);
	word = bench_buffer(&y.s.as[0], 0, 4096, BENCH_RW);
	poke(&y, 0, 42);
	check_ok(&y);
	ktap_eq(word[0], 42);
	poke(&y, 1ull << va_bits, 43);
	check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_WRITE, levels, TSR_UNIT_CP,
		    1ull << va_bits, 0);
	poke(&y, 1ull << 63, 43);
	check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_WRITE, levels, TSR_UNIT_CP, 1ull << 63,
		    0);
	ktap_eq(word[0], 42);
	/* An entry missing at each level: the walk names it. */
	for (unsigned int level = 0; level < levels; level++) {
		uint64_t va = 0x5000ull + (1ull << (12 + 9 * level)),
			 *pte = bench_pte(&y.s.as[0], va, level);

		*pte = 0xfffffffffffffffe;	/* VALID is 0: nothing else counts */
		poke(&y, va + 8, 1);
		check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_WRITE, level, TSR_UNIT_CP,
			    va + 8, 0);
		*pte = 0;
	}
	end(&y);
}

static void shapes(void)
{
	shape(39);
	shape(48);
	shape(57);
}

/* Every reserved bit at every level, leaves and tables in wrong places. */
static void malformed(void)
{
	const uint64_t table_ok = TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK | TSR_PTE_LOCAL__MASK |
				  TSR_PTE_SOFTWARE__MASK | TSR_PTE_ADDR__MASK;
	const uint64_t leaf_ok = table_ok | BENCH_RWX | TSR_PTE_NULL__MASK;
	const uint64_t va = 0x7654321000;
	struct play y;

	begin(&y, NULL);
	bench_buffer(&y.s.as[0], va, 4096, BENCH_RW);
	poke(&y, va, 1);
	check_ok(&y);
	for (unsigned int level = 0; level < 4; level++) {
		uint64_t *pte = bench_pte(&y.s.as[0], va, level), good = *pte;

		for (unsigned int bit = 1; bit < 64; bit++) {
			if ((level ? table_ok : leaf_ok) >> bit & 1)
				continue;
			*pte = good | 1ull << bit;
			ktap_ok(bench_invalidate(&y.s.as[0], va, 1));
			poke(&y, va + 16, 1);
			check_fault(&y, TSR_FAULT_MMU_WALK, TSR_ACCESS_WRITE, level, TSR_UNIT_CP,
				    va + 16, 0);
		}
		*pte = good ^ TSR_PTE_LEAF__MASK;	/* a leaf above, a table at level 0 */
		ktap_ok(bench_invalidate(&y.s.as[0], va, 1));
		poke(&y, va, 1);
		/*
		 * At level 1 that is a large page, without the permission, and misaligned only by
		 * luck.
		 */
		if (level != 1)
			check_fault(&y, TSR_FAULT_MMU_WALK, TSR_ACCESS_WRITE, level, TSR_UNIT_CP,
				    va, 0);
		*pte = good | TSR_PTE_SOFTWARE__MASK;
		ktap_ok(bench_invalidate(&y.s.as[0], va, 1));
		poke(&y, va, 1);
		check_ok(&y);
		*pte = good;
	}
	end(&y);
}

/* 2 MiB pages: content at both ends, every misalignment, none where the device has none. */
static void huge(void)
{
	struct tsr_config without = { .page_sizes = 4096 };
	const uint64_t va = 0x40000000;
	struct play y;
	uint8_t *memory;
	uint64_t bus, *pte;

	begin(&y, NULL);
	bus = bench_alloc(y.s.b, BENCH_HUGE_PAGE, BENCH_HUGE_PAGE);
	memory = bench_ptr(y.s.b, bus, BENCH_HUGE_PAGE);
	bench_map_huge(&y.s.as[0], va, bus, BENCH_HUGE_PAGE, BENCH_RW);
	poke(&y, va, 1);
	poke(&y, va + BENCH_HUGE_PAGE - 8, 2);
	poke(&y, va + 0x123450, 3);
	check_ok(&y);
	ktap_eq(*(uint64_t *)memory, 1);
	ktap_eq(*(uint64_t *)(memory + BENCH_HUGE_PAGE - 8), 2);
	ktap_eq(*(uint64_t *)(memory + 0x123450), 3);
	pte = bench_pte(&y.s.as[0], va, 1);
	for (unsigned int bit = 12; bit < 21; bit++) {
		*pte |= 1ull << bit;
		ktap_ok(bench_invalidate(&y.s.as[0], va, BENCH_HUGE_PAGE));
		poke(&y, va + 8, 4);
		check_fault(&y, TSR_FAULT_MMU_WALK, TSR_ACCESS_WRITE, 1, TSR_UNIT_CP, va + 8, 0);
		*pte &= ~(1ull << bit);
	}
	execute(&y, va);
	end(&y);

	begin(&y, &without);
	ktap_eq(bench_read64(y.s.b, TSR_REG_GPU_PAGE_SIZES), 4096);
	ktap_eq(bench_read64(y.s.b, TSR_REG_GPU_FEATURES) & TSR_FEATURE_HUGE_PAGES, 0);
	bus = bench_alloc(y.s.b, BENCH_HUGE_PAGE, BENCH_HUGE_PAGE);
	bench_map_huge(&y.s.as[0], va, bus, BENCH_HUGE_PAGE, BENCH_RW);
	poke(&y, va, 1);
	check_fault(&y, TSR_FAULT_MMU_WALK, TSR_ACCESS_WRITE, 1, TSR_UNIT_CP, va, 0);
	end(&y);
}

/*
 * All eight combinations of permissions with the three kinds of access, in small and large pages.
 */
static void permissions(void)
{
	struct play y;

	begin(&y, NULL);
	for (unsigned int huge_page = 0; huge_page < 2; huge_page++) {
		uint64_t bus = bench_alloc(y.s.b, BENCH_HUGE_PAGE, BENCH_HUGE_PAGE);

		pk_nop(bench_ptr(y.s.b, bus, 8), 1);
		for (unsigned int bits = 0; bits < 8; bits++) {
			uint64_t va = 0x80000000ull + (bits + 8 * huge_page) * BENCH_HUGE_PAGE;
			uint64_t flags = (bits & TSR_ACCESS_READ ? TSR_PTE_READ__MASK : 0) |
					 (bits & TSR_ACCESS_WRITE ? TSR_PTE_WRITE__MASK : 0) |
					 (bits & TSR_ACCESS_EXEC ? TSR_PTE_EXEC__MASK : 0);

			for (unsigned int as = 0; as < 2; as++) {
				if (huge_page)
					bench_map_huge(&y.s.as[as], va, bus, BENCH_HUGE_PAGE,
						       flags);
				else
					bench_map(&y.s.as[as], va, bus, 4096, flags);
			}
			peek(&y, va + 64);
			if (bits & TSR_ACCESS_READ)
				check_ok(&y);
			else
				check_fault(&y, TSR_FAULT_MMU_PERMISSION, TSR_ACCESS_READ,
					    huge_page, TSR_UNIT_COPY, va + 64, 0);
			poke(&y, va + 64, 1);
			if (bits & TSR_ACCESS_WRITE)
				check_ok(&y);
			else
				check_fault(&y, TSR_FAULT_MMU_PERMISSION, TSR_ACCESS_WRITE,
					    huge_page, TSR_UNIT_CP, va + 64, 0);
			execute(&y, va);
			if (bits & TSR_ACCESS_EXEC)
				check_ok(&y);
			else
				check_fault(&y, TSR_FAULT_MMU_PERMISSION, TSR_ACCESS_EXEC,
					    huge_page, TSR_UNIT_CP_FETCH, va, 1);
		}
	}
	end(&y);
}

/*
 * NULL pages of both sizes: zeros, dropped writes, permissions; what must be zero in their entries.
 */
static void null_pages(void)
{
	const uint64_t small = 0x50000000, large = 0x60000000;
	const uint64_t wrong[] = { TSR_PTE_EXEC__MASK, TSR_PTE_LOCAL__MASK, 1ull << 12,
				   1ull << 51 };
	struct play y;

	begin(&y, NULL);
	bench_map(&y.s.as[0], small, 0, 4096, BENCH_RW | TSR_PTE_NULL__MASK);
	bench_map_huge(&y.s.as[0], large, 0, BENCH_HUGE_PAGE, BENCH_RW | TSR_PTE_NULL__MASK);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t va = i ? large + 0x1ff008 : small + 0x10;

		poke(&y, va, UINT64_MAX);
		check_ok(&y);
		ktap_eq(peek(&y, va), 0);
		check_ok(&y);
		execute(&y, (i ? large : small));
		check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_EXEC, 2,
			    TSR_UNIT_CP_FETCH, i ? large : small, 1);
	}
	bench_map(&y.s.as[0], small, 0, 4096, TSR_PTE_READ__MASK | TSR_PTE_NULL__MASK);
	ktap_ok(bench_invalidate(&y.s.as[0], small, 4096));
	poke(&y, small, 1);
	check_fault(&y, TSR_FAULT_MMU_PERMISSION, TSR_ACCESS_WRITE, 0, TSR_UNIT_CP, small, 0);
	for (unsigned int i = 0; i < 4; i++) {
		*bench_pte(&y.s.as[0], small, 0) = TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK |
						   BENCH_RW | TSR_PTE_NULL__MASK | wrong[i];
		ktap_ok(bench_invalidate(&y.s.as[0], small, 4096));
		poke(&y, small, 1);
		check_fault(&y, TSR_FAULT_MMU_WALK, TSR_ACCESS_WRITE, 0, TSR_UNIT_CP, small, 0);
	}
	end(&y);
}

/*
 * Addresses without memory: holes for pages and for tables, beyond local memory, an address space
 * that is off.
 */
static void bus_faults(void)
{
	struct tsr_config config = { .local_size = LOCAL_SIZE };
	const uint64_t va = 0x70000000;
	struct play y;

	begin(&y, &config);
	bench_map(&y.s.as[0], va, 0x1000, 4096, BENCH_RW);
	poke(&y, va + 0x18, 1);
	check_fault(&y, TSR_FAULT_BUS, TSR_ACCESS_WRITE, 0, TSR_UNIT_CP, va + 0x18, 0);
	bench_map(&y.s.as[0], va + 0x1000, LOCAL_SIZE - 4096, 4096, BENCH_RW | TSR_PTE_LOCAL__MASK);
	poke(&y, va + 0x1ff8, 7);
	check_ok(&y);
	ktap_eq(*(uint64_t *)(y.s.b->local + LOCAL_SIZE - 8), 7);
	for (unsigned int i = 0; i < 3; i++) {
		const uint64_t offset[] = { LOCAL_SIZE, LOCAL_SIZE + 4096, 0xffffffffff000ull };

		bench_map(&y.s.as[0], va + 0x2000, offset[i], 4096, BENCH_RW | TSR_PTE_LOCAL__MASK);
		poke(&y, va + 0x2000, 7);
		check_fault(&y, TSR_FAULT_BUS, TSR_ACCESS_WRITE, 0, TSR_UNIT_CP, va + 0x2000, 0);
	}
	/* A large page that begins in local memory and ends beyond. */
	for (unsigned int level = 0; level < 4; level++) {
		uint64_t at = 0x7000000000ull + (1ull << (21 + 9 * level)) % (1ull << 47), *pte;

		if (level == 3)
			break;
		pte = bench_pte(&y.s.as[0], at, level + 1);
		*pte = 0x1000 | TSR_PTE_VALID__MASK;
		poke(&y, at, 7);
		check_fault(&y, TSR_FAULT_MMU_WALK_BUS, TSR_ACCESS_WRITE, level, TSR_UNIT_CP, at,
			    0);
		*pte = LOCAL_SIZE | TSR_PTE_VALID__MASK | TSR_PTE_LOCAL__MASK;
		poke(&y, at, 7);
		check_fault(&y, TSR_FAULT_MMU_WALK_BUS, TSR_ACCESS_WRITE, level, TSR_UNIT_CP, at,
			    0);
		*pte = 0;
	}
	bench_write64(y.s.b, TSR_REG_AS_BASE(1), 0);
	ktap_ok(bench_invalidate_all(&y.s.as[1]));
	execute(&y, STAGE_STREAM);
	check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_EXEC, 4, TSR_UNIT_CP_FETCH, STAGE_STREAM,
		    1);
	end(&y);
}

/*
 * A copy that runs into the hole: the byte is exact for reads and writes, what lies before it is
 * there.
 */
static void exact_address(void)
{
	const uint64_t hole = STAGE_DATA + 0x9000;
	struct play y;

	begin(&y, NULL);
	bench_unmap(&y.s.as[0], hole, 4096);
	memset(y.s.data + 0x100000 - 0x3000, 0xab, 0x3000);
	restart(&y);
	bench_emit(&y.q, y.p, pk_copy(y.p, hole - 5000, STAGE_DATA + 0x100000 - 0x3000, 0x2000));
	go(&y);
	check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_WRITE, 0, TSR_UNIT_COPY, hole, 0);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_FAULT_PC__OFFSET), STAGE_RING);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_FAULT_HEADER__OFFSET), y.p[0]);
	for (unsigned int i = 0; i < 5000; i++)
		ktap_eq(y.s.data[0x9000 - 5000 + i], 0xab);
	restart(&y);
	bench_emit(&y.q, y.p, pk_copy(y.p, STAGE_DATA + 0x20000, hole - 3, 16));
	go(&y);
	check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_READ, 0, TSR_UNIT_COPY, hole, 0);
	/* A packet whose second qword lies on a page that is not there. */
	pk_fence(y.p, 0, false, STAGE_DATA, 1);
	memcpy(y.s.streams + 4096 - 8, y.p, 8);
	for (unsigned int i = 0; i < 7; i++)
		pk_nop((uint64_t *)(y.s.streams + 4096 - 64 + 8 * i), 1);
	bench_unmap(&y.s.as[1], STAGE_STREAM + 4096, 4096);
	restart(&y);
	bench_call(&y.q, STAGE_STREAM + 4096 - 64, 128);
	go(&y);
	check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_EXEC, 0, TSR_UNIT_CP_FETCH,
		    STAGE_STREAM + 4096, 1);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_FAULT_PC__OFFSET), STAGE_STREAM + 4096 - 8);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_FAULT_HEADER__OFFSET), y.p[0]);
	/* The header itself is not there: 0 stands for it. */
	restart(&y);
	bench_call(&y.q, STAGE_STREAM + 4096, 64);
	go(&y);
	check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_EXEC, 0, TSR_UNIT_CP_FETCH,
		    STAGE_STREAM + 4096, 1);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_FAULT_HEADER__OFFSET), 0);
	end(&y);
}

/* Only the queue at fault stops: one of the same address spaces goes on, before and after. */
static void others_go_on(void)
{
	struct bench_queue other;
	struct play y;

	begin(&y, NULL);
	stage_queue(&y.s, &other, 9, TSR_ENGINE_CLASS_COPY, 0);
	bench_emit(&other, y.p, pk_copy(y.p, STAGE_DATA + 0x40000, STAGE_DATA, 0x20000));
	bench_fence(&other, STAGE_DATA + 8, 6, TSR_EVENT_ALL_DONE, true);
	bench_emit(&y.q, y.p, pk_copy(y.p, 0xdead0000, STAGE_DATA, 0x20000));
	bench_fence(&y.q, STAGE_DATA + 16, 6, TSR_EVENT_ALL_DONE, true);
	bench_kick(&other);
	bench_kick(&y.q);
	ktap_ok(bench_run(y.s.b, 10));
	check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_WRITE, 2, TSR_UNIT_COPY, 0xdead0000, 0);
	ktap_eq(bench_state(&other), TSR_QUEUE_STATE_IDLE);
	ktap_eq(stage_load(&y.s, 8), 6);
	ktap_eq(stage_load(&y.s, 16), 0);	/* the fence behind the fault is dropped */
	ktap_eq(bench_read64(y.s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_FAULT)), 1);
	ktap_eq(bench_read64(y.s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_JOB)), 1 << 9);
	bench_fence(&other, STAGE_DATA + 8, 7, TSR_EVENT_ALL_DONE, true);
	bench_kick(&other);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(stage_load(&y.s, 8), 7);
	ktap_eq(bench_read64(y.s.b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_FAULTS)), 1);
	end(&y);
}

/*
 * Cached translations: the old page is used until the invalidation, the new one after it; a range
 * drops that range alone; other address spaces keep theirs; an entry that was not valid is never
 * cached.
 */
static void stale(void)
{
	const uint64_t va = 0x30000000;
	uint64_t *first, *second, bus;
	struct play y;

	begin(&y, NULL);
	for (unsigned int i = 0; i < 3; i++) {
		poke(&y, va + 4096 * i, 1);	/* nothing there: not cached */
		check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_WRITE, 1, TSR_UNIT_CP,
			    va + 4096 * i, 0);
	}
	first = bench_buffer(&y.s.as[0], va, 3 * 4096, BENCH_RW);
	bus = bench_alloc(y.s.b, 3 * 4096, 4096);
	second = bench_ptr(y.s.b, bus, 3 * 4096);
	for (unsigned int i = 0; i < 3; i++) {
		poke(&y, va + 4096 * i, 1);
		check_ok(&y);
		ktap_eq(first[512 * i], 1);
	}
	bench_map(&y.s.as[0], va, bus, 3 * 4096, BENCH_RW);
	for (unsigned int i = 0; i < 3; i++) {
		poke(&y, va + 4096 * i, 2);
		ktap_eq(first[512 * i], 2);	/* this device does keep them */
		ktap_eq(second[512 * i], 0);
	}
	ktap_ok(bench_invalidate(&y.s.as[1], va, 3 * 4096));
	poke(&y, va, 3);
	ktap_eq(first[0], 3);
	ktap_ok(bench_invalidate(&y.s.as[0], va + 4096 + 1, 1));
	for (unsigned int i = 0; i < 3; i++)
		poke(&y, va + 4096 * i, 4);
	ktap_eq(first[0], 4);
	ktap_eq(second[512], 4);
	ktap_eq(first[1024], 4);
	ktap_ok(bench_invalidate(&y.s.as[0], va, 0));
	poke(&y, va, 5);
	ktap_eq(first[0], 5);
	ktap_ok(bench_invalidate(&y.s.as[0], va, 3 * 4096));
	for (unsigned int i = 0; i < 3; i++) {
		poke(&y, va + 4096 * i, 6);
		ktap_eq(second[512 * i], 6);
	}
	/* More permission needs no invalidation here, less does. */
	bench_map(&y.s.as[0], va, bus, 4096, TSR_PTE_READ__MASK);
	ktap_ok(bench_invalidate_all(&y.s.as[0]));
	ktap_eq(peek(&y, va), 6);
	bench_map(&y.s.as[0], va, bus, 4096, BENCH_RW);
	poke(&y, va, 7);
	check_ok(&y);
	end(&y);
}

/* The registers of an invalidation, and the packet that does the same. */
static void invalidation(void)
{
	const uint64_t va = 0x30000000;
	uint64_t *first, *second, bus, root;
	struct bench_as other;
	struct play y;

	begin(&y, NULL);
	first = bench_buffer(&y.s.as[0], va, 4096, BENCH_RW);
	bus = bench_alloc(y.s.b, 4096, 4096);
	second = bench_ptr(y.s.b, bus, 4096);
	poke(&y, va, 1);
	ktap_eq(first[0], 1);
	bench_map(&y.s.as[0], va, bus, 4096, BENCH_RW);
	restart(&y);
	bench_fence(&y.q, va, 2, TSR_EVENT_REACHED, false);
	bench_emit(&y.q, y.p, pk_tlb(y.p, TSR_INV_OP_NONE, 0, 0, 0));
	bench_fence(&y.q, va + 8, 2, TSR_EVENT_REACHED, false);
	bench_emit(&y.q, y.p, pk_tlb(y.p, TSR_INV_OP_RANGE, 0, va + 100, 1));
	bench_fence(&y.q, va, 3, TSR_EVENT_REACHED, false);
	go(&y);
	ktap_eq(first[0], 2);
	ktap_eq(first[1], 2);
	ktap_eq(second[0], 3);
	/* Counts and the interrupt. */
	ktap_eq(bench_read(y.s.b, TSR_REG_AS_INV_STARTED(0)),
		bench_read(y.s.b, TSR_REG_AS_INV_DONE(0)));
	ktap_eq(bench_read(y.s.b, TSR_REG_AS_INV_DONE(5)), 0);
	bench_write(y.s.b, TSR_REG_AS_COMMAND(5), TSR_INV_OP_ALL);
	ktap_eq(bench_read64(y.s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)) &
			TSR_GLOBAL_IRQ_TLB_DONE,
		0);
	bench_write(y.s.b, TSR_REG_AS_COMMAND(5), TSR_INV_OP_RANGE | TSR_AS_COMMAND_IRQ__MASK);
	ktap_eq(bench_read64(y.s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_GLOBAL)) &
			TSR_GLOBAL_IRQ_TLB_DONE,
		TSR_GLOBAL_IRQ_TLB_DONE);
	bench_write(y.s.b, TSR_REG_AS_COMMAND(5), TSR_INV_OP_NONE | TSR_AS_COMMAND_IRQ__MASK);
	ktap_eq(bench_read(y.s.b, TSR_REG_AS_INV_STARTED(5)), 2);
	ktap_eq(bench_read(y.s.b, TSR_REG_AS_INV_DONE(5)), 2);
	ktap_eq(bench_read(y.s.b, TSR_REG_AS_STATUS(5)), 0);
	/* A new root counts from ALL on. */
	root = bench_read64(y.s.b, TSR_REG_AS_BASE(0));
	bench_as_init(y.s.b, &other, 6);
	bench_map(&other, y.q.ring_va, y.q.ring_bus, y.q.size, BENCH_RX);
	bench_write64(y.s.b, TSR_REG_AS_BASE(0), other.root | TSR_AS_BASE_VALID__MASK | 0xe);
	ktap_eq(bench_read64(y.s.b, TSR_REG_AS_BASE(0)), other.root | TSR_AS_BASE_VALID__MASK);
	ktap_ok(bench_invalidate(&y.s.as[0], 0, UINT64_MAX));
	poke(&y, va, 9);
	ktap_eq(second[0], 9);
	ktap_ok(bench_invalidate_all(&y.s.as[0]));
	poke(&y, va, 10);
	check_fault(&y, TSR_FAULT_MMU_UNMAPPED, TSR_ACCESS_WRITE, 2, TSR_UNIT_CP, va, 0);
	ktap_ok(root != bench_read64(y.s.b, TSR_REG_AS_BASE(0)));
	end(&y);
}

/*
 * Everything in local memory: ring, stream, page tables, fence words; and copies between the two
 * sides, each way.
 */
static void local_memory(void)
{
	struct tsr_config config = { .local_size = LOCAL_SIZE };
	const uint64_t local = TSR_PTE_LOCAL__MASK, va = 0x30000000;
	uint64_t ring, table, *entries;
	struct play y;

	begin(&y, &config);
	ktap_eq(bench_read64(y.s.b, TSR_REG_GPU_LOCAL_SIZE), LOCAL_SIZE);
	ktap_ok(bench_read64(y.s.b, TSR_REG_GPU_FEATURES) & TSR_FEATURE_LOCAL_MEMORY);
	/* The ring moves to local memory, and the table that maps it, and data. */
	table = bench_alloc_local(y.s.b, 4096, 4096);
	entries = (uint64_t *)(y.s.b->local + table);
	memcpy(entries, bench_pte(&y.s.as[0], va, 0) - (va >> 12 & 511), 4096);
	*bench_pte(&y.s.as[0], va, 1) = table | local | TSR_PTE_VALID__MASK;
	ring = bench_alloc_local(y.s.b, 8192, 4096);
	bench_map(&y.s.as[0], y.q.ring_va, ring, 4096, BENCH_RX | local);
	entries[0] = (ring + 4096) | BENCH_RW | local | TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK;
	entries[1] = (ring + 8192) | BENCH_RW | local | TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK;
	ktap_ok(bench_invalidate_all(&y.s.as[0]));
	for (unsigned int i = 0; i < 4096; i++)
		y.s.data[i] = i * 11;
	/* system → local */
	pk_copy((uint64_t *)(y.s.b->local + ring), va + 8, STAGE_DATA, 4000);
	pk_barrier((uint64_t *)(y.s.b->local + ring + 32),
		   &(struct tsr_barrier){ .wait_writes = true });
	/* local → local */
	pk_copy((uint64_t *)(y.s.b->local + ring + 40), va + 4096, va + 8, 4000);
	pk_barrier((uint64_t *)(y.s.b->local + ring + 72),
		   &(struct tsr_barrier){ .wait_writes = true });
	/* local → system */
	pk_copy((uint64_t *)(y.s.b->local + ring + 80), STAGE_DATA + 8192, va + 4096, 4000);
	pk_fence((uint64_t *)(y.s.b->local + ring + 112), TSR_EVENT_ALL_DONE, false, va, 77);
	y.q.wptr = 136;
	go(&y);
	check_ok(&y);
	ktap_mem_eq(y.s.b->local + ring + 4096 + 8, y.s.data, 4000);
	ktap_mem_eq(y.s.b->local + ring + 8192, y.s.data, 4000);
	ktap_mem_eq(y.s.data + 8192, y.s.data, 4000);
	ktap_eq(*(uint64_t *)(y.s.b->local + ring + 4096), 77);
	end(&y);
}

/*
 * A host that gives memory in small pieces, and one that keeps the device waiting: the same
 * results.
 */
static void difficult_host(unsigned int map_limit, unsigned int pending_every)
{
	struct play y;

	begin(&y, NULL);
	y.s.b->map_limit = map_limit;
	y.s.b->pending_every = pending_every;
	tsr_gpu_host_invalidate(y.s.b->gpu, 0, UINT64_MAX);
	for (unsigned int i = 0; i < 0x8000; i++)
		y.s.data[i] = i * 3 ^ i >> 7;
	for (unsigned int i = 0; i < 8; i++)
		bench_emit(&y.q, y.p,
			   pk_copy(y.p, STAGE_DATA + 0x40000 + 0x1000 * i + i,
				   STAGE_DATA + 0x1000 * i, 0x1000 - i));
	bench_fence(&y.q, STAGE_DATA + 0x80000, 5, TSR_EVENT_ALL_DONE, false);
	go(&y);
	check_ok(&y);
	ktap_eq(stage_load(&y.s, 0x80000), 5);
	for (unsigned int i = 0; i < 8; i++)
		ktap_mem_eq(y.s.data + 0x40000 + 0x1000 * i + i, y.s.data + 0x1000 * i, 0x1000 - i);
	end(&y);
}

static void difficult_hosts(void)
{
	difficult_host(64, 0);
	difficult_host(8, 0);
	difficult_host(0, 2);
	difficult_host(0, 3);
	difficult_host(256, 5);
}

/* Pages that the device has written are reported dirty, and no others. */
static void dirty(void)
{
	struct play y;
	uint64_t at;

	begin(&y, NULL);
	at = y.s.data_bus + 0x1f00;
	y.s.b->dirty_count = 0;
	restart(&y);
	bench_emit(&y.q, y.p, pk_copy(y.p, STAGE_DATA + 0x1f00, STAGE_DATA + 0x8000, 0x300));
	bench_fence(&y.q, STAGE_DATA + 0x3008, 5, TSR_EVENT_ALL_DONE, false);
	bench_emit(&y.q, y.p,
		   pk_signal(y.p, TSR_SIGNAL_OP_ADD, TSR_EVENT_ALL_DONE, false, STAGE_DATA + 0x3004,
			     5));
	go(&y);
	ktap_eq(y.s.b->dirty[--y.s.b->dirty_count].addr, y.s.data_bus + 0x3004);
	ktap_eq(y.s.b->dirty[y.s.b->dirty_count].len, 4);
	ktap_ok(y.s.b->dirty_count >= 2);
	/* The copy's parts lie side by side: one page after the other, the last bytes apart. */
	for (unsigned int i = 0; i + 1 < y.s.b->dirty_count; i++) {
		ktap_eq(y.s.b->dirty[i].addr, at);
		at += y.s.b->dirty[i].len;
	}
	ktap_eq(at, y.s.data_bus + 0x2200);
	ktap_eq(y.s.b->dirty[y.s.b->dirty_count - 1].addr, y.s.data_bus + 0x3008);
	ktap_eq(y.s.b->dirty[y.s.b->dirty_count - 1].len, 8);
	end(&y);
}

/* How often each page of STAGE_DATA has been reported. */
static void reported(const struct play *y, unsigned int *times)
{
	const struct bench *b = y->s.b;

	ktap_ok(b->dirty_count <= BENCH_DIRTY_MAX);
	for (unsigned int i = 0; i < b->dirty_count && i < BENCH_DIRTY_MAX; i++) {
		const uint64_t first = b->dirty[i].addr - y->s.data_bus, len = b->dirty[i].len;

		ktap_eq(b->dirty[i].space, TSR_SPACE_SYSTEM);
		if (!ktap_ok(len && first < STAGE_DATA_SIZE && len <= STAGE_DATA_SIZE - first))
			return;
		for (uint64_t page = first / 4096; page <= (first + len - 1) / 4096; page++)
			times[page]++;
	}
}

/* One command writes @count words, each in the page after next. */
static void far_apart(unsigned int count)
{
	const struct tsr_copy_rect rect = {
		.texel = 8, .src = STAGE_DATA + STAGE_DATA_SIZE - 4096, .dst = STAGE_DATA + 64,
		.width = 1, .height = count, .src_pitch = 8, .dst_pitch = 2 * 4096,
	};
	unsigned int times[STAGE_DATA_SIZE / 4096] = { 0 };
	struct play y;

	begin(&y, NULL);
	y.s.b->dirty_count = 0;
	tsr_pack_copy_rect(y.p, &rect);
	bench_emit(&y.q, y.p, TSR_COPY_RECT_QWORDS);
	go(&y);
	check_ok(&y);
	reported(&y, times);
	for (unsigned int page = 0; page < STAGE_DATA_SIZE / 4096; page++) {
		if (!ktap_eq(times[page], page % 2 == 0 && page / 2 < count))
			ktap_note("page %u of %u writes", page, count);
	}
	end(&y);
}

/* However many there are, each is reported once. */
static void many_ranges(void)
{
	for (unsigned int count = 62; count < 68; count++)
		far_apart(count);
	far_apart(110);
}

int main(void)
{
	ktap_start();
	ktap_run("[MEM2] 39, 48 and 57 bits of virtual address", shapes);
	ktap_run("[MEM2] every reserved bit of entries at every level", malformed);
	ktap_run("[MEM2] 2 MiB pages", huge);
	ktap_run("[MEM2] [MEM3] permissions by kind of access", permissions);
	ktap_run("[MEM2] NULL pages", null_pages);
	ktap_run("[MEM3] pages and tables that are no memory", bus_faults);
	ktap_run("[MEM3] addresses exact to the byte", exact_address);
	ktap_run("[MEM3] other queues go on", others_go_on);
	ktap_run("[MEM2] translations are kept until they are invalidated", stale);
	ktap_run("[MEM2] invalidation by registers and by packet", invalidation);
	ktap_run("[MEM1] ring, tables and buffers in local memory", local_memory);
	ktap_run("[MEM1] a host that gives memory in pieces, or later", difficult_hosts);
	ktap_run("[MEM1] written ranges are reported", dirty);
	ktap_run("[MEM1] more of them than are kept, each once", many_ranges);
	return ktap_finish();
}
