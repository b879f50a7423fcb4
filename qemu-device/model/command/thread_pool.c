/* SPDX-License-Identifier: MIT */
#include "thread_pool.h"

#include <sched.h>

#include "gpu.h"
#include "shader/core.h"

/* Bursts a thread runs of one core before it goes to the next. */
#define CORE_BURSTS 4

struct tsr_shader *tsr_thread_pool_shader(struct tsr_runner *runner)
{
	if (!runner->shader)
		runner->shader = tsr_shader_new(tsr_alu_name(runner->gpu->alu));
	return runner->shader;
}

/* ---- Cores ----------------------------------------------------------------------------------- */

static unsigned int core_state(const struct tsr_job_core *core)
{
	return atomic_load_explicit(&core->state, memory_order_relaxed);
}

/* Whether @core, which nobody else has claimed, can make progress. */
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

/* The same of those that do not rest; there are no helpers. */
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
	result = q->job->burst(sh, mem, q, core, again);
	state = result == TSR_BURST_STUCK ? TSR_CORE_STUCK :
		result == TSR_BURST_DONE  ? TSR_CORE_DONE :
					    TSR_CORE_READY;
	atomic_store_explicit(&core->state, state, memory_order_relaxed);
	return result;
}

/* ---- The pool -------------------------------------------------------------------------------- */

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

void tsr_thread_pool_close(struct tsr_queue *q)
{
	struct tsr_thread_pool *pool = &q->pool;
	unsigned int spins = 0;

	if (!atomic_load_explicit(&pool->open, memory_order_relaxed))
		return;
	atomic_store(&pool->open, false);
	atomic_fetch_and(&q->gpu->help, ~(1ull << q->index));
	while (atomic_load(&pool->inside)) {
		if (++spins < 1000)
			relax();
		else
			sched_yield();
	}
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

/* The owner has a core and there are others: call for helpers, unless they have been called. */
static void call_helpers(struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;
	uint64_t bit = 1ull << q->index;
	unsigned int spare;

	if (!gpu->cfg.threads || !q->job->shared)
		return;
	if (!atomic_load_explicit(&q->pool.open, memory_order_relaxed))
		atomic_store(&q->pool.open, true);
	if (atomic_load_explicit(&gpu->help, memory_order_relaxed) & bit)
		return;
	spare = spare_cores(q->job);
	if (!spare)
		return;
	pthread_mutex_lock(&gpu->lock);
	atomic_fetch_or(&gpu->help, bit);
	for (unsigned int i = 0; i < gpu->workers.sleeping && i < spare; i++)
		pthread_cond_signal(&gpu->workers.wake);
	pthread_mutex_unlock(&gpu->lock);
}

static void report(struct tsr_thread_pool *pool, const struct tsr_shader_stats *stats)
{
	atomic_fetch_add_explicit(&pool->cycles, stats->cycles, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->groups, stats->groups, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->clauses, stats->clauses, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->threads, stats->threads, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->messages, stats->messages, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->read_bytes, stats->read_bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->write_bytes, stats->write_bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->samples, stats->texture.samples, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->touches, stats->texture.touches, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->fills, stats->texture.fills, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->misses, stats->texture.misses, memory_order_relaxed);
	atomic_fetch_add_explicit(&pool->decodes, stats->texture.decodes, memory_order_relaxed);
}

static void report_lookups(struct tsr_thread_pool *pool, struct tsr_runner *runner)
{
	for (unsigned int hit = 0; hit < 2; hit++) {
		atomic_fetch_add_explicit(&pool->lookups[hit], runner->port.lookups[hit],
					  memory_order_relaxed);
		runner->port.lookups[hit] = 0;
	}
}

/* One burst by a helper, of a core from @first on; false: it is not wanted (any more). */
static bool help_once(struct tsr_runner *runner, struct tsr_queue *q, unsigned int first)
{
	struct tsr_thread_pool *pool = &q->pool;
	struct tsr_shader *sh = runner->shader;
	uint64_t seq = atomic_load_explicit(&runner->gpu->host_seq, memory_order_acquire);
	struct tsr_job_core *core = NULL;
	bool helped = false;

	atomic_fetch_add(&pool->inside, 1);
	if (atomic_load(&pool->open) && !atomic_load(&pool->fault)) {
		core = acquire_core(q->job, first, seq);
		helped = core;
		if (!core)
			atomic_fetch_and(&runner->gpu->help, ~(1ull << q->index));
	}
	if (core) {
		struct tsr_mem mem = tsr_runner_mem(runner, NULL, tsr_queue_user_as(q),
						    TSR_UNIT_SHADER);

		if (burst(sh, &mem, q, core, seq) == TSR_BURST_FAULT &&
		    !atomic_exchange(&pool->fault, true))
			pool->record = sh->fault;
		report(pool, &sh->stats);
		report_lookups(pool, runner);
		release(core);
	}
	atomic_fetch_sub(&pool->inside, 1);
	return helped;
}

bool tsr_thread_pool_help(struct tsr_runner *runner)
{
	struct tsr_gpu *gpu = runner->gpu;
	uint64_t wanted = atomic_load(&gpu->help);
	unsigned int bursts = runner->index * CORE_BURSTS;
	struct tsr_queue *q;

	if (!wanted || tsr_gpu_stands(gpu))
		return false;
	if (!tsr_thread_pool_shader(runner)) {
		atomic_store(&gpu->help, 0);
		return false;
	}
	q = &gpu->queue[__builtin_ctzll(wanted)];
	runner->queue = q;
	runner->budget = UINT64_MAX;
	tsr_tlb_sync(runner);
	atomic_store_explicit(&runner->attention, false, memory_order_relaxed);
	pthread_mutex_unlock(&gpu->lock);
	while (help_once(runner, q, bursts++ / CORE_BURSTS)) {
		if (atomic_load_explicit(&runner->attention, memory_order_relaxed) ||
		    atomic_load_explicit(&gpu->sched.runnable, memory_order_relaxed))
			break;
	}
	pthread_mutex_lock(&gpu->lock);
	tsr_tlb_sync(runner);
	runner->queue = NULL;
	tsr_inval_complete(gpu);
	tsr_gpu_runner_idle(gpu);
	return true;
}

/* ---- The owner ------------------------------------------------------------------------------- */

void tsr_thread_pool_forget(struct tsr_queue *q)
{
	struct tsr_thread_pool *pool = &q->pool;

	q->job = NULL;
	atomic_store(&pool->fault, false);
	atomic_store(&pool->cycles, 0);
	atomic_store(&pool->groups, 0);
	atomic_store(&pool->clauses, 0);
	atomic_store(&pool->threads, 0);
	atomic_store(&pool->messages, 0);
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
	struct tsr_thread_pool *pool = &q->pool;

	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_SAMPLES],
		  own->samples + atomic_exchange(&pool->samples, 0));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_TOUCHES],
		  own->touches + atomic_exchange(&pool->touches, 0));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_FILLS],
		  own->fills + atomic_exchange(&pool->fills, 0));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_MISSES],
		  own->misses + atomic_exchange(&pool->misses, 0));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_TEXTURE_DECODES],
		  own->decodes + atomic_exchange(&pool->decodes, 0));
}

