// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Syncobjs
 *
 * The arrays of waits and signals that SUBMIT and VM_BIND share. A wait is resolved to
 * a fence when the ioctl runs. For a signal, the syncobj is looked up and its chain
 * node allocated before anything is queued. Publishing the fence can therefore not
 * fail.
 */

#include <linux/bits.h>
#include <linux/dma-fence-chain.h>
#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/rbtree.h>
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
	/** @node: Link in the index of a SUBMIT, unless a later signal has its place. */
	struct rb_node node;
	/** @job: Number of its job in the SUBMIT, once it is in the index. */
	u32 job;
	/** @first: The signal of this syncobj that was put into the index first. */
	struct tessera_signal *first;
	/** @jobs: In @first: jobs that signal the syncobj, a bit each. */
	u64 jobs;
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

static int signal_compare(const struct tessera_signal *signal, u32 handle, u64 point)
{
	if (signal->handle != handle)
		return signal->handle < handle ? -1 : 1;
	if (signal->point != point)
		return signal->point < point ? -1 : 1;

	return 0;
}

/* A neighbor in the index that is about the same syncobj, or NULL. */
static struct tessera_signal *signal_beside(struct tessera_signal *signal)
{
	struct rb_node *beside[] = { rb_prev(&signal->node), rb_next(&signal->node) };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(beside); i++) {
		if (beside[i] && rb_entry(beside[i], struct tessera_signal, node)->handle ==
				 signal->handle)
			return rb_entry(beside[i], struct tessera_signal, node);
	}

	return NULL;
}

/* Put @new into the index; it takes the place of an earlier job's signal of the same. */
static void signal_insert(struct rb_root *index, struct tessera_signal *new)
{
	struct rb_node **link = &index->rb_node, *parent = NULL;
	struct tessera_signal *beside;

	while (*link) {
		struct tessera_signal *signal = rb_entry(*link, struct tessera_signal, node);
		int cmp = signal_compare(signal, new->handle, new->point);

		if (!cmp) {
			rb_replace_node(&signal->node, &new->node, index);
			new->first = signal->first;
			return;
		}
		parent = *link;
		link = cmp < 0 ? &parent->rb_right : &parent->rb_left;
	}

	rb_link_node(&new->node, parent, link);
	rb_insert_color(&new->node, index);
	beside = signal_beside(new);
	new->first = beside ? beside->first : new;
}

/**
 * tessera_signals_index() - let the waits of later jobs find the signals of a job
 * @signals: signals or NULL; they stay until the index is not used any more
 * @index: index of the SUBMIT, empty or with the signals of the jobs before
 * @job: number of the job
 */
void tessera_signals_index(struct tessera_signals *signals, struct rb_root *index, u32 job)
{
	u32 i;

	for (i = 0; signals && i < signals->count; i++) {
		struct tessera_signal *signal = &signals->signal[i];

		signal->job = job;
		signal_insert(index, signal);
		signal->first->jobs |= BIT_ULL(job);
	}
}

/* The signal of the wait's syncobj with the lowest point that is not below the wait's, or NULL. */
static struct tessera_signal *signal_find(const struct rb_root *index,
					  const struct drm_tessera_sync *sync)
{
	struct tessera_signal *found = NULL;
	struct rb_node *node = index->rb_node;

	while (node) {
		struct tessera_signal *signal = rb_entry(node, struct tessera_signal, node);
		int cmp = signal_compare(signal, sync->handle, sync->point);

		if (cmp >= 0)
			found = signal;
		if (!cmp)
			break;
		node = cmp < 0 ? node->rb_right : node->rb_left;
	}

	return found && found->handle == sync->handle ? found : NULL;
}

/**
 * tessera_sync_resolve() - what does a wait of a SUBMIT wait for?
 * @file: file
 * @index: signals of the jobs before
 * @sync: wait
 * @jobs: jobs before that are waited for, a bit each, out
 * @fence: fence from before the ioctl that is waited for, a reference, or NULL, out
 *
 * As if each job had been submitted by a call of its own. A signal within the call of exactly what
 * is waited for comes first. Otherwise a wait for a timeline point takes a fence from before the
 * ioctl if there is one for that point, else the lowest point above it within the call. A point
 * implies the points before it, so the jobs before that signal the same timeline are waited for as
 * well, and what the timeline held before the ioctl.
 *
 * Return: 0, -ENOENT for an unknown handle, -EINVAL if there is nothing to wait for.
 */
int tessera_sync_resolve(struct drm_file *file, const struct rb_root *index,
			 const struct drm_tessera_sync *sync, u64 *jobs, struct dma_fence **fence)
{
	struct tessera_signal *signal;
	int ret;

	*jobs = 0;
	*fence = NULL;
	/* A binary syncobj has no lowest point: the timeline points of the handle are not meant. */
	signal = signal_find(index, sync);
	if (signal && !sync->point && signal->point)
		signal = NULL;
	if (!signal || signal->point != sync->point) {
		ret = tessera_sync_find(file, sync, fence);
		if (!ret || !signal)
			return ret;
	}

	*jobs = BIT_ULL(signal->job);
	if (sync->point) {
		*jobs = signal->first->jobs & GENMASK_ULL(signal->job, 0);
		*fence = drm_syncobj_fence_get(signal->syncobj);
	}

	return 0;
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
