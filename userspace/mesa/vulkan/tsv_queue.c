// SPDX-License-Identifier: MIT
/*
 * Queues. A VkQueue has one kernel queue for each engine, which the kernel creates for the first
 * job, and a timeline that every submission signals.
 *
 * A command buffer is a list of segments, each the work of one engine and of one lane. Segments
 * become jobs. Those of a lane are in order, those of two lanes where a barrier was recorded or
 * another command buffer begins. Jobs wait for the semaphores and for the submission before, by
 * themselves or through a job that they wait for. The signals are those of a job that waits for
 * all.
 *
 * Jobs of BIN wait for less, so that BIN of a frame runs beside RENDER of the frame before: for
 * semaphores and barriers whose later stages BIN has, and for RENDER of the last pass that has had
 * the same heap.
 */
#include <errno.h>
#include <xf86drm.h>

#include "tsv_cmd.h"
#include "tsv_device.h"

#include "util/u_dynarray.h"
#include "vk_alloc.h"

#define JOBS_MOST	DRM_TESSERA_MAX_JOBS

static const struct {
	enum drm_tessera_engine_class class;
	const char *name;
} engines[TSV_ENGINES] = {
	[TSV_COPY] = { DRM_TESSERA_ENGINE_COPY, "copy" },
	[TSV_COMPUTE] = { DRM_TESSERA_ENGINE_COMPUTE, "compute" },
	[TSV_BIN] = { DRM_TESSERA_ENGINE_BIN, "bin" },
	[TSV_RENDER] = { DRM_TESSERA_ENGINE_RENDER, "render" },
};

/* ---- Lost devices ---------------------------------------------------------------------------- */

