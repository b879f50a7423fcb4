/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_EVICT_H__
#define __TESSERA_EVICT_H__

#include <linux/types.h>

struct drm_exec;
struct drm_gem_object;
struct drm_gpuvm_bo;
struct tessera_bo;
struct tessera_device;
struct tessera_quota;
struct tessera_vm;

/* BOs that one SUBMIT may evict at most. */
#define TESSERA_EVICT_KEEP	8

/**
 * struct tessera_evict_keep - references that must not be dropped under reservations
 */
struct tessera_evict_keep {
	/** @count: Number of references. */
	unsigned int count;
	/** @refused: There was no room for a BO of the VM. */
	bool refused;
	/** @obj: The objects. */
	struct drm_gem_object *obj[TESSERA_EVICT_KEEP];
};

/* tessera_move.c: a BO moves. */
int tessera_bo_get_system(struct tessera_bo *bo);
void tessera_bo_put_system(struct tessera_bo *bo);
int tessera_move_out(struct tessera_bo *bo);
int tessera_move_in(struct tessera_bo *bo);
int tessera_move_back(struct tessera_bo *bo);
void tessera_move_release(struct tessera_bo *bo);

/* tessera_swap.c: the pages of BOs in system memory. */
void tessera_swap_track(struct tessera_bo *bo);
void tessera_swap_forget(struct tessera_bo *bo);
unsigned long tessera_swap_count(struct tessera_device *tdev);
unsigned long tessera_swap_scan(struct tessera_device *tdev, unsigned long want);
void tessera_swap_out(struct tessera_device *tdev, u64 bytes);

/* tessera_evict.c: which BO, and when. */
int tessera_evict_init(struct tessera_device *tdev);
int tessera_evict_register(struct tessera_device *tdev);
void tessera_evict_free_local(struct tessera_bo *bo);
int tessera_evict_place(struct tessera_bo *bo, struct tessera_quota *quota);
void tessera_evict_track(struct tessera_bo *bo);
void tessera_evict_forget(struct tessera_bo *bo);
void tessera_evict_prefer(struct tessera_bo *bo);
void tessera_evict_add_vm_bo(struct drm_gpuvm_bo *vm_bo);
bool tessera_evict_idle(struct tessera_bo *bo);
u64 tessera_evict_used(struct tessera_bo *bo);
u64 tessera_evict_bytes(struct tessera_device *tdev, u64 bytes);
void tessera_evict_hold(struct tessera_device *tdev, bool hold);

int tessera_evict_validate(struct drm_gpuvm_bo *vm_bo, struct drm_exec *exec);
int tessera_evict_submit(struct tessera_vm *vm, struct drm_exec *exec,
			 struct tessera_evict_keep *keep);
void tessera_evict_put(struct tessera_evict_keep *keep);

#endif
