/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * PROGRESS, by which the watchdog and the driver judge a queue: it grows by one with each packet
 * that retires and each burst an engine completes, and with nothing else.
 */
#include <string.h>

#include "ktap.h"
#include "shade.h"

#define SIZE 0x40000			/* of a copy, many bursts */

static uint64_t progress(struct bench_queue *q)
{
	return bench_queue_reg64(q, TSR_QUEUE_PROGRESS__OFFSET);
}

/* Run what the ring holds, a little at a time; returns how often PROGRESS has moved. */
static unsigned int moves(struct bench_queue *q)
{
	unsigned int moved = 0;

	bench_kick(q);
	for (unsigned int i = 0; i < 100000 && bench_state(q) != TSR_QUEUE_STATE_IDLE; i++) {
		uint64_t before = progress(q);

		tsr_gpu_run(q->bench->gpu, 1);
		moved += progress(q) != before;
	}
	ktap_eq(bench_state(q), TSR_QUEUE_STATE_IDLE);
	return moved;
}

/* How far a job of one copy gets; every @pending'th page is not known at first. */
static uint64_t of_copy(unsigned int pending)
{
	struct tsr_config config = { .no_inline = true };
	struct bench_queue q;
	uint64_t p[8], all;
	struct stage s;

	stage_init(&s, &config);
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	s.b->pending_every = pending;
	bench_emit(&q, p, pk_copy(p, STAGE_DATA + SIZE, STAGE_DATA, SIZE));
	if (pending) {
		bench_kick(&q);
		ktap_ok(bench_run(s.b, 10));
		ktap_ok(s.b->answers > 20);
	} else {
		ktap_ok(moves(&q) > 8);
	}
	ktap_eq(bench_fault(&q), TSR_FAULT_NONE);
	all = progress(&q);
	stage_free(&s);
	return all;
}

/* A burst that ends because it waits for the host is not complete. */
static void waiting(void)
{
	uint64_t plain = of_copy(0), late = of_copy(1);

	ktap_note("%u at once, %u if every page is waited for", (unsigned int)plain,
		  (unsigned int)late);
	ktap_ok(late < plain);
}

/* Nor has what faults. */
static void faulting(void)
{
	struct bench_queue q;
	struct stage s;
	uint64_t p[8];

	stage_init(&s, NULL);
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	bench_emit(&q, p, pk_copy(p, STAGE_DATA + STAGE_DATA_SIZE, STAGE_DATA, 64));
	bench_kick(&q);
	ktap_ok(bench_run(s.b, 10));
	ktap_eq(bench_fault(&q), TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(progress(&q), 1);
	stage_free(&s);
}

/* A long loop of a shader is many bursts. */
static void dispatch(void)
{
	static const char text[] =
		"clause flow=nbtb_unconditional {\n"
		"	*MOV.i32 r0:t0, 0x200\n"
		"	+NOP\n"
		"}\n"
		"loop: clause flow=nbtb_unconditional {\n"
		"	*NOP\n"
		"	+ICMP.i32.eq.m1 t1, r0, 0x0\n"
		"	*NOP\n"
		"	+BRANCHZ.i16.ne t1.h0, done\n"
		"}\n"
		"clause flow=nbtb_unconditional {\n"
		"	*NOP\n"
		"	+IADD.s32 r0:t1, r0, -1\n"
		"	*NOP\n"
		"	+JUMP loop\n"
		"}\n"
		"done: clause end { *NOP }\n";
	struct tsr_config config = { .cores = 1, .no_inline = true };
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code };
	struct shade_machine m;

	shade_text(&code, text);
	shade_init(&m, &config);
	shade_call(&m.s, &m.q, &d);
	ktap_ok(moves(&m.q) > 8);
	ktap_eq(bench_fault(&m.q), TSR_FAULT_NONE);
	shade_free(&m);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[SYS7] each burst of a copy is progress, waiting for the host is none", waiting);
	ktap_run("[SYS7] a command that faults is no progress", faulting);
	ktap_run("[SYS7] each burst of a DISPATCH is progress", dispatch);
	return ktap_finish();
}
