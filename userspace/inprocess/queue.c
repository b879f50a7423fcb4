// SPDX-License-Identifier: MIT
/*
 * Queues and their jobs.
 *
 * A queue is a slot of the device. Its jobs are a list in the order of submission; the first is
 * given to the device once all it waits for has signalled, the next when that one is done. How a
 * job ended is seen in the word that its FENCE writes, and in the slot's state.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

#define ENTRY_QWORDS	16
#define STOP_TRIES	100000		/* of 20 us */

#define FAULT_ERROR(name, number, error) [number] = error,
static const int fault_errors[] = { TSR_FAULT__TABLE(FAULT_ERROR) };

static uint64_t watchdogs;		/* slots whose watchdog has barked */

static uint32_t state_of(const struct queue *q)
{
	return gpu_read(TSR_REG_QUEUE_STATE(q->slot));
}

static void command(const struct queue *q, enum tsr_queue_op op)
{
	gpu_write(TSR_REG_QUEUE_CONTROL(q->slot), (uint32_t)op << TSR_QUEUE_CONTROL_OP__SHIFT);
}

/* Switch the slot off, whatever it is doing. */
static void stop(const struct queue *q)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	unsigned int tries = 0;

	command(q, TSR_QUEUE_OP_RESET);
	while (state_of(q) & TSR_QUEUE_STATE_STOPPING__MASK && tries++ < STOP_TRIES) {
		if (!drv_run())
			nanosleep(&pause, NULL);
	}
}

