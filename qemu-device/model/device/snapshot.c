/* SPDX-License-Identifier: MIT */
/*
 * Snapshots: the whole state as plain bytes.
 *
 * One description serves both directions: each visit_…() below names the fields of one structure in
 * the order in which they stand in the snapshot. Loading trusts nothing: every value that is used
 * as an index, a count, a state or a packet is judged as strictly as when the device itself had
 * come by it, so a corrupt file is refused or leads to a state that a guest could have caused.
 */
#include <stdio.h>
#include <string.h>

#include "gpu.h"
#include "shader/dispatch.h"
#include "shader/grid.h"
#include "state_io.h"
#include "render/render_engine.h"
#include "snapshot.h"

#define SNAPSHOT_MAGIC 0x50414e5341525354ull	/* "TSRASNAP" */
#define SNAPSHOT_VERSION 10u

#define VISIT(s, field) TSR_VISIT(s, field)
#define check tsr_stream_check

static void visit_atomic32(struct tsr_stream *s, _Atomic uint32_t *field)
{
	uint32_t value = atomic_load_explicit(field, memory_order_relaxed);

	VISIT(s, value);
	if (s->loading)
		atomic_store_explicit(field, value, memory_order_relaxed);
}

static void visit_atomic64(struct tsr_stream *s, _Atomic uint64_t *field)
{
	uint64_t value = atomic_load_explicit(field, memory_order_relaxed);

	VISIT(s, value);
	if (s->loading)
		atomic_store_explicit(field, value, memory_order_relaxed);
}

/*
 * A moment of the past by @now, the reader's or the writer's clock: only how long ago it was
 * matters.
 */
static void visit_since(struct tsr_stream *s, uint64_t *since, uint64_t now)
{
	uint64_t elapsed = now - *since;

	VISIT(s, elapsed);
	*since = now - elapsed;
}

static void visit_packet(struct tsr_stream *s, struct tsr_packet *packet)
{
	VISIT(s, packet->word);
	VISIT(s, packet->pc);
	VISIT(s, packet->rptr);
	VISIT(s, packet->as);
	VISIT(s, packet->depth);
	VISIT(s, packet->header_valid);
}

/* True if @packet passes the checks of the command processor of @q. */
static bool packet_is_sound(const struct tsr_queue *q, const struct tsr_packet *packet)
{
	bool ring = !packet->depth;

	return packet->as == (ring ? tsr_queue_ring_as(q) : tsr_queue_user_as(q)) &&
	       packet->depth <= TSR_NESTING_MAX && packet->header_valid == 1 &&
	       !(packet->rptr % 8) &&
	       !tsr_packet_check_header(q, packet->word[0], UINT64_MAX, ring).code &&
	       !tsr_packet_check_words(packet->word, ring).code;
}

static bool packet_is_queued(const struct tsr_packet *packet)
{
	unsigned int opcode = tsr_packet_opcode(packet->word[0]);

	switch (opcode) {
	case TSR_OP_FENCE:
	case TSR_OP_SIGNAL:
	case TSR_OP_SIGNAL_REG:
	case TSR_OP_TIMESTAMP:
		return true;
	default:
		return tsr_desc_packets[opcode]->batch == TSR_DESC_ENGINE;
	}
}

static bool packet_is_wait(const struct tsr_packet *packet)
{
	unsigned int opcode = tsr_packet_opcode(packet->word[0]);

	return opcode == TSR_OP_WAIT || opcode == TSR_OP_WAIT_REG;
}

/*
 * True if the state of the oldest entry of @fifo is possible. The entry itself is sound. Only
 * engine commands have a state. An engine that keeps an object for a command in progress (a grid, a
 * rendering) sets a bit in it, and the loader of the object tests that bit. Each step of the copy
 * engine checks its own position. Only a copy holds its last texel.
 */
