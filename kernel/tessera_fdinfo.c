// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * /proc/PID/fdinfo: engine time and memory of a file, in the format of
 * Documentation/gpu/drm-usage-stats.rst.
 */

#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "tessera_drv.h"
#include "tessera_query.h"
#include "tessera_queue.h"
#include "tessera_sched.h"

/* Destroyed queues have left their time with the file, the others are asked. */
static void sum_busy(struct drm_file *file, u64 busy[TESSERA_NUM_CLASSES])
{
	struct tessera_file *tfile = file->driver_priv;
	struct tessera_queue *queue;
	unsigned long id;
	u32 i;

	for (i = 0; i < TESSERA_NUM_CLASSES; i++)
		busy[i] = atomic64_read(&tfile->busy_ns[i]);

	for (id = 0; xa_find(&tfile->queues, &id, ULONG_MAX, XA_PRESENT); id++) {
		queue = tessera_queue_lookup(file, id);
		if (!queue)
			continue;
		busy[queue->engine_class] += tessera_queue_busy_ns(queue);
		tessera_queue_put(queue);
	}
}

/**
 * tessera_show_fdinfo() - &drm_driver.show_fdinfo
 * @p: where to
 * @file: file
 */
void tessera_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct tessera_file *tfile = file->driver_priv;
	u64 busy[TESSERA_NUM_CLASSES];
	u32 i;

	sum_busy(file, busy);
	for (i = 0; i < TESSERA_NUM_CLASSES; i++) {
		u32 instances = tfile->tdev->info.engines[i];

		if (!instances)
			continue;
		drm_printf(p, "drm-engine-%s:\t%llu ns\n", tessera_engine_name(i), busy[i]);
		if (instances > 1)
			drm_printf(p, "drm-engine-capacity-%s:\t%u\n", tessera_engine_name(i),
				   instances);
	}

	drm_show_memory_stats(p, file);
}
