/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_LOCAL_H__
#define __TESSERA_LOCAL_H__

#include <linux/types.h>

#include <drm/drm_mm.h>

struct tessera_device;

int tessera_local_init(struct tessera_device *tdev);
int tessera_local_reserve(struct tessera_device *tdev, struct drm_mm_node *node, u64 size);
int tessera_local_clear(struct tessera_device *tdev, struct drm_mm_node *node);
void tessera_local_free(struct tessera_device *tdev, struct drm_mm_node *node);
u64 tessera_local_used(struct tessera_device *tdev);
void tessera_local_read(struct tessera_device *tdev, u64 offset, void *out, size_t size);
void tessera_local_zap(struct tessera_device *tdev);
void __iomem *tessera_local_cpu(struct tessera_device *tdev, u64 offset);
phys_addr_t tessera_local_phys(struct tessera_device *tdev, u64 offset);

#endif