static bool fifo_state_is_sound(const struct tsr_fifo *fifo)
{
	const uint64_t *word = fifo->state.word;
	unsigned int opcode = tsr_packet_opcode(fifo->entry[fifo->first].word[0]);

	if (opcode == TSR_OP_COPY_LINEAR || opcode == TSR_OP_COPY_RECT)
		return word[3] <= 1 && (word[3] || !(word[1] | word[2]));
	if (word[1] || word[2] || word[3])
		return false;
	if (!fifo->count || tsr_desc_packets[opcode]->batch != TSR_DESC_ENGINE)
		return !word[0];
	switch (opcode) {
	case TSR_OP_DISPATCH:
	case TSR_OP_DISPATCH_INDIRECT:
	case TSR_OP_BIN:
	case TSR_OP_RENDER:
		return word[0] <= 1;
	default:
		return true;
	}
}

static void visit_fifo(struct tsr_stream *s, struct tsr_queue *q, struct tsr_fifo *fifo)
{
	for (unsigned int i = 0; i < TSR_FIFO_DEPTH; i++)
		visit_packet(s, &fifo->entry[i]);
	VISIT(s, fifo->first);
	VISIT(s, fifo->count);
	VISIT(s, fifo->state);
	check(s, fifo->first < TSR_FIFO_DEPTH && fifo->count <= TSR_FIFO_DEPTH, "a FIFO's fill");
	for (unsigned int i = 0; s->loading && !s->wrong && i < fifo->count; i++) {
		const struct tsr_packet *packet = &fifo->entry[(fifo->first + i) % TSR_FIFO_DEPTH];

		check(s, packet_is_sound(q, packet) && packet_is_queued(packet),
		      "a command in a FIFO");
	}
	if (s->loading && !s->wrong)
		check(s, fifo_state_is_sound(fifo), "how far a command is");
}

static void visit_record(struct tsr_stream *s, struct tsr_record *record)
{
	VISIT(s, record->addr);
	VISIT(s, record->pc);
	VISIT(s, record->header);
	VISIT(s, record->rptr);
	VISIT(s, record->code);
	VISIT(s, record->access);
	VISIT(s, record->level);
	VISIT(s, record->unit);
	VISIT(s, record->as);
	VISIT(s, record->depth);
	VISIT(s, record->shader);
	VISIT(s, record->group);
	VISIT(s, record->clause);
	check(s,
	      record->depth <= TSR_NESTING_MAX && record->level <= TSR_LEVELS_MAX &&
		      record->access <= TSR_ACCESS_EXEC && record->unit <= TSR_UNIT_TILE &&
		      record->as < TSR_ADDRESS_SPACES_MAX && !(record->rptr % 8),
	      "a fault record");
}

/* Streams that are open, and the packet in phase EXECUTE. */
static void check_streams(struct tsr_stream *s, const struct tsr_queue *q)
{
	const struct tsr_exec *x = &q->exec;
	struct tsr_tlb_invalidate inv;

	for (unsigned int i = 0; i < x->depth; i++) {
		uint64_t left = x->frame[i].end - x->frame[i].pc;

		check(s, (x->frame[i].pc | left) % 8 == 0 && left <= TSR_STREAM_SIZE_MAX,
		      "a stream's address");
	}
	if (s->wrong || x->phase != TSR_CP_EXECUTE)
		return;
	check(s, packet_is_sound(q, &x->packet) && x->packet.depth == x->depth,
	      "the packet being executed");
	if (s->wrong || tsr_packet_opcode(x->packet.word[0]) != TSR_OP_TLB_INVALIDATE)
		return;
	tsr_unpack_tlb_invalidate(x->packet.word, &inv);
	check(s, !x->inval_started ||
			 (int32_t)(q->gpu->mmu.as[inv.as].inv_started - x->ticket) >= 0,
	      "an invalidation");
}

