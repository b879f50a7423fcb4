/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Which states of a device are refused when they come out of a snapshot: each rule at its limit,
 * and one beyond. The states are written into a device that is saved, so nothing here knows how a
 * snapshot looks.
 */
#include <stdlib.h>
#include <string.h>

#include "device/gpu.h"
#include "ktap.h"
#include "reload.h"
#include "stage.h"

/* A device with two COPY queues: 0 is enabled and idle, 1 as it was. */
struct device {
	struct stage s;
	struct bench_queue q;
};

static void begin_with(struct device *d, const struct tsr_config *config)
{
	stage_init(&d->s, config);
	stage_queue(&d->s, &d->q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	tsr_gpu_pause(d->s.b->gpu);
}

static void begin(struct device *d)
{
	static const struct tsr_config config = { .queues = 2, .engines = { 1, 0, 1, 1 } };

	begin_with(d, &config);
}

/* Check that the device is refused because of @why, or taken if that is NULL. */
static bool expect(struct device *d, const char *why)
{
	return reload_expect(d->s.b->gpu, why);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* A field of queue 0 with what it may be, and what it may not. */
struct field {
	size_t offset, size;
	uint64_t good, bad;
	const char *why;
};

#define FIELD(name, good, bad, why) \
	{ offsetof(struct tsr_queue, name), sizeof(((struct tsr_queue *)0)->name), good, bad, why }
#define RECORD(name) \
	FIELD(name.depth, TSR_NESTING_MAX, TSR_NESTING_MAX + 1, "record"), \
	FIELD(name.level, TSR_LEVELS_MAX, TSR_LEVELS_MAX + 1, "record"), \
	FIELD(name.access, TSR_ACCESS_EXEC, TSR_ACCESS_EXEC + 1, "record"), \
	FIELD(name.unit, TSR_UNIT_TILE, TSR_UNIT_TILE + 1, "record"), \
	FIELD(name.as, TSR_ADDRESS_SPACES_MAX - 1, TSR_ADDRESS_SPACES_MAX, "record"), \
	FIELD(name.rptr, 8, 4, "record")

static const struct field fields[] = {
	RECORD(fault),
	RECORD(exec.fault),
	FIELD(rptr, 0, 4, "pointer"),
	FIELD(wptr, 8, 12, "pointer"),
	FIELD(config, 12 | TSR_ENGINE_CLASS_COPY << TSR_QUEUE_CONFIG_CLASS__SHIFT,
	      1u << 31, "a queue's configuration"),
	FIELD(address_spaces, 1 << TSR_QUEUE_ADDRESS_SPACES_USER_AS__SHIFT, 1u << 31,
	      "a queue's configuration"),
	FIELD(exec.phase, TSR_CP_DRAIN, TSR_CP__PHASES, "processor"),
	FIELD(exec.prefetch.len, TSR_PREFETCH_BYTES, TSR_PREFETCH_BYTES + 1, "prefetch"),
	FIELD(exec.fifo.first, TSR_FIFO_DEPTH - 1, TSR_FIFO_DEPTH, "fill"),
	FIELD(exec.fifo.count, 0, TSR_FIFO_DEPTH + 1, "fill"),
	FIELD(exec.fifo.count, 0, 1, "a command in a FIFO"),
	FIELD(exec.fifo.state.word[0], 0, 1, "how far a command is"),
	FIELD(exec.fifo.state.word[3], 0, 1ull << 63, "how far a command is"),
	FIELD(heap.base, 3ull * TSR_HEAP_ALIGN, TSR_HEAP_ALIGN + 1, "heap"),
	FIELD(state, TSR_QUEUE_STATE_IDLE, TSR_QUEUE_STATE_RUNNING, "a queue's state"),
	FIELD(state, TSR_QUEUE_STATE_READY, 200, "a queue's state"),
};

static void test_fields(void)
{
	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *f = &fields[i];

		for (unsigned int bad = 0; bad < 2; bad++) {
			struct device d;

			begin(&d);
			memcpy((uint8_t *)&d.s.b->gpu->queue[0] + f->offset,
			       bad ? &f->bad : &f->good, f->size);
			if (!expect(&d, bad ? f->why : NULL))
				ktap_note("field %u, %s", i, bad ? "bad" : "good");
			stage_free(&d.s);
		}
	}
}

/* Streams open at once: as many as there may be, and one more, which no device could save. */
static void test_depth(void)
{
	uint8_t *image[2];
	char err[200] = "";
	struct device d;
	size_t size;

	begin(&d);
	size = tsr_gpu_save(d.s.b->gpu, NULL, 0);
	for (unsigned int i = 0; i < 2; i++) {
		image[i] = malloc(size);
		d.s.b->gpu->queue[0].exec.depth = TSR_NESTING_MAX - 1 + i;
		tsr_gpu_save(d.s.b->gpu, image[i], size);
		ktap_ok(tsr_gpu_load(d.s.b->gpu, image[i], size, err, sizeof(err)));
	}
	for (size_t at = 0; at < size; at++)
		image[1][at] += image[1][at] - image[0][at];
	ktap_ok(!tsr_gpu_load(d.s.b->gpu, image[1], size, err, sizeof(err)));
	if (!ktap_ok(strstr(err, "a command processor's state")))
		ktap_note("%s", err);
	free(image[0]);
	free(image[1]);
	stage_free(&d.s);
}

/* A heap has a size, and wants one, up to its maximum. */
static void test_heap(void)
{
	struct device d;

	begin(&d);
	d.s.b->gpu->queue[0].heap.max = 100;
	atomic_store(&d.s.b->gpu->queue[0].heap.size, 100);
	d.s.b->gpu->queue[0].heap.wanted = 100;
	expect(&d, NULL);
	atomic_store(&d.s.b->gpu->queue[0].heap.size, 101);
	expect(&d, "a queue's heap");
	stage_free(&d.s);
	begin(&d);
	d.s.b->gpu->queue[0].heap.max = 100;
	d.s.b->gpu->queue[0].heap.wanted = 101;
	expect(&d, "a queue's heap");
	stage_free(&d.s);
}

/* The device's own: address spaces, the scheduler. */
static void test_device(void)
{
	struct device d;

	begin(&d);
	d.s.b->gpu->sched.next_class = TSR_CLASSES - 1;
	expect(&d, NULL);
	d.s.b->gpu->sched.next_class = TSR_CLASSES;
	expect(&d, "the scheduler's state");
	stage_free(&d.s);
	begin(&d);
	d.s.b->gpu->sched.random = 0;
	expect(&d, "the scheduler's state");
	stage_free(&d.s);
	begin(&d);
	d.s.b->gpu->mmu.as[15].base = TSR_AS_BASE_ADDR__MASK | TSR_AS_BASE_VALID__MASK;
	expect(&d, NULL);
	d.s.b->gpu->mmu.as[15].base |= 1ull << 63;
	expect(&d, "an address space");
	stage_free(&d.s);
	begin(&d);
	atomic_store(&d.s.b->gpu->mmu.as[15].root, 1ull << 63);
	expect(&d, "an address space");
	stage_free(&d.s);
}

/* ---- Configuration --------------------------------------------------------------------------- */

static const uint32_t class_copy = TSR_ENGINE_CLASS_COPY << TSR_QUEUE_CONFIG_CLASS__SHIFT;

/* Registers with which no queue can be enabled. */
static void spoil(struct tsr_queue *q, unsigned int how)
{
	switch (how) {
	case 0:
		q->config = (TSR_RING_LOG2_MIN - 1) | class_copy;
		break;
	case 1:
		q->config = (TSR_RING_LOG2_MAX + 1) | class_copy;
		break;
	case 2:
		q->config = TSR_RING_LOG2_MIN |
			    TSR_ENGINE_CLASS_RENDER << TSR_QUEUE_CONFIG_CLASS__SHIFT;
		break;
	case 3:
		q->ring_base += 0x800;
		break;
	case 4:
		q->ring_base = (1ull << q->gpu->cfg.va_bits) - 0x1000;
		q->config = 13 | class_copy;
		break;
	default:
		q->ring_base = -0x1000ull;
	}
}

#define SPOILERS 6

/* An enabled queue must be one that could be enabled; others may have any configuration. */
static void test_enabled(void)
{
	static const uint8_t states[] = {
		TSR_QUEUE_STATE_DISABLED, TSR_QUEUE_STATE_FAULTED, TSR_QUEUE_STATE_IDLE,
		TSR_QUEUE_STATE_READY, TSR_QUEUE_STATE_BLOCKED, TSR_QUEUE_STATE_SUSPENDED,
	};

	for (unsigned int i = 0; i < sizeof(states) * SPOILERS; i++) {
		bool live = i / SPOILERS >= 2;
		struct device d;

		begin(&d);
		d.s.b->gpu->queue[0].state = states[i / SPOILERS];
		d.s.b->gpu->queue[0].block = TSR_QUEUE_BLOCK_HOST;
		d.s.b->gpu->queue[0].before = TSR_QUEUE_STATE_IDLE;
		expect(&d, NULL);
		spoil(&d.s.b->gpu->queue[0], i % SPOILERS);
		if (!expect(&d, live ? "the configuration of an enabled queue" : NULL))
			ktap_note("state %u, spoilt by %u", states[i / SPOILERS], i % SPOILERS);
		stage_free(&d.s);
	}
}

/* Rings of the least and the largest size, the last page of all addresses, a full ring. */
static void test_limits(void)
{
	struct tsr_queue *q;
	struct device d;

	begin(&d);
	q = &d.s.b->gpu->queue[0];
	q->config = TSR_RING_LOG2_MIN | class_copy;
	q->ring_base = (1ull << q->gpu->cfg.va_bits) - (1ull << TSR_RING_LOG2_MIN);
	atomic_store(&q->wptr, 1u << TSR_RING_LOG2_MIN);
	expect(&d, NULL);
	atomic_store(&q->wptr, (1u << TSR_RING_LOG2_MIN) + 8);
	expect(&d, "the configuration of an enabled queue");
	stage_free(&d.s);
	begin(&d);
	d.s.b->gpu->queue[0].config = TSR_RING_LOG2_MAX | class_copy;
	expect(&d, NULL);
	stage_free(&d.s);
}

/* ---- States ---------------------------------------------------------------------------------- */

/* The queue holds a WAIT that it executes. */
static void hold_wait(struct tsr_queue *q)
{
	struct tsr_packet *packet = &q->exec.packet;

	q->exec.phase = TSR_CP_EXECUTE;
	pk_wait(packet->word, TSR_COMPARE_EQ, false, STAGE_DATA, 1);
	packet->as = tsr_queue_ring_as(q);
	packet->header_valid = 1;
}

/* Queues that are off have nothing to go on with. */
static void test_off(void)
{
	for (unsigned int i = 0; i < 2 * 4; i++) {
		struct device d;
		struct tsr_queue *q;

		begin(&d);
		q = &d.s.b->gpu->queue[0];
		q->state = i / 4 ? TSR_QUEUE_STATE_FAULTED : TSR_QUEUE_STATE_DISABLED;
		if (i % 4 == 1)
			q->exec.phase = TSR_CP_DRAIN;
		if (i % 4 == 2)
			q->exec.depth = 1;
		if (i % 4 == 3) {
			hold_wait(q);
			pk_fence(q->exec.packet.word, TSR_EVENT_ALL_DONE, false, STAGE_DATA, 1);
			q->exec.fifo.entry[0] = q->exec.packet;
			q->exec.fifo.count = 1;
			q->exec.phase = TSR_CP_FETCH;
		}
		if (!expect(&d, i % 4 ? "a queue's state" : NULL))
			ktap_note("case %u", i);
		stage_free(&d.s);
	}
}

/* Invariants of BLOCKED and SUSPENDED. */
static void test_blocked(void)
{
	static const struct {
		uint8_t state, block, before;
		bool wait, waited, sound;
	} rows[] = {
		{ TSR_QUEUE_STATE_BLOCKED, TSR_QUEUE_BLOCK_HOST, 0, false, false, true },
		{ TSR_QUEUE_STATE_BLOCKED, TSR_QUEUE_BLOCK_SEMAPHORE, 0, false, false, false },
		{ TSR_QUEUE_STATE_BLOCKED, TSR_QUEUE_BLOCK_SEMAPHORE, 0, true, true, true },
		{ TSR_QUEUE_STATE_BLOCKED, TSR_QUEUE_BLOCK_HEAP, 0, false, false, false },
		{ TSR_QUEUE_STATE_BLOCKED, TSR_QUEUE_BLOCK_HEAP, 0, true, true, false },
		{ TSR_QUEUE_STATE_BLOCKED, 0, 0, true, true, false },
		{ TSR_QUEUE_STATE_SUSPENDED, 0, TSR_QUEUE_STATE_IDLE, false, false, true },
		{ TSR_QUEUE_STATE_SUSPENDED, 0, TSR_QUEUE_STATE_READY, false, false, true },
		{ TSR_QUEUE_STATE_SUSPENDED, 0, TSR_QUEUE_STATE_BLOCKED, true, true, true },
		{ TSR_QUEUE_STATE_SUSPENDED, 0, TSR_QUEUE_STATE_BLOCKED, false, false, true },
		{ TSR_QUEUE_STATE_SUSPENDED, 0, TSR_QUEUE_STATE_BLOCKED, false, true, false },
		{ TSR_QUEUE_STATE_SUSPENDED, 0, TSR_QUEUE_STATE_RUNNING, false, false, false },
		{ TSR_QUEUE_STATE_SUSPENDED, 0, TSR_QUEUE_STATE_DISABLED, false, false, false },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct device d;
		struct tsr_queue *q;

		begin(&d);
		q = &d.s.b->gpu->queue[0];
		q->state = rows[i].state;
		q->block = rows[i].block;
		q->before = rows[i].before;
		q->exec.waited = rows[i].waited;
		if (rows[i].wait)
			hold_wait(q);
		if (!expect(&d, rows[i].sound ? NULL : "a queue's state"))
			ktap_note("row %u", i);
		stage_free(&d.s);
	}
}

/* ---- Streams and packets --------------------------------------------------------------------- */

static void test_streams(void)
{
	static const struct {
		uint8_t phase, depth, code;
		uint64_t pc, end;
		const char *why;
	} rows[] = {
		{ TSR_CP_FETCH, 0, 0, 4, 4, NULL },	/* not open */
		{ TSR_CP_FETCH, 1, 0, 8, 16, NULL },
		{ TSR_CP_FETCH, 1, 0, 4, 16, "a stream's address" },
		{ TSR_CP_FETCH, 1, 0, 8, 20, "a stream's address" },
		{ TSR_CP_FETCH, 1, 0, 8, 8 + TSR_STREAM_SIZE_MAX, NULL },
		{ TSR_CP_FETCH, 1, 0, 8, 16 + TSR_STREAM_SIZE_MAX, "a stream's address" },
		{ TSR_CP_FETCH, 1, 0, 16, 8, "a stream's address" },
		{ TSR_CP_DRAIN, 0, 0, 8, 16, NULL },
		{ TSR_CP_DRAIN, 1, 0, 8, 16, "a stream that has ended" },
		{ TSR_CP_FAULT, 1, TSR_FAULT_LOOP, 8, 16, NULL },
		{ TSR_CP_FAULT, 1, 0, 8, 16, "a fault without a code" },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct device d;
		struct tsr_exec *x;

		begin(&d);
		x = &d.s.b->gpu->queue[0].exec;
		x->phase = rows[i].phase;
		x->depth = rows[i].depth;
		x->fault.code = rows[i].code;
		x->frame[0].pc = rows[i].pc;
		x->frame[0].end = rows[i].end;
		if (!expect(&d, rows[i].why))
			ktap_note("row %u", i);
		stage_free(&d.s);
	}
}

/* The packet that is executed, or that waits for the engine, is one that has passed all checks. */
static void test_packets(void)
{
	for (unsigned int i = 0; i < 2 * 8; i++) {
		bool queued = i / 8;
		struct tsr_packet *packet;
		struct tsr_queue *q;
		struct device d;

		begin(&d);
		q = &d.s.b->gpu->queue[0];
		hold_wait(q);
		packet = &q->exec.packet;
		if (queued) {
			q->exec.phase = TSR_CP_FETCH;
			q->exec.fifo.first = TSR_FIFO_DEPTH - 1;
			q->exec.fifo.count = 2;
			pk_fence(packet->word, TSR_EVENT_ALL_DONE, false, STAGE_DATA, 1);
			q->exec.fifo.entry[TSR_FIFO_DEPTH - 1] = *packet;
			packet = &q->exec.fifo.entry[0];
			*packet = q->exec.fifo.entry[TSR_FIFO_DEPTH - 1];
		}
		packet->as += i % 8 == 1;
		packet->header_valid -= i % 8 == 2;
		packet->header_valid += i % 8 == 3;
		packet->rptr = i % 8 == 4 ? 12 : 16;
		packet->word[0] |= i % 8 == 5 ? 1ull << 63 : 0;
		packet->word[1] |= i % 8 == 6;		/* not aligned */
		if (i % 8 == 7)
			packet->depth = TSR_NESTING_MAX + 1;
		if (!expect(&d, !(i % 8) ? NULL : queued ? "a command in a FIFO" : "executed"))
			ktap_note("case %u", i);
		stage_free(&d.s);
	}
}

/*
 * How far the engine is with a command: nothing can be said of what the engine does not do, and
 * engines that keep an object for a command in progress say with a bit that they do.
 */
static void test_begun(void)
{
	static const struct tsr_config config = { .queues = 2 };
	static const struct {
		enum tsr_engine_class cls;
		unsigned int opcode;	/* of the oldest command */
		uint64_t word[4];
		const char *why;
	} rows[] = {
		{ TSR_ENGINE_CLASS_COPY, TSR_OP_FENCE, { 0, 0 }, NULL },
		{ TSR_ENGINE_CLASS_COPY, TSR_OP_FENCE, { 1, 0 }, "how far a command is" },
		{ TSR_ENGINE_CLASS_COPY, TSR_OP_COPY_LINEAR, { UINT64_MAX, 0 }, NULL },
		{ TSR_ENGINE_CLASS_COPY, TSR_OP_COPY_LINEAR, { 0, 1 }, "how far a command is" },
		{ TSR_ENGINE_CLASS_COPY, TSR_OP_COPY_LINEAR, { 0, 1, 2, 1 }, NULL },
		{ TSR_ENGINE_CLASS_COPY, TSR_OP_COPY_RECT, { 0, 1, 2, 1 }, NULL },
		{ TSR_ENGINE_CLASS_COPY, TSR_OP_COPY_LINEAR, { 0, 0, 0, 2 },
		  "how far a command is" },
		{ TSR_ENGINE_CLASS_COPY, TSR_OP_FILL_LINEAR, { 0, 0, 0, 1 },
		  "how far a command is" },
		{ TSR_ENGINE_CLASS_COMPUTE, TSR_OP_DISPATCH, { 0, 0 }, NULL },
		{ TSR_ENGINE_CLASS_COMPUTE, TSR_OP_DISPATCH, { 2, 0 }, "how far a command is" },
		{ TSR_ENGINE_CLASS_BIN, TSR_OP_BIN, { 1, 0 }, NULL },
		{ TSR_ENGINE_CLASS_BIN, TSR_OP_BIN, { 2, 0 }, "how far a command is" },
		{ TSR_ENGINE_CLASS_RENDER, TSR_OP_RENDER, { 0, 0 }, NULL },
		{ TSR_ENGINE_CLASS_RENDER, TSR_OP_RENDER, { 0, 1 }, "how far a command is" },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct tsr_desc_packet *desc = tsr_desc_packets[rows[i].opcode];
		struct tsr_packet *packet;
		struct tsr_queue *q;
		struct device d;

		begin_with(&d, &config);
		q = &d.s.b->gpu->queue[0];
		q->config = TSR_RING_LOG2_MIN | rows[i].cls << TSR_QUEUE_CONFIG_CLASS__SHIFT;
		packet = &q->exec.fifo.entry[0];
		packet->word[0] = rows[i].opcode |
				  (uint64_t)desc->min_qwords << TSR_HEADER_LENGTH__SHIFT;
		packet->as = tsr_queue_user_as(q);
		packet->depth = 1;
		packet->header_valid = 1;
		q->exec.fifo.count = 1;
		memcpy(q->exec.fifo.state.word, rows[i].word, sizeof(rows[i].word));
		if (!expect(&d, rows[i].why))
			ktap_note("row %u", i);
		stage_free(&d.s);
	}
}

/* An invalidation that a packet waits for has been started: what has not would never end. */
static void test_invalidation(void)
{
	for (unsigned int ticket = 6; ticket <= 8; ticket++) {
		struct tsr_exec *x;
		struct device d;

		begin(&d);
		x = &d.s.b->gpu->queue[0].exec;
		x->phase = TSR_CP_EXECUTE;
		pk_tlb(x->packet.word, TSR_INV_OP_ALL, 3, 0, 0);
		x->packet.as = tsr_queue_ring_as(&d.s.b->gpu->queue[0]);
		x->packet.header_valid = 1;
		x->inval_started = 1;
		x->ticket = ticket;
		d.s.b->gpu->mmu.as[3].inv_started = 7;
		if (!expect(&d, ticket <= 7 ? NULL : "an invalidation"))
			ktap_note("ticket %u", ticket);
		stage_free(&d.s);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[SYS10] each field of a queue at its limits", test_fields);
	ktap_run("[SYS10] eight streams can be open, not nine", test_depth);
	ktap_run("[SYS10] a heap is as large as it may get", test_heap);
	ktap_run("[SYS10] address spaces and the scheduler", test_device);
	ktap_run("[SYS10] an enabled queue is one that could be enabled", test_enabled);
	ktap_run("[SYS10] configurations at their limits", test_limits);
	ktap_run("[SYS10] a queue that is off has nothing to do", test_off);
	ktap_run("[SYS10] a queue that waits has something to wait for", test_blocked);
	ktap_run("[SYS10] streams that are open, and ended", test_streams);
	ktap_run("[SYS10] packets that have been fetched", test_packets);
	ktap_run("[SYS10] how far an engine is with a command", test_begun);
	ktap_run("[SYS10] an invalidation that is waited for", test_invalidation);
	return ktap_finish();
}
