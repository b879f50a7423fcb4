/* SPDX-License-Identifier: MIT */
/*
 * Accesses of shaders to memory: a small cache of translated pages in front of the TLB, made for
 * many short accesses.
 *
 * In: virtual addresses of an address space, host memory to copy from and to. Out: the copy, host
 * pointers, precise faults (mem->fault names the first byte that cannot be had), reports of what
 * has been written. Belongs to one thread. A translation is valid until the thread's next stopping
 * point, where tsr_access_stop() forgets all of them and tells the host which pages were written;
 * nothing is reported earlier than its last write. Limits: TSR_ACCESS_PAGES translations each for
 * reading and writing, of pages that are contiguous on the host; other pages are looked up in the
 * TLB every time. Reset state: empty (tsr_access_init()).
 */
#ifndef TSR_SHADER_ACCESS_H
#define TSR_SHADER_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "memory/mem.h"

#define TSR_ACCESS_PAGES 512
#define TSR_ACCESS_PAGE_BYTES 4096u
/*
 * Most pages that may be written between two calls of tsr_access_reserve(): 16 bytes of each lane,
 * were every byte a piece of memory of its own.
 */
#define TSR_ACCESS_RESERVE 512
#define TSR_ACCESS_WRITTEN (4 * TSR_ACCESS_RESERVE)

/* A translation. */
struct tsr_access_page {
	uint64_t tag;			/* tsr_access_tag(), 0: none */
	uint8_t *ptr;			/* host address of the page's first byte */
};

/*
 * Additions to 32-bit words of device memory that have been made, but not been done: what is to be
 * added to the words of a few lines of memory. They are done, each as one atomic operation, when
 * another line needs the place or at the preemption point.
 */
#define TSR_ACCESS_SUMS 128		/* a multiple of 64 */
#define TSR_ACCESS_LINE_BYTES 64u
struct tsr_access_sums {
	uint32_t word[TSR_ACCESS_SUMS][TSR_ACCESS_LINE_BYTES / 4]
		__attribute__((aligned(TSR_ACCESS_LINE_BYTES)));
	uintptr_t line[TSR_ACCESS_SUMS];	/* its number: host address / bytes; 0: none */
	uint64_t used[TSR_ACCESS_SUMS / 64];	/* bit n: line[n] is not 0 */
	uint64_t wanted[TSR_ACCESS_SUMS / 64];	/* bit n: another line wanted its place */
};

struct tsr_access_cache {
	uint64_t epoch;			/* of valid tags, in their upper bits; never 0 */
	uint8_t as;			/* address space of the translations */
	struct tsr_access_page read[TSR_ACCESS_PAGES];
	struct tsr_access_page write[TSR_ACCESS_PAGES];
	/* pages written that the host has not been told of, and the one that was looked up last */
	struct tsr_page written[TSR_ACCESS_WRITTEN + 1];
	unsigned int num_written;
	struct tsr_access_sums sums;
	/* what NULL pages are: they read as zero, and what is written to them is never read */
	uint8_t zero[TSR_ACCESS_PAGE_BYTES] __attribute__((aligned(64)));
	uint8_t sink[TSR_ACCESS_PAGE_BYTES] __attribute__((aligned(64)));
};

#define TSR_ACCESS_EPOCH_SHIFT 52

void tsr_access_init(struct tsr_access_cache *access);
/* A preemption point of the thread that runs @runner: report what was written, forget the rest. */
void tsr_access_stop(struct tsr_access_cache *access, struct tsr_port *port);
/*
 * Before a group of accesses of @mem: have room for TSR_ACCESS_RESERVE more written pages, and
 * translations of no other address space. Host pointers from before are invalid after it.
 */
void tsr_access_reserve(struct tsr_access_cache *access, struct tsr_mem *mem);

static inline uint64_t tsr_access_tag(const struct tsr_access_cache *access, uint64_t va)
{
	return va / TSR_ACCESS_PAGE_BYTES + access->epoch;
}

/*
 * Where the page of @va is or would be in a set. Surfaces lie at large pages and often have a page
 * for each row: the same row of two of them does not go to the same place.
 */
static inline unsigned int tsr_access_slot(uint64_t va)
{
	uint64_t page = va / TSR_ACCESS_PAGE_BYTES;

	return (page ^ page / TSR_ACCESS_PAGES * 67) % TSR_ACCESS_PAGES;
}

