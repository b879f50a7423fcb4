/* SPDX-License-Identifier: MIT */
/*
 * The memory of a dispatch: pieces at any addresses, in pages of a machine.
 *
 * In: the regions of a script and what the dispatch needs besides. Out: pages mapped and filled in
 * an address space. Pieces may lie anywhere, share pages and overlap; a page allows what any piece
 * in it allows, and where pieces overlap the later one's contents count.
 */
#ifndef TSR_RUN_MEMORY_H
#define TSR_RUN_MEMORY_H

#include "bench.h"

struct piece {
	uint64_t va, size;
	uint64_t pte;			/* BENCH_RW and the like */
	const void *init;		/* first bytes of it; the rest is zero */
	size_t init_size;
};

/* Pages in a row, contiguous on the host. */
struct extent {
	uint64_t va, size;
	uint8_t *host;
};

struct memory {
	struct piece *piece;
	size_t pieces;
	struct extent *extent;		/* ascending, with gaps between them */
	size_t extents;
};

void memory_add(struct memory *memory, struct piece piece);
/* The end of the highest piece. */
uint64_t memory_end(const struct memory *memory);
/* An address from @base on, in steps of 64 GiB, where @size bytes overlap no piece's page. */
uint64_t memory_gap(const struct memory *memory, uint64_t base, uint64_t size);
/* Bytes of all pages. To be asked when all pieces are there; it makes the extents. */
uint64_t memory_size(struct memory *memory);
/* Get pages in system memory, or local memory, map and fill them. */
void memory_map(struct memory *memory, struct bench_as *as, bool local);
/* The host's view of [va, va + size), NULL if not all of it is there. */
void *memory_at(const struct memory *memory, uint64_t va, uint64_t size);
void memory_free(struct memory *memory);

#endif
