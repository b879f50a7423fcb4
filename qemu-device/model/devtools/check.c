/* SPDX-License-Identifier: MIT */
/* Reports, and the checks of interrupts, address spaces, rings and fences. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devtools.h"

#define BIT(kind) (1u << TSR_CHECK_KIND_##kind)

static const char *const class_name[] = {
	[TSR_ENGINE_CLASS_BIN] = "bin",
	[TSR_ENGINE_CLASS_RENDER] = "render",
	[TSR_ENGINE_CLASS_COMPUTE] = "compute",
	[TSR_ENGINE_CLASS_COPY] = "copy",
};

/* ---- Reports --------------------------------------------------------------------------------- */

/* A text that grows as long as there is room. */
struct text {
	char *at;
	size_t left;
};

static void __attribute__((format(printf, 2, 3))) say(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at, t->left, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= t->left)
		n = t->left - 1;
	t->at += n;
	t->left -= n;
}

/* The last register writes of the driver, latest first, at most four. Checker's lock held. */
static void say_writes(struct text *t, const struct tsr_check *check, uint64_t when)
{
	unsigned int said = 0;

	for (uint64_t n = check->writes; n > 0 && check->writes - n < TSR_CHECK_WRITES; n--) {
		const struct tsr_check_write *w = &check->write[(n - 1) % TSR_CHECK_WRITES];
		uint32_t instance = 0, index = 0;
		bool upper = false;
		const struct tsr_desc_reg *reg;

		if (w->when > when || said == 4)
			continue;
		reg = tsr_desc_reg_at(w->offset, &instance, &index, &upper);
		say(t, said++ ? ", " : "; before it the driver wrote ");
		if (!reg) {
			say(t, "0x%x", w->offset);
		} else {
			say(t, "%s", reg->block->name);
			if (reg->block->numbered)
				say(t, "[%u]", instance);
			say(t, ".%s", reg->name);
			if (reg->count > 1)
				say(t, "[%u]", index);
		}
		say(t, " 0x%x %" PRIu64 ".%03u ms", w->value, (when - w->when) / 1000000,
		    (unsigned int)((when - w->when) / 1000 % 1000));
	}
	if (said)
		say(t, " earlier");
}

/* Checker's lock held. */
static void describe(struct tsr_check *check, const struct tsr_check_event *e)
{
	struct text t = { check->text, sizeof(check->text) };

	say(&t, "driver bug %s: ",
	    tsr_desc_value_name(tsr_desc_find_enum("CHECK_KIND"), e->kind));
	if (e->queue)
		say(&t, "queue %u (%s) job %" PRIu64 ", ", e->queue->index,
		    class_name[tsr_queue_class(e->queue)], e->job);
	say(&t, "address space %u, at 0x%" PRIx64 ": was 0x%" PRIx64 " is 0x%" PRIx64, e->as,
	    e->addr, e->was, e->is);
	say_writes(&t, check, e->when);
}

static uint64_t job_of(const struct tsr_queue *q)
{
	return atomic_load_explicit(&q->calls, memory_order_relaxed) +
	       atomic_load_explicit(&q->in_call, memory_order_relaxed);
}

void tsr_check_report(struct tsr_gpu *gpu, struct tsr_check_event e)
{
	struct tsr_check *check = &gpu->bench->check;
	uint64_t args[4] = { e.kind, e.queue ? e.queue->index : UINT64_MAX, e.addr, e.was };
	char text[TSR_CHECK_TEXT];
	uint32_t before;

	if (atomic_load_explicit(&check->excused, memory_order_relaxed) >> e.kind & 1)
		return;
	if (!e.when) {	/* no time given: now. A suspicion has its own time */
		e.when = gpu->ops->clock(gpu->host);
		e.job = e.queue ? job_of(e.queue) : 0;
	}
	before = atomic_fetch_add_explicit(&check->count[e.kind], 1, memory_order_relaxed);
	pthread_mutex_lock(&check->lock);
	check->any = true;
	check->last = e;
	describe(check, &e);
	memcpy(text, check->text, sizeof(text));
	pthread_mutex_unlock(&check->lock);
	tsr_trace(gpu, TSR_TRACE_CHECK, args, 4);
	if (gpu->ops->report && before < TSR_CHECK_LINES)
		gpu->ops->report(gpu->host, text);
}

