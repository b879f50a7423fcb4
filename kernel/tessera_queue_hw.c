// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Queue slots
 *
 * A slot is configured while it is disabled. Then it is enabled, and stopped by RESET,
 * which drops its work, or SUSPEND, which keeps it. Stopping takes at most one work
 * quantum of an engine. STATE.STOPPING reads 1 until the slot has stopped.
 *
 * A job is one entry of 128 bytes on the ring, so no entry crosses the end of the
 * ring. The device may still read the last packet of an entry after it has written the
 * entry's fence, so one entry of the ring always stays unused::
 *
 *   BARRIER        caches of read-only data and code miss what the CPU has changed
 *   HEAP           the tiler heap, if the job has one
 *   COUNTER_BEGIN  of the perfmon, if the job has one
 *   CALL           the user's stream, in the user's address space, unprivileged
 *   COUNTER_END    adds to the perfmon's words
 *   FENCE          writes the job's number to the slot's fence word at the end, IRQ
 *   NOP            fills the entry, and replaces packets that a job does not need
 */

#include <linux/bitfield.h>
#include <linux/iopoll.h>
#include <linux/jiffies.h>
#include <linux/log2.h>

#include <drm/drm_print.h>

#include "tessera_device.h"
#include "tessera_heap.h"
#include "tessera_perfmon.h"
#include "tessera_queue.h"
#include "tessera_sched.h"
#include "tessera_vm.h"

#define ENTRY_QWORDS (TESSERA_RING_ENTRY / 8)

#define USED_QWORDS \
	(TESSERA_RING_CALL / 8 + TSR_CALL_QWORDS + TSR_COUNTER_END_QWORDS + TSR_FENCE_QWORDS)

static_assert(USED_QWORDS < ENTRY_QWORDS);

/* Cycles; the default is TSR_TIMESLICE_DEFAULT. */
#define HURRY_TIMESLICE (8 * TSR_TIMESLICE_DEFAULT)

static const u32 hw_priority[] = {
	[DRM_TESSERA_PRIORITY_LOW] = TSR_PRIORITY_LOW,
	[DRM_TESSERA_PRIORITY_NORMAL] = TSR_PRIORITY_NORMAL,
	[DRM_TESSERA_PRIORITY_HIGH] = TSR_PRIORITY_HIGH,
};

/**
 * tessera_queue_hw_set_timeslice() - set how long the queue may run while others are ready
 * @queue: queue
 *
 * A queue with a deadline gets several slices at once. The starvation rule of the device still
 * lets queues of any priority run.
 */
void tessera_queue_hw_set_timeslice(struct tessera_queue *queue)
{
	struct tessera_timeline *timeline = queue->timeline;
	bool hurry = READ_ONCE(timeline->hurry_seqno) &&
		     time_after_eq(jiffies, READ_ONCE(timeline->hurry_at));

	tessera_write(queue->tdev, TSR_REG_QUEUE_TIMESLICE(queue->slot),
		      hurry ? HURRY_TIMESLICE : tessera_engine_timeslice(queue));
}

/**
 * tessera_queue_hw_command() - tell the slot to do something
 * @queue: queue
 * @op: enum tsr_queue_op
 */
void tessera_queue_hw_command(struct tessera_queue *queue, u32 op)
{
	tessera_write(queue->tdev, TSR_REG_QUEUE_CONTROL(queue->slot),
		      FIELD_PREP(TSR_QUEUE_CONTROL_OP__MASK, op));
}

/**
 * tessera_queue_hw_state() - what the slot is doing
 * @queue: queue
 *
 * Return: enum tsr_queue_state.
 */
u32 tessera_queue_hw_state(struct tessera_queue *queue)
{
	return FIELD_GET(TSR_QUEUE_STATE_STATE__MASK,
			 tessera_read(queue->tdev, TSR_REG_QUEUE_STATE(queue->slot)));
}

/**
 * tessera_queue_hw_served_ns() - time the queue has had to itself
 * @queue: queue
 *
 * Waiting for an engine that others use does not count.
 *
 * Return: nanoseconds on engines and blocked, since the slot was enabled.
 */
