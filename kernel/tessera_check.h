/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_CHECK_H__
#define __TESSERA_CHECK_H__

#include <linux/types.h>

struct drm_minor;
struct tessera_bo;
struct tessera_device;

#ifdef CONFIG_DRM_TESSERA_EMULATOR
int tessera_check_init(struct tessera_device *tdev);
void tessera_check_release(struct tessera_device *tdev);
void tessera_check_taken(struct tessera_device *tdev, u64 addr, u64 size);
void tessera_check_freed(struct tessera_device *tdev, u64 addr, u64 size);
void tessera_check_bo_taken(struct tessera_device *tdev, struct tessera_bo *bo);
void tessera_check_bo_freed(struct tessera_device *tdev, struct tessera_bo *bo);
void tessera_check_debugfs_init(struct drm_minor *minor);
#else
static inline int tessera_check_init(struct tessera_device *tdev)
{
	return 0;
}

static inline void tessera_check_release(struct tessera_device *tdev) {}
static inline void tessera_check_taken(struct tessera_device *tdev, u64 addr, u64 size) {}
static inline void tessera_check_freed(struct tessera_device *tdev, u64 addr, u64 size) {}
static inline void tessera_check_bo_taken(struct tessera_device *tdev, struct tessera_bo *bo) {}
static inline void tessera_check_bo_freed(struct tessera_device *tdev, struct tessera_bo *bo) {}
static inline void tessera_check_debugfs_init(struct drm_minor *minor) {}
#endif

#endif
