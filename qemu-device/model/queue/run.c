/* SPDX-License-Identifier: MIT */
#include <sched.h>

#include "device/gpu.h"

/*
 * Packets that the command processor may go ahead between two steps of the engine: no stream can
 * keep the engine from working.
 */
#define AHEAD_MAX 1024

/* Cycles after which a runner adds what it has done to the global counter. */
#define REPORT_CYCLES 4096

/* Steps of an engine at most before a snapshot. */
#define DRAIN_STEPS 65536

void tsr_run_cycles(struct tsr_runner *runner, struct tsr_queue *q, uint64_t cycles)
{
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_CYCLES], cycles);
	q->slice_left -= cycles;
	runner->spent += cycles;
	runner->own.unreported += cycles;
	/*
	 * The deterministic clock is made of this counter; else it may lag, and threads need not
	 * meet at it.
	 */
	if (runner->gpu->cfg.deterministic || runner->own.unreported > REPORT_CYCLES)
		tsr_run_report(runner);
}

void tsr_run_report(struct tsr_runner *runner)
{
	tsr_counter_global(&runner->gpu->counters, TSR_GLOBAL_COUNTER_GPU_CYCLES,
			   runner->own.unreported);
	runner->own.unreported = 0;
}

void tsr_run_record(struct tsr_record *record, const struct tsr_packet *packet,
		    const struct tsr_fault_info *info)
{
	*record = (struct tsr_record) {
		.addr = info->addr,
		.pc = packet->pc,
		.header = packet->header_valid ? packet->word[0] : 0,
		.rptr = packet->rptr,
		.code = info->code,
		.access = info->access,
		.level = info->level,
		.unit = info->unit,
		.as = info->as,
		.depth = packet->depth,
		.shader = info->shader,
		.group = { info->group[0], info->group[1], info->group[2] },
		.clause = info->clause,
	};
}

void tsr_runners_interrupt(struct tsr_gpu *gpu)
{
	for (unsigned int i = 0; i < gpu->num_runners; i++) {
		if (tsr_runner_works(&gpu->runner[i]))
			atomic_store_explicit(&gpu->runner[i].own.port.stop, true,
					      memory_order_relaxed);
	}
}

/* The engine has nothing left: why @q cannot go on, by what its command processor said. */
static enum tsr_leave out_of_work(enum tsr_cp_result cp)
{
	switch (cp) {
	case TSR_CP_IDLE:
		return TSR_LEAVE_IDLE;
	case TSR_CP_BLOCKED:
		return TSR_LEAVE_BLOCKED;
	case TSR_CP_PENDING:
		return TSR_LEAVE_PENDING;
	default:
		return TSR_LEAVE_FAULT;
	}
}

/*
 * Let the command processor go ahead as far as it can: TSR_CP_STEPPED when it was held up by
 * AHEAD_MAX or by a reason to stop, of which the caller finds out.
 */
static enum tsr_cp_result go_ahead(struct tsr_runner *runner, struct tsr_queue *q, uint64_t limit)
{
	enum tsr_cp_result cp = TSR_CP_STEPPED;

	while (q->exec.ahead < AHEAD_MAX) {
		cp = tsr_cp_step(runner, q);
		if (cp != TSR_CP_STEPPED)
			break;
		q->exec.ahead++;
		if (runner->spent >= limit || q->slice_left <= 0 ||
		    tsr_port_stop_requested(&runner->own.port))
			break;
	}
	return cp;
}

enum tsr_leave tsr_run_queue(struct tsr_runner *runner, struct tsr_queue *q, uint64_t limit,
			     bool light)
{
	runner->spent = 0;
	for (;;) {
		enum tsr_cp_result cp;

		if (tsr_port_stop_requested(&runner->own.port))
			return TSR_LEAVE_STOP;
		if (q->slice_left <= 0 && !tsr_sched_renew(q))
			return TSR_LEAVE_SLICE;
		if (runner->spent >= limit)
			return TSR_LEAVE_LIMIT;
		q->host_seq = atomic_load_explicit(&runner->gpu->host_seq, memory_order_acquire);
		runner->own.budget = limit - runner->spent;
		if (q->slice_left < (int64_t)runner->own.budget || runner->own.budget > INT64_MAX)
			runner->own.budget = q->slice_left;
		cp = go_ahead(runner, q, limit);
		if (cp == TSR_CP_STEPPED && q->exec.ahead < AHEAD_MAX)
			continue;
		q->exec.ahead = 0;
		switch (tsr_fifo_step(runner, q, light)) {
		case TSR_FIFO_STEPPED:
			break;
		case TSR_FIFO_EMPTY:
			if (cp == TSR_CP_INVALIDATING && light)
				return TSR_LEAVE_HEAVY;
			if (cp == TSR_CP_INVALIDATING)
				sched_yield();
			else if (cp != TSR_CP_STEPPED && cp != TSR_CP_STALLED)
				return out_of_work(cp);
			break;
		case TSR_FIFO_PENDING:
			if (cp != TSR_CP_STEPPED)
				return TSR_LEAVE_PENDING;
			break;
		case TSR_FIFO_HEAVY:
			if (cp != TSR_CP_STEPPED)
				return TSR_LEAVE_HEAVY;
			break;
		case TSR_FIFO_FAULT:
			return TSR_LEAVE_FAULT;
		}
	}
}

enum tsr_leave tsr_run_drain(struct tsr_runner *runner, struct tsr_queue *q, uint64_t limit)
{
	runner->spent = 0;
	/* also an engine that is made to hang, and spends nothing, comes to an end */
	for (unsigned int n = 0; n < DRAIN_STEPS && tsr_fifo_unwound(q); n++) {
		if (runner->spent >= limit)
			break;
		q->host_seq = atomic_load_explicit(&runner->gpu->host_seq, memory_order_acquire);
		runner->own.budget = limit - runner->spent;
		switch (tsr_fifo_step(runner, q, false)) {
		case TSR_FIFO_PENDING:
			return TSR_LEAVE_PENDING;
		case TSR_FIFO_FAULT:
			return TSR_LEAVE_FAULT;
		default:
			break;
		}
	}
	return TSR_LEAVE_LIMIT;
}
