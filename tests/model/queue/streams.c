/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/* Streams: prefetch, CALL, JUMP and RETURN, nesting and loops; words patched behind a WAIT. */
#include <string.h>

#include "ktap.h"
#include "stage.h"

#define GATE 0x800

struct play {
	struct stage s;
	struct bench_queue q;
	uint64_t p[8];
};

static void begin(struct play *y)
{
	stage_init(&y->s, NULL);
	stage_queue(&y->s, &y->q, 0, TSR_ENGINE_CLASS_COPY, 0);
}

static void end(struct play *y)
{
	stage_free(&y->s);
}

static void go(struct play *y)
{
	bench_kick(&y->q);
	ktap_ok(bench_run(y->s.b, 10));
}

/* Write @value to word @n of STAGE_DATA. */
static void add_mark(struct play *y, struct stage_stream *stream, unsigned int n, uint64_t value)
{
	stage_add(stream, y->p,
		  pk_fence(y->p, TSR_EVENT_REACHED, false, STAGE_DATA + 8 * n, value));
}

static void add_append(struct play *y, struct stage_stream *stream, uint64_t digit)
{
	/* Word 0 = 10 * word 0 + digit cannot be said; SIGNAL ADD of disjoint decades can. */
	stage_add(stream, y->p,
		  pk_signal(y->p, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, true, STAGE_DATA, digit));
}

static void check_fault(struct play *y, enum tsr_fault code, uint64_t pc, unsigned int depth,
			uint32_t rptr)
{
	uint32_t fault = bench_queue_reg(&y->q, TSR_QUEUE_FAULT__OFFSET);

	ktap_eq(bench_state(&y->q), TSR_QUEUE_STATE_FAULTED);
	ktap_eq(bench_fault(&y->q), code);
	ktap_eq(bench_queue_reg64(&y->q, TSR_QUEUE_FAULT_PC__OFFSET), pc);
	ktap_eq(bench_queue_reg64(&y->q, TSR_QUEUE_FAULT_ADDR__OFFSET), pc);
	ktap_eq(bench_field(fault, TSR_QUEUE_FAULT_DEPTH__MASK), depth);
	ktap_eq(bench_field(fault, TSR_QUEUE_FAULT_RING__MASK), !depth);
	ktap_eq(bench_queue_reg(&y->q, TSR_QUEUE_FAULT_RPTR__OFFSET), rptr);
	ktap_eq(bench_queue_reg(&y->q, TSR_QUEUE_RPTR__OFFSET), rptr);
	ktap_eq(bench_field(bench_queue_reg(&y->q, TSR_QUEUE_STATE__OFFSET),
			    TSR_QUEUE_STATE_IN_CALL__MASK),
		depth > 0);
}

/*
 * Call, jump and both ways to return: what runs, and in which order, is told by timestamps of a
 * clock of cycles.
 */
static void control_flow(void)
{
	struct stage_stream a, b, c;
	struct play y;

	begin(&y);
	a = stage_stream(&y.s, 0);
	b = stage_stream(&y.s, 0x1000);
	c = stage_stream(&y.s, 0x2000);
	add_append(&y, &c, 1000);
	stage_add(&c, y.p, pk_return(y.p));
	add_append(&y, &c, 1000000);		/* never reached */
	add_append(&y, &b, 100);
	stage_add(&b, y.p, pk_jump(y.p, c.va, c.size));
	add_append(&y, &b, 1000000);		/* never reached */
	add_append(&y, &a, 1);
	stage_add(&a, y.p, pk_call(y.p, b.va, b.size));
	add_append(&y, &a, 10);
	stage_add(&a, y.p, pk_call(y.p, c.va, 24));	/* ends with its last byte */
	stage_call(&y.q, &a);
	bench_fence(&y.q, STAGE_DATA + 8, 5, TSR_EVENT_ALL_DONE, false);
	go(&y);
	ktap_eq(stage_load(&y.s, 0), 2111);
	ktap_eq(stage_load(&y.s, 8), 5);
	/* Retired: 5 SIGNALs, 2 CALLs, JUMP, RETURN, the ring's CALL and FENCE. */
	ktap_eq(bench_queue_reg64(&y.q, TSR_REG_QUEUE_COUNTER(0, TSR_QUEUE_COUNTER_CP_PACKETS) -
						TSR_QUEUE__OFFSET),
		11);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_PROGRESS__OFFSET), 11);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_CYCLES__OFFSET), 5 * 3 + 2 * 3 + 3 + 1 + 3 + 3);
	end(&y);
}

