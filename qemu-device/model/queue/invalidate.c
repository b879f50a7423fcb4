/* SPDX-License-Identifier: MIT */
#include "device/gpu.h"

void tsr_tlb_sync(struct tsr_runner *runner)
{
	struct tsr_inval *inval = &runner->gpu->inval;

	if (runner->inval_seen == inval->head)
		return;
	if (inval->head - runner->inval_seen > TSR_INVAL_LOG) {
		tsr_tlb_clear(&runner->own.port.tlb);
		runner->inval_seen = inval->head;
	}
	while (runner->inval_seen != inval->head)
		tsr_tlb_drop(&runner->own.port.tlb,
			     &inval->log[runner->inval_seen++ % TSR_INVAL_LOG]);
}

/*
 * Count @n completed invalidations of @as. Until now threads may have decoded code
 * and textures with translations they had not dropped yet; from here on nothing that was decoded
 * before is used.
 */
static void completed(struct tsr_gpu *gpu, unsigned int as, uint32_t n, bool irq)
{
	tsr_mmu_code_changed(&gpu->mmu, as);
	tsr_mmu_data_changed(&gpu->mmu, as);
	gpu->mmu.as[as].inv_done += n;
	tsr_counter_global(&gpu->counters, TSR_GLOBAL_COUNTER_TLB_INVALIDATIONS, n);
	if (irq)
		tsr_irq_raise(&gpu->irq, TSR_IRQ_CLASS_GLOBAL, TSR_GLOBAL_IRQ_TLB_DONE);
}

/* One invalidation is complete, and with it those that put_off_oldest() has put off. */
static void retire(struct tsr_gpu *gpu, const struct tsr_inval_record *record)
{
	struct tsr_inval *inval = &gpu->inval;

	for (unsigned int as = 0; inval->late && as < TSR_ADDRESS_SPACES_MAX; as++) {
		uint32_t late = gpu->mmu.as[as].inv_late;

		gpu->mmu.as[as].inv_late = 0;
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
static void put_off_oldest(struct tsr_gpu *gpu)
{
	struct tsr_inval *inval = &gpu->inval;
	const struct tsr_inval_record *oldest = &inval->log[inval->done % TSR_INVAL_LOG];

	if (inval->head - inval->done < TSR_INVAL_LOG)
		return;
	inval->done++;
	if (oldest->kind == TSR_INVAL_HOST)
		return;
	gpu->mmu.as[oldest->as].inv_late++;
	inval->late++;
	inval->late_irq |= oldest->irq;
}

void tsr_inval_start(struct tsr_gpu *gpu, unsigned int kind, unsigned int as, uint64_t first,
		     uint64_t last, bool irq)
{
	struct tsr_inval *inval = &gpu->inval;

	put_off_oldest(gpu);
	inval->log[inval->head % TSR_INVAL_LOG] = (struct tsr_inval_record) {
		.kind = kind, .as = as, .irq = irq, .first = first, .last = last,
	};
	inval->head++;
	if (kind != TSR_INVAL_HOST)
		gpu->mmu.as[as].inv_started++;
	if (gpu->cfg.check)
		gpu->hooks->invalidated(gpu, kind == TSR_INVAL_HOST, as,
					kind == TSR_INVAL_ALL ? 0 : first,
					kind == TSR_INVAL_ALL ? UINT64_MAX : last);
	tsr_runners_interrupt(gpu);
	tsr_inval_complete(gpu);
}

void tsr_inval_command(struct tsr_gpu *gpu, unsigned int as, unsigned int op, uint64_t va,
		       uint64_t size, bool irq)
{
	const struct tsr_inject_at at = { .as = as };
	struct tsr_as *space = &gpu->mmu.as[as];
	uint64_t args[4] = { as, op, va, size };
	uint64_t last;

	tsr_trace(gpu, TSR_TRACE_INVALIDATE, args, 4);
	if (op == TSR_INV_OP_ALL) {
		if (gpu->cfg.check)
			gpu->hooks->root(gpu, as, atomic_load(&space->root), space->base);
		atomic_store_explicit(&space->root, space->base, memory_order_release);
	}
	if (op != TSR_INV_OP_NONE && tsr_injected(gpu, TSR_INJECTION_TLB_STALE, &at, NULL)) {
		op = TSR_INV_OP_RANGE;
		size = 0;
	}
	if (op != TSR_INV_OP_NONE &&
	    (space->inv_stuck || tsr_injected(gpu, TSR_INJECTION_INV_STUCK, &at, NULL))) {
		space->inv_started++;
		space->inv_stuck++;
	} else if (op == TSR_INV_OP_ALL) {
		tsr_inval_start(gpu, TSR_INVAL_ALL, as, 0, UINT64_MAX, irq);
	} else if (op == TSR_INV_OP_RANGE) {
		last = size && va + (size - 1) < va ? UINT64_MAX : va + (size - 1);
		if (!size) {	/* an empty range still completes, but names no page */
			va = UINT64_MAX;
			last = 0;
		}
		tsr_inval_start(gpu, TSR_INVAL_RANGE, as, va, last, irq);
	}
}

void tsr_inval_unstick(struct tsr_gpu *gpu)
{
	for (unsigned int as = 0; as < TSR_ADDRESS_SPACES_MAX; as++) {
		struct tsr_as *space = &gpu->mmu.as[as];

		for (; space->inv_stuck; space->inv_stuck--) {
			space->inv_started--;
			tsr_inval_start(gpu, TSR_INVAL_ALL, as, 0, UINT64_MAX, false);
		}
	}
}

void tsr_inval_reset(struct tsr_gpu *gpu)
{
	tsr_mmu_reset(&gpu->mmu);
	gpu->inval.late = 0;
	gpu->inval.late_irq = false;
	tsr_inval_start(gpu, TSR_INVAL_HOST, 0, 0, 0, false);
}
