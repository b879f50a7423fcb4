// SPDX-License-Identifier: MIT
/*
 * Guest memory that changes while the device reads it.
 *
 * A device with worker threads bins and renders a frame again and again on four queues. Meanwhile a
 * second thread changes lists, states, code, tables, the heap and tags as fast as it can, and
 * restores most of them. Pauses, invalidations and resets of the device happen in between. A value
 * that the device reads twice may differ the second time: no check on the first read may be relied
 * upon. Each queue must end by itself or by RESET, and RESET must always work.
 *
 * All bytes of the input seed the choices. The interleaving of the threads is not reproducible, so
 * an input that fails may have to be repeated.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frame_machine.h"
#include "ktap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_summary(void);

#define QUEUES 4
#define ROUNDS 8
#define SETTLE_MS 40			/* time of a command before it is reset */
#define RESET_MS 5000			/* limit of a reset */

static const uint8_t classes[QUEUES] = {
	TSR_ENGINE_CLASS_BIN, TSR_ENGINE_CLASS_RENDER, TSR_ENGINE_CLASS_BIN,
	TSR_ENGINE_CLASS_RENDER,
};

static struct frame_machine m;
static struct bench_queue queues[QUEUES];
static unsigned int rings;		/* rings that were made since the machine */
static struct draws *d;
static unsigned long commands, faulted, resets, device_resets;
static atomic_ulong changes;

/* Orders for the thread that changes memory. */
static atomic_bool stop;
static uint64_t mutator_seed;

void fuzz_summary(void)
{
	ktap_note("%lu commands, %lu faulted, %lu reset, %lu resets of the device, %lu changes",
		  commands, faulted, resets, device_resets, atomic_load(&changes));
}

__attribute__((noreturn))
static void fail(const char *what)
{
	fprintf(stderr, "changing_memory: %s\n", what);
	abort();
}

/* ---- The thread that changes memory ---------------------------------------------------------- */

static void wait_a_little(unsigned int steps)
{
	while (steps--)
		atomic_signal_fence(memory_order_seq_cst);
}

/* Return the memory of @place in the machine, and its sound contents in @sound or NULL. */
static uint8_t *find(const struct frame_place *place, const uint8_t **sound)
{
	*sound = NULL;
	switch (place->memory) {
	case FRAME_IN_LIST:
		*sound = d->list + place->offset;
		return m.list + place->offset;
	case FRAME_IN_DATA:
		*sound = d->data + place->offset;
		return m.data + place->offset;
	case FRAME_IN_HEAP:
		return m.heap + place->offset;
	default:
		return m.targets + place->offset;
	}
}

static void *change_memory(void *unused)
{
	struct fuzz_random r = { .state = mutator_seed | 1 };
	unsigned int focus = fuzz_below(&r, FRAME_PLACES);

	(void)unused;
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		unsigned int n = fuzz_often(&r, 200) ? focus : fuzz_below(&r, FRAME_PLACES);
		uint32_t at = fuzz_below(&r, frame_places[n].size / 8) * 8;
		const uint8_t *sound;
		uint8_t *place = find(&frame_places[n], &sound);
		uint64_t old;

		if (fuzz_often(&r, 1))
			focus = fuzz_below(&r, FRAME_PLACES);
		memcpy(&old, place + at, sizeof(old));
		frame_change(&r, place + at, sizeof(old));
		atomic_fetch_add_explicit(&changes, 1, memory_order_relaxed);
		wait_a_little(fuzz_below(&r, 2000));
		if (sound)
			memcpy(place + at, sound + at, sizeof(old));
		else if (fuzz_often(&r, 128))
			memcpy(place + at, &old, sizeof(old));
		wait_a_little(fuzz_below(&r, 1000));
	}
	return NULL;
}

/* ---- The driver ------------------------------------------------------------------------------ */

static void make_queues(void)
{
	for (unsigned int i = 0; i < QUEUES; i++)
		bench_queue_init(&queues[i], i, classes[i], TSR_PRIORITY_NORMAL, &m.as,
				 FRAME_RINGS + FRAME_RING_STEP * rings++, 12, &m.as);
}

static void start(unsigned int n, uint32_t offset)
{
	frame_emit(&queues[n], offset, classes[n] == TSR_ENGINE_CLASS_RENDER);
	bench_kick(&queues[n]);
	commands++;
}

static bool at_rest(struct bench_queue *q)
{
	enum tsr_queue_state state = bench_state(q);

	return state == TSR_QUEUE_STATE_IDLE || state == TSR_QUEUE_STATE_FAULTED;
}

