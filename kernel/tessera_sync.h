/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_SYNC_H__
#define __TESSERA_SYNC_H__

#include <linux/types.h>

struct dma_fence;
struct drm_file;
struct drm_tessera_array;
struct drm_tessera_sync;
struct rb_root;
struct tessera_signals;

struct drm_tessera_sync *tessera_syncs_in(const struct drm_tessera_array *array);
int tessera_sync_find(struct drm_file *file, const struct drm_tessera_sync *sync,
		      struct dma_fence **fence);

struct tessera_signals *tessera_signals_get(struct drm_file *file,
					    const struct drm_tessera_array *array);
void tessera_signals_put(struct tessera_signals *signals);
void tessera_signals_index(struct tessera_signals *signals, struct rb_root *index, u32 job);
int tessera_sync_resolve(struct drm_file *file, const struct rb_root *index,
			 const struct drm_tessera_sync *sync, u64 *jobs, struct dma_fence **fence);
void tessera_signals_publish(struct tessera_signals *signals, struct dma_fence *fence);

#endif
