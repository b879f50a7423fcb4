/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "count.h"
#include "mem.h"
#include "mmu.h"

#define PAGE_BYTES (1ull << TSR_PAGE_SHIFT)
#define HUGE_BYTES (1ull << TSR_HUGE_SHIFT)

static void report(const struct tsr_mmu *mmu, const struct tsr_dirty_range *range)
{
	mmu->ops->dirty(mmu->host, range->local ? TSR_SPACE_LOCAL : TSR_SPACE_SYSTEM, range->phys,
			range->ptr, range->len);
}

void tsr_mem_flush_dirty(struct tsr_port *port)
{
	struct tsr_dirty *dirty = &port->dirty;

	for (unsigned int i = 0; i < dirty->count; i++)
		report(port->mmu, &dirty->range[i]);
	dirty->count = 0;
}

_Static_assert(TSR_SPANS_HELD > 0 && TSR_SPANS_HELD < TSR_DIRTY_RANGES,
	       "a full list of writes has an older part that is no longer held");

/*
 * Remember a write. When the list is full its older half goes to the host: those spans are no
 * longer held (TSR_SPANS_HELD).
 */
static void note_write(struct tsr_port *port, const struct tsr_tlb_entry *e, uint8_t *ptr,
		       uint64_t phys, uint64_t len)
{
	struct tsr_dirty *dirty = &port->dirty;
	struct tsr_dirty_range *last = dirty->count ? &dirty->range[dirty->count - 1] : NULL;

	if (last && last->ptr + last->len == ptr && last->phys + last->len == phys &&
	    last->local == e->local) {
		last->len += len;
		return;
	}
	if (dirty->count == TSR_DIRTY_RANGES) {
		unsigned int half = TSR_DIRTY_RANGES - TSR_SPANS_HELD;

		for (unsigned int i = 0; i < half; i++)
			report(port->mmu, &dirty->range[i]);
		dirty->count -= half;
		memmove(dirty->range, &dirty->range[half], dirty->count * sizeof(dirty->range[0]));
	}
	dirty->range[dirty->count++] = (struct tsr_dirty_range) {
		.ptr = ptr, .phys = phys, .len = len, .local = e->local,
	};
}

/*
 * Find host memory for the byte at @offset of the page that @walk describes, and as much around it
 * as the host gives.
 */
static enum tsr_host_result locate(const struct tsr_mmu *mmu, const struct tsr_walk *walk,
				   uint64_t offset, bool write, struct tsr_tlb_entry *e)
{
	uint64_t len = PAGE_BYTES;
	enum tsr_host_result result;
	void *ptr;

	e->phys = walk->phys;
	e->local = walk->local;
	e->perms = walk->perms;
	e->lo = 0;
	e->hi = PAGE_BYTES;
	e->ptr = NULL;
	if (walk->null)
		return TSR_HOST_OK;
	if (walk->local) {
		if (walk->phys >= mmu->local_size)
			return TSR_HOST_FAULT;
		e->ptr = mmu->local + walk->phys;
		return TSR_HOST_OK;
	}
	result = mmu->ops->map(mmu->host, walk->phys, &len, write, &ptr);
	if (result == TSR_HOST_PENDING)
		return result;
	if (result != TSR_HOST_OK || offset >= len) {
		/* Not the whole page: from the byte in question on. */
		len = PAGE_BYTES - offset;
		e->lo = offset;
		result = mmu->ops->map(mmu->host, walk->phys + offset, &len, write, &ptr);
	}
	e->hi = e->lo + len;
	e->ptr = ptr;
	return result;
}

/*
 * Keep the large page that @walk, of @va, is part of, if the host has it in one piece. Nothing
 * happens if not, and nothing is asked that had to be waited for.
 */
static void insert_huge(struct tsr_mem *mem, uint64_t va, bool write, const struct tsr_walk *walk)
{
	const struct tsr_mmu *mmu = mem->port->mmu;
	struct tsr_tlb_huge *huge = tsr_tlb_huge_slot(&mem->port->tlb, va, mem->as, write);
	uint64_t first = walk->phys - (va & (HUGE_BYTES - PAGE_BYTES));
	uint64_t len = HUGE_BYTES;
	void *ptr;

	huge->tag = TSR_TLB_NONE;
	if (walk->local) {
		if (mmu->local_size < HUGE_BYTES || first > mmu->local_size - HUGE_BYTES)
			return;
		ptr = mmu->local + first;
	} else if (mmu->ops->map(mmu->host, first, &len, write, &ptr) != TSR_HOST_OK ||
		   len != HUGE_BYTES) {
		return;
	}
	*huge = (struct tsr_tlb_huge){
		.tag = tsr_tlb_huge_tag(va, mem->as, write), .phys = first, .ptr = ptr,
		.perms = walk->perms, .local = walk->local,
	};
}

