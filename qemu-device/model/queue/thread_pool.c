/* SPDX-License-Identifier: MIT */
#include "thread_pool.h"

#include <sched.h>

#include "device/gpu.h"
#include "shader/core.h"
#include "tsr_relax.h"

/* Bursts a thread runs of one core before it goes to the next. */
#define CORE_BURSTS 4
/* Bursts after which a helper reports what it has done, so that the queue's slice is kept. */
#define REPORT_BURSTS 8
/* Sleeping workers that each thread wakes: a tree, since one thread would take long to wake all. */
#define WAKE_FANOUT 2u
/* Pauses for which an owner that closes its pool spins before it sleeps. */
#define CLOSE_SPINS 1000

struct tsr_shader *tsr_thread_pool_shader(struct tsr_thread *thread)
{
	if (!thread->shader)
		thread->shader = tsr_shader_new(thread->env->simd);
	return thread->shader;
}

/* ---- Cores ----------------------------------------------------------------------------------- */

static unsigned int core_state(const struct tsr_job_core *core)
{
	return atomic_load_explicit(&core->state, memory_order_relaxed);
}

/* True if @core, which no other thread has claimed, can make progress. */
static bool worthwhile(const struct tsr_job_core *core, uint64_t host_seq)
{
	unsigned int state = core_state(core);

	return state == TSR_CORE_READY ||
	       (state == TSR_CORE_STUCK && core->stuck_seq != host_seq);
}

static bool claim(struct tsr_job_core *core)
{
	return !atomic_exchange_explicit(&core->claimed, true, memory_order_acquire);
}

static void release(struct tsr_job_core *core)
{
	atomic_store_explicit(&core->claimed, false, memory_order_release);
}

/* Claim a core that has something to do, the first from number @first on; NULL: none. */
static struct tsr_job_core *acquire_core(struct tsr_job *job, unsigned int first, uint64_t host_seq)
{
	for (unsigned int i = 0; i < job->cores; i++) {
		struct tsr_job_core *core = job->core[(first + i) % job->cores];

		if (core_state(core) == TSR_CORE_DONE || !claim(core))
			continue;
		if (worthwhile(core, host_seq))
			return core;
		release(core);
	}
	return NULL;
}

/* Acquires a core that does not rest. There are no helpers. */
static struct tsr_job_core *acquire_busy_core(struct tsr_job *job, uint64_t host_seq)
{
	for (unsigned int i = 0; i < job->cores; i++) {
		struct tsr_job_core *core = job->core[i];

		if (!job->rests(core) && worthwhile(core, host_seq) && claim(core))
			return core;
	}
	return NULL;
}

/* One burst of a core that is claimed. */
static enum tsr_burst burst(struct tsr_shader *sh, const struct tsr_mem *mem, struct tsr_queue *q,
			    struct tsr_job_core *core, uint64_t host_seq)
{
	bool again = core->stuck_seq != host_seq;
	enum tsr_burst result;
	unsigned int state;

	core->stuck_seq = host_seq;
	result = q->work.job->burst(sh, mem, &q->work, core, again);
	state = result == TSR_BURST_STUCK ? TSR_CORE_STUCK :
		result == TSR_BURST_DONE  ? TSR_CORE_DONE :
					    TSR_CORE_READY;
	atomic_store_explicit(&core->state, state, memory_order_relaxed);
	return result;
}

/* ---- The pool -------------------------------------------------------------------------------- */

/*
 * Request a stop of the threads that help @q and sleep until they have left. A helper notices that
 * the pool is closed when it looks for stop requests, and wakes this thread when it goes idle.
 */
static void stop_helpers(struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;

	pthread_mutex_lock(&gpu->lock);
	for (unsigned int i = 0; i < gpu->num_runners; i++) {
		struct tsr_runner *runner = &gpu->runner[i];

		if (runner->queue == q && runner != q->active)
			atomic_store_explicit(&runner->own.port.stop, true, memory_order_relaxed);
	}
	while (atomic_load(&q->work.pool.inside))
		tsr_gpu_wait_quiet(gpu);
	pthread_mutex_unlock(&gpu->lock);
}

void tsr_thread_pool_close(struct tsr_queue *q)
{
	struct tsr_thread_pool *pool = &q->work.pool;

	if (!atomic_load_explicit(&pool->open, memory_order_relaxed))
		return;
	atomic_store(&pool->open, false);
	atomic_fetch_and(&q->gpu->help, ~(1ull << q->index));
	/* Most helpers are between two bursts, or near the end of one. */
	for (unsigned int spins = 0; spins < CLOSE_SPINS; spins++) {
		if (!atomic_load(&pool->inside))
			return;
		tsr_relax();
	}
	stop_helpers(q);
}

