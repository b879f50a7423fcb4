// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: The backend "engine"
 *
 * One scheduler for each engine class, in which each queue is an entity. drm_sched
 * decides which job runs next, and tessera_slots.c where.
 * Documentation/driver/jobs.md is the page about it.
 *
 * Recovery follows the steps for hardware schedulers in the documentation of
 * &drm_sched_backend_ops.timedout_job. The functions below that stop, emit again and
 * start are the whole of what drm_sched_resubmit_jobs() was for. A job that had not
 * begun has its hardware fence from SUBMIT, which is still pending, so a second run
 * allocates nothing.
 */

#include <linux/dma-fence.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "tessera_as.h"
#include "tessera_device.h"
#include "tessera_fence.h"
#include "tessera_queue.h"
#include "tessera_sched.h"

/* Queues of the device; quotas divide them. */
#define MAX_QUEUES	4096
#define MAX_SLOTS	8
#define MAX_DEPTH	64

static char *tessera_sched = "slot";
module_param_named(sched, tessera_sched, charp, 0444);
MODULE_PARM_DESC(sched,
		 "slot: a hardware slot for each queue (default); engine: a scheduler for each engine class");

static unsigned int tessera_sched_slots = 2;
module_param_named(sched_slots, tessera_sched_slots, uint, 0444);
MODULE_PARM_DESC(sched_slots,
		 "With sched=engine: hardware slots of each engine class, 1 to 8 (default 2)");

static unsigned int tessera_sched_depth = 1;
module_param_named(sched_depth, tessera_sched_depth, uint, 0444);
MODULE_PARM_DESC(sched_depth,
		 "With sched=engine: jobs that a queue may have on the ring of its slot, 1 to 64 (default 1)");

static unsigned int tessera_sched_timeslice;
module_param_named(sched_timeslice, tessera_sched_timeslice, uint, 0444);
MODULE_PARM_DESC(sched_timeslice,
		 "With sched=engine: cycles a slot may run while others are ready (default 0: the device's default)");

/**
 * tessera_engine_timeslice() - time slice of a queue without a deadline
 * @queue: queue
 *
 * Return: cycles, 0 for the device's default.
 */
u32 tessera_engine_timeslice(const struct tessera_queue *queue)
{
	return queue->tdev->engines ? tessera_sched_timeslice : 0;
}

/* ---- running jobs ---- */

static struct dma_fence *engine_job_prepare(struct drm_sched_job *sched_job,
					    struct drm_sched_entity *entity)
{
	return tessera_job_prepare(sched_job, entity) ?:
	       tessera_slots_wait(to_tessera_job(sched_job)->queue, tessera_sched_depth);
}

static struct dma_fence *engine_job_run(struct drm_sched_job *sched_job)
{
	struct tessera_job *job = to_tessera_job(sched_job);
	struct tessera_queue *queue = job->queue;
	struct tessera_engines *engines = queue->tdev->engines;
	bool signalling = dma_fence_begin_signalling();
	struct dma_fence *fence;
	int slot = 0;

	mutex_lock(&engines->lock);
	if (!engines->error && !READ_ONCE(queue->dead))
		slot = tessera_slots_prepare(queue);

	mutex_lock(&queue->lock);
	if (!queue->dead && (engines->error || drm_WARN_ON_ONCE(&queue->tdev->drm, slot < 0)))
		WRITE_ONCE(queue->dead, engines->error ?: -ECANCELED);
	if (!queue->dead && !queue->ring.cpu)
		tessera_slots_enter(queue, slot);
	fence = tessera_job_run_locked(job);
	mutex_unlock(&queue->lock);
	mutex_unlock(&engines->lock);
	dma_fence_end_signalling(signalling);

	return fence;
}

const struct drm_sched_backend_ops tessera_engine_sched_ops = {
	.prepare_job = engine_job_prepare,
	.run_job = engine_job_run,
	.free_job = tessera_job_free,
};

/* ---- recovery; under &tessera_device.reset.lock ---- */

