/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=120 */
/*
 * The scheduler: priorities, slices, starvation, engines side by side, work where the doorbell
 * rings.
 */
#include <string.h>
#include <time.h>

#include "device/gpu.h"
#include "ktap.h"
#include "stage.h"

#define SLICE TSR_TIMESLICE_MIN
/* cycles of a round of the endless stream: SIGNAL and JUMP */
#define ROUND 6
#define COUNTS 0x1000			/* word n: rounds of queue n */
#define STREAM_STEP 0x1000		/* one stream a queue */

struct play {
	struct stage s;
	struct bench_queue q[8];
	uint64_t p[8];
};

static void begin(struct play *y, const struct tsr_config *config)
{
	stage_init(&y->s, config);
}

static void end(struct play *y)
{
	stage_free(&y->s);
}

/* Queue @n runs a stream that counts for ever. */
static void endless(struct play *y, unsigned int n, enum tsr_engine_class cls,
		    enum tsr_priority priority)
{
	struct stage_stream stream = stage_stream(&y->s, STREAM_STEP * n);

	stage_queue(&y->s, &y->q[n], n, cls, priority);
	bench_write(y->s.b, TSR_REG_QUEUE_TIMESLICE(n), SLICE);
	stage_add(&stream, y->p, pk_signal(y->p, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, true,
					   STAGE_DATA + COUNTS + 8 * n, 1));
	stage_add(&stream, y->p, pk_jump(y->p, stream.va, 48));
	stage_call(&y->q[n], &stream);
	bench_kick(&y->q[n]);
}

static uint64_t count(struct play *y, unsigned int n)
{
	return stage_load(&y->s, COUNTS + 8 * n);
}

static uint32_t slices(struct play *y, unsigned int n)
{
	return bench_queue_reg(&y->q[n], TSR_QUEUE_SLICES__OFFSET);
}

/* Let the device work for @cycles, in turns. */
static void work(struct play *y, uint64_t cycles)
{
	while (cycles) {
		uint64_t turn = cycles < 4096 ? cycles : 4096;

		tsr_gpu_run(y->s.b->gpu, turn);
		cycles -= turn;
	}
}

