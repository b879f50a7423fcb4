// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Fprobes on functions of the kernel. They tell who waits for fences, and report waits and locks in
 * sections.
 *
 * The trace point dma_fence_enable_signal is no substitute. It fires only for drivers that have
 * that operation, and not for callbacks, by which drm_sched waits. Without fprobes (CONFIG_FPROBE),
 * the fence's own flag tells that a task waits, a quarter of a second late and without a name.
 */

#include <linux/seq_file.h>
#include <linux/string_choices.h>

#include "fencewatch.h"

static void section_breach(enum fw_rule rule, struct dma_fence *fence, const char *what)
{
	const char *section;

	if (!atomic_read(&fw_sections_running))
		return;
	section = fw_section_enter();
	if (!section)
		return;
	fw_section_report(rule, section, fence, what, 0);
	fw_section_leave();
}

static bool pending(struct dma_fence *fence)
{
	return fence && !test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &fence->flags);
}

static int on_fence(struct fprobe *probe, unsigned long ip, unsigned long caller,
		    struct fw_regs *regs, void *data)
{
	struct dma_fence *fence = (void *)fw_argument(regs, 0);

	if (pending(fence))
		fw_awaited(fence);
	return 0;
}

static int on_wait(struct fprobe *probe, unsigned long ip, unsigned long caller,
		   struct fw_regs *regs, void *data)
{
	struct dma_fence *fence = (void *)fw_argument(regs, 0);

	if (!pending(fence))
		return 0;
	fw_awaited(fence);
	/* Without a timeout the function only looks. */
	if (fw_argument(regs, 2))
		section_breach(FW_WAITS, fence, "waits for a fence");
	return 0;
}

static int on_wait_any(struct fprobe *probe, unsigned long ip, unsigned long caller,
		       struct fw_regs *regs, void *data)
{
	if (fw_argument(regs, 3))
		section_breach(FW_WAITS, NULL, "waits for one of several fences");
	return 0;
}

static int on_resv(struct fprobe *probe, unsigned long ip, unsigned long caller,
		   struct fw_regs *regs, void *data)
{
	section_breach(FW_LOCKS_RESV, NULL, "locks a dma_resv or another ww_mutex");
	return 0;
}

/* Linux 6.17 renamed the second function to the third. */
static struct {
	const char *function;
	struct fprobe probe;
	bool on;
} probes[] = {
	{ "dma_fence_add_callback", { .entry_handler = on_fence } },
	{ "dma_fence_enable_sw_signaling", { .entry_handler = on_fence } },
	{ "dma_fence_enable_signaling", { .entry_handler = on_fence } },
	{ "dma_fence_wait_timeout", { .entry_handler = on_wait } },
	{ "dma_fence_wait_any_timeout", { .entry_handler = on_wait_any } },
	{ "ww_mutex_lock", { .entry_handler = on_resv } },
	{ "ww_mutex_lock_interruptible", { .entry_handler = on_resv } },
};

/* Sets the probes; those that this kernel lacks are shown in the debugfs file. */
int fw_probes_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		probes[i].on = !register_fprobe_syms(&probes[i].probe, &probes[i].function, 1);
	if (!probes[0].on)
		pr_warn("fencewatch: no probe of dma_fence_add_callback: reports will not name who waits\n");
	return 0;
}

/* Removes the probes. */
void fw_probes_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].on)
			unregister_fprobe(&probes[i].probe);
}

/* Prints which functions are probed, and what was missed. */
void fw_probes_show(struct seq_file *m)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		seq_printf(m, "probe %s %s missed %lu\n", probes[i].function,
			   str_on_off(probes[i].on),
			   probes[i].probe.nmissed);
}
