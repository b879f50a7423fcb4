/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/* The FIFO, interrupts, conditions, barriers, what may be reused when. */
#include <string.h>

#include "copy_play.h"
#include "ktap.h"

#define GATE 0x800

/* The command processor is FIFO_DEPTH commands ahead and no more; RPTR tells how far it is. */
static void fifo_depth(void)
{
	struct tsr_config config = { .no_inline = true };
	struct play y;
	unsigned int i;

	begin(&y, &config);
	for (i = 0; i < TSR_FIFO_DEPTH + 3; i++)
		emit_copy(&y, TARGET, SOURCE, BIG);
	bench_kick(&y.q);
	tsr_gpu_run(y.s.b->gpu, 1);
	ktap_ok(bench_queue_reg(&y.q, TSR_QUEUE_RPTR__OFFSET) <= 32 * TSR_FIFO_DEPTH);
	tsr_gpu_run(y.s.b->gpu, 32 * TSR_FIFO_DEPTH);
	ktap_eq(bench_queue_reg(&y.q, TSR_QUEUE_RPTR__OFFSET), 32 * TSR_FIFO_DEPTH);
	ktap_eq(counter(&y, TSR_QUEUE_COUNTER_ENGINE_COMMANDS), 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(counter(&y, TSR_QUEUE_COUNTER_ENGINE_COMMANDS), TSR_FIFO_DEPTH + 3);
	end(&y);
}

/*
 * The ring's CALL retires when the engine has finished with its commands, not when the command
 * processor has read it. Until then IN_CALL is set and RPTR stays.
 */
static void call_retires(void)
{
	struct tsr_config config = { .no_inline = true };
	struct stage_stream stream;
	struct play y;

	begin(&y, &config);
	stream = stage_stream(&y.s, 0);
	stage_add(&stream, y.p, pk_copy(y.p, STAGE_DATA + TARGET, STAGE_DATA + SOURCE, BIG));
	stage_call(&y.q, &stream);
	emit_fence(&y, TSR_EVENT_REACHED, 0);
	bench_kick(&y.q);
	tsr_gpu_run(y.s.b->gpu, 1);
	ktap_ok(bench_queue_reg(&y.q, TSR_QUEUE_STATE__OFFSET) & TSR_QUEUE_STATE_IN_CALL__MASK);
	while (bench_state(&y.q) != TSR_QUEUE_STATE_IDLE) {
		bool done = copied(&y, BIG);

		ktap_eq(bench_queue_reg(&y.q, TSR_QUEUE_RPTR__OFFSET), 0);
		ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_CALLS__OFFSET), 0);
		ktap_eq(stage_load(&y.s, OUT), 0);
		tsr_gpu_run(y.s.b->gpu, done ? 100 : 1);
	}
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_CALLS__OFFSET), 1);
	ktap_eq(bench_queue_reg(&y.q, TSR_QUEUE_RPTR__OFFSET), 48);
	ktap_ok(!(bench_queue_reg(&y.q, TSR_QUEUE_STATE__OFFSET) & TSR_QUEUE_STATE_IN_CALL__MASK));
	end(&y);
}

