/* SPDX-License-Identifier: MIT */
/* Rules in force, occasions, and what they have left standing. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "devtools.h"

/* Cycles that a burst of an engine takes which hangs, and nanoseconds on a worker. */
#define HANG_CYCLES 16384

/* Kinds that are about translations. */
#define WALKS (1u << TSR_INJECTION_MMU_UNMAPPED | 1u << TSR_INJECTION_MMU_PERMISSION | \
	       1u << TSR_INJECTION_MMU_WALK | 1u << TSR_INJECTION_MMU_WALK_BUS | \
	       1u << TSR_INJECTION_BUS)

/* ---- Occasions ------------------------------------------------------------------------------- */

/* The CALL of the ring that @q is in, or after, counted from 1. */
static uint64_t job_of(const struct tsr_queue *q)
{
	return atomic_load_explicit(&q->calls, memory_order_relaxed) +
	       atomic_load_explicit(&q->in_call, memory_order_relaxed);
}

static bool fits(const struct tsr_inject_rule *r, const struct tsr_inject_at *at)
{
	const struct tsr_queue *q = at->queue;

	if (r->queue >= 0 && (q ? q->index != (unsigned int)r->queue :
				  !(at->queues >> r->queue & 1)))
		return false;
	if (r->cls >= 0 && (!q || tsr_queue_class(q) != (unsigned int)r->cls))
		return false;
	if (r->job && (!q || job_of(q) != r->job))
		return false;
	return (r->as < 0 || r->as == at->as) && (r->vector < 0 || r->vector == at->vector) &&
	       at->addr >= r->first && at->addr <= r->last;
}

/* Random decision for occasion @n of rule number @rule, by splitmix64. */
static bool lucky(const struct tsr_inject_rule *r, unsigned int rule, uint64_t n)
{
	uint64_t z = r->seed + (uint64_t)(rule + 1) * 0x9e3779b97f4a7c15ull * (n + 1);

	if (r->chance == UINT32_MAX)
		return true;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)(z ^ z >> 31) < r->chance;
}

/* Which kinds have a rule that can fire. */
static void update_armed(struct tsr_gpu *gpu)
{
	const struct tsr_inject *inject = &gpu->bench->inject;
	uint32_t armed = 0;

	for (unsigned int i = 0; i < inject->rules; i++) {
		if (inject->rule[i].fired < inject->rule[i].times)
			armed |= 1u << inject->rule[i].kind;
	}
	atomic_store_explicit(&gpu->hooked.armed, armed, memory_order_relaxed);
}

bool tsr_inject_ask(struct tsr_gpu *gpu, unsigned int kind, const struct tsr_inject_at *at,
		    uint64_t *delay)
{
	struct tsr_inject *inject = &gpu->bench->inject;
	uint64_t args[4] = { kind, 0, at->queue ? at->queue->index : UINT64_MAX, at->addr };
	bool fires = false;

	pthread_mutex_lock(&inject->lock);
	for (unsigned int i = 0; i < inject->rules; i++) {
		struct tsr_inject_rule *r = &inject->rule[i];

		if (r->kind != kind || !fits(r, at))
			continue;
		if (r->seen++ < r->skip || fires || r->fired >= r->times ||
		    !lucky(r, i, r->seen - r->skip))
			continue;
		fires = true;
		r->fired++;
		args[1] = i;
		if (delay && r->delay != UINT64_MAX)
			*delay = r->delay;
	}
	if (fires)
		update_armed(gpu);
	pthread_mutex_unlock(&inject->lock);
	if (!fires)
		return false;
	tsr_check_excuse(gpu, kind);
	atomic_fetch_add_explicit(&inject->fired[kind], 1, memory_order_relaxed);
	tsr_trace(gpu, TSR_TRACE_INJECT, args, 4);
	return true;
}

/* ---- Deferred -------------------------------------------------------------------------------- */

bool tsr_inject_defer(struct tsr_gpu *gpu, struct tsr_inject_deferred deferred, uint64_t delay)
{
	struct tsr_inject *inject = &gpu->bench->inject;
	bool armed;

	deferred.when = gpu->ops->clock(gpu->host) + delay;
	pthread_mutex_lock(&inject->lock);
	armed = inject->deferred_count < TSR_INJECT_DEFERRED_MAX;
	if (armed)
		inject->deferred[inject->deferred_count++] = deferred;
	pthread_mutex_unlock(&inject->lock);
	if (armed)
		atomic_store_explicit(&gpu->hooked.waiting, true, memory_order_release);
	return armed;
}