/* Cores beside the owner's that somebody could run now. */
static unsigned int spare_cores(const struct tsr_job *job)
{
	unsigned int spare = 0;

	for (unsigned int i = 0; i < job->cores; i++) {
		const struct tsr_job_core *core = job->core[i];

		spare += core_state(core) == TSR_CORE_READY &&
			 !atomic_load_explicit(&core->claimed, memory_order_relaxed);
	}
	return spare;
}

/*
 * The owner has a core and there are others: call for helpers, unless they have been called. It
 * wakes WAKE_FANOUT of the workers that sleep, and each of them wakes as many. Commands of which
 * caches are counted have no helpers: one L1 sees all lookups, in the order of a device without
 * threads.
 */
static void call_helpers(struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;
	uint64_t bit = 1ull << q->index;
	unsigned int wake;

	if (!gpu->cfg.threads || !q->work.job->shared || tsr_interval_counts_caches(q))
		return;
	if (!atomic_load_explicit(&q->work.pool.open, memory_order_relaxed))
		atomic_store(&q->work.pool.open, true);
	if (atomic_load_explicit(&gpu->help, memory_order_relaxed) & bit)
		return;
	wake = spare_cores(q->work.job);
	if (!wake)
		return;
	wake = wake < WAKE_FANOUT ? wake : WAKE_FANOUT;
	/* with the lock, so that no worker is between its look at @help and its sleep */
	pthread_mutex_lock(&gpu->lock);
	atomic_fetch_or(&gpu->help, bit);
	wake = wake < gpu->workers.sleeping ? wake : gpu->workers.sleeping;
	pthread_mutex_unlock(&gpu->lock);
	tsr_workers_signal(gpu, wake);
}

/* A worker's part in a job, from its first burst to its last. */
struct helper {
	struct tsr_runner *runner;
	struct tsr_queue *queue;
	struct tsr_shader_stats done;	/* not reported yet */
	unsigned int bursts;
	unsigned int wake;		/* most workers to wake, once there is something to do */
};

static void add(struct tsr_shader_stats *sum, const struct tsr_shader_stats *stats)
{
	sum->cycles += stats->cycles;
	sum->groups += stats->groups;
	sum->clauses += stats->clauses;
	sum->threads += stats->threads;
	sum->messages += stats->messages;
	sum->yields += stats->yields;
	sum->read_bytes += stats->read_bytes;
	sum->write_bytes += stats->write_bytes;
	sum->texture.samples += stats->texture.samples;
	sum->texture.touches += stats->texture.touches;
	sum->texture.fills += stats->texture.fills;
	sum->texture.misses += stats->texture.misses;
	sum->texture.decodes += stats->texture.decodes;
}

/*
 * Tell the owner what @h has done. Threads share these words, so that is done once for several
 * bursts, and before the helper leaves: the owner counts them when nobody is inside.
 */
static void report(struct helper *h)
{
	struct tsr_thread_pool *pool = &h->queue->work.pool;
	const struct tsr_shader_stats *stats = &h->done;
	uint64_t *lookups = h->runner->own.port.lookups;

	atomic_fetch_add_explicit(&pool->cycles, stats->cycles, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->groups, stats->groups, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->clauses, stats->clauses, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->threads, stats->threads, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->messages, stats->messages, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->yields, stats->yields, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->read_bytes, stats->read_bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->write_bytes, stats->write_bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->samples, stats->texture.samples, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->touches, stats->texture.touches, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->fills, stats->texture.fills, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->misses, stats->texture.misses, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->decodes, stats->texture.decodes, memory_order_relaxed);
	h->done = (struct tsr_shader_stats){ 0 };
	for (unsigned int hit = 0; hit < 2; hit++) {
		atomic_fetch_add_explicit(&pool->lookups[hit], lookups[hit], memory_order_relaxed);
		lookups[hit] = 0;
	}
}

/* There is something to do for @h, and perhaps for more: pass the call on, once. */
static void pass_on(struct helper *h)
{
	unsigned int spare;

	if (!h->wake)
		return;
	spare = spare_cores(h->queue->work.job);
	tsr_workers_signal(h->runner->gpu, spare < h->wake ? spare : h->wake);
	h->wake = 0;
}