void tsr_check_wrote(struct tsr_gpu *gpu, uint32_t offset, uint32_t value)
{
	struct tsr_check *check = &gpu->bench->check;

	pthread_mutex_lock(&check->lock);
	check->write[check->writes++ % TSR_CHECK_WRITES] = (struct tsr_check_write) {
		.when = gpu->ops->clock(gpu->host), .offset = offset, .value = value,
	};
	pthread_mutex_unlock(&check->lock);
}

void tsr_check_excuse(struct tsr_gpu *gpu, unsigned int kind)
{
	static const uint32_t excuse[TSR_INJECT_KINDS] = {
		[TSR_INJECTION_IRQ_LOST] = BIT(IRQ_IGNORED),
		[TSR_INJECTION_IRQ_LATE] = BIT(IRQ_IGNORED),
		[TSR_INJECTION_MMU_UNMAPPED] = BIT(RING_FAULT),
		[TSR_INJECTION_MMU_PERMISSION] = BIT(RING_FAULT),
		[TSR_INJECTION_MMU_WALK] = BIT(RING_FAULT),
		[TSR_INJECTION_MMU_WALK_BUS] = BIT(RING_FAULT),
		[TSR_INJECTION_BUS] = BIT(RING_FAULT),
		[TSR_INJECTION_TLB_STALE] = BIT(STALE_TRANSLATION),
		/* a device that is gone is not notified about memory either */
		[TSR_INJECTION_GONE] = BIT(IRQ_IGNORED) | BIT(AS_IN_USE) | BIT(FREED_PAGE) |
				       BIT(DOORBELL_DISABLED) | BIT(RING_FAULT),
		[TSR_INJECTION_FLR_IGNORED] = BIT(AS_IN_USE) | BIT(DOORBELL_DISABLED),
		[TSR_INJECTION_RESET_STUCK] = BIT(AS_IN_USE) | BIT(DOORBELL_DISABLED),
		[TSR_INJECTION_STOP_STUCK] = BIT(AS_IN_USE) | BIT(DOORBELL_DISABLED),
	};

	atomic_fetch_or_explicit(&gpu->bench->check.excused, excuse[kind], memory_order_relaxed);
}

/* ---- Interrupts ------------------------------------------------------------------------------ */

void tsr_check_irq(struct tsr_gpu *gpu, unsigned int cls, uint64_t before, uint64_t now)
{
	uint64_t *since, clock;

	/* a head's events come whether or not anybody looks at them */
	if (before == now || cls > TSR_IRQ_CLASS_HEAP)
		return;
	since = gpu->bench->check.irq_since[cls];
	clock = gpu->ops->clock(gpu->host);
	for (unsigned int bit = 0; bit < 64; bit++) {
		if ((before ^ now) >> bit & 1)
			since[bit] = now >> bit & 1 ? clock + !clock : 0;
	}
}

/* Report events that are due; returns those that are not. */
static unsigned int settle_irqs(struct tsr_gpu *gpu, uint64_t clock)
{
	unsigned int pending = 0;

	for (unsigned int cls = 0; cls <= TSR_IRQ_CLASS_HEAP; cls++) {
		uint64_t due = 0;

		pthread_mutex_lock(&gpu->irq.lock);
		for (unsigned int bit = 0; bit < 64; bit++) {
			uint64_t *since = &gpu->bench->check.irq_since[cls][bit];

			if (!*since || *since == UINT64_MAX)
				continue;
			if (clock - *since < TSR_CHECK_GRACE_NS) {
				pending++;
				continue;
			}
			due |= 1ull << bit;
			*since = UINT64_MAX;
		}
		pthread_mutex_unlock(&gpu->irq.lock);
		for (unsigned int bit = 0; due; bit++, due >>= 1) {
			if (due & 1)
				tsr_check_report(gpu, (struct tsr_check_event) {
					.kind = TSR_CHECK_KIND_IRQ_IGNORED, .addr = cls, .is = bit,
				});
		}
	}
	return pending;
}

