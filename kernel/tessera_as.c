// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Address spaces
 *
 * The hardware has a fixed number of address space slots. Each slot holds the root
 * of a page table, and its number tags cached translations. A slot takes a new root
 * together with an invalidation of all its translations. An invalidation is complete
 * when no engine uses an old translation any more. It completes in bounded time,
 * whatever the queues do.
 *
 * Slot 0 belongs to the kernel. The device fetches rings and writes fence words
 * through it. A VM gets one of the other slots with its first queue and keeps it
 * until its last queue is destroyed.
 *
 * The layout of the kernel's address space is fixed: the page of fence words, the
 * words of perfmons, one range for the ring of each queue slot, and the range in
 * which tessera_framebuffer.c maps framebuffers.
 */

#include <linux/bitfield.h>
#include <linux/bitmap.h>
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "tessera_as.h"
#include "tessera_check.h"
#include "tessera_device.h"
#include "tessera_mmu.h"
#include "tessera_perfmon.h"

/* Far beyond one burst of an engine, also on a starved host. */
#define INVALIDATE_TIMEOUT_US	(10 * USEC_PER_SEC)
/*
 * In reclaim a task that only wants memory pays for the wait. Once the device is cut off, the other
 * invalidations of the same reclaim return at once.
 */
#define INVALIDATE_RECLAIM_US	(2 * USEC_PER_SEC)
/* An idle device is done before the first look. */
#define INVALIDATE_SPINS	64

#define FENCE_WORDS_VA		SZ_1M
#define FENCE_WORD_STRIDE	64
#define COUNTERS_VA		(SZ_1M + SZ_512K)
#define COUNTERS_STRIDE		(TESSERA_NUM_COUNTERS * sizeof(u64))
#define RING_VA(slot)		(SZ_2M + ((u64)(slot) << TSR_RING_LOG2_MAX))

/**
 * struct tessera_kernel_as - the kernel's address space
 */
struct tessera_kernel_as {
	/** @lock: Protects @pgt; below &tessera_queue.lock, nothing allocates under it. */
	struct mutex lock;
	/** @pgt: Page table, NULL once the device is gone. */
	struct tessera_pgtable *pgt;
	/** @fences: One 64-bit fence word for each slot, FENCE_WORD_STRIDE apart. */
	void *fences;
	/** @fences_dma: Bus address of @fences. */
	dma_addr_t fences_dma;
	/** @counters: Words of perfmons, COUNTERS_STRIDE apart; protected by @lock. */
	void *counters;
	/** @counters_dma: Bus address of @counters. */
	dma_addr_t counters_dma;
	/** @counters_used: Which of them are taken. */
	DECLARE_BITMAP(counters_used, TESSERA_COUNTERS_SLOTS);
};

static size_t fences_size(void)
{
	return PAGE_ALIGN(TSR_QUEUES_MAX * FENCE_WORD_STRIDE);
}

/**
 * tessera_as_alloc() - take an address space slot
 * @tdev: device
 *
 * Return: its number or -ENOSPC.
 */
int tessera_as_alloc(struct tessera_device *tdev)
{
	unsigned long as;

	mutex_lock(&tdev->as_slots.lock);
	as = find_next_zero_bit(tdev->as_slots.used, tdev->info.num_as, TESSERA_KERNEL_AS + 1);
	if (as < tdev->info.num_as)
		__set_bit(as, tdev->as_slots.used);
	mutex_unlock(&tdev->as_slots.lock);

	return as < tdev->info.num_as ? (int)as : -ENOSPC;
}

/**
 * tessera_as_free() - give an address space slot back
 * @tdev: device
 * @as: a number from tessera_as_alloc(), switched off
 */
void tessera_as_free(struct tessera_device *tdev, int as)
{
	mutex_lock(&tdev->as_slots.lock);
	__clear_bit(as, tdev->as_slots.used);
	mutex_unlock(&tdev->as_slots.lock);
}

/*
 * True if the wait is over: the slot is idle, the device has gone, or its state is not @before any
 * more.
 */
