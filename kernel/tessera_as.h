/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_AS_H__
#define __TESSERA_AS_H__

#include <linux/sizes.h>
#include <linux/types.h>

struct sg_table;
struct tessera_device;
struct tessera_pgtable;
struct tessera_pt_pool;
struct tessera_ring;

/*
 * The address space of the kernel: rings, fence words, words of perfmons; what is shown of BOs, for
 * reading. Nothing else.
 */
#define TESSERA_KERNEL_AS 0
#define TESSERA_SCANOUT_VA	SZ_8G
#define TESSERA_SCANOUT_SIZE	(8ULL * SZ_8G)

/* Perfmons that have words there. */
#define TESSERA_COUNTERS_SLOTS 256

int tessera_as_alloc(struct tessera_device *tdev);
void tessera_as_free(struct tessera_device *tdev, int as);
int tessera_as_program(struct tessera_device *tdev, int as, const struct tessera_pgtable *pgt);
void tessera_as_set(struct tessera_device *tdev, int as, const struct tessera_pgtable *pgt);

/*
 * Taking memory away from the device: binds, heaps, rings, the end of VMs and the
 * shrinker all do it by these. Clear, invalidate, only then free.
 */
int tessera_as_invalidate(struct tessera_device *tdev, int as, u64 va, u64 size);
void tessera_as_take(struct tessera_device *tdev, int as, struct tessera_pgtable *pgt,
		     struct tessera_pt_pool *pool, u64 va, u64 size);

/**
 * struct tessera_ring - ring memory of one slot
 */
struct tessera_ring {
	/** @cpu: The ring, NULL if there is none. */
	__le64 *cpu;
	/** @dma: Its bus address. */
	dma_addr_t dma;
	/** @size: Its size in bytes, a power of two. */
	u32 size;
	/** @va: Its address in the kernel's address space. */
	u64 va;
};

int tessera_kernel_as_init(struct tessera_device *tdev);
int tessera_kernel_as_enable(struct tessera_device *tdev);
void tessera_kernel_as_fini(struct tessera_device *tdev);
int tessera_ring_map(struct tessera_device *tdev, u32 slot, u32 size, struct tessera_ring *ring);
void tessera_ring_unmap(struct tessera_device *tdev, struct tessera_ring *ring);
int tessera_kernel_as_map(struct tessera_device *tdev, u64 va, u64 size, struct sg_table *sgt,
			  u64 local, bool write);
void tessera_kernel_as_unmap(struct tessera_device *tdev, u64 va, u64 size);
u64 tessera_fence_word_va(u32 slot);
__le64 *tessera_fence_word(struct tessera_device *tdev, u32 slot);

int tessera_counters_alloc(struct tessera_device *tdev);
void tessera_counters_free(struct tessera_device *tdev, u32 slot);
u64 tessera_counters_va(u32 slot);
int tessera_counters_read(struct tessera_device *tdev, u32 slot, u64 *words, u32 count);

#endif