/* ---- Slots and address spaces ---------------------------------------------------------------- */

void tsr_check_root(struct tsr_gpu *gpu, unsigned int as, uint64_t old, uint64_t root)
{
	if (!(old & TSR_AS_BASE_VALID__MASK) || old == root)
		return;
	for (unsigned int i = 0; i < gpu->cfg.queues; i++) {
		const struct tsr_queue *q = &gpu->queue[i];

		if (q->state == TSR_QUEUE_STATE_DISABLED || q->state == TSR_QUEUE_STATE_FAULTED ||
		    (as != tsr_queue_ring_as(q) && as != tsr_queue_user_as(q)))
			continue;
		tsr_check_report(gpu, (struct tsr_check_event) {
			.kind = TSR_CHECK_KIND_AS_IN_USE, .queue = q, .as = as,
			.was = old, .is = root,
		});
	}
}

void tsr_check_faulted(struct tsr_queue *q)
{
	const struct tsr_record *fault = &q->fault;

	if (fault->depth)
		return;
	tsr_check_report(q->gpu, (struct tsr_check_event) {
		.kind = TSR_CHECK_KIND_RING_FAULT, .queue = q, .as = fault->as,
		.addr = fault->addr, .was = fault->code, .is = fault->pc,
	});
}

void tsr_check_doorbell_disabled(struct tsr_queue *q, uint32_t wptr)
{
	tsr_check_report(q->gpu, (struct tsr_check_event) {
		.kind = TSR_CHECK_KIND_DOORBELL_DISABLED, .queue = q, .is = wptr,
	});
}

