/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_BIND_H__
#define __TESSERA_BIND_H__

#include <linux/types.h>

struct drm_device;
struct drm_file;
struct drm_gem_object;
struct drm_gpuva_op;
struct drm_sched_backend_ops;
struct drm_tessera_bind_op;
struct list_head;
struct tessera_bind;
struct tessera_vm;
struct tessera_vma;

/* tessera_bind.c: what a bind consists of, prepared, run, cleaned up. */
struct tessera_bind *tessera_bind_create(struct drm_file *file, struct tessera_vm *vm,
					 const struct drm_tessera_bind_op *ops, unsigned int count);
struct tessera_bind *tessera_bind_create_map(struct tessera_vm *vm, struct drm_gem_object *obj,
					     u64 va);
struct tessera_bind *tessera_bind_create_unmap(struct tessera_vm *vm, u64 va, u64 size);
int tessera_bind_run(struct tessera_bind *bind);
void tessera_bind_skip(struct tessera_bind *bind);
void tessera_bind_destroy(struct tessera_bind *bind);
void tessera_binds_unplug(struct tessera_vm *vm);
bool tessera_binds_overlap(struct tessera_vm *vm, u64 va, u64 size);

int tessera_bind_step_map(struct drm_gpuva_op *op, void *priv);
int tessera_bind_step_remap(struct drm_gpuva_op *op, void *priv);
int tessera_bind_step_unmap(struct drm_gpuva_op *op, void *priv);

void tessera_vma_return(struct tessera_vma *vma, struct list_head *returned);
void tessera_vmas_free(struct tessera_vm *vm, struct list_head *returned);

/* tessera_bind_ioctl.c: the ioctl, synchronous and as a job. */
extern const struct drm_sched_backend_ops tessera_bind_sched_ops;

int tessera_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *file);

#endif