bool tsv_queue_is_banned(struct tsv_queue *queue)
{
	struct tsv_device *device = container_of(queue->vk.base.device, struct tsv_device, vk);
	struct drm_tessera_queue_get_state state;
	bool banned = false;
	unsigned i;

	for (i = 0; i < TSV_ENGINES; i++) {
		if (!queue->engine[i])
			continue;
		if (tsr_queue_get_state(queue->engine[i], &state, sizeof(state)))
			return true;
		if (state.state & DRM_TESSERA_QUEUE_BANNED) {
			tsv_fault_report(device, engines[i].name, &state);
			banned = true;
		}
	}
	return banned;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Jobs of one SUBMIT, and the syncs that they name. */
struct batch {
	struct tsv_queue *queue;
	unsigned most;			/* syncs of a job, in each direction */
	struct drm_tessera_job jobs[JOBS_MOST];
	unsigned count;
	struct util_dynarray syncs;	/* struct drm_tessera_sync: waits, then signals */
	unsigned waits, signals;	/* of the submission, numbers */
	unsigned waited;		/* waits that jobs without a stream have, all waiting */
	struct util_dynarray bin_syncs[TSV_HEAPS];	/* waits of BIN with a heap */
	struct drm_tessera_sync chain;	/* between the SUBMITs of a submission */
	bool chained;			/* all jobs wait for the SUBMIT before */
	/* masks of jobs in this SUBMIT */
	uint64_t tail[TSV_LANES];	/* each lane's last job */
	uint64_t anchored;		/* jobs after all that the submission waits for */
	uint64_t held;			/* what earlier command buffers hold BIN for */
	bool held_for_all;		/* which is also all that the submission waits for */
	uint64_t rendered[TSV_HEAPS];	/* the last job of RENDER with a heap */
	bool holds_bin;			/* a barrier of this submission holds BIN of later ones */
	uint32_t heaps;			/* mask of those that the submission uses */
};

static struct drm_tessera_array array_of(const struct drm_tessera_sync *syncs, unsigned count)
{
	return (struct drm_tessera_array){ .ptr = (uintptr_t)syncs,
					   .count = count,
					   .stride = sizeof(*syncs) };
}

static VkResult submit_jobs(struct batch *b)
{
	struct drm_tessera_submit submit = {
		.jobs = { .ptr = (uintptr_t)b->jobs,
			  .count = b->count,
			  .stride = sizeof(b->jobs[0]) },
	};
	struct vk_device *device = b->queue->vk.base.device;

	if (drmIoctl(device->drm_fd, DRM_IOCTL_TESSERA_SUBMIT, &submit)) {
		const int error = errno;

		tsv_queue_is_banned(b->queue);
		return vk_queue_set_lost(&b->queue->vk, "SUBMIT failed: %s",
					 tsr_error_string(error));
	}
	b->queue->point++;
	b->count = 0;
	return VK_SUCCESS;
}

static uint64_t all_tails(const struct batch *b)
{
	return b->tail[TSV_LANE_COPY] | b->tail[TSV_LANE_BIN] | b->tail[TSV_LANE_RENDER];
}

/* True if a segment waits for all that was submitted before. Only BIN may wait for less. */
static bool waits_for_all(const struct batch *b, enum tsv_engine engine,
			  const int after[TSV_LANES])
{
	bool all = engine != TSV_BIN || b->chained;
	unsigned i;

	for (i = 0; i < TSV_LANES; i++)
		all |= after[i] == TSV_BEFORE || (after[i] == TSV_HELD && b->held_for_all);
	return all;
}

/* The syncs that a job waits for if no job that it waits for has waited for all. */
static struct drm_tessera_array waits_of(const struct batch *b, bool all, unsigned heap)
{
	const struct util_dynarray *bin = &b->bin_syncs[heap];
	const struct drm_tessera_sync *syncs = b->syncs.data;

	if (b->chained)
		return array_of(&b->chain, 1);
	if (!all)
		return array_of(bin->data,
				util_dynarray_num_elements(bin, struct drm_tessera_sync));
	return array_of(syncs + b->waited, b->waits - b->waited);
}

/* Add a job after the jobs @after, a mask, and after all that the submission waits for. */
static VkResult add_job(struct batch *b, const struct tsv_segment *s, uint64_t after)
{
	const struct tsv_device *device = container_of(b->queue->vk.base.device, struct tsv_device,
						       vk);
	const uint32_t id = tsr_queue_id(b->queue->engine[s->engine]);
	const bool frame = s->engine == TSV_BIN || s->engine == TSV_RENDER;
	const bool all = waits_for_all(b, s->engine, s->after);
	const uint64_t bit = 1ull << b->count;
	struct drm_tessera_job *job = &b->jobs[b->count];

	assert(b->count < JOBS_MOST);
	if (!id)
		return vk_queue_set_lost(&b->queue->vk, "%s", tsr_error_message());
	if (s->engine == TSV_BIN)
		after |= b->rendered[s->heap];
	*job = (struct drm_tessera_job){
		.queue_id = id,
		.cmd_va = s->va,
		.cmd_size = s->size,
		.heap_id = frame ? tsr_tiler_heap_id(device->heap[s->heap]) : 0,
		.after = after,
	};
	if (!(after & b->anchored))
		job->waits = waits_of(b, all, s->heap);
	if (after & b->anchored || all)
		b->anchored |= bit;
	if (s->engine == TSV_RENDER)
		b->rendered[s->heap] = bit;
	if (frame)
		b->heaps |= 1u << s->heap;
	b->tail[tsv_lane(s->engine)] = bit;
	b->count++;
	return VK_SUCCESS;
}

/* Add a job that does nothing after all others. */
static VkResult add_empty(struct batch *b)
{
	const struct tsv_segment nothing = { .engine = TSV_COPY };

	return add_job(b, &nothing, all_tails(b));
}

/* Have a last job that waits for all, which takes one more place at most. */
static VkResult join(struct batch *b)
{
	const uint64_t last = b->count ? 1ull << (b->count - 1) : 0;
	const uint64_t others = all_tails(b) & ~last;
	VkResult result = VK_SUCCESS;
	unsigned i;

	if (!(last & b->anchored) || others & ~b->jobs[b->count - 1].after)
		result = add_empty(b);
	for (i = 0; i < TSV_LANES && result == VK_SUCCESS; i++)
		b->tail[i] = 1ull << (b->count - 1);
	return result;
}

/* Submit the jobs so far. The next ones wait for all of them. */
static VkResult submit_part(struct batch *b)
{
	struct drm_tessera_sync done;
	VkResult result = join(b);

	if (result != VK_SUCCESS)
		return result;
	done = (struct drm_tessera_sync){ .type = DRM_TESSERA_SYNC_TIMELINE,
					  .handle = tsr_sync_handle(b->queue->timeline),
					  .point = b->queue->point + 1 };
	b->jobs[b->count - 1].signals = array_of(&done, 1);
	result = submit_jobs(b);
	/* until then it is what these jobs wait for */
	b->chain = done;
	b->chained = true;
	memset(b->tail, 0, sizeof(b->tail));
	memset(b->rendered, 0, sizeof(b->rendered));
	b->anchored = b->held = 0;
	return result;
}

/* ---- Syncs ----------------------------------------------------------------------------------- */

static void add_sync(struct util_dynarray *syncs, uint32_t handle, uint64_t point, bool timeline)
{
	const struct drm_tessera_sync sync = {
		.type = timeline ? DRM_TESSERA_SYNC_TIMELINE : DRM_TESSERA_SYNC_SYNCOBJ,
		.handle = handle,
		.point = point,
	};

	util_dynarray_append(syncs, struct drm_tessera_sync, sync);
}

static void add_vk_sync(struct util_dynarray *syncs, struct vk_sync *sync, uint64_t point)
{
	const struct vk_drm_syncobj *syncobj = vk_sync_as_drm_syncobj(sync);

	if (syncobj)
		add_sync(syncs, syncobj->syncobj, point, sync->flags & VK_SYNC_IS_TIMELINE);
}

/* A sync that jobs of all engines wait for. */
static void add_common(struct batch *b, uint32_t handle, uint64_t point)
{
	unsigned i;

	add_sync(&b->syncs, handle, point, true);
	for (i = 0; i < TSV_HEAPS; i++)
		add_sync(&b->bin_syncs[i], handle, point, true);
}

static void add_wait_semaphore(struct batch *b, const struct vk_sync_wait *wait)
{
	unsigned i;

	add_vk_sync(&b->syncs, wait->sync, wait->wait_value);
	for (i = 0; i < TSV_HEAPS && tsv_holds_bin(wait->stage_mask); i++)
		add_vk_sync(&b->bin_syncs[i], wait->sync, wait->wait_value);
}

static unsigned sync_count(const struct batch *b)
{
	return util_dynarray_num_elements(&b->syncs, struct drm_tessera_sync);
}

/* The mappings that work of this submission may use. */
static void add_binds(struct batch *b)
{
	struct tsv_device *device = container_of(b->queue->vk.base.device, struct tsv_device, vk);
	uint64_t point;

	simple_mtx_lock(&device->lock);
	point = device->bind_point;
	simple_mtx_unlock(&device->lock);
	if (point > b->queue->bind_point)
		add_common(b, tsr_sync_handle(device->binds), point);
	b->queue->bind_point = point;
}

/* The submission before is the first wait, the queue's timeline the last signal. */
static void collect_syncs(struct batch *b, const struct vk_queue_submit *submit)
{
	struct tsv_queue *queue = b->queue;
	const uint32_t timeline = tsr_sync_handle(queue->timeline);
	uint64_t point;
	uint32_t i;

	if (queue->point)
		add_sync(&b->syncs, timeline, queue->point, true);
	for (i = 0; i < TSV_HEAPS; i++) {
		point = MAX2(queue->bin_point, queue->heap_point[i]);
		if (point)
			add_sync(&b->bin_syncs[i], timeline, point, true);
	}
	add_binds(b);
	for (i = 0; i < submit->wait_count; i++)
		add_wait_semaphore(b, &submit->waits[i]);
	b->waits = sync_count(b);
	for (i = 0; i < submit->signal_count; i++)
		add_vk_sync(&b->syncs, submit->signals[i].sync, submit->signals[i].signal_value);
	add_sync(&b->syncs, timeline, 0, true);
	b->signals = sync_count(b) - b->waits;
}

/* ---- Submission ------------------------------------------------------------------------------ */

/* A job without a stream that has the next @count waits, after those before it. */
static VkResult add_wait(struct batch *b, unsigned count)
{
	const struct drm_tessera_sync *waits = (struct drm_tessera_sync *)b->syncs.data + b->waited;
	VkResult result;

	/* one place is for what comes after the waits */
	if (b->count == JOBS_MOST - 1)
		return vk_error(&b->queue->vk, VK_ERROR_OUT_OF_HOST_MEMORY);
	result = add_empty(b);
	if (result != VK_SUCCESS)
		return result;
	b->jobs[b->count - 1].waits = array_of(waits, count);
	b->waited += count;
	return VK_SUCCESS;
}

/* If a job cannot have all waits, jobs without a stream have them. All others are after those. */
static VkResult add_waits(struct batch *b)
{
	VkResult result = VK_SUCCESS;

	if (b->waits <= b->most)
		return VK_SUCCESS;
	while (result == VK_SUCCESS && b->waited < b->waits)
		result = add_wait(b, MIN2(b->waits - b->waited, b->most));
	b->held = all_tails(b);
	return result;
}

/*
 * The jobs that a segment waits for. Segment 0 of its command buffer is job number @first, which is
 * negative if that is in an earlier SUBMIT. @before: the jobs before the command buffer.
 */
static uint64_t jobs_after(const struct batch *b, const int places[TSV_LANES], int first,
			   uint64_t before)
{
	uint64_t after = 0;
	unsigned i;

	for (i = 0; i < TSV_LANES; i++) {
		if (places[i] == TSV_HELD)
			after |= b->held;
		else if (places[i] == TSV_BEFORE)
			after |= before;
		else if (places[i] + first >= 0)
			after |= 1ull << (places[i] + first);
	}
	return after;
}

static VkResult add_command_buffer(struct batch *b, const struct tsv_cmd *cmd)
{
	uint64_t before = all_tails(b);
	int first = (int)b->count;
	VkResult result = VK_SUCCESS;

	util_dynarray_foreach(&cmd->segments, struct tsv_segment, s) {
		/* the last place is for join() */
		if (b->count == JOBS_MOST - 1) {
			first -= (int)b->count;
			before = 0;
			result = submit_part(b);
		}
		if (result == VK_SUCCESS)
			result = add_job(b, s, jobs_after(b, s->after, first, before));
		if (result != VK_SUCCESS)
			return result;
	}
	b->held = jobs_after(b, cmd->bin_fence, first, before);
	b->held_for_all = waits_for_all(b, TSV_BIN, cmd->bin_fence);
	b->holds_bin |= cmd->bin_fence[TSV_LANE_BIN] != TSV_HELD;
	return result;
}

static VkResult add_segments(struct batch *b, const struct vk_queue_submit *submit)
{
	VkResult result = VK_SUCCESS;
	uint32_t i;

	for (i = 0; i < submit->command_buffer_count && result == VK_SUCCESS; i++)
		result = add_command_buffer(b, container_of(submit->command_buffers[i],
							    struct tsv_cmd, vk));
	return result;
}

/*
 * The signals are those of the last job, and of jobs without a stream after it. All of them are in
 * one SUBMIT with that job.
 */
static VkResult add_signals(struct batch *b)
{
	struct drm_tessera_sync *syncs = (struct drm_tessera_sync *)b->syncs.data + b->waits;
	const unsigned jobs = 1 + DIV_ROUND_UP(b->signals, b->most);
	VkResult result = VK_SUCCESS;
	unsigned done, count;

	if (jobs > JOBS_MOST)
		return vk_error(&b->queue->vk, VK_ERROR_OUT_OF_HOST_MEMORY);
	if (b->count + jobs > JOBS_MOST)
		result = submit_part(b);
	if (result == VK_SUCCESS)
		result = join(b);
	syncs[b->signals - 1].point = b->queue->point + 1;
	for (done = 0; done < b->signals && result == VK_SUCCESS; done += count) {
		if (done)
			result = add_empty(b);
		if (result != VK_SUCCESS)
			break;
		count = MIN2(b->signals - done, b->most);
		b->jobs[b->count - 1].signals = array_of(syncs + done, count);
	}
	return result;
}

static VkResult submit_binds(struct batch *b, const struct vk_queue_submit *submit)
{
	struct drm_tessera_sync *syncs = b->syncs.data;
	VkResult result;

	syncs[b->waits + b->signals - 1].point = b->queue->point + 1;
	result = tsv_sparse_submit(b->queue, submit, syncs, b->waits, b->signals);
	if (result == VK_SUCCESS)
		b->queue->bin_point = ++b->queue->point;
	return result;
}

/* Note the points that BIN of later submissions waits for. */
static void note_bin(const struct batch *b)
{
	struct tsv_queue *queue = b->queue;
	unsigned i;

	if (b->holds_bin)
		queue->bin_point = queue->point;
	for (i = 0; i < TSV_HEAPS; i++) {
		if (b->heaps & 1u << i)
			queue->heap_point[i] = queue->point;
	}
}

static VkResult submit_segments(struct batch *b, const struct vk_queue_submit *submit)
{
	VkResult result = add_waits(b);

	if (result == VK_SUCCESS)
		result = add_segments(b, submit);
	if (result == VK_SUCCESS)
		result = add_signals(b);
	if (result == VK_SUCCESS)
		result = submit_jobs(b);
	note_bin(b);
	return result;
}

static VkResult driver_submit(struct vk_queue *vk, struct vk_queue_submit *submit)
{
	struct tsv_device *device = container_of(vk->base.device, struct tsv_device, vk);
	struct batch *b;
	VkResult result;
	unsigned i;

	if (vk_queue_is_lost(vk))
		return VK_ERROR_DEVICE_LOST;
	b = vk_zalloc(&device->vk.alloc, sizeof(*b), 8, VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
	if (!b)
		return vk_error(vk, VK_ERROR_OUT_OF_HOST_MEMORY);
	b->queue = container_of(vk, struct tsv_queue, vk);
	b->most = tsr_device_info(device->tsr)->max_syncs;
	util_dynarray_init(&b->syncs, NULL);
	for (i = 0; i < TSV_HEAPS; i++)
		util_dynarray_init(&b->bin_syncs[i], NULL);
	collect_syncs(b, submit);
	result = vk_queue_submit_has_bind(submit) ? submit_binds(b, submit)
						  : submit_segments(b, submit);
	util_dynarray_fini(&b->syncs);
	for (i = 0; i < TSV_HEAPS; i++)
		util_dynarray_fini(&b->bin_syncs[i]);
	vk_free(&device->vk.alloc, b);
	return result;
}

/* ---- The object ------------------------------------------------------------------------------ */

static VkResult create_engines(struct tsv_device *device, struct tsv_queue *queue)
{
	unsigned i;
	int ret;

	for (i = 0; i < TSV_ENGINES; i++) {
		if (i != TSV_COPY && queue->vk.queue_family_index != TSV_FAMILY_MAIN)
			continue;
		ret = tsr_queue_create(device->vm, engines[i].class, DRM_TESSERA_PRIORITY_NORMAL, 0,
				       &queue->engine[i]);
		if (ret)
			return tsv_error(device, ret);
	}
	ret = tsr_sync_create(device->tsr, TSR_SYNC_TIMELINE, &queue->timeline);
	return ret ? tsv_error(device, ret) : VK_SUCCESS;
}

VkResult tsv_queue_create(struct tsv_device *device, const VkDeviceQueueCreateInfo *info,
			  uint32_t index)
{
	struct tsv_queue *queue = vk_zalloc(&device->vk.alloc, sizeof(*queue), 8,
					    VK_SYSTEM_ALLOCATION_SCOPE_DEVICE);
	VkResult result;

	if (!queue)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	result = vk_queue_init(&queue->vk, &device->vk, info, index);
	if (result != VK_SUCCESS) {
		vk_free(&device->vk.alloc, queue);
		return result;
	}
	queue->vk.driver_submit = driver_submit;
	result = create_engines(device, queue);
	if (result != VK_SUCCESS)
		tsv_queue_destroy(queue);
	return result;
}

void tsv_queue_destroy(struct tsv_queue *queue)
{
	struct vk_device *device = queue->vk.base.device;
	unsigned i;

	vk_queue_finish(&queue->vk);
	for (i = 0; i < TSV_ENGINES; i++)
		tsr_queue_unref(queue->engine[i]);
	tsr_sync_unref(queue->timeline);
	vk_free(&device->alloc, queue);
}
