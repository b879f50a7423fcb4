/* SPDX-License-Identifier: MIT */
#include "gpu.h"

void tsr_tlb_clear(struct tsr_tlb *tlb)
{
	for (unsigned int i = 0; i < TSR_TLB_ENTRIES; i++)
		tlb->entry[i].tag = TSR_TLB_NONE;
	for (unsigned int i = 0; i < TSR_TLB_HUGES; i++)
		tlb->huge[i].tag = TSR_TLB_NONE;
	for (unsigned int i = 0; i < TSR_TLB_TABLES; i++)
		tlb->table[i].tag = TSR_TLB_NONE;
}

static uint64_t table_tag(unsigned int as, uint64_t va)
{
	return va >> 21 << 8 | as;
}

static struct tsr_tlb_table *table_slot(struct tsr_tlb *tlb, uint64_t tag)
{
	return &tlb->table[(tag >> 8 ^ tag * 5) % TSR_TLB_TABLES];
}

const uint64_t *tsr_tlb_find_table(struct tsr_tlb *tlb, unsigned int as, uint64_t va)
{
	uint64_t tag = table_tag(as, va);
	struct tsr_tlb_table *slot = table_slot(tlb, tag);

	return slot->tag == tag ? slot->entries : NULL;
}

void tsr_tlb_keep_table(struct tsr_tlb *tlb, unsigned int as, uint64_t va, const uint64_t *entries)
{
	uint64_t tag = table_tag(as, va);
	struct tsr_tlb_table *slot = table_slot(tlb, tag);

	slot->tag = tag;
	slot->entries = entries;
}

/* Whether @record names part of what has @tag (tsr_tlb_tag()), @last the last offset in it. */
static bool names(const struct tsr_inval_record *record, uint64_t tag, uint64_t last)
{
	uint64_t va = tag >> 9 << 12;

	if (tag == TSR_TLB_NONE || (tag >> 1 & 0xff) != record->as)
		return false;
	return record->kind == TSR_INVAL_ALL ||
	       (va <= record->last && (va | last) >= record->first);
}

/* Drop what @record names. */
static void apply(struct tsr_tlb *tlb, const struct tsr_inval_record *record)
{
	bool whole = record->kind == TSR_INVAL_ALL;

	if (record->kind == TSR_INVAL_HOST) {
		tsr_tlb_clear(tlb);
		return;
	}
	for (unsigned int i = 0; i < TSR_TLB_ENTRIES; i++) {
		if (names(record, tlb->entry[i].tag, 0xfff))
			tlb->entry[i].tag = TSR_TLB_NONE;
	}
	for (unsigned int i = 0; i < TSR_TLB_HUGES; i++) {
		if (names(record, tlb->huge[i].tag, 0x1fffff))
			tlb->huge[i].tag = TSR_TLB_NONE;
	}
	for (unsigned int i = 0; i < TSR_TLB_TABLES; i++) {
		struct tsr_tlb_table *t = &tlb->table[i];
		uint64_t va = t->tag >> 8 << 21;

		if (t->tag == TSR_TLB_NONE || (t->tag & 0xff) != record->as)
			continue;
		if (whole || (va <= record->last && (va | 0x1fffff) >= record->first))
			t->tag = TSR_TLB_NONE;
	}
}

void tsr_tlb_sync(struct tsr_runner *runner)
{
	struct tsr_inval *inval = &runner->gpu->inval;

	if (runner->inval_seen == inval->head)
		return;
	if (inval->head - runner->inval_seen > TSR_INVAL_LOG) {
		tsr_tlb_clear(&runner->tlb);
		runner->inval_seen = inval->head;
	}
	while (runner->inval_seen != inval->head)
		apply(&runner->tlb, &inval->log[runner->inval_seen++ % TSR_INVAL_LOG]);
}

/*
 * Count @n completed invalidations of @as. Until now threads may have decoded code
 * and textures with translations they had not dropped yet; what they have kept of it is for nobody
 * from here on.
 */
static void completed(struct tsr_gpu *gpu, unsigned int as, uint32_t n, bool irq)
{
	tsr_mmu_code_changed(gpu, as);
	tsr_mmu_data_changed(gpu, as);
	gpu->as[as].inv_done += n;
	tsr_counter_global(&gpu->counters, TSR_GLOBAL_COUNTER_TLB_INVALIDATIONS, n);
	if (irq)
		tsr_irq_raise(gpu, TSR_IRQ_CLASS_GLOBAL, TSR_GLOBAL_IRQ_TLB_DONE);
}

/* One invalidation is complete, and with it those whose completion was put off by make_room(). */
static void retire(struct tsr_gpu *gpu, const struct tsr_inval_record *record)
{
	struct tsr_inval *inval = &gpu->inval;

	for (unsigned int as = 0; inval->late && as < TSR_ADDRESS_SPACES_MAX; as++) {
		uint32_t late = gpu->as[as].inv_late;

		gpu->as[as].inv_late = 0;
		inval->late -= late;
		if (late)
			completed(gpu, as, late, inval->late_irq);
	}
	inval->late_irq = inval->late_irq && inval->late;
	if (record->kind != TSR_INVAL_HOST)
		completed(gpu, record->as, 1, record->irq);
}

void tsr_inval_complete(struct tsr_gpu *gpu)
{
	struct tsr_inval *inval = &gpu->inval;
	uint64_t passed = inval->head;

	if (inval->done == inval->head)
		return;
	for (unsigned int i = 0; i < gpu->num_runners; i++) {
		const struct tsr_runner *runner = &gpu->runner[i];

		if (tsr_runner_works(runner) && runner->inval_seen < passed)
			passed = runner->inval_seen;
	}
	while (inval->done < passed)
		retire(gpu, &inval->log[inval->done++ % TSR_INVAL_LOG]);
	tsr_gpu_notify_quiet(gpu);
}

/*
 * The log is full of invalidations that are not complete, and nobody can wait here: the completion
 * of the oldest is put off until its successor's. Runners that have not dropped what it named have
 * fallen behind by the whole log, and will drop everything.
 */
static void make_room(struct tsr_gpu *gpu)
{
	struct tsr_inval *inval = &gpu->inval;
	const struct tsr_inval_record *oldest = &inval->log[inval->done % TSR_INVAL_LOG];

	if (inval->head - inval->done < TSR_INVAL_LOG)
		return;
	inval->done++;
	if (oldest->kind == TSR_INVAL_HOST)
		return;
	gpu->as[oldest->as].inv_late++;
	inval->late++;
	inval->late_irq |= oldest->irq;
}

void tsr_inval_start(struct tsr_gpu *gpu, unsigned int kind, unsigned int as, uint64_t first,
		     uint64_t last, bool irq)
{
	struct tsr_inval *inval = &gpu->inval;

	make_room(gpu);
	inval->log[inval->head % TSR_INVAL_LOG] = (struct tsr_inval_record) {
		.kind = kind, .as = as, .irq = irq, .first = first, .last = last,
	};
	inval->head++;
	if (kind != TSR_INVAL_HOST)
		gpu->as[as].inv_started++;
	if (gpu->cfg.check && kind == TSR_INVAL_HOST)
		atomic_store(&gpu->check.started, inval->head);
	else if (gpu->cfg.check)
		tsr_check_invalidated(gpu, as, kind == TSR_INVAL_ALL ? 0 : first,
				      kind == TSR_INVAL_ALL ? UINT64_MAX : last);
	tsr_runners_interrupt(gpu);
	tsr_inval_complete(gpu);
}
