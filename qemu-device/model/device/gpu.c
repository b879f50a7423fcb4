/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "scanout.h"
#include "binner/bin.h"
#include "binner/bin_engine.h"
#include "shader/core.h"
#include "shader/dispatch.h"
#include "simd/simd.h"
#include "render/render.h"
#include "render/render_engine.h"
#include "tsr_capture.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "guest memory is little-endian and accessed in place");

#define INLINE_BUDGET_DEFAULT 256
#define LOCAL_GRANULE (2ull << 20)
#define TSR_CORES_DEFAULT 16

/* Fill in defaults; NULL, or what is impossible. */
static const char *complete_config(struct tsr_config *cfg)
{
	unsigned int engines = 0;

	if (!cfg->devtools)	/* what is not there has no registers */
		cfg->inject_window = cfg->check = false;
	if (!cfg->queues)
		cfg->queues = TSR_QUEUES_MAX;
	if (!cfg->va_bits)
		cfg->va_bits = 48;
	if (!cfg->page_sizes)
		cfg->page_sizes = 1ull << TSR_PAGE_SHIFT | 1ull << TSR_HUGE_SHIFT;
	if (!cfg->inline_budget)
		cfg->inline_budget = INLINE_BUDGET_DEFAULT;
	for (unsigned int cls = 0; cls < TSR_CLASSES; cls++)
		engines += cfg->engines[cls];
	for (unsigned int cls = 0; cls < TSR_CLASSES; cls++) {
		if (!engines)
			cfg->engines[cls] = 1;
		if (cfg->engines[cls] > TSR_ENGINES_MAX)
			return "more than 8 engines of a class";
	}
	if (!cfg->cores)
		cfg->cores = TSR_CORES_DEFAULT;
	if (cfg->cores > TSR_CORES_MAX)
		return "more than 32 shader cores";
	if (cfg->simd && !tsr_simd_named(cfg->simd))
		return "no such SIMD path on this processor";
	if (cfg->heads > TSR_HEADS_MAX)
		return "more than 4 heads";
	if (!cfg->capture_pages)
		cfg->capture_pages = TSR_CAPTURE_PAGES_MAX;
	if (cfg->capture_pages > TSR_CAPTURE_PAGES_MAX)
		return "more than 256 MiB of a captured job";
	if (!cfg->head_pixels)
		cfg->head_pixels = TSR_HEADS_MAX * TSR_SCREEN_PIXELS_MAX;
	if (cfg->queues > TSR_QUEUES_MAX)
		return "more than 64 queues";
	if (cfg->va_bits != 39 && cfg->va_bits != 48 && cfg->va_bits != 57)
		return "virtual addresses have 39, 48 or 57 bits";
	if (!(cfg->page_sizes & 1ull << TSR_PAGE_SHIFT) ||
	    cfg->page_sizes & ~(1ull << TSR_PAGE_SHIFT | 1ull << TSR_HUGE_SHIFT))
		return "page sizes are 4 KiB, with or without 2 MiB";
	if (cfg->local_size % LOCAL_GRANULE || !cfg->local_size != !cfg->local)
		return "local memory is a multiple of 2 MiB and needs storage";
	if (cfg->threads > TSR_WORKERS_MAX)
		return "more than 64 threads";
	if (cfg->deterministic && cfg->threads)
		return "a deterministic device has no threads";
	return NULL;
}

/* Nothing runs, and no command is in progress whose memory is an engine's. */
static void drop_memory(struct tsr_gpu *gpu)
{
	for (unsigned int i = 0; i < TSR_ENGINES_MAX; i++) {
		tsr_grid_free(gpu->memory[i].grid);
		tsr_bin_free(gpu->memory[i].binning);
		tsr_render_free(gpu->memory[i].rendering);
	}
	memset(gpu->memory, 0, sizeof(gpu->memory));
}

static void reset_state(struct tsr_gpu *gpu)
{
	if (gpu->hooks)
		gpu->hooks->reset(gpu);
	tsr_inval_reset(gpu);
	for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++)
		tsr_queue_reset(&gpu->queue[i]);
	for (unsigned int i = 0; i < TSR_SEMAPHORES_MAX; i++)
		atomic_store_explicit(&gpu->semaphore[i], 0, memory_order_relaxed);
	drop_memory(gpu);
	tsr_sched_reset(gpu);
}

