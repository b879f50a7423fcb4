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

#include "counters.h"
#include "command/cp.h"
#include "command/engine.h"
#include "command/event.h"
#include "command/exec.h"
#include "command/fifo.h"
#include "command/heap_window.h"
#include "command/invalidate.h"
#include "display/display.h"
#include "hooks.h"
#include "irq.h"
#include "memory/mem.h"
#include "memory/mmu.h"
#include "command/packet.h"
#include "command/prefetch.h"
#include "command/queue.h"
#include "regs.h"
#include "command/run.h"
#include "command/scheduler.h"
#include "shader/alu/alu.h"
#include "shader/debug.h"
#include "binner/bin_engine.h"
#include "shader/dispatch.h"
#include "command/semaphore.h"
#include "tile/render_engine.h"
#include "timer.h"
#include "memory/tlb.h"
#include "command/watchdog.h"
#include "command/worker.h"

#define TSR_TEXTURE_L2_LINES 4096		/* of 64 bytes, direct mapped */

/*
 * Memory of an engine's last command, complete, for its next one, whichever queue that comes from:
 * a queue has only what a command in progress needs. Belongs to whoever runs the queue that is on
 * the engine. Each is NULL, or of use to one class alone.
 */
struct tsr_engine_memory {
	struct tsr_grid *grid;
	struct tsr_binning *binning;
	struct tsr_rendering *rendering;
};

struct tsr_gpu {
	struct tsr_config cfg;		/* with all defaults filled in */
	const struct tsr_host_ops *ops;
	void *host;			/* argument of ops */

	pthread_mutex_t lock;
	/* a runner has gone idle or an invalidation is complete: for those that wait */
	pthread_cond_t quiet;
	unsigned int waiters;		/* threads that wait for quiet */

	unsigned int paused;		/* pauses that nest */
	bool winding_down;		/* tsr_gpu_wind_down(): cores begin nothing */
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
	const struct tsr_hooks *hooks;	/* of the test bench; NULL: there is none */
	struct tsr_hooked hooked;
	struct tsr_testbench *bench;	/* its state; what it is the hooks know */
	struct tsr_workers workers;
	_Atomic uint32_t semaphore[TSR_SEMAPHORES_MAX];
	_Atomic uint64_t host_seq;	/* calls of tsr_gpu_host_ready() */

	const struct tsr_alu *alu;	/* arithmetic of the shader cores */
	const struct tsr_msg_path *msg_path;	/* their messages on the same SIMD path */
	_Atomic uint64_t serial;	/* the last that tsr_gpu_serial() gave */
	_Atomic uint64_t texture_l2[TSR_TEXTURE_L2_LINES];	/* see shader/texture/tex_cache.h */
	_Atomic uint64_t help;		/* queues whose dispatch has work for idle workers */
	tsr_shader_hook *shader_hook;	/* see shader/debug.h, or NULL */
	void *shader_hook_opaque;

	unsigned int num_runners;	/* 1 + cfg.threads */
	struct tsr_runner *runner;
	struct tsr_queue queue[TSR_QUEUES_MAX];
};

/* A number, not 0, that nothing else of the device has: of shaders, push words, draws' states. */
static inline uint64_t tsr_gpu_serial(struct tsr_gpu *gpu)
{
	return atomic_fetch_add_explicit(&gpu->serial, 1, memory_order_relaxed) + 1;
}

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
 * Whether a fault of @kind (enum tsr_injection) happens at this occasion: one load where no rule
 * says so, else the test bench is asked.
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

/* A view of address space @as for the thread @runner; @q: whose counters count, or NULL. */
static inline struct tsr_mem tsr_runner_mem(struct tsr_runner *runner, struct tsr_queue *q,
					    unsigned int as, unsigned int unit)
{
	return (struct tsr_mem){
		.port = &runner->port, .counter = q ? q->counter : NULL, .gpu = runner->gpu,
		.queue = q, .runner = runner, .as = as, .unit = unit,
	};
}

/* Whether the engines stand still, whatever there is to do. Lock held. */
static inline bool tsr_gpu_stands(const struct tsr_gpu *gpu)
{
	return gpu->paused || gpu->reset_busy || atomic_load(&gpu->hooked.gone);
}

/*
 * Whether a burst for @q shall end: the thread's attention is wanted, or it is a helper's and the
 * owner has closed the pool, or a queue waits for a thread.
 */
static inline bool tsr_burst_wanted(const struct tsr_mem *mem, const struct tsr_queue *q)
{
	if (atomic_load_explicit(&mem->runner->attention, memory_order_relaxed))
		return true;
	return !mem->queue &&
	       (!atomic_load_explicit(&q->pool.open, memory_order_relaxed) ||
		atomic_load_explicit(&mem->gpu->sched.runnable, memory_order_relaxed));
}

/*
 * Start a reset of the device, complete when reset_busy falls: at once if nothing runs. Lock held.
 */
void tsr_gpu_start_reset(struct tsr_gpu *gpu);
/* Everything as at power-on, counters and interrupts too. Nothing runs. Lock held. */
void tsr_gpu_clear(struct tsr_gpu *gpu);
/* A runner has stopped: go on with what waits for that. Lock held. */
void tsr_gpu_runner_idle(struct tsr_gpu *gpu);
/* Wake the threads that wait for quiet. Lock held. */
void tsr_gpu_notify_quiet(struct tsr_gpu *gpu);

#endif
