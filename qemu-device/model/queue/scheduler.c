/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "thread_pool.h"
#include "device/gpu.h"
#include "shader/dispatch.h"
#include "render/render_engine.h"

/*
 * Cycles that run_all() gives a queue at a time, so that engines seem to run side by side; the
 * least, and how much more at random.
 */
#define QUANTUM_MIN 512
#define QUANTUM_SPREAD 1024
/* Engines that run programs do that many times as much in the same time as one that copies. */
#define QUANTUM_PROGRAMS 16

/* The deterministic schedule's choices: xorshift64*, started by the seed. */
static uint64_t random_next(struct tsr_sched *sched)
{
	sched->random ^= sched->random >> 12;
	sched->random ^= sched->random << 25;
	sched->random ^= sched->random >> 27;
	return sched->random * 0x2545f4914f6cdd1dull >> 33;
}

/*
 * To be called whenever a queue becomes ready or ceases to be, and when an engine is taken or
 * freed.
 */
static void update_runnable(struct tsr_gpu *gpu)
{
	bool any = false, waiting = false;

	for (unsigned int cls = 0; cls < TSR_CLASSES; cls++) {
		waiting |= gpu->sched.ready[cls];
		any |= gpu->sched.ready[cls] &&
		       gpu->counters.busy.running[cls] < gpu->cfg.engines[cls];
	}
	atomic_store_explicit(&gpu->sched.runnable, any, memory_order_relaxed);
	atomic_store_explicit(&gpu->sched.waiting, waiting, memory_order_relaxed);
}

static int free_engine(struct tsr_gpu *gpu, unsigned int cls)
{
	for (unsigned int i = 0; i < gpu->cfg.engines[cls]; i++) {
		if (!gpu->sched.engine[cls][i])
			return i;
	}
	return -1;
}

static void add_ready(struct tsr_queue *q)
{
	q->gpu->sched.ready[tsr_queue_class(q)] |= 1ull << q->index;
	tsr_queue_set_state(q, TSR_QUEUE_STATE_READY);
	update_runnable(q->gpu);
}

/*
 * @q is ready and all engines of its class are taken: have the least of the queues there make room,
 * if it is of lower priority.
 */
static void displace(struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;
	unsigned int cls = tsr_queue_class(q);
	struct tsr_queue *least = NULL;

	for (unsigned int i = 0; i < gpu->cfg.engines[cls]; i++) {
		struct tsr_queue *other = gpu->sched.engine[cls][i];

		if (!other->starved &&
		    (!least || tsr_queue_priority(other) < tsr_queue_priority(least)))
			least = other;
	}
	if (!least || tsr_queue_priority(least) >= tsr_queue_priority(q))
		return;
	if (least->active) {
		least->request |= TSR_REQUEST_YIELD;
		atomic_store_explicit(&least->active->own.port.stop, true, memory_order_relaxed);
	} else {
		tsr_sched_off(least);
		add_ready(least);
	}
}

void tsr_sched_ready(struct tsr_queue *q, bool keep_order)
{
	if (!keep_order)
		q->order = q->gpu->sched.next_order++;
	q->passed = 0;
	q->heavy = false;
	add_ready(q);
	if (free_engine(q->gpu, tsr_queue_class(q)) < 0)
		displace(q);
}

void tsr_sched_unready(struct tsr_queue *q)
{
	q->gpu->sched.ready[tsr_queue_class(q)] &= ~(1ull << q->index);
	update_runnable(q->gpu);
}

void tsr_sched_block(struct tsr_queue *q, unsigned int why)
{
	struct tsr_sched *sched = &q->gpu->sched;

	q->block = why;
	q->block_since = tsr_clock(&q->gpu->counters);
	tsr_queue_set_state(q, TSR_QUEUE_STATE_BLOCKED);
	if (why == TSR_QUEUE_BLOCK_SEMAPHORE) {
		sched->blocked |= 1ull << q->index;
		atomic_exchange_explicit(&sched->any_blocked, 1, memory_order_acq_rel);
	}
}

