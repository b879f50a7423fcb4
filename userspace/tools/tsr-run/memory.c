// SPDX-License-Identifier: MIT
/* The memory of a dispatch, see memory.h. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define GAP_STEP	(1ull << 36)

static uint64_t page_of(uint64_t va)
{
	return va / BENCH_PAGE * BENCH_PAGE;
}

/* The end of the last page of a piece. */
static uint64_t page_end(const struct piece *p)
{
	return page_of(p->va + p->size - 1) + BENCH_PAGE;
}

void memory_add(struct memory *memory, struct piece piece)
{
	if (!piece.size)
		return;
	memory->piece = realloc(memory->piece, (memory->pieces + 1) * sizeof(piece));
	if (!memory->piece)
		abort();
	memory->piece[memory->pieces++] = piece;
}

uint64_t memory_end(const struct memory *memory)
{
	uint64_t end = 0;

	for (size_t i = 0; i < memory->pieces; i++) {
		uint64_t last = memory->piece[i].va + memory->piece[i].size;

		end = last > end ? last : end;
	}
	return end;
}

uint64_t memory_gap(const struct memory *memory, uint64_t base, uint64_t size)
{
	for (size_t i = 0; i < memory->pieces; i++) {
		const struct piece *p = &memory->piece[i];

		if (page_of(p->va) < base + size && page_end(p) > base) {
			base += GAP_STEP;
			i = (size_t)-1;
		}
	}
	return base;
}

static int by_address(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->va < y->va ? -1 : x->va > y->va;
}

uint64_t memory_size(struct memory *memory)
{
	uint64_t total = 0;
	size_t n = 0;

	memory->extent = calloc(memory->pieces + 1, sizeof(*memory->extent));
	if (!memory->extent)
		abort();
	for (size_t i = 0; i < memory->pieces; i++) {
		const struct piece *p = &memory->piece[i];

		memory->extent[i] = (struct extent){ .va = page_of(p->va),
						     .size = page_end(p) - page_of(p->va) };
	}
	qsort(memory->extent, memory->pieces, sizeof(*memory->extent), by_address);
	for (size_t i = 0; i < memory->pieces; i++) {
		struct extent *e = &memory->extent[i], *last = n ? &memory->extent[n - 1] : NULL;

		if (!last || e->va > last->va + last->size)
			memory->extent[n++] = *e;
		else if (e->va + e->size > last->va + last->size)
			last->size = e->va + e->size - last->va;
	}
	memory->extents = n;
	for (size_t i = 0; i < n; i++)
		total += memory->extent[i].size;
	return total;
}

/* Permissions of the page at @va. */
static uint64_t page_bits(const struct memory *memory, uint64_t va)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < memory->pieces; i++) {
		const struct piece *p = &memory->piece[i];

		if (page_of(p->va) <= va && page_end(p) > va)
			bits |= p->pte;
	}
	return bits;
}

/* Map an extent page by page, in runs of pages with the same bits. */
static void map_extent(const struct memory *memory, struct bench_as *as, const struct extent *e,
		       uint64_t bus, uint64_t more)
{
	uint64_t at = 0;

	while (at < e->size) {
		uint64_t bits = page_bits(memory, e->va + at), n = BENCH_PAGE;

		while (at + n < e->size && page_bits(memory, e->va + at + n) == bits)
			n += BENCH_PAGE;
		bench_map(as, e->va + at, bus + at, n, bits | more);
		at += n;
	}
}

/* Give all pieces their contents. */
static void fill(const struct memory *memory)
{
	for (size_t i = 0; i < memory->pieces; i++) {
		const struct piece *p = &memory->piece[i];
		uint8_t *host = memory_at(memory, p->va, p->size);

		if (p->init_size)
			memcpy(host, p->init, p->init_size);
	}
}

void memory_map(struct memory *memory, struct bench_as *as, bool local)
{
	for (size_t i = 0; i < memory->extents; i++) {
		struct extent *e = &memory->extent[i];
		uint64_t bus;

		if (local) {
			bus = bench_alloc_local(as->bench, e->size, BENCH_PAGE);
			e->host = as->bench->local + bus;
		} else {
			bus = bench_alloc(as->bench, e->size, BENCH_PAGE);
			e->host = bench_ptr(as->bench, bus, e->size);
		}
		map_extent(memory, as, e, bus, local ? TSR_PTE_LOCAL__MASK : 0);
	}
	fill(memory);
	bench_invalidate_all(as);
}

void *memory_at(const struct memory *memory, uint64_t va, uint64_t size)
{
	for (size_t i = 0; i < memory->extents; i++) {
		const struct extent *e = &memory->extent[i];

		if (va - e->va < e->size && size <= e->size - (va - e->va))
			return e->host + (va - e->va);
	}
	return NULL;
}

void memory_free(struct memory *memory)
{
	free(memory->piece);
	free(memory->extent);
	*memory = (struct memory){ 0 };
}