/* Host address of the page of @va if it is at hand, else NULL. @set is access->read or ->write. */
static inline uint8_t *tsr_access_find(const struct tsr_access_cache *access,
				       const struct tsr_access_page *set, uint64_t va)
{
	const struct tsr_access_page *p = &set[tsr_access_slot(va)];

	return p->tag == tsr_access_tag(access, va) ? p->ptr : NULL;
}

/*
 * Host address of the page of @va for TSR_ACCESS_READ or _WRITE; *@page is NULL if the page is not
 * contiguous on the host. Pages that were asked for to be written count as written. NULL pages are
 * access->zero and access->sink.
 */
enum tsr_step tsr_access_page(struct tsr_access_cache *access, struct tsr_mem *mem, uint64_t va,
			      unsigned int dir, uint8_t **page);
/* Rows of a surface: @count of @len bytes each, @pitch bytes apart. */
struct tsr_access_rows {
	uint64_t va, pitch, len;
	unsigned int count;		/* at most TSR_ACCESS_RESERVE */
};

/*
 * Host address of the first of @rows for TSR_ACCESS_READ or _WRITE, if all are contiguous on the
 * host. NULL otherwise, and the caller proceeds page by page. With WRITE, the rows count as
 * written.
 */
uint8_t *tsr_access_rows(struct tsr_access_cache *access, struct tsr_mem *mem,
			 const struct tsr_access_rows *rows, unsigned int dir);
/* The slow path of tsr_access_rows(), by tsr_mem_area(). Does not count rows as written. */
bool tsr_access_area(struct tsr_mem *mem, const struct tsr_access_rows *rows, unsigned int dir,
		     struct tsr_page *area);
/* @rows, which are at @area, have been written. Room has been reserved. */
void tsr_access_note_rows(struct tsr_access_cache *access, struct tsr_mem *mem,
			  const struct tsr_access_rows *rows, const struct tsr_page *area);
/*
 * Copy @len bytes, at most TSR_ACCESS_COPY_MAX, from or to memory, across pages where they need be.
 * Nothing is written unless all of it can be.
 */
#define TSR_ACCESS_COPY_MAX 64
enum tsr_step tsr_access_read(struct tsr_access_cache *access, struct tsr_mem *mem, uint64_t va,
			      void *to, unsigned int len);
enum tsr_step tsr_access_write(struct tsr_access_cache *access, struct tsr_mem *mem, uint64_t va,
			       const void *from, unsigned int len);
/*
 * Host address of an aligned word of 4 or 8 bytes for reading and writing; NULL on a NULL page.
 * Memory that ends inside the word is a BUS fault.
 */
enum tsr_step tsr_access_word(struct tsr_access_cache *access, struct tsr_mem *mem, uint64_t va,
			      unsigned int len, void **word);

/*
 * memcpy() of some hundred bytes. Compilers that know the most @len can be make a string
 * instruction of that, which is slow.
 */
static inline void tsr_access_copy(uint8_t *to, const uint8_t *from, uint64_t len)
{
	typedef uint64_t piece __attribute__((vector_size(16), may_alias, aligned(1)));
	const unsigned int line = 4 * sizeof(piece);

	for (; len >= line; len -= line, to += line, from += line) {
		const piece *in = (const piece *)from;
		const piece a = in[0], b = in[1], c = in[2], d = in[3];
		piece *out = (piece *)to;

		out[0] = a;
		out[1] = b;
		out[2] = c;
		out[3] = d;
	}
	for (; len >= sizeof(uint32_t); len -= sizeof(uint32_t)) {
		memcpy(to, from, sizeof(uint32_t));
		to += sizeof(uint32_t);
		from += sizeof(uint32_t);
	}
	while (len--)
		*to++ = *from++;
}

/* Have line @line at place @n of the sums; false: not this time. */
bool tsr_access_acquire_sum(struct tsr_access_sums *sums, unsigned int n, uintptr_t line);
/*
 * Where to add what is to be added to @word, an aligned word of a page at hand for writing; after
 * it are those of the words that follow in its line. NULL: it has to be added to @word itself.
 */
static inline uint32_t *tsr_access_sum(struct tsr_access_cache *access, const uint32_t *word)
{
	struct tsr_access_sums *sums = &access->sums;
	uintptr_t line = (uintptr_t)word / TSR_ACCESS_LINE_BYTES;
	unsigned int n = line % TSR_ACCESS_SUMS;

	if (sums->line[n] != line && !tsr_access_acquire_sum(sums, n, line))
		return NULL;
	return &sums->word[n][(uintptr_t)word % TSR_ACCESS_LINE_BYTES / 4];
}

#endif