/* Streams open at once: NESTING_MAX are, one more is not. */
static void nesting(unsigned int depth)
{
	struct stage_stream stream;
	uint64_t pc = 0;
	struct play y;

	begin(&y);
	for (unsigned int i = 0; i < depth; i++) {
		stream = stage_stream(&y.s, 64 * i);
		add_append(&y, &stream, 1);
		if (i + 1 < depth)
			pc = stage_add(&stream, y.p,
				       pk_call(y.p, STAGE_STREAM + 64 * (i + 1),
					       i + 2 < depth ? 48 : 24));
	}
	bench_call(&y.q, STAGE_STREAM, depth > 1 ? 48 : 24);
	go(&y);
	if (depth <= TSR_NESTING_MAX) {
		ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_IDLE);
		ktap_eq(stage_load(&y.s, 0), depth);
	} else {
		check_fault(&y, TSR_FAULT_NESTING, pc, TSR_NESTING_MAX, 0);
		ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_FAULT_ADDR__OFFSET), pc);
		ktap_eq(stage_load(&y.s, 0), TSR_NESTING_MAX);
	}
	end(&y);
}

static void nestings(void)
{
	for (unsigned int depth = 1; depth <= TSR_NESTING_MAX + 1; depth++)
		nesting(depth);
}

/* A stream that jumps to itself stops after LOOP_LIMIT branches, the ring's CALL included. */
static void endless(bool with_nop)
{
	struct stage_stream stream;
	uint64_t pc, packets;
	struct play y;

	begin(&y);
	stream = stage_stream(&y.s, 0);
	if (with_nop)
		stage_add(&stream, y.p, pk_nop(y.p, 1));
	pc = stage_add(&stream, y.p, pk_jump(y.p, stream.va, with_nop ? 32 : 24));
	stage_call(&y.q, &stream);
	go(&y);
	check_fault(&y, TSR_FAULT_LOOP, pc, 1, 0);
	packets = bench_queue_reg64(&y.q, TSR_QUEUE_PROGRESS__OFFSET);
	ktap_eq(packets, with_nop ? 2 * TSR_LOOP_LIMIT - 1 : TSR_LOOP_LIMIT - 1);
	end(&y);
}

/* A loop that signals in each round is progress, however long: it runs until it is reset. */
static void loop_limit(void)
{
	struct stage_stream a, b;
	struct play y;

	begin(&y);
	a = stage_stream(&y.s, 0);
	b = stage_stream(&y.s, 0x100);
	add_append(&y, &b, 1);
	stage_add(&b, y.p, pk_jump(y.p, a.va, 24));
	stage_add(&a, y.p, pk_jump(y.p, b.va, b.size));
	stage_call(&y.q, &a);
	bench_kick(&y.q);
	for (unsigned int i = 0; i < 40; i++)
		tsr_gpu_run(y.s.b->gpu, 65536);
	/* 9 cycles a round and 2 branches: far more than LOOP_LIMIT of them, and no fault. */
	ktap_ok(stage_load(&y.s, 0) > 2 * TSR_LOOP_LIMIT);
	ktap_eq(bench_fault(&y.q), TSR_FAULT_NONE);
	bench_control(&y.q, TSR_QUEUE_OP_RESET);
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_DISABLED);
	end(&y);
}

static void endless_jump(void)
{
	endless(false);
}

static void endless_nop(void)
{
	endless(true);
}

