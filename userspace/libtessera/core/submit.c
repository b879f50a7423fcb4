// SPDX-License-Identifier: MIT
/*
 * The submit builder: collects jobs with their waits and signals in arrays that only grow, and
 * hands them to the kernel in one ioctl. It holds references on queues and syncs until then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "internal.h"

#define DEBUG_SECONDS 60u		/* TESSERA_DEBUG=sync waits that long */

/* Waits or signals of one job. */
struct points {
	struct drm_tessera_sync *packed;	/* what the kernel gets */
	struct tsr_sync **syncs;		/* the references, same order */
	unsigned int count, capacity;
};

struct job {
	struct tsr_queue *queue;		/* referenced */
	uint64_t va, after;			/* stream; mask of earlier jobs */
	uint32_t size;
	struct points waits, signals;
	struct tsr_tiler_heap *heap;		/* referenced, NULL: none */
	struct tsr_perfmon *perfmon;		/* likewise */
};

struct tsr_submit {
	struct tsr_device *device;		/* referenced */
	struct job *jobs;			/* capacity elements; memory of points is kept */
	struct drm_tessera_job *packed;		/* likewise, filled by flush */
	unsigned int count, capacity;
};

int tsr_submit_create(struct tsr_device *device, struct tsr_submit **out)
{
	struct tsr_submit *submit = calloc(1, sizeof(*submit));

	if (!submit)
		return tsr_fail(ENOMEM, "no memory for a list of jobs");
	submit->device = tsr_device_ref(device);
	*out = submit;
	return 0;
}

static void drop_points(struct points *points)
{
	while (points->count)
		tsr_sync_unref(points->syncs[--points->count]);
}

void tsr_submit_reset(struct tsr_submit *submit)
{
	unsigned int i;

	for (i = 0; i < submit->count; i++) {
		drop_points(&submit->jobs[i].waits);
		drop_points(&submit->jobs[i].signals);
		tsr_queue_unref(submit->jobs[i].queue);
		tsr_tiler_heap_unref(submit->jobs[i].heap);
		tsr_perfmon_unref(submit->jobs[i].perfmon);
	}
	submit->count = 0;
}

static void free_points(struct points *points)
{
	free(points->packed);
	free(points->syncs);
}

void tsr_submit_destroy(struct tsr_submit *submit)
{
	unsigned int i;

	if (!submit)
		return;
	tsr_submit_reset(submit);
	for (i = 0; i < submit->capacity; i++) {
		free_points(&submit->jobs[i].waits);
		free_points(&submit->jobs[i].signals);
	}
	free(submit->jobs);
	free(submit->packed);
	tsr_device_unref(submit->device);
	free(submit);
}

/* Room for one more job. New elements are zero. */
static int grow_jobs(struct tsr_submit *submit)
{
	unsigned int capacity = submit->capacity ? submit->capacity * 2 : 4;
	struct drm_tessera_job *packed;
	struct job *jobs;

	if (submit->count < submit->capacity)
		return 0;
	packed = realloc(submit->packed, capacity * sizeof(*packed));
	if (packed)
		submit->packed = packed;
	jobs = packed ? realloc(submit->jobs, capacity * sizeof(*jobs)) : NULL;
	if (!jobs)
		return tsr_fail(ENOMEM, "no memory for %u jobs", capacity);
	memset(jobs + submit->capacity, 0, (capacity - submit->capacity) * sizeof(*jobs));
	submit->jobs = jobs;
	submit->capacity = capacity;
	return 0;
}

static int check_job(const struct tsr_submit *submit, const struct tsr_queue *queue, uint64_t va,
		     uint32_t size)
{
	if (submit->count >= submit->device->info.max_jobs)
		return tsr_fail(ENOSPC, "a list of %u jobs is full", submit->count);
	if (va % DRM_TESSERA_CMD_ALIGN || size % DRM_TESSERA_CMD_SIZE_ALIGN || !va != !size)
		return tsr_fail(EINVAL,
				"stream 0x%llx + 0x%x, expected an address that is a multiple of "
				"%d and a size that is one of %d, or 0 and 0",
				(unsigned long long)va, size, DRM_TESSERA_CMD_ALIGN,
				DRM_TESSERA_CMD_SIZE_ALIGN);
	if (tsr_queue_device(queue) != submit->device)
		return tsr_fail(EINVAL, "a queue of another device than the list's");
	if (submit->count && tsr_queue_vm(queue) != tsr_queue_vm(submit->jobs[0].queue))
		return tsr_fail(EINVAL, "a queue of another VM than that of job 0");
	return 0;
}