/**
 * tessera_engine_stop() - stop the scheduler of one class
 * @tdev: device
 * @engine_class: class
 *
 * No job goes on a ring, and none is freed, until tessera_engines_start(). Jobs on rings run on,
 * and fences signal.
 */
void tessera_engine_stop(struct tessera_device *tdev, u32 engine_class)
{
	struct tessera_engine *engine;

	lockdep_assert_held(&tdev->reset.lock);

	if (!tdev->engines)
		return;

	engine = &tdev->engines->class[engine_class];
	if (engine->num_slots) {
		drm_sched_wqueue_stop(&engine->sched);
		engine->stopped = true;
	}
}

/**
 * tessera_engines_stop() - stop all schedulers
 * @tdev: device
 */
void tessera_engines_stop(struct tessera_device *tdev)
{
	u32 class;

	for (class = 0; class < TESSERA_NUM_CLASSES; class++)
		tessera_engine_stop(tdev, class);
}

/**
 * tessera_engine_emit_again() - put jobs on a ring that have been lost with the device
 * @queue: queue with a slot; its lock is held, and fences of jobs that had begun have signaled
 *
 * The device was reset, so the ring is empty, and the caller enables the slot afterwards.
 */
void tessera_engine_emit_again(struct tessera_queue *queue)
{
	struct tessera_engine *engine = &queue->tdev->engines->class[queue->engine_class];
	struct drm_sched_job *sched_job;

	lockdep_assert_held(&queue->lock);

	queue->wptr = 0;
	queue->told_wptr = 0;
	queue->resume_rptr = 0;
	drm_sched_for_each_pending_job(sched_job, &engine->sched, NULL) {
		struct tessera_job *job = to_tessera_job(sched_job);

		if (job->queue == queue && !dma_fence_is_signaled(&job->done->base))
			tessera_queue_hw_emit(queue, job, job->done->base.seqno);
	}
}

/**
 * tessera_engines_start() - start the schedulers that were stopped
 * @tdev: device that runs, or is given up
 */
void tessera_engines_start(struct tessera_device *tdev)
{
	u32 class;

	lockdep_assert_held(&tdev->reset.lock);

	for (class = 0; tdev->engines && class < TESSERA_NUM_CLASSES; class++) {
		struct tessera_engine *engine = &tdev->engines->class[class];

		if (engine->stopped)
			drm_sched_wqueue_start(&engine->sched);
		engine->stopped = false;
	}
}

/**
 * tessera_engines_end() - end all jobs to come with an error
 * @tdev: device that is given up
 * @error: negative error
 *
 * A second error has no effect.
 */
void tessera_engines_end(struct tessera_device *tdev, int error)
{
	struct tessera_engines *engines = tdev->engines;

	if (!engines)
		return;

	mutex_lock(&engines->lock);
	engines->error = engines->error ?: error;
	mutex_unlock(&engines->lock);
	tessera_engines_start(tdev);
}

/* ---- creation and end ---- */

/**
 * tessera_engines_fini() - free the rings
 * @tdev: device that is stopped for good
 * @error: negative error of all jobs to come
 *
 * The schedulers stay until the device is freed, and end the jobs. The caller holds
 * &tessera_device.reset.lock.
 */
void tessera_engines_fini(struct tessera_device *tdev, int error)
{
	struct tessera_engines *engines = tdev->engines;
	u32 slot;

	if (!engines)
		return;

	mutex_lock(&engines->lock);
	engines->error = engines->error ?: error;
	for (slot = 0; slot < tdev->info.num_queues; slot++) {
		struct tessera_queue *queue = READ_ONCE(tdev->slots.queue[slot]);

		if (queue)
			tessera_slots_leave(queue);
		tessera_ring_unmap(tdev, &engines->slot[slot].ring);
	}
	mutex_unlock(&engines->lock);
	tessera_engines_start(tdev);
}

/* The device is freed: there are no jobs and no queues. */
static void engine_release(struct drm_device *drm, void *data)
{
	struct tessera_engine *engine = data;

	drm_sched_fini(&engine->sched);
}

