/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Software may overwrite what BIN has copied of a draw's states before RENDER. States, programs and
 * tables of random frames (draws.h) are filled with ones between the two, and the targets are those
 * of a device that was left alone. Frames with changes fault likewise, and the fault names the
 * address that software knows.
 */
#include <stdlib.h>
#include <string.h>

#include "device/gpu.h"
#include "frame_machine.h"
#include "ktap.h"

/* Everything in DRAWS_LIST that BIN copies, textures and samplers included. */
#define COPIED DRAWS_STATES
#define COPIED_BYTES (DRAWS_SURFACES - DRAWS_STATES)

struct outcome {
	enum frame_end end;
	uint32_t fault;			/* QUEUE_FAULT, if it has faulted */
	uint64_t addr;
};

static struct frame_machine *start(void)
{
	const struct tsr_config config = { .cores = 1 };
	struct frame_machine *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	frame_machine_new(m, &config);
	return m;
}

static void stop(struct frame_machine *m)
{
	frame_machine_free(m);
	free(m);
}

/* Run the command at @offset on @q to its end; @fresh: after a BARRIER, as it should be. */
static struct outcome run(struct frame_machine *m, unsigned int which, bool fresh)
{
	const uint32_t offset = which == FRAME_RENDER ? DRAWS_RENDER : DRAWS_BIN;
	const unsigned int qwords = which == FRAME_RENDER ? TSR_RENDER_QWORDS : TSR_BIN_QWORDS;
	struct bench_queue *q = &m->queue[which];
	struct outcome o = { .end = FRAME_RESET };

	if (fresh)
		frame_emit(q, offset, which == FRAME_RENDER);
	else
		bench_call(q, DRAWS_LIST + offset, 8 * qwords);
	bench_kick(q);
	for (unsigned int i = 0; i < 2000 && o.end == FRAME_RESET; i++) {
		if (!tsr_gpu_run(m->b->gpu, 4000))
			bench_answer(m->b);
		if (bench_state(q) == TSR_QUEUE_STATE_IDLE)
			o.end = FRAME_DONE;
		if (bench_state(q) == TSR_QUEUE_STATE_FAULTED)
			o.end = FRAME_FAULTED;
	}
	if (o.end == FRAME_DONE)
		return o;
	o.fault = bench_queue_reg(q, TSR_QUEUE_FAULT__OFFSET);
	o.addr = bench_queue_reg64(q, TSR_QUEUE_FAULT_ADDR__OFFSET);
	bench_control(q, TSR_QUEUE_OP_RESET);
	q->wptr = 0;
	bench_enable(q, 0);
	return o;
}

/* Bin and render @d. @overwrite: states are overwritten in between. */
static struct outcome draw(struct frame_machine *m, const struct draws *d, bool overwrite)
{
	struct outcome o;

	frame_put(m, d);
	o = run(m, FRAME_BIN, true);
	if (o.end != FRAME_DONE)
		return o;
	if (overwrite)
		memset(m->list + COPIED, 0xff, COPIED_BYTES);
	return run(m, FRAME_RENDER, true);
}

static void compare(const struct draws *d, struct frame_machine *a, struct frame_machine *b,
		    unsigned int *count)
{
	const struct outcome want = draw(a, d, false), got = draw(b, d, true);

	ktap_eq(got.end, want.end);
	ktap_eq(got.fault, want.fault);
	ktap_eq(got.addr, want.addr);
	ktap_ok(want.end != FRAME_FAULTED || got.addr - DRAWS_HEAP >= DRAWS_HEAP_SIZE);
	count[want.end]++;
	if (want.end != FRAME_DONE || got.end != FRAME_DONE)
		return;
	ktap_ok(!memcmp(a->data, b->data, DRAWS_TEXELS));
	ktap_ok(!memcmp(a->targets, b->targets, d->target_bytes));
}

static void overwritten(void)
{
	const unsigned int frames = getenv("TSR_QUICK") ? 40 : 300;
	struct frame_machine *a = start(), *b = start();
	struct draws *d = frame_new();
	unsigned int count[3] = { 0 };

	for (unsigned int n = 0; n < frames; n++) {
		frame_make(d, n, DRAWS_MAX, DRAWS_NO_TAGS);
		compare(d, a, b, count);
	}
	ktap_note("%u frames are done, %u fault", count[FRAME_DONE], count[FRAME_FAULTED]);
	ktap_ok(count[FRAME_DONE] > frames / 2);
	free(d);
	stop(a);
	stop(b);
}