/* Three equals share an engine slice by slice. */
static void round_robin(void)
{
	struct tsr_config config = { .no_inline = true };
	struct play y;

	begin(&y, &config);
	for (unsigned int n = 0; n < 3; n++)
		endless(&y, n, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	work(&y, 300 * SLICE);
	for (unsigned int n = 0; n < 3; n++) {
		/* A slice is over with the packet that exceeds it. */
		ktap_ok(slices(&y, n) >= 98 && slices(&y, n) <= 101);
		ktap_ok(count(&y, n) >= 98 * SLICE / ROUND &&
			count(&y, n) <= 102 * (SLICE / ROUND + 1));
		ktap_ok(bench_queue_reg(&y.q[n], TSR_QUEUE_PREEMPTIONS__OFFSET) >=
			slices(&y, n) - 1);
	}
	end(&y);
}

/*
 * A queue alone on the device goes on slice after slice, and still comes back when the cycles it
 * was given are used up.
 */
static void alone(void)
{
	struct tsr_config config = { .no_inline = true };
	struct play y;
	uint64_t spent = 0;

	begin(&y, &config);
	endless(&y, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	/* One packet at a time: the end of the slice falls on the end of the turn. */
	for (unsigned int i = 0; i < 2000; i++)
		spent += tsr_gpu_run(y.s.b->gpu, 1);
	ktap_eq(spent, 3 + 1999 * ROUND / 2);
	ktap_eq(count(&y, 0), 1000);
	ktap_eq(slices(&y, 0), 1);
	ktap_eq(bench_queue_reg(&y.q[0], TSR_QUEUE_PREEMPTIONS__OFFSET), 0);
	end(&y);
}

/* Levels: the higher runs, the lower gets one slice in STARVATION_SLICES + 1. */
static void starvation(void)
{
	struct tsr_config config = { .no_inline = true };
	const unsigned int periods = 20;
	struct play y;

	begin(&y, &config);
	endless(&y, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_LOW);
	endless(&y, 1, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_REALTIME);
	work(&y, (uint64_t)periods * (TSR_STARVATION_SLICES + 1) * (SLICE + ROUND));
	ktap_ok(slices(&y, 0) >= periods - 1 && slices(&y, 0) <= periods + 1);
	ktap_ok(count(&y, 0) >= (periods - 1) * (SLICE / ROUND));
	ktap_ok(count(&y, 1) >= count(&y, 0) * (TSR_STARVATION_SLICES - 1));
	end(&y);
}

/* Which of two queues that are ready gets the engine. */
static void next_one(void)
{
	enum { S = TSR_STARVATION_SLICES };
	static const struct {
		unsigned int passed[2], priority[2], order[2], first;
	} rows[] = {
		{ { 0, 0 }, { 1, 1 }, { 5, 6 }, 0 }, { { 0, 0 }, { 1, 1 }, { 6, 5 }, 1 },
		{ { 0, 0 }, { 1, 2 }, { 5, 6 }, 1 }, { { 0, 0 }, { 2, 1 }, { 6, 5 }, 0 },
		{ { S - 1, 0 }, { 1, 2 }, { 5, 6 }, 1 }, { { S, 0 }, { 1, 2 }, { 6, 5 }, 0 },
		{ { 0, S }, { 2, 1 }, { 5, 6 }, 1 }, { { 0, S - 1 }, { 2, 1 }, { 6, 5 }, 0 },
		/* of two that starve the one that has waited longer */
		{ { S, S + 1 }, { 2, 1 }, { 5, 6 }, 1 }, { { S + 1, S }, { 1, 2 }, { 6, 5 }, 0 },
		{ { S, S }, { 1, 2 }, { 5, 6 }, 0 }, { { S + 3, S + 3 }, { 2, 1 }, { 6, 5 }, 1 },
	};
	struct tsr_config config = { .no_inline = true };

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct play y;

		begin(&y, &config);
		for (unsigned int n = 0; n < 2; n++) {
			struct tsr_queue *q = &y.s.b->gpu->queue[n];

			endless(&y, n, TSR_ENGINE_CLASS_COPY, rows[i].priority[n]);
			ktap_eq(q->state, TSR_QUEUE_STATE_READY);
			q->passed = rows[i].passed[n];
			q->order = rows[i].order[n];
		}
		tsr_gpu_run(y.s.b->gpu, 2 * ROUND);
		if (!ktap_ok(slices(&y, rows[i].first) == 1 && slices(&y, !rows[i].first) == 0))
			ktap_note("row %u", i);
		end(&y);
	}
}

/*
 * A bounded wait: with floods above and beside it, each queue runs within the bound that the guide
 * gives.
 */
static void bounded_wait(void)
{
	struct tsr_config config = { .no_inline = true };
	uint64_t last[8], worst[8] = { 0 }, seen[8] = { 0 }, now;
	struct play y;

	begin(&y, &config);
	for (unsigned int n = 0; n < 8; n++)
		endless(&y, n, TSR_ENGINE_CLASS_RENDER, n / 2);
	for (unsigned int n = 0; n < 8; n++)
		last[n] = 0;
	for (unsigned int i = 0; i < 4000; i++) {
		tsr_gpu_run(y.s.b->gpu, SLICE / 8);
		now = bench_read64(y.s.b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_GPU_CYCLES));
		for (unsigned int n = 0; n < 8; n++) {
			if (count(&y, n) == seen[n])
				continue;
			seen[n] = count(&y, n);
			worst[n] = now - last[n] > worst[n] ? now - last[n] : worst[n];
			last[n] = now;
		}
	}
	/*
	 * STARVATION_SLICES, and the seven others may starve as well; one slice for looking only
	 * now and then.
	 */
	for (unsigned int n = 0; n < 8; n++) {
		ktap_ok(seen[n] > 0);
		ktap_ok(worst[n] <= (TSR_STARVATION_SLICES + 7 + 2) * (uint64_t)(SLICE + ROUND));
	}
	end(&y);
}