static bool as_settled(struct tessera_device *tdev, u32 status, enum tessera_state before)
{
	if (!(status & TSR_AS_STATUS_BUSY__MASK) || tessera_state(tdev) != before)
		return true;

	return status == U32_MAX && !tessera_device_present(tdev);
}

/*
 * Start an invalidation and wait for its end, or that of the state the device is in.
 * Inside the gate, or by recovery. Returns -EIO if the device does not confirm it, -ENODEV if the
 * device has gone and the state does not say so yet.
 */
static int as_command(struct tessera_device *tdev, int as, enum tsr_inv_op op)
{
	enum tessera_state before = tessera_state(tdev);
	u64 timeout_us = INVALIDATE_TIMEOUT_US;
	bool settled = false;
	unsigned int spins;
	u32 status = 0;

	if (current->flags & PF_MEMALLOC)
		timeout_us = INVALIDATE_RECLAIM_US;

	/* Entries before the command; under emulation a weaker barrier may be none. */
	mb();
	tessera_write(tdev, TSR_REG_AS_COMMAND(as), FIELD_PREP(TSR_AS_COMMAND_OP__MASK, op));

	for (spins = 0; spins < INVALIDATE_SPINS && !settled; spins++) {
		status = tessera_read(tdev, TSR_REG_AS_STATUS(as));
		settled = as_settled(tdev, status, before);
		cpu_relax();
	}
	if (!settled && read_poll_timeout(tessera_read, status, as_settled(tdev, status, before),
					  20, timeout_us, false, tdev, TSR_REG_AS_STATUS(as))) {
		drm_err(&tdev->drm, "invalidation of address space %d does not end\n", as);
		return -EIO;
	}

	return status == U32_MAX && tessera_state(tdev) == before ? -ENODEV : 0;
}

/**
 * tessera_as_program() - give an address space a page table
 * @tdev: device within reach: inside the gate, or by recovery
 * @as: address space
 * @pgt: page table, or NULL to switch it off
 *
 * Return: 0, -EIO if the device does not confirm it, or -ENODEV if it has gone.
 */
int tessera_as_program(struct tessera_device *tdev, int as, const struct tessera_pgtable *pgt)
{
	tessera_write64(tdev, TSR_REG_AS_BASE(as), pgt ? tessera_pgtable_root(pgt) : 0);

	return as_command(tdev, as, TSR_INV_OP_ALL);
}

/**
 * tessera_as_set() - give a VM's address space a page table, or take it away
 * @tdev: device
 * @as: address space
 * @pgt: page table, or NULL
 *
 * A device that is not within reach has its address spaces off, and gets them back from
 * tessera_vms_restore(); so the caller holds &tessera_device.reset.lock, which excludes
 * that. Taking the page table away cannot fail: when this returns the device does not
 * use it any more, see tessera_as_invalidate().
 */
void tessera_as_set(struct tessera_device *tdev, int as, const struct tessera_pgtable *pgt)
{
	int cookie;

	lockdep_assert_held(&tdev->reset.lock);

	if (!tessera_enter(tdev, &cookie))
		return;
	if (tessera_as_program(tdev, as, pgt))
		tessera_cut_off(tdev);
	tessera_leave(tdev, cookie);
}

/**
 * tessera_as_invalidate() - make the device forget translations
 * @tdev: device
 * @as: address space, or -1: nothing uses the page table
 * @va: first address
 * @size: bytes
 *
 * The second step of removing memory from the device: clear the entries, invalidate,
 * free. Calls for one address space must not overlap, so the caller holds the lock of its
 * page table. The function may be called anywhere except in interrupts, also where fences
 * wait for it and in reclaim.
 *
 * **When this returns, no engine accesses the old mappings of the range.** The memory can
 * be freed, and so can tables that were removed from the tree. This cannot fail: either
 * the device has confirmed the invalidation, or it is no bus master. A device that does not
 * confirm within ten seconds, or two in reclaim, is cut off (tessera_cut_off()), and one that has
 * gone at once. The reset escalation brings it back without cached translations.
 *
 * Return: 0, or -EIO if the device was there and has not confirmed.
 */