/* Interrupt classes: a message for each rise of RAWSTAT & MASK, by the event or by MASK. */
static void interrupts(void)
{
	const uint32_t job = TSR_IRQ_CLASS_JOB;
	struct play y;

	begin(&y, NULL);
	bench_fence(&y.q, STAGE_DATA + OUT, 1, TSR_EVENT_ALL_DONE, true);
	bench_fence(&y.q, STAGE_DATA + OUT, 2, TSR_EVENT_ALL_DONE, true);
	bench_fence(&y.q, STAGE_DATA + OUT, 3, TSR_EVENT_ALL_DONE, false);
	bench_kick(&y.q);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(y.s.b->interrupts[job], 1);	/* the bit rose once */
	ktap_eq(bench_read64(y.s.b, TSR_REG_IRQ_STATUS(job)), 1);
	bench_write64(y.s.b, TSR_REG_IRQ_CLEAR(job), 2);
	ktap_eq(bench_read64(y.s.b, TSR_REG_IRQ_RAWSTAT(job)), 1);
	bench_write64(y.s.b, TSR_REG_IRQ_MASK(job), 0);
	ktap_eq(bench_read64(y.s.b, TSR_REG_IRQ_STATUS(job)), 0);
	bench_write64(y.s.b, TSR_REG_IRQ_MASK(job), 1);
	ktap_eq(y.s.b->interrupts[job], 2);	/* by the mask */
	bench_write64(y.s.b, TSR_REG_IRQ_MASK(job), 3);
	ktap_eq(y.s.b->interrupts[job], 2);
	bench_write64(y.s.b, TSR_REG_IRQ_CLEAR(job), 1);
	ktap_eq(bench_read64(y.s.b, TSR_REG_IRQ_RAWSTAT(job)), 0);
	bench_write64(y.s.b, TSR_REG_IRQ_MASK(job), 0);
	bench_fence(&y.q, STAGE_DATA + OUT, 4, TSR_EVENT_REACHED, true);
	bench_kick(&y.q);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(y.s.b->interrupts[job], 2);	/* masked */
	ktap_eq(bench_read64(y.s.b, TSR_REG_IRQ_RAWSTAT(job)), 1);
	ktap_eq(stage_load(&y.s, OUT), 4);	/* pull */
	ktap_eq(bench_read64(y.s.b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_INTERRUPTS)), 2);
	end(&y);
}

/*
 * True if @word compares with @value in 128-bit arithmetic: the difference reduced to the width,
 * then as a signed number.
 */
static bool expected(unsigned int op, unsigned int bits, uint64_t word, uint64_t value)
{
	__int128 modulus = (__int128)1 << bits;
	__int128 difference = ((__int128)word - (__int128)value) % modulus;

	if (difference < 0)
		difference += modulus;
	if (op == TSR_COMPARE_EQ)
		return difference == 0;
	return (difference < modulus / 2) == (op == TSR_COMPARE_GE);
}

/*
 * Every comparison of 8 interesting values with each other: memory of both widths, and registers.
 */
static void compare_with(bool wide, bool reg)
{
	const uint64_t top = wide ? UINT64_MAX : UINT32_MAX, half = top / 2;
	const uint64_t value[] = { 0, 1, 2, half - 1, half, half + 1, top - 1, top };
	struct play y;

	begin(&y, NULL);
	for (unsigned int i = 0; i < 3 * 64; i++) {
		unsigned int op = i / 64;
		uint64_t word = value[i / 8 % 8], operand = value[i % 8];
		enum tsr_queue_state want = expected(op, wide ? 64 : 32, word, operand) ?
			TSR_QUEUE_STATE_IDLE : TSR_QUEUE_STATE_BLOCKED;

		bench_control(&y.q, TSR_QUEUE_OP_RESET);
		bench_enable(&y.q, 0);
		/* The other half of the word has no effect on the narrow one. */
		*stage_word(&y.s, GATE) = wide ? word : word | 0xa5a5a5a5ull << 32;
		bench_write(y.s.b, TSR_REG_SEMAPHORE_VALUE(17), word);
		if (reg)
			bench_emit(&y.q, y.p, pk_wait_reg(y.p, op, 17, operand));
		else
			bench_emit(&y.q, y.p, pk_wait(y.p, op, wide, STAGE_DATA + GATE, operand));
		bench_kick(&y.q);
		ktap_ok(bench_run(y.s.b, 10));
		if (bench_state(&y.q) != want)
			ktap_fail("op %u, 0x%llx with 0x%llx, wide %d", op,
				  (unsigned long long)word, (unsigned long long)operand, wide);
	}
	end(&y);
}

static void compare(void)
{
	compare_with(false, false);
	compare_with(true, false);
	compare_with(false, true);
}