/*
 * A queue of higher priority gets the engine at the next preemption point, long before the slice is
 * over.
 */
static void preemption(void)
{
	struct tsr_config config = { .no_inline = true };
	struct play y;

	begin(&y, &config);
	endless(&y, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	bench_write(y.s.b, TSR_REG_QUEUE_TIMESLICE(0), 1000000);
	work(&y, 5000);
	stage_queue(&y.s, &y.q[1], 1, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_HIGH);
	bench_fence(&y.q[1], STAGE_DATA, 1, TSR_EVENT_ALL_DONE, true);
	bench_kick(&y.q[1]);
	work(&y, 3);
	ktap_eq(stage_load(&y.s, 0), 1);
	/* An equal waits for the end of the slice. */
	stage_queue(&y.s, &y.q[2], 2, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	bench_fence(&y.q[2], STAGE_DATA + 8, 1, TSR_EVENT_ALL_DONE, true);
	work(&y, 100);
	bench_kick(&y.q[2]);
	work(&y, 10000);
	ktap_eq(stage_load(&y.s, 8), 0);
	work(&y, 1000000);
	ktap_eq(stage_load(&y.s, 8), 1);
	end(&y);
}

/* Copies of eight queues, cut into slices by each other: every byte as if each had been alone. */
static void bit_exact(void)
{
	struct tsr_config config = { .no_inline = true };
	const uint64_t from = 0x10000, step = 0x10000;
	struct play y;

	begin(&y, &config);
	for (unsigned int i = 0; i < 0x10000; i++)
		y.s.data[from + i] = i * 13 ^ i >> 5;
	for (unsigned int n = 0; n < 8; n++) {
		stage_queue(&y.s, &y.q[n], n, TSR_ENGINE_CLASS_COPY, n % 4);
		bench_write(y.s.b, TSR_REG_QUEUE_TIMESLICE(n), SLICE);
		for (unsigned int k = 0; k < 8; k++) {
			uint64_t at = 0x2000 * k;

			bench_emit(&y.q[n], y.p,
				   pk_copy(y.p, STAGE_DATA + from + step * (n + 1) + at,
					   STAGE_DATA + from + at + n, 0x2000 - n));
		}
	}
	for (unsigned int n = 0; n < 8; n++)
		bench_kick(&y.q[n]);
	ktap_ok(bench_run(y.s.b, 10));
	for (unsigned int n = 0; n < 8; n++) {
		for (unsigned int k = 0; k < 8; k++)
			ktap_mem_eq(y.s.data + from + step * (n + 1) + 0x2000 * k,
				    y.s.data + from + 0x2000 * k + n, 0x2000 - n);
		ktap_eq(bench_state(&y.q[n]), TSR_QUEUE_STATE_IDLE);
	}
	/* Each has 8 commands of 256 cycles and more, and 7 competitors. */
	ktap_ok(bench_queue_reg(&y.q[0], TSR_QUEUE_PREEMPTIONS__OFFSET) >= 1);
	end(&y);
}

/* True if each of the first three queues has come far. */
static bool all_far(struct play *y)
{
	return count(y, 0) > 100 && count(y, 1) > 100 && count(y, 2) > 100;
}

/* Engines of different classes, and two of one class, are inside jobs at the same moment. */
static void side_by_side(unsigned int threads)
{
	struct tsr_config config = { .threads = threads,
				     .engines = { 0, 1, 0, 2 },
				     .no_inline = true };
	const unsigned int classes[3] = { TSR_ENGINE_CLASS_COPY, TSR_ENGINE_CLASS_COPY,
					  TSR_ENGINE_CLASS_RENDER };
	const struct timespec pause = { .tv_nsec = 200000 };
	unsigned int together = 0, engines = 0;
	struct play y;

	begin(&y, &config);
	y.s.b->real_clock = true;
	for (unsigned int n = 0; n < 3; n++)
		endless(&y, n, classes[n], TSR_PRIORITY_NORMAL);
	for (unsigned int i = 0; i < 5000 && (together < 50 || !all_far(&y)); i++) {
		unsigned int running = 0, at = 0;

		if (threads)
			nanosleep(&pause, NULL);
		else
			tsr_gpu_run(y.s.b->gpu, 1000);
		for (unsigned int n = 0; n < 3; n++) {
			uint32_t state = bench_queue_reg(&y.q[n], TSR_QUEUE_STATE__OFFSET);

			if (bench_field(state, TSR_QUEUE_STATE_STATE__MASK) !=
			    TSR_QUEUE_STATE_RUNNING)
				continue;
			running++;
			at |= 1 << (bench_field(state, TSR_QUEUE_STATE_ENGINE__MASK) +
				    8 * classes[n]);
		}
		together += running == 3;
		engines |= at;
	}
	ktap_ok(together >= 50);
	/* COPY engines 0 and 1, RENDER engine 0. */
	ktap_eq(engines, 3 << 24 | 1 << 8);
	ktap_ok(all_far(&y));
	ktap_eq(bench_field(bench_read(y.s.b, TSR_REG_GPU_STATUS),
			    TSR_GPU_STATUS_ENGINES_BUSY__MASK),
		3);
	ktap_ok(bench_read64(y.s.b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_OVERLAP_TIME)) > 0);
	ktap_ok(bench_read64(y.s.b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_RENDER_BUSY_TIME)) >
		0);
	ktap_eq(bench_read64(y.s.b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_BIN_BUSY_TIME)), 0);
	/* A class without engines cannot be configured. */
	stage_queue(&y.s, &y.q[5], 5, TSR_ENGINE_CLASS_BIN, 0);
	ktap_eq(bench_fault(&y.q[5]), TSR_FAULT_BAD_CONFIG);
	ktap_eq(bench_queue_reg64(&y.q[5], TSR_QUEUE_FAULT_ADDR__OFFSET), TSR_QUEUE_CONFIG__OFFSET);
	end(&y);
}