/* Make @e from the large page of @va, if that is at hand and allows @access. */
static bool from_huge(struct tsr_mem *mem, uint64_t va, unsigned int access, uint64_t tag,
		      struct tsr_tlb_entry *e)
{
	bool write = access == TSR_ACCESS_WRITE;
	const struct tsr_tlb_huge *huge = tsr_tlb_huge_slot(&mem->port->tlb, va, mem->as, write);
	uint64_t offset = va & (HUGE_BYTES - PAGE_BYTES);

	if (huge->tag != tsr_tlb_huge_tag(va, mem->as, write) || !(huge->perms & access))
		return false;
	*e = (struct tsr_tlb_entry){
		.tag = tag, .phys = huge->phys + offset, .ptr = huge->ptr + offset,
		.hi = PAGE_BYTES, .perms = huge->perms, .local = huge->local,
	};
	return true;
}

/* Walk and fill @e, whose tag is to be @tag. The entry stays empty unless all goes well. */
static enum tsr_step translate(struct tsr_mem *mem, uint64_t va, unsigned int access, uint64_t tag,
			       struct tsr_tlb_entry *e)
{
	struct tsr_walk walk;
	enum tsr_step step;

	e->tag = TSR_TLB_NONE;
	step = tsr_mmu_walk(mem, va, access, &walk);
	if (step != TSR_STEP_DONE)
		return step;
	if (walk.huge && !walk.null) {
		insert_huge(mem, va, access == TSR_ACCESS_WRITE, &walk);
		if (from_huge(mem, va, access, tag, e))
			return TSR_STEP_DONE;
	}
	switch (locate(mem->port->mmu, &walk, va & (PAGE_BYTES - 1), access == TSR_ACCESS_WRITE,
		       e)) {
	case TSR_HOST_OK:
		e->tag = tag;
		return TSR_STEP_DONE;
	case TSR_HOST_PENDING:
		return TSR_STEP_PENDING;
	default:
		return tsr_mmu_fault(mem, TSR_FAULT_BUS, va, access, 0);
	}
}

/* translate(), or a fault that is injected. A translation that has to wait is no occasion yet. */
static enum tsr_step fill(struct tsr_mem *mem, uint64_t va, unsigned int access, uint64_t tag,
			  struct tsr_tlb_entry *e)
{
	const struct tsr_mmu *mmu = mem->port->mmu;
	enum tsr_step step;
	uint8_t code = 0;

	if (from_huge(mem, va, access, tag, e))
		return TSR_STEP_DONE;
	step = translate(mem, va, access, tag, e);
	if (step != TSR_STEP_PENDING && mmu->hooks &&
	    atomic_load_explicit(&mmu->hooked->armed, memory_order_relaxed))
		code = mmu->hooks->walk(mem, va);
	if (!code)
		return step;
	tsr_tlb_huge_slot(&mem->port->tlb, va, mem->as, access == TSR_ACCESS_WRITE)->tag =
		TSR_TLB_NONE;
	e->tag = TSR_TLB_NONE;
	return tsr_mmu_fault(mem, code, va, access, 0);
}

/* The TLB's entry for @va, filled if it has to be; it covers at least the byte @va. */
static enum tsr_step find(struct tsr_mem *mem, uint64_t va, unsigned int access,
			  struct tsr_tlb_entry **entry)
{
	bool write = access == TSR_ACCESS_WRITE;
	uint64_t tag = tsr_tlb_tag(va, mem->as, write);
	struct tsr_tlb_entry *e = &mem->port->tlb.entry[tsr_tlb_index(tag)];
	uint64_t offset = va & (PAGE_BYTES - 1);
	bool hit = e->tag == tag && (e->perms & access) && offset >= e->lo && offset < e->hi;
	enum tsr_step step;

