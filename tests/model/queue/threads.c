/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=120 */
/*
 * Workers: what the host is promised once an invalidation is complete, wake-ups that must not be
 * lost, resets under way. The clock of the bench stands in most of these, so no timer can make up
 * for a wake-up that was forgotten; and the test touches memory without locks as soon as it is
 * allowed to, so TSan sees a device that still uses it.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ktap.h"
#include "stage.h"

#define ROUNDS 2000
#define AREA 0x40000			/* what the endless copies write, in STAGE_DATA */

static void nap(void)
{
	const struct timespec pause = { .tv_nsec = 50000 };

	nanosleep(&pause, NULL);
}

/* A queue that copies for ever to its quarter of the page at AREA. */
static void endless_copy(struct stage *s, struct bench_queue *q, unsigned int slot)
{
	struct stage_stream stream = stage_stream(s, 0x1000 * slot);
	uint64_t p[8];

	stage_queue(s, q, slot, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	stage_add(&stream, p, pk_copy(p, STAGE_DATA + AREA + slot * (BENCH_PAGE / 4), STAGE_DATA,
				      BENCH_PAGE / 4));
	stage_add(&stream, p,
		  pk_signal(p, TSR_SIGNAL_OP_ADD, TSR_EVENT_ALL_DONE, true, STAGE_DATA + 0x8000,
			    1));
	stage_add(&stream, p,
		  pk_jump(p, stream.va,
			  8 * (TSR_COPY_LINEAR_QWORDS + TSR_SIGNAL_QWORDS + TSR_JUMP_QWORDS)));
	stage_call(q, &stream);
	bench_kick(q);
	while (stage_load(s, 0x8000) < 10)
		nap();
}

/* The page is ours now: write it, wait, and see whether anybody else has written. */
static void use_page(struct stage *s, uint8_t value)
{
	memset(s->data + AREA, value, BENCH_PAGE);
	for (unsigned int i = 0; i < 20; i++)
		nap();
	for (unsigned int i = 0; i < BENCH_PAGE; i++) {
		if (s->data[AREA + i] != value) {
			ktap_fail("byte %u is 0x%02x", i, s->data[AREA + i]);
			break;
		}
	}
}

/* A page is taken away: once the invalidation is complete no engine writes it. */
static void page_taken(void)
{
	struct tsr_config config = { .threads = 2 };
	struct bench_queue q;
	struct stage s;
	uint64_t addr;

	stage_init(&s, &config);
	for (unsigned int i = 0; i < BENCH_PAGE; i++)
		s.data[i] = i;
	for (unsigned int round = 0; round < 10; round++) {
		*stage_word(&s, 0x8000) = 0;
		endless_copy(&s, &q, 0);
		__atomic_store_n(bench_pte(&s.as[1], STAGE_DATA + AREA, 0), 0, __ATOMIC_RELEASE);
		ktap_ok(bench_invalidate(&s.as[1], STAGE_DATA + AREA, BENCH_PAGE));
		use_page(&s, 0x80 + round);
		ktap_ok(stage_until(&q, TSR_QUEUE_STATE_FAULTED));
		ktap_eq(bench_fault(&q), TSR_FAULT_MMU_UNMAPPED);
		addr = bench_queue_reg64(&q, TSR_QUEUE_FAULT_ADDR__OFFSET);
		/* between two copies, or before the last store of one */
		ktap_ok(addr == STAGE_DATA + AREA ||
			addr == STAGE_DATA + AREA + BENCH_PAGE / 4 - 16);
		bench_control(&q, TSR_QUEUE_OP_RESET);
		bench_map(&s.as[1], STAGE_DATA + AREA, s.data_bus + AREA, BENCH_PAGE, BENCH_RW);
	}
	stage_free(&s);
}

/* The memory at a bus address is removed on the host's side. */
static void host_memory_taken(void)
{
	struct tsr_config config = { .threads = 2 };
	struct bench_queue q;
	struct stage s;

	stage_init(&s, &config);
	for (unsigned int round = 0; round < 10; round++) {
		*stage_word(&s, 0x8000) = 0;
		endless_copy(&s, &q, 0);
		tsr_gpu_pause(s.b->gpu);	/* the bench's hole has no lock */
		s.b->hole_base = s.data_bus + AREA;
		s.b->hole_size = BENCH_PAGE;
		tsr_gpu_resume(s.b->gpu);
		tsr_gpu_host_invalidate(s.b->gpu, s.b->hole_base, s.b->hole_size);
		use_page(&s, 0x40 + round);
		ktap_ok(stage_until(&q, TSR_QUEUE_STATE_FAULTED));
		ktap_eq(bench_fault(&q), TSR_FAULT_BUS);
		bench_control(&q, TSR_QUEUE_OP_RESET);
		s.b->hole_size = 0;
	}
	stage_free(&s);
}

/* While the device is paused nothing is written; invalidations complete at once. */
static void paused(void)
{
	struct tsr_config config = { .threads = 2 };
	struct bench_queue q;
	struct stage s;

	stage_init(&s, &config);
	endless_copy(&s, &q, 0);
	for (unsigned int round = 0; round < 20; round++) {
		uint64_t count;

		tsr_gpu_pause(s.b->gpu);
		count = *stage_word(&s, 0x8000);
		use_page(&s, round);
		ktap_eq(*stage_word(&s, 0x8000), count);
		bench_write(s.b, TSR_REG_AS_COMMAND(1), TSR_INV_OP_ALL);
		ktap_eq(bench_read(s.b, TSR_REG_AS_STATUS(1)), 0);
		ktap_eq(bench_field(bench_read(s.b, TSR_REG_GPU_STATUS),
				    TSR_GPU_STATUS_ENGINES_BUSY__MASK),
			0);
		tsr_gpu_resume(s.b->gpu);
		for (unsigned int i = 0; stage_load(&s, 0x8000) == count && i < 100000; i++)
			nap();
		ktap_ok(stage_load(&s, 0x8000) > count);
	}
	stage_free(&s);
}

/*
 * CONTROL.RESET while three engines run: busy for a moment, in which writes are ignored, then
 * everything is off.
 */
static void reset_register(void)
{
	struct tsr_config config = { .threads = 3, .engines = { 1, 1, 1, 3 } };
	struct bench_queue q[3];
	struct stage s;

	stage_init(&s, &config);
	for (unsigned int round = 1; round <= 10; round++) {
		unsigned int tries = 0;

		for (unsigned int n = 0; n < 3; n++) {
			*stage_word(&s, 0x8000) = 0;
			endless_copy(&s, &q[n], n);
			/* The next one starts from its own count. */
			bench_control(&q[n], TSR_QUEUE_OP_SUSPEND);
			ktap_ok(stage_until(&q[n], TSR_QUEUE_STATE_SUSPENDED));
		}
		for (unsigned int n = 0; n < 3; n++)
			bench_control(&q[n], TSR_QUEUE_OP_RESUME);
		bench_write(s.b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
		while (bench_read(s.b, TSR_REG_GPU_STATUS) & TSR_GPU_STATUS_RESET_BUSY__MASK) {
			bench_write(s.b, TSR_REG_QUEUE_TIMESLICE(5), 7777);
			if (!(bench_read(s.b, TSR_REG_GPU_STATUS) &
			      TSR_GPU_STATUS_RESET_BUSY__MASK))
				bench_write(s.b, TSR_REG_QUEUE_TIMESLICE(5), 0);
			if (++tries > 1000000)
				break;
		}
		ktap_eq(bench_read(s.b, TSR_REG_QUEUE_TIMESLICE(5)), 0);
		use_page(&s, round);
		ktap_eq(bench_read(s.b, TSR_REG_GPU_RESET_COUNT), round);
		ktap_eq(s.b->interrupts[TSR_IRQ_CLASS_GLOBAL] > 0, true);
		for (unsigned int n = 0; n < 3; n++)
			ktap_eq(bench_state(&q[n]), TSR_QUEUE_STATE_DISABLED);
		for (unsigned int i = 0; i < 2; i++) {
			bench_write64(s.b, TSR_REG_AS_BASE(i),
				      s.as[i].root | TSR_AS_BASE_VALID__MASK);
			ktap_ok(bench_invalidate_all(&s.as[i]));
		}
	}
	stage_free(&s);
}

/* Two queues answer each other by semaphores in memory, on two workers: no wake-up is lost. */
static void ping_pong(void)
{
	struct tsr_config config = { .threads = 2, .no_inline = true };
	struct stage_stream stream[2];
	struct bench_queue q[2];
	struct stage s;
	uint64_t p[8];

	stage_init(&s, &config);
	for (unsigned int n = 0; n < 2; n++) {
		stage_queue(&s, &q[n], n, n ? TSR_ENGINE_CLASS_COMPUTE : TSR_ENGINE_CLASS_RENDER,
			    0);
		stream[n] = stage_stream(&s, n * 0x20000);
		for (uint64_t i = 0; i < ROUNDS; i++) {
			stage_add(&stream[n], p,
				  pk_wait(p, TSR_COMPARE_EQ, false, STAGE_DATA + 64 * n,
					  i + (n == 0 ? 0 : 1)));
			stage_add(&stream[n], p,
				  pk_signal(p, TSR_SIGNAL_OP_ADD,
					    n ? TSR_EVENT_REACHED : TSR_EVENT_ALL_DONE, false,
					    STAGE_DATA + 64 * !n, 1));
		}
		stage_call(&q[n], &stream[n]);
	}
	bench_kick(&q[0]);
	bench_kick(&q[1]);
	/* the last word of the one is written by the other */
	for (unsigned int n = 0; n < 2; n++)
		ktap_ok(stage_until(&q[n], TSR_QUEUE_STATE_IDLE));
	for (unsigned int n = 0; n < 2; n++)
		ktap_eq(stage_load(&s, 64 * n), ROUNDS);
	stage_free(&s);
}

/*
 * 16 queues on 3 workers, doorbells at any moment, jobs of packets and of copies; then all is done,
 * and right.
 */
static void many_jobs(void)
{
	struct tsr_config config = { .threads = 3, .engines = { 1, 1, 1, 2 } };
	uint64_t done[16] = { 0 };
	struct bench_queue q[16];
	struct stage s;
	uint64_t p[8];

	stage_init(&s, &config);
	for (unsigned int n = 0; n < 16; n++)
		stage_queue(&s, &q[n], n, n < 12 ? TSR_ENGINE_CLASS_COPY : n % 3, n % 4);
	for (unsigned int i = 0; i < 16 * 200; i++) {
		unsigned int n = i * 7 % 16;

		while (bench_room(&q[n]) < 128)
			nap();
		if (n < 12)
			bench_emit(&q[n], p,
				   pk_copy(p, STAGE_DATA + 0x20000 + 0x4000 * n,
					   STAGE_DATA + 0x10000, 0x3000));
		bench_fence(&q[n], STAGE_DATA + 64 * n, ++done[n], TSR_EVENT_ALL_DONE, true);
		bench_kick(&q[n]);
	}
	for (unsigned int n = 0; n < 16; n++) {
		ktap_ok(stage_until(&q[n], TSR_QUEUE_STATE_IDLE));
		ktap_eq(stage_load(&s, 64 * n), done[n]);
		ktap_eq(bench_fault(&q[n]), TSR_FAULT_NONE);
	}
	stage_free(&s);
}

/* Translations that are not known yet, answered by another thread than the one that asked. */
static void answered_later(void)
{
	struct tsr_config config = { .threads = 2 };
	struct bench_queue q[2];
	struct stage s;
	uint64_t p[8];

	stage_init(&s, &config);
	s.b->pending_every = 1;
	for (unsigned int i = 0; i < 0x10000; i++)
		s.data[0x10000 + i] = i * 3;
	for (unsigned int n = 0; n < 2; n++) {
		stage_queue(&s, &q[n], n, TSR_ENGINE_CLASS_COPY, 0);
		bench_emit(&q[n], p,
			   pk_copy(p, STAGE_DATA + 0x40000 + 0x20000 * n, STAGE_DATA + 0x10000,
				   0x10000));
		bench_fence(&q[n], STAGE_DATA + 64 * n, 5, TSR_EVENT_ALL_DONE, true);
		bench_kick(&q[n]);
	}
	for (unsigned int i = 0; i < 100000 && !(stage_load(&s, 0) && stage_load(&s, 64)); i++) {
		bench_answer(s.b);
		nap();
	}
	for (unsigned int n = 0; n < 2; n++) {
		ktap_eq(stage_load(&s, 64 * n), 5);
		ktap_mem_eq(s.data + 0x40000 + 0x20000 * n, s.data + 0x10000, 0x10000);
	}
	stage_free(&s);
}

int main(void)
{
	ktap_start();
	ktap_run("[MEM2] a page is not touched after its invalidation is complete", page_taken);
	ktap_run("[MEM1] host memory is not touched after tsr_gpu_host_invalidate()",
		 host_memory_taken);
	ktap_run("nothing is touched while the device is paused", paused);
	ktap_run("[SYS7] CONTROL.RESET while three engines run", reset_register);
	ktap_run("[CP7] two workers wake each other", ping_pong);
	ktap_run("[CP1] 3200 jobs of 16 queues on three workers", many_jobs);
	ktap_run("[MEM1] translations answered later", answered_later);
	return ktap_finish();
}