static void visit_exec(struct tsr_stream *s, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;

	VISIT(s, x->phase);
	VISIT(s, x->depth);
	VISIT(s, x->waited);
	VISIT(s, x->inval_started);
	VISIT(s, x->ticket);
	VISIT(s, x->loops);
	VISIT(s, x->ahead);
	for (unsigned int i = 0; i < TSR_NESTING_MAX; i++) {
		VISIT(s, x->frame[i].pc);
		VISIT(s, x->frame[i].end);
	}
	visit_packet(s, &x->packet);
	VISIT(s, x->prefetch.va);
	VISIT(s, x->prefetch.len);
	VISIT(s, x->prefetch.data);
	visit_fifo(s, q, &x->fifo);
	VISIT(s, x->interval.mask);
	VISIT(s, x->interval.user);
	VISIT(s, x->interval.written);
	VISIT(s, x->interval.base);
	visit_record(s, &x->fault);
	check(s, x->phase < TSR_CP__PHASES && x->depth <= TSR_NESTING_MAX,
	      "a command processor's state");
	check(s, x->prefetch.len <= TSR_PREFETCH_BYTES, "a prefetch buffer");
	check(s, x->phase != TSR_CP_DRAIN || !x->depth, "a stream that has ended");
	check(s, x->phase != TSR_CP_FAULT || x->fault.code, "a fault without a code");
	if (s->loading && !s->wrong)
		check_streams(s, q);
}

static void visit_config(struct tsr_stream *s, struct tsr_queue *q)
{
	VISIT(s, q->ring_base);
	VISIT(s, q->config);
	VISIT(s, q->address_spaces);
	VISIT(s, q->timeslice);
	VISIT(s, q->watchdog_ms);
	check(s,
	      !(q->config & ~(TSR_QUEUE_CONFIG_RING_LOG2__MASK | TSR_QUEUE_CONFIG_CLASS__MASK |
			      TSR_QUEUE_CONFIG_PRIORITY__MASK)) &&
		      !(q->address_spaces & ~(TSR_QUEUE_ADDRESS_SPACES_RING_AS__MASK |
					      TSR_QUEUE_ADDRESS_SPACES_USER_AS__MASK)),
	      "a queue's configuration");
}

static void visit_progress(struct tsr_stream *s, struct tsr_queue *q)
{
	bool in_call = atomic_load_explicit(&q->in_call, memory_order_relaxed);

	visit_atomic32(s, &q->rptr);
	visit_atomic32(s, &q->wptr);
	tsr_stream_bool(s, &in_call);
	atomic_store_explicit(&q->in_call, in_call, memory_order_relaxed);
	visit_atomic64(s, &q->progress);
	visit_atomic64(s, &q->calls);
	for (unsigned int i = 0; i < TSR_QUEUE_COUNTERS; i++)
		visit_atomic64(s, &q->counter[i]);
	VISIT(s, q->busy_ns);
	VISIT(s, q->slices);
	VISIT(s, q->preemptions);
	check(s, (q->rptr | q->wptr) % 8 == 0, "a ring's pointer");
}

/*
 * Checks the state of a queue. A paused device has no RUNNING queue, and all its requests are
 * complete.
 */
static bool state_is_sound(const struct tsr_queue *q)
{
	const struct tsr_exec *x = &q->exec;
	bool waits = x->phase == TSR_CP_EXECUTE && packet_is_wait(&x->packet);

	switch (q->state) {
	case TSR_QUEUE_STATE_DISABLED:
	case TSR_QUEUE_STATE_FAULTED:
		return !x->phase && !x->depth && !x->fifo.count;
	case TSR_QUEUE_STATE_IDLE:
	case TSR_QUEUE_STATE_READY:
		return true;
	case TSR_QUEUE_STATE_BLOCKED:
		return q->block == TSR_QUEUE_BLOCK_HOST ||
		       (q->block == TSR_QUEUE_BLOCK_HEAP && x->fifo.count &&
			tsr_heap_state_waits(q)) ||
		       (q->block == TSR_QUEUE_BLOCK_SEMAPHORE && waits);
	case TSR_QUEUE_STATE_SUSPENDED:
		return q->before == TSR_QUEUE_STATE_IDLE || q->before == TSR_QUEUE_STATE_READY ||
		       (q->before == TSR_QUEUE_STATE_BLOCKED && (waits || !x->waited));
	default:
		return false;
	}
}

/* A dispatch in progress. */
static void visit_grid(struct tsr_stream *s, struct tsr_queue *q)
{
	const struct tsr_fifo *fifo = &q->exec.fifo;
	bool grid = q->work.grid || q->work.packed;

	tsr_stream_bool(s, &grid);
	if (s->loading && !s->wrong)
		check(s, grid == (fifo->count && tsr_dispatch_begun(fifo->entry[fifo->first].word,
								    &fifo->state)),
		      "a dispatch without its command, or a command without its dispatch");
	if (grid && !s->wrong)
		tsr_dispatch_visit(s, &q->work);
}