/* One burst by a helper, which is inside; false: it is not wanted (any more). */
static bool help_once(struct helper *h)
{
	struct tsr_runner *runner = h->runner;
	struct tsr_queue *q = h->queue;
	struct tsr_thread_pool *pool = &q->work.pool;
	struct tsr_shader *sh = runner->own.shader;
	uint64_t seq = atomic_load_explicit(&runner->gpu->host_seq, memory_order_acquire);
	struct tsr_mem mem = tsr_runner_mem(runner, NULL, tsr_queue_user_as(q), TSR_UNIT_SHADER);
	struct tsr_job_core *core;

	if (!atomic_load(&pool->open) || atomic_load(&pool->fault))
		return false;
	core = acquire_core(q->work.job, runner->index + h->bursts / CORE_BURSTS, seq);
	if (!core) {
		atomic_fetch_and(&runner->gpu->help, ~(1ull << q->index));
		return false;
	}
	pass_on(h);
	mem.pool_open = &pool->open;
	mem.queue_waits = &runner->gpu->sched.runnable;
	if (burst(sh, &mem, q, core, seq) == TSR_BURST_FAULT &&
	    !atomic_exchange(&pool->fault, true))
		pool->record = sh->fault;
	add(&h->done, &sh->stats);
	if (++h->bursts % REPORT_BURSTS == 0)
		report(h);
	release(core);
	return true;
}

/* Work on the job of @h's queue until the helper is not wanted. Lock not held. */
static void help(struct helper *h)
{
	struct tsr_runner *runner = h->runner;
	struct tsr_thread_pool *pool = &h->queue->work.pool;

	/* inside for all bursts: the count is a word that all helpers write */
	atomic_fetch_add(&pool->inside, 1);
	while (help_once(h)) {
		if (tsr_port_stop_requested(&runner->own.port) ||
		    atomic_load_explicit(&runner->gpu->sched.runnable, memory_order_relaxed))
			break;
	}
	report(h);
	atomic_fetch_sub(&pool->inside, 1);
}

bool tsr_thread_pool_help(struct tsr_runner *runner)
{
	struct tsr_gpu *gpu = runner->gpu;
	uint64_t wanted = atomic_load(&gpu->help);
	struct helper h = { .runner = runner };

	if (!wanted || tsr_gpu_stands(gpu))
		return false;
	if (!tsr_thread_pool_shader(&runner->own)) {
		atomic_store(&gpu->help, 0);
		return false;
	}
	h.queue = &gpu->queue[__builtin_ctzll(wanted)];
	h.wake = gpu->workers.sleeping < WAKE_FANOUT ? gpu->workers.sleeping : WAKE_FANOUT;
	runner->queue = h.queue;
	runner->own.budget = UINT64_MAX;
	/* a command that counts has no helpers */
	runner->own.caches = 0;
	tsr_tlb_sync(runner);
	tsr_port_start(&runner->own.port);
	pthread_mutex_unlock(&gpu->lock);
	help(&h);
	pthread_mutex_lock(&gpu->lock);
	tsr_port_end(&runner->own.port);
	tsr_tlb_sync(runner);
	runner->queue = NULL;
	tsr_inval_complete(gpu);
	tsr_gpu_runner_idle(gpu);
	return true;
}

/* ---- The owner ------------------------------------------------------------------------------- */

void tsr_thread_pool_forget(struct tsr_work *work)
{
	struct tsr_thread_pool *pool = &work->pool;

	work->job = NULL;
	atomic_store(&pool->fault, false);
	atomic_store(&pool->cycles, 0);
	atomic_store(&pool->groups, 0);
	atomic_store(&pool->clauses, 0);
	atomic_store(&pool->threads, 0);
	atomic_store(&pool->messages, 0);
	atomic_store(&pool->yields, 0);
	atomic_store(&pool->read_bytes, 0);
	atomic_store(&pool->write_bytes, 0);
	atomic_store(&pool->samples, 0);
	atomic_store(&pool->touches, 0);
	atomic_store(&pool->fills, 0);
	atomic_store(&pool->misses, 0);
	atomic_store(&pool->decodes, 0);
	atomic_store(&pool->lookups[0], 0);
	atomic_store(&pool->lookups[1], 0);
}