static int engine_init(struct tessera_device *tdev, u32 class, u32 first_slot, u32 num_slots)
{
	struct tessera_engine *engine = &tdev->engines->class[class];
	const struct drm_sched_init_args args = {
		.ops = &tessera_engine_sched_ops,
		.submit_wq = tdev->submit_wq,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = num_slots * tessera_sched_depth,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = engine->name,
		.dev = tdev->drm.dev,
	};
	/* One entry stays unused: see tessera_queue_hw.c. */
	u32 size = roundup_pow_of_two((tessera_sched_depth + 1) * TESSERA_RING_ENTRY);
	u32 slot;
	int ret;

	snprintf(engine->name, sizeof(engine->name), "tessera-%s", tessera_engine_name(class));
	ret = drm_sched_init(&engine->sched, &args);
	if (ret)
		return ret;
	ret = drmm_add_action_or_reset(&tdev->drm, engine_release, engine);
	if (ret)
		return ret;

	size = clamp(size, BIT(tdev->info.ring_log2_min), BIT(tdev->info.ring_log2_max));
	for (slot = first_slot; slot < first_slot + num_slots && !ret; slot++)
		ret = tessera_ring_map(tdev, slot, size, &tdev->engines->slot[slot].ring);
	engine->first_slot = first_slot;
	engine->num_slots = num_slots;

	return ret;
}

/* Slots of each pool, 0 if there are not enough for all classes. */
static u32 pool_size(const struct tessera_hw_info *info, u32 *classes)
{
	u32 class, most = min(info->num_queues, info->num_as - 1);

	*classes = 0;
	for (class = 0; class < TESSERA_NUM_CLASSES; class++)
		*classes += info->engines[class] != 0;

	return *classes ? min(tessera_sched_slots, most / *classes) : 0;
}

static int engines_check(struct tessera_device *tdev)
{
	u32 classes;

	if (strcmp(tessera_sched, "engine")) {
		drm_err(&tdev->drm, "sched=%s: expected slot or engine\n", tessera_sched);
		return -EINVAL;
	}
	if (!tessera_sched_slots || tessera_sched_slots > MAX_SLOTS || !tessera_sched_depth ||
	    tessera_sched_depth > MAX_DEPTH) {
		drm_err(&tdev->drm, "sched_slots=%u: expected 1 to %u, sched_depth=%u: 1 to %u\n",
			tessera_sched_slots, MAX_SLOTS, tessera_sched_depth, MAX_DEPTH);
		return -EINVAL;
	}
	if (!pool_size(&tdev->info, &classes)) {
		drm_err(&tdev->drm, "sched=engine: %u slots and %u address spaces are not enough for %u engine classes\n",
			tdev->info.num_queues, tdev->info.num_as, classes);
		return -EINVAL;
	}

	return 0;
}

/**
 * tessera_engines_init() - set up the backend "engine", if it is selected
 * @tdev: device with the kernel's address space
 *
 * Return: 0, -EINVAL for a module parameter that does not fit, or -ENOMEM.
 */
int tessera_engines_init(struct tessera_device *tdev)
{
	struct tessera_engines *engines;
	u32 class, classes, slot = 0, num_slots;
	int ret;

	if (!strcmp(tessera_sched, "slot"))
		return 0;

	ret = engines_check(tdev);
	if (ret)
		return ret;

	engines = drmm_kzalloc(&tdev->drm, sizeof(*engines), GFP_KERNEL);
	if (!engines)
		return -ENOMEM;

	ret = drmm_mutex_init(&tdev->drm, &engines->lock);
	if (ret)
		return ret;
	tessera_prime_lock(&engines->lock);
	tessera_prime_order(&tdev->reset.lock, &engines->lock);

	tdev->engines = engines;
	num_slots = pool_size(&tdev->info, &classes);
	for (class = 0; class < TESSERA_NUM_CLASSES && !ret; class++) {
		if (!tdev->info.engines[class])
			continue;
		ret = engine_init(tdev, class, slot, num_slots);
		slot += num_slots;
	}
	tdev->info.max_queues = MAX_QUEUES;

	return ret;
}
