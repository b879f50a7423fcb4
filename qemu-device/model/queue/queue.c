/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "binner/bin_engine.h"
#include "device/gpu.h"
#include "shader/dispatch.h"
#include "render/render_engine.h"

unsigned int tsr_queue_number(const struct tsr_queue *q)
{
	return q->index;
}

uint32_t tsr_queue_slice(const struct tsr_queue *q)
{
	if (!q->timeslice)
		return TSR_TIMESLICE_DEFAULT;
	return q->timeslice < TSR_TIMESLICE_MIN ? TSR_TIMESLICE_MIN : q->timeslice;
}

void tsr_queue_set_state(struct tsr_queue *q, unsigned int state)
{
	uint64_t args[3] = { q->index, q->state, state };

	q->state = state;
	tsr_trace(q->gpu, TSR_TRACE_STATE, args, 3);
}

bool tsr_queue_has_work(const struct tsr_queue *q)
{
	const struct tsr_exec *x = &q->exec;

	return tsr_queue_filled(q) || x->fifo.count || x->depth || x->phase != TSR_CP_FETCH;
}

/* RPTR goes back to the oldest ring packet that has not had its full effect. */
static void unwind(struct tsr_queue *q, uint32_t rptr, bool in_call)
{
	atomic_store_explicit(&q->rptr, rptr, memory_order_relaxed);
	atomic_store_explicit(&q->in_call, in_call, memory_order_relaxed);
}

void tsr_queue_faulted(struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;
	uint64_t args[4] = { q->index, q->fault.code, q->fault.addr, q->fault.pc };

	tsr_call_ends(q, TSR_CAPTURE_FAULTED);
	if (q->fault.unit != TSR_UNIT_SLOT)
		unwind(q, q->fault.rptr, q->fault.depth > 0);
	tsr_dispatch_drop(&q->work);
	tsr_bin_drop(&q->work);
	tsr_render_drop(&q->work);
	tsr_cp_reset(&q->exec);
	tsr_heap_state_reset(q);
	tsr_queue_set_state(q, TSR_QUEUE_STATE_FAULTED);
	tsr_trace(gpu, TSR_TRACE_FAULT, args, 4);
	if (gpu->cfg.check)
		gpu->hooks->faulted(q);
	tsr_counter_global(&gpu->counters, TSR_GLOBAL_COUNTER_FAULTS, 1);
	tsr_irq_raise(&gpu->irq, TSR_IRQ_CLASS_FAULT, 1ull << q->index);
}

void tsr_queue_slot_fault(struct tsr_queue *q, unsigned int code, uint64_t addr)
{
	q->fault = (struct tsr_record){
		.addr = addr,
		.rptr = atomic_load_explicit(&q->rptr, memory_order_relaxed),
		.code = code,
		.unit = TSR_UNIT_SLOT,
		.as = tsr_queue_ring_as(q),
	};
	tsr_queue_faulted(q);
}

void tsr_queue_unblock(struct tsr_queue *q)
{
	tsr_sched_unblock(q);
	tsr_sched_ready(q, false);
}

/* Take a queue that is not RUNNING out of the scheduler's sets. */
static void detach(struct tsr_queue *q)
{
	if (q->state == TSR_QUEUE_STATE_READY)
		tsr_sched_unready(q);
	else if (q->state == TSR_QUEUE_STATE_BLOCKED)
		tsr_sched_unblock(q);
}

static void clear_counters(struct tsr_queue *q)
{
	for (unsigned int i = 0; i < TSR_QUEUE_COUNTER__COUNT; i++)
		atomic_store_explicit(&q->counter[i], 0, memory_order_relaxed);
}

static void do_reset(struct tsr_queue *q)
{
	const struct tsr_fifo *fifo = &q->exec.fifo;

	tsr_call_ends(q, TSR_CAPTURE_STOPPED);
	if (q->gpu->cfg.check)
		q->gpu->hooks->stopped(q);
	detach(q);
	if (fifo->count)
		unwind(q, fifo->entry[fifo->first].rptr, fifo->entry[fifo->first].depth > 0);
	tsr_dispatch_drop(&q->work);
	tsr_bin_drop(&q->work);
	tsr_render_drop(&q->work);
	tsr_cp_reset(&q->exec);
	tsr_heap_state_reset(q);
	clear_counters(q);
	atomic_store_explicit(&q->hung, false, memory_order_relaxed);
	tsr_queue_set_state(q, TSR_QUEUE_STATE_DISABLED);
}

