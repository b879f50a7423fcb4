/* SPDX-License-Identifier: MIT */
/*
 * A test double of the GPU's memory: tsr_mem_map() and tsr_mem_bad_packet() over a page table that
 * the test writes, with failures where it wants them. The engines are linked with this through the
 * linker's --wrap (tests/meson.build); a struct tsr_mem that is not a mock goes to the real
 * functions.
 *
 * Every page is a heap block of its own, so the sanitizer sees any access beyond a page. What was
 * handed out for writing is tracked as the model's dirty tracking does it: mock_step_end() finds
 * bytes that changed without being marked.
 */
#ifndef TSR_MOCK_MEM_H
#define TSR_MOCK_MEM_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

#define MOCK_PAGE 4096u
#define MOCK_PAGES 2048			/* at most that many pages */
#define MOCK_SPANS_HELD 32		/* write spans a step may hold at once */

/* A page and its faults. */
struct mock_page {
	uint64_t va;			/* page-aligned */
	uint8_t *mem;			/* MOCK_PAGE bytes, or NULL for a NULL page */
	uint8_t *clean;			/* content as far as it has been marked dirty */
	uint8_t access;			/* TSR_ACCESS_ bits allowed */
	uint8_t fault;			/* TSR_FAULT_ code of any access, 0: none */
	bool mapped;			/* false: MMU_UNMAPPED */
};

struct mock_mem {
	struct tsr_mem mem;		/* what the engine gets; first */
	struct mock_page page[MOCK_PAGES];
	unsigned int pages;
	unsigned int hash[4 * MOCK_PAGES];	/* page number + 1 by address */
	/* Injection. */
	unsigned int (*random)(void *arg);	/* NULL: none of the following */
	void *arg;
	unsigned int pending_percent;	/* of calls that are PENDING */
	unsigned int fragment_percent;	/* of calls whose span is shorter than it could be */
	uint64_t pending_call;		/* this call (counting from 1) is PENDING; 0: none */
	/* Calls so far. */
	uint64_t calls;
	uint64_t bad_packet_pc;		/* arguments of tsr_mem_bad_packet() */
	unsigned int bad_packet_qword;
	/* Write spans held by the running step, oldest first. */
	struct tsr_span held[MOCK_SPANS_HELD];
	struct mock_page *held_page[MOCK_SPANS_HELD];
	unsigned int held_count;
};

/* Empty, no page mapped. */
struct mock_mem *mock_new(void);
void mock_free(struct mock_mem *m);

/*
 * Map the page at @va, with storage filled with 0 or, with @null, as a NULL page. Returns it, to be
 * changed at will.
 */
struct mock_page *mock_map(struct mock_mem *m, uint64_t va, uint8_t access, bool null);
/* Map all pages that [va, va + len) touches and that are not there yet. */
void mock_map_range(struct mock_mem *m, uint64_t va, uint64_t len, uint8_t access);
/* The page of @va, NULL if there is none. */
struct mock_page *mock_find(struct mock_mem *m, uint64_t va);

/*
 * Access by the test, whatever the permissions; false where nothing is mapped. NULL pages read 0.
 */
bool mock_read(struct mock_mem *m, uint64_t va, void *buf, uint64_t len);
bool mock_write(struct mock_mem *m, uint64_t va, const void *buf, uint64_t len);

/*
 * A step is over: forget the spans, return the first address that was written without being marked,
 * or UINT64_MAX.
 */
uint64_t mock_step_end(struct mock_mem *m);

#endif