/* Wait for a queue; reset it if it faults or takes too long. */
static void settle(unsigned int n)
{
	struct bench_queue *q = &queues[n];

	for (unsigned int i = 0; i < SETTLE_MS * 5 && !at_rest(q); i++) {
		usleep(200);
		bench_answer(m.b);
	}
	if (bench_state(q) == TSR_QUEUE_STATE_IDLE)
		return;
	if (bench_state(q) == TSR_QUEUE_STATE_FAULTED)
		faulted++;
	else
		resets++;
	bench_control(q, TSR_QUEUE_OP_RESET);
	for (unsigned int i = 0; bench_state(q) != TSR_QUEUE_STATE_DISABLED; i++) {
		if (i == RESET_MS * 2)
			fail("RESET does not end a queue");
		usleep(500);
		bench_answer(m.b);
	}
	q->wptr = 0;
	bench_enable(q, 0);
}

static void reset_device(void)
{
	device_resets++;
	bench_write(m.b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	for (unsigned int i = 0;
	     bench_read(m.b, TSR_REG_GPU_STATUS) & TSR_GPU_STATUS_RESET_BUSY__MASK; i++) {
		if (i == RESET_MS * 2)
			fail("the device's RESET does not end");
		usleep(500);
	}
	bench_write64(m.b, TSR_REG_AS_BASE(1), m.as.root | TSR_AS_BASE_VALID__MASK);
	bench_invalidate_all(&m.as);
	make_queues();
}

/* Change something while the commands of a round run. */
static void disturb(struct fuzz_random *r)
{
	switch (fuzz_below(r, 8)) {
	case 0:
		usleep(300);
		tsr_gpu_pause(m.b->gpu);
		tsr_gpu_drain(m.b->gpu);
		tsr_gpu_save(m.b->gpu, NULL, 0);
		tsr_gpu_resume(m.b->gpu);
		break;
	case 1:
		usleep(200);
		tsr_gpu_host_invalidate(m.b->gpu, 0, UINT64_MAX);
		break;
	case 2:
		usleep(fuzz_below(r, 2000));
		reset_device();
		break;
	default:
		break;
	}
}

static void round_of_commands(struct fuzz_random *r)
{
	unsigned int which = 1 + fuzz_below(r, (1 << QUEUES) - 1);

	if (which & 1)
		start(0, DRAWS_BIN);
	if (which & 4)
		start(2, DRAWS_BIN);
	if (which & 2)
		start(1, DRAWS_RENDER);
	if (which & 8)
		start(3, d->tagged ? DRAWS_EXPAND : DRAWS_RENDER);
	disturb(r);
	for (unsigned int i = 0; i < QUEUES; i++)
		settle(i);
	if (fuzz_often(r, 60)) {
		memcpy(m.data, d->data, DRAWS_DATA_SIZE);
		memcpy(m.list, d->list, DRAWS_LIST_SIZE);
	}
}

static void make_machine(struct fuzz_random *r)
{
	static const char *const simd[] = { NULL, NULL, "avx2", "sse2" };
	const struct tsr_config config = {
		.threads = 2 + fuzz_below(r, 2), .cores = 1 + fuzz_below(r, 4),
		.jit = fuzz_often(r, 200) ? TSR_JIT_USE_FIRST : TSR_JIT_USE_OFF,
		.late_messages = fuzz_below(r, 2), .simd = simd[fuzz_below(r, 4)],
		.no_texture_cache = fuzz_often(r, 40), .engines = { 2, 2, 1, 1 },
	};

	frame_make(d, fuzz_next(r), 1 + fuzz_below(r, DRAWS_MAX),
		   fuzz_often(r, 128) ? 0 : (uint32_t)fuzz_next(r) & 0xffff);
	frame_machine_new(&m, &config);
	/* The queues of this target replace those of the machine. */
	for (unsigned int i = 0; i < FRAME_QUEUES; i++)
		bench_control(&m.queue[i], TSR_QUEUE_OP_RESET);
	rings = FRAME_QUEUES;
	make_queues();
	if (fuzz_often(r, 60))
		m.b->pending_every = 3 + fuzz_below(r, 20);
	frame_put(&m, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_random r = fuzz_random(data, size);
	pthread_t mutator;

	if (!d)
		d = frame_new();
	make_machine(&r);
	start(0, DRAWS_BIN);
	settle(0);
	atomic_store(&stop, false);
	mutator_seed = fuzz_next(&r);
	if (pthread_create(&mutator, NULL, change_memory, NULL))
		fail("no second thread");
	for (unsigned int i = 0; i < ROUNDS; i++)
		round_of_commands(&r);
	atomic_store(&stop, true);
	pthread_join(mutator, NULL);
	frame_machine_free(&m);
	return 0;
}