void tsr_inject_arm(struct tsr_gpu *gpu)
{
	struct tsr_inject *inject = &gpu->bench->inject;
	uint64_t first = UINT64_MAX;

	if (!atomic_load_explicit(&gpu->hooked.waiting, memory_order_acquire))
		return;
	atomic_store_explicit(&gpu->hooked.waiting, false, memory_order_relaxed);
	pthread_mutex_lock(&inject->lock);
	for (unsigned int i = 0; i < inject->deferred_count; i++) {
		if (inject->deferred[i].when < first)
			first = inject->deferred[i].when;
	}
	pthread_mutex_unlock(&inject->lock);
	if (first != UINT64_MAX)
		tsr_timer_want(&gpu->timer, first);
}

static void deferred_store(struct tsr_gpu *gpu, const struct tsr_inject_deferred *deferred)
{
	struct tsr_runner *runner = &gpu->runner[0];
	struct tsr_mem mem = tsr_runner_mem(runner, NULL, deferred->as, TSR_UNIT_CP);

	if (!runner->queue)
		tsr_tlb_sync(runner);
	/* where there is no memory any more, nothing is written */
	tsr_mem_store(&mem, deferred->addr, true, deferred->value);
	tsr_semaphore_poll(runner);
}

static void happen(struct tsr_gpu *gpu, const struct tsr_inject_deferred *deferred)
{
	switch (deferred->what) {
	case TSR_DEFERRED_MESSAGE:
		if (!atomic_load(&gpu->hooked.gone))
			tsr_irq_send(&gpu->irq, deferred->vector);
		break;
	case TSR_DEFERRED_STORE:
		if (!atomic_load(&gpu->hooked.gone))
			deferred_store(gpu, deferred);
		break;
	case TSR_DEFERRED_STOP:
		tsr_queue_unstick(&gpu->queue[deferred->queue]);
		break;
	case TSR_DEFERRED_RESET:
		gpu->hooked.reset_stuck = false;
		tsr_gpu_runner_idle(gpu);
		break;
	}
}

/* Remove the first thing that is due at @now; false: there is none. */
static bool remove_due(struct tsr_inject *inject, uint64_t now,
		       struct tsr_inject_deferred *deferred)
{
	unsigned int first = inject->deferred_count;

	for (unsigned int i = 0; i < inject->deferred_count; i++) {
		if (inject->deferred[i].when <= now &&
		    (first == inject->deferred_count ||
		     inject->deferred[i].when < inject->deferred[first].when))
			first = i;
	}
	if (first == inject->deferred_count)
		return false;
	*deferred = inject->deferred[first];
	memmove(&inject->deferred[first], &inject->deferred[first + 1],
		(--inject->deferred_count - first) * sizeof(*deferred));
	return true;
}

void tsr_inject_expired(struct tsr_gpu *gpu, uint64_t now)
{
	struct tsr_inject *inject = &gpu->bench->inject;
	struct tsr_inject_deferred deferred;
	bool due;

	do {
		pthread_mutex_lock(&inject->lock);
		due = remove_due(inject, now, &deferred);
		pthread_mutex_unlock(&inject->lock);
		if (due)
			happen(gpu, &deferred);
	} while (due);
	if (inject->deferred_count)
		atomic_store_explicit(&gpu->hooked.waiting, true, memory_order_relaxed);
}

static void timer_expired(void *gpu, uint64_t now)
{
	tsr_inject_expired(gpu, now);
}

static void timer_arm(void *gpu, uint64_t now)
{
	(void)now;
	tsr_inject_arm(gpu);
}

void tsr_inject_init(struct tsr_gpu *gpu)
{
	pthread_mutex_init(&gpu->bench->inject.lock, NULL);
	tsr_timer_add(&gpu->timer, &(struct tsr_timer_user){ timer_expired, timer_arm, gpu });
}

void tsr_inject_free(struct tsr_gpu *gpu)
{
	pthread_mutex_destroy(&gpu->bench->inject.lock);
}

