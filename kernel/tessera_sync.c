// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Syncobjs
 *
 * What SUBMIT and VM_BIND share: arrays of waits and of signals. A wait is
 * resolved to a fence when the ioctl runs. A signal is looked up, and its chain
 * node allocated, before anything is queued, so that publishing the fence cannot
 * fail.
 */

#include <linux/dma-fence-chain.h>
#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include <drm/drm_syncobj.h>

#include "tessera_sync.h"
#include "tessera_uapi.h"

/**
 * struct tessera_signal - one signal
 */
struct tessera_signal {
	/** @syncobj: The syncobj, a reference. */
	struct drm_syncobj *syncobj;
	/** @chain: Node for the point, NULL for a binary syncobj or once used. */
	struct dma_fence_chain *chain;
	/** @handle: Its handle. */
	u32 handle;
	/** @point: Its point, 0 for a binary syncobj. */
	u64 point;
};

/**
 * struct tessera_signals - the signals of one job
 */
struct tessera_signals {
	/** @count: How many. */
	u32 count;
	/** @signal: In the order user space gave. */
	struct tessera_signal signal[] __counted_by(count);
};

static bool sync_valid(const struct drm_tessera_sync *sync)
{
	if (sync->flags || sync->pad)
		return false;

	switch (sync->type) {
	case DRM_TESSERA_SYNC_SYNCOBJ:
		return !sync->point;
	case DRM_TESSERA_SYNC_TIMELINE:
		return sync->point;
	default:
		return false;
	}
}

/**
 * tessera_syncs_in() - copy waits or signals from user space and check them
 * @array: where they are
 *
 * Return: the elements in kvmalloc() memory, NULL if there are none, or an error
 * pointer.
 */
struct drm_tessera_sync *tessera_syncs_in(const struct drm_tessera_array *array)
{
	struct drm_tessera_sync *syncs;
	u32 i;

	syncs = tessera_uapi_array(array, struct drm_tessera_sync, pad, TESSERA_MAX_SYNCS);
	if (IS_ERR_OR_NULL(syncs))
		return syncs;

	for (i = 0; i < array->count; i++) {
		if (!sync_valid(&syncs[i])) {
			kvfree(syncs);
			return ERR_PTR(-EINVAL);
		}
	}

	return syncs;
}

/**
 * tessera_sync_find() - the fence a wait means
 * @file: file
 * @sync: the wait
 * @fence: a reference, out; NULL if there is nothing left to wait for
 *
 * Return: 0, -ENOENT for an unknown handle, -EINVAL if there is no fence yet.
 */
int tessera_sync_find(struct drm_file *file, const struct drm_tessera_sync *sync,
		      struct dma_fence **fence)
{
	return drm_syncobj_find_fence(file, sync->handle, sync->point, 0, fence);
}

static int signal_get(struct drm_file *file, const struct drm_tessera_sync *sync,
		      struct tessera_signal *signal)
{
	signal->handle = sync->handle;
	signal->point = sync->point;
	signal->syncobj = drm_syncobj_find(file, sync->handle);
	if (!signal->syncobj)
		return -ENOENT;

	if (sync->type == DRM_TESSERA_SYNC_TIMELINE) {
		signal->chain = dma_fence_chain_alloc();
		if (!signal->chain)
			return -ENOMEM;
	}

	return 0;
}

/**
 * tessera_signals_get() - look up the signals of a job
 * @file: file
 * @array: struct drm_tessera_sync array in user memory
 *
 * Return: the signals, NULL if there are none, or an error pointer.
 */
struct tessera_signals *tessera_signals_get(struct drm_file *file,
					    const struct drm_tessera_array *array)
{
	struct drm_tessera_sync *syncs = tessera_syncs_in(array);
	struct tessera_signals *signals;
	int ret = 0;
	u32 i;

	if (IS_ERR_OR_NULL(syncs))
		return ERR_CAST(syncs);

	signals = kvzalloc(struct_size(signals, signal, array->count), GFP_KERNEL_ACCOUNT);
	if (!signals) {
		kvfree(syncs);
		return ERR_PTR(-ENOMEM);
	}

	signals->count = array->count;
	for (i = 0; i < array->count && !ret; i++)
		ret = signal_get(file, &syncs[i], &signals->signal[i]);

	kvfree(syncs);
	if (ret) {
		tessera_signals_put(signals);
		return ERR_PTR(ret);
	}

	return signals;
}

/**
 * tessera_signals_put() - free signals, published or not
 * @signals: signals or NULL
 */
void tessera_signals_put(struct tessera_signals *signals)
{
	u32 i;

	if (!signals)
		return;

	for (i = 0; i < signals->count; i++) {
		dma_fence_chain_free(signals->signal[i].chain);
		if (signals->signal[i].syncobj)
			drm_syncobj_put(signals->signal[i].syncobj);
	}
	kvfree(signals);
}

/**
 * tessera_signals_match() - does a wait mean one of these signals?
 * @signals: signals or NULL
 * @sync: wait
 *
 * Return: true if syncobj and point are the same.
 */
bool tessera_signals_match(const struct tessera_signals *signals,
			   const struct drm_tessera_sync *sync)
{
	u32 i;

	for (i = 0; signals && i < signals->count; i++) {
		if (signals->signal[i].handle == sync->handle &&
		    signals->signal[i].point == sync->point)
			return true;
	}

	return false;
}

/**
 * tessera_signals_publish() - put a fence into all syncobjs
 * @signals: signals or NULL, not published yet
 * @fence: fence
 *
 * Cannot fail and does not allocate.
 */
void tessera_signals_publish(struct tessera_signals *signals, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; signals && i < signals->count; i++) {
		struct tessera_signal *signal = &signals->signal[i];

		if (signal->chain) {
			drm_syncobj_add_point(signal->syncobj, signal->chain, fence, signal->point);
			signal->chain = NULL;
		} else {
			drm_syncobj_replace_fence(signal->syncobj, fence);
		}
	}
}
