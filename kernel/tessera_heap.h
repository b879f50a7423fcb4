/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_HEAP_H__
#define __TESSERA_HEAP_H__

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

struct drm_device;
struct drm_file;
struct mem_cgroup;
struct tessera_bind;
struct tessera_queue;
struct tessera_vm;

/**
 * struct tessera_heap - a tiler heap
 *
 * A range of a VM whose first @bound bytes have memory. The device may use the first
 * @committed of them, and asks for what it needs beyond that.
 */
struct tessera_heap {
	/** @ref: Held by the file's table, by the fence of each job, by @refill_work. */
	struct kref ref;
	/** @vm: VM it is in, a reference. */
	struct tessera_vm *vm;
	/** @release_work: Teardown, for callers that must not sleep. */
	struct work_struct release_work;
	/** @refill_work: Makes the reserve good again. */
	struct work_struct refill_work;
	/** @memcg: Who is charged for memory that @refill_work allocates, a reference. */
	struct mem_cgroup *memcg;
	/** @va: Start of the range; constant. */
	u64 va;
	/** @max_size: Its length; constant. */
	u64 max_size;
	/** @chunk_size: Granule of @bound and @committed; constant. */
	u32 chunk_size;
	/** @committed: Bytes the device has been told of; never less again. */
	atomic64_t committed;
	/** @bound: Bytes with memory, which are mapped; written under @grow_lock. */
	atomic64_t bound;
	/** @empty: How often a job found no reserve. */
	atomic_t empty;
	/** @error: Why @bound did not grow the last time it should, 0 if it did. */
	int error;
	/**
	 * @grow_lock: Held while memory is bound. Above reservations and
	 * &tessera_vm.op_lock; no fence waits for who holds it.
	 */
	struct mutex grow_lock;
	/** @unmap: The bind that ends the heap, ready to run. */
	struct tessera_bind *unmap;
	/** @node: Link in &tessera_vm.heaps; &tessera_vm.op_lock. */
	struct list_head node;
};

struct tessera_heap *tessera_heap_lookup(struct drm_file *file, u32 id);
void tessera_heap_put(struct tessera_heap *heap);
int tessera_heap_prepare(struct tessera_heap *heap);
bool tessera_heap_overlaps(struct tessera_vm *vm, u64 va, u64 size);
void tessera_heap_work(struct work_struct *work);

int tessera_ioctl_heap_create(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_heap_destroy(struct drm_device *drm, void *data, struct drm_file *file);

#endif