static void enable(struct queue *q)
{
	static const enum tsr_priority priority[] = { TSR_PRIORITY_LOW, TSR_PRIORITY_NORMAL,
						      TSR_PRIORITY_HIGH };
	uint32_t ms = (uint32_t)(drv.timeout_ns / 1000000);

	gpu_write64(TSR_REG_QUEUE_RING_BASE(q->slot), ring_va(q->slot));
	gpu_write(TSR_REG_QUEUE_CONFIG(q->slot), RING_LOG2 << TSR_QUEUE_CONFIG_RING_LOG2__SHIFT |
		  q->engine_class << TSR_QUEUE_CONFIG_CLASS__SHIFT |
		  (uint32_t)priority[q->priority] << TSR_QUEUE_CONFIG_PRIORITY__SHIFT);
	gpu_write(TSR_REG_QUEUE_ADDRESS_SPACES(q->slot),
		  (uint32_t)q->vm->space << TSR_QUEUE_ADDRESS_SPACES_USER_AS__SHIFT);
	gpu_write(TSR_REG_QUEUE_RPTR(q->slot), 0);
	gpu_write(TSR_REG_QUEUE_WATCHDOG_MS(q->slot), ms);
	command(q, TSR_QUEUE_OP_ENABLE);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

void job_free(struct job *job)
{
	unsigned int i;

	if (!job)
		return;
	for (i = 0; i < job->waits; i++)
		fence_put(job->wait[i]);
	free(job->wait);
	fence_put(job->done);
	heap_put(job->heap);
	perfmon_put(job->perfmon);
	if (job->queue)
		queue_put(job->queue);
	free(job);
}

void queue_push(struct job *job)
{
	struct queue *q = job->queue;

	*q->end = job;
	q->end = &job->next;
	drv.work = true;
}

/* The first job is over. */
static void job_done(struct queue *q, int status)
{
	struct job *job = q->jobs;

	q->jobs = job->next;
	if (!q->jobs)
		q->end = &q->jobs;
	q->running = false;
	if (!status) {
		q->completed++;
		if (job->perfmon)
			job->perfmon->jobs++;
	}
	fence_signal(job->done, status);
	job_free(job);
}

static uint64_t *gap(uint64_t *p, unsigned int qwords)
{
	const struct tsr_nop nop = { .qwords = (uint8_t)qwords };

	tsr_pack_nop(p, &nop);
	return p + qwords;
}

/* The ring entry of a job: heap and counters before its stream, its fence after it. */
static void pack(uint64_t *p, const struct job *job, unsigned int slot)
{
	const struct tsr_barrier barrier = { .inv_read = true, .inv_code = true };
	const struct tsr_fence fence = {
		.event = TSR_EVENT_ALL_DONE,
		.irq = true,
		.addr = fence_va(slot),
		.value = job->seqno,
	};
	const struct tsr_call call = { .addr = job->cmd_va, .size = job->cmd_size };
	uint64_t *end = p + ENTRY_QWORDS;

	tsr_pack_barrier(p, &barrier);
	p += TSR_BARRIER_QWORDS;
	if (job->heap) {
		const struct tsr_heap heap = {
			.base = job->heap->va,
			.size = (uint32_t)(job->heap->committed / TSR_HEAP_ALIGN),
			.max = (uint32_t)(job->heap->max_size / TSR_HEAP_ALIGN),
		};

		tsr_pack_heap(p, &heap);
		p += TSR_HEAP_QWORDS;
	}
	if (job->perfmon) {
		const struct tsr_counter_begin begin = { .mask = job->perfmon->mask };

		tsr_pack_counter_begin(p, &begin);
		p += TSR_COUNTER_BEGIN_QWORDS;
	}
	if (job->cmd_size) {
		tsr_pack_call(p, &call);
		p += TSR_CALL_QWORDS;
	}
	if (job->perfmon) {
		const struct tsr_counter_end done = { .addr = counters_va(job->perfmon->slot) };

		tsr_pack_counter_end(p, &done);
		p += TSR_COUNTER_END_QWORDS;
	}
	tsr_pack_fence(p, &fence);
	gap(p + TSR_FENCE_QWORDS, (unsigned int)(end - p) - TSR_FENCE_QWORDS);
}

/* Returns true if the first job may run; fences that have signalled are not asked again. */
static bool ready(struct job *job)
{
	for (; job->waits; job->waits--) {
		if (!job->wait[job->waits - 1]->signalled)
			return false;
		fence_put(job->wait[job->waits - 1]);
	}
	return true;
}

static void begin(struct queue *q)
{
	struct job *job = q->jobs;
	uint64_t packed[ENTRY_QWORDS];

	job->seqno = ++q->seqno;
	job->started = now_ns();
	pack(packed, job, q->slot);
	memcpy((uint8_t *)ring_cpu(q->slot) + (q->wptr & ((1u << RING_LOG2) - 1)), packed,
	       sizeof(packed));
	q->wptr += sizeof(packed);
	q->running = true;
	gpu_write(TSR_REG_DOORBELL_RING(q->slot), q->wptr);
}

/* ---- How a job ended ------------------------------------------------------------------------- */

/*
 * Jobs of a queue that runs no more end without having begun. Each first waits for what it was to
 * wait for, as in the kernel, where the scheduler drops a job only when its turn comes. Whether
 * there were any.
 */
static bool cancel_ready(struct queue *q)
{
	bool any = false;

	while (q->jobs && (q->running || ready(q->jobs))) {
		job_done(q, -ECANCELED);
		any = true;
	}
	return any;
}

/* No job of the queue runs any more: the first ends with @status, the others never begin. */
static void ban(struct queue *q, uint32_t state, int status)
{
	q->state |= DRM_TESSERA_QUEUE_BANNED | state;
	q->error = (uint32_t)-status;
	stop(q);
	job_done(q, status);
	cancel_ready(q);
}

static void memory_fault(struct queue *q, uint32_t word, uint64_t addr)
{
	const uint32_t reason[] = {
		[TSR_FAULT_MMU_PERMISSION] = DRM_TESSERA_FAULT_PERMISSION,
		[TSR_FAULT_MMU_WALK] = DRM_TESSERA_FAULT_PAGE_TABLE,
		[TSR_FAULT_MMU_WALK_BUS] = DRM_TESSERA_FAULT_WALK_BUS,
		[TSR_FAULT_BUS] = DRM_TESSERA_FAULT_BUS,
	};
	uint64_t code = field_get(TSR_QUEUE_FAULT_CODE__MASK, word);
	uint64_t access = field_get(TSR_QUEUE_FAULT_ACCESS__MASK, word);
	struct drm_tessera_fault fault = {
		.va = addr & -PAGE, .timestamp_ns = now_ns(), .queue_id = q->id,
		.access = access == TSR_ACCESS_WRITE ? DRM_TESSERA_BIND_WRITE :
			  access == TSR_ACCESS_EXEC ? DRM_TESSERA_BIND_EXEC : DRM_TESSERA_BIND_READ,
		.level = (uint32_t)field_get(TSR_QUEUE_FAULT_LEVEL__MASK, word),
	};

	if (code < TSR_FAULT_MMU_UNMAPPED || code > TSR_FAULT_BUS)
		return;
	if (code == TSR_FAULT_MMU_UNMAPPED)
		fault.reason = addr >> drv.va_bits ? DRM_TESSERA_FAULT_ADDRESS
						   : DRM_TESSERA_FAULT_NOT_MAPPED;
	else
		fault.reason = reason[code];
	vm_fault(q->vm, &fault);
}

/* Reads the fault for user space. Returns the error of the job. */
static int read_fault(struct queue *q)
{
	uint32_t word = gpu_read(TSR_REG_QUEUE_FAULT(q->slot));
	uint32_t shader = gpu_read(TSR_REG_QUEUE_FAULT_SHADER(q->slot));
	struct drm_tessera_queue_get_state *s = &q->fault;
	unsigned int i;

	s->fault_code = (uint32_t)field_get(TSR_QUEUE_FAULT_CODE__MASK, word);
	s->fault_packet_va = gpu_read64(TSR_REG_QUEUE_FAULT_PC(q->slot));
	s->fault_va = gpu_read64(TSR_REG_QUEUE_FAULT_ADDR(q->slot));
	if (shader & TSR_QUEUE_FAULT_SHADER_VALID__MASK) {
		s->fault_flags = DRM_TESSERA_QUEUE_FAULT_PROGRAM;
		if (shader & TSR_QUEUE_FAULT_SHADER_ADD__MASK)
			s->fault_flags |= DRM_TESSERA_QUEUE_FAULT_ADD;
		s->fault_clause_va = gpu_read64(TSR_REG_QUEUE_FAULT_CLAUSE(q->slot));
		s->fault_tuple = (uint32_t)field_get(TSR_QUEUE_FAULT_SHADER_TUPLE__MASK, shader);
		s->fault_lane = (uint32_t)field_get(TSR_QUEUE_FAULT_SHADER_LANE__MASK, shader);
		s->fault_warp = (uint32_t)field_get(TSR_QUEUE_FAULT_SHADER_WARP__MASK, shader);
		s->fault_core = (uint32_t)field_get(TSR_QUEUE_FAULT_SHADER_CORE__MASK, shader);
		for (i = 0; i < 3; i++)
			s->fault_group[i] = gpu_read(TSR_REG_QUEUE_FAULT_GROUP(q->slot, i));
	}
	memory_fault(q, word, s->fault_va);
	if (s->fault_code < sizeof(fault_errors) / sizeof(*fault_errors) &&
	    fault_errors[s->fault_code])
		return -fault_errors[s->fault_code];
	return -EIO;
}

/* A slot that waits for memory of its heap gets some. */
static void answer_heap(const struct queue *q)
{
	uint64_t va = gpu_read64(TSR_REG_QUEUE_HEAP_BASE(q->slot));
	uint64_t size = (uint64_t)gpu_read(TSR_REG_QUEUE_HEAP_SIZE(q->slot)) * TSR_HEAP_ALIGN;

	size = heap_grow(q->vm, va, size);
	if (size)
		gpu_write(TSR_REG_QUEUE_HEAP_GROW(q->slot), (uint32_t)(size / TSR_HEAP_ALIGN));
	else
		command(q, TSR_QUEUE_OP_FAIL_HEAP);
}

static bool overdue(const struct queue *q)
{
	return watchdogs & 1ull << q->slot || now_ns() - q->jobs->started > drv.limit_ns;
}

/* Look at a job that runs; whether it is over. */
static bool look(struct queue *q)
{
	uint32_t state = state_of(q);
	uint64_t what = field_get(TSR_QUEUE_STATE_STATE__MASK, state);

	if (atomic_load(fence_cpu(q->slot)) >= q->jobs->seqno) {
		job_done(q, 0);
	} else if (what == TSR_QUEUE_STATE_FAULTED) {
		ban(q, DRM_TESSERA_QUEUE_FAULTED, read_fault(q));
	} else if (overdue(q)) {
		drv.queue_resets++;
		q->fault.reset_count++;
		ban(q, DRM_TESSERA_QUEUE_TIMEDOUT, -ETIMEDOUT);
	} else {
		if (what == TSR_QUEUE_STATE_BLOCKED &&
		    field_get(TSR_QUEUE_STATE_BLOCK__MASK, state) == TSR_QUEUE_BLOCK_HEAP)
			answer_heap(q);
		return false;
	}
	return true;
}

void queues_irq(void)
{
	unsigned int i;

	for (i = 0; i < TSR_IRQ__COUNT; i++) {
		uint64_t status = gpu_read64(TSR_REG_IRQ_STATUS(i));

		if (!status)
			continue;
		gpu_write64(TSR_REG_IRQ_CLEAR(i), status);
		if (i == TSR_IRQ_CLASS_WATCHDOG)
			watchdogs |= status;
	}
}

/* Queues that were destroyed with jobs that waited. */
static bool cancel_ended(void)
{
	struct queue **at = &drv.ended;
	bool any = false;

	while (*at) {
		struct queue *q = *at;

		any |= cancel_ready(q);
		if (q->jobs) {
			at = &q->next;
		} else {
			*at = q->next;
			queue_put(q);
		}
	}
	return any;
}

bool queues_progress(void)
{
	bool any = cancel_ended();
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		struct queue *q = drv.queue[i];

		if (!q || !q->jobs)
			continue;
		q->refs++;	/* its last job may hold the last reference */
		if (q->running)
			any |= look(q);
		if (q->state & DRM_TESSERA_QUEUE_BANNED)
			any |= cancel_ready(q);
		while (!q->running && q->jobs && ready(q->jobs)) {
			begin(q);
			any |= look(q);
		}
		queue_put(q);
	}
	watchdogs = 0;
	return any;
}