/* Add what a burst of the owner, and helpers meanwhile, have done to counters and @cost. */
static void count(struct tsr_queue *q, const struct tsr_shader_stats *own,
		  struct tsr_step_cost *cost)
{
	struct tsr_thread_pool *pool = &q->pool;

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

	if (atomic_load(&q->pool.inside)) {
		sched_yield();
		return TSR_STEP_MORE;
	}
	tsr_thread_pool_close(q);
	if (atomic_load(&q->pool.fault))
		return finish(mem, &q->pool.record, cost);
	for (unsigned int i = 0; i < q->job->cores; i++) {
		if (worthwhile(q->job->core[i], q->host_seq))
			return TSR_STEP_MORE;
		done &= core_state(q->job->core[i]) == TSR_CORE_DONE;
	}
	return done ? finish(mem, NULL, cost) : TSR_STEP_PENDING;
}

enum tsr_step tsr_thread_pool_run(struct tsr_mem *mem, struct tsr_step_cost *cost)
{
	struct tsr_shader *sh = tsr_thread_pool_shader(mem->runner);
	struct tsr_queue *q = mem->queue;
	struct tsr_job *job = q->job;
	struct tsr_job_core *core;
	enum tsr_burst result;

	if (atomic_load_explicit(&q->pool.fault, memory_order_relaxed)) {
		tsr_thread_pool_close(q);
		return finish(mem, &q->pool.record, cost);
	}
	core = mem->gpu->winding_down ? acquire_busy_core(job, q->host_seq) :
					acquire_core(job, job->cursor, q->host_seq);
	if (!core)
		return mem->gpu->winding_down ? TSR_STEP_PENDING : out_of_cores(mem, cost);
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
