/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock_mem.h"
#include "tsr_regs.h"

/* The address of this marks a struct tsr_mem as a mock's. */
static char mock_mark;

enum tsr_step __real_tsr_mem_map(struct tsr_mem *mem, uint64_t va, uint64_t len,
				 unsigned int access, struct tsr_span *span) __attribute__((weak));
enum tsr_step __real_tsr_mem_bad_packet(struct tsr_mem *mem, uint64_t pc, unsigned int qword,
					uint8_t code) __attribute__((weak));
enum tsr_step __wrap_tsr_mem_map(struct tsr_mem *mem, uint64_t va, uint64_t len,
				 unsigned int access, struct tsr_span *span);
enum tsr_step __wrap_tsr_mem_bad_packet(struct tsr_mem *mem, uint64_t pc, unsigned int qword,
					uint8_t code);

struct mock_mem *mock_new(void)
{
	struct mock_mem *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->mem.gpu = (struct tsr_gpu *)&mock_mark;
	m->mem.as = 7;
	m->mem.unit = TSR_UNIT_COPY;
	return m;
}

void mock_free(struct mock_mem *m)
{
	unsigned int i;

	for (i = 0; i < m->pages; i++) {
		free(m->page[i].mem);
		free(m->page[i].clean);
	}
	free(m);
}

static unsigned int *hash_slot(struct mock_mem *m, uint64_t va)
{
	uint64_t n = va / MOCK_PAGE;
	unsigned int i = (unsigned int)((n ^ n >> 20 ^ n >> 37) % (4 * MOCK_PAGES));

	while (m->hash[i] && m->page[m->hash[i] - 1].va != va / MOCK_PAGE * MOCK_PAGE)
		i = (i + 1) % (4 * MOCK_PAGES);
	return &m->hash[i];
}

struct mock_page *mock_find(struct mock_mem *m, uint64_t va)
{
	unsigned int *slot = hash_slot(m, va);

	return *slot ? &m->page[*slot - 1] : NULL;
}

struct mock_page *mock_map(struct mock_mem *m, uint64_t va, uint8_t access, bool null)
{
	unsigned int *slot = hash_slot(m, va);
	struct mock_page *p;

	if (*slot || m->pages == MOCK_PAGES) {
		fprintf(stderr, "mock_mem: cannot map 0x%llx\n", (unsigned long long)va);
		abort();
	}
	p = &m->page[m->pages++];
	*slot = m->pages;
	p->va = va / MOCK_PAGE * MOCK_PAGE;
	p->access = access;
	p->mapped = true;
	if (!null) {
		p->mem = calloc(1, MOCK_PAGE);
		p->clean = calloc(1, MOCK_PAGE);
		if (!p->mem || !p->clean)
			abort();
	}
	return p;
}

void mock_map_range(struct mock_mem *m, uint64_t va, uint64_t len, uint8_t access)
{
	uint64_t at;

	for (at = va / MOCK_PAGE; len && at <= (va + len - 1) / MOCK_PAGE; at++) {
		if (!mock_find(m, at * MOCK_PAGE))
			mock_map(m, at * MOCK_PAGE, access, false);
	}
}

bool mock_read(struct mock_mem *m, uint64_t va, void *buf, uint64_t len)
{
	uint64_t i;

	for (i = 0; i < len; i++) {
		struct mock_page *p = mock_find(m, va + i);

		if (!p)
			return false;
		((uint8_t *)buf)[i] = p->mem ? p->mem[(va + i) % MOCK_PAGE] : 0;
	}
	return true;
}

bool mock_write(struct mock_mem *m, uint64_t va, const void *buf, uint64_t len)
{
	uint64_t i;

	for (i = 0; i < len; i++) {
		struct mock_page *p = mock_find(m, va + i);

		if (!p)
			return false;
		if (!p->mem)
			continue;
		p->mem[(va + i) % MOCK_PAGE] = ((const uint8_t *)buf)[i];
		p->clean[(va + i) % MOCK_PAGE] = ((const uint8_t *)buf)[i];
	}
	return true;
}

/* The oldest span is marked dirty and gone. */
static void drop_oldest(struct mock_mem *m)
{
	struct tsr_span *s = &m->held[0];
	struct mock_page *p = m->held_page[0];

	memcpy(p->clean + (s->ptr - p->mem), s->ptr, s->len);
	m->held_count--;
	memmove(m->held, m->held + 1, m->held_count * sizeof(m->held[0]));
	memmove(m->held_page, m->held_page + 1, m->held_count * sizeof(m->held_page[0]));
}

uint64_t mock_step_end(struct mock_mem *m)
{
	unsigned int i, j;

	while (m->held_count)
		drop_oldest(m);
	for (i = 0; i < m->pages; i++) {
		struct mock_page *p = &m->page[i];

		for (j = 0; p->mem && memcmp(p->mem, p->clean, MOCK_PAGE) && j < MOCK_PAGE; j++) {
			if (p->mem[j] != p->clean[j])
				return p->va + j;
		}
	}
	return UINT64_MAX;
}

static enum tsr_step fault(struct mock_mem *m, uint64_t va, unsigned int access, uint8_t code)
{
	m->mem.fault = (struct tsr_fault_info){
		.addr = va,
		.code = code,
		.access = (uint8_t)access,
		.unit = m->mem.unit,
		.as = m->mem.as,
	};
	return TSR_STEP_FAULT;
}

static bool chance(struct mock_mem *m, unsigned int percent)
{
	return m->random && percent && m->random(m->arg) % 100 < percent;
}

enum tsr_step __wrap_tsr_mem_map(struct tsr_mem *mem, uint64_t va, uint64_t len,
				 unsigned int access, struct tsr_span *span)
{
	struct mock_mem *m = (struct mock_mem *)mem;
	struct mock_page *p;

	if (mem->gpu != (struct tsr_gpu *)&mock_mark)
		return __real_tsr_mem_map(mem, va, len, access, span);
	if (!len) {
		fprintf(stderr, "mock_mem: nothing asked for at 0x%llx\n", (unsigned long long)va);
		abort();
	}
	m->calls++;
	if (m->calls == m->pending_call || chance(m, m->pending_percent))
		return TSR_STEP_PENDING;
	p = mock_find(m, va);
	if (!p || !p->mapped)
		return fault(m, va, access, TSR_FAULT_MMU_UNMAPPED);
	if (p->fault)
		return fault(m, va, access, p->fault);
	if (!(p->access & access))
		return fault(m, va, access, TSR_FAULT_MMU_PERMISSION);
	span->len = MOCK_PAGE - va % MOCK_PAGE;
	if (span->len > len)
		span->len = len;
	if (chance(m, m->fragment_percent))
		span->len = 1 + m->random(m->arg) % span->len;
	span->ptr = p->mem ? p->mem + va % MOCK_PAGE : NULL;
	if (access == TSR_ACCESS_WRITE && p->mem) {
		if (m->held_count == MOCK_SPANS_HELD)
			drop_oldest(m);
		m->held[m->held_count] = *span;
		m->held_page[m->held_count++] = p;
	}
	return TSR_STEP_DONE;
}

enum tsr_step __wrap_tsr_mem_bad_packet(struct tsr_mem *mem, uint64_t pc, unsigned int qword,
					uint8_t code)
{
	struct mock_mem *m = (struct mock_mem *)mem;

	if (mem->gpu != (struct tsr_gpu *)&mock_mark)
		return __real_tsr_mem_bad_packet(mem, pc, qword, code);
	m->bad_packet_pc = pc;
	m->bad_packet_qword = qword;
	return fault(m, pc + 8 * qword, TSR_ACCESS_NONE, code);
}