/* The stream's end inside a packet; a header that fits and a packet that does not. */
static void stream_bound(void)
{
	struct stage_stream stream;
	uint64_t pc;
	struct play y;

	begin(&y);
	stream = stage_stream(&y.s, 0);
	add_mark(&y, &stream, 0, 1);
	pc = stage_add(&stream, y.p, pk_fence(y.p, TSR_EVENT_REACHED, false, STAGE_DATA, 2));
	bench_call(&y.q, stream.va, 24 + 16);
	go(&y);
	check_fault(&y, TSR_FAULT_STREAM_BOUND, pc, 1, 0);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_FAULT_HEADER__OFFSET), y.p[0]);
	ktap_eq(stage_load(&y.s, 0), 1);
	end(&y);
}

/* NOPs of every length between two marks, payloads full of rubbish, across pages. */
static void nops(void)
{
	struct stage_stream stream;
	uint64_t big[255];
	struct play y;

	begin(&y);
	memset(big, 0xff, sizeof(big));
	stream = stage_stream(&y.s, 0);
	for (unsigned int n = 1; n <= 255; n++) {
		pk_nop(y.p, 1);
		big[0] = y.p[0] + ((uint64_t)(n - 1) << 8);
		stage_add(&stream, big, n);
	}
	add_mark(&y, &stream, 0, 77);
	stage_call(&y.q, &stream);
	go(&y);
	ktap_eq(stage_load(&y.s, 0), 77);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_CYCLES__OFFSET), 255 * 256 / 2 + 3 + 3);
	end(&y);
}

/*
 * The jump behind a WAIT is patched while the queue waits: the new words run. The same stream
 * without the WAIT has long read the old ones.
 */
static void patch_behind_wait(void)
{
	struct stage_stream stream, old, new;
	uint64_t jump;
	struct play y;

	begin(&y);
	stream = stage_stream(&y.s, 0);
	old = stage_stream(&y.s, 0x1000);
	new = stage_stream(&y.s, 0x2000);
	add_mark(&y, &old, 1, 1);
	add_mark(&y, &new, 1, 2);
	add_mark(&y, &stream, 0, 1);
	stage_add(&stream, y.p, pk_wait(y.p, TSR_COMPARE_EQ, false, STAGE_DATA + GATE, 1));
	jump = stage_add(&stream, y.p, pk_jump(y.p, old.va, old.size));
	stage_call(&y.q, &stream);
	go(&y);
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_BLOCKED);
	ktap_eq(stage_load(&y.s, 0), 1);
	pk_jump(y.p, new.va, new.size);
	memcpy(y.s.streams + (jump - STAGE_STREAM), y.p, 24);
	*stage_word32(&y.s, GATE) = 1;
	go(&y);
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_IDLE);
	ktap_eq(stage_load(&y.s, 8), 2);
	end(&y);
}

/*
 * Without a WAIT, a stream overwrites its own later words. (The GPU writes, so there is no race.)
 * The words in the prefetch buffer are stale, the later ones are new. @barrier empties the buffer
 * first.
 */
static void self_patch(bool barrier, uint64_t *near, uint64_t *far)
{
	struct tsr_barrier inv = { .inv_code = true };
	struct stage_stream stream;
	uint64_t pc_near, pc_far, nop = 0;
	struct play y;

	begin(&y);
	stream = stage_stream(&y.s, 0);
	/*
	 * Value fields of two later FENCEs: one within the first PREFETCH_BYTES of the stream, one
	 * behind.
	 */
	pc_near = stream.va + 2 * 24 + 8;
	pc_far = stream.va + 4 * TSR_PREFETCH_BYTES;
	stage_add(&stream, y.p, pk_fence(y.p, TSR_EVENT_REACHED, false, pc_near + 16, 2));
	stage_add(&stream, y.p, pk_fence(y.p, TSR_EVENT_REACHED, false, pc_far + 16, 2));
	stage_add(&stream, y.p, barrier ? pk_barrier(y.p, &inv) : pk_nop(y.p, 1));
	ktap_eq(stage_add(&stream, y.p, pk_fence(y.p, TSR_EVENT_REACHED, false, STAGE_DATA, 1)),
		pc_near);
	pk_nop(&nop, 1);
	while (stream.va + stream.size < pc_far)
		stage_add(&stream, &nop, 1);
	stage_add(&stream, y.p, pk_fence(y.p, TSR_EVENT_REACHED, false, STAGE_DATA + 8, 1));
	stage_call(&y.q, &stream);
	go(&y);
	*near = stage_load(&y.s, 0);
	*far = stage_load(&y.s, 8);
	end(&y);
}

