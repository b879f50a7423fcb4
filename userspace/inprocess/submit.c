// SPDX-License-Identifier: MIT
/*
 * SUBMIT: all jobs are made and checked before the first is pushed, so that it is accepted as a
 * whole or not at all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

struct entry {
	struct job *job;
	struct drm_tessera_sync *signals;
	uint32_t signal_count;
};

struct submit {
	struct file *file;
	struct vm *vm;
	uint32_t count;
	struct entry entry[DRM_TESSERA_MAX_JOBS];
};

static bool stream_valid(const struct drm_tessera_job *u)
{
	if (!u->cmd_va && !u->cmd_size)
		return true;
	return u->cmd_va && u->cmd_size && u->cmd_size <= DRM_TESSERA_CMD_SIZE_MAX &&
	       !(u->cmd_va % DRM_TESSERA_CMD_ALIGN) &&
	       !(u->cmd_size % DRM_TESSERA_CMD_SIZE_ALIGN) &&
	       vm_range_valid(u->cmd_va, u->cmd_size);
}

static int job_wait(struct job *job, struct fence *f)
{
	if (job->waits == job->room) {
		struct fence **wait = realloc(job->wait,
					      (2 * job->room + 8) * sizeof(struct fence *));

		if (!wait) {
			fence_put(f);
			return -ENOMEM;
		}
		job->wait = wait;
		job->room = 2 * job->room + 8;
	}
	job->wait[job->waits++] = f;
	return 0;
}

static bool signals_handle(const struct entry *e, uint32_t handle)
{
	uint32_t i;

	for (i = 0; i < e->signal_count && e->signals[i].handle != handle; i++)
		;
	return i < e->signal_count;
}

/*
 * The signal of an earlier job with the lowest point that is enough for @sync, of the last such
 * job; NULL if there is none. *@from is the number of the job.
 */
static const struct drm_tessera_sync *find_signal(const struct submit *s, uint32_t index,
						  const struct drm_tessera_sync *sync,
						  uint32_t *from)
{
	const struct drm_tessera_sync *best = NULL;
	uint32_t i;

	while (index-- && !(best && best->point == sync->point)) {
		const struct entry *e = &s->entry[index];

		for (i = 0; i < e->signal_count; i++) {
			const struct drm_tessera_sync *signal = &e->signals[i];

			if (signal->handle != sync->handle || signal->point < sync->point ||
			    (!sync->point && signal->point) ||
			    (best && signal->point >= best->point))
				continue;
			best = signal;
			*from = index;
		}
	}
	return best;
}

/* As if each job had been submitted by a call of its own, see struct drm_tessera_submit. */
static int add_wait(struct submit *s, uint32_t index, const struct drm_tessera_sync *wait)
{
	struct job *job = s->entry[index].job;
	const struct drm_tessera_sync *signal;
	struct fence *f;
	uint32_t from, i;
	int ret = 0;

	signal = find_signal(s, index, wait, &from);
	if (!signal || signal->point != wait->point) {
		ret = syncobj_find(s->file, wait->handle, wait->point, &f);
		if (!ret)
			return job_wait(job, f);
		if (!signal)
			return ret;
	}
	if (!wait->point)
		return job_wait(job, fence_get(s->entry[from].job->done));

	/* A point implies the points before it: those of the call, and those before the call. */
	ret = 0;
	for (i = 0; !ret && i <= from; i++) {
		if (signals_handle(&s->entry[i], wait->handle))
			ret = job_wait(job, fence_get(s->entry[i].job->done));
	}
	if (!ret && !syncobj_find(s->file, wait->handle, 0, &f))
		ret = job_wait(job, f);
	return ret;
}

static int add_waits(struct submit *s, uint32_t index, const struct drm_tessera_job *u)
{
	struct job *job = s->entry[index].job;
	struct drm_tessera_sync *waits;
	uint32_t i;
	int ret;

	waits = syncs_in(&u->waits, &ret);
	for (i = 0; waits && !ret && i < u->waits.count; i++)
		ret = add_wait(s, index, &waits[i]);
	for (i = 0; !ret && i < index; i++) {
		if (u->after & 1ull << i)
			ret = job_wait(job, fence_get(s->entry[i].job->done));
	}
	free(waits);
	return ret;
}

