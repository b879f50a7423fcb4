/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* Offsets in STAGE_DATA: shared words, and 128 KiB for each queue. */
#define SEM_A 0x100
#define SEM_B 0x108
#define SOURCE 0x1000
#define SPACE(n) (0x40000ull + 0x20000ull * (n))
#define WORDS(n) (SPACE(n) + 0x1f000)	/* its fence words */
#define STREAM(n) (0x4000ull * (n))
#define REGISTER 42

static uint64_t p[8];

static uint64_t va(uint64_t offset)
{
	return STAGE_DATA + offset;
}

/* COPY: a nested stream, a jump, a wait for queue 1 in the middle. */
static void queue0(struct program *prog)
{
	struct stage_stream main_stream = stage_stream(prog->s, STREAM(0));
	struct stage_stream inner = stage_stream(prog->s, STREAM(0) + 0x1000);
	struct stage_stream tail = stage_stream(prog->s, STREAM(0) + 0x2000);
	struct bench_queue *q = &prog->q[0];

	stage_add(&inner, p, pk_fill(p, va(SPACE(0) + 0xc001), 20001, 0x3c));
	stage_add(&inner, p, pk_barrier(p, &(struct tsr_barrier) { .wait_writes = true }));
	stage_add(&inner, p,
		  pk_signal(p, TSR_SIGNAL_OP_ADD, TSR_EVENT_WRITES_DONE, true, va(SEM_A), 1));
	stage_add(&tail, p, pk_wait(p, TSR_COMPARE_GE, true, va(SEM_B), 5));
	stage_add(&tail, p, pk_copy(p, va(SPACE(0) + 0x14003), va(SPACE(0)), 17000));
	stage_add(&tail, p, pk_fence(p, TSR_EVENT_READS_DONE, false, va(WORDS(0)), 11));
	stage_add(&tail, p, pk_return(p));
	stage_add(&main_stream, p, pk_counter_begin(p, 1 << TSR_QUEUE_COUNTER_WRITE_BYTES));
	stage_add(&main_stream, p, pk_copy(p, va(SPACE(0)), va(SOURCE), 40000));
	stage_add(&main_stream, p, pk_fence(p, TSR_EVENT_REACHED, false, va(WORDS(0)) + 8, 12));
	stage_add(&main_stream, p, pk_counter_end(p, va(WORDS(0)) + 16));
	stage_add(&main_stream, p, pk_call(p, inner.va, inner.size));
	stage_add(&main_stream, p, pk_jump(p, tail.va, tail.size));
	stage_call(q, &main_stream);
	bench_fence(q, va(WORDS(0)) + 24, 13, TSR_EVENT_ALL_DONE, true);
	bench_emit(q, p, pk_copy(p, va(SPACE(0) + 0x19000), va(SOURCE), 9000));
	bench_emit(q, p, pk_signal_reg(p, TSR_SIGNAL_OP_ADD, TSR_EVENT_WRITES_DONE, REGISTER, 3));
	bench_fence(q, va(WORDS(0)) + 32, 14, TSR_EVENT_ALL_DONE, true);
}

/* RENDER: answers queue 0. */
static void queue1(struct program *prog)
{
	struct stage_stream stream = stage_stream(prog->s, STREAM(1));
	struct bench_queue *q = &prog->q[1];

	for (unsigned int i = 0; i < 5; i++)
		stage_add(&stream, p,
			  pk_signal(p, TSR_SIGNAL_OP_ADD, TSR_EVENT_ALL_DONE, true, va(SEM_B), 1));
	bench_emit(q, p, pk_wait(p, TSR_COMPARE_EQ, true, va(SEM_A), 1));
	stage_call(q, &stream);
	bench_emit(q, p, pk_signal_reg(p, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, REGISTER, 4));
	bench_fence(q, va(WORDS(1)), 21, TSR_EVENT_ALL_DONE, true);
}

/* COPY, of high priority: waits for both, invalidates, copies. */
static void queue2(struct program *prog)
{
	struct stage_stream stream = stage_stream(prog->s, STREAM(2));
	struct bench_queue *q = &prog->q[2];

	for (unsigned int i = 0; i < 6; i++)
		stage_add(&stream, p,
			  pk_copy(p, va(SPACE(2) + 9001 * i), va(SOURCE) + 77 * i, 9000));
	stage_call(q, &stream);
	bench_emit(q, p, pk_wait_reg(p, TSR_COMPARE_EQ, REGISTER, 7));
	bench_emit(q, p, pk_tlb(p, TSR_INV_OP_ALL, 1, 0, 0));
	stage_call(q, &stream);
	bench_fence(q, va(WORDS(2)), 31, TSR_EVENT_ALL_DONE, true);
}