u64 tessera_queue_hw_served_ns(struct tessera_queue *queue)
{
	u32 blocked = TSR_REG_QUEUE_COUNTER(queue->slot, TSR_QUEUE_COUNTER_BLOCKED_TIME);

	return tessera_read64(queue->tdev, TSR_REG_QUEUE_BUSY_NS(queue->slot)) +
	       tessera_read64(queue->tdev, blocked);
}

/**
 * tessera_queue_hw_update_usage() - look how much the queue has used of its engines
 * @queue: queue
 *
 * A device that does not answer reads as all ones; then the old value stays.
 */
void tessera_queue_hw_update_usage(struct tessera_queue *queue)
{
	u64 busy = tessera_read64(queue->tdev, TSR_REG_QUEUE_BUSY_NS(queue->slot));
	u64 cycles = tessera_read64(queue->tdev, TSR_REG_QUEUE_CYCLES(queue->slot));

	if (busy == U64_MAX || cycles == U64_MAX)
		return;

	/* A reset of the slot clears what it has counted. */
	queue->usage.busy_ns = max(queue->usage.busy_ns, queue->usage_before.busy_ns + busy);
	queue->usage.cycles = max(queue->usage.cycles, queue->usage_before.cycles + cycles);
}

static bool queue_hw_stopped(struct tessera_queue *queue)
{
	return !(tessera_read(queue->tdev, TSR_REG_QUEUE_STATE(queue->slot)) &
		 TSR_QUEUE_STATE_STOPPING__MASK);
}

/**
 * tessera_queue_hw_wait_stopped() - wait for the end of RESET or SUSPEND
 * @queue: queue
 * @timeout_ms: how long
 *
 * Return: 0 or -ETIMEDOUT.
 */
int tessera_queue_hw_wait_stopped(struct tessera_queue *queue, unsigned int timeout_ms)
{
	bool stopped;

	return read_poll_timeout(queue_hw_stopped, stopped, stopped, 20,
				 timeout_ms * USEC_PER_MSEC, false, queue);
}

/**
 * tessera_queue_hw_enable() - configure and enable the slot
 * @queue: queue whose slot is disabled
 * @rptr: position on the ring; entries after it run
 *
 * Return: 0, or -EIO if the device refuses the configuration.
 */
int tessera_queue_hw_enable(struct tessera_queue *queue, u32 rptr)
{
	struct tessera_device *tdev = queue->tdev;
	u32 slot = queue->slot, state, priority;

	/* Two schedulers with priorities would fight, so the other one alone has them then. */
	priority = tdev->engines ? TSR_PRIORITY_NORMAL : hw_priority[queue->priority];
	queue->cold = false;
	tessera_write64(tdev, TSR_REG_QUEUE_RING_BASE(slot), queue->ring.va);
	tessera_write(tdev, TSR_REG_QUEUE_CONFIG(slot),
		      FIELD_PREP(TSR_QUEUE_CONFIG_RING_LOG2__MASK, ilog2(queue->ring.size)) |
		      FIELD_PREP(TSR_QUEUE_CONFIG_CLASS__MASK, queue->engine_class) |
		      FIELD_PREP(TSR_QUEUE_CONFIG_PRIORITY__MASK, priority));
	tessera_write(tdev, TSR_REG_QUEUE_ADDRESS_SPACES(slot),
		      FIELD_PREP(TSR_QUEUE_ADDRESS_SPACES_RING_AS__MASK, TESSERA_KERNEL_AS) |
		      FIELD_PREP(TSR_QUEUE_ADDRESS_SPACES_USER_AS__MASK, queue->vm->as));
	tessera_write(tdev, TSR_REG_QUEUE_RPTR(slot), rptr);
	tessera_queue_hw_set_timeslice(queue);
	tessera_queue_hw_command(queue, TSR_QUEUE_OP_ENABLE);

	state = tessera_queue_hw_state(queue);
	if (state == TSR_QUEUE_STATE_DISABLED || state == TSR_QUEUE_STATE_FAULTED) {
		drm_err(&tdev->drm, "slot %u does not start, state %u\n", slot, state);
		tessera_queue_hw_command(queue, TSR_QUEUE_OP_RESET);
		return -EIO;
	}

	queue->enabled = true;
	queue->told_wptr = queue->wptr;
	if (queue->wptr != rptr)
		tessera_write(tdev, TSR_REG_DOORBELL_RING(slot), queue->wptr);

	return 0;
}

