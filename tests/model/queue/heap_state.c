/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/* HEAP packets and the registers of a heap that grows; what needs it is in front_heap.c. */
#include <string.h>

#include "device/gpu.h"
#include "ktap.h"
#include "stage.h"

#define BASE 0x40000000ull

struct play {
	struct stage s;
	struct bench_queue q;
};

static void begin(struct play *y)
{
	stage_init(&y->s, NULL);
	stage_queue(&y->s, &y->q, 0, TSR_ENGINE_CLASS_BIN, 0);
}

/* Execute a HEAP packet. */
static void set(struct play *y, uint64_t base, uint32_t size, uint32_t max)
{
	const struct tsr_heap heap = { .base = base, .size = size, .max = max };
	uint64_t p[TSR_HEAP_QWORDS];

	tsr_pack_heap(p, &heap);
	bench_emit(&y->q, p, TSR_HEAP_QWORDS);
	bench_kick(&y->q);
	ktap_ok(bench_run(y->s.b, 10));
}

static void check(struct play *y, uint64_t base, uint32_t size, uint32_t max)
{
	ktap_eq(bench_queue_reg64(&y->q, TSR_QUEUE_HEAP_BASE__OFFSET), base);
	ktap_eq(bench_queue_reg(&y->q, TSR_QUEUE_HEAP_SIZE__OFFSET), size);
	ktap_eq(bench_queue_reg(&y->q, TSR_QUEUE_HEAP_MAX__OFFSET), max);
}

static void grow(struct play *y, uint32_t size)
{
	bench_write(y->s.b, TSR_REG_QUEUE_HEAP_GROW(y->q.slot), size);
}

static void test_registers(void)
{
	struct play y;

	begin(&y);
	check(&y, 0, 0, 0);
	grow(&y, 1);
	check(&y, 0, 0, 0);
	set(&y, BASE, 2, 8);
	check(&y, BASE, 2, 8);
	grow(&y, 1);		/* never less */
	check(&y, BASE, 2, 8);
	grow(&y, 8);
	check(&y, BASE, 8, 8);
	grow(&y, 9);		/* never more than the maximum */
	check(&y, BASE, 8, 8);
	set(&y, 2 * BASE, 3, 3);
	check(&y, 2 * BASE, 3, 3);
	bench_write(y.s.b, TSR_REG_QUEUE_CONTROL(0), TSR_QUEUE_OP_RESET);
	ktap_ok(bench_run(y.s.b, 10));
	check(&y, 0, 0, 0);
	stage_free(&y.s);
}

static void bad_packet(uint64_t base, uint32_t size, uint32_t max, unsigned int code,
		       unsigned int qword)
{
	struct play y;

	begin(&y);
	set(&y, base, size, max);
	ktap_eq(bench_fault(&y.q), code);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_FAULT_ADDR__OFFSET), y.q.ring_va + 8 * qword);
	check(&y, 0, 0, 0);
	stage_free(&y.s);
}

static void test_bad(void)
{
	bad_packet(BASE + 0x1000, 1, 2, TSR_FAULT_ALIGNMENT, 1);
	bad_packet(BASE, 3, 2, TSR_FAULT_BAD_VALUE, 2);
}

/* The answer to an engine, by size, maximum and FAIL_HEAP. */
static void test_need(void)
{
	struct play y;
	struct tsr_queue *q;
	struct tsr_mem mem = { 0 };

	begin(&y);
	set(&y, BASE, 2, 4);
	q = &y.s.b->gpu->queue[0];
	mem.gpu = y.s.b->gpu;
	mem.queue = q;
	ktap_ok(tsr_heap_state_is(q, BASE));
	ktap_ok(!tsr_heap_state_is(q, 0));
	ktap_ok(!tsr_heap_state_is(q, 2 * BASE));
	ktap_eq(tsr_heap_state_need(&mem, 2 * TSR_HEAP_ALIGN), TSR_STEP_DONE);
	ktap_eq(tsr_heap_state_need(&mem, 2 * TSR_HEAP_ALIGN + 1), TSR_STEP_PENDING);
	ktap_ok(tsr_heap_state_waits(q));
	grow(&y, 3);
	ktap_ok(!tsr_heap_state_waits(q));
	ktap_eq(tsr_heap_state_need(&mem, 2 * TSR_HEAP_ALIGN + 1), TSR_STEP_DONE);
	ktap_eq(tsr_heap_state_need(&mem, 4 * TSR_HEAP_ALIGN + 1), TSR_STEP_FAULT);
	ktap_eq(mem.fault.code, TSR_FAULT_HEAP_EXHAUSTED);
	ktap_eq(mem.fault.addr, BASE + 4 * TSR_HEAP_ALIGN);
	ktap_eq(tsr_heap_state_need(&mem, 4 * TSR_HEAP_ALIGN), TSR_STEP_PENDING);
	bench_write(y.s.b, TSR_REG_QUEUE_CONTROL(0), TSR_QUEUE_OP_FAIL_HEAP);
	ktap_ok(!tsr_heap_state_waits(q));
	ktap_eq(tsr_heap_state_need(&mem, 4 * TSR_HEAP_ALIGN), TSR_STEP_FAULT);
	set(&y, BASE, 2, 4);	/* the next packet is a new beginning */
	ktap_eq(tsr_heap_state_need(&mem, 4 * TSR_HEAP_ALIGN), TSR_STEP_PENDING);
	stage_free(&y.s);
}

/*
 * Memory that was asked for has come, and before the engine asks again it has to wait for a page:
 * then that is what it waits for.
 */
static void test_page(void)
{
	struct tsr_heap_state *heap;
	struct play y;

	begin(&y);
	set(&y, BASE, 1, 8);
	heap = &y.s.b->gpu->queue[y.q.slot].heap;
	heap->wanted = 1;
	y.s.b->pending_every = 1;
	bench_fence(&y.q, STAGE_DATA, 5, TSR_EVENT_ALL_DONE, true);
	bench_kick(&y.q);
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_BLOCKED);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(bench_state(&y.q), TSR_QUEUE_STATE_IDLE);
	stage_free(&y.s);
}

int main(void)
{
	ktap_start();
	ktap_run("[BIN4] HEAP packets and registers of a heap", test_registers);
	ktap_run("[CP3] HEAP packets that are wrong", test_bad);
	ktap_run("[BIN4] memory is there, can come, or never will", test_need);
	ktap_run("[BIN4] a page that is not there behind memory that has come", test_page);
	return ktap_finish();
}
