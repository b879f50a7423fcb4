// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * debugfs: what is there at this moment. Text for people, not an interface.
 */

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_file.h>

#include "tessera_check.h"
#include "tessera_debugfs.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_gem.h"
#include "tessera_inject.h"
#include "tessera_kms.h"
#include "tessera_evict.h"
#include "tessera_local.h"
#include "tessera_perfmon.h"
#include "tessera_pm.h"
#include "tessera_queue.h"
#include "tessera_reset.h"
#include "tessera_sched.h"
#include "tessera_vm.h"

static struct tessera_device *seq_device(struct seq_file *m)
{
	struct drm_debugfs_entry *entry = m->private;

	return to_tessera_device(entry->dev);
}

static int show_bos(struct seq_file *m, void *unused)
{
	tessera_bos_print(seq_device(m), m);

	return 0;
}

static int show_gpuvas(struct seq_file *m, void *unused)
{
	struct tessera_device *tdev = seq_device(m);
	struct tessera_vm *vm;
	int ret = 0;

	mutex_lock(&tdev->vms.lock);
	list_for_each_entry(vm, &tdev->vms.list, node) {
		mutex_lock(&vm->op_lock);
		if (!ret)
			ret = drm_debugfs_gpuva_info(m, &vm->base);
		mutex_unlock(&vm->op_lock);
		seq_putc(m, '\n');
	}
	mutex_unlock(&tdev->vms.lock);

	return ret;
}

static void show_vm_faults(struct seq_file *m, struct tessera_vm *vm)
{
	int as = data_race(vm->as); /* may change at any time; the output is informational */
	u64 first, i;

	spin_lock(&vm->faults.lock);
	first = vm->faults.count - min_t(u64, vm->faults.count, DRM_TESSERA_FAULT_RECORDS);
	for (i = first; i < vm->faults.count; i++) {
		struct drm_tessera_fault *f =
			&vm->faults.record[i % DRM_TESSERA_FAULT_RECORDS];

		seq_printf(m, "as %-3d time %llu queue %-4u va %#llx access %u reason %u level %u\n",
			   as, f->timestamp_ns, f->queue_id, f->va, f->access, f->reason,
			   f->level);
	}
	spin_unlock(&vm->faults.lock);
}

static int show_faults(struct seq_file *m, void *unused)
{
	struct tessera_device *tdev = seq_device(m);
	struct tessera_vm *vm;

	mutex_lock(&tdev->vms.lock);
	list_for_each_entry(vm, &tdev->vms.list, node)
		show_vm_faults(m, vm);
	mutex_unlock(&tdev->vms.lock);

	return 0;
}

/* Unfinished entries of the ring, as 64-bit words for tsr-decode --hex --ring. */
static void show_ring(struct tessera_queue *queue, void *data)
{
	struct seq_file *m = data;
	u32 mask = queue->ring.size - 1, at, end;

	end = queue->wptr;
	at = round_down(tessera_read(queue->tdev, TSR_REG_QUEUE_RPTR(queue->slot)),
			TESSERA_RING_ENTRY);
	if (end - at > queue->ring.size)
		at = end;
	seq_printf(m, "# slot %u %s: from %#x to %#x\n", queue->slot, queue->timeline->name, at,
		   end);
	for (; at != end; at += sizeof(u64))
		seq_printf(m, "%016llx%c", le64_to_cpu(queue->ring.cpu[(at & mask) / sizeof(u64)]),
			   at % 32 == 24 ? '\n' : ' ');
}

static void show_queue(struct tessera_queue *queue, void *data)
{
	struct tessera_device *tdev = queue->tdev;
	struct seq_file *m = data;
	/* A queue has its slot before it has an id and a file; then it is shown without them. */
	u64 client_id = data_race(queue->client_id);	/* 0 or what it stays */
	u32 id = data_race(queue->id);	/* 0 or what it stays */
	u32 slot = queue->slot;

	seq_printf(m, "%-4u %-22s id %-4u as %-3d state %08x wptr %08x rptr %08x seqno %llu done %lld error %d client %llu\n",
		   slot, queue->timeline->name, id, queue->vm->as,
		   tessera_read(tdev, TSR_REG_QUEUE_STATE(slot)), queue->wptr,
		   tessera_read(tdev, TSR_REG_QUEUE_RPTR(slot)), queue->timeline->seqno,
		   atomic64_read(&queue->timeline->completed), queue->error, client_id);
}

static int show_each_queue(struct tessera_device *tdev, struct seq_file *m,
			   void (*show)(struct tessera_queue *queue, void *m))
{
	int ret = tessera_pm_lock(tdev);

	if (ret)
		return ret;

	tessera_queues_each(tdev, show, m);

	return tessera_pm_unlock(tdev);
}

static int show_queues(struct seq_file *m, void *unused)
{
	return show_each_queue(seq_device(m), m, show_queue);
}