void tsr_sched_unblock(struct tsr_queue *q)
{
	struct tsr_sched *sched = &q->gpu->sched;

	tsr_count(&q->counter[TSR_QUEUE_COUNTER_BLOCKED_TIME],
		  tsr_clock(&q->gpu->counters) - q->block_since);
	q->block = TSR_QUEUE_BLOCK_NONE;
	sched->blocked &= ~(1ull << q->index);
	atomic_exchange_explicit(&sched->any_blocked, sched->blocked != 0, memory_order_acq_rel);
}

void tsr_sched_restore(struct tsr_queue *q)
{
	struct tsr_sched *sched = &q->gpu->sched;

	if (q->state == TSR_QUEUE_STATE_READY) {
		sched->ready[tsr_queue_class(q)] |= 1ull << q->index;
		update_runnable(q->gpu);
	} else {
		sched->blocked |= 1ull << q->index;
		atomic_exchange_explicit(&sched->any_blocked, 1, memory_order_acq_rel);
	}
}

/* The queue of @ready that runs next. */
static struct tsr_queue *best(struct tsr_gpu *gpu, uint64_t ready)
{
	struct tsr_queue *found = NULL;

	for (; ready; ready &= ready - 1) {
		struct tsr_queue *q = &gpu->queue[__builtin_ctzll(ready)];
		bool starved = q->passed >= TSR_STARVATION_SLICES;
		bool found_starved = found && found->passed >= TSR_STARVATION_SLICES;

		if (!found) {
			found = q;
		} else if (starved != found_starved) {
			found = starved ? q : found;
		} else if (starved && q->passed != found->passed) {
			found = q->passed > found->passed ? q : found;
		} else if (!starved && tsr_queue_priority(q) != tsr_queue_priority(found)) {
			found = tsr_queue_priority(q) > tsr_queue_priority(found) ? q : found;
		} else if (q->order < found->order) {
			found = q;
		}
	}
	return found;
}

/* A slice of an engine of @cls begins: those that stay behind are passed over. */
static void pass_over(struct tsr_gpu *gpu, unsigned int cls)
{
	for (uint64_t ready = gpu->sched.ready[cls]; ready; ready &= ready - 1)
		gpu->queue[__builtin_ctzll(ready)].passed++;
}

/* Queues of class @cls that may be parked. */
static unsigned int parking(const struct tsr_gpu *gpu, unsigned int cls)
{
	return gpu->cfg.engines[cls] + 1;
}

/* @q is not parked any more: what has been parked after it moves up. Returns how many are left. */
static unsigned int unpark(struct tsr_queue *q, unsigned int cls)
{
	struct tsr_queue **parked = q->gpu->sched.parked[cls];
	unsigned int n = 0;

	for (unsigned int i = 0; i < parking(q->gpu, cls); i++) {
		struct tsr_queue *other = parked[i];

		parked[i] = NULL;
		if (other && other != q)
			parked[n++] = other;
	}
	return n;
}

void tsr_sched_park(struct tsr_queue *q)
{
	const unsigned int cls = tsr_queue_class(q);
	struct tsr_queue **parked = q->gpu->sched.parked[cls];
	unsigned int n = unpark(q, cls);

	if (!q->work.grid && !q->work.rendering)
		return;
	if (n == parking(q->gpu, cls)) {
		struct tsr_queue *oldest = parked[0];

		/* since it was reset it may have become one of another class, and run */
		if (tsr_queue_class(oldest) == cls) {
			tsr_dispatch_pack(&oldest->work);
			tsr_render_pack(&oldest->work);
		}
		n = unpark(oldest, cls);
	}
	parked[n] = q;
}

static void put_on(struct tsr_queue *q, unsigned int cls, unsigned int engine)
{
	struct tsr_gpu *gpu = q->gpu;
	uint64_t args[3] = { q->index, cls, engine };

	tsr_sched_unready(q);
	unpark(q, cls);
	q->starved = q->passed >= TSR_STARVATION_SLICES;
	q->passed = 0;
	q->engine = engine;
	q->work.spare = &gpu->memory[engine];
	q->slice = tsr_queue_slice(q);
	q->slice_left = q->slice;
	q->slices++;
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_SLICES], 1);
	gpu->sched.engine[cls][engine] = q;
	gpu->sched.running |= 1ull << q->index;
	q->run_since = tsr_clock(&gpu->counters);
	tsr_busy_change(&gpu->counters, cls, 1, q->run_since);
	update_runnable(gpu);
	tsr_queue_set_state(q, TSR_QUEUE_STATE_RUNNING);
	tsr_trace(gpu, TSR_TRACE_SLICE_BEGIN, args, 3);
	pass_over(gpu, cls);
}