int tsr_submit_job(struct tsr_submit *submit, struct tsr_queue *queue, uint64_t va, uint32_t size)
{
	struct job *job;
	int ret = check_job(submit, queue, va, size);

	if (!ret)
		ret = grow_jobs(submit);
	if (ret)
		return ret;
	job = &submit->jobs[submit->count];
	job->queue = tsr_queue_ref(queue);
	job->va = va;
	job->size = size;
	job->after = 0;
	job->heap = NULL;
	job->perfmon = NULL;
	return (int)submit->count++;
}

int tsr_submit_stream(struct tsr_submit *submit, struct tsr_queue *queue,
		      struct tsr_stream *stream)
{
	uint64_t va;
	uint32_t size;
	int ret = tsr_stream_finish(stream, &va, &size);

	return ret ? ret : tsr_submit_job(submit, queue, va, size);
}

static int check_index(const struct tsr_submit *submit, int job)
{
	if (job < 0 || (unsigned int)job >= submit->count)
		return tsr_fail(EINVAL, "job %d of a list of %u", job, submit->count);
	return 0;
}

int tsr_submit_after(struct tsr_submit *submit, int job, int earlier)
{
	int ret = check_index(submit, job);

	if (ret)
		return ret;
	if (earlier < 0 || earlier >= job || earlier >= 64)
		return tsr_fail(EINVAL, "job %d after job %d, expected an earlier one", job,
				earlier);
	submit->jobs[job].after |= 1ull << earlier;
	return 0;
}

static int grow_points(struct points *points)
{
	unsigned int capacity = points->capacity ? points->capacity * 2 : 2;
	struct drm_tessera_sync *packed;
	struct tsr_sync **syncs;

	if (points->count < points->capacity)
		return 0;
	packed = realloc(points->packed, capacity * sizeof(*packed));
	if (packed)
		points->packed = packed;
	syncs = packed ? realloc(points->syncs, capacity * sizeof(*syncs)) : NULL;
	if (!syncs)
		return tsr_fail(ENOMEM, "no memory for %u syncs", capacity);
	points->syncs = syncs;
	points->capacity = capacity;
	return 0;
}

static int add_point(struct tsr_submit *submit, struct points *points, struct tsr_sync *sync,
		     uint64_t value)
{
	struct tsr_point point = { sync, value };
	int ret;

	if (points->count >= submit->device->info.max_syncs)
		return tsr_fail(ENOSPC, "a job has %u syncs already", points->count);
	ret = grow_points(points);
	if (!ret)
		ret = tsr_sync_pack(&point, submit->device, &points->packed[points->count]);
	if (!ret)
		points->syncs[points->count++] = tsr_sync_ref(sync);
	return ret;
}

int tsr_submit_wait(struct tsr_submit *submit, int job, struct tsr_sync *sync, uint64_t point)
{
	int ret = check_index(submit, job);

	return ret ? ret : add_point(submit, &submit->jobs[job].waits, sync, point);
}

int tsr_submit_signal(struct tsr_submit *submit, int job, struct tsr_sync *sync, uint64_t point)
{
	int ret = check_index(submit, job);

	return ret ? ret : add_point(submit, &submit->jobs[job].signals, sync, point);
}

int tsr_submit_heap(struct tsr_submit *submit, int job, struct tsr_tiler_heap *heap)
{
	int ret = check_index(submit, job);

	if (ret)
		return ret;
	tsr_tiler_heap_ref(heap);
	tsr_tiler_heap_unref(submit->jobs[job].heap);
	submit->jobs[job].heap = heap;
	return 0;
}

int tsr_submit_perfmon(struct tsr_submit *submit, int job, struct tsr_perfmon *perfmon)
{
	int ret = check_index(submit, job);

	if (ret)
		return ret;
	tsr_perfmon_ref(perfmon);
	tsr_perfmon_unref(submit->jobs[job].perfmon);
	submit->jobs[job].perfmon = perfmon;
	return 0;
}

static struct drm_tessera_array array_of(const struct points *points)
{
	return (struct drm_tessera_array) {
		.ptr = (uintptr_t)points->packed,
		.count = points->count,
		.stride = sizeof(points->packed[0]),
	};
}

/* ---- TESSERA_DEBUG --------------------------------------------------------------------------- */

/* A sync that each job signals, for wait_for_all(); NULL where the job has no room for it. */
static struct tsr_sync **debug_syncs(struct tsr_submit *submit)
{
	struct tsr_sync **syncs = calloc(submit->count + 1, sizeof(syncs[0]));
	unsigned int i;

	for (i = 0; syncs && i < submit->count; i++) {
		if (!tsr_sync_create(submit->device, 0, &syncs[i]) &&
		    add_point(submit, &submit->jobs[i].signals, syncs[i], 0)) {
			tsr_sync_unref(syncs[i]);
			syncs[i] = NULL;
		}
	}
	return syncs;
}

