/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Rings: wrap-around, empty and full, every size, wrong doorbells; and one blocked behind a WAIT
 * while it fills.
 */
#include <string.h>

#include "ktap.h"
#include "stage.h"

/* Semaphore words that rings wait for and count in. */
#define GATE 0x800
#define COUNT 0x808

static void emit_count(struct bench_queue *q)
{
	uint64_t p[8];

	bench_emit(q, p,
		   pk_signal(p, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, true, STAGE_DATA + COUNT, 1));
}

/* Twice round a ring of 2^log2 bytes, the pointers starting close to the wrap of their 32 bits. */
static void go_round(unsigned int log2)
{
	uint32_t size = 1u << log2, start = 0u - 3 * 24, rptr;
	uint64_t jobs = 2ull * size / 24 + 7;
	struct bench_queue q;
	struct stage s;

	stage_init(&s, NULL);
	bench_queue_init(&q, 0, TSR_ENGINE_CLASS_COPY, 0, &s.as[0], STAGE_RING, log2, &s.as[1]);
	bench_control(&q, TSR_QUEUE_OP_RESET);
	bench_enable(&q, start);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	for (uint64_t i = 0; i < jobs; i++) {
		emit_count(&q);
		if (i % 50 == 49 || i == jobs - 1) {
			bench_kick(&q);
			ktap_ok(bench_run(s.b, 10));
		}
	}
	rptr = bench_queue_reg(&q, TSR_QUEUE_RPTR__OFFSET);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	ktap_eq(stage_load(&s, COUNT), jobs);
	ktap_eq(rptr, q.wptr);
	ktap_eq(bench_queue_reg(&q, TSR_QUEUE_WPTR__OFFSET), q.wptr);
	ktap_eq(bench_read(s.b, TSR_REG_DOORBELL_RING(0)), q.wptr);
	/* Three jobs lie before 2^32, the others and the padding after it. */
	ktap_ok(rptr >= (jobs - 3) * 24 && rptr < (jobs - 3) * 24 + 3 * 16);
	stage_free(&s);
}

static void all_sizes(void)
{
	for (unsigned int log2 = TSR_RING_LOG2_MIN; log2 <= TSR_RING_LOG2_MAX; log2++)
		go_round(log2);
}

/* A ring filled to the last byte behind a packet that blocks; not one byte more fits. */
static void full(void)
{
	const unsigned int jobs = (4096 - 24) / 24;
	struct bench_queue q;
	struct stage s;
	uint64_t p[8];

	stage_init(&s, NULL);
	stage_queue(&s, &q, 5, TSR_ENGINE_CLASS_COPY, 0);
	bench_emit(&q, p, pk_wait(p, TSR_COMPARE_EQ, true, STAGE_DATA + GATE, 1));
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_BLOCKED);
	for (unsigned int i = 0; i < jobs; i++)
		emit_count(&q);
	while (bench_room(&q))
		bench_emit(&q, p, pk_nop(p, 1));
	ktap_eq(q.wptr, 4096);
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_BLOCKED);
	ktap_eq(bench_queue_reg(&q, TSR_QUEUE_RPTR__OFFSET), 0);
	ktap_eq(stage_load(&s, COUNT), 0);
	*stage_word(&s, GATE) = 1;
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	ktap_eq(stage_load(&s, COUNT), jobs);
	ktap_eq(bench_queue_reg(&q, TSR_QUEUE_RPTR__OFFSET), 4096);
	stage_free(&s);
}

/* A doorbell with the present value, and one that takes packets back that have not been reached. */
static void doorbell_again(void)
{
	struct bench_queue q;
	struct stage s;
	uint64_t p[8];

	stage_init(&s, NULL);
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, 0);
	bench_kick(&q);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	bench_emit(&q, p, pk_wait(p, TSR_COMPARE_EQ, true, STAGE_DATA + GATE, 1));
	emit_count(&q);
	emit_count(&q);
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	q.wptr -= 24;
	bench_kick(&q);
	*stage_word(&s, GATE) = 1;
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(stage_load(&s, COUNT), 1);
	ktap_eq(bench_queue_reg(&q, TSR_QUEUE_RPTR__OFFSET), q.wptr);
	stage_free(&s);
}

