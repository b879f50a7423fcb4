// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * /proc/PID/fdinfo: engine time and memory of a file, in the format of
 * Documentation/gpu/drm-usage-stats.rst.
 */

#include <linux/dma-resv.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>
#include <drm/tessera_drm.h>

#include "tessera_drv.h"
#include "tessera_gem.h"
#include "tessera_query.h"
#include "tessera_queue.h"
#include "tessera_quota.h"
#include "tessera_sched.h"

/*
 * Destroyed queues have left what they used with the file, the others are asked.
 * Returns the bytes of their rings.
 */
static u64 sum_usage(struct drm_file *file, struct tessera_usage sum[TESSERA_NUM_CLASSES])
{
	struct tessera_file *tfile = file->driver_priv;
	struct tessera_queue *queue;
	struct tessera_usage usage;
	unsigned long id;
	u64 rings = 0;
	u32 i;

	mutex_lock(&tfile->usage_lock);
	for (i = 0; i < TESSERA_NUM_CLASSES; i++) {
		sum[i].busy_ns = atomic64_read(&tfile->busy_ns[i]);
		sum[i].cycles = atomic64_read(&tfile->cycles[i]);
	}

	for (id = 0; xa_find(&tfile->queues, &id, ULONG_MAX, XA_PRESENT); id++) {
		queue = tessera_queue_lookup(file, id);
		if (!queue)
			continue;
		usage = tessera_queue_usage(queue);
		sum[queue->engine_class].busy_ns += usage.busy_ns;
		sum[queue->engine_class].cycles += usage.cycles;
		mutex_lock(&queue->lock);
		if (queue->ring.cpu)
			rings += queue->ring.size;
		mutex_unlock(&queue->lock);
		tessera_queue_put(queue);
	}
	mutex_unlock(&tfile->usage_lock);

	return rings;
}

static void show_engine(struct drm_printer *p, const char *name, u32 instances,
			const struct tessera_usage *usage)
{
	drm_printf(p, "drm-engine-%s:\t%llu ns\n", name, usage->busy_ns);
	if (instances > 1)
		drm_printf(p, "drm-engine-capacity-%s:\t%u\n", name, instances);
	drm_printf(p, "drm-cycles-%s:\t%llu\n", name, usage->cycles);
}

/*
 * As drm_show_memory_stats() of the core does it, but for the fences: those of our
 * jobs are BOOKKEEP, which the core does not look for. A BO is a part of the total of
 * @stats, where it wants to be, and is resident in @place, where it is.
 */
static void count_bo(struct drm_memory_stats *stats, struct drm_memory_stats *place,
		     struct drm_gem_object *obj)
{
	bool active = !dma_resv_test_signaled(obj->resv, DMA_RESV_USAGE_BOOKKEEP);
	u32 state = tessera_bo_state(to_tessera_bo(obj));

	if (drm_gem_object_is_shared_for_memory_stats(obj))
		stats->shared += obj->size;
	else
		stats->private += obj->size;
	if (active)
		stats->active += obj->size;
	if (!(state & DRM_TESSERA_BO_RESIDENT))
		return;

	place->resident += obj->size;
	if (state & DRM_TESSERA_BO_PURGEABLE && !active)
		place->purgeable += obj->size;
}

static void show_memory(struct drm_printer *p, struct tessera_device *tdev, struct drm_file *file)
{
	const enum drm_gem_object_status known = DRM_GEM_OBJECT_RESIDENT |
		DRM_GEM_OBJECT_PURGEABLE | DRM_GEM_OBJECT_ACTIVE;
	struct drm_memory_stats system = {}, local = {};
	struct drm_gem_object *obj;
	int id;

	spin_lock(&file->table_lock);
	idr_for_each_entry(&file->object_idr, obj, id) {
		struct tessera_bo *bo = to_tessera_bo(obj);
		bool is_local = bo->flags & DRM_TESSERA_BO_LOCAL;
		bool in_local = tessera_bo_state(bo) & DRM_TESSERA_BO_IN_LOCAL;

		count_bo(is_local ? &local : &system, in_local ? &local : &system, obj);
	}
	spin_unlock(&file->table_lock);

	drm_print_memory_stats(p, &system, known, "memory");
	if (tdev->info.local_size)
		drm_print_memory_stats(p, &local, known, "local");
}

/* Memory that the kernel has allocated for the file. It cannot be evicted. */
static void show_internal(struct drm_printer *p, const char *region, u64 size)
{
	const struct drm_memory_stats stats = { .private = size, .resident = size };

	drm_print_memory_stats(p, &stats, DRM_GEM_OBJECT_RESIDENT, region);
}

/**
 * tessera_show_fdinfo() - &drm_driver.show_fdinfo
 * @p: where to
 * @file: file
 */
void tessera_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct tessera_file *tfile = file->driver_priv;
	struct tessera_usage sum[TESSERA_NUM_CLASSES];
	struct drm_tessera_file_limits limits;
	u64 rings;
	u32 i;

	rings = sum_usage(file, sum);
	for (i = 0; i < TESSERA_NUM_CLASSES; i++) {
		u32 instances = tfile->tdev->info.engines[i];

		if (instances)
			show_engine(p, tessera_engine_name(i), instances, &sum[i]);
	}

	show_memory(p, tfile->tdev, file);
	tessera_quota_fill(tfile->quota, &limits);
	show_internal(p, "heap", limits.heap_memory);
	show_internal(p, "ring", rings);
	show_internal(p, "pagetable", limits.page_tables);
}
