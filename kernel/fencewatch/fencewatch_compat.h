/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __FENCEWATCH_COMPAT_H__
#define __FENCEWATCH_COMPAT_H__

/*
 * Interfaces that differ between Linux 6.12 and 7.3. Kbuild finds out which ones the headers have.
 */

#include <linux/dma-fence.h>
#include <linux/fprobe.h>
#include <linux/rcupdate.h>

/* Linux 7.3 renamed the state of a grace period. */
#ifdef FENCEWATCH_OLD_RCU
#define fw_grace			rcu_gp_oldstate
#else
#define fw_grace			rcu_gp_seq
#endif

/* Linux 6.14 passes the registers of a probed function in another structure. */
#ifdef FENCEWATCH_OLD_FPROBE_REGS
#define fw_regs				pt_regs
#define fw_argument(regs, n)		regs_get_kernel_argument(regs, n)
#else
#define fw_regs				ftrace_regs
#define fw_argument(regs, n)		ftrace_regs_get_argument(regs, n)
#endif

/*
 * Until 6.13 an fprobe with an exit handler has a fixed number of calls that it can follow at a
 * time.
 */
static inline void fw_fprobe_calls(struct fprobe *probe, int calls)
{
#ifdef FENCEWATCH_OLD_FPROBE_MAXACTIVE
	probe->nr_maxactive = calls;
#endif
}

/* Linux 7.1 clears the pointer when the fence signals, under RCU. Here it is only read before. */
static inline const struct dma_fence_ops *fw_fence_ops(struct dma_fence *fence)
{
#ifdef FENCEWATCH_OLD_OPS
	return READ_ONCE(fence->ops);
#else
	return rcu_dereference_raw(fence->ops);
#endif
}

/* Linux 6.19 moved the width of the sequence numbers from the operations to the fence. */
static inline bool fw_fence_seqno64(struct dma_fence *fence)
{
#ifdef FENCEWATCH_OLD_SEQNO64
	return fw_fence_ops(fence)->use_64bit_seqno;
#else
	return test_bit(DMA_FENCE_FLAG_SEQNO64_BIT, &fence->flags);
#endif
}

/* Since Linux 7.1 a fence has a lock of its own, which NULL asks for. */
static inline spinlock_t *fw_fence_lock(spinlock_t *lock)
{
#ifdef FENCEWATCH_OLD_LOCK
	return lock;
#else
	return NULL;
#endif
}

#endif /* __FENCEWATCH_COMPAT_H__ */
