// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Extensible arguments
 *
 * The uapi header states the rules. Structures and array elements grow at their end.
 * Fields that user space does not provide are zero. Bytes that this kernel does not
 * know must be zero. For the argument of an ioctl, the DRM core implements the first
 * two rules and ignores unknown bytes. The functions here refuse them.
 */

#include <linux/compat.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_ioctl.h>

#include "tessera_device.h"
#include "tessera_pm.h"
#include "tessera_uapi.h"

/**
 * tessera_uapi_array_in() - copy an array from user space
 * @array: where it is
 * @known: size of an element as this kernel knows it
 * @first: size of the first version of the element
 * @max: most elements
 *
 * Return: elements in kvmalloc() memory, zero-extended; NULL if the array is
 * empty; -EINVAL for a bad count or stride, -E2BIG for data in an unknown tail,
 * -EFAULT, -ENOMEM.
 */
void *tessera_uapi_array_in(const struct drm_tessera_array *array, size_t known, size_t first,
			    u32 max)
{
	const void __user *src = u64_to_user_ptr(array->ptr);
	void *elements;
	int ret;
	u32 i;

	if (!array->count)
		return NULL;
	if (array->count > max || array->stride < first || array->stride > DRM_TESSERA_STRIDE_MAX)
		return ERR_PTR(-EINVAL);

	elements = kvcalloc(array->count, known, GFP_KERNEL_ACCOUNT);
	if (!elements)
		return ERR_PTR(-ENOMEM);

	for (i = 0; i < array->count; i++) {
		ret = copy_struct_from_user(elements + i * known, known,
					    src + (size_t)i * array->stride, array->stride);
		if (ret) {
			kvfree(elements);
			return ERR_PTR(ret);
		}
	}

	return elements;
}

/**
 * tessera_uapi_array_out() - copy an array to user space
 * @array: where to, with room for @count elements
 * @known: size of an element as this kernel knows it
 * @first: size of the first version of the element
 * @elements: the elements
 * @count: how many
 *
 * What user space knows and this kernel does not is cleared.
 *
 * Return: 0, -EINVAL for a bad stride, -EFAULT.
 */
int tessera_uapi_array_out(const struct drm_tessera_array *array, size_t known, size_t first,
			   const void *elements, u32 count)
{
	void __user *dst = u64_to_user_ptr(array->ptr);
	size_t copy = min_t(size_t, known, array->stride);
	u32 i;

	if (array->stride < first || array->stride > DRM_TESSERA_STRIDE_MAX)
		return -EINVAL;

	for (i = 0; i < count; i++) {
		void __user *to = dst + (size_t)i * array->stride;

		if (copy_to_user(to, elements + i * known, copy))
			return -EFAULT;
		if (clear_user(to + copy, array->stride - copy))
			return -EFAULT;
	}

	return 0;
}

/* The core copies what the kernel knows; see to it that nothing else was meant. */
static int check_tail(struct drm_device *drm, unsigned int cmd, unsigned long arg)
{
	unsigned int nr = DRM_IOCTL_NR(cmd) - DRM_COMMAND_BASE;
	size_t known, size = _IOC_SIZE(cmd);
	int ret;

	if (_IOC_TYPE(cmd) != DRM_IOCTL_BASE || nr >= drm->driver->num_ioctls ||
	    !(_IOC_DIR(cmd) & _IOC_WRITE))
		return 0;

	nr = array_index_nospec(nr, drm->driver->num_ioctls);
	known = _IOC_SIZE(drm->driver->ioctls[nr].cmd);
	if (size <= known)
		return 0;

	ret = check_zeroed_user((const void __user *)arg + known, size - known);
	if (ret < 0)
		return ret;

	return ret ? 0 : -E2BIG;
}

/* Those that only look at, or change, what the kernel remembers let the device sleep. */
static bool ioctl_needs_device(unsigned int cmd)
{
	switch (DRM_IOCTL_NR(cmd) - DRM_COMMAND_BASE) {
	case DRM_TESSERA_DEV_QUERY:
	case DRM_TESSERA_VM_CREATE:
	case DRM_TESSERA_VM_GET_STATE:
	case DRM_TESSERA_BO_MMAP_OFFSET:
	case DRM_TESSERA_BO_INFO:
	case DRM_TESSERA_BO_SET_LABEL:
	case DRM_TESSERA_QUEUE_GET_STATE:
		return false;
	default:
		return true;
	}
}

/* Those of the core (syncobjs, PRIME) need no registers, and some wait for long. */
static bool ioctl_is_ours(unsigned int cmd)
{
	unsigned int nr = DRM_IOCTL_NR(cmd);

	return nr >= DRM_COMMAND_BASE && nr < DRM_COMMAND_END;
}

/**
 * tessera_uapi_ioctl() - drm_ioctl() that knows about tails, with the device awake
 * @filp: file
 * @cmd: command
 * @arg: argument
 *
 * Return: as drm_ioctl(), -E2BIG, or -EIO if the device cannot be woken.
 */
long tessera_uapi_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct drm_file *file = filp->private_data;
	struct tessera_device *tdev = to_tessera_device(file->minor->dev);
	long ret;

	if (!ioctl_is_ours(cmd))
		return drm_ioctl(filp, cmd, arg);

	ret = check_tail(&tdev->drm, cmd, arg);
	if (ret)
		return ret;
	if (!ioctl_needs_device(cmd))
		return drm_ioctl(filp, cmd, arg);

	ret = tessera_pm_get(tdev);
	if (ret)
		return ret;
	ret = drm_ioctl(filp, cmd, arg);
	tessera_pm_put(tdev);

	return ret;
}

#ifdef CONFIG_COMPAT
/**
 * tessera_uapi_compat_ioctl() - the same for 32-bit user space
 * @filp: file
 * @cmd: command
 * @arg: argument
 *
 * The driver's own structures have one layout; only the core has others.
 *
 * Return: as drm_compat_ioctl(), or -E2BIG.
 */
long tessera_uapi_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	if (!ioctl_is_ours(cmd))
		return drm_compat_ioctl(filp, cmd, arg);

	return tessera_uapi_ioctl(filp, cmd, (unsigned long)compat_ptr(arg));
}
#endif