static bool is_live(const struct tsr_queue *q)
{
	return q->state != TSR_QUEUE_STATE_DISABLED && q->state != TSR_QUEUE_STATE_FAULTED;
}

static void do_suspend(struct tsr_queue *q)
{
	q->before = q->state;
	detach(q);
	tsr_queue_set_state(q, TSR_QUEUE_STATE_SUSPENDED);
}

void tsr_queue_honour(struct tsr_queue *q)
{
	unsigned int request = q->request;

	if (q->stop_stuck)
		return;
	q->request = 0;
	if (request & TSR_REQUEST_RESET) {
		do_reset(q);
	} else if ((request & TSR_REQUEST_BAD_WPTR) && is_live(q)) {
		detach(q);
		tsr_queue_slot_fault(q, TSR_FAULT_BAD_WPTR, q->bad_wptr);
	} else if ((request & TSR_REQUEST_SUSPEND) && is_live(q)) {
		do_suspend(q);
	}
	if (request & (TSR_REQUEST_RESET | TSR_REQUEST_SUSPEND))
		tsr_irq_raise(&q->gpu->irq, TSR_IRQ_CLASS_GLOBAL, TSR_GLOBAL_IRQ_QUEUE_STOPPED);
}

/* True if the queue does not stop when it is told to, on purpose. */
static bool gets_stuck(struct tsr_queue *q)
{
	return q->state != TSR_QUEUE_STATE_DISABLED && !q->stop_stuck &&
	       tsr_inject_armed(q->gpu) && q->gpu->hooks->stop(q);
}

/* Request a change that needs the queue at a preemption point. Applied at once if it is at one. */
static void request(struct tsr_queue *q, unsigned int bit)
{
	q->request |= bit;
	if (bit & (TSR_REQUEST_RESET | TSR_REQUEST_SUSPEND) && gets_stuck(q))
		q->stop_stuck = true;
	if (q->stop_stuck)
		return;
	if (q->active) {
		atomic_store_explicit(&q->active->own.port.stop, true, memory_order_relaxed);
		return;
	}
	if (q->state == TSR_QUEUE_STATE_RUNNING) {	/* between two calls of tsr_gpu_run() */
		tsr_sched_off(q);
		tsr_sched_ready(q, true);
	}
	tsr_queue_honour(q);
}

void tsr_queue_unstick(struct tsr_queue *q)
{
	if (!q->stop_stuck)
		return;
	q->stop_stuck = false;
	request(q, 0);
}

int tsr_queue_bad_register(const struct tsr_queue *q)
{
	unsigned int log2 = q->config & TSR_QUEUE_CONFIG_RING_LOG2__MASK;
	uint64_t end;

	if (log2 < TSR_RING_LOG2_MIN || log2 > TSR_RING_LOG2_MAX ||
	    !q->gpu->cfg.engines[tsr_queue_class(q)])
		return TSR_QUEUE_CONFIG__OFFSET;
	end = q->ring_base + (1ull << log2) - 1;
	if (q->ring_base & 0xfff || end < q->ring_base || end >> q->gpu->cfg.va_bits)
		return TSR_QUEUE_RING_BASE__OFFSET;
	if (tsr_queue_ring_as(q) >= TSR_ADDRESS_SPACES_MAX ||
	    tsr_queue_user_as(q) >= TSR_ADDRESS_SPACES_MAX)
		return TSR_QUEUE_ADDRESS_SPACES__OFFSET;
	/* A ring made smaller than what RESET left in it. */
	if (atomic_load_explicit(&q->wptr, memory_order_relaxed) -
		    atomic_load_explicit(&q->rptr, memory_order_relaxed) >
	    1u << log2)
		return TSR_QUEUE_RPTR__OFFSET;
	return -1;
}

static void do_enable(struct tsr_queue *q)
{
	int bad = tsr_queue_bad_register(q);

	memset(&q->fault, 0, sizeof(q->fault));
	tsr_cp_reset(&q->exec);
	tsr_heap_state_reset(q);
	clear_counters(q);
	atomic_store_explicit(&q->in_call, false, memory_order_relaxed);
	atomic_store_explicit(&q->progress, 0, memory_order_relaxed);
	atomic_store_explicit(&q->calls, 0, memory_order_relaxed);
	q->busy_ns = 0;
	q->slices = 0;
	q->preemptions = 0;
	q->watch_progress = 0;
	q->watch_fired = false;
	if (bad < 0 && q->gpu->cfg.check)
		q->gpu->hooks->enabled(q);
	if (bad >= 0) {
		tsr_queue_slot_fault(q, TSR_FAULT_BAD_CONFIG, bad);
	} else if (tsr_queue_filled(q)) {
		tsr_sched_ready(q, false);
		tsr_watchdog_start(q);
	} else {
		tsr_queue_set_state(q, TSR_QUEUE_STATE_IDLE);
	}
}