static void count_textures(struct tsr_queue *q, const struct tsr_texture_stats *own)
{
	struct tsr_thread_pool *pool = &q->work.pool;
	const struct tsr_texture_stats all = {
		.samples = own->samples + atomic_exchange(&pool->samples, 0),
		.touches = own->touches + atomic_exchange(&pool->touches, 0),
		.fills = own->fills + atomic_exchange(&pool->fills, 0),
		.misses = own->misses + atomic_exchange(&pool->misses, 0),
		.decodes = own->decodes + atomic_exchange(&pool->decodes, 0),
	};

	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_SAMPLES], all.samples);
	/* the same for all bursts of a command: intervals begin and end between two commands */
	if (!tsr_interval_counts_caches(q))
		return;
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_TOUCHES], all.touches);
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_FILLS], all.fills);
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_MISSES], all.misses);
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_DECODES], all.decodes);
}

/* Add what a burst of the owner, and helpers meanwhile, have done to counters and @cost. */
static void count(struct tsr_queue *q, const struct tsr_shader_stats *own,
		  struct tsr_step_cost *cost)
{
	struct tsr_thread_pool *pool = &q->work.pool;

	cost->cycles += own->cycles + atomic_exchange(&pool->cycles, 0);
	cost->read_bytes += own->read_bytes + atomic_exchange(&pool->read_bytes, 0);
	cost->write_bytes += own->write_bytes + atomic_exchange(&pool->write_bytes, 0);
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_SHADER_GROUPS],
		  own->groups + atomic_exchange(&pool->groups, 0));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_SHADER_CLAUSES],
		  own->clauses + atomic_exchange(&pool->clauses, 0));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_SHADER_THREADS],
		  own->threads + atomic_exchange(&pool->threads, 0));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_SHADER_MESSAGES],
		  own->messages + atomic_exchange(&pool->messages, 0));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_YIELDS],
		  own->yields + atomic_exchange(&pool->yields, 0));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TLB_MISSES],
		  atomic_exchange(&pool->lookups[0], 0));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TLB_HITS],
		  atomic_exchange(&pool->lookups[1], 0));
	count_textures(q, &own->texture);
}

/* The job is over, for a @fault or because it is complete. */
static enum tsr_step finish(struct tsr_mem *mem, const struct tsr_fault_info *fault,
			    struct tsr_step_cost *cost)
{
	static const struct tsr_shader_stats nothing;

	tsr_thread_pool_close(mem->queue);
	count(mem->queue, &nothing, cost);
	if (!fault)
		return TSR_STEP_DONE;
	mem->fault = *fault;
	return TSR_STEP_FAULT;
}

/* No core can be had: wait for helpers, or see what the cores have come to. */
static enum tsr_step out_of_cores(struct tsr_mem *mem, struct tsr_step_cost *cost)
{
	struct tsr_queue *q = mem->queue;
	bool done = true;

	if (atomic_load(&q->work.pool.inside)) {
		sched_yield();
		return TSR_STEP_MORE;
	}
	tsr_thread_pool_close(q);
	if (atomic_load(&q->work.pool.fault))
		return finish(mem, &q->work.pool.record, cost);
	for (unsigned int i = 0; i < q->work.job->cores; i++) {
		if (worthwhile(q->work.job->core[i], q->host_seq))
			return TSR_STEP_MORE;
		done &= core_state(q->work.job->core[i]) == TSR_CORE_DONE;
	}
	return done ? finish(mem, NULL, cost) : TSR_STEP_PENDING;
}

enum tsr_step tsr_thread_pool_run(struct tsr_mem *mem, struct tsr_step_cost *cost)
{
	struct tsr_shader *sh = tsr_thread_pool_shader(mem->thread);
	struct tsr_queue *q = mem->queue;
	struct tsr_job *job = q->work.job;
	struct tsr_job_core *core;
	enum tsr_burst result;

	if (atomic_load_explicit(&q->work.pool.fault, memory_order_relaxed)) {
		tsr_thread_pool_close(q);
		return finish(mem, &q->work.pool.record, cost);
	}
	core = mem->env->drain ? acquire_busy_core(job, q->host_seq) :
					acquire_core(job, job->cursor, q->host_seq);
	if (!core)
		return mem->env->drain ? TSR_STEP_PENDING : out_of_cores(mem, cost);
	call_helpers(q);
	result = burst(sh, mem, q, core, q->host_seq);
	release(core);
	count(q, &sh->stats, cost);
	if (++job->bursts >= CORE_BURSTS || result != TSR_BURST_MORE) {
		job->bursts = 0;
		job->cursor = (core->index + 1) % job->cores;
	}
	return result == TSR_BURST_FAULT ? finish(mem, &sh->fault, cost) : TSR_STEP_MORE;
}