static void side_by_side_virtual(void)
{
	side_by_side(0);
}

static void side_by_side_threads(void)
{
	side_by_side(3);
}

/* One worker for three engines: nobody is left out. */
static void few_threads(void)
{
	struct tsr_config config = { .threads = 1 };
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct play y;
	bool all = false;

	begin(&y, &config);
	for (unsigned int n = 0; n < 4; n++)
		endless(&y, n, n, n);
	for (unsigned int i = 0; i < 5000 && !all; i++) {
		nanosleep(&pause, NULL);
		all = count(&y, 0) > 500 && count(&y, 1) > 500 && count(&y, 2) > 500 &&
		      count(&y, 3) > 500;
	}
	ktap_ok(all);
	end(&y);
}

/*
 * Where the doorbell rings: packets are done when it returns, within the budget; engine commands
 * never are.
 */
static void inline_work(void)
{
	struct tsr_config config = { .inline_budget = 100 };
	struct play y;

	begin(&y, &config);
	stage_queue(&y.s, &y.q[0], 0, TSR_ENGINE_CLASS_COPY, 0);
	bench_fence(&y.q[0], STAGE_DATA, 1, TSR_EVENT_ALL_DONE, true);
	bench_kick(&y.q[0]);
	ktap_eq(stage_load(&y.s, 0), 1);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_IDLE);
	ktap_eq(y.s.b->interrupts[TSR_IRQ_CLASS_JOB], 1);
	ktap_eq(bench_read64(y.s.b, TSR_REG_COUNTER_VALUE(TSR_GLOBAL_COUNTER_INLINE_CYCLES)), 3);
	ktap_eq(y.s.b->works, 0);
	/* An engine command: packets before and after it are executed, the command is not. */
	bench_emit(&y.q[0], y.p, pk_copy(y.p, STAGE_DATA + 64, STAGE_DATA, 8));
	bench_fence(&y.q[0], STAGE_DATA, 2, TSR_EVENT_REACHED, false);
	bench_fence(&y.q[0], STAGE_DATA + 8, 3, TSR_EVENT_ALL_DONE, false);
	bench_kick(&y.q[0]);
	ktap_eq(stage_load(&y.s, 0), 2);
	ktap_eq(stage_load(&y.s, 8), 0);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_READY);
	ktap_ok(y.s.b->works > 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(stage_load(&y.s, 8), 3);
	ktap_eq(stage_load(&y.s, 64), 2);
	/* More than the budget: some now, the rest by the workers. */
	for (unsigned int i = 0; i < 100; i++)
		bench_fence(&y.q[0], STAGE_DATA, 10 + i, TSR_EVENT_REACHED, false);
	bench_kick(&y.q[0]);
	ktap_eq(stage_load(&y.s, 0), 10 + 33);
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_READY);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(stage_load(&y.s, 0), 10 + 99);
	end(&y);
}