/* A RENDER in progress. */
static void visit_rendering(struct tsr_stream *s, struct tsr_queue *q)
{
	const struct tsr_fifo *fifo = &q->exec.fifo;

	/* a damaged state may say anything of its first entry */
	if (!s->wrong && fifo->count &&
	    tsr_render_begun(fifo->entry[fifo->first].word, &fifo->state))
		tsr_render_visit(s, &q->work);
}

static void visit_heap(struct tsr_stream *s, struct tsr_heap_state *heap)
{
	uint32_t size = atomic_load(&heap->size);
	bool failed = atomic_load(&heap->failed);

	VISIT(s, heap->base);
	VISIT(s, heap->max);
	VISIT(s, heap->wanted);
	VISIT(s, size);
	tsr_stream_bool(s, &failed);
	check(s, heap->base % TSR_HEAP_ALIGN == 0 && size <= heap->max &&
		 heap->wanted <= heap->max, "a queue's heap");
	if (s->loading) {
		atomic_store(&heap->size, size);
		atomic_store(&heap->failed, failed);
	}
}

static void visit_queue(struct tsr_stream *s, struct tsr_queue *q)
{
	struct tsr_gpu *gpu = q->gpu;
	bool live;

	visit_config(s, q);
	VISIT(s, q->state);
	VISIT(s, q->block);
	VISIT(s, q->before);
	tsr_stream_bool(s, &q->heavy);
	VISIT(s, q->order);
	VISIT(s, q->passed);
	visit_since(s, &q->block_since, tsr_clock(&gpu->counters));
	visit_since(s, &q->watch_since, gpu->ops->clock(gpu->host));
	VISIT(s, q->watch_progress);
	tsr_stream_bool(s, &q->watch_fired);
	visit_progress(s, q);
	visit_record(s, &q->fault);
	visit_heap(s, &q->heap);
	visit_exec(s, q);
	visit_grid(s, q);
	visit_rendering(s, q);
	if (!s->loading || s->wrong)
		return;
	live = q->state != TSR_QUEUE_STATE_DISABLED && q->state != TSR_QUEUE_STATE_FAULTED;
	check(s, state_is_sound(q), "a queue's state");
	check(s, !live || tsr_queue_bad_register(q) < 0, "the configuration of an enabled queue");
}

static void visit_as(struct tsr_stream *s, struct tsr_as *as)
{
	const uint64_t known =
		TSR_AS_BASE_VALID__MASK | TSR_AS_BASE_LOCAL__MASK | TSR_AS_BASE_ADDR__MASK;

	VISIT(s, as->base);
	VISIT(s, as->inv_va);
	VISIT(s, as->inv_size);
	VISIT(s, as->inv_started);
	visit_atomic64(s, &as->root);
	check(s, !((as->base | as->root) & ~known), "an address space");
	as->inv_done = as->inv_started;	/* nothing runs, so nothing is under way */
}

/* The configuration that must be equal in both devices. */
static void visit_fingerprint(struct tsr_stream *s, const struct tsr_config *cfg)
{
	uint64_t own[] = {
		SNAPSHOT_MAGIC, SNAPSHOT_VERSION, cfg->queues, cfg->engines[0], cfg->engines[1],
		cfg->engines[2], cfg->engines[3], cfg->va_bits, cfg->page_sizes, cfg->local_size,
		cfg->deterministic, cfg->cores, cfg->heads,
	};
	static const char *const what[] = {
		"it is no snapshot of a Tessera device",
		"its version is not known",
		"another number of queues",
		"other engines",
		"other engines",
		"other engines",
		"other engines",
		"other virtual addresses",
		"other page sizes",
		"another size of local memory",
		"another setting of deterministic",
		"another number of shader cores",
		"another number of heads",
	};

	for (unsigned int i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		uint64_t value = own[i];

		VISIT(s, value);
		check(s, value == own[i], what[i]);
	}
}

