// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Performance monitors
 *
 * A job that names a perfmon runs between a COUNTER_BEGIN and a COUNTER_END of the
 * ring. COUNTER_END adds the increase of the queue's counters to the perfmon's words.
 * The CPU does nothing until user space reads the perfmon.
 */

#include <linux/bitops.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/tessera_drm.h>

#include "tessera_as.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_perfmon.h"
#include "tessera_quota.h"
#include "tessera_uapi.h"

#define COUNTER(_id, _name, _meaning) { .id = _id, .name = _name, .meaning = _meaning },

const struct tessera_counter tessera_counters[TESSERA_NUM_COUNTERS] = {
	TSR_QUEUE_COUNTER__TABLE(COUNTER)
};

static bool counter_known(u32 id)
{
	u32 i;

	for (i = 0; i < TESSERA_NUM_COUNTERS && tessera_counters[i].name; i++) {
		if (tessera_counters[i].id == id)
			return true;
	}

	return false;
}

static void tessera_perfmon_release(struct kref *ref)
{
	struct tessera_perfmon *perfmon = container_of(ref, struct tessera_perfmon, ref);
	struct tessera_device *tdev = perfmon->tdev;

	tessera_counters_free(tdev, perfmon->slot);
	tessera_quota_uncharge(perfmon->quota, TESSERA_QUOTA_PERFMONS, 1);
	tessera_quota_put(perfmon->quota);
	mutex_destroy(&perfmon->lock);
	kfree(perfmon);
	drm_dev_put(&tdev->drm);
}

/**
 * tessera_perfmon_put() - drop a reference
 * @perfmon: perfmon or NULL
 */
void tessera_perfmon_put(struct tessera_perfmon *perfmon)
{
	if (perfmon)
		kref_put(&perfmon->ref, tessera_perfmon_release);
}

/**
 * tessera_perfmon_lookup() - find the perfmon of a file
 * @file: file
 * @id: its id
 *
 * Return: a reference, or NULL if there is none.
 */
struct tessera_perfmon *tessera_perfmon_lookup(struct drm_file *file, u32 id)
{
	struct tessera_file *tfile = file->driver_priv;
	struct tessera_perfmon *perfmon;

	xa_lock(&tfile->perfmons);
	perfmon = xa_load(&tfile->perfmons, id);
	if (perfmon)
		kref_get(&perfmon->ref);
	xa_unlock(&tfile->perfmons);

	return perfmon;
}

/* Which counters, and where each of them is: the device writes them in ascending order. */
static int perfmon_set_counters(struct tessera_perfmon *perfmon, const u32 *id, u32 count)
{
	u32 i;

	if (!count)
		return -EINVAL;

	for (i = 0; i < count; i++) {
		if (!counter_known(id[i]) || perfmon->mask & BIT_ULL(id[i]))
			return -EINVAL;
		perfmon->mask |= BIT_ULL(id[i]);
	}

	perfmon->count = count;
	for (i = 0; i < count; i++)
		perfmon->word[i] = hweight64(perfmon->mask & (BIT_ULL(id[i]) - 1));

	return 0;
}

static struct tessera_perfmon *perfmon_create(struct tessera_device *tdev,
					      struct tessera_quota *quota, const u32 *id, u32 count)
{
	struct tessera_perfmon *perfmon = kzalloc(sizeof(*perfmon), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!perfmon)
		return ERR_PTR(-ENOMEM);

	ret = perfmon_set_counters(perfmon, id, count);
	if (ret)
		goto err_free;

	ret = tessera_quota_charge(quota, TESSERA_QUOTA_PERFMONS, 1);
	if (ret)
		goto err_free;

	ret = tessera_counters_alloc(tdev);
	if (ret < 0)
		goto err_uncharge;

	perfmon->slot = ret;
	kref_init(&perfmon->ref);
	mutex_init(&perfmon->lock);
	drm_dev_get(&tdev->drm);
	perfmon->tdev = tdev;
	perfmon->quota = tessera_quota_get(quota);