static int show_rings(struct seq_file *m, void *unused)
{
	return show_each_queue(seq_device(m), m, show_ring);
}

/* All counters by their ids (Documentation/hw/counters.md): what tsr-top reads. */
static void show_queue_counters(struct tessera_queue *queue, void *data)
{
	struct tessera_device *tdev = queue->tdev;
	struct seq_file *m = data;
	u32 id;

	for (id = 0; id < TESSERA_NUM_COUNTERS; id++) {
		u64 value = tessera_read64(tdev, TSR_REG_QUEUE_COUNTER(queue->slot, id));

		if (value)
			seq_printf(m, "queue %u %s %u %llu\n", queue->slot,
				   tessera_engine_name(queue->engine_class), id, value);
	}
}

static int show_counters(struct seq_file *m, void *unused)
{
	struct tessera_device *tdev = seq_device(m);
	u32 id;
	int ret;

	ret = tessera_pm_lock(tdev);
	if (ret)
		return ret;

	for (id = 0; id < TSR_COUNTER_VALUE__COUNT; id++)
		seq_printf(m, "global %u %llu\n", id,
			   tessera_read64(tdev, TSR_REG_COUNTER_VALUE(id)));
	ret = tessera_pm_unlock(tdev);

	return ret ?: show_each_queue(tdev, m, show_queue_counters);
}

static int show_device(struct seq_file *m, void *unused)
{
	struct tessera_device *tdev = seq_device(m);
	const struct tessera_hw_info *info = &tdev->info;
	enum tessera_state state = tessera_state(tdev);

	seq_printf(m, "version %u.%u\n", info->version >> 16, info->version & 0xffff);
	seq_printf(m, "features %#llx\n", info->features);
	seq_printf(m, "queue slots %u, address spaces %u\n", info->num_queues, info->num_as);
	seq_printf(m, "local memory %llu of %llu bytes used\n", tessera_local_used(tdev),
		   info->local_size);
	seq_printf(m, "device resets %lld, of the PCI function %lld, queue resets %lld%s%s\n",
		   atomic64_read(&tdev->reset.count), atomic64_read(&tdev->reset.function_count),
		   atomic64_read(&tdev->reset.queue_count),
		   state == TESSERA_RUNNING ? "" : ", ",
		   state == TESSERA_RUNNING ? "" : tessera_state_name(state));

	return 0;
}

static int show_heads(struct seq_file *m, void *unused)
{
	tessera_kms_print(seq_device(m), m);

	return 0;
}

static const struct drm_debugfs_info tessera_debugfs_files[] = {
	{ "counters", show_counters },
	{ "device", show_device },
	{ "faults", show_faults },
	{ "gems", show_bos },
	{ "gpuvas", show_gpuvas },
	{ "heads", show_heads },
	{ "queues", show_queues },
	{ "rings", show_rings },
};

/* Start the reset escalation by hand, at the step whose name is written. */
static ssize_t write_reset(struct file *file, const char __user *user, size_t size, loff_t *pos)
{
	static const char * const rungs[] = {
		[TESSERA_RUNG_DEVICE] = "device",
		[TESSERA_RUNG_FUNCTION] = "function",
		[TESSERA_RUNG_WEDGED] = "wedged",
	};
	struct tessera_device *tdev = file->private_data;
	char text[16];
	int rung, ret;
	ssize_t len;

	len = simple_write_to_buffer(text, sizeof(text) - 1, pos, user, size);
	if (len < 0)
		return len;
	text[len] = '\0';

	rung = sysfs_match_string(rungs, text);
	if (rung < 0)
		return rung;

	ret = tessera_pm_get(tdev);
	if (ret)
		return ret;
	tessera_device_reset_now(tdev, rung);
	tessera_pm_put(tdev);

	return size;
}

/* Evict so many bytes of what is not in use. */
static int write_evict(void *data, u64 bytes)
{
	struct tessera_device *tdev = data;
	int ret = tessera_pm_get(tdev);

	if (ret)
		return ret;
	tessera_evict_bytes(tdev, bytes);
	tessera_pm_put(tdev);

	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(evict_fops, NULL, write_evict, "%llu\n");

static const struct file_operations reset_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = write_reset,
};

/**
 * tessera_debugfs_init() - &drm_driver.debugfs_init
 * @minor: minor of the device
 */
void tessera_debugfs_init(struct drm_minor *minor)
{
	drm_debugfs_add_files(minor->dev, tessera_debugfs_files,
			      ARRAY_SIZE(tessera_debugfs_files));
	debugfs_create_file("reset", 0200, minor->debugfs_root, to_tessera_device(minor->dev),
			    &reset_fops);
	debugfs_create_file("evict", 0200, minor->debugfs_root, to_tessera_device(minor->dev),
			    &evict_fops);
	tessera_inject_debugfs_init(minor);
	tessera_check_debugfs_init(minor);
	tessera_delay_debugfs_init(minor);
}