	if (mem->counter)
		tsr_count(&mem->counter[hit ? TSR_QUEUE_COUNTER_TLB_HITS
					    : TSR_QUEUE_COUNTER_TLB_MISSES],
			  1);
	else
		mem->port->lookups[hit]++;
	*entry = e;
	step = hit ? TSR_STEP_DONE : fill(mem, va, access, tag, e);
	if (step == TSR_STEP_DONE &&
	    atomic_load_explicit(&mem->port->mmu->watched, memory_order_relaxed))
		mem->port->mmu->hooks->access(mem, va, access, e);
	return step;
}

enum tsr_step tsr_mem_map(struct tsr_mem *mem, uint64_t va, uint64_t len, unsigned int access,
			  struct tsr_span *span)
{
	uint64_t offset = va & (PAGE_BYTES - 1);
	struct tsr_tlb_entry *e;
	enum tsr_step step = find(mem, va, access, &e);

	if (step != TSR_STEP_DONE)
		return step;
	span->len = len < e->hi - offset ? len : e->hi - offset;
	span->ptr = e->ptr ? e->ptr + (offset - e->lo) : NULL;
	if (access == TSR_ACCESS_WRITE && span->ptr)
		note_write(mem->port, e, span->ptr, e->phys + offset, span->len);
	return TSR_STEP_DONE;
}

const uint8_t *tsr_mem_peek(const struct tsr_mem *mem, uint64_t va, unsigned int len)
{
	struct tsr_tlb *tlb = &mem->port->tlb;
	const struct tsr_tlb_huge *huge = tsr_tlb_huge_slot(tlb, va, mem->as, false);
	uint64_t tag = tsr_tlb_tag(va, mem->as, false), offset = va & (PAGE_BYTES - 1);
	const struct tsr_tlb_entry *e = &tlb->entry[tsr_tlb_index(tag)];

	if (offset > PAGE_BYTES - len)
		return NULL;
	if (huge->tag == tsr_tlb_huge_tag(va, mem->as, false) && huge->perms & TSR_ACCESS_READ)
		return huge->ptr + (va & (HUGE_BYTES - 1));
	if (e->tag != tag || !(e->perms & TSR_ACCESS_READ) || !e->ptr || e->lo ||
	    e->hi < PAGE_BYTES)
		return NULL;
	return e->ptr + offset;
}

const uint64_t *tsr_mem_call_for(const struct tsr_mem *mem, uint64_t va, unsigned int qwords)
{
	const uint64_t *p = (const uint64_t *)tsr_mem_peek(mem, va, qwords * sizeof(*p));

	if (!p || (uintptr_t)p % sizeof(*p))
		return NULL;
	for (unsigned int i = 0; i < qwords; i += 8)
		__builtin_prefetch(&p[i]);
	return p;
}

enum tsr_step tsr_mem_page(struct tsr_mem *mem, uint64_t va, unsigned int access,
			   struct tsr_page *page)
{
	struct tsr_tlb_entry *e;
	enum tsr_step step = find(mem, va, access, &e);

	if (step != TSR_STEP_DONE)
		return step;
	*page = (struct tsr_page){
		.ptr = e->ptr, .phys = e->phys + e->lo, .lo = e->lo, .hi = e->hi, .local = e->local,
	};
	return TSR_STEP_DONE;
}

bool tsr_mem_area(struct tsr_mem *mem, uint64_t va, uint64_t len, unsigned int access,
		  struct tsr_page *area)
{
	const bool write = access == TSR_ACCESS_WRITE;
	const struct tsr_tlb_huge *huge = tsr_tlb_huge_slot(&mem->port->tlb, va, mem->as, write);
	const uint64_t offset = va & (HUGE_BYTES - 1);

	if (huge->tag != tsr_tlb_huge_tag(va, mem->as, write) || !(huge->perms & access) ||
	    len > HUGE_BYTES - offset ||
	    atomic_load_explicit(&mem->port->mmu->watched, memory_order_relaxed))
		return false;
	*area = (struct tsr_page){
		.ptr = huge->ptr + offset, .phys = huge->phys + offset, .hi = len,
		.local = huge->local,
	};
	return true;
}

void tsr_mem_written(struct tsr_port *port, const struct tsr_page *page, uint64_t len)
{
	const struct tsr_dirty_range range = {
		.ptr = page->ptr, .phys = page->phys, .len = len,
		.local = page->local,
	};

	report(port->mmu, &range);
}