void tsr_gpu_clear(struct tsr_gpu *gpu)
{
	reset_state(gpu);
	tsr_irq_reset(&gpu->irq);
	tsr_display_reset(&gpu->display);
	for (unsigned int i = 0; i < TSR_GLOBAL_COUNTERS; i++)
		atomic_store_explicit(&gpu->counters.global[i], 0, memory_order_relaxed);
	gpu->reset_count = 0;
}

static bool init_runners(struct tsr_gpu *gpu)
{
	gpu->runner = calloc(1 + gpu->cfg.threads, sizeof(*gpu->runner));
	if (!gpu->runner)
		return false;
	gpu->num_runners = 1 + gpu->cfg.threads;
	for (unsigned int i = 0; i < gpu->num_runners; i++) {
		gpu->runner[i].gpu = gpu;
		gpu->runner[i].index = i;
		gpu->runner[i].own.env = &gpu->env;
		gpu->runner[i].own.port.mmu = &gpu->mmu;
		tsr_tlb_clear(&gpu->runner[i].own.port.tlb);
	}
	return true;
}

static void display_expired(void *display, uint64_t now)
{
	tsr_display_expired(display, now);
}

static void display_arm(void *display, uint64_t now)
{
	(void)now;
	tsr_display_arm(display);
}

/* The parts that use the timer after the debug unit, in the order in which they are called. */
static void init_timer(struct tsr_gpu *gpu)
{
	const struct tsr_timer_user display = { display_expired, display_arm, &gpu->display };

	tsr_timer_add(&gpu->timer, &display);
	tsr_semaphore_init(gpu);
	tsr_watchdog_init(gpu);
}

/* Connects the interrupts to the device. Hooks are set. */
static void init_irq(struct tsr_gpu *gpu)
{
	struct tsr_irq *irq = &gpu->irq;

	irq->ops = gpu->ops;
	irq->host = gpu->host;
	irq->counters = &gpu->counters;
	irq->hooks = gpu->hooks;
	irq->hooked = &gpu->hooked;
	irq->gpu = gpu;
	irq->check = gpu->cfg.check;
	pthread_mutex_init(&irq->lock, NULL);
}

/* For a lock that is held for microseconds: a thread that wants it spins before it sleeps. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

struct tsr_gpu *tsr_gpu_new(const struct tsr_config *cfg, const struct tsr_host_ops *ops,
			    void *host, char *err, size_t errlen)
{
	struct tsr_gpu *gpu = calloc(1, sizeof(*gpu));
	const char *wrong;

	if (!gpu || (gpu->cfg = *cfg, wrong = complete_config(&gpu->cfg))) {
		snprintf(err, errlen, "%s", gpu ? wrong : "out of memory");
		free(gpu);
		return NULL;
	}
	gpu->ops = ops;
	gpu->host = host;
	gpu->counters.ops = ops;
	gpu->counters.host = host;
	gpu->counters.modelled = gpu->cfg.deterministic;
	tsr_timer_init(&gpu->timer, ops, host);
	gpu->hooks = gpu->cfg.devtools;
	tsr_mmu_init(&gpu->mmu, &gpu->cfg, ops, host);
	gpu->mmu.hooks = gpu->hooks;
	gpu->mmu.hooked = &gpu->hooked;
	init_irq(gpu);
	gpu->env.cfg = &gpu->cfg;
	gpu->env.serial = &gpu->serial;
	gpu->env.texture_l2 = gpu->texture_l2;
	gpu->env.tag_lock = &gpu->tag_lock;
	gpu->env.counters = &gpu->counters;
	gpu->env.simd = gpu->cfg.simd ? tsr_simd_named(gpu->cfg.simd) : tsr_simd_best();
	gpu->env.msg_path = gpu->env.simd->messages;
	gpu->cfg.simd = NULL;	/* the caller's string may go away */
	init_lock(&gpu->lock);
	init_lock(&gpu->tag_lock);
	pthread_cond_init(&gpu->quiet, NULL);
	sem_init(&gpu->workers.wake, 0, 0);
	for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++) {
		gpu->queue[i].gpu = gpu;
		gpu->queue[i].index = i;
		gpu->queue[i].work.env = &gpu->env;
		gpu->queue[i].work.spare = &gpu->memory[gpu->queue[i].engine];
	}
	if ((!gpu->hooks || gpu->hooks->init(gpu)) && init_runners(gpu)) {
		init_timer(gpu);
		tsr_scanout_init(gpu);
		reset_state(gpu);
		if (tsr_workers_start(gpu))
			return gpu;
	}
	snprintf(err, errlen, "out of memory or threads");
	tsr_gpu_free(gpu);
	return NULL;
}

