/* SPDX-License-Identifier: MIT */
#include "device/gpu.h"

#define NS_PER_MS 1000000ull

/* Between two looks at a watched queue that makes progress: this fraction of its time. */
#define WATCH_PASSES 8

static uint64_t host_clock(struct tsr_gpu *gpu)
{
	return gpu->ops->clock(gpu->host);
}

static uint64_t watch_time(const struct tsr_queue *q)
{
	return q->watchdog_ms * NS_PER_MS;
}

static bool watched(const struct tsr_queue *q)
{
	return q->watchdog_ms &&
	       (q->state == TSR_QUEUE_STATE_READY || q->state == TSR_QUEUE_STATE_RUNNING ||
		q->state == TSR_QUEUE_STATE_BLOCKED);
}

static void watch_from(struct tsr_queue *q, uint64_t now)
{
	q->watch_since = now;
	q->watch_progress = atomic_load_explicit(&q->progress, memory_order_relaxed);
	q->watch_fired = false;
}

void tsr_watchdog_start(struct tsr_queue *q)
{
	uint64_t now;

	if (!watched(q))
		return;
	now = host_clock(q->gpu);
	watch_from(q, now);
	tsr_timer_want(&q->gpu->timer, now + watch_time(q));
}

void tsr_watchdog_progress(struct tsr_queue *q)
{
	if (q->watchdog_ms &&
	    q->watch_progress != atomic_load_explicit(&q->progress, memory_order_relaxed))
		watch_from(q, host_clock(q->gpu));
}

/* Look at a watched queue; returns when to look again. */
static uint64_t watch(struct tsr_queue *q, uint64_t now)
{
	uint64_t deadline = q->watch_since + watch_time(q);
	uint64_t progress = atomic_load_explicit(&q->progress, memory_order_relaxed);
	uint64_t args[2] = { q->index, progress };

	if (progress != q->watch_progress) {
		watch_from(q, now);
		deadline = now + watch_time(q);
	} else if (!q->watch_fired && now >= deadline) {
		q->watch_fired = true;
		tsr_trace(q->gpu, TSR_TRACE_WATCHDOG, args, 2);
		tsr_irq_raise(&q->gpu->irq, TSR_IRQ_CLASS_WATCHDOG, 1ull << q->index);
	}
	if (q->watch_fired)	/* until it moves */
		return now + watch_time(q);
	/* While it runs nobody tells when it last moved: look more often. */
	if (q->state == TSR_QUEUE_STATE_RUNNING && now + watch_time(q) / WATCH_PASSES < deadline)
		return now + watch_time(q) / WATCH_PASSES;
	return deadline;
}

/* To look at a queue is to find out when to look again. */
static void arm(void *opaque, uint64_t now)
{
	struct tsr_gpu *gpu = opaque;

	for (unsigned int i = 0; i < gpu->cfg.queues; i++) {
		if (watched(&gpu->queue[i]))
			tsr_timer_want(&gpu->timer, watch(&gpu->queue[i], now));
	}
}

void tsr_watchdog_init(struct tsr_gpu *gpu)
{
	tsr_timer_add(&gpu->timer, &(struct tsr_timer_user){ .arm = arm, .opaque = gpu });
}