/* SIGNAL and SIGNAL_REG, SET and ADD, with wrap, in both widths. Adjacent words stay. */
static void signals(void)
{
	const uint64_t va = STAGE_DATA + OUT;
	struct play y;

	begin(&y, NULL);
	memset(y.s.data + OUT, 0x11, 32);
	bench_emit(&y.q, y.p, pk_signal(y.p, TSR_SIGNAL_OP_SET, 0, true, va, 0x123456789abcdef0));
	bench_emit(&y.q, y.p, pk_signal(y.p, TSR_SIGNAL_OP_ADD, 0, true, va, UINT64_MAX));
	bench_emit(&y.q, y.p, pk_signal(y.p, TSR_SIGNAL_OP_SET, 1, false, va + 12, 0xfffffffe));
	bench_emit(&y.q, y.p, pk_signal(y.p, TSR_SIGNAL_OP_ADD, 2, false, va + 12, 7));
	bench_emit(&y.q, y.p, pk_signal_reg(y.p, TSR_SIGNAL_OP_SET, 3, 255, 0xfffffff0));
	bench_emit(&y.q, y.p, pk_signal_reg(y.p, TSR_SIGNAL_OP_ADD, 0, 255, 0x20));
	bench_emit(&y.q, y.p, pk_signal_reg(y.p, TSR_SIGNAL_OP_ADD, 0, 254, 3));
	bench_kick(&y.q);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(stage_load(&y.s, OUT), 0x123456789abcdeef);
	ktap_eq(stage_load(&y.s, OUT + 8), 0x0000000511111111);
	ktap_eq(stage_load(&y.s, OUT + 16), 0x1111111111111111);
	ktap_eq(bench_read(y.s.b, TSR_REG_SEMAPHORE_VALUE(255)), 0x10);
	ktap_eq(bench_read(y.s.b, TSR_REG_SEMAPHORE_VALUE(254)), 3);
	ktap_eq(counter(&y, TSR_QUEUE_COUNTER_FENCES), 7);
	end(&y);
}

/*
 * Events that wake a blocked queue: a signal of another queue, a doorbell, the CPU's register
 * write, the clock.
 */
static void wakes(void)
{
	struct bench_queue other;
	struct play y;

	begin(&y, NULL);
	stage_queue(&y.s, &other, 1, TSR_ENGINE_CLASS_RENDER, 0);
	for (uint64_t n = 1; n <= 3; n++) {
		bench_emit(&y.q, y.p, pk_wait(y.p, TSR_COMPARE_GE, true, STAGE_DATA + GATE, n));
		emit_fence(&y, TSR_EVENT_REACHED, n);
	}
	bench_emit(&y.q, y.p, pk_wait_reg(y.p, TSR_COMPARE_EQ, 3, 9));
	emit_fence(&y, TSR_EVENT_REACHED, 4);
	bench_kick(&y.q);
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_BLOCKED);
	ktap_eq(bench_field(bench_queue_reg(&y.q, TSR_QUEUE_STATE__OFFSET),
			    TSR_QUEUE_STATE_BLOCK__MASK),
		TSR_QUEUE_BLOCK_SEMAPHORE);
	/* A signal: both queues run inline, so all has happened when the doorbell returns. */
	bench_emit(&other, y.p, pk_signal(y.p, TSR_SIGNAL_OP_ADD, 0, true, STAGE_DATA + GATE, 1));
	bench_kick(&other);
	ktap_eq(stage_load(&y.s, OUT + 8), 2);
	ktap_eq(bench_state(&other), TSR_QUEUE_STATE_IDLE);
	/* The CPU's write is not seen, */
	*stage_word(&y.s, GATE) = 2;
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_BLOCKED);
	ktap_eq(stage_load(&y.s, OUT + 16), 0);
	/* until the doorbell says the same as before, */
	bench_kick(&y.q);
	ktap_eq(stage_load(&y.s, OUT + 16), 3);
	/* Time passes: a millisecond and a little, however long it has been blocked. */
	bench_advance(y.s.b, 50 * 1000 * 1000);
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_BLOCKED);
	*stage_word(&y.s, GATE) = 3;
	bench_advance(y.s.b, 1000 * 1000);
	ktap_eq(stage_load(&y.s, OUT + 24), 4);
	/* A semaphore register. */
	bench_write(y.s.b, TSR_REG_SEMAPHORE_VALUE(3), 8);
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_BLOCKED);
	bench_write(y.s.b, TSR_REG_SEMAPHORE_VALUE(3), 9);
	ktap_eq(stage_load(&y.s, OUT + 32), 5);
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_IDLE);
	ktap_ok(counter(&y, TSR_QUEUE_COUNTER_BLOCKED_TIME) >= 50 * 1000 * 1000);
	/* Nobody is blocked: no timer is wanted for long. */
	bench_advance(y.s.b, 10 * 1000 * 1000);
	ktap_eq(y.s.b->timer, UINT64_MAX);
	end(&y);
}