/* The timestamp never goes back, whatever clock the new host has. */
static void visit_clock(struct tsr_stream *s, struct tsr_gpu *gpu)
{
	uint64_t then = tsr_clock(&gpu->counters);

	VISIT(s, then);
	if (!s->loading || gpu->cfg.deterministic)
		return;
	gpu->counters.clock_offset = 0;
	if (then > tsr_clock(&gpu->counters))
		gpu->counters.clock_offset = then - tsr_clock(&gpu->counters);
}

static void visit_gpu(struct tsr_stream *s, struct tsr_gpu *gpu)
{
	visit_fingerprint(s, &gpu->cfg);
	VISIT(s, gpu->reset_count);
	VISIT(s, gpu->irq.rawstat);
	VISIT(s, gpu->irq.mask);
	for (unsigned int i = 0; i < TSR_GLOBAL_COUNTERS; i++)
		visit_atomic64(s, &gpu->counters.global[i]);
	visit_clock(s, gpu);
	for (unsigned int i = 0; i < TSR_SEMAPHORES_MAX; i++)
		visit_atomic32(s, &gpu->semaphore[i]);
	for (unsigned int i = 0; i < TSR_ADDRESS_SPACES_MAX; i++)
		visit_as(s, &gpu->mmu.as[i]);
	VISIT(s, gpu->sched.next_class);
	VISIT(s, gpu->sched.next_order);
	VISIT(s, gpu->sched.random);
	check(s, gpu->sched.next_class < TSR_CLASSES && gpu->sched.random, "the scheduler's state");
	for (unsigned int i = 0; i < gpu->cfg.queues && !s->wrong; i++)
		visit_queue(s, &gpu->queue[i]);
	tsr_display_visit(s, &gpu->display);
	check(s, !s->loading || s->pos == s->size, "there is more than there should be");
}

static void save(struct tsr_gpu *gpu, struct tsr_stream *s)
{
	pthread_mutex_lock(&gpu->lock);
	pthread_mutex_lock(&gpu->irq.lock);
	visit_gpu(s, gpu);
	pthread_mutex_unlock(&gpu->irq.lock);
	pthread_mutex_unlock(&gpu->lock);
}

size_t tsr_gpu_save(struct tsr_gpu *gpu, void *buf, size_t size)
{
	struct tsr_stream s = { .buf = buf, .size = size };

	save(gpu, &s);
	return s.pos;
}

void tsr_gpu_save_fields(struct tsr_gpu *gpu,
			 void (*field)(void *opaque, size_t pos, size_t size), void *opaque)
{
	struct tsr_stream s = { .field = field, .opaque = opaque };

	save(gpu, &s);
}

/* Queues that were READY or BLOCKED take their places in the scheduler. */
static void enter_sets(struct tsr_gpu *gpu)
{
	for (unsigned int i = 0; i < gpu->cfg.queues; i++) {
		struct tsr_queue *q = &gpu->queue[i];

		tsr_sched_park(q);
		if (q->state == TSR_QUEUE_STATE_READY)
			tsr_sched_restore(q);
		else if (q->state == TSR_QUEUE_STATE_BLOCKED &&
			 q->block == TSR_QUEUE_BLOCK_SEMAPHORE)
			tsr_sched_restore(q);
	}
}

bool tsr_gpu_load(struct tsr_gpu *gpu, const void *buf, size_t size, char *err, size_t errlen)
{
	struct tsr_stream s = { .buf = (uint8_t *)buf, .size = size, .loading = true };

	pthread_mutex_lock(&gpu->lock);
	check(&s, gpu->paused, "the device must be paused");
	if (!s.wrong) {
		tsr_gpu_clear(gpu);
		pthread_mutex_lock(&gpu->irq.lock);
		visit_gpu(&s, gpu);
		pthread_mutex_unlock(&gpu->irq.lock);
		if (s.wrong)
			tsr_gpu_clear(gpu);
	}
	if (s.wrong) {
		snprintf(err, errlen, "snapshot refused: %s", s.wrong);
	} else {
		enter_sets(gpu);
		tsr_semaphore_restart(gpu);
		tsr_timer_restart(&gpu->timer);
	}
	pthread_mutex_unlock(&gpu->lock);
	return !s.wrong;
}