int tessera_as_invalidate(struct tessera_device *tdev, int as, u64 va, u64 size)
{
	int cookie, ret;

	if (as < 0 || !tessera_enter(tdev, &cookie))
		return 0;

	tessera_write64(tdev, TSR_REG_AS_INV_VA(as), va);
	tessera_write64(tdev, TSR_REG_AS_INV_SIZE(as), size);
	ret = as_command(tdev, as, TSR_INV_OP_RANGE);
	if (ret)
		tessera_cut_off(tdev);
	tessera_leave(tdev, cookie);

	return ret == -EIO ? ret : 0;
}

/**
 * tessera_as_take() - take a range of an address space away from the device
 * @tdev: device
 * @as: address space, or -1
 * @pgt: its page table, whose lock the caller holds
 * @pool: filled by tessera_pt_reserve_unmap(), or the ends of the range are those of mappings
 * @va: first address
 * @size: bytes
 *
 * When this returns, what was mapped there can be freed, and @pool as well: see
 * tessera_as_invalidate().
 */
void tessera_as_take(struct tessera_device *tdev, int as, struct tessera_pgtable *pgt,
		     struct tessera_pt_pool *pool, u64 va, u64 size)
{
	tessera_pt_unmap(pgt, pool, va, size);
	if (pool->dirty)
		tessera_as_invalidate(tdev, as, va, size);
}

/* Inside drm_dev_enter() or before the device is registered, so the table is there. */
static int kernel_as_map(struct tessera_device *tdev, u64 va, u64 size, dma_addr_t dma, u64 bits)
{
	struct tessera_kernel_as *kas = tdev->kernel_as;
	struct tessera_pt_pool pool;
	int ret;

	tessera_pt_pool_init(&pool);
	ret = tessera_pt_reserve_map(kas->pgt, &pool, va, size, false);
	if (!ret) {
		mutex_lock(&kas->lock);
		tessera_pt_map(kas->pgt, &pool, va, size, dma, bits);
		mutex_unlock(&kas->lock);
	}
	tessera_pt_pool_fini(tdev->drm.dev, &pool);

	return ret;
}

/**
 * tessera_kernel_as_init() - make the kernel's address space
 * @tdev: device
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_kernel_as_init(struct tessera_device *tdev)
{
	struct device *dev = tdev->drm.dev;
	struct tessera_kernel_as *kas;
	int ret;

	kas = drmm_kzalloc(&tdev->drm, sizeof(*kas), GFP_KERNEL);
	if (!kas)
		return -ENOMEM;

	ret = drmm_mutex_init(&tdev->drm, &kas->lock);
	if (ret)
		return ret;
	tessera_prime_lock(&kas->lock);

	kas->pgt = tessera_pgtable_create(dev, &tdev->info, NULL);
	if (!kas->pgt)
		return -ENOMEM;

	tdev->kernel_as = kas;
	kas->fences = dma_alloc_coherent(dev, fences_size(), &kas->fences_dma, GFP_KERNEL);
	if (!kas->fences) {
		ret = -ENOMEM;
		goto err_fini;
	}

	tessera_check_taken(tdev, kas->fences_dma, fences_size());
	ret = kernel_as_map(tdev, FENCE_WORDS_VA, fences_size(), kas->fences_dma,
			    TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK);
	if (ret)
		goto err_fini;

	kas->counters = dma_alloc_coherent(dev, TESSERA_COUNTERS_SLOTS * COUNTERS_STRIDE,
					   &kas->counters_dma, GFP_KERNEL);
	if (!kas->counters) {
		ret = -ENOMEM;
		goto err_fini;
	}

	tessera_check_taken(tdev, kas->counters_dma, TESSERA_COUNTERS_SLOTS * COUNTERS_STRIDE);
	ret = kernel_as_map(tdev, COUNTERS_VA, TESSERA_COUNTERS_SLOTS * COUNTERS_STRIDE,
			    kas->counters_dma, TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK);
	if (ret)
		goto err_fini;

	return 0;

err_fini:
	tessera_kernel_as_fini(tdev);
	return ret;
}

/**
 * tessera_kernel_as_enable() - tell the device about the kernel's address space
 * @tdev: device, by recovery or before it is registered
 *
 * After probe and after each reset of the device.
 *
 * Return: 0 or -EIO.
 */