/* Put other memory behind the page at @va of the rings' address space; its first word. */
static uint64_t *move_page(struct play *y, uint64_t va)
{
	uint64_t bus = bench_alloc(y->s.b, 4096, 4096);

	bench_unmap(&y->s.as[0], va, 4096);
	bench_map(&y->s.as[0], va, bus, 4096, BENCH_RW);
	ktap_ok(bench_invalidate(&y->s.as[0], va, 4096));
	return bench_ptr(y->s.b, bus, 8);
}

enum { BY_CLOCK, BY_DOORBELL, BY_REGISTER, BY_RESUME, BY_SIGNAL, WAYS };

/* Have somebody look at what the queue waits for. */
static void wake(struct play *y, struct bench_queue *other, unsigned int way)
{
	switch (way) {
	case BY_CLOCK:
		bench_advance(y->s.b, 1000 * 1000);
		break;
	case BY_DOORBELL:
		bench_kick(&y->q);
		break;
	case BY_REGISTER:
		bench_write(y->s.b, TSR_REG_SEMAPHORE_VALUE(3), 8);
		break;
	case BY_RESUME:
		bench_control(&y->q, TSR_QUEUE_OP_RESUME);
		break;
	default:
		bench_emit(other, y->p, pk_signal_reg(y->p, TSR_SIGNAL_OP_SET, 0, 3, 9));
		bench_kick(other);
	}
}

/* A poll reads a blocked queue's word at its present mapping. */
static void wakes_moved(void)
{
	const uint64_t va = STAGE_DATA + 0x40000;
	struct bench_queue other;
	struct play y;

	begin(&y, NULL);
	stage_queue(&y.s, &other, 1, TSR_ENGINE_CLASS_RENDER, 0);
	for (unsigned int way = 0; way < WAYS; way++) {
		uint64_t *word;

		bench_emit(&y.q, y.p, pk_wait(y.p, TSR_COMPARE_EQ, true, va, way + 1));
		emit_fence(&y, TSR_EVENT_REACHED, way);
		bench_kick(&y.q);
		ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_BLOCKED);
		if (way == BY_RESUME)
			bench_control(&y.q, TSR_QUEUE_OP_SUSPEND);
		word = move_page(&y, va);
		*word = way + 1;
		ktap_eq(stage_load(&y.s, OUT + 8 * way), 0);
		wake(&y, &other, way);
		if (!ktap_eq(stage_load(&y.s, OUT + 8 * way), way + 1))
			ktap_note("by way %u", way);
		ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_IDLE);
	}
	end(&y);
}

/*
 * A copy that reads what an earlier one writes, with a barrier between: bytes as if one came after
 * the other.
 */
static void barrier(const struct tsr_barrier *flags, bool waits)
{
	struct tsr_config config = { .no_inline = true };
	struct play y;

	begin(&y, &config);
	emit_copy(&y, TARGET, SOURCE, BIG);
	bench_emit(&y.q, y.p, pk_barrier(y.p, flags));
	emit_fence(&y, TSR_EVENT_REACHED, 0);
	emit_copy(&y, SOURCE, TARGET + 64, BIG - 64);
	bench_kick(&y.q);
	while (bench_state(&y.q) != TSR_QUEUE_STATE_IDLE && !stage_load(&y.s, OUT))
		tsr_gpu_run(y.s.b->gpu, 1);
	/* The fence behind the barrier tells where the first copy stood. */
	ktap_eq(counter(&y, TSR_QUEUE_COUNTER_ENGINE_COMMANDS), waits && flags->wait_writes);
	ktap_eq(counter(&y, TSR_QUEUE_COUNTER_WRITE_BYTES),
		!waits ? 0 : flags->wait_writes ? BIG : BIG - LAST);
	ktap_eq(counter(&y, TSR_QUEUE_COUNTER_BARRIER_CYCLES),
		!waits ? 0 : 2 * BIG / 64 - (flags->wait_writes ? 0 : 2));
	ktap_ok(bench_run(y.s.b, 10));
	for (unsigned int i = 0; i < BIG; i++) {
		uint8_t was = i ^ i >> 8, moved = (i + 64) ^ (i + 64) >> 8;

		if (y.s.data[TARGET + i] != was ||
		    y.s.data[SOURCE + i] != (i < BIG - 64 ? moved : was)) {
			ktap_fail("byte %u", i);
			break;
		}
	}
	end(&y);
}