bool queues_busy(void)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		if (drv.queue[i] && drv.queue[i]->running)
			return true;
	}
	return false;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

/* capable(CAP_SYS_NICE) */
static bool may_be_high(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[0].effective & 1u << CAP_SYS_NICE;
}

uint32_t queue_priorities(void)
{
	uint32_t mask = 1u << DRM_TESSERA_PRIORITY_LOW | 1u << DRM_TESSERA_PRIORITY_NORMAL;

	return may_be_high() ? mask | 1u << DRM_TESSERA_PRIORITY_HIGH : mask;
}

void queue_put(struct queue *q)
{
	if (--q->refs)
		return;
	free(q);
}

/* The slot is free when this returns, and all jobs have ended but those that wait for a fence. */
void queue_kill(struct queue *q)
{
	if (q->killed)
		return;
	q->killed = true;
	q->refs++;
	stop(q);
	cancel_ready(q);
	drv.queue[q->slot] = NULL;
	if (q->jobs) {
		q->refs++;
		q->next = drv.ended;
		drv.ended = q;
	}
	quota_adjust(q->quota, QUOTA_QUEUES, -1);
	quota_put(q->quota);
	q->quota = NULL;
	vm_space_put(q->vm);
	vm_put(q->vm);
	q->vm = NULL;
	queue_put(q);
}