/* The heap and the perfmon of the job. */
static int find_objects(struct submit *s, const struct drm_tessera_job *u, struct job *job)
{
	if (u->heap_id) {
		job->heap = table_find(&s->file->heaps, u->heap_id);
		if (!job->heap)
			return -ENOENT;
		job->heap->refs++;
		if (job->heap->vm != job->queue->vm)
			return -EINVAL;
	}
	if (u->perfmon_id) {
		job->perfmon = table_find(&s->file->perfmons, u->perfmon_id);
		if (!job->perfmon)
			return -ENOENT;
		job->perfmon->refs++;
	}
	return job->heap ? heap_prepare(job->heap) : 0;
}

static int get_signals(struct submit *s, struct entry *e, const struct drm_tessera_array *array)
{
	uint32_t i;
	int ret;

	e->signals = syncs_in(array, &ret);
	if (!e->signals)
		return ret;
	e->signal_count = array->count;
	for (i = 0; i < array->count; i++) {
		if (!table_find(&s->file->syncobjs, e->signals[i].handle))
			return -ENOENT;
	}
	return 0;
}

static int check(const struct submit *s, const struct drm_tessera_job *u, const struct queue *q)
{
	bool heaps = q->engine_class == DRM_TESSERA_ENGINE_BIN ||
		     q->engine_class == DRM_TESSERA_ENGINE_RENDER;

	if (!stream_valid(u) || (s->vm && s->vm != q->vm) || (u->heap_id && !heaps))
		return -EINVAL;
	return q->state & DRM_TESSERA_QUEUE_BANNED ? -ECANCELED : 0;
}

static int collect(struct submit *s, uint32_t index, const struct drm_tessera_job *u)
{
	struct entry *e = &s->entry[index];
	struct queue *q;
	char name[32];
	int ret;

	if (u->flags || u->pad || u->after >> index)
		return -EINVAL;
	q = table_find(&s->file->queues, u->queue_id);
	if (!q)
		return -ENOENT;
	ret = check(s, u, q);
	if (ret)
		return ret;
	s->vm = q->vm;
	e->job = calloc(1, sizeof(*e->job));
	if (!e->job)
		return -ENOMEM;
	e->job->queue = q;
	q->refs++;
	e->job->cmd_va = u->cmd_va;
	e->job->cmd_size = u->cmd_size;
	snprintf(name, sizeof(name), "tessera-queue%u", q->id);
	e->job->done = fence_new(name);
	if (!e->job->done)
		return -ENOMEM;
	ret = find_objects(s, u, e->job);
	ret = ret ? ret : add_waits(s, index, u);
	return ret ? ret : get_signals(s, e, &u->signals);
}

/* Nothing fails any more: a point for which there is no memory becomes the syncobj's only fence. */
static void publish(struct submit *s, const struct entry *e)
{
	uint32_t i;

	for (i = 0; i < e->signal_count; i++) {
		struct syncobj *o = table_find(&s->file->syncobjs, e->signals[i].handle);

		if (!e->signals[i].point || syncobj_add(o, e->signals[i].point, e->job->done))
			syncobj_replace(o, e->job->done);
	}
}

static void commit(struct submit *s)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		publish(s, &s->entry[i]);
	for (i = 0; i < s->count; i++) {
		queue_push(s->entry[i].job);
		s->entry[i].job = NULL;
	}
}

int ioctl_submit(struct file *file, void *data)
{
	const struct drm_tessera_submit *arg = data;
	struct drm_tessera_job *jobs;
	struct submit *s;
	uint32_t i;
	int ret;

	if (arg->flags || arg->pad)
		return -EINVAL;
	jobs = array_in(&arg->jobs, sizeof(*jobs), sizeof(*jobs), DRM_TESSERA_MAX_JOBS, &ret);
	if (!jobs)
		return ret;
	s = calloc(1, sizeof(*s));
	ret = s ? 0 : -ENOMEM;
	if (s) {
		s->file = file;
		s->count = arg->jobs.count;
	}
	for (i = 0; !ret && i < s->count; i++)
		ret = collect(s, i, &jobs[i]);
	if (!ret)
		commit(s);
	for (i = 0; s && i < s->count; i++) {
		job_free(s->entry[i].job);
		free(s->entry[i].signals);
	}
	free(s);
	free(jobs);
	return ret;
}
