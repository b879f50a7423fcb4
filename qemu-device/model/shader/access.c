/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "access.h"

#include "memory/mmu.h"
#include "tsr_regs.h"

#define EPOCH_ONE (1ull << TSR_ACCESS_EPOCH_SHIFT)

/* Forget all translations. */
static void forget(struct tsr_access_cache *access)
{
	access->epoch += EPOCH_ONE;
	if (access->epoch)
		return;
	/* All epochs have been used: none of the tags may look valid again. */
	memset(access->read, 0, sizeof(access->read));
	memset(access->write, 0, sizeof(access->write));
	access->epoch = EPOCH_ONE;
}

void tsr_access_init(struct tsr_access_cache *access)
{
	memset(access, 0, sizeof(*access));
	access->epoch = EPOCH_ONE;
}

/* Do the additions to the line at place @n, which is free then. */
static void settle_sum(struct tsr_access_sums *sums, unsigned int n)
{
	uint32_t *line = (uint32_t *)(sums->line[n] * TSR_ACCESS_LINE_BYTES);

	for (unsigned int i = 0; i < TSR_ACCESS_LINE_BYTES / 4; i++) {
		if (sums->word[n][i])
			__atomic_fetch_add(&line[i], sums->word[n][i], __ATOMIC_ACQ_REL);
		sums->word[n][i] = 0;
	}
	sums->line[n] = 0;
	sums->used[n / 64] &= ~(1ull << n % 64);
}

/* A line that is in use stays when it is challenged the first time. */
bool tsr_access_acquire_sum(struct tsr_access_sums *sums, unsigned int n, uintptr_t line)
{
	uint64_t bit = 1ull << n % 64;

	if (sums->used[n / 64] & bit) {
		sums->wanted[n / 64] ^= bit;
		if (sums->wanted[n / 64] & bit)
			return false;
		settle_sum(sums, n);
	}
	sums->used[n / 64] |= bit;
	sums->line[n] = line;
	return true;
}

/* Pages that follow one another, as rows of surfaces often do, are reported together. */
static void report_written(const struct tsr_access_cache *access, struct tsr_port *port)
{
	const struct tsr_page *page = access->written, *end = page + access->num_written;

	while (page < end) {
		const struct tsr_page *first = page;
		uint64_t len = first->hi - first->lo;

		for (page++; page < end && page->ptr == first->ptr + len &&
			     page->phys == first->phys + len && page->local == first->local;
		     page++)
			len += page->hi - page->lo;
		tsr_mem_written(port, first, len);
	}
}

void tsr_access_stop(struct tsr_access_cache *access, struct tsr_port *port)
{
	for (unsigned int i = 0; i < TSR_ACCESS_SUMS / 64; i++) {
		while (access->sums.used[i])
			settle_sum(&access->sums, 64 * i + __builtin_ctzll(access->sums.used[i]));
	}
	report_written(access, port);
	access->num_written = 0;
	forget(access);
}

void tsr_access_reserve(struct tsr_access_cache *access, struct tsr_mem *mem)
{
	if (access->as == mem->as &&
	    access->num_written <= TSR_ACCESS_WRITTEN - TSR_ACCESS_RESERVE)
		return;
	tsr_access_stop(access, mem->port);
	access->as = mem->as;
}

/* True if @page can be kept as one pointer from which aligned words can be read. */
static bool whole(const struct tsr_page *page)
{
	return !page->lo && page->hi == TSR_ACCESS_PAGE_BYTES && !((uintptr_t)page->ptr % 16);
}

/* @page stands after the pages noted (copies would wait for everything that has been stored). */
static void note_written(struct tsr_access_cache *access, struct tsr_mem *mem,
			 const struct tsr_page *page)
{
	/* tsr_access_reserve() has made sure that there is room */
	if (access->num_written < TSR_ACCESS_WRITTEN)
		access->num_written++;
	else
		tsr_mem_written(mem->port, page, page->hi - page->lo);
}

enum tsr_step tsr_access_page(struct tsr_access_cache *access, struct tsr_mem *mem, uint64_t va,
			      unsigned int dir, uint8_t **page)
{
	bool write = dir == TSR_ACCESS_WRITE;
	struct tsr_access_page *set = write ? access->write : access->read;
	struct tsr_access_page *p = &set[tsr_access_slot(va)];
	struct tsr_page *found = &access->written[access->num_written];
	enum tsr_step step;

	if (p->tag == tsr_access_tag(access, va)) {
		*page = p->ptr;
		return TSR_STEP_DONE;
	}
	step = tsr_mem_page(mem, va, dir, found);
	if (step != TSR_STEP_DONE)
		return step;
	if (!found->ptr) {
		*page = write ? access->sink : access->zero;
	} else if (whole(found)) {
		if (write)
			note_written(access, mem, found);
		*page = found->ptr;
	} else {
		*page = NULL;
		return TSR_STEP_DONE;
	}
	p->tag = tsr_access_tag(access, va);
	p->ptr = *page;
	return TSR_STEP_DONE;
}