int tessera_kernel_as_enable(struct tessera_device *tdev)
{
	return tessera_as_program(tdev, TESSERA_KERNEL_AS, tdev->kernel_as->pgt);
}

/**
 * tessera_kernel_as_fini() - free the kernel's address space
 * @tdev: device that is stopped for good
 *
 * Rings that are still mapped are not touched.
 */
void tessera_kernel_as_fini(struct tessera_device *tdev)
{
	struct tessera_kernel_as *kas = tdev->kernel_as;

	mutex_lock(&kas->lock);
	tessera_pgtable_destroy(kas->pgt);
	kas->pgt = NULL;
	if (kas->counters)
		dma_free_coherent(tdev->drm.dev, TESSERA_COUNTERS_SLOTS * COUNTERS_STRIDE,
				  kas->counters, kas->counters_dma);
	kas->counters = NULL;
	mutex_unlock(&kas->lock);

	if (kas->fences)
		dma_free_coherent(tdev->drm.dev, fences_size(), kas->fences, kas->fences_dma);
	kas->fences = NULL;
}

/**
 * tessera_ring_map() - allocate a ring and map it for the device
 * @tdev: device, inside drm_dev_enter()
 * @slot: queue slot
 * @size: bytes, a power of two
 * @ring: filled in
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_ring_map(struct tessera_device *tdev, u32 slot, u32 size, struct tessera_ring *ring)
{
	int ret;

	ring->cpu = dma_alloc_coherent(tdev->drm.dev, size, &ring->dma,
				       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!ring->cpu)
		return -ENOMEM;

	tessera_check_taken(tdev, ring->dma, size);
	ring->size = size;
	ring->va = RING_VA(slot);
	ret = kernel_as_map(tdev, ring->va, size, ring->dma,
			    TSR_PTE_READ__MASK | TSR_PTE_EXEC__MASK);
	if (ret) {
		tessera_check_freed(tdev, ring->dma, size);
		dma_free_coherent(tdev->drm.dev, size, ring->cpu, ring->dma);
		ring->cpu = NULL;
	}

	return ret;
}

/**
 * tessera_ring_unmap() - take a ring away from the device and free it
 * @tdev: device
 * @ring: ring of a slot that is disabled; may be empty
 */
void tessera_ring_unmap(struct tessera_device *tdev, struct tessera_ring *ring)
{
	if (!ring->cpu)
		return;

	tessera_kernel_as_unmap(tdev, ring->va, ring->size);
	tessera_check_freed(tdev, ring->dma, ring->size);
	dma_free_coherent(tdev->drm.dev, ring->size, ring->cpu, ring->dma);
	ring->cpu = NULL;
}

/**
 * tessera_kernel_as_map() - map memory of a BO in the kernel's address space
 * @tdev: device, inside drm_dev_enter()
 * @va: where, in the range for scan-out
 * @size: bytes of the BO
 * @sgt: its memory, or NULL if that is local memory
 * @local: its offset in local memory
 * @write: for writing, else for reading
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_kernel_as_map(struct tessera_device *tdev, u64 va, u64 size, struct sg_table *sgt,
			  u64 local, bool write)
{
	u64 access = write ? TSR_PTE_WRITE__MASK : TSR_PTE_READ__MASK;
	struct tessera_kernel_as *kas = tdev->kernel_as;
	struct tessera_pt_pool pool;
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	tessera_pt_pool_init(&pool);
	ret = tessera_pt_reserve_map(kas->pgt, &pool, va, size, false);
	if (ret)
		goto out;

	mutex_lock(&kas->lock);
	if (!sgt) {
		tessera_pt_map(kas->pgt, &pool, va, size, local, access | TSR_PTE_LOCAL__MASK);
	} else {
		for_each_sgtable_dma_sg(sgt, sg, i) {
			u64 len = min_t(u64, sg_dma_len(sg), size);

			if (!len)
				break;
			tessera_pt_map(kas->pgt, &pool, va, len, sg_dma_address(sg), access);
			va += len;
			size -= len;
		}
	}
	mutex_unlock(&kas->lock);

out:
	tessera_pt_pool_fini(tdev->drm.dev, &pool);
	return ret;
}

/**
 * tessera_kernel_as_unmap() - the end of tessera_kernel_as_map()
 * @tdev: device, or what is left of it
 * @va: where
 * @size: bytes
 *
 * When this returns the device does not read there any more.
 */
