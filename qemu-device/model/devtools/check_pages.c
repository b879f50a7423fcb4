/* SPDX-License-Identifier: MIT */
/* The contract checker's view of memory: translations that are stale, pages that are freed. */
#include <stdlib.h>

#include "devtools.h"

#define PAGE_BYTES (1ull << TSR_PAGE_SHIFT)
/* Chunks of one hash value that are looked at; what finds no place is not watched. */
#define PROBES 16

enum { UNKNOWN, FREED, TAKEN_ONCE };

/* ---- Freed memory ---------------------------------------------------------------------------- */

/* The chunk of @number; made if @make and there is room. NULL: not watched. */
static struct tsr_check_chunk *find_chunk(struct tsr_check *check, uint64_t number, bool make)
{
	for (uint64_t i = 0; i < PROBES; i++) {
		_Atomic(struct tsr_check_chunk *) *slot =
			&check->chunk[(number * 31 + i) % TSR_CHECK_CHUNKS];
		struct tsr_check_chunk *chunk = atomic_load_explicit(slot, memory_order_acquire);

		if (chunk && chunk->number == number)
			return chunk;
		if (chunk)
			continue;
		chunk = make ? calloc(1, sizeof(*chunk)) : NULL;
		if (!chunk)
			return NULL;
		chunk->number = number;
		atomic_store_explicit(slot, chunk, memory_order_release);
		return chunk;
	}
	return NULL;
}

static _Atomic uint8_t *find_page(struct tsr_check *check, uint64_t addr, bool make)
{
	uint64_t page = addr / PAGE_BYTES;
	struct tsr_check_chunk *chunk = find_chunk(check, page / TSR_CHECK_CHUNK_PAGES, make);

	return chunk ? &chunk->page[page % TSR_CHECK_CHUNK_PAGES] : NULL;
}

/* Chunks stay where they are: others may be looking at them. */
static void forget_pages(struct tsr_check *check)
{
	for (unsigned int i = 0; i < TSR_CHECK_CHUNKS; i++) {
		struct tsr_check_chunk *chunk =
			atomic_load_explicit(&check->chunk[i], memory_order_relaxed);

		for (unsigned int n = 0; chunk && n < TSR_CHECK_CHUNK_PAGES; n++)
			atomic_store_explicit(&chunk->page[n], UNKNOWN, memory_order_relaxed);
	}
}

void tsr_check_pages(struct tsr_gpu *gpu, unsigned int op, uint64_t addr, uint64_t size)
{
	uint64_t first = addr / PAGE_BYTES * PAGE_BYTES, last;

	if (op == TSR_CHECK_PAGES_FORGET) {
		forget_pages(&gpu->bench->check);
		return;
	}
	if (!size || size > TSR_CHECK_PAGES_MAX || addr + (size - 1) < addr)
		return;
	last = addr + (size - 1);
	for (uint64_t at = first; at <= last && at >= first; at += PAGE_BYTES) {
		_Atomic uint8_t *page = find_page(&gpu->bench->check, at, true);
		unsigned int users = page ? atomic_load_explicit(page, memory_order_relaxed) : 0;

		if (!page || users == UINT8_MAX)
			continue;
		if (op == TSR_CHECK_PAGES_TAKEN)
			users = users < TAKEN_ONCE ? TAKEN_ONCE : users + 1;
		else if (op == TSR_CHECK_PAGES_FREED)
			users = users > FREED ? users - 1 : FREED;
		atomic_store_explicit(page, users, memory_order_relaxed);
	}
}

/* The page that @e leads to has been freed: report that once. */
static void check_freed(struct tsr_mem *mem, uint64_t va, const struct tsr_tlb_entry *e)
{
	_Atomic uint8_t *page = find_page(&mem->gpu->bench->check, e->phys, false);
	uint8_t freed = FREED;

	if (!page || !atomic_compare_exchange_strong(page, &freed, UNKNOWN))
		return;
	tsr_check_report(mem->gpu, (struct tsr_check_event) {
		.kind = TSR_CHECK_KIND_FREED_PAGE, .queue = mem->queue, .as = mem->as,
		.addr = va, .was = e->phys,
	});
}

/* ---- Translations ---------------------------------------------------------------------------- */

/*
 * Note a suspicion, unless an invalidation has started that the runner has not seen: it may be of
 * this very address. tsr_check_invalidated() counts before it takes the lock.
 */
static void suspect(struct tsr_mem *mem, uint64_t va, uint64_t was, uint64_t is)
{
	struct tsr_check *check = &mem->gpu->bench->check;
	const struct tsr_queue *q = mem->queue;
	uint64_t page = va / PAGE_BYTES * PAGE_BYTES;
	bool known = false;

	pthread_mutex_lock(&check->lock);
	for (unsigned int i = 0; i < check->suspects; i++)
		known |= check->suspect[i].addr == page && check->suspect[i].as == mem->as;
	if (!known && check->suspects < TSR_CHECK_SUSPECTS &&
	    mem->runner->inval_seen == atomic_load(&check->started))
		check->suspect[check->suspects++] = (struct tsr_check_event) {
			.kind = TSR_CHECK_KIND_STALE_TRANSLATION, .queue = q, .as = mem->as,
			.job = q ? atomic_load(&q->calls) + atomic_load(&q->in_call) : 0,
			.when = mem->gpu->ops->clock(mem->gpu->host), .addr = page,
			.was = was, .is = is,
		};
	atomic_store_explicit(&check->suspicious, check->suspects, memory_order_relaxed);
	pthread_mutex_unlock(&check->lock);
}

static void check_stale(struct tsr_mem *mem, uint64_t va, unsigned int access,
			const struct tsr_tlb_entry *e)
{
	struct tsr_walk walk;
	uint64_t entry = 0;

	switch (tsr_mmu_peek(&mem->gpu->mmu, mem->as, va, &walk, &entry)) {
	case TSR_MMU_PEEK_FOUND:
		if (walk.null == !e->ptr && (walk.perms & access) &&
		    (walk.null || (walk.phys == e->phys && walk.local == e->local)))
			return;
		break;
	case TSR_MMU_PEEK_NOTHING:
		break;
	case TSR_MMU_PEEK_UNKNOWN:
		return;
	}
	suspect(mem, va, e->phys, entry);
}

void tsr_check_access(struct tsr_mem *mem, uint64_t va, unsigned int access,
		      const struct tsr_tlb_entry *e)
{
	if (e->ptr && !e->local)
		check_freed(mem, va, e);
	if (mem->runner->inval_seen == atomic_load(&mem->gpu->bench->check.started))
		check_stale(mem, va, access, e);
}

void tsr_check_invalidated(struct tsr_gpu *gpu, bool host, unsigned int as, uint64_t first,
			   uint64_t last)
{
	struct tsr_check *check = &gpu->bench->check;
	unsigned int kept = 0;

	atomic_store(&check->started, gpu->inval.head);
	if (host)
		return;
	/* for some it comes too late */
	if (atomic_load_explicit(&check->suspicious, memory_order_relaxed))
		tsr_check_suspects(gpu, gpu->ops->clock(gpu->host));
	pthread_mutex_lock(&check->lock);
	for (unsigned int i = 0; i < check->suspects; i++) {
		const struct tsr_check_event *s = &check->suspect[i];

		if (s->as != as || s->addr > last || (s->addr | (PAGE_BYTES - 1)) < first)
			check->suspect[kept++] = *s;
	}
	check->suspects = kept;
	atomic_store_explicit(&check->suspicious, kept, memory_order_relaxed);
	pthread_mutex_unlock(&check->lock);
}