/* Say why a job has failed. */
static void report_job(const struct tsr_submit *submit, unsigned int i, int error)
{
	struct drm_tessera_queue_get_state state = { 0 };

	if (error == -ETIME) {
		tsr_debug_note("sync: job %u of %u on queue %u is not done after %u s", i,
			       submit->count, tsr_queue_id(submit->jobs[i].queue), DEBUG_SECONDS);
		return;
	}
	tsr_queue_get_state(submit->jobs[i].queue, &state, sizeof(state));
	tsr_debug_note("sync: job %u of %u on queue %u failed: %s; fault %u, packet 0x%llx", i,
		       submit->count, tsr_queue_id(submit->jobs[i].queue), tsr_error_string(error),
		       state.fault_code, (unsigned long long)state.fault_packet_va);
}

static void wait_for_all(const struct tsr_submit *submit, struct tsr_sync **syncs)
{
	unsigned int i;
	int ret;

	for (i = 0; syncs && i < submit->count; i++) {
		ret = syncs[i] ? tsr_sync_finish(syncs[i], 0,
						 tsr_deadline(DEBUG_SECONDS * 1000000000ull)) : 0;
		if (ret)
			report_job(submit, i, ret);
	}
}

/* With @undo the jobs no longer signal them. */
static void drop_syncs(const struct tsr_submit *submit, struct tsr_sync **syncs, bool undo)
{
	struct points *signals;
	unsigned int i;

	for (i = 0; syncs && i < submit->count; i++) {
		signals = &submit->jobs[i].signals;
		if (undo && syncs[i])
			tsr_sync_unref(signals->syncs[--signals->count]);
		tsr_sync_unref(syncs[i]);
	}
	free(syncs);
}

static int debug_jobs(const struct tsr_submit *submit)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < submit->count; i++)
		ret = tsr_debug_job(submit->jobs[i].queue, i, submit->count, submit->jobs[i].va,
				    submit->jobs[i].size);
	return ret;
}

static int flush(struct tsr_submit *submit)
{
	struct drm_tessera_submit arg = {
		.jobs = {
			.ptr = (uintptr_t)submit->packed,
			.count = submit->count,
			.stride = sizeof(submit->packed[0]),
		},
	};
	const struct job *job;
	unsigned int i;
	int error;

	for (i = 0; i < submit->count; i++) {
		job = &submit->jobs[i];
		error = tsr_queue_open(job->queue);
		if (error)
			return error;
		submit->packed[i] = (struct drm_tessera_job) {
			.queue_id = tsr_queue_id(job->queue),
			.cmd_va = job->va,
			.cmd_size = job->size,
			.after = job->after,
			.heap_id = job->heap ? tsr_tiler_heap_id(job->heap) : 0,
			.perfmon_id = job->perfmon ? tsr_perfmon_id(job->perfmon) : 0,
			.waits = array_of(&job->waits),
			.signals = array_of(&job->signals),
		};
	}
	error = tsr_device_ioctl(submit->device, DRM_IOCTL_TESSERA_SUBMIT, &arg);
	if (error == EINVAL)
		return tsr_fail(EINVAL,
				"%u job(s) refused: a wait has no fence yet, or a stream is "
				"outside the VM's range",
				submit->count);
	return error ? tsr_fail_ioctl(error, "submission of %u job(s)", submit->count) : 0;
}

int tsr_submit_flush(struct tsr_submit *submit)
{
	const uint32_t debug = tsr_debug();
	struct tsr_sync **syncs = NULL;
	int ret = 0;

	if (debug & (TSR_DEBUG_DUMP | TSR_DEBUG_VALIDATE))
		ret = debug_jobs(submit);
	if (ret) {
		tsr_debug_note("validate: %s", tsr_error_message());
		return ret;
	}
	if (debug & TSR_DEBUG_SYNC)
		syncs = debug_syncs(submit);
	ret = flush(submit);
	if (!ret)
		wait_for_all(submit, syncs);
	drop_syncs(submit, syncs, ret);
	if (!ret)
		tsr_submit_reset(submit);
	return ret;
}

int tsr_queue_run(struct tsr_queue *queue, struct tsr_stream *stream, struct tsr_sync *sync,
		  uint64_t point)
{
	struct tsr_submit *submit = NULL;
	int ret;

	ret = tsr_submit_create(tsr_queue_device(queue), &submit);
	if (ret)
		return ret;
	ret = tsr_submit_stream(submit, queue, stream);
	if (ret >= 0 && sync)
		ret = tsr_submit_signal(submit, ret, sync, point);
	if (ret >= 0)
		ret = tsr_submit_flush(submit);
	tsr_submit_destroy(submit);
	return ret;
}
