/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_UAPI_H__
#define __TESSERA_UAPI_H__

#include <linux/fs.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <drm/tessera_drm.h>

/* Limits of one call, advertised by DEV_QUERY. */
#define TESSERA_MAX_JOBS	DRM_TESSERA_MAX_JOBS
#define TESSERA_MAX_SYNCS	1024
#define TESSERA_MAX_BIND_OPS	4096

void *tessera_uapi_array_in(const struct drm_tessera_array *array, size_t known, size_t first,
			    u32 max);
int tessera_uapi_array_out(const struct drm_tessera_array *array, size_t known, size_t first,
			   const void *elements, u32 count);

/**
 * tessera_uapi_array() - copy an array of user space's elements
 * @array: where it is
 * @type: type of an element as this kernel knows it
 * @last: last member of the first version of the element
 * @max: most elements
 *
 * Return: elements in kvmalloc() memory, zero-extended; NULL if the array is
 * empty; an error pointer.
 */
#define tessera_uapi_array(array, type, last, max) \
	((type *)tessera_uapi_array_in(array, sizeof(type), offsetofend(type, last), max))

long tessera_uapi_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);
#ifdef CONFIG_COMPAT
long tessera_uapi_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);
#else
#define tessera_uapi_compat_ioctl NULL	/* as drm_compat_ioctl */
#endif

#endif
