// SPDX-License-Identifier: MIT
/*
 * The device's memory: a window of addresses of this process. Its first ZONE bytes are the
 * driver's: page tables, rings, words of fences and counters, reached by bus addresses. BOs follow,
 * each a file that is mapped there, reached as local memory. The device therefore needs no
 * translation of ours for them.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"

static struct {
	uint8_t *window;
	uint64_t next;			/* of the zone, not given out */
	uint64_t free;			/* a list of pages given back; 0: none */
	uint64_t pages;			/* that zone_alloc() has given out one by one */
	struct range { uint64_t offset, size; } *hole;	/* of the window, by offset */
	unsigned int holes, taken, room;	/* of both, and elements of hole */
} mem;

/* ---- The zone and page tables ---------------------------------------------------------------- */

uint64_t zone_alloc(uint64_t size)
{
	uint64_t at = mem.next;

	mem.pages += size == PAGE && (mem.free || size <= ZONE - mem.next);
	if (size == PAGE && mem.free) {
		at = mem.free;
		mem.free = *(uint64_t *)(mem.window + at);
		memset(mem.window + at, 0, PAGE);
		return at;
	}
	if (size > ZONE - mem.next)
		return 0;
	mem.next += size;
	return at;
}

static void zone_free_page(uint64_t at)
{
	*(uint64_t *)(mem.window + at) = mem.free;
	mem.free = at;
	mem.pages--;
}

uint64_t pgtable_bytes(void)
{
	return mem.pages * PAGE;
}

uint64_t pgtable_limit(void)
{
	return ZONE / 2;
}

static _Atomic uint64_t *table_at(uint64_t bus)
{
	return (_Atomic uint64_t *)(mem.window + (bus - BUS_BASE));
}

uint64_t pgtable_new(void)
{
	uint64_t at = zone_alloc(PAGE);

	return at ? BUS_BASE + at : 0;
}

static unsigned int top_level(void)
{
	return (drv.va_bits - TSR_PAGE_SHIFT) / TSR_PT_INDEX_BITS - 1;
}

static void free_level(uint64_t bus, unsigned int level)
{
	_Atomic uint64_t *table = table_at(bus);
	unsigned int i;

	for (i = 0; level && i < 1u << TSR_PT_INDEX_BITS; i++) {
		uint64_t pte = table[i];

		if (pte & TSR_PTE_VALID__MASK && !(pte & TSR_PTE_LEAF__MASK))
			free_level(pte & TSR_PTE_ADDR__MASK, level - 1);
	}
	zone_free_page(bus - BUS_BASE);
}

void pgtable_free(uint64_t root)
{
	free_level(root, top_level());
}

/* A huge page becomes a table of small ones that say the same. */
static uint64_t split(uint64_t pte)
{
	uint64_t at = zone_alloc(PAGE), i;
	uint64_t step = pte & TSR_PTE_NULL__MASK ? 0 : PAGE;

	if (!at)
		return 0;
	for (i = 0; i < 1u << TSR_PT_INDEX_BITS; i++)
		table_at(BUS_BASE + at)[i] = pte + i * step;
	return (BUS_BASE + at) | TSR_PTE_VALID__MASK;
}

/* The entry of @va at @level, tables above it made if @make; NULL: there are none, or no memory. */
static _Atomic uint64_t *entry(uint64_t root, uint64_t va, unsigned int level, bool make)
{
	unsigned int at = top_level();
	_Atomic uint64_t *table = table_at(root);

	for (;; at--) {
		unsigned int shift = TSR_PAGE_SHIFT + at * TSR_PT_INDEX_BITS;
		_Atomic uint64_t *pte = &table[va >> shift & ((1u << TSR_PT_INDEX_BITS) - 1)];
		uint64_t value = *pte;

		if (at == level)
			return pte;
		if (value & TSR_PTE_LEAF__MASK) {
			value = split(value);
		} else if (!(value & TSR_PTE_VALID__MASK)) {
			value = make ? zone_alloc(PAGE) : 0;
			value = value ? (BUS_BASE + value) | TSR_PTE_VALID__MASK : 0;
		}
		if (!value)
			return NULL;
		*pte = value;
		table = table_at(value & TSR_PTE_ADDR__MASK);
	}
}

/*
 * The entry for a 2 MiB page at the start of [va, va + size), if memory at @at allows such a page.
 * Otherwise NULL.
 */
static _Atomic uint64_t *huge_entry(uint64_t root, uint64_t va, uint64_t at, uint64_t size)
{
	_Atomic uint64_t *pte;

	if ((va | at) % HUGE_PAGE || size < HUGE_PAGE)
		return NULL;
	pte = entry(root, va, 1, true);
	if (!pte || (*pte & TSR_PTE_VALID__MASK && !(*pte & TSR_PTE_LEAF__MASK)))
		return NULL;	/* there is a table: it stays */
	return pte;
}

int pgtable_map(uint64_t root, uint64_t va, uint64_t offset, uint64_t size, uint64_t bits)
{
	bool null = bits & TSR_PTE_NULL__MASK;

	bits |= TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK;
	while (size) {
		_Atomic uint64_t *pte = huge_entry(root, va, null ? 0 : offset, size);
		uint64_t step = pte ? HUGE_PAGE : PAGE;

		if (!pte)
			pte = entry(root, va, 0, true);
		if (!pte)
			return -ENOMEM;
		*pte = (null ? 0 : offset) | bits;
		va += step;
		offset += step;
		size -= step;
	}
	return 0;
}