/*
 * A partial flush waits for the copy and goes on while two fills are under way. The full flush
 * waits for all three, and neither for what comes after.
 */
static void partial_flush(void)
{
	const uint64_t reads = 2 * BIG / 64 - 2, all = 4 * BIG / 64;

	for (unsigned int full = 0; full < 2; full++) {
		const struct tsr_barrier flags = { .wait_reads = true, .wait_writes = full };
		struct tsr_config config = { .no_inline = true };
		struct play y;

		begin(&y, &config);
		emit_copy(&y, TARGET, SOURCE, BIG);
		bench_emit(&y.q, y.p, pk_fill(y.p, STAGE_DATA + TARGET, BIG, 0x11));
		bench_emit(&y.q, y.p, pk_fill(y.p, STAGE_DATA + TARGET, BIG, 0x22));
		emit_fence(&y, TSR_EVENT_ALL_DONE, 1);
		bench_emit(&y.q, y.p, pk_barrier(y.p, &flags));
		emit_fence(&y, TSR_EVENT_REACHED, 0);
		bench_emit(&y.q, y.p, pk_fill(y.p, STAGE_DATA + TARGET, BIG, 0x33));
		bench_kick(&y.q);
		while (runs(&y) && !stage_load(&y.s, OUT))
			tsr_gpu_run(y.s.b->gpu, 1);
		ktap_eq(stage_load(&y.s, OUT), 1);
		ktap_eq(stage_load(&y.s, OUT + 8), full ? 2 : 0);
		ktap_eq(counter(&y, TSR_QUEUE_COUNTER_ENGINE_COMMANDS), full ? 3 : 0);
		ktap_ok(bench_run(y.s.b, 10));
		ktap_eq(counter(&y, TSR_QUEUE_COUNTER_BARRIER_CYCLES), full ? all : reads);
		ktap_eq(stage_load(&y.s, OUT + 8), 2);
		ktap_eq(y.s.data[TARGET + BIG - 1], 0x33);
		end(&y);
	}
}

static void barriers(void)
{
	barrier(&(struct tsr_barrier) { .wait_writes = true }, true);
	barrier(&(struct tsr_barrier) { .wait_reads = true }, true);
	barrier(&(struct tsr_barrier) { .wait_reads = true, .wait_writes = true }, true);
	barrier(&(struct tsr_barrier) { .inv_read = true, .inv_code = true }, false);
	barrier(&(struct tsr_barrier) { 0 }, false);
}

/*
 * Reuse of memory: after REACHED in the ring's CALL its stream can be overwritten, after ALL_DONE
 * the memory of its commands. The CPU overwrites them at once, and the results are those of the old
 * contents.
 */