void tessera_kernel_as_unmap(struct tessera_device *tdev, u64 va, u64 size)
{
	struct tessera_kernel_as *kas = tdev->kernel_as;
	struct tessera_pt_pool pool;

	tessera_pt_pool_init(&pool);

	mutex_lock(&kas->lock);
	if (kas->pgt) {
		tessera_as_take(tdev, TESSERA_KERNEL_AS, kas->pgt, &pool, va, size);
		tessera_pt_pool_fini(tdev->drm.dev, &pool);
	}
	mutex_unlock(&kas->lock);
}

/**
 * tessera_fence_word_va() - where the device writes the fence value of a slot
 * @slot: queue slot
 *
 * Return: address in the kernel's address space.
 */
u64 tessera_fence_word_va(u32 slot)
{
	return FENCE_WORDS_VA + slot * FENCE_WORD_STRIDE;
}

/**
 * tessera_fence_word() - where the CPU reads the fence value of a slot
 * @tdev: device
 * @slot: queue slot
 *
 * Return: pointer, valid until tessera_kernel_as_fini().
 */
__le64 *tessera_fence_word(struct tessera_device *tdev, u32 slot)
{
	return tdev->kernel_as->fences + slot * FENCE_WORD_STRIDE;
}

/**
 * tessera_counters_alloc() - take the words of a perfmon
 * @tdev: device
 *
 * Return: their number, or -ENOSPC, or -ENODEV if the device is gone.
 */
int tessera_counters_alloc(struct tessera_device *tdev)
{
	struct tessera_kernel_as *kas = tdev->kernel_as;
	unsigned long slot = TESSERA_COUNTERS_SLOTS;
	int ret = -ENODEV;

	mutex_lock(&kas->lock);
	if (kas->counters) {
		slot = find_first_zero_bit(kas->counters_used, TESSERA_COUNTERS_SLOTS);
		ret = slot < TESSERA_COUNTERS_SLOTS ? (int)slot : -ENOSPC;
	}
	if (ret >= 0) {
		__set_bit(slot, kas->counters_used);
		memset(kas->counters + slot * COUNTERS_STRIDE, 0, COUNTERS_STRIDE);
	}
	mutex_unlock(&kas->lock);

	return ret;
}

/**
 * tessera_counters_free() - give the words of a perfmon back
 * @tdev: device
 * @slot: their number; no job names them any more
 */
void tessera_counters_free(struct tessera_device *tdev, u32 slot)
{
	struct tessera_kernel_as *kas = tdev->kernel_as;

	mutex_lock(&kas->lock);
	__clear_bit(slot, kas->counters_used);
	mutex_unlock(&kas->lock);
}

/**
 * tessera_counters_va() - where the device writes the words of a perfmon
 * @slot: their number
 *
 * Return: address in the kernel's address space.
 */
u64 tessera_counters_va(u32 slot)
{
	return COUNTERS_VA + slot * COUNTERS_STRIDE;
}

/**
 * tessera_counters_read() - read the words of a perfmon
 * @tdev: device
 * @slot: their number
 * @words: filled in
 * @count: how many
 *
 * Return: 0, or -ENODEV if the device is gone.
 */
int tessera_counters_read(struct tessera_device *tdev, u32 slot, u64 *words, u32 count)
{
	struct tessera_kernel_as *kas = tdev->kernel_as;
	const __le64 *word;
	int ret = -ENODEV;
	u32 i;

	mutex_lock(&kas->lock);
	if (kas->counters) {
		word = kas->counters + slot * COUNTERS_STRIDE;
		for (i = 0; i < count; i++)
			words[i] = le64_to_cpu(READ_ONCE(word[i]));
		ret = 0;
	}
	mutex_unlock(&kas->lock);

	return ret;
}