/* COPY, of low priority: its last command leaves its memory. */
static void queue3(struct program *prog)
{
	struct stage_stream stream = stage_stream(prog->s, STREAM(3));
	struct bench_queue *q = &prog->q[3];

	stage_add(&stream, p, pk_fence(p, TSR_EVENT_REACHED, false, va(WORDS(3)), 41));
	stage_add(&stream, p, pk_copy(p, va(SPACE(3)), va(SOURCE), 30000));
	stage_add(&stream, p, pk_copy(p, va(STAGE_DATA_SIZE) - 20000, va(SOURCE), 30000));
	stage_add(&stream, p, pk_fence(p, TSR_EVENT_ALL_DONE, false, va(WORDS(3)) + 8, 42));
	stage_call(q, &stream);
	bench_fence(q, va(WORDS(3)) + 16, 43, TSR_EVENT_ALL_DONE, true);
}

void program_start(struct program *prog, struct stage *s)
{
	static const unsigned int cls[PROGRAM_QUEUES] = { 3, 1, 3, 3 },
				  priority[PROGRAM_QUEUES] = { 1, 1, 2, 0 };

	prog->s = s;
	for (unsigned int i = 0; i < 0x30000; i++)
		s->data[SOURCE + i] = i * 5 ^ i >> 9;
	for (unsigned int n = 0; n < PROGRAM_QUEUES; n++) {
		stage_queue(s, &prog->q[n], n, cls[n], priority[n]);
		bench_write(s->b, TSR_REG_QUEUE_TIMESLICE(n), TSR_TIMESLICE_MIN);
	}
	queue0(prog);
	queue1(prog);
	queue2(prog);
	queue3(prog);
	for (unsigned int n = 0; n < PROGRAM_QUEUES; n++) {
		prog->wptr[n] = prog->q[n].wptr;
		bench_kick(&prog->q[n]);
	}
}

bool program_over(struct program *prog)
{
	for (unsigned int n = 0; n < 3; n++) {
		if (bench_state(&prog->q[n]) != TSR_QUEUE_STATE_IDLE)
			return false;
	}
	return bench_state(&prog->q[3]) == TSR_QUEUE_STATE_FAULTED;
}

bool program_finish(struct program *prog)
{
	for (unsigned int i = 0; i < 10000; i++) {
		if (!bench_run(prog->s->b, 10))
			return false;
		if (program_over(prog))
			return true;
	}
	return false;
}

void program_collect(struct program *prog, struct program_result *result)
{
	static const uint32_t wide[] = { TSR_QUEUE_FAULT_ADDR__OFFSET, TSR_QUEUE_FAULT_PC__OFFSET,
					 TSR_QUEUE_FAULT_HEADER__OFFSET, TSR_QUEUE_CALLS__OFFSET };
	static const uint32_t narrow[] = { TSR_QUEUE_FAULT__OFFSET, TSR_QUEUE_FAULT_AS__OFFSET,
					   TSR_QUEUE_FAULT_RPTR__OFFSET, TSR_QUEUE_RPTR__OFFSET };

	memcpy(result->data, prog->s->data, sizeof(result->data));
	for (unsigned int n = 0; n < PROGRAM_QUEUES; n++) {
		for (unsigned int i = 0; i < 4; i++) {
			result->reg[n][i] = bench_queue_reg64(&prog->q[n], wide[i]);
			result->reg[n][4 + i] = bench_queue_reg(&prog->q[n], narrow[i]);
		}
	}
	result->semaphore = bench_read(prog->s->b, TSR_REG_SEMAPHORE_VALUE(REGISTER));
	result->job_irq = bench_read64(prog->s->b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_JOB));
	result->fault_irq = bench_read64(prog->s->b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_FAULT));
}

/* The undisturbed run, made once, on a device of its own. */
static const struct program_result *reference(void)
{
	static struct program_result *result;
	struct program prog;
	struct stage s;

	if (result)
		return result;
	result = calloc(1, sizeof(*result));
	stage_init(&s, NULL);
	program_start(&prog, &s);
	if (!result || !program_finish(&prog))
		abort();
	program_collect(&prog, result);
	stage_free(&s);
	return result;
}

bool program_check(struct program *prog, unsigned int skip)
{
	static struct program_result result;
	const struct program_result *want = reference();
	bool same = true;

	program_collect(prog, &result);
	for (unsigned int n = 0; n < PROGRAM_QUEUES; n++) {
		if (skip >> n & 1)
			continue;
		same = same && !memcmp(result.data + SPACE(n), want->data + SPACE(n), 0x20000);
		same = same && !memcmp(result.reg[n], want->reg[n], sizeof(result.reg[n]));
		same = same && !((result.job_irq ^ want->job_irq) >> n & 1);
		same = same && !((result.fault_irq ^ want->fault_irq) >> n & 1);
	}
	if (!skip)
		same = same && !memcmp(result.data, want->data, sizeof(result.data)) &&
		       result.semaphore == want->semaphore;
	return same;
}