static void reuse(void)
{
	struct tsr_config config = { .no_inline = true };
	struct stage_stream stream;
	struct play y;

	begin(&y, &config);
	stream = stage_stream(&y.s, 0);
	for (unsigned int i = 0; i < 4; i++)
		stage_add(&stream, y.p,
			  pk_copy(y.p, STAGE_DATA + TARGET + i * 0x10000,
				  STAGE_DATA + SOURCE + i * 0x10000, 0x10000));
	stage_add(&stream, y.p, pk_fence(y.p, TSR_EVENT_REACHED, false, STAGE_DATA + OUT, 1));
	stage_call(&y.q, &stream);
	emit_fence(&y, TSR_EVENT_ALL_DONE, 1);
	bench_kick(&y.q);
	while (!stage_load(&y.s, OUT))
		tsr_gpu_run(y.s.b->gpu, 1);
	ktap_ok(counter(&y, TSR_QUEUE_COUNTER_WRITE_BYTES) < BIG);
	memset(y.s.streams, 0xff, 0x1000);
	while (!stage_load(&y.s, OUT + 8))
		tsr_gpu_run(y.s.b->gpu, 1);
	memset(y.s.data + SOURCE, 0, BIG);
	ktap_eq(bench_fault(&y.q), TSR_FAULT_NONE);
	for (unsigned int i = 0; i < BIG; i++) {
		if (y.s.data[TARGET + i] != (uint8_t)(i ^ i >> 8)) {
			ktap_fail("byte %u", i);
			break;
		}
	}
	end(&y);
}

/*
 * COUNTER_BEGIN and _END: what lies between, without the packets themselves; twice into the same
 * array; none without an interval.
 */
static void intervals(void)
{
	const uint16_t mask = 1 << TSR_QUEUE_COUNTER_CYCLES | 1 << TSR_QUEUE_COUNTER_CP_PACKETS |
			      1 << TSR_QUEUE_COUNTER_WRITE_BYTES | 1 << TSR_QUEUE_COUNTER_FENCES;
	struct stage_stream stream;
	struct play y;

	begin(&y, NULL);
	stream = stage_stream(&y.s, 0);
	stage_add(&stream, y.p, pk_counter_begin(y.p, mask));
	stage_add(&stream, y.p, pk_copy(y.p, STAGE_DATA + TARGET, STAGE_DATA + SOURCE, 640));
	stage_add(&stream, y.p, pk_fence(y.p, TSR_EVENT_ALL_DONE, false, STAGE_DATA + OUT + 64, 1));
	stage_add(&stream, y.p, pk_counter_end(y.p, STAGE_DATA + OUT));
	stage_add(&stream, y.p, pk_counter_end(y.p, STAGE_DATA + OUT));
	stage_add(&stream, y.p, pk_counter_begin(y.p, mask));
	stage_call(&y.q, &stream);
	stage_call(&y.q, &stream);
	bench_emit(&y.q, y.p, pk_counter_end(y.p, STAGE_DATA + OUT));
	bench_kick(&y.q);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(stage_load(&y.s, OUT), 2 * (4 + 3 + 10 + 10));
	ktap_eq(stage_load(&y.s, OUT + 8), 2 * 2);
	ktap_eq(stage_load(&y.s, OUT + 16), 2 * 640);
	ktap_eq(stage_load(&y.s, OUT + 24), 2 * 1);
	ktap_eq(stage_load(&y.s, OUT + 32), 0);
	end(&y);
}

/*
 * An interval of the ring outlives the CALLs in it; one of a stream ends with its CALL, and what it
 * replaced is gone.
 */
static void ring_intervals(void)
{
	struct stage_stream plain, own;
	struct play y;

	begin(&y, NULL);
	plain = stage_stream(&y.s, 0);
	stage_add(&plain, y.p, pk_nop(y.p, 5));
	own = stage_stream(&y.s, 0x1000);
	stage_add(&own, y.p, pk_counter_begin(y.p, 1 << TSR_QUEUE_COUNTER_CYCLES));
	bench_emit(&y.q, y.p, pk_counter_begin(y.p, 1 << TSR_QUEUE_COUNTER_CYCLES));
	stage_call(&y.q, &plain);
	stage_call(&y.q, &plain);
	bench_emit(&y.q, y.p, pk_counter_end(y.p, STAGE_DATA + OUT));
	bench_emit(&y.q, y.p, pk_counter_begin(y.p, 1 << TSR_QUEUE_COUNTER_CYCLES));
	stage_call(&y.q, &own);
	bench_emit(&y.q, y.p, pk_counter_end(y.p, STAGE_DATA + OUT + 8));
	bench_kick(&y.q);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(stage_load(&y.s, OUT), 2 * (3 + 5));
	ktap_eq(stage_load(&y.s, OUT + 8), 0);
	end(&y);
}

