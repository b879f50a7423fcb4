// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * debugfs "inject": scripts that make the device misbehave, handed to the device
 * as they are (Documentation/hw/debug-unit.md); "capture": the job it shall write to a
 * file of the host (Documentation/hw/debug-unit.md). There are no such files when the
 * device does not offer it.
 */

#include <linux/bitfield.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

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
	[TSR_INJECTION_INV_STUCK] = "INV_STUCK",
};

static int tessera_inject_show(struct seq_file *m, void *unused)
{
	struct tessera_device *tdev = m->private;
	unsigned int kind;
	u32 status;
	int ret;

	ret = tessera_pm_lock(tdev);
	if (ret)
		return ret;

	status = tessera_read(tdev, TSR_REG_INJECT_STATUS);
	seq_printf(m, "rules %u\n", (u32)FIELD_GET(TSR_INJECT_STATUS_RULES__MASK, status));
	for (kind = 0; kind < ARRAY_SIZE(tessera_inject_kinds); kind++)
		seq_printf(m, "%s %u\n", tessera_inject_kinds[kind],
			   tessera_read(tdev, TSR_REG_INJECT_FIRED(kind)));

	return tessera_pm_unlock(tdev);
}

static int tessera_inject_open(struct inode *inode, struct file *file)
{
	return single_open(file, tessera_inject_show, inode->i_private);
}

/*
 * One write is one text; writers take turns, the device reads one character at a
 * time. Return: what @status_reg says then, or a negative error.
 */
static s64 tessera_inject_send(struct tessera_device *tdev, u32 text_reg, u32 status_reg,
			       const char *text)
{
	u32 status;
	int ret;

	ret = tessera_pm_lock(tdev);
	if (ret)
		return ret;
	for (; *text; text++)
		tessera_write(tdev, text_reg, (u8)*text);
	tessera_write(tdev, text_reg, 0);
	status = tessera_read(tdev, status_reg);
	tessera_pm_unlock(tdev);

	return status;
}

static ssize_t tessera_inject_write(struct file *file, const char __user *buf, size_t len,
				    loff_t *pos)
{
	char *script;
	s64 status;

	if (len > TSR_INJECTION_TEXT_MAX)
		return -E2BIG;
	script = memdup_user_nul(buf, len);
	if (IS_ERR(script))
		return PTR_ERR(script);

	status = tessera_inject_send(file_inode(file)->i_private, TSR_REG_INJECT_TEXT,
				     TSR_REG_INJECT_STATUS, script);
	kfree(script);
	if (status < 0)
		return status;

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

static int tessera_capture_show(struct seq_file *m, void *unused)
{
	struct tessera_device *tdev = m->private;
	u32 status;
	int ret;

	ret = tessera_pm_lock(tdev);
	if (ret)
		return ret;

	status = tessera_read(tdev, TSR_REG_CAPTURE_STATUS);
	seq_printf(m, "%s\ncaptured %u\n",
		   status & TSR_CAPTURE_STATUS_ARMED__MASK ? "waiting" : "idle",
		   (u32)FIELD_GET(TSR_CAPTURE_STATUS_CAPTURED__MASK, status));

	return tessera_pm_unlock(tdev);
}

static int tessera_capture_open(struct inode *inode, struct file *file)
{
	return single_open(file, tessera_capture_show, inode->i_private);
}

static ssize_t tessera_capture_write(struct file *file, const char __user *buf, size_t len,
				     loff_t *pos)
{
	char *text;
	s64 status;

	if (len > TSR_CAPTURE_TEXT_MAX)
		return -E2BIG;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);

	status = tessera_inject_send(file_inode(file)->i_private, TSR_REG_CAPTURE_TEXT,
				     TSR_REG_CAPTURE_STATUS, strim(text));
	kfree(text);
	if (status < 0)
		return status;
	/* The device does not answer. */
	if (status == U32_MAX)
		return -EIO;

	switch (FIELD_GET(TSR_CAPTURE_STATUS_RESULT__MASK, status)) {
	case TSR_CAPTURE_RESULT_ACCEPTED:
		return len;
	case TSR_CAPTURE_RESULT_REFUSED:
		return -EINVAL;
	default:
		return -EOPNOTSUPP;
	}
}

static const struct file_operations tessera_capture_fops = {
	.owner = THIS_MODULE,
	.open = tessera_capture_open,
	.read = seq_read,
	.write = tessera_capture_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * tessera_inject_debugfs_init() - create the files if the device has a debug unit
 * @minor: minor of the device
 */
void tessera_inject_debugfs_init(struct drm_minor *minor)
{
	struct tessera_device *tdev = to_tessera_device(minor->dev);

	if (!(tdev->info.features & TSR_FEATURE_DEBUG))
		return;

	debugfs_create_file("inject", 0600, minor->debugfs_root, tdev, &tessera_inject_fops);
	debugfs_create_file("capture", 0600, minor->debugfs_root, tdev, &tessera_capture_fops);
}
