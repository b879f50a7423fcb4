// SPDX-License-Identifier: MIT
/* The machine of frame_machine.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame_machine.h"
#include "processor_time.h"

#define CYCLES 4000			/* of a step */
/* Limits of a bounded command: steps, and nanoseconds of processor time. */
#define STEPS 400
#define PATIENCE 300000000

void frame_machine_new(struct frame_machine *m, const struct tsr_config *config)
{
	static const uint8_t classes[] = { TSR_ENGINE_CLASS_BIN, TSR_ENGINE_CLASS_RENDER };

	*m = (struct frame_machine){ .b = bench_new(config) };
	bench_as_init(m->b, &m->as, 1);
	m->data = bench_buffer(&m->as, DRAWS_DATA, DRAWS_DATA_SIZE, BENCH_RW);
	m->list = bench_buffer(&m->as, DRAWS_LIST, DRAWS_LIST_SIZE, BENCH_RX);
	m->heap = bench_buffer(&m->as, DRAWS_HEAP, DRAWS_HEAP_SIZE, BENCH_RW);
	m->targets = bench_buffer(&m->as, DRAWS_TARGETS, DRAWS_TARGETS_SIZE, BENCH_RW);
	for (unsigned int i = 0; i < FRAME_QUEUES; i++)
		bench_queue_init(&m->queue[i], i, classes[i], TSR_PRIORITY_NORMAL, &m->as,
				 FRAME_RINGS + FRAME_RING_STEP * i, 12, &m->as);
}

void frame_machine_free(struct frame_machine *m)
{
	if (m->b)
		bench_free(m->b);
	m->b = NULL;
}

struct draws *frame_new(void)
{
	struct draws *d = aligned_alloc(64, (sizeof(*d) + 63) & ~(size_t)63);

	if (!d)
		abort();
	return d;
}

static void make(struct draws *d, const struct fuzz_random *r, unsigned int most, uint32_t left_out)
{
	memset(d, 0, sizeof(*d));
	d->seed = r->state;
	d->choices = r->choices;
	d->choices_size = r->left;
	d->most = most;
	d->left_out = left_out;
	draws_make(d);
}

void frame_make(struct draws *d, uint64_t seed, unsigned int most, uint32_t left_out)
{
	const struct fuzz_random none = { seed, NULL, 0 };

	make(d, &none, most, left_out);
}

struct draws *frame_of_input(const uint8_t *data, size_t size)
{
	static struct draws *d;
	struct fuzz_random r;

	if (size < 5)
		return NULL;
	if (!d)
		d = frame_new();
	r = fuzz_random(data + 4, size - 4);
	make(d, &r, 1 + data[1] % DRAWS_MAX, data[2] | data[3] << 8);
	return d;
}

static void fill_targets(struct frame_machine *m, const struct draws *d)
{
	uint64_t *word = (uint64_t *)(void *)m->targets, state = d->seed | 1;

	for (uint32_t i = 0; i < d->target_bytes / 8 + 1; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		word[i] = state >> 7 & 0xbfffbfffbfffbfffull;
	}
	for (uint32_t i = 0; i < d->tags; i++)
		m->targets[DRAWS_TARGETS_SIZE - 1 - i] = (state >> (i & 31)) % 5;
}

