/* SPDX-License-Identifier: MIT */
/* The table of hooks, and what the three parts of the debug unit have in common. */
#include <stdlib.h>

#include "devtools.h"

static bool init(struct tsr_gpu *gpu)
{
	gpu->bench = calloc(1, sizeof(*gpu->bench));
	if (!gpu->bench)
		return false;
	tsr_inject_init(gpu);
	tsr_check_init(gpu);
	tsr_capture_init(gpu);
	atomic_store(&gpu->mmu.watched, gpu->cfg.check);
	return true;
}

static void release(struct tsr_gpu *gpu)
{
	if (!gpu->bench)
		return;
	tsr_inject_free(gpu);
	tsr_check_free(gpu);
	tsr_capture_free(gpu);
	free(gpu->bench);
	gpu->bench = NULL;
}

/* True if *@offset is in the @size bytes at @base. It becomes relative to @base. */
static bool in_block(uint32_t *offset, uint32_t base, uint32_t size)
{
	if (*offset < base || *offset - base >= size)
		return false;
	*offset -= base;
	return true;
}

static bool read_register(struct tsr_gpu *gpu, uint32_t offset, uint32_t *value)
{
	if (gpu->cfg.inject_window && in_block(&offset, TSR_INJECT__OFFSET, TSR_INJECT_BYTES))
		*value = tsr_inject_read(gpu, offset);
	else if (gpu->cfg.inject_window && in_block(&offset, TSR_CAPTURE__OFFSET,
						    TSR_CAPTURE_BYTES))
		*value = tsr_capture_read(gpu, offset);
	else if (gpu->cfg.check && in_block(&offset, TSR_CHECK__OFFSET, TSR_CHECK_BYTES))
		*value = tsr_check_read(gpu, offset);
	else
		return false;
	return true;
}

static bool write_register(struct tsr_gpu *gpu, uint32_t offset, uint32_t value)
{
	if (gpu->cfg.inject_window && in_block(&offset, TSR_INJECT__OFFSET, TSR_INJECT_BYTES)) {
		tsr_inject_write(gpu, offset, value);
		tsr_sched_kick(gpu);
	} else if (gpu->cfg.inject_window && in_block(&offset, TSR_CAPTURE__OFFSET,
						      TSR_CAPTURE_BYTES)) {
		tsr_capture_write(gpu, offset, value);
	} else if (gpu->cfg.check && in_block(&offset, TSR_CHECK__OFFSET, TSR_CHECK_BYTES)) {
		tsr_check_write(gpu, offset, value);
	} else {
		return false;
	}
	return true;
}

/* Translations are shown to both that want to see them. */
static void watch_access(struct tsr_mem *mem, uint64_t va, unsigned int access,
			 const struct tsr_tlb_entry *e)
{
	if (mem->gpu->cfg.check)
		tsr_check_access(mem, va, access, e);
	if (atomic_load_explicit(&mem->gpu->hooked.capturing, memory_order_relaxed))
		tsr_capture_touch(mem, va, e);
}

const struct tsr_hooks tsr_devtools = {
	.init = init,
	.free = release,
	.reset = tsr_check_reset,
	.read = read_register,
	.write = write_register,
	.arm = tsr_inject_arm,
	.injected = tsr_inject_ask,
	.walk = tsr_inject_walk,
	.fence = tsr_inject_fence,
	.message = tsr_inject_message,
	.stop = tsr_inject_stop,
	.reset_register = tsr_inject_reset,
	.flr = tsr_inject_flr,
	.silent = tsr_inject_gone,
	.hangs = tsr_inject_hangs,
	.slow = tsr_inject_slow,
	.copied = tsr_inject_corrupt,
	.access = watch_access,
	.call = tsr_capture_begin,
	.call_end = tsr_capture_end,
	.wrote = tsr_check_wrote,
	.irq = tsr_check_irq,
	.root = tsr_check_root,
	.invalidated = tsr_check_invalidated,
	.enabled = tsr_check_enabled,
	.doorbell = tsr_check_doorbell,
	.doorbell_disabled = tsr_check_doorbell_disabled,
	.fetched = tsr_check_fetched,
	.fenced = tsr_check_fence,
	.stopped = tsr_check_stopped,
	.faulted = tsr_check_faulted,
};
