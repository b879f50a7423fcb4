// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * debugfs "inject": scripts that make the device misbehave, handed to the device
 * as they are (Documentation/hw/inject.md). There is no such file when the
 * device does not offer it.
 */

#include <linux/bitfield.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>

#include "tessera_device.h"
#include "tessera_inject.h"
#include "tessera_pm.h"
#include "tsr_regs.h"

static const char * const tessera_inject_kinds[] = {
	[TSR_INJECTION_HANG] = "HANG",
	[TSR_INJECTION_SLOW] = "SLOW",
	[TSR_INJECTION_IRQ_LOST] = "IRQ_LOST",
	[TSR_INJECTION_IRQ_TWICE] = "IRQ_TWICE",
	[TSR_INJECTION_IRQ_LATE] = "IRQ_LATE",
	[TSR_INJECTION_IRQ_EARLY] = "IRQ_EARLY",
	[TSR_INJECTION_FENCE_LOST] = "FENCE_LOST",
	[TSR_INJECTION_FENCE_TORN] = "FENCE_TORN",
	[TSR_INJECTION_FENCE_LATE] = "FENCE_LATE",
	[TSR_INJECTION_MMU_UNMAPPED] = "MMU_UNMAPPED",
	[TSR_INJECTION_MMU_PERMISSION] = "MMU_PERMISSION",
	[TSR_INJECTION_MMU_WALK] = "MMU_WALK",
	[TSR_INJECTION_MMU_WALK_BUS] = "MMU_WALK_BUS",
	[TSR_INJECTION_BUS] = "BUS",
	[TSR_INJECTION_TLB_STALE] = "TLB_STALE",
	[TSR_INJECTION_DOORBELL_LOST] = "DOORBELL_LOST",
	[TSR_INJECTION_HEAP_OOM] = "HEAP_OOM",
	[TSR_INJECTION_COPY_CORRUPT] = "COPY_CORRUPT",
	[TSR_INJECTION_GONE] = "GONE",
	[TSR_INJECTION_FLR_IGNORED] = "FLR_IGNORED",
	[TSR_INJECTION_RESET_STUCK] = "RESET_STUCK",
	[TSR_INJECTION_STOP_STUCK] = "STOP_STUCK",
};

static int tessera_inject_show(struct seq_file *m, void *unused)
{
	struct tessera_device *tdev = m->private;
	unsigned int kind;
	u32 status;
	int cookie;

	if (!drm_dev_enter(&tdev->drm, &cookie))
		return -ENODEV;

	tessera_pm_get(tdev);
	status = tessera_read(tdev, TSR_REG_INJECT_STATUS);
	seq_printf(m, "rules %u\n", (u32)FIELD_GET(TSR_INJECT_STATUS_RULES__MASK, status));
	for (kind = 0; kind < ARRAY_SIZE(tessera_inject_kinds); kind++)
		seq_printf(m, "%s %u\n", tessera_inject_kinds[kind],
			   tessera_read(tdev, TSR_REG_INJECT_FIRED(kind)));
	tessera_pm_put(tdev);
	drm_dev_exit(cookie);

	return 0;
}

static int tessera_inject_open(struct inode *inode, struct file *file)
{
	return single_open(file, tessera_inject_show, inode->i_private);
}

/* One write is one script; writers take turns, the device reads one character at a time. */
static ssize_t tessera_inject_write(struct file *file, const char __user *buf, size_t len,
				    loff_t *pos)
{
	static DEFINE_MUTEX(lock);
	struct tessera_device *tdev = file_inode(file)->i_private;
	char *script, *c;
	int cookie;
	u32 status;

	if (len > TSR_INJECTION_TEXT_MAX)
		return -E2BIG;
	script = memdup_user_nul(buf, len);
	if (IS_ERR(script))
		return PTR_ERR(script);
	if (!drm_dev_enter(&tdev->drm, &cookie)) {
		kfree(script);
		return -ENODEV;
	}

	tessera_pm_get(tdev);
	mutex_lock(&lock);
	for (c = script; *c; c++)
		tessera_write(tdev, TSR_REG_INJECT_TEXT, (u8)*c);
	tessera_write(tdev, TSR_REG_INJECT_TEXT, 0);
	status = tessera_read(tdev, TSR_REG_INJECT_STATUS);
	mutex_unlock(&lock);
	tessera_pm_put(tdev);
	drm_dev_exit(cookie);
	kfree(script);

	/* All ones, of a script that took the device away, is an answer too. */
	if (FIELD_GET(TSR_INJECT_STATUS_RESULT__MASK, status) == TSR_INJECTION_RESULT_REFUSED)
		return -EINVAL;

	return len;
}

static const struct file_operations tessera_inject_fops = {
	.owner = THIS_MODULE,
	.open = tessera_inject_open,
	.read = seq_read,
	.write = tessera_inject_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * tessera_inject_debugfs_init() - the file, if the device has what is behind it
 * @minor: minor of the device
 */
void tessera_inject_debugfs_init(struct drm_minor *minor)
{
	struct tessera_device *tdev = to_tessera_device(minor->dev);

	if (tdev->info.features & TSR_FEATURE_DEBUG)
		debugfs_create_file("inject", 0600, minor->debugfs_root, tdev,
				    &tessera_inject_fops);
}