/*
 * A copy in the ring before a CALL: the CALL begins when it is done, so everything the engine has
 * belongs to the ring packet at RPTR, and a fault of either names its own.
 */
static void ring_copy_before_call(void)
{
	struct tsr_config config = { .no_inline = true };
	struct stage_stream stream;
	struct play y;

	begin(&y, &config);
	stream = stage_stream(&y.s, 0);
	stage_add(&stream, y.p, pk_fence(y.p, TSR_EVENT_REACHED, false, STAGE_DATA + OUT, 1));
	emit_copy(&y, TARGET, SOURCE, BIG);
	stage_call(&y.q, &stream);
	bench_kick(&y.q);
	tsr_gpu_run(y.s.b->gpu, 10);
	ktap_eq(stage_load(&y.s, OUT), 0);
	ktap_ok(!(bench_queue_reg(&y.q, TSR_QUEUE_STATE__OFFSET) & TSR_QUEUE_STATE_IN_CALL__MASK));
	/* RESET now: RPTR goes back to the copy, whose effect is not complete. */
	ktap_eq(bench_queue_reg(&y.q, TSR_QUEUE_RPTR__OFFSET), 32);
	bench_control(&y.q, TSR_QUEUE_OP_RESET);
	ktap_eq(bench_queue_reg(&y.q, TSR_QUEUE_RPTR__OFFSET), 0);
	bench_control(&y.q, TSR_QUEUE_OP_ENABLE);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(stage_load(&y.s, OUT), 1);
	ktap_mem_eq(y.s.data + TARGET, y.s.data + SOURCE, BIG);
	/* A fault of the copy: RPTR is its. */
	emit_copy(&y, STAGE_DATA_SIZE - BIG / 2, SOURCE, BIG);
	emit_fence(&y, TSR_EVENT_REACHED, 5);
	bench_kick(&y.q);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(bench_fault(&y.q), TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(bench_queue_reg(&y.q, TSR_QUEUE_RPTR__OFFSET), 56);
	ktap_eq(bench_queue_reg(&y.q, TSR_QUEUE_FAULT_RPTR__OFFSET), 56);
	ktap_eq(stage_load(&y.s, OUT + 40), 6);	/* reached before */
	end(&y);
}

/*
 * A stream that never ends and never waits does not keep the engine from its commands, nor their
 * fence from being written.
 */
static void endless_beside_engine(void)
{
	struct tsr_config config = { .no_inline = true };
	struct stage_stream stream, loop;
	struct play y;

	begin(&y, &config);
	loop = stage_stream(&y.s, 0x1000);
	stage_add(&loop, y.p, pk_signal(y.p, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, true,
					STAGE_DATA + OUT, 1));
	stage_add(&loop, y.p, pk_jump(y.p, loop.va, 48));
	stream = stage_stream(&y.s, 0);
	stage_add(&stream, y.p, pk_copy(y.p, STAGE_DATA + TARGET, STAGE_DATA + SOURCE, BIG));
	stage_add(&stream, y.p,
		  pk_fence(y.p, TSR_EVENT_ALL_DONE, false, STAGE_DATA + OUT + 8, 1));
	stage_add(&stream, y.p, pk_jump(y.p, loop.va, loop.size));
	stage_call(&y.q, &stream);
	bench_write(y.s.b, TSR_REG_QUEUE_TIMESLICE(0), 1 << 30);
	bench_kick(&y.q);
	tsr_gpu_run(y.s.b->gpu, 1 << 20);
	ktap_eq(stage_load(&y.s, OUT + 8), 1);
	ktap_mem_eq(y.s.data + TARGET, y.s.data + SOURCE, BIG);
	ktap_ok(stage_load(&y.s, OUT) > 1000);
	end(&y);
}

/*
 * A blocked queue that is suspended and resumed is blocked again, without having been on an engine.
 */
static void resumed_blocked(void)
{
	struct play y;

	begin(&y, NULL);
	bench_emit(&y.q, y.p, pk_wait(y.p, TSR_COMPARE_EQ, true, STAGE_DATA + GATE, 1));
	emit_fence(&y, TSR_EVENT_REACHED, 0);
	bench_kick(&y.q);
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_BLOCKED);
	for (unsigned int i = 0; i < 3; i++) {
		bench_control(&y.q, TSR_QUEUE_OP_SUSPEND);
		bench_control(&y.q, TSR_QUEUE_OP_SUSPEND);
		ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_SUSPENDED);
		/* The awaited word has no effect now. */
		*stage_word(&y.s, GATE) = i == 2;
		bench_kick(&y.q);
		bench_advance(y.s.b, 5 * 1000 * 1000);
		ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_SUSPENDED);
		ktap_eq(stage_load(&y.s, OUT), 0);
		bench_control(&y.q, TSR_QUEUE_OP_RESUME);
		ktap_eq(bench_state(&y.q),
			i == 2 ? TSR_QUEUE_STATE_IDLE : TSR_QUEUE_STATE_BLOCKED);
		ktap_eq(bench_queue_reg(&y.q, TSR_QUEUE_SLICES__OFFSET), i == 2 ? 2 : 1);
	}
	ktap_eq(stage_load(&y.s, OUT), 1);
	end(&y);
}