void tsr_sched_off(struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;
	unsigned int cls = tsr_queue_class(q);
	uint64_t now = tsr_clock(&gpu->counters);
	uint64_t time = now - q->run_since;

	gpu->sched.engine[cls][q->engine] = NULL;
	gpu->sched.running &= ~(1ull << q->index);
	q->busy_ns += time;
	q->starved = false;
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_BUSY_TIME], time);
	tsr_busy_change(&gpu->counters, cls, -1, now);
	update_runnable(gpu);
	tsr_sched_park(q);
}

struct tsr_queue *tsr_sched_pick(struct tsr_gpu *gpu, bool light)
{
	struct tsr_sched *sched = &gpu->sched;

	if (tsr_gpu_stands(gpu))
		return NULL;
	for (unsigned int i = 0; i < TSR_CLASSES; i++) {
		unsigned int cls = (sched->next_class + i) % TSR_CLASSES;
		int engine = sched->ready[cls] ? free_engine(gpu, cls) : -1;
		struct tsr_queue *q;

		if (engine < 0)
			continue;
		q = best(gpu, sched->ready[cls]);
		if (light && q->heavy)
			continue;
		sched->next_class = (cls + 1) % TSR_CLASSES;
		put_on(q, cls, engine);
		return q;
	}
	return NULL;
}

/* True if a queue waits for nothing but a thread. */
static bool thread_wanted(struct tsr_gpu *gpu)
{
	for (unsigned int cls = 0; gpu->cfg.threads && !gpu->workers.idle && cls < TSR_CLASSES;
	     cls++) {
		if (gpu->sched.ready[cls] && free_engine(gpu, cls) >= 0)
			return true;
	}
	return false;
}

/* Returns true if a head's frame waits for nothing but a thread. */
static bool frame_waits(struct tsr_gpu *gpu)
{
	return gpu->cfg.threads && !gpu->workers.idle && atomic_load(&gpu->display.wanted);
}

/* The slice of @q is over: whether it gets another one at once. */
static bool next_slice(struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;
	unsigned int cls = tsr_queue_class(q);
	const struct tsr_queue *other = best(gpu, gpu->sched.ready[cls]);

	if (other && (other->passed >= TSR_STARVATION_SLICES ||
		      tsr_queue_priority(other) >= tsr_queue_priority(q)))
		return false;
	if (thread_wanted(gpu) || frame_waits(gpu))
		return false;
	q->starved = false;
	q->slice = tsr_queue_slice(q);
	q->slice_left = q->slice;
	pass_over(gpu, cls);
	return true;
}

bool tsr_sched_renew(struct tsr_queue *q)
{
	struct tsr_sched *sched = &q->gpu->sched;

	if (!atomic_load_explicit(&q->work.pool.open, memory_order_relaxed) || q->starved ||
	    atomic_load_explicit(&sched->waiting, memory_order_relaxed) ||
	    atomic_load_explicit(&q->gpu->display.wanted, memory_order_relaxed))
		return false;
	q->slice_left = q->slice;
	return true;
}