/*
 * One queue blocked for ever: its ring is full, its engine is free, another queue of the class
 * works on.
 */
static void blocked_and_busy(void)
{
	struct play y;

	begin(&y, NULL);
	stage_queue(&y.s, &y.q[0], 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_REALTIME);
	stage_queue(&y.s, &y.q[1], 1, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_LOW);
	bench_emit(&y.q[0], y.p, pk_wait(y.p, TSR_COMPARE_EQ, true, STAGE_DATA, 1));
	while (bench_room(&y.q[0]) >= 24)
		bench_fence(&y.q[0], STAGE_DATA + 8, 1, TSR_EVENT_ALL_DONE, false);
	bench_kick(&y.q[0]);
	for (unsigned int i = 1; i <= 100; i++) {
		bench_emit(&y.q[1], y.p,
			   pk_copy(y.p, STAGE_DATA + 0x10000, STAGE_DATA + 0x20000, 0x8000));
		bench_fence(&y.q[1], STAGE_DATA + 16, i, TSR_EVENT_ALL_DONE, false);
		bench_kick(&y.q[1]);
		ktap_ok(bench_run(y.s.b, 10));
		ktap_eq(stage_load(&y.s, 16), i);
	}
	ktap_eq(bench_state(&y.q[0]), TSR_QUEUE_STATE_BLOCKED);
	ktap_eq(stage_load(&y.s, 8), 0);
	ktap_eq(slices(&y, 0), 1);
	end(&y);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS10] equals share an engine slice by slice", round_robin);
	ktap_run("a queue alone", alone);
	ktap_run("[SYS10] which of two queues runs next", next_one);
	ktap_run("[SYS10] the lowest level is not starved by the highest", starvation);
	ktap_run("[SYS10] eight floods at four levels: everybody's wait is bounded", bounded_wait);
	ktap_run("[SYS10] a higher level takes the engine at the next stopping point", preemption);
	ktap_run("[SYS10] results are bit-exact after many switches", bit_exact);
	ktap_run("[SYS10] three engines run at once, by turns of one thread", side_by_side_virtual);
	ktap_run("[SYS10] three engines run at once on three workers", side_by_side_threads);
	ktap_run("one worker serves engines of four classes", few_threads);
	ktap_run("[CP6] short work is done where the doorbell rings", inline_work);
	ktap_run("[CP1] [CP7] a full ring behind a blocked queue holds nobody up",
		 blocked_and_busy);
	return ktap_finish();
}
