// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * A mistake of the module's own, made on request: a fence that signals with a positive error. The
 * report shows that the module works on this kernel, although no driver breaks a rule.
 */

#include <linux/slab.h>

#include "fencewatch.h"

static const char *name(struct dma_fence *fence)
{
	return KBUILD_MODNAME;
}

static const struct dma_fence_ops ops = {
	.get_driver_name = name,
	.get_timeline_name = name,
};

/* The default release() frees the object with the fence that it begins with, after RCU readers. */
struct test_fence {
	struct dma_fence base;
	spinlock_t lock;	/* of base, before Linux 7.1 */
};

/* Breaks ERROR_ODD once; returns 0 or -ENOMEM. */
int fw_selftest(void)
{
	struct test_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return -ENOMEM;
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, &ops, fw_fence_lock(&fence->lock), dma_fence_context_alloc(1),
		       1);
	/* dma_fence_set_error() warns of such an error. */
	fence->base.error = EIO;
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
	return 0;
}