void tsr_check_fence(struct tsr_queue *q, unsigned int as, uint64_t addr, uint64_t value)
{
	struct tsr_check_ring *ring = &q->gpu->bench->check.ring[q->index];

	if (ring->fenced && ring->fence_addr == addr && value <= ring->fence_value)
		tsr_check_report(q->gpu, (struct tsr_check_event) {
			.kind = TSR_CHECK_KIND_FENCE_BACKWARDS, .queue = q, .as = as,
			.addr = addr, .was = ring->fence_value, .is = value,
		});
	ring->fenced = true;
	ring->fence_addr = addr;
	ring->fence_value = value;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/*
 * The word of the ring of @q at @position as memory has it now. False: nobody knows. Doorbells ring
 * for a few words at a time, so each is looked for by itself.
 */
static bool ring_word(const struct tsr_queue *q, uint32_t position, uint64_t *value)
{
	struct tsr_gpu *gpu = q->gpu;
	uint64_t va = q->ring_base + (position & (tsr_queue_ring_size(q) - 1));
	uint64_t len = sizeof(uint64_t), in_page = va & 0xfff, entry;
	struct tsr_walk walk;
	void *ptr;

	if (tsr_mmu_peek(&gpu->mmu, tsr_queue_ring_as(q), va, &walk, &entry) !=
		    TSR_MMU_PEEK_FOUND || walk.null)
		return false;
	if (walk.local) {
		if (walk.phys >= gpu->cfg.local_size)
			return false;
		ptr = (uint8_t *)gpu->cfg.local + walk.phys + in_page;
	} else if (gpu->ops->map(gpu->host, walk.phys + in_page, &len, false, &ptr) !=
			   TSR_HOST_OK || len != sizeof(uint64_t)) {
		return false;
	}
	*value = __atomic_load_n((uint64_t *)ptr, __ATOMIC_RELAXED);
	return true;
}

static _Atomic uint64_t *shadow(const struct tsr_check_ring *ring, uint32_t position)
{
	return &ring->word[(position & (ring->size - 1)) / sizeof(uint64_t)];
}

static void ring_changed(struct tsr_queue *q, bool early, uint32_t position, uint64_t was,
			 uint64_t is)
{
	tsr_check_report(q->gpu, (struct tsr_check_event) {
		.kind = early ? TSR_CHECK_KIND_DOORBELL_EARLY : TSR_CHECK_KIND_RING_OVERWRITTEN,
		.queue = q, .as = tsr_queue_ring_as(q),
		.addr = q->ring_base + (position & (tsr_queue_ring_size(q) - 1)),
		.was = was, .is = is,
	});
}

/* Look at what the last doorbell announced again: once, and only while it is where it was. */
static void settle_ring(struct tsr_queue *q)
{
	struct tsr_check_ring *ring = &q->gpu->bench->check.ring[q->index];
	uint32_t rptr = atomic_load_explicit(&q->rptr, memory_order_relaxed);

	if (!ring->word || ring->settled)
		return;
	ring->settled = true;
	for (uint32_t p = ring->first; p != ring->end; p += sizeof(uint64_t)) {
		uint64_t was = atomic_load_explicit(shadow(ring, p), memory_order_relaxed), is;
		bool read = p - ring->first < rptr - ring->first;

		if (!ring_word(q, p, &is) || was == is)
			continue;
		atomic_store_explicit(shadow(ring, p), is, memory_order_relaxed);
		ring_changed(q, ring->old || read, p, was, is);
		return;
	}
}

void tsr_check_enabled(struct tsr_queue *q)
{
	struct tsr_check_ring *ring = &q->gpu->bench->check.ring[q->index];
	uint32_t size = tsr_queue_ring_size(q);
	uint64_t value;

	if (ring->size != size) {
		free(ring->word);
		ring->word = calloc(size / sizeof(uint64_t), sizeof(uint64_t));
		ring->size = ring->word ? size : 0;
	}
	ring->fenced = false;
	ring->settled = true;
	atomic_store_explicit(&ring->known, atomic_load(&q->wptr), memory_order_relaxed);
	for (uint32_t p = 0; ring->word && p < size; p += sizeof(uint64_t)) {
		if (!ring_word(q, p, &value))
			break;
		atomic_store_explicit(shadow(ring, p), value, memory_order_relaxed);
	}
}

/* A word that is missing in the ring now was missing when it was announced. */
void tsr_check_stopped(struct tsr_queue *q)
{
	if (q->state != TSR_QUEUE_STATE_DISABLED)
		settle_ring(q);
}

void tsr_check_doorbell(struct tsr_queue *q, uint32_t wptr)
{
	struct tsr_check_ring *ring = &q->gpu->bench->check.ring[q->index];
	uint32_t first = atomic_load_explicit(&q->wptr, memory_order_relaxed);
	bool fresh = false;
	uint64_t value;

	if (!ring->word || wptr == first)
		return;
	if (wptr - first > ring->size) {	/* packets are taken back */
		ring->settled = true;
		atomic_store_explicit(&ring->known, wptr, memory_order_relaxed);
		return;
	}
	if (wptr - ring->first <= ring->size)
		settle_ring(q);
	for (uint32_t p = first; p != wptr; p += sizeof(uint64_t)) {
		if (!ring_word(q, p, &value)) {
			ring->settled = true;
			atomic_store_explicit(&ring->known, wptr, memory_order_relaxed);
			return;
		}
		fresh |= value != atomic_load_explicit(shadow(ring, p), memory_order_relaxed);
		atomic_store_explicit(shadow(ring, p), value, memory_order_relaxed);
	}
	ring->first = first;
	ring->end = wptr;
	ring->settled = false;
	atomic_store_explicit(&ring->old, !fresh, memory_order_relaxed);
}

/* True if the last doorbell announced the word at @position but no new word. */
static bool announced_old(const struct tsr_check_ring *ring, uint32_t position)
{
	uint32_t first = atomic_load_explicit(&ring->first, memory_order_relaxed);

	return atomic_load_explicit(&ring->old, memory_order_relaxed) &&
	       position - first < atomic_load_explicit(&ring->end, memory_order_relaxed) - first;
}

void tsr_check_fetched(struct tsr_queue *q, const struct tsr_packet *packet)
{
	struct tsr_check_ring *ring = &q->gpu->bench->check.ring[q->index];
	uint32_t known = atomic_load_explicit(&ring->known, memory_order_relaxed);
	unsigned int words = tsr_packet_words(packet->word[0]);

	for (unsigned int i = 0; ring->word && i < words; i++) {
		uint32_t p = packet->rptr + i * sizeof(uint64_t);
		uint64_t was = atomic_load_explicit(shadow(ring, p), memory_order_relaxed);

		if ((int32_t)(p - known) < 0 || was == packet->word[i])
			continue;
		/* one report is enough for what one doorbell announced */
		ring->settled = true;
		atomic_store_explicit(&ring->known, ring->end, memory_order_relaxed);
		ring_changed(q, announced_old(ring, p), p, was, packet->word[i]);
		return;
	}
}

/* ---- The whole ------------------------------------------------------------------------------- */

unsigned int tsr_check_suspects(struct tsr_gpu *gpu, uint64_t clock)
{
	struct tsr_check *check = &gpu->bench->check;
	struct tsr_check_event due;
	unsigned int left;
	bool found;

	do {
		found = false;
		pthread_mutex_lock(&check->lock);
		for (unsigned int i = 0; i < check->suspects && !found; i++) {
			if (clock - check->suspect[i].when < TSR_CHECK_GRACE_NS)
				continue;
			found = true;
			due = check->suspect[i];
			check->suspect[i] = check->suspect[--check->suspects];
		}
		left = check->suspects;
		pthread_mutex_unlock(&check->lock);
		if (found)
			tsr_check_report(gpu, due);
	} while (found);
	return left;
}

unsigned int tsr_check_settle(struct tsr_gpu *gpu)
{
	uint64_t clock = gpu->ops->clock(gpu->host);

	if (atomic_load(&gpu->hooked.gone))
		return 0;
	for (unsigned int i = 0; i < gpu->cfg.queues; i++) {
		if (gpu->queue[i].state != TSR_QUEUE_STATE_DISABLED)
			settle_ring(&gpu->queue[i]);
	}
	return tsr_check_suspects(gpu, clock) + settle_irqs(gpu, clock);
}

void tsr_check_reset(struct tsr_gpu *gpu)
{
	struct tsr_check *check = &gpu->bench->check;

	pthread_mutex_lock(&check->lock);
	check->suspects = 0;
	pthread_mutex_unlock(&check->lock);
	for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++) {
		free(check->ring[i].word);
		memset(&check->ring[i], 0, sizeof(check->ring[i]));
	}
}

