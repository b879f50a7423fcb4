/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef TESSERA_PM_H
#define TESSERA_PM_H

#include <linux/fs.h>
#include <linux/pm.h>

struct tessera_device;

extern const struct dev_pm_ops tessera_pm_ops;

void tessera_pm_init(struct tessera_device *tdev);
void tessera_pm_fini(struct tessera_device *tdev);
void tessera_pm_get(struct tessera_device *tdev);
void tessera_pm_get_awake(struct tessera_device *tdev);
void tessera_pm_put(struct tessera_device *tdev);
long tessera_pm_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);
#ifdef CONFIG_COMPAT
long tessera_pm_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);
#else
#define tessera_pm_compat_ioctl NULL	/* as drm_compat_ioctl */
#endif

#endif