static void do_resume(struct tsr_queue *q)
{
	if (!tsr_queue_has_work(q)) {
		tsr_queue_set_state(q, TSR_QUEUE_STATE_IDLE);
		return;
	}
	/* After a WAIT that does not hold the engine may have work left, and wait for the host. */
	if (q->before == TSR_QUEUE_STATE_BLOCKED && q->exec.phase == TSR_CP_EXECUTE &&
	    q->exec.waited && !q->exec.fifo.count) {
		tsr_sched_block(q, TSR_QUEUE_BLOCK_SEMAPHORE);
		tsr_semaphore_blocked(q->gpu);
		tsr_semaphore_poll(&q->gpu->runner[0]);
	} else {
		tsr_sched_ready(q, false);
	}
	tsr_watchdog_start(q);
}

void tsr_queue_control(struct tsr_queue *q, unsigned int op)
{
	bool stopping = q->request & (TSR_REQUEST_RESET | TSR_REQUEST_SUSPEND);

	switch (op) {
	case TSR_QUEUE_OP_ENABLE:
		if (q->state == TSR_QUEUE_STATE_DISABLED && !stopping)
			do_enable(q);
		break;
	case TSR_QUEUE_OP_RESET:
		request(q, TSR_REQUEST_RESET);
		break;
	case TSR_QUEUE_OP_SUSPEND:
		if (is_live(q) && q->state != TSR_QUEUE_STATE_SUSPENDED && !stopping)
			request(q, TSR_REQUEST_SUSPEND);
		break;
	case TSR_QUEUE_OP_RESUME:
		if (q->state == TSR_QUEUE_STATE_SUSPENDED)
			do_resume(q);
		break;
	case TSR_QUEUE_OP_FAIL_HEAP:
		tsr_heap_state_fail(q);
		break;
	default:
		break;
	}
}

/* New packets in the ring. */
static void filled(struct tsr_queue *q)
{
	if (q->state == TSR_QUEUE_STATE_IDLE && tsr_queue_filled(q)) {
		tsr_sched_ready(q, false);
		tsr_watchdog_start(q);
	} else if (q->state == TSR_QUEUE_STATE_BLOCKED && q->block == TSR_QUEUE_BLOCK_SEMAPHORE) {
		tsr_tlb_sync(&q->gpu->runner[0]);
		tsr_semaphore_poll_queue(&q->gpu->runner[0], q);
	}
}

void tsr_queue_doorbell(struct tsr_queue *q, uint32_t wptr)
{
	uint64_t args[2] = { q->index, wptr };

	if (q->gpu->cfg.check && q->state == TSR_QUEUE_STATE_DISABLED)
		q->gpu->hooks->doorbell_disabled(q, wptr);
	if (!is_live(q) || q->request & (TSR_REQUEST_RESET | TSR_REQUEST_BAD_WPTR))
		return;
	tsr_counter_global(&q->gpu->counters, TSR_GLOBAL_COUNTER_DOORBELLS, 1);
	tsr_trace(q->gpu, TSR_TRACE_DOORBELL, args, 2);
	if (wptr % 8 ||
	    wptr - atomic_load_explicit(&q->rptr, memory_order_relaxed) > tsr_queue_ring_size(q)) {
		q->bad_wptr = wptr;
		request(q, TSR_REQUEST_BAD_WPTR);
		return;
	}
	if (q->gpu->cfg.check)
		q->gpu->hooks->doorbell(q, wptr);
	atomic_store_explicit(&q->wptr, wptr, memory_order_release);
	filled(q);
}

void tsr_queue_reset(struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;
	unsigned int index = q->index;

	tsr_call_ends(q, TSR_CAPTURE_STOPPED);
	tsr_dispatch_drop(&q->work);
	tsr_bin_drop(&q->work);
	tsr_render_drop(&q->work);
	memset(q, 0, sizeof(*q));
	q->gpu = gpu;
	q->index = index;
	q->work.env = &gpu->env;
	q->work.spare = &gpu->memory[q->engine];
}