/* The first address after @va where something may be mapped, @va itself if it may be there. */
static uint64_t skip_absent(uint64_t root, uint64_t va)
{
	unsigned int level;

	for (level = top_level(); level; level--) {
		uint64_t size = 1ull << (TSR_PAGE_SHIFT + level * TSR_PT_INDEX_BITS);
		_Atomic uint64_t *pte = entry(root, va, level, false);

		if (!pte || !(*pte & TSR_PTE_VALID__MASK))
			return (va & -size) + size;
	}
	return va;
}

int pgtable_unmap(uint64_t root, uint64_t va, uint64_t size)
{
	uint64_t end = va + size;

	while (va < end) {
		_Atomic uint64_t *huge = entry(root, va, 1, false);
		uint64_t next = (va & -HUGE_PAGE) + HUGE_PAGE, there = skip_absent(root, va);

		if (there > va) {
			va = there;
			continue;
		}
		if (huge && *huge & TSR_PTE_LEAF__MASK && !(va % HUGE_PAGE) && end >= next) {
			*huge = 0;
		} else if (huge && *huge & TSR_PTE_VALID__MASK) {
			_Atomic uint64_t *pte = entry(root, va, 0, false);

			if (!pte)
				return -ENOMEM;
			*pte = 0;
			next = va + PAGE;
		}
		va = next;
	}
	return 0;
}

/* ---- The window ------------------------------------------------------------------------------ */

void *zone_at(uint64_t offset)
{
	return mem.window + offset;
}

const void *window_at(uint64_t offset)
{
	return mem.window + offset;
}

uint64_t window_size(void)
{
	return WINDOW - ZONE;
}

/* Return a hole, and join it with adjacent holes. */
static void hole_add(uint64_t offset, uint64_t size)
{
	unsigned int i = 0;

	while (i < mem.holes && mem.hole[i].offset < offset)
		i++;
	if (i && mem.hole[i - 1].offset + mem.hole[i - 1].size == offset) {
		mem.hole[--i].size += size;
	} else {
		assert(mem.holes < mem.room);
		memmove(&mem.hole[i + 1], &mem.hole[i], (mem.holes - i) * sizeof(*mem.hole));
		mem.hole[i] = (struct range){ offset, size };
		mem.holes++;
	}
	if (i + 1 < mem.holes && mem.hole[i].offset + mem.hole[i].size == mem.hole[i + 1].offset) {
		mem.hole[i].size += mem.hole[i + 1].size;
		mem.holes--;
		memmove(&mem.hole[i + 1], &mem.hole[i + 2],
			(mem.holes - i - 1) * sizeof(*mem.hole));
	}
}

/* Take [at, at + size) out of a hole that holds it. */
static void hole_cut(unsigned int i, uint64_t at, uint64_t size)
{
	struct range old = mem.hole[i];
	uint64_t end = old.offset + old.size;

	mem.holes--;
	memmove(&mem.hole[i], &mem.hole[i + 1], (mem.holes - i) * sizeof(*mem.hole));
	if (at > old.offset)
		hole_add(old.offset, at - old.offset);
	if (end > at + size)
		hole_add(at + size, end - at - size);
}

uint64_t window_alloc(int fd, uint64_t size)
{
	uint64_t align = size >= HUGE_PAGE ? HUGE_PAGE : PAGE;
	unsigned int i;

	/* room for all holes there can be, one more than is taken: giving back must not fail */
	if (mem.room < mem.taken + 4) {
		struct range *more = realloc(mem.hole, (2 * mem.room + 8) * sizeof(*more));

		if (!more)
			return 0;
		mem.hole = more;
		mem.room = 2 * mem.room + 8;
	}
	for (i = 0; i < mem.holes; i++) {
		uint64_t at = (mem.hole[i].offset + align - 1) & -align;
		uint64_t end = mem.hole[i].offset + mem.hole[i].size;

		if (at > end || size > end - at)
			continue;
		/* past our own mmap(), which looks at descriptors */
		if (syscall(SYS_mmap, mem.window + at, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0) < 0)
			return 0;
		hole_cut(i, at, size);
		mem.taken++;
		return at;
	}
	return 0;
}

void window_free(uint64_t offset, uint64_t size)
{
	/* if the kernel refuses, the memory stays with the window and is never seen again */
	if (mmap(mem.window + offset, size, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return;
	hole_add(offset, size);
	mem.taken--;
}

/* ---- Start ----------------------------------------------------------------------------------- */

void memory_stop(void)
{
	if (mem.window)
		munmap(mem.window, WINDOW);
	free(mem.hole);
	memory_forget();
}

void memory_forget(void)
{
	memset(&mem, 0, sizeof(mem));
}

int memory_start(void)
{
	void *window = mmap(NULL, WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			    -1, 0);

	if (window == MAP_FAILED)
		return -errno;
	mem.window = window;
	mem.hole = calloc(8, sizeof(*mem.hole));
	if (!mem.hole || mprotect(mem.window, ZONE, PROT_READ | PROT_WRITE)) {
		memory_stop();
		return -ENOMEM;
	}
	mem.room = 8;
	mem.next = PAGE;		/* 0 means none */
	hole_add(ZONE, WINDOW - ZONE);
	return 0;
}