/* ---- Units' questions ------------------------------------------------------------------------ */

/*
 * A rule fence-torn or fence-late fires for the store of @value to @addr, whose word is @old: part
 * of it is written now, and the rest is deferred. False if none fires.
 */
static bool defer_fence(struct tsr_mem *mem, uint64_t addr, uint64_t value, const uint64_t *old)
{
	const struct tsr_inject_at at = { .queue = mem->queue, .addr = addr, .as = mem->as };
	struct tsr_inject_deferred deferred = {
		.what = TSR_DEFERRED_STORE, .as = mem->as, .addr = addr, .value = value,
	};
	uint64_t delay = 50000;
	bool late = tsr_injected(mem->gpu, TSR_INJECTION_FENCE_LATE, &at, &delay);

	if (!late && old && tsr_injected(mem->gpu, TSR_INJECTION_FENCE_TORN, &at, &delay))
		late = tsr_mem_store(mem, addr, true, (*old & ~0xffull) | (value & 0xff)) ==
		       TSR_STEP_DONE;
	if (!late || !tsr_inject_defer(mem->gpu, deferred, delay))
		return false;
	/* have the runner come by with the lock: it asks for the timer */
	atomic_store_explicit(&mem->port->stop, true, memory_order_relaxed);
	return true;
}

/*
 * The translations come first. A FENCE that has to wait for the host begins again, and rules must
 * count it once.
 */
enum tsr_step tsr_inject_fence(struct tsr_mem *mem, uint64_t addr, uint64_t value)
{
	const struct tsr_inject_at at = { .queue = mem->queue, .addr = addr, .as = mem->as };
	enum tsr_step step, read = TSR_STEP_FAULT;
	struct tsr_page page;
	uint64_t old;

	if (tsr_inject_armed(mem->gpu) & 1u << TSR_INJECTION_FENCE_TORN)
		read = tsr_mem_load(mem, addr, true, &old);
	if (read == TSR_STEP_PENDING)
		return read;
	step = tsr_mem_page(mem, addr, TSR_ACCESS_WRITE, &page);
	if (step != TSR_STEP_DONE)
		return step;
	if (tsr_injected(mem->gpu, TSR_INJECTION_FENCE_LOST, &at, NULL) ||
	    defer_fence(mem, addr, value, read == TSR_STEP_DONE ? &old : NULL))
		return TSR_STEP_DONE;
	return tsr_mem_store(mem, addr, true, value);
}

bool tsr_inject_message(struct tsr_gpu *gpu, unsigned int vector, uint64_t bits)
{
	const struct tsr_inject_at at = {
		.queues = vector == TSR_IRQ_CLASS_GLOBAL ? 0 : bits, .vector = vector,
	};
	struct tsr_inject_deferred deferred = { .what = TSR_DEFERRED_MESSAGE, .vector = vector };
	uint64_t delay = 50000;

	if (atomic_load(&gpu->hooked.gone))
		return true;
	if (tsr_injected(gpu, TSR_INJECTION_IRQ_LOST, &at, NULL))
		return true;
	if (tsr_injected(gpu, TSR_INJECTION_IRQ_TWICE, &at, &delay)) {
		tsr_inject_defer(gpu, deferred, delay);
		return false;
	}
	delay = 1000000;
	return tsr_injected(gpu, TSR_INJECTION_IRQ_LATE, &at, &delay) &&
	       tsr_inject_defer(gpu, deferred, delay);
}

uint8_t tsr_inject_walk(const struct tsr_mem *mem, uint64_t va)
{
	static const struct {
		uint8_t kind, code;
	} walks[] = {
		{ TSR_INJECTION_MMU_UNMAPPED, TSR_FAULT_MMU_UNMAPPED },
		{ TSR_INJECTION_MMU_PERMISSION, TSR_FAULT_MMU_PERMISSION },
		{ TSR_INJECTION_MMU_WALK, TSR_FAULT_MMU_WALK },
		{ TSR_INJECTION_MMU_WALK_BUS, TSR_FAULT_MMU_WALK_BUS },
		{ TSR_INJECTION_BUS, TSR_FAULT_BUS },
	};
	const struct tsr_inject_at at = { .queue = mem->queue, .addr = va, .as = mem->as };

	if (!(tsr_inject_armed(mem->gpu) & WALKS))
		return 0;
	for (unsigned int i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
		if (tsr_injected(mem->gpu, walks[i].kind, &at, NULL))
			return walks[i].code;
	}
	return 0;
}