static void bad_doorbell(uint32_t wptr, uint32_t rptr, bool running)
{
	struct bench_queue q;
	struct stage s;
	uint64_t p[8];

	stage_init(&s, NULL);
	stage_queue(&s, &q, 7, TSR_ENGINE_CLASS_COPY, 0);
	bench_control(&q, TSR_QUEUE_OP_RESET);
	bench_enable(&q, rptr);
	if (running) {
		bench_emit(&q, p, pk_wait(p, TSR_COMPARE_EQ, true, STAGE_DATA + GATE, 1));
		emit_count(&q);
		bench_kick(&q);
		ktap_ok(bench_run(s.b, 10));
	}
	bench_write(s.b, TSR_REG_DOORBELL_RING(7), wptr);
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_FAULTED);
	ktap_eq(bench_fault(&q), TSR_FAULT_BAD_WPTR);
	ktap_eq(bench_queue_reg64(&q, TSR_QUEUE_FAULT_ADDR__OFFSET), wptr);
	ktap_eq(bench_queue_reg(&q, TSR_QUEUE_FAULT_RPTR__OFFSET), rptr);
	ktap_eq(bench_field(bench_queue_reg(&q, TSR_QUEUE_FAULT__OFFSET),
			    TSR_QUEUE_FAULT_UNIT__MASK),
		TSR_UNIT_SLOT);
	ktap_eq(bench_read64(s.b, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_FAULT)), 1 << 7);
	/* Nothing runs any more, whatever the doorbell says. */
	*stage_word(&s, GATE) = 1;
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(stage_load(&s, COUNT), 0);
	stage_free(&s);
}

static void bad_doorbells(void)
{
	bad_doorbell(4, 0, false);
	bad_doorbell(4097, 0, false);
	bad_doorbell(4096 + 8, 0, false);
	bad_doorbell(0u - 8, 0, false);
	bad_doorbell(0, 8, false);
	bad_doorbell(0xfffffff0u, 0xfffffff8u, false);
	bad_doorbell(4096 + 8, 0, true);
	bad_doorbell(12, 0, true);
}

/* A packet that straddles the end of the ring, and one that reaches beyond the write pointer. */
static void bounds(void)
{
	struct bench_queue q;
	struct stage s;
	uint64_t p[8];
	uint8_t *ring;

	stage_init(&s, NULL);
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, 0);
	ring = bench_ptr(s.b, q.ring_bus, 4096);
	bench_emit(&q, p, pk_nop(p, 1));
	pk_fence(p, TSR_EVENT_REACHED, false, STAGE_DATA, 9);
	memcpy(ring + 8, p, 16);
	bench_write(s.b, TSR_REG_DOORBELL_RING(0), 24);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_fault(&q), TSR_FAULT_STREAM_BOUND);
	ktap_eq(bench_queue_reg64(&q, TSR_QUEUE_FAULT_PC__OFFSET), STAGE_RING + 8);
	ktap_eq(bench_queue_reg64(&q, TSR_QUEUE_FAULT_HEADER__OFFSET), p[0]);
	ktap_eq(bench_queue_reg(&q, TSR_QUEUE_RPTR__OFFSET), 8);

	bench_control(&q, TSR_QUEUE_OP_RESET);
	bench_enable(&q, 4096 - 16);
	memcpy(ring + 4096 - 16, p, 16);
	memcpy(ring, p + 2, 8);
	bench_write(s.b, TSR_REG_DOORBELL_RING(0), 4096 + 8);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_fault(&q), TSR_FAULT_STREAM_BOUND);
	ktap_eq(bench_queue_reg64(&q, TSR_QUEUE_FAULT_PC__OFFSET), STAGE_RING + 4096 - 16);
	ktap_eq(stage_load(&s, 0), 0);
	stage_free(&s);
}

/* All slots, one ring each, one job each; then all again. */
static void many_rings(void)
{
	struct bench_queue q[TSR_QUEUES_MAX];
	struct stage s;

	stage_init(&s, NULL);
	for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++)
		stage_queue(&s, &q[i], i, i % 4, i / 4 % 4);
	for (unsigned int round = 1; round <= 2; round++) {
		for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++)
			bench_fence(&q[i], STAGE_DATA + 8 * i, 100 * round + i, TSR_EVENT_ALL_DONE,
				    false);
		for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++)
			bench_kick(&q[i]);
		ktap_ok(bench_run(s.b, 10));
		for (unsigned int i = 0; i < TSR_QUEUES_MAX; i++)
			ktap_eq(stage_load(&s, 8 * i), 100 * round + i);
	}
	stage_free(&s);
}

int main(void)
{
	ktap_start();
	ktap_run("[CP1] rings of every size wrap, and their pointers do", all_sizes);
	ktap_run("[CP1] a ring is filled to the last byte behind a blocked packet", full);
	ktap_run("[CP1] doorbells that say nothing new, or take packets back", doorbell_again);
	ktap_run("[CP1] impossible doorbell values fault precisely", bad_doorbells);
	ktap_run("[CP1] packets beyond the write pointer or the ring's end fault", bounds);
	ktap_run("[CP1] 64 rings of four classes", many_rings);
	return ktap_finish();
}