void frame_put(struct frame_machine *m, const struct draws *d)
{
	memcpy(m->data, d->data, DRAWS_DATA_SIZE);
	memcpy(m->list, d->list, DRAWS_LIST_SIZE);
	/* The stages do not write all outputs. */
	memset(m->heap, 0, DRAWS_HEAP_SIZE);
	fill_targets(m, d);
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool at_rest(struct bench_queue *q)
{
	enum tsr_queue_state state = bench_state(q);

	return state == TSR_QUEUE_STATE_IDLE || state == TSR_QUEUE_STATE_FAULTED;
}

static void reset(struct bench_queue *q)
{
	bench_control(q, TSR_QUEUE_OP_RESET);
	if (q->bench->config.threads)
		bench_run(q->bench, 10);
	q->wptr = 0;
	bench_enable(q, 0);
}

static void check_fault(struct bench_queue *q)
{
	uint32_t fault = bench_queue_reg(q, TSR_QUEUE_FAULT__OFFSET);

	if (!bench_fault(q) || bench_queue_reg64(q, TSR_QUEUE_FAULT_PC__OFFSET) < 0x1000 ||
	    !bench_field(fault, TSR_QUEUE_FAULT_UNIT__MASK)) {
		fprintf(stderr, "fault 0x%x at 0x%llx\n", fault, (unsigned long long)
			bench_queue_reg64(q, TSR_QUEUE_FAULT_PC__OFFSET));
		abort();
	}
}

void frame_emit(struct bench_queue *q, uint32_t offset, bool render)
{
	const struct tsr_barrier fresh = { .inv_read = true, .inv_code = true };
	uint64_t word[TSR_BARRIER_QWORDS];

	tsr_pack_barrier(word, &fresh);
	bench_emit(q, word, TSR_BARRIER_QWORDS);
	bench_call(q, DRAWS_LIST + offset, 8 * (render ? TSR_RENDER_QWORDS : TSR_BIN_QWORDS));
}

static void run_here(struct frame_machine *m, struct bench_queue *q, bool bounded)
{
	uint64_t end = processor_time() + PATIENCE;
	unsigned int steps = !bounded ? 1000 * STEPS : m->cycles ? m->slices : STEPS;
	unsigned int cycles = m->cycles ? m->cycles : CYCLES;

	for (unsigned int i = 0; !at_rest(q) && i < steps; i++) {
		if (!tsr_gpu_run(m->b->gpu, cycles))
			bench_answer(m->b);
		if (bounded && processor_time() > end)
			break;
	}
}

/* Abort if a byte of system memory changed since the last kick without a dirty report. */
static void check_reports(struct frame_machine *m, unsigned int which)
{
	const struct bench *b = m->b;

	if (!b->reported || !memcmp(b->reported, b->ram, b->next - BENCH_RAM_BASE))
		return;
	for (uint64_t i = 0; i < b->next - BENCH_RAM_BASE; i++) {
		if (b->reported[i] == b->ram[i])
			continue;
		fprintf(stderr, "bus address 0x%llx changed from %02x to %02x without a dirty "
			"report, queue %u\n", BENCH_RAM_BASE + (unsigned long long)i,
			b->reported[i], b->ram[i], which);
		break;
	}
	fprintf(stderr, "offsets: data 0x%lx, list 0x%lx, heap 0x%lx, targets 0x%lx\n",
		(long)(m->data - b->ram), (long)(m->list - b->ram), (long)(m->heap - b->ram),
		(long)(m->targets - b->ram));
	abort();
}

enum frame_end frame_run(struct frame_machine *m, unsigned int which, uint32_t offset, bool bounded)
{
	struct bench_queue *q = &m->queue[which];
	enum frame_end end = FRAME_RESET;

	frame_emit(q, offset, which == FRAME_RENDER);
	if (m->b->reported)
		memcpy(m->b->reported, m->b->ram, m->b->next - BENCH_RAM_BASE);
	bench_kick(q);
	if (m->b->config.threads)
		bench_run(m->b, 8);
	else
		run_here(m, q, bounded);
	if (bench_state(q) == TSR_QUEUE_STATE_IDLE) {
		check_reports(m, which);
		return FRAME_DONE;
	}
	if (bench_state(q) == TSR_QUEUE_STATE_FAULTED) {
		m->last_fault = bench_fault(q);
		check_fault(q);
		end = FRAME_FAULTED;
	} else if (!bounded) {
		fprintf(stderr, "a frame that should end does not\n");
		abort();
	}
	reset(q);
	check_reports(m, which);
	return end;
}

bool frame_draw(struct frame_machine *m, const struct draws *d)
{
	frame_put(m, d);
	if (frame_run(m, FRAME_BIN, DRAWS_BIN, false) ||
	    frame_run(m, FRAME_RENDER, DRAWS_RENDER, false))
		return false;
	return !d->tagged || !frame_run(m, FRAME_RENDER, DRAWS_EXPAND, false);
}

/* ---- Changes --------------------------------------------------------------------------------- */

const struct frame_place frame_places[FRAME_PLACES] = {
	{ FRAME_IN_LIST, DRAWS_FRAME, 56 },
	{ FRAME_IN_LIST, DRAWS_TARGET, 640 },
	{ FRAME_IN_LIST, DRAWS_BIN, 32 },
	{ FRAME_IN_LIST, DRAWS_RENDER, 32 },
	{ FRAME_IN_LIST, DRAWS_BIN_LIST, 0x200 },
	{ FRAME_IN_LIST, DRAWS_TILE_LIST, 64 },
	{ FRAME_IN_LIST, DRAWS_RENDER_LIST, 64 },
	{ FRAME_IN_LIST, DRAWS_STATES, 0x400 * DRAWS_STATES_MAX },
	{ FRAME_IN_LIST, DRAWS_STATES, 64 },
	{ FRAME_IN_LIST, DRAWS_PROGRAMS, 128 * DRAWS_PROGRAMS_MAX },
	{ FRAME_IN_LIST, DRAWS_TABLES, 0x400 * 8 },
	{ FRAME_IN_LIST, DRAWS_TEXTURES, 0x180 },
	{ FRAME_IN_LIST, DRAWS_SURFACES, 0x100 },
	{ FRAME_IN_LIST, DRAWS_CODE, 0x8000 },
	{ FRAME_IN_DATA, DRAWS_INDICES, 0x400 },
	{ FRAME_IN_DATA, DRAWS_ARGUMENTS, 0x200 },
	{ FRAME_IN_DATA, DRAWS_VERTICES, DRAWS_VERTICES_SIZE },
	{ FRAME_IN_HEAP, 0, 0x400 },
	{ FRAME_IN_HEAP, 0, 0x4000 },
	{ FRAME_IN_HEAP, 0, 0x20000 },
	{ FRAME_IN_TARGETS, DRAWS_TARGETS_SIZE - 4096, 4096 },	/* tags */
};

static const uint64_t edges[] = {
	0, 1, 3, 63, 64, 255, 4095, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
	0x7fffffffffff, 0xffffffffffffffff, DRAWS_DATA, DRAWS_LIST, DRAWS_HEAP, DRAWS_TARGETS,
	DRAWS_TARGETS + DRAWS_TARGETS_SIZE - 64, DRAWS_LIST + DRAWS_CODE,
};

void frame_change(struct fuzz_random *r, uint8_t *at, uint32_t size)
{
	uint32_t i = fuzz_below(r, size);
	uint64_t edge = edges[fuzz_below(r, sizeof(edges) / sizeof(edges[0]))];

	switch (fuzz_below(r, 5)) {
	case 0:
		at[i] ^= 1u << fuzz_below(r, 8);
		break;
	case 1:
		at[i] = (uint8_t)fuzz_next(r);
		break;
	case 2:
		if (size >= 8)
			memcpy(at + i % (size / 8) * 8, &edge, 8);
		break;
	case 3:
		if (size >= 4)
			memcpy(at + i % (size / 4) * 4, &edge, 4);
		break;
	default:
		if (size >= 8)
			memmove(at + i % (size / 8) * 8, at + fuzz_below(r, size / 8) * 8, 8);
	}
}

void frame_change_inputs(struct fuzz_random *r, struct draws *d, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct frame_place *place = &frame_places[fuzz_below(r, FRAME_INPUTS)];
		uint8_t *memory = place->memory == FRAME_IN_DATA ? d->data : d->list;

		frame_change(r, memory + place->offset, place->size);
	}
}