void tsr_check_init(struct tsr_gpu *gpu)
{
	pthread_mutex_init(&gpu->bench->check.lock, NULL);
}

void tsr_check_free(struct tsr_gpu *gpu)
{
	tsr_check_reset(gpu);
	for (unsigned int i = 0; i < TSR_CHECK_CHUNKS; i++)
		free(gpu->bench->check.chunk[i]);
	pthread_mutex_destroy(&gpu->bench->check.lock);
}

uint64_t tsr_gpu_check_reports(struct tsr_gpu *gpu, unsigned int *pending)
{
	uint64_t sum = 0;
	unsigned int left;

	if (!gpu->cfg.check) {
		*pending = 0;
		return 0;
	}
	pthread_mutex_lock(&gpu->lock);
	left = tsr_check_settle(gpu);
	pthread_mutex_unlock(&gpu->lock);
	for (unsigned int kind = 0; kind < TSR_CHECK_KINDS; kind++)
		sum += atomic_load_explicit(&gpu->bench->check.count[kind], memory_order_relaxed);
	*pending = left;
	return sum;
}

void tsr_gpu_check_last(struct tsr_gpu *gpu, char *text, size_t size)
{
	snprintf(text, size, "%s", "");
	if (!gpu->bench)
		return;
	pthread_mutex_lock(&gpu->bench->check.lock);
	snprintf(text, size, "%s", gpu->bench->check.text);
	pthread_mutex_unlock(&gpu->bench->check.lock);
}