/* From the first byte of @rows to the last. */
static uint64_t bytes_of(const struct tsr_access_rows *rows)
{
	return rows->pitch * (rows->count - 1) + rows->len;
}

bool tsr_access_area(struct tsr_mem *mem, const struct tsr_access_rows *rows, unsigned int dir,
		     struct tsr_page *area)
{
	return tsr_mem_area(mem, rows->va, bytes_of(rows), dir, area);
}

void tsr_access_note_rows(struct tsr_access_cache *access, struct tsr_mem *mem,
			  const struct tsr_access_rows *rows, const struct tsr_page *area)
{
	/* one range if no page lies between two rows */
	const bool all = rows->pitch <= TSR_ACCESS_PAGE_BYTES;

	for (unsigned int i = 0; i < (all ? 1 : rows->count); i++) {
		const uint64_t at = rows->pitch * i;
		const struct tsr_page row = {
			.ptr = area->ptr + at, .phys = area->phys + at,
			.hi = all ? bytes_of(rows) : rows->len, .local = area->local,
		};

		access->written[access->num_written] = row;
		note_written(access, mem, &row);
	}
}

uint8_t *tsr_access_rows(struct tsr_access_cache *access, struct tsr_mem *mem,
			 const struct tsr_access_rows *rows, unsigned int dir)
{
	struct tsr_page area;

	if (!tsr_access_area(mem, rows, dir, &area))
		return NULL;
	if (dir == TSR_ACCESS_WRITE)
		tsr_access_note_rows(access, mem, rows, &area);
	return area.ptr;
}

/* A contiguous part of an access. */
struct piece {
	uint8_t *ptr;
	unsigned int len;
};

/* The first piece of [va, va + len). */
static enum tsr_step first_piece(struct tsr_access_cache *access, struct tsr_mem *mem, uint64_t va,
				 unsigned int len, unsigned int dir, struct piece *piece)
{
	unsigned int offset = va % TSR_ACCESS_PAGE_BYTES;
	unsigned int end = TSR_ACCESS_PAGE_BYTES;
	struct tsr_page *found = &access->written[access->num_written];
	uint8_t *page;
	enum tsr_step step = tsr_access_page(access, mem, va, dir, &page);

	if (step != TSR_STEP_DONE)
		return step;
	if (page) {
		piece->ptr = page + offset;
	} else {
		step = tsr_mem_page(mem, va, dir, found);
		if (step != TSR_STEP_DONE)
			return step;
		if (dir == TSR_ACCESS_WRITE)
			note_written(access, mem, found);
		piece->ptr = found->ptr + (offset - found->lo);
		end = found->hi;
	}
	piece->len = len < end - offset ? len : end - offset;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_access_read(struct tsr_access_cache *access, struct tsr_mem *mem, uint64_t va,
			      void *to, unsigned int len)
{
	uint8_t *out = to;

	while (len) {
		struct piece piece;
		enum tsr_step step;

		step = first_piece(access, mem, va, len, TSR_ACCESS_READ, &piece);
		if (step != TSR_STEP_DONE)
			return step;
		memcpy(out, piece.ptr, piece.len);
		out += piece.len;
		va += piece.len;
		len -= piece.len;
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_access_write(struct tsr_access_cache *access, struct tsr_mem *mem, uint64_t va,
			       const void *from, unsigned int len)
{
	struct piece piece[TSR_ACCESS_COPY_MAX];
	const uint8_t *in = from;
	unsigned int n = 0;

	for (unsigned int at = 0; at < len; at += piece[n++].len) {
		enum tsr_step step = first_piece(access, mem, va + at, len - at,
						 TSR_ACCESS_WRITE, &piece[n]);

		if (step != TSR_STEP_DONE)
			return step;
	}
	for (unsigned int i = 0; i < n; i++) {
		memcpy(piece[i].ptr, in, piece[i].len);
		in += piece[i].len;
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_access_word(struct tsr_access_cache *access, struct tsr_mem *mem, uint64_t va,
			      unsigned int len, void **word)
{
	struct piece piece;
	enum tsr_step step = first_piece(access, mem, va, len, TSR_ACCESS_READ, &piece);

	if (step != TSR_STEP_DONE)
		return step;
	step = first_piece(access, mem, va, len, TSR_ACCESS_WRITE, &piece);
	if (step != TSR_STEP_DONE)
		return step;
	if (piece.len != len || (uintptr_t)piece.ptr % len)
		return tsr_mmu_fault(mem, TSR_FAULT_BUS, va, TSR_ACCESS_WRITE, 0);
	*word = piece.ptr - va % TSR_ACCESS_PAGE_BYTES == access->sink ? NULL : piece.ptr;
	return TSR_STEP_DONE;
}