/*
 * A bad packet after a copy: the copy and its fence are completed first. If the copy faults, its
 * fault is reported.
 */
static void fault_order(bool both)
{
	struct tsr_config config = { .no_inline = true };
	struct play y;

	begin(&y, &config);
	emit_copy(&y, both ? STAGE_DATA_SIZE - 64 : TARGET, SOURCE, BIG);
	emit_fence(&y, TSR_EVENT_ALL_DONE, 0);
	bench_emit(&y.q, y.p, pk_fence(y.p, TSR_EVENT_REACHED, false, STAGE_DATA + 1, 1));
	bench_kick(&y.q);
	tsr_gpu_run(y.s.b->gpu, 20);
	ktap_ok(bench_state(&y.q) == TSR_QUEUE_STATE_RUNNING || both);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_FAULTED);
	ktap_eq(bench_fault(&y.q), both ? TSR_FAULT_MMU_UNMAPPED : TSR_FAULT_ALIGNMENT);
	ktap_eq(bench_queue_reg(&y.q, TSR_QUEUE_FAULT_RPTR__OFFSET), both ? 0 : 32 + 24);
	ktap_eq(stage_load(&y.s, OUT), both ? 0 : 1);
	if (!both)
		ktap_mem_eq(y.s.data + TARGET, y.s.data + SOURCE, BIG);
	end(&y);
}

static void fault_orders(void)
{
	fault_order(false);
	fault_order(true);
}

int main(void)
{
	ktap_start();
	ktap_run("[CP5] the command processor is FIFO_DEPTH commands ahead", fifo_depth);
	ktap_run("[CP9] a CALL retires when the engine is done with it", call_retires);
	ktap_run("[CP6] messages for rises of RAWSTAT & MASK", interrupts);
	ktap_run("[CP7] comparisons of every kind, wrap-safe", compare);
	ktap_run("[CP7] SIGNAL sets and adds", signals);
	ktap_run("[CP7] what wakes a blocked queue", wakes);
	ktap_run("[CP7] a blocked queue's word is looked at where it is now", wakes_moved);
	ktap_run("[CP8] barriers between copies that depend on each other", barriers);
	ktap_run("[CP8] a partial flush waits for reads and for nothing else", partial_flush);
	ktap_run("[CP9] what may be overwritten after REACHED and after ALL_DONE", reuse);
	ktap_run("counter intervals", intervals);
	ktap_run("counter intervals of the ring", ring_intervals);
	ktap_run("[CP9] [MEM3] a copy in the ring before a CALL", ring_copy_before_call);
	ktap_run("[CP7] blocked, suspended, resumed", resumed_blocked);
	ktap_run("[CP5] an endless stream beside the engine", endless_beside_engine);
	ktap_run("[CP3] a fault of the command processor comes behind what the engine has",
		 fault_orders);
	return ktap_finish();
}