/* True if @q, at a preemption point for the reason @leave, simply continues. */
static bool goes_on(struct tsr_queue *q, enum tsr_leave leave)
{
	struct tsr_gpu *gpu = q->gpu;

	if (q->request || tsr_gpu_stands(gpu))
		return false;
	switch (leave) {
	case TSR_LEAVE_STOP:
		/* a head's frame goes first, if all threads are busy */
		return !frame_waits(gpu);
	case TSR_LEAVE_SLICE:
		return next_slice(q);
	case TSR_LEAVE_IDLE:	/* the doorbell may have been written meanwhile */
		return tsr_queue_filled(q);
	case TSR_LEAVE_PENDING:	/* the host may have answered meanwhile, the heap have grown */
		if (tsr_heap_state_waits(q))
			return false;
		/* the heap has grown; the engine waits for other reasons from here on */
		if (q->heap.wanted) {
			q->heap.wanted = 0;
			return true;
		}
		return q->host_seq != atomic_load_explicit(&gpu->host_seq, memory_order_relaxed);
	default:
		return false;
	}
}

/*
 * @q, just taken from its engine, is BLOCKED by its WAIT unless the word has changed at the last
 * moment.
 */
static void wait_for_semaphore(struct tsr_runner *runner, struct tsr_queue *q)
{
	tsr_sched_block(q, TSR_QUEUE_BLOCK_SEMAPHORE);
	if (!tsr_semaphore_poll_queue(runner, q))
		tsr_semaphore_blocked(q->gpu);
}

/* @q, just taken from its engine, is BLOCKED for heap memory unless there is some by now. */
static void wait_for_heap(struct tsr_queue *q)
{
	if (!tsr_heap_state_waits(q)) {
		tsr_sched_ready(q, true);
		return;
	}
	tsr_sched_block(q, TSR_QUEUE_BLOCK_HEAP);
	tsr_irq_raise(&q->gpu->irq, TSR_IRQ_CLASS_HEAP, 1ull << q->index);
}

/*
 * @q has reached a preemption point and does not continue. Removes it from its engine and sets its
 * new state.
 */
static void leave_engine(struct tsr_runner *runner, struct tsr_queue *q, enum tsr_leave leave)
{
	uint64_t args[3] = { q->index, leave, runner->spent };

	tsr_sched_off(q);
	tsr_trace(q->gpu, TSR_TRACE_SLICE_END, args, 3);
	tsr_watchdog_progress(q);
	switch (leave) {
	case TSR_LEAVE_IDLE:
		if (tsr_queue_filled(q))
			tsr_sched_ready(q, false);
		else
			tsr_queue_set_state(q, TSR_QUEUE_STATE_IDLE);
		break;
	case TSR_LEAVE_BLOCKED:
		wait_for_semaphore(runner, q);
		break;
	case TSR_LEAVE_PENDING:
		if (q->heap.wanted) {
			wait_for_heap(q);
			break;
		}
		if (q->host_seq != atomic_load_explicit(&q->gpu->host_seq, memory_order_relaxed))
			tsr_sched_ready(q, true);
		else
			tsr_sched_block(q, TSR_QUEUE_BLOCK_HOST);
		break;
	case TSR_LEAVE_FAULT:
		q->fault = q->exec.fault;
		tsr_queue_faulted(q);
		break;
	case TSR_LEAVE_SLICE:
		q->preemptions++;
		tsr_sched_ready(q, false);
		break;
	default:
		tsr_sched_ready(q, true);
		q->heavy = leave != TSR_LEAVE_STOP;
		break;
	}
	if (q->request)
		tsr_queue_honour(q);
}

uint64_t tsr_sched_run(struct tsr_runner *runner, struct tsr_queue *q, uint64_t limit, bool light)
{
	struct tsr_gpu *gpu = runner->gpu;
	enum tsr_leave leave;
	uint64_t spent = 0;

	runner->queue = q;
	q->active = runner;
	tsr_tlb_sync(runner);
	for (;;) {
		tsr_port_start(&runner->own.port);
		pthread_mutex_unlock(&gpu->lock);
		leave = gpu->env.drain ?
				tsr_run_drain(runner, q, limit) :
				tsr_run_queue(runner, q, limit > spent ? limit - spent : 0, light);
		tsr_thread_pool_close(q);
		pthread_mutex_lock(&gpu->lock);
		tsr_port_end(&runner->own.port);
		spent += runner->spent;
		tsr_run_report(runner);
		tsr_tlb_sync(runner);
		tsr_inval_complete(gpu);
		tsr_hooks_arm(gpu);
		if (!goes_on(q, leave))
			break;
		if (spent >= limit) {
			leave = TSR_LEAVE_LIMIT;
			break;
		}
	}
	q->active = NULL;
	runner->queue = NULL;
	if (leave != TSR_LEAVE_LIMIT || light || q->request || tsr_gpu_stands(gpu))
		leave_engine(runner, q, leave);
	tsr_inval_complete(gpu);
	tsr_gpu_runner_idle(gpu);
	return spent;
}

