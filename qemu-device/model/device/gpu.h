/* SPDX-License-Identifier: MIT */
/*
 * The device as a whole: its parts, and what they share. For the model's own files only; hosts see
 * tsr_gpu.h.
 *
 * Locks. @lock protects the registers, queues that are not being run, the scheduler and the log of
 * invalidations. It is held for short times, never while packets are executed. The interrupts have
 * a leaf lock of their own. Host callbacks are made with and without the lock; they must not call
 * the library.
 */
#ifndef TSR_GPU_INTERNAL_H
#define TSR_GPU_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tsr_desc.h"
#include "tsr_gpu.h"
#include "tsr_packets.h"
#include "tsr_regs.h"
#include "tsr_trace.h"

#include "queue/cp.h"
#include "counters.h"
#include "env.h"
#include "queue/event.h"
#include "queue/exec.h"
#include "queue/fifo.h"
#include "queue/heap_state.h"
#include "queue/invalidate.h"
#include "display/display.h"
#include "hooks.h"
#include "irq.h"
#include "memory/mem.h"
#include "memory/mmu.h"
#include "queue/packet.h"
#include "queue/prefetch.h"
#include "queue/queue.h"
#include "halves.h"
#include "queue/run.h"
#include "queue/scheduler.h"
#include "queue/semaphore.h"
#include "timer.h"
#include "work.h"
#include "memory/tlb.h"
#include "queue/watchdog.h"
#include "queue/worker.h"

struct tsr_gpu {
	struct tsr_config cfg;		/* with all defaults filled in */
	const struct tsr_host_ops *ops;
	void *host;			/* argument of ops */

	pthread_mutex_t lock;
	/* a runner has gone idle or an invalidation is complete: for those that wait */
	pthread_cond_t quiet;
	unsigned int waiters;		/* threads that wait for quiet */

	unsigned int paused;		/* pauses that nest */
	bool reset_busy;		/* STATUS.RESET_BUSY */
	uint32_t reset_count;		/* RESET_COUNT */

	struct tsr_irq irq;
	struct tsr_mmu mmu;
	struct tsr_inval inval;
	struct tsr_sched sched;
	struct tsr_counters counters;
	struct tsr_engine_memory memory[TSR_ENGINES_MAX];	/* of engine n of each class */
	struct tsr_timer timer;
	struct tsr_poll poll;
	struct tsr_display display;
	const struct tsr_hooks *hooks;	/* of the debug unit; NULL: there is none */
	struct tsr_hooked hooked;
	struct tsr_devtools *bench;	/* its state; what it is the hooks know */
	struct tsr_workers workers;
	_Atomic uint32_t semaphore[TSR_SEMAPHORES_MAX];
	_Atomic uint64_t host_seq;	/* calls of tsr_gpu_host_ready() */

	struct tsr_env env;		/* what engines see of the device */
	_Atomic uint64_t serial;	/* the last that tsr_env_serial() returned */
	_Atomic uint64_t texture_l2[TSR_TEXTURE_L2_LINES];	/* see tex_cache.h */
	pthread_mutex_t tag_lock;	/* see tags.h; innermost: its holder takes no other lock */
	char before_help[TSR_LINE_PAIR];	/* idle workers read @help all the time */
	_Atomic uint64_t help;		/* queues whose dispatch has work for idle workers */
	char after_help[TSR_LINE_PAIR];

	unsigned int num_runners;	/* 1 + cfg.threads */
	struct tsr_runner *runner;
	struct tsr_queue queue[TSR_QUEUES_MAX];
};

/* Tell the host of an event, if it listens. */
static inline void tsr_trace(struct tsr_gpu *gpu, enum tsr_trace event, const uint64_t *args,
			     unsigned int count)
{
	if (gpu->ops->trace)
		gpu->ops->trace(gpu->host, event, args, count);
}

/* Kinds of faults (1 << enum tsr_injection) for which a rule can fire. */
static inline uint32_t tsr_inject_armed(const struct tsr_gpu *gpu)
{
	return atomic_load_explicit(&gpu->hooked.armed, memory_order_relaxed);
}

/*
 * True if a fault of @kind (enum tsr_injection) happens at this occasion. Without a rule for this
 * kind it costs one load. Otherwise the debug unit decides.
 */
static inline bool tsr_injected(struct tsr_gpu *gpu, unsigned int kind,
				const struct tsr_inject_at *at, uint64_t *delay)
{
	return tsr_inject_armed(gpu) >> kind & 1 && gpu->hooks->injected(gpu, kind, at, delay);
}

/* Something may be put off: have the timer do it. Lock held. */
static inline void tsr_hooks_arm(struct tsr_gpu *gpu)
{
	if (atomic_load_explicit(&gpu->hooked.waiting, memory_order_acquire))
		gpu->hooks->arm(gpu);
}

/* The ring's CALL of @q, if it is in one, is over. Called by the runner, or with the lock held. */
static inline void tsr_call_ends(struct tsr_queue *q, enum tsr_capture_outcome outcome)
{
	if (atomic_load_explicit(&q->gpu->hooked.capturing, memory_order_relaxed))
		q->gpu->hooks->call_end(q, outcome);
}

/*
 * A view of address space @as for the thread of @runner. @q is the queue whose counters count; NULL
 * if it is none's.
 */
static inline struct tsr_mem tsr_runner_mem(struct tsr_runner *runner, struct tsr_queue *q,
					    unsigned int as, unsigned int unit)
{
	return (struct tsr_mem){
		.port = &runner->own.port, .counter = q ? q->counter : NULL,
		.env = &runner->gpu->env, .thread = &runner->own, .work = q ? &q->work : NULL,
		.gpu = runner->gpu, .queue = q, .runner = runner, .as = as, .unit = unit,
	};
}

/* True if no engine may run, even with work pending. Lock held. */
static inline bool tsr_gpu_stands(const struct tsr_gpu *gpu)
{
	return gpu->paused || gpu->reset_busy || atomic_load(&gpu->hooked.gone);
}

/*
 * Start a reset of the device, complete when reset_busy falls: at once if nothing runs. Lock held.
 */
void tsr_gpu_start_reset(struct tsr_gpu *gpu);
/* Everything as at power-on, counters and interrupts too. Nothing runs. Lock held. */
void tsr_gpu_clear(struct tsr_gpu *gpu);
/* A runner has stopped: go on with what waits for that. Lock held. */
void tsr_gpu_runner_idle(struct tsr_gpu *gpu);
/*
 * Wait for something that is announced by quiet: a runner that goes idle, an invalidation that is
 * complete. Lock held; released meanwhile.
 */
void tsr_gpu_wait_quiet(struct tsr_gpu *gpu);
/* Wake the threads that wait for quiet. Lock held. */
void tsr_gpu_notify_quiet(struct tsr_gpu *gpu);

#endif
