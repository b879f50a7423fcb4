// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * The BO ioctls: arguments are checked here, the work is in tessera_gem.c.
 */

#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>
#include <drm/drm_vma_manager.h>
#include <drm/tessera_drm.h>

#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_gem.h"
#include "tessera_kms.h"
#include "tessera_shrinker.h"
#include "tessera_vm.h"

#define BO_FLAGS (DRM_TESSERA_BO_NO_MMAP | DRM_TESSERA_BO_CACHED | DRM_TESSERA_BO_LOCAL | \
		  DRM_TESSERA_BO_LOCAL_ONLY)

static bool bo_create_valid(struct tessera_device *tdev, const struct drm_tessera_bo_create *args)
{
	if (args->flags & ~BO_FLAGS || args->pad)
		return false;

	/* Cached mappings only make sense for mappings, and of RAM. */
	if (args->flags & DRM_TESSERA_BO_CACHED &&
	    args->flags & (DRM_TESSERA_BO_NO_MMAP | DRM_TESSERA_BO_LOCAL))
		return false;

	if (args->flags & DRM_TESSERA_BO_LOCAL_ONLY && !(args->flags & DRM_TESSERA_BO_LOCAL))
		return false;

	return args->size && args->size <= tessera_bo_max_size(tdev);
}

/**
 * tessera_ioctl_bo_create() - DRM_IOCTL_TESSERA_BO_CREATE
 * @drm: DRM device
 * @data: struct drm_tessera_bo_create
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_device *tdev = to_tessera_device(drm);
	struct tessera_file *tfile = file->driver_priv;
	struct drm_tessera_bo_create *args = data;
	u64 size = PAGE_ALIGN(args->size);
	struct tessera_vm *vm = NULL;
	struct tessera_bo *bo;
	int ret;

	if (!bo_create_valid(tdev, args))
		return -EINVAL;

	if (args->vm_id) {
		vm = tessera_vm_lookup(file, args->vm_id);
		if (!vm)
			return -ENOENT;
	}

	bo = tessera_bo_create(tdev, tfile->quota, size, args->flags, vm, args->vm_id);
	if (vm)
		tessera_vm_put(vm);
	if (IS_ERR(bo))
		return PTR_ERR(bo);

	ret = drm_gem_handle_create(file, &bo->base.base, &args->handle);
	if (!ret)
		args->size = size;
	drm_gem_object_put(&bo->base.base);

	return ret;
}

/**
 * tessera_ioctl_bo_mmap_offset() - DRM_IOCTL_TESSERA_BO_MMAP_OFFSET
 * @drm: DRM device
 * @data: struct drm_tessera_bo_mmap_offset
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_tessera_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;
	int ret = 0;

	if (args->flags)
		return -EINVAL;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	if (obj->import_attach)
		ret = -EINVAL;
	else if (to_tessera_bo(obj)->flags & DRM_TESSERA_BO_NO_MMAP)
		ret = -EPERM;
	else if (tessera_bo_state(to_tessera_bo(obj)) & DRM_TESSERA_BO_PURGED)
		ret = -EINVAL;
	else
		args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);

	return ret;
}

/**
 * tessera_ioctl_bo_info() - DRM_IOCTL_TESSERA_BO_INFO
 * @drm: DRM device
 * @data: struct drm_tessera_bo_info
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_bo_info(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_tessera_bo_info *args = data;
	struct drm_gem_object *obj;
	struct tessera_bo *bo;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	bo = to_tessera_bo(obj);
	args->create_flags = bo->flags;
	args->size = obj->size;
	args->state = tessera_bo_state(bo);
	args->vm_id = bo->vm_id;
	drm_gem_object_put(obj);

	return 0;
}

static char *copy_label(u64 ptr)
{
	char *label;

	label = strndup_user(u64_to_user_ptr(ptr), DRM_TESSERA_LABEL_MAX + 1);
	if (IS_ERR(label) && PTR_ERR(label) == -EINVAL)
		return ERR_PTR(-E2BIG);

	return label;
}

/**
 * tessera_ioctl_bo_set_label() - DRM_IOCTL_TESSERA_BO_SET_LABEL
 * @drm: DRM device
 * @data: struct drm_tessera_bo_set_label
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_bo_set_label(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_tessera_bo_set_label *args = data;
	struct drm_gem_object *obj;
	struct tessera_bo *bo;
	char *label = NULL;

	if (args->pad)
		return -EINVAL;

	if (args->label) {
		label = copy_label(args->label);
		if (IS_ERR(label))
			return PTR_ERR(label);
	}

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj) {
		kfree(label);
		return -ENOENT;
	}

	bo = to_tessera_bo(obj);
	mutex_lock(&bo->label_lock);
	swap(bo->label, label);
	mutex_unlock(&bo->label_lock);
	kfree(label);
	drm_gem_object_put(obj);

	return 0;
}

/**
 * tessera_ioctl_bo_madvise() - DRM_IOCTL_TESSERA_BO_MADVISE
 * @drm: DRM device
 * @data: struct drm_tessera_bo_madvise
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_bo_madvise(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_tessera_bo_madvise *args = data;
	struct drm_gem_object *obj;
	int ret;

	if (args->pad || args->madv > DRM_TESSERA_MADV_DONT_NEED)
		return -EINVAL;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	ret = tessera_bo_madvise(to_tessera_bo(obj), args->madv, &args->retained);
	tessera_delay(TESSERA_DELAY_MADVISE);
	if (!ret && args->madv == DRM_TESSERA_MADV_DONT_NEED)
		tessera_framebuffers_forget(to_tessera_device(drm), to_tessera_bo(obj));
	drm_gem_object_put(obj);

	return ret;
}