/* States, programs, tables or textures have changes. */
static void changed(void)
{
	static const struct { uint32_t offset, size; } places[] = {
		{ DRAWS_STATES, 0x40 }, { DRAWS_STATES, 0x400 }, { DRAWS_PROGRAMS, 0x80 * 3 },
		{ DRAWS_TABLES, 0x400 * 3 }, { DRAWS_TEXTURES, 0x180 },
	};
	const unsigned int frames = getenv("TSR_QUICK") ? 150 : 1000;
	struct frame_machine *a = start(), *b = start();
	struct draws *d = frame_new();
	unsigned int count[3] = { 0 };

	for (unsigned int n = 0; n < frames; n++) {
		struct fuzz_random r = { n + 1, NULL, 0 };
		unsigned int p = n % (sizeof(places) / sizeof(places[0]));

		/* a program that is changed can be one without an end, in this test it is not */
		frame_make(d, 1000 + n, 2, DRAWS_NO_TAGS | DRAWS_NO_FLOW);
		for (unsigned int i = 0; i < 2; i++)
			frame_change(&r, d->list + places[p].offset, places[p].size);
		compare(d, a, b, count);
	}
	ktap_note("%u frames are done, %u fault", count[FRAME_DONE], count[FRAME_FAULTED]);
	ktap_ok(count[FRAME_DONE] > frames / 4);
	ktap_ok(count[FRAME_FAULTED] > frames / 10);
	free(d);
	stop(a);
	stop(b);
}

static void exchange(uint8_t *a, uint8_t *b, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++) {
		uint8_t byte = a[i];

		a[i] = b[i];
		b[i] = byte;
	}
}

/* Textures change places, and samplers. */
static void exchange_textures(uint8_t *list)
{
	exchange(list + DRAWS_TEXTURES, list + DRAWS_TEXTURES + 32, 32);
	exchange(list + DRAWS_SAMPLERS, list + DRAWS_SAMPLERS + 32, 32);
}

/* True if it shows in what @a draws of @d that textures have changed places; *@first: before. */
static bool shows_textures(struct frame_machine *a, struct draws *d, uint8_t *first)
{
	bool done = draw(a, d, false).end == FRAME_DONE;

	memcpy(first, a->targets, d->target_bytes);
	exchange_textures(d->list);
	done = done && draw(a, d, false).end == FRAME_DONE;
	exchange_textures(d->list);
	return done && memcmp(first, a->targets, d->target_bytes);
}

/*
 * Two heaps of one frame, binned before and after textures changed places, rendered one after the
 * other. BARRIER.INV_READ was before the second BIN, so none is between the two RENDERs.
 */
static void render_both(struct frame_machine *b, const struct draws *d, const uint8_t *first,
			const uint8_t *second)
{
	static uint8_t heap[2][DRAWS_HEAP_SIZE];

	frame_put(b, d);
	for (unsigned int i = 0; i < 2; i++) {
		ktap_eq(run(b, FRAME_BIN, true).end, FRAME_DONE);
		memcpy(heap[i], b->heap, DRAWS_HEAP_SIZE);
		exchange_textures(b->list);
		memset(b->heap, 0, DRAWS_HEAP_SIZE);
	}
	memcpy(b->heap, heap[0], DRAWS_HEAP_SIZE);
	ktap_eq(run(b, FRAME_RENDER, true).end, FRAME_DONE);
	ktap_ok(!memcmp(b->targets, first, d->target_bytes));
	frame_put(b, d);
	memcpy(b->heap, heap[1], DRAWS_HEAP_SIZE);
	ktap_eq(run(b, FRAME_RENDER, false).end, FRAME_DONE);
	ktap_ok(!memcmp(b->targets, second, d->target_bytes));
}

static void both_rendered(void)
{
	const unsigned int wanted = getenv("TSR_QUICK") ? 5 : 20;
	struct frame_machine *a = start(), *b = start();
	uint8_t *first = malloc(DRAWS_TARGETS_SIZE);
	struct draws *d = frame_new();
	unsigned int shown = 0, n;

	if (!first)
		abort();
	for (n = 0; shown < wanted && n < 4000; n++) {
		frame_make(d, 5000 + n, 3, DRAWS_NO_TAGS | DRAWS_NO_STORES | DRAWS_NO_LAYERS);
		if (!shows_textures(a, d, first))
			continue;
		shown++;
		render_both(b, d, first, a->targets);
	}
	ktap_note("%u of %u frames show their textures", shown, n);
	ktap_eq(shown, wanted);
	free(first);
	free(d);
	stop(a);
	stop(b);
}

int main(void)
{
	ktap_start();
	ktap_run("[CP4] states that are overwritten once BIN has consumed them", overwritten);
	ktap_run("[CP4] faults name what software knows, whatever it has done to it", changed);
	ktap_run("[CP4] textures that change between two frames, each of which has its own",
		 both_rendered);
	return ktap_finish();
}