/* NOP in the place of @qwords. */
static u64 *pack_gap(u64 *p, u32 qwords)
{
	const struct tsr_nop nop = { .qwords = qwords };

	tsr_pack_nop(p, &nop);

	return p + qwords;
}

static u64 *pack_heap(u64 *p, const struct tessera_heap *heap)
{
	struct tsr_heap packet;

	if (!heap)
		return pack_gap(p, TSR_HEAP_QWORDS);

	packet = (struct tsr_heap) {
		.base = heap->va,
		.size = atomic64_read(&heap->committed) / TSR_HEAP_ALIGN,
		.max = heap->max_size / TSR_HEAP_ALIGN,
	};
	tsr_pack_heap(p, &packet);

	return p + TSR_HEAP_QWORDS;
}

static u64 *pack_begin(u64 *p, const struct tessera_perfmon *perfmon)
{
	struct tsr_counter_begin packet;

	if (!perfmon)
		return pack_gap(p, TSR_COUNTER_BEGIN_QWORDS);

	packet = (struct tsr_counter_begin) { .mask = perfmon->mask };
	tsr_pack_counter_begin(p, &packet);

	return p + TSR_COUNTER_BEGIN_QWORDS;
}

static u64 *pack_call(u64 *p, const struct tessera_job *job)
{
	const struct tsr_call packet = { .addr = job->cmd_va, .size = job->cmd_size };

	if (!job->cmd_size)
		return pack_gap(p, TSR_CALL_QWORDS);

	tsr_pack_call(p, &packet);

	return p + TSR_CALL_QWORDS;
}

static u64 *pack_end(u64 *p, const struct tessera_perfmon *perfmon)
{
	struct tsr_counter_end packet;

	if (!perfmon)
		return pack_gap(p, TSR_COUNTER_END_QWORDS);

	packet = (struct tsr_counter_end) { .addr = tessera_counters_va(perfmon->slot) };
	tsr_pack_counter_end(p, &packet);

	return p + TSR_COUNTER_END_QWORDS;
}

static void pack_entry(u64 *p, const struct tessera_job *job, u32 slot, u64 seqno)
{
	const struct tsr_barrier barrier = { .inv_read = true, .inv_code = true };
	const struct tsr_fence fence = {
		.event = TSR_EVENT_ALL_DONE,
		.irq = true,
		.addr = tessera_fence_word_va(slot),
		.value = seqno,
	};

	tsr_pack_barrier(p, &barrier);
	p = pack_heap(p + TSR_BARRIER_QWORDS, job->heap);
	p = pack_begin(p, job->perfmon);
	p = pack_call(p, job);
	p = pack_end(p, job->perfmon);
	tsr_pack_fence(p, &fence);
	pack_gap(p + TSR_FENCE_QWORDS, ENTRY_QWORDS - USED_QWORDS);
}

/* If the device cannot be accessed, the doorbell rings when the slot is enabled again. */
static void ring_doorbell(struct tessera_queue *queue, u32 wptr)
{
	int cookie;

	if (!queue->enabled || !tessera_enter(queue->tdev, &cookie))
		return;

	queue->told_wptr = wptr;
	tessera_write(queue->tdev, TSR_REG_DOORBELL_RING(queue->slot), wptr);
	tessera_leave(queue->tdev, cookie);
}

/**
 * tessera_queue_hw_emit() - put a job on the ring and ring the doorbell
 * @queue: queue; the scheduler's credits see to it that there is room
 * @job: job
 * @seqno: its number
 */
void tessera_queue_hw_emit(struct tessera_queue *queue, const struct tessera_job *job, u64 seqno)
{
	__le64 *entry = queue->ring.cpu + (queue->wptr & (queue->ring.size - 1)) / sizeof(*entry);
	u64 packed[ENTRY_QWORDS] = {};
	unsigned int i;

	pack_entry(packed, job, queue->slot, seqno);
	for (i = 0; i < ENTRY_QWORDS; i++)
		entry[i] = cpu_to_le64(packed[i]);
	queue->wptr += TESSERA_RING_ENTRY;

	/* Entry before the doorbell; under emulation a weaker barrier may be none. */
	mb();
	ring_doorbell(queue, queue->wptr);
}