void tsr_gpu_free(struct tsr_gpu *gpu)
{
	if (!gpu)
		return;
	pthread_mutex_lock(&gpu->lock);
	gpu->paused++;
	pthread_mutex_unlock(&gpu->lock);
	tsr_workers_stop(gpu);
	sem_destroy(&gpu->workers.wake);
	pthread_cond_destroy(&gpu->quiet);
	if (gpu->hooks)
		gpu->hooks->free(gpu);
	pthread_mutex_destroy(&gpu->irq.lock);
	pthread_mutex_destroy(&gpu->lock);
	pthread_mutex_destroy(&gpu->tag_lock);
	for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++) {
		tsr_dispatch_drop(&gpu->queue[i].work);
		tsr_bin_drop(&gpu->queue[i].work);
		tsr_render_drop(&gpu->queue[i].work);
	}
	drop_memory(gpu);
	for (unsigned int i = 0; gpu->runner && i < gpu->num_runners; i++)
		tsr_shader_free(gpu->runner[i].own.shader);
	tsr_display_free(&gpu->display);
	free(gpu->runner);
	free(gpu);
}

void tsr_gpu_notify_quiet(struct tsr_gpu *gpu)
{
	if (gpu->waiters)
		pthread_cond_broadcast(&gpu->quiet);
}

/* True if no worker runs a queue. */
static bool all_idle(struct tsr_gpu *gpu)
{
	for (unsigned int i = 0; i < gpu->num_runners; i++) {
		if (tsr_runner_works(&gpu->runner[i]))
			return false;
	}
	return true;
}

/* The reset itself, once nothing runs. */
static void finish_reset(struct tsr_gpu *gpu)
{
	uint64_t args[1];

	if (!gpu->reset_busy || !all_idle(gpu) || gpu->hooked.reset_stuck)
		return;
	for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++) {
		if (gpu->queue[i].state == TSR_QUEUE_STATE_RUNNING)
			tsr_sched_off(&gpu->queue[i]);
	}
	reset_state(gpu);
	if (gpu->display.reset)
		tsr_display_reset(&gpu->display);
	gpu->reset_count++;
	gpu->reset_busy = false;
	args[0] = gpu->reset_count;
	tsr_trace(gpu, TSR_TRACE_RESET, args, 1);
	tsr_irq_raise(&gpu->irq, TSR_IRQ_CLASS_GLOBAL, TSR_GLOBAL_IRQ_RESET_DONE);
}

void tsr_gpu_runner_idle(struct tsr_gpu *gpu)
{
	finish_reset(gpu);
	tsr_gpu_notify_quiet(gpu);
}

void tsr_gpu_start_reset(struct tsr_gpu *gpu)
{
	gpu->reset_busy = true;
	tsr_runners_interrupt(gpu);
	finish_reset(gpu);
}

void tsr_gpu_wait_quiet(struct tsr_gpu *gpu)
{
	gpu->waiters++;
	pthread_cond_wait(&gpu->quiet, &gpu->lock);
	gpu->waiters--;
}

void tsr_gpu_reset(struct tsr_gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	if (gpu->hooks && gpu->hooks->flr(gpu)) {
		pthread_mutex_unlock(&gpu->lock);
		return;
	}
	gpu->display.reset = true;
	tsr_gpu_start_reset(gpu);
	while (gpu->reset_busy)
		tsr_gpu_wait_quiet(gpu);
	tsr_irq_reset(&gpu->irq);
	pthread_mutex_unlock(&gpu->lock);
}

void tsr_gpu_pause(struct tsr_gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	if (gpu->paused == TSR_PAUSES_MAX)
		abort();	/* the host has lost count of its pauses */
	gpu->paused++;
	tsr_runners_interrupt(gpu);
	while (!all_idle(gpu))
		tsr_gpu_wait_quiet(gpu);
	for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++) {
		/* between two calls of tsr_gpu_run() */
		if (gpu->queue[i].state == TSR_QUEUE_STATE_RUNNING) {
			tsr_sched_off(&gpu->queue[i]);
			tsr_sched_ready(&gpu->queue[i], true);
		}
	}
	pthread_mutex_unlock(&gpu->lock);
}

