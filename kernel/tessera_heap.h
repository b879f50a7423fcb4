/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_HEAP_H__
#define __TESSERA_HEAP_H__

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/workqueue.h>

#include "tessera_mmu.h"

struct drm_device;
struct drm_file;
struct tessera_queue;
struct tessera_vm;

/**
 * struct tessera_heap_chunk - memory of a heap
 */
struct tessera_heap_chunk {
	/** @cpu: The memory, NULL if there is none. */
	void *cpu;
	/** @dma: Its bus address. */
	dma_addr_t dma;
};

/**
 * struct tessera_heap - a tiler heap
 *
 * A range of a VM whose first @mapped bytes have memory. The device may use the
 * first @committed of them, and asks for what it needs beyond that.
 */
struct tessera_heap {
	/** @ref: Held by the file's table and by each job. */
	struct kref ref;
	/** @vm: VM it is in, a reference. */
	struct tessera_vm *vm;
	/** @release_work: Teardown. */
	struct work_struct release_work;
	/** @va: Start of the range; constant. */
	u64 va;
	/** @max_size: Its length; constant. */
	u64 max_size;
	/** @chunk_size: Granule of @mapped and @committed; constant. */
	u32 chunk_size;
	/** @committed: Bytes the device has been told of; never less again. */
	atomic64_t committed;

	/* The rest is protected by &tessera_vm.op_lock. */

	/** @node: Link in &tessera_vm.heaps. */
	struct list_head node;
	/** @pool: Page tables for the whole range, so that growing needs none. */
	struct tessera_pt_pool pool;
	/** @mapped: Bytes with memory; what is not committed is the reserve. */
	u64 mapped;
	/** @chunk: The memory, @max_size / @chunk_size entries. */
	struct tessera_heap_chunk *chunk;
};

struct tessera_heap *tessera_heap_lookup(struct drm_file *file, u32 id);
void tessera_heap_put(struct tessera_heap *heap);
int tessera_heap_prepare(struct tessera_heap *heap);
bool tessera_heap_overlaps(struct tessera_vm *vm, u64 va, u64 size);
void tessera_heaps_unplug(struct tessera_vm *vm);
void tessera_heap_work(struct work_struct *work);

int tessera_ioctl_heap_create(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_heap_destroy(struct drm_device *drm, void *data, struct drm_file *file);

#endif
