// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Queue slots
 *
 * A slot is configured while it is disabled, enabled, and stopped by RESET (what
 * it was doing is dropped) or SUSPEND (it is kept). Stopping takes at most one
 * burst of an engine; STATE.STOPPING reads 1 until it is done.
 *
 * A job is one entry of 64 bytes on the ring, so no entry straddles the end of
 * the ring. The device may still be at the last packet of an entry when its fence
 * has been written, so one entry of the ring always stays unused::
 *
 *   BARRIER  caches of read-only data and code miss what the CPU has changed
 *   CALL     the user's stream, in the user's address space, unprivileged
 *   FENCE    the job's number to the slot's fence word when all of it is done, IRQ
 *   NOP      to the end of the entry
 */

#include <linux/bitfield.h>
#include <linux/iopoll.h>
#include <linux/log2.h>

#include <drm/drm_print.h>

#include "tessera_device.h"
#include "tessera_queue.h"
#include "tessera_vm.h"
#include "tsr_packets.h"

#define ENTRY_QWORDS (TESSERA_RING_ENTRY / 8)

static_assert(TSR_BARRIER_QWORDS + TSR_CALL_QWORDS + TSR_FENCE_QWORDS + TSR_NOP_QWORDS ==
	      ENTRY_QWORDS);

static const u32 hw_priority[] = {
	[DRM_TESSERA_PRIORITY_LOW] = TSR_PRIORITY_LOW,
	[DRM_TESSERA_PRIORITY_NORMAL] = TSR_PRIORITY_NORMAL,
	[DRM_TESSERA_PRIORITY_HIGH] = TSR_PRIORITY_HIGH,
};

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
 * @rptr: where on the ring to begin; what is written behind it runs
 *
 * Return: 0, or -EIO if the device does not like it.
 */
int tessera_queue_hw_enable(struct tessera_queue *queue, u32 rptr)
{
	struct tessera_device *tdev = queue->tdev;
	u32 slot = queue->slot, state;

	tessera_write64(tdev, TSR_REG_QUEUE_RING_BASE(slot), queue->ring.va);
	tessera_write(tdev, TSR_REG_QUEUE_CONFIG(slot),
		      FIELD_PREP(TSR_QUEUE_CONFIG_RING_LOG2__MASK, ilog2(queue->ring.size)) |
		      FIELD_PREP(TSR_QUEUE_CONFIG_CLASS__MASK, queue->engine_class) |
		      FIELD_PREP(TSR_QUEUE_CONFIG_PRIORITY__MASK, hw_priority[queue->priority]));
	tessera_write(tdev, TSR_REG_QUEUE_ADDRESS_SPACES(slot),
		      FIELD_PREP(TSR_QUEUE_ADDRESS_SPACES_RING_AS__MASK, TESSERA_KERNEL_AS) |
		      FIELD_PREP(TSR_QUEUE_ADDRESS_SPACES_USER_AS__MASK, queue->vm->as));
	tessera_write(tdev, TSR_REG_QUEUE_RPTR(slot), rptr);
	tessera_write(tdev, TSR_REG_QUEUE_TIMESLICE(slot), 0);
	tessera_write(tdev, TSR_REG_QUEUE_WATCHDOG_MS(slot), tessera_job_timeout_ms);
	tessera_queue_hw_command(queue, TSR_QUEUE_OP_ENABLE);

	state = tessera_queue_hw_state(queue);
	if (state == TSR_QUEUE_STATE_DISABLED || state == TSR_QUEUE_STATE_FAULTED) {
		drm_err(&tdev->drm, "slot %u does not start, state %u\n", slot, state);
		tessera_queue_hw_command(queue, TSR_QUEUE_OP_RESET);
		return -EIO;
	}

	if (queue->wptr != rptr)
		tessera_write(tdev, TSR_REG_DOORBELL_RING(slot), queue->wptr);

	return 0;
}

static void pack_entry(u64 *p, const struct tsr_call *call, const struct tsr_fence *fence)
{
	const struct tsr_barrier barrier = { .inv_read = true, .inv_code = true };
	const struct tsr_nop skip = { .qwords = TSR_CALL_QWORDS };
	const struct tsr_nop end = { .qwords = TSR_NOP_QWORDS };

	tsr_pack_barrier(p, &barrier);
	p += TSR_BARRIER_QWORDS;
	if (call->size)
		tsr_pack_call(p, call);
	else
		tsr_pack_nop(p, &skip);
	p += TSR_CALL_QWORDS;
	tsr_pack_fence(p, fence);
	p += TSR_FENCE_QWORDS;
	tsr_pack_nop(p, &end);
}

/**
 * tessera_queue_hw_emit() - put a job on the ring and ring the doorbell
 * @queue: queue; the scheduler's credits see to it that there is room
 * @cmd_va: user's stream
 * @cmd_size: its bytes, 0 for a job that only signals
 * @seqno: number of the job
 */
void tessera_queue_hw_emit(struct tessera_queue *queue, u64 cmd_va, u32 cmd_size, u64 seqno)
{
	__le64 *entry = queue->ring.cpu + (queue->wptr & (queue->ring.size - 1)) / sizeof(*entry);
	const struct tsr_call call = { .addr = cmd_va, .size = cmd_size };
	const struct tsr_fence fence = {
		.event = TSR_EVENT_ALL_DONE,
		.irq = true,
		.addr = tessera_fence_word_va(queue->slot),
		.value = seqno,
	};
	u64 packed[ENTRY_QWORDS];
	unsigned int i;

	pack_entry(packed, &call, &fence);
	for (i = 0; i < ENTRY_QWORDS; i++)
		entry[i] = cpu_to_le64(packed[i]);
	queue->wptr += TESSERA_RING_ENTRY;

	/* Entry before the doorbell; under emulation a weaker barrier may be none. */
	mb();
	tessera_write(queue->tdev, TSR_REG_DOORBELL_RING(queue->slot), queue->wptr);
}