bool tsr_inject_stop(struct tsr_queue *q)
{
	const struct tsr_inject_at at = { .queue = q };
	struct tsr_inject_deferred deferred = { .what = TSR_DEFERRED_STOP, .queue = q->index };
	uint64_t delay = UINT64_MAX;

	return tsr_injected(q->gpu, TSR_INJECTION_STOP_STUCK, &at, &delay) &&
	       (delay == UINT64_MAX || tsr_inject_defer(q->gpu, deferred, delay));
}

void tsr_inject_reset(struct tsr_gpu *gpu)
{
	const struct tsr_inject_at at = { 0 };
	struct tsr_inject_deferred deferred = { .what = TSR_DEFERRED_RESET };
	uint64_t delay = UINT64_MAX;

	if (gpu->reset_busy || !tsr_injected(gpu, TSR_INJECTION_RESET_STUCK, &at, &delay))
		return;
	gpu->hooked.reset_stuck = delay == UINT64_MAX || tsr_inject_defer(gpu, deferred, delay);
}

bool tsr_inject_flr(struct tsr_gpu *gpu)
{
	const struct tsr_inject_at at = { 0 };

	if (tsr_injected(gpu, TSR_INJECTION_FLR_IGNORED, &at, NULL))
		return true;
	gpu->hooked.reset_stuck = false;
	atomic_store(&gpu->hooked.gone, false);
	return false;
}

bool tsr_inject_gone(struct tsr_gpu *gpu)
{
	const struct tsr_inject_at at = { 0 };

	if (!atomic_load(&gpu->hooked.gone) && tsr_injected(gpu, TSR_INJECTION_GONE, &at, NULL)) {
		atomic_store(&gpu->hooked.gone, true);
		tsr_runners_interrupt(gpu);
	}
	return atomic_load(&gpu->hooked.gone);
}

/* Let @ns pass on the thread of @runner, or until it has a stop request. */
static void pass_time(struct tsr_runner *runner, struct tsr_queue *q, uint64_t ns)
{
	const uint64_t look = 100000;

	if (!runner->index) {	/* the host's thread does not wait: a cycle is a nanosecond */
		tsr_run_cycles(runner, q, ns);
		return;
	}
	while (ns && !atomic_load_explicit(&runner->own.port.stop, memory_order_relaxed)) {
		struct timespec t = { .tv_nsec = ns < look ? ns : look };

		nanosleep(&t, NULL);
		ns -= t.tv_nsec;
	}
}

bool tsr_inject_hangs(struct tsr_runner *runner, struct tsr_queue *q, bool first)
{
	const struct tsr_inject_at at = { .queue = q };

	if (first && tsr_injected(q->gpu, TSR_INJECTION_HANG, &at, NULL))
		atomic_store_explicit(&q->hung, true, memory_order_relaxed);
	if (!atomic_load_explicit(&q->hung, memory_order_relaxed))
		return false;
	tsr_run_cycles(runner, q, HANG_CYCLES);
	if (runner->index)
		pass_time(runner, q, HANG_CYCLES);
	return true;
}

void tsr_inject_slow(struct tsr_runner *runner, struct tsr_queue *q)
{
	const struct tsr_inject_at at = { .queue = q };
	uint64_t delay = 1000000;

	if (tsr_injected(q->gpu, TSR_INJECTION_SLOW, &at, &delay))
		pass_time(runner, q, delay);
}

void tsr_inject_corrupt(struct tsr_runner *runner, struct tsr_queue *q)
{
	const struct tsr_inject_at at = { .queue = q };
	const struct tsr_dirty *dirty = &runner->own.port.dirty;
	const struct tsr_dirty_range *last;

	if (!dirty->count || !tsr_injected(q->gpu, TSR_INJECTION_COPY_CORRUPT, &at, NULL))
		return;
	last = &dirty->range[dirty->count - 1];
	last->ptr[last->len - 1] ^= 1;
}