enum tsr_step tsr_mem_bad_packet(struct tsr_mem *mem, uint64_t pc, unsigned int qword, uint8_t code)
{
	return tsr_mmu_fault(mem, code, pc + qword * sizeof(uint64_t), TSR_ACCESS_NONE, 0);
}

/* Map a whole aligned word. Memory that ends inside one is no memory. */
static enum tsr_step map_word(struct tsr_mem *mem, uint64_t va, bool wide, unsigned int access,
			      uint8_t **ptr)
{
	struct tsr_dirty *dirty = &mem->port->dirty;
	const unsigned int before = dirty->count;
	uint64_t len = wide ? 8 : 4;
	struct tsr_span span;
	enum tsr_step step = tsr_mem_map(mem, va, len, access, &span);

	if (step != TSR_STEP_DONE)
		return step;
	*ptr = span.ptr;
	if (span.len == len && !((uintptr_t)span.ptr % len))
		return TSR_STEP_DONE;
	/* nothing is written; what the step has written before stays noted */
	if (dirty->count == before + 1)
		dirty->count = before;
	return tsr_mmu_fault(mem, TSR_FAULT_BUS, va, access, 0);
}

enum tsr_step tsr_mem_load(struct tsr_mem *mem, uint64_t va, bool wide, uint64_t *value)
{
	uint8_t *ptr;
	enum tsr_step step = map_word(mem, va, wide, TSR_ACCESS_READ, &ptr);

	if (step != TSR_STEP_DONE)
		return step;
	if (!ptr)
		*value = 0;
	else if (wide)
		*value = __atomic_load_n((uint64_t *)ptr, __ATOMIC_ACQUIRE);
	else
		*value = __atomic_load_n((uint32_t *)ptr, __ATOMIC_ACQUIRE);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_mem_store(struct tsr_mem *mem, uint64_t va, bool wide, uint64_t value)
{
	uint8_t *ptr;
	enum tsr_step step = map_word(mem, va, wide, TSR_ACCESS_WRITE, &ptr);

	if (step != TSR_STEP_DONE || !ptr)
		return step;
	if (wide)
		__atomic_store_n((uint64_t *)ptr, value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint32_t *)ptr, (uint32_t)value, __ATOMIC_RELEASE);
	tsr_mem_flush_dirty(mem->port);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_mem_add(struct tsr_mem *mem, uint64_t va, bool wide, uint64_t value)
{
	uint8_t *ptr;
	enum tsr_step step = map_word(mem, va, wide, TSR_ACCESS_WRITE, &ptr);

	if (step != TSR_STEP_DONE || !ptr)
		return step;
	if (wide)
		__atomic_fetch_add((uint64_t *)ptr, value, __ATOMIC_ACQ_REL);
	else
		__atomic_fetch_add((uint32_t *)ptr, (uint32_t)value, __ATOMIC_ACQ_REL);
	tsr_mem_flush_dirty(mem->port);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_mem_fetch(struct tsr_mem *mem, uint64_t va, void *to, uint64_t *len)
{
	struct tsr_span span;
	enum tsr_step step = tsr_mem_map(mem, va, *len, TSR_ACCESS_EXEC, &span);

	if (step != TSR_STEP_DONE)
		return step;
	*len = span.len;
	if (span.ptr)
		memcpy(to, span.ptr, span.len);
	else
		memset(to, 0, span.len);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_mem_read(struct tsr_mem *mem, uint64_t va, void *to, uint64_t len)
{
	uint8_t *out = to;

	while (len) {
		struct tsr_span span;
		enum tsr_step step = tsr_mem_map(mem, va, len, TSR_ACCESS_READ, &span);

		if (step != TSR_STEP_DONE)
			return step;
		if (span.ptr)
			memcpy(out, span.ptr, span.len);
		else
			memset(out, 0, span.len);
		va += span.len;
		out += span.len;
		len -= span.len;
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_mem_write(struct tsr_mem *mem, uint64_t va, const void *from, uint64_t len)
{
	const uint8_t *in = from;
	struct tsr_span span;

	/* Two pages at most, unless the host has them in smaller pieces. */
	for (uint64_t at = 0; at < len; at += span.len) {
		enum tsr_step step = tsr_mem_map(mem, va + at, len - at, TSR_ACCESS_WRITE, &span);

		if (step != TSR_STEP_DONE)
			return step;
		if (span.ptr)
			memcpy(span.ptr, in + at, span.len);
	}
	return TSR_STEP_DONE;
}