	return perfmon;

err_uncharge:
	tessera_quota_uncharge(quota, TESSERA_QUOTA_PERFMONS, 1);
err_free:
	kfree(perfmon);
	return ERR_PTR(ret);
}

/**
 * tessera_ioctl_perfmon_create() - DRM_IOCTL_TESSERA_PERFMON_CREATE
 * @drm: DRM device
 * @data: struct drm_tessera_perfmon_create
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_perfmon_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_file *tfile = file->driver_priv;
	struct drm_tessera_perfmon_create *args = data;
	struct tessera_perfmon *perfmon;
	u32 *id;
	int ret;

	if (args->flags)
		return -EINVAL;

	id = tessera_uapi_array_in(&args->counters, sizeof(*id), sizeof(*id),
				   TESSERA_NUM_COUNTERS);
	if (IS_ERR(id))
		return PTR_ERR(id);

	perfmon = perfmon_create(to_tessera_device(drm), tfile->quota, id, args->counters.count);
	kvfree(id);
	if (IS_ERR(perfmon))
		return PTR_ERR(perfmon);

	ret = xa_alloc(&tfile->perfmons, &args->perfmon_id, perfmon, TESSERA_ID_LIMIT,
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		tessera_perfmon_put(perfmon);

	return ret;
}

/**
 * tessera_ioctl_perfmon_destroy() - DRM_IOCTL_TESSERA_PERFMON_DESTROY
 * @drm: DRM device
 * @data: struct drm_tessera_perfmon_destroy
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_perfmon_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_file *tfile = file->driver_priv;
	struct drm_tessera_perfmon_destroy *args = data;
	struct tessera_perfmon *perfmon;

	if (args->pad)
		return -EINVAL;

	perfmon = xa_erase(&tfile->perfmons, args->perfmon_id);
	if (!perfmon)
		return -ENOENT;

	tessera_perfmon_put(perfmon);

	return 0;
}

static int perfmon_read(struct tessera_perfmon *perfmon, u64 *value, u64 *jobs, bool reset)
{
	u64 words[TESSERA_NUM_COUNTERS];
	u32 i;
	int ret;

	mutex_lock(&perfmon->lock);
	ret = tessera_counters_read(perfmon->tdev, perfmon->slot, words, perfmon->count);
	if (!ret) {
		u64 done = atomic64_read(&perfmon->jobs);

		for (i = 0; i < perfmon->count; i++)
			value[i] = words[perfmon->word[i]] - perfmon->base[perfmon->word[i]];
		*jobs = done - perfmon->jobs_base;
		if (reset) {
			memcpy(perfmon->base, words, sizeof(words[0]) * perfmon->count);
			perfmon->jobs_base = done;
		}
	}
	mutex_unlock(&perfmon->lock);

	return ret;
}

/**
 * tessera_ioctl_perfmon_read() - DRM_IOCTL_TESSERA_PERFMON_READ
 * @drm: DRM device
 * @data: struct drm_tessera_perfmon_read
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_perfmon_read(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_tessera_perfmon_read *args = data;
	u64 value[TESSERA_NUM_COUNTERS];
	struct tessera_perfmon *perfmon;
	int ret;

	if (args->flags & ~DRM_TESSERA_PERFMON_RESET)
		return -EINVAL;

	perfmon = tessera_perfmon_lookup(file, args->perfmon_id);
	if (!perfmon)
		return -ENOENT;

	if (args->values.count != perfmon->count || args->values.stride != sizeof(*value))
		ret = -EINVAL;
	else
		ret = perfmon_read(perfmon, value, &args->jobs,
				   args->flags & DRM_TESSERA_PERFMON_RESET);
	if (!ret)
		ret = tessera_uapi_array_out(&args->values, sizeof(*value), sizeof(*value),
					     value, perfmon->count);
	tessera_perfmon_put(perfmon);

	return ret;
}
