/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_SHRINKER_H__
#define __TESSERA_SHRINKER_H__

#include <linux/types.h>

struct tessera_bo;
struct tessera_device;

int tessera_shrinker_init(struct tessera_device *tdev);
int tessera_bo_madvise(struct tessera_bo *bo, u32 madv, u32 *retained);
int tessera_bo_begin_export(struct tessera_bo *bo, bool *first);
void tessera_bo_forget_madvise(struct tessera_bo *bo);
int tessera_bo_need(struct tessera_bo *bo);
bool tessera_bo_unmap_vms(struct tessera_bo *bo);

#endif