void tsr_sched_kick(struct tsr_gpu *gpu)
{
	uint64_t budget = gpu->cfg.no_inline ? 0 : gpu->cfg.inline_budget;
	struct tsr_queue *q;

	while (budget && atomic_load_explicit(&gpu->sched.runnable, memory_order_relaxed)) {
		uint64_t spent;

		q = tsr_sched_pick(gpu, true);
		if (!q)
			break;
		spent = tsr_sched_run(&gpu->runner[0], q, budget, true);
		tsr_counter_global(&gpu->counters, TSR_GLOBAL_COUNTER_INLINE_CYCLES, spent);
		spent += !spent;	/* also what cost nothing must come to an end */
		budget -= spent < budget ? spent : budget;
	}
	if (atomic_load_explicit(&gpu->sched.runnable, memory_order_relaxed))
		tsr_workers_wake_late(gpu);
}

/* One of the queues that run: which one is the seed's choice. */
static struct tsr_queue *choose_running(struct tsr_gpu *gpu)
{
	uint64_t running = gpu->sched.running;
	unsigned int n = random_next(&gpu->sched) % __builtin_popcountll(running);

	while (n--)
		running &= running - 1;
	return &gpu->queue[__builtin_ctzll(running)];
}

uint64_t tsr_sched_run_all(struct tsr_gpu *gpu, uint64_t cycles)
{
	uint64_t spent = 0;

	while (spent < cycles) {
		struct tsr_queue *q;
		uint64_t quantum = QUANTUM_MIN + random_next(&gpu->sched) % QUANTUM_SPREAD;

		gpu->sched.next_class = random_next(&gpu->sched) % TSR_CLASSES;
		while (tsr_sched_pick(gpu, false))
			continue;
		if (!gpu->sched.running)
			break;
		q = choose_running(gpu);
		if (tsr_queue_class(q) != TSR_ENGINE_CLASS_COPY)
			quantum *= QUANTUM_PROGRAMS;
		if (quantum > cycles - spent)
			quantum = cycles - spent;
		spent += tsr_sched_run(&gpu->runner[0], q, quantum, false);
	}
	return spent;
}

static bool is_unwound(const struct tsr_queue *q)
{
	return q->state == TSR_QUEUE_STATE_READY && tsr_fifo_unwound(q);
}

void tsr_sched_drain(struct tsr_gpu *gpu)
{
	unsigned int left = 0;
	uint64_t budget = TSR_DRAIN_CYCLES;

	for (unsigned int i = 0; i < gpu->cfg.queues; i++)
		left += is_unwound(&gpu->queue[i]);
	for (unsigned int i = 0; left && i < gpu->cfg.queues; i++) {
		struct tsr_queue *q = &gpu->queue[i];
		uint64_t spent;

		if (!is_unwound(q))
			continue;
		/* while the device is paused all engines are free */
		put_on(q, tsr_queue_class(q), 0);
		spent = tsr_sched_run(&gpu->runner[0], q, budget / left--, false);
		budget -= spent < budget ? spent : budget;
	}
}

void tsr_sched_reset(struct tsr_gpu *gpu)
{
	struct tsr_sched *sched = &gpu->sched;

	memset(sched->ready, 0, sizeof(sched->ready));
	memset(sched->engine, 0, sizeof(sched->engine));
	sched->running = 0;
	sched->blocked = 0;
	sched->next_class = 0;
	sched->next_order = 0;
	sched->random = gpu->cfg.seed ^ 0x9e3779b97f4a7c15ull;
	if (!sched->random)
		sched->random = 1;
	atomic_store_explicit(&sched->any_blocked, 0, memory_order_relaxed);
	update_runnable(gpu);
}