static void stale(void)
{
	uint64_t near, far;

	self_patch(false, &near, &far);
	ktap_eq(near, 1);
	ktap_eq(far, 2);
	self_patch(true, &near, &far);
	ktap_eq(near, 2);
	ktap_eq(far, 2);
}

/* A jump back to where the buffer's first word is from: that word has been patched, and is read. */
static void patch_loop(void)
{
	struct stage_stream stream;
	uint64_t end_word;
	struct play y;

	begin(&y);
	pk_return(&end_word);
	stream = stage_stream(&y.s, 0);
	stage_add(&stream, y.p, pk_nop(y.p, 1));
	stage_add(&stream, y.p, pk_signal(y.p, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, true,
					  STAGE_DATA, 1));
	stage_add(&stream, y.p, pk_fence(y.p, TSR_EVENT_REACHED, false, stream.va, end_word));
	stage_add(&stream, y.p, pk_jump(y.p, stream.va, stream.size));
	stage_call(&y.q, &stream);
	go(&y);
	ktap_eq(bench_fault(&y.q), TSR_FAULT_NONE);
	ktap_eq(stage_load(&y.s, 0), 1);
	end(&y);
}

/*
 * The prefetcher reads no byte behind a WAIT, a stream's end or the write pointer: there is nothing
 * to read there.
 */
static void reads_no_further(void)
{
	const uint64_t last = STAGE_STREAM + STAGE_STREAM_SIZE;
	struct stage_stream stream;
	struct play y;

	begin(&y);
	/* The stream ends with the last mapped byte. */
	stream = stage_stream(&y.s, STAGE_STREAM_SIZE - 64);
	stage_add(&stream, y.p, pk_nop(y.p, 5));
	add_mark(&y, &stream, 0, 3);
	ktap_eq(stream.va + stream.size, last);
	stage_call(&y.q, &stream);
	go(&y);
	ktap_eq(bench_fault(&y.q), TSR_FAULT_NONE);
	ktap_eq(stage_load(&y.s, 0), 3);
	/*
	 * 24 bytes of the ring and 64 of the stream, of which the NOP's payload may be read or not.
	 */
	ktap_ok(bench_queue_reg64(&y.q, TSR_REG_QUEUE_COUNTER(0, TSR_QUEUE_COUNTER_CP_FETCH_BYTES) -
				  TSR_QUEUE__OFFSET) <= 88);
	/* A stream that says it goes on where nothing is mapped ends with RETURN before that. */
	stream = stage_stream(&y.s, STAGE_STREAM_SIZE - 64);
	stage_add(&stream, y.p, pk_nop(y.p, 4));
	add_mark(&y, &stream, 0, 4);
	stage_add(&stream, y.p, pk_return(y.p));
	bench_call(&y.q, stream.va, 4096);
	go(&y);
	ktap_eq(bench_fault(&y.q), TSR_FAULT_NONE);
	ktap_eq(stage_load(&y.s, 0), 4);
	end(&y);
}

int main(void)
{
	ktap_start();
	ktap_run("[CP2] CALL, JUMP, RETURN and the ends of streams", control_flow);
	ktap_run("[CP2] calls nest up to the limit and fault beyond", nestings);
	ktap_run("[CP2] a stream that jumps to itself is caught", endless_jump);
	ktap_run("[CP2] NOPs are no progress", endless_nop);
	ktap_run("[CP2] a loop that makes progress goes on, and RESET ends it", loop_limit);
	ktap_run("[CP2] a packet beyond the end of its stream", stream_bound);
	ktap_run("[CP2] NOPs of every length", nops);
	ktap_run("[CP11] a jump behind a WAIT is patched and the new words run", patch_behind_wait);
	ktap_run("[CP2] [CP11] words that were read ahead are stale, BARRIER drops them", stale);
	ktap_run("[CP2] [CP11] the first word of a loop is patched within it", patch_loop);
	ktap_run("[CP2] nothing is read beyond the end", reads_no_further);
	return ktap_finish();
}