/* ---- Scripts --------------------------------------------------------------------------------- */

/* Ends all state that faults have left. */
static void end_faults(struct tsr_gpu *gpu)
{
	bool gone = atomic_exchange(&gpu->hooked.gone, false);

	for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++) {
		atomic_store_explicit(&gpu->queue[i].hung, false, memory_order_relaxed);
		tsr_queue_unstick(&gpu->queue[i]);
	}
	tsr_inject_expired(gpu, UINT64_MAX);
	gpu->hooked.reset_stuck = false;
	tsr_inval_unstick(gpu);
	tsr_gpu_runner_idle(gpu);
	if (gone && atomic_load_explicit(&gpu->sched.runnable, memory_order_relaxed))
		tsr_workers_wake(gpu);
}

/* @script is in force. False: too many rules. Lock held. */
static bool enforce(struct tsr_gpu *gpu, const struct tsr_inject_script *script)
{
	struct tsr_inject *inject = &gpu->bench->inject;
	bool fits_in;

	pthread_mutex_lock(&inject->lock);
	fits_in = script->clear || inject->rules + script->rules <= TSR_INJECTION_RULES_MAX;
	if (fits_in) {
		if (script->clear)
			inject->rules = 0;
		memcpy(&inject->rule[inject->rules], script->rule,
		       script->rules * sizeof(script->rule[0]));
		inject->rules += script->rules;
		update_armed(gpu);
	}
	pthread_mutex_unlock(&inject->lock);
	if (fits_in && script->clear)
		end_faults(gpu);
	if (fits_in && tsr_inject_armed(gpu) & WALKS)
		tsr_inval_start(gpu, TSR_INVAL_HOST, 0, 0, 0, false);
	return fits_in;
}

bool tsr_gpu_inject(struct tsr_gpu *gpu, const char *text, char *err, size_t errlen)
{
	struct tsr_inject_script script;
	bool good;

	if (!gpu->bench) {
		snprintf(err, errlen, "this device injects no faults");
		return false;
	}
	good = tsr_inject_parse(&script, text);
	if (!good) {
		snprintf(err, errlen, "character %u: %s", script.position + 1, script.err);
		return false;
	}
	pthread_mutex_lock(&gpu->lock);
	good = enforce(gpu, &script);
	tsr_sched_kick(gpu);
	pthread_mutex_unlock(&gpu->lock);
	if (!good)
		snprintf(err, errlen, "more than %u rules in all", TSR_INJECTION_RULES_MAX);
	return good;
}

uint32_t tsr_inject_read(struct tsr_gpu *gpu, uint32_t offset)
{
	struct tsr_inject *inject = &gpu->bench->inject;

	if (offset == TSR_INJECT_STATUS__OFFSET)
		return inject->status | inject->rules << TSR_INJECT_STATUS_RULES__SHIFT;
	if (offset < TSR_INJECT_FIRED__OFFSET)
		return 0;
	return atomic_load_explicit(&inject->fired[(offset - TSR_INJECT_FIRED__OFFSET) /
						   TSR_INJECT_FIRED__STRIDE],
				    memory_order_relaxed);
}

void tsr_inject_write(struct tsr_gpu *gpu, uint32_t offset, uint32_t value)
{
	struct tsr_inject *inject = &gpu->bench->inject;
	struct tsr_inject_script script;
	char c = value & TSR_INJECT_TEXT_CHARACTER__MASK;
	bool good;

	if (offset != TSR_INJECT_TEXT__OFFSET)
		return;
	if (c) {	/* one too many makes the script malformed, and is counted once */
		if (inject->length <= TSR_INJECTION_TEXT_MAX)
			inject->text[inject->length++] = c;
		return;
	}
	good = inject->length <= TSR_INJECTION_TEXT_MAX;
	script.position = TSR_INJECTION_TEXT_MAX;
	if (good) {
		inject->text[inject->length] = 0;
		good = tsr_inject_parse(&script, inject->text) && enforce(gpu, &script);
	}
	inject->length = 0;
	inject->status = (good ? TSR_INJECTION_RESULT_ACCEPTED : TSR_INJECTION_RESULT_REFUSED) |
			 script.position << TSR_INJECT_STATUS_POSITION__SHIFT;
}
