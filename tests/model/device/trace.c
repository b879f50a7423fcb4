/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Trace events say what happened to whom: each with the arguments that tsr_trace.h names, in the
 * order in which it happened.
 */
#include <string.h>

#include "ktap.h"
#include "stage.h"

#define FENCE 0x8000

struct play {
	struct stage s;
	struct bench_queue q;
	uint64_t first;			/* event that is looked at next */
};

static const struct tsr_config slow = {
	.no_inline = true, .check = true, .inject_window = true,
};

static void begin(struct play *y)
{
	memset(y, 0, sizeof(*y));
	stage_init(&y->s, &slow);
	stage_queue(&y->s, &y->q, 3, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	y->first = y->s.b->trace_count;
}

/* The next event of a kind; NULL: there is none. */
static const struct bench_event *next(struct play *y, enum tsr_trace what)
{
	const struct bench *b = y->s.b;

	ktap_ok(b->trace_count - y->first <= BENCH_EVENTS_MAX);
	while (y->first < b->trace_count) {
		const struct bench_event *e = &b->traced[y->first++ % BENCH_EVENTS_MAX];

		if (e->what == what)
			return e;
	}
	return NULL;
}

/* The next event of a kind has these arguments. */
static void event(struct play *y, enum tsr_trace what, unsigned int args, uint64_t a, uint64_t b,
		  uint64_t c, uint64_t d)
{
	const uint64_t want[4] = { a, b, c, d };
	const struct bench_event *e = next(y, what);

	if (!ktap_ok(e)) {
		ktap_note("no event %u", what);
		return;
	}
	ktap_eq(e->args, args);
	for (unsigned int i = 0; i < args; i++) {
		if (!ktap_eq(e->arg[i], want[i]))
			ktap_note("argument %u of event %u", i, what);
	}
}

static void go(struct play *y)
{
	bench_kick(&y->q);
	ktap_ok(bench_run(y->s.b, 10));
}

/* A job: its doorbell, the slot's states, its packets, what they write, its interrupt. */
static void job(void)
{
	const struct bench_event *slice;
	struct stage_stream stream;
	uint64_t p[8], ring;
	struct play y;

	begin(&y);
	ring = y.q.ring_va;
	stream = stage_stream(&y.s, 0);
	stage_add(&stream, p, pk_fill(p, STAGE_DATA, 64, 1));
	stage_call(&y.q, &stream);
	bench_fence(&y.q, STAGE_DATA + FENCE, 77, TSR_EVENT_ALL_DONE, true);
	go(&y);
	event(&y, TSR_TRACE_DOORBELL, 2, 3, y.q.wptr, 0, 0);
	event(&y, TSR_TRACE_STATE, 3, 3, TSR_QUEUE_STATE_IDLE, TSR_QUEUE_STATE_READY, 0);
	event(&y, TSR_TRACE_STATE, 3, 3, TSR_QUEUE_STATE_READY, TSR_QUEUE_STATE_RUNNING, 0);
	event(&y, TSR_TRACE_SLICE_BEGIN, 3, 3, TSR_ENGINE_CLASS_COPY, 0, 0);
	event(&y, TSR_TRACE_PACKET, 4, 3, ring, *(uint64_t *)bench_ptr(y.s.b, y.q.ring_bus, 8), 0);
	event(&y, TSR_TRACE_PACKET, 4, 3, STAGE_STREAM, *(uint64_t *)y.s.streams, 1);
	event(&y, TSR_TRACE_COMMAND_DONE, 3, 3, STAGE_STREAM, *(uint64_t *)y.s.streams, 0);
	event(&y, TSR_TRACE_INTERRUPT, 2, TSR_IRQ_CLASS_JOB, 1 << 3, 0, 0);
	event(&y, TSR_TRACE_EVENT, 4, 3, TSR_OP_FENCE, STAGE_DATA + FENCE, 77);
	slice = next(&y, TSR_TRACE_SLICE_END);
	ktap_ok(slice && slice->arg[0] == 3 &&
		slice->arg[2] == bench_queue_reg64(&y.q, TSR_QUEUE_CYCLES__OFFSET));
	event(&y, TSR_TRACE_STATE, 3, 3, TSR_QUEUE_STATE_RUNNING, TSR_QUEUE_STATE_IDLE, 0);
	stage_free(&y.s);
}

/* A fault: code, address, packet. */
static void fault(void)
{
	struct stage_stream stream;
	struct play y;
	uint64_t p[8];

	begin(&y);
	stream = stage_stream(&y.s, 64);
	stage_add(&stream, p, pk_nop(p, 1));
	stage_add(&stream, p, pk_fill(p, 0x7000000, 64, 1));
	stage_call(&y.q, &stream);
	go(&y);
	event(&y, TSR_TRACE_FAULT, 4, 3, TSR_FAULT_MMU_UNMAPPED, 0x7000000, STAGE_STREAM + 72);
	event(&y, TSR_TRACE_INTERRUPT, 2, TSR_IRQ_CLASS_FAULT, 1 << 3, 0, 0);
	stage_free(&y.s);
}

/* Records that are no jobs: an invalidation, a reset, the watchdog, an injected fault, a report. */
static void others(void)
{
	struct play y;
	char err[64];

	begin(&y);
	bench_invalidate(&y.s.as[1], STAGE_DATA + 0x3000, 0x2000);
	event(&y, TSR_TRACE_INVALIDATE, 4, 1, TSR_INV_OP_RANGE, STAGE_DATA + 0x3000, 0x2000);
	bench_write(y.s.b, TSR_REG_DOORBELL_RING(5), 16);
	event(&y, TSR_TRACE_CHECK, 4, TSR_CHECK_KIND_DOORBELL_DISABLED, 5, 0, 0);
	ktap_ok(tsr_gpu_inject(y.s.b->gpu, "doorbell-lost queue=3", err, sizeof(err)));
	bench_fence(&y.q, STAGE_DATA + FENCE, 1, TSR_EVENT_ALL_DONE, false);
	bench_kick(&y.q);
	event(&y, TSR_TRACE_INJECT, 4, TSR_INJECTION_DOORBELL_LOST, 0, 3, 0);
	bench_write(y.s.b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	event(&y, TSR_TRACE_RESET, 1, 1, 0, 0, 0);
	stage_free(&y.s);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS9] what a job goes through", job);
	ktap_run("[SYS9] a fault", fault);
	ktap_run("[SYS9] what is no job", others);
	return ktap_finish();
}