uint64_t tsr_env_clock(const struct tsr_env *env)
{
	return tsr_clock(env->counters);
}

uint64_t tsr_env_cycles(const struct tsr_env *env)
{
	return atomic_load_explicit(&env->counters->global[TSR_GLOBAL_COUNTER_GPU_CYCLES],
				    memory_order_relaxed);
}

bool tsr_gpu_set_shader_hook(struct tsr_gpu *gpu, tsr_shader_hook *hook, void *opaque)
{
	if (gpu->cfg.threads)
		return false;
	gpu->env.shader_hook = hook;
	gpu->env.shader_hook_opaque = opaque;
	return true;
}

void tsr_gpu_drain(struct tsr_gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	if (gpu->paused && !gpu->reset_busy && !atomic_load(&gpu->hooked.gone)) {
		gpu->env.drain = true;
		tsr_sched_drain(gpu);
		gpu->env.drain = false;
	}
	pthread_mutex_unlock(&gpu->lock);
}

void tsr_gpu_resume(struct tsr_gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	if (!gpu->paused)
		abort();	/* no pause belongs to this call */
	if (!--gpu->paused) {
		tsr_timer_restart(&gpu->timer);
		if (atomic_load_explicit(&gpu->sched.runnable, memory_order_relaxed))
			tsr_workers_wake(gpu);
	}
	pthread_mutex_unlock(&gpu->lock);
}

/* True if every active worker has applied the first @count invalidations. */
static bool passed(struct tsr_gpu *gpu, uint64_t count)
{
	for (unsigned int i = 0; i < gpu->num_runners; i++) {
		if (tsr_runner_works(&gpu->runner[i]) && gpu->runner[i].inval_seen < count)
			return false;
	}
	return true;
}

void tsr_gpu_host_invalidate(struct tsr_gpu *gpu, uint64_t addr, uint64_t len)
{
	uint64_t count;

	(void)addr;	/* the TLB is refilled in microseconds: forget all of it */
	(void)len;
	pthread_mutex_lock(&gpu->lock);
	tsr_inval_start(gpu, TSR_INVAL_HOST, 0, 0, 0, false);
	count = gpu->inval.head;
	while (!passed(gpu, count))
		tsr_gpu_wait_quiet(gpu);
	pthread_mutex_unlock(&gpu->lock);
}

void tsr_gpu_host_ready(struct tsr_gpu *gpu)
{
	bool woken = false;

	atomic_fetch_add_explicit(&gpu->host_seq, 1, memory_order_release);
	pthread_mutex_lock(&gpu->lock);
	for (unsigned int i = 0; i < gpu->cfg.queues; i++) {
		struct tsr_queue *q = &gpu->queue[i];

		if (q->state == TSR_QUEUE_STATE_BLOCKED && q->block == TSR_QUEUE_BLOCK_HOST) {
			tsr_queue_unblock(q);
			woken = true;
		}
	}
	if (woken)
		tsr_workers_wake(gpu);
	tsr_display_host_ready(&gpu->display);
	pthread_mutex_unlock(&gpu->lock);
}

void tsr_gpu_timer(struct tsr_gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	if (gpu->paused)
		tsr_timer_lapse(&gpu->timer);	/* tsr_gpu_resume() starts it again */
	else
		tsr_timer_expired(&gpu->timer);
	tsr_sched_kick(gpu);
	pthread_mutex_unlock(&gpu->lock);
}

/* Heads without workers: compose for about @cycles. Lock held. */
static uint64_t compose_frames(struct tsr_gpu *gpu, uint64_t cycles)
{
	uint64_t spent = 0, more = 1;

	while (more && spent < cycles) {
		more = tsr_scanout_run(&gpu->runner[0], cycles - spent);
		spent += more;
	}
	return spent;
}

uint64_t tsr_gpu_run(struct tsr_gpu *gpu, uint64_t cycles)
{
	uint64_t composed, spent = 0;

	if (gpu->cfg.threads)
		return 0;
	pthread_mutex_lock(&gpu->lock);
	composed = compose_frames(gpu, cycles);
	if (!tsr_gpu_stands(gpu))
		spent = tsr_sched_run_all(gpu, cycles);
	pthread_mutex_unlock(&gpu->lock);
	/* the display controller works beside the engines */
	return composed > spent ? composed : spent;
}