static struct queue *queue_new(struct quota *quota, struct vm *vm,
			       const struct drm_tessera_queue_create *arg, int *ret)
{
	unsigned int slot = 0;
	struct queue *q;

	while (slot < SLOTS && drv.queue[slot])
		slot++;
	*ret = -ENOSPC;
	if (slot == SLOTS || quota_room(quota, QUOTA_QUEUES, 1))
		return NULL;
	q = calloc(1, sizeof(*q));
	*ret = -ENOMEM;
	if (!q)
		return NULL;
	*ret = vm_space_get(vm);
	if (*ret) {
		free(q);
		return NULL;
	}
	*q = (struct queue){ .refs = 1, .slot = slot, .vm = vm, .engine_class = arg->engine_class,
			     .priority = arg->priority, .end = &q->jobs };
	vm->refs++;
	q->quota = quota_get(quota);
	quota_adjust(quota, QUOTA_QUEUES, 1);
	drv.queue[slot] = q;
	atomic_store(fence_cpu(slot), 0);
	enable(q);
	return q;
}

int ioctl_queue_create(struct file *file, void *data)
{
	struct drm_tessera_queue_create *arg = data;
	uint32_t limits = gpu_read(TSR_REG_GPU_RING_LIMITS), size = arg->ring_size;
	struct queue *q;
	struct vm *vm;
	int ret;

	if (arg->flags || arg->priority > DRM_TESSERA_PRIORITY_HIGH ||
	    arg->engine_class > DRM_TESSERA_ENGINE_COPY)
		return -EINVAL;
	if (size && (size & (size - 1) ||
		     size < 1u << field_get(TSR_GPU_RING_LIMITS_MIN_LOG2__MASK, limits) ||
		     size > 1u << field_get(TSR_GPU_RING_LIMITS_MAX_LOG2__MASK, limits)))
		return -EINVAL;
	if (!(queue_priorities() & 1u << arg->priority))
		return -EACCES;
	vm = table_find(&file->vms, arg->vm_id);
	if (!vm)
		return -ENOENT;
	q = queue_new(file->quota, vm, arg, &ret);
	if (!q)
		return ret;
	ret = table_add(&file->queues, q);
	if (ret < 0) {
		queue_kill(q);
		queue_put(q);
		return ret;
	}
	q->id = (uint32_t)ret;
	arg->queue_id = q->id;
	return 0;
}

int ioctl_queue_destroy(struct file *file, void *data)
{
	const struct drm_tessera_queue_destroy *arg = data;
	struct queue *q;
	struct vm *vm;
	unsigned int i;

	if (arg->pad)
		return -EINVAL;
	q = table_remove(&file->queues, arg->queue_id);
	if (!q)
		return -ENOENT;
	vm = q->vm;
	vm->refs++;
	queue_kill(q);
	/* its id may soon be another one's */
	for (i = 0; i < DRM_TESSERA_FAULT_RECORDS; i++) {
		if (vm->fault[i].queue_id == q->id)
			vm->fault[i].queue_id = 0;
	}
	vm_put(vm);
	queue_put(q);
	return 0;
}

int ioctl_queue_get_state(struct file *file, void *data)
{
	struct drm_tessera_queue_get_state *arg = data;
	struct queue *q = table_find(&file->queues, arg->queue_id);
	uint32_t id = arg->queue_id;

	if (!q)
		return -ENOENT;
	*arg = q->fault;
	arg->queue_id = id;
	arg->state = q->state;
	arg->error = q->error;
	arg->jobs_completed = q->completed;
	return 0;
}
